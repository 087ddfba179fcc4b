import { expect, test } from "bun:test"
import { Deadline } from "../../src/deadline.ts"
import { openPlatform } from "../../src/platform.ts"
import { workAtOnce } from "../fuzz/concurrency.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

const here = (name: string) => new URL(name, import.meta.url).pathname

test("eight parallel processes never see each other's refs or half a map, and hit the right elements", async () => {
  const figures = await workAtOnce(8, 12, 7)
  expect(figures.operations).toBeGreaterThan(90)
  expect(figures.clicks).toBeGreaterThan(0)
  expect(figures.reads).toBeGreaterThan(10)
}, 180_000)

/** A terminal whose program writes its input to a file. */
async function openTerminal(desktop: TestDesktop): Promise<string> {
  const file = `${desktop.directory}/typed`
  desktop.spawnApp(["xterm", "-e", "sh", "-c", `stty -echo; echo > ${file}.ready; cat > ${file}`])
  await until(async () => (await Bun.file(`${file}.ready`).exists()) && (await hasFocus(desktop)))
  return file
}

async function hasFocus(desktop: TestDesktop): Promise<boolean> {
  const { json } = await desktop.run("list-windows")
  return json?.data?.windows?.some((one: { is_focused: boolean }) => one.is_focused)
}

test("texts that two commands type at the same time are never mixed", async () => {
  await using desktop = await openDesktop()
  const file = await openTerminal(desktop)
  const texts = ["abcdefghijklmnopqrstuvwxyz".repeat(4), "0123456789".repeat(10)]
  const TIMES = 6
  const typists = texts.map((text) =>
    Bun.spawn([process.execPath, here("../fuzz/typist.ts"), text, String(TIMES)], {
      env: { ...desktop.env },
      stdio: ["ignore", "inherit", "inherit"],
    }),
  )
  expect(await Promise.all(typists.map(({ exited }) => exited))).toEqual([0, 0])
  const lines = await until(async () => {
    const typed = (await Bun.file(file).text()).split("\n").filter(Boolean)
    return typed.length === TIMES * 2 && typed
  }, 20_000)
  for (const text of texts) expect(lines.filter((line) => line === text + text).length).toBe(TIMES)
})

test("a command that cannot get the pointer and keyboard in time fails, and delivers nothing", async () => {
  await using desktop = await openDesktop()
  const file = await openTerminal(desktop)
  const platform = await openPlatform({ env: desktop.env, root: desktop.home })
  const holder = platform.adapter(Deadline.in(60_000))
  await holder.takeTurn()
  const { json } = await desktop.run("press", "a", "--timeout-ms", "600")
  expect(json).toMatchObject({
    ok: false,
    error: {
      code: "TIMEOUT",
      message: `According to the display, process ${process.pid} has had the pointer and keyboard of ${desktop.display} all this time`,
      details: { kind: "input_lease" },
      disposition: { delivery: "not_delivered", retry: "safe" },
    },
  })
  // Any program can write the note about the holder. It is believed only about programs of this display.
  const forger = ["-root", "-f", "_AGENT_DESKTOP_INPUT", "32c", "-set", "_AGENT_DESKTOP_INPUT", "1"]
  await desktop.spawnApp(["xprop", ...forger]).exited
  const forged = await desktop.run("press", "a", "--timeout-ms", "600")
  expect(forged.json.error.message).toStartWith("Another command has had the pointer")
  // Reading does not need a turn.
  expect((await desktop.run("list-windows", "--timeout-ms", "5000")).json.ok).toBe(true)
  const waiting = desktop.run("press", "b", "--timeout-ms", "20000")
  await holder.close()
  expect((await waiting).json.ok).toBe(true)
  expect((await desktop.run("press", "return")).json.ok).toBe(true)
  await until(async () => (await Bun.file(file).text()) === "b\n")
  await platform.close()
})

test("the turn of a killed process is released at once", async () => {
  await using desktop = await openDesktop()
  const file = await openTerminal(desktop)
  const typist = Bun.spawn(
    [process.execPath, here("../fuzz/typist.ts"), "x".repeat(50), "100000", "3600000"],
    {
      env: { ...desktop.env },
      stdio: ["ignore", "ignore", "ignore"],
    },
  )
  await until(async () => (await Bun.file(file).text()).length > 100, 30_000)
  typist.kill("SIGSTOP")
  typist.kill("SIGKILL")
  await typist.exited
  expect((await desktop.run("press", "return", "--timeout-ms", "10000")).json.ok).toBe(true)
})
