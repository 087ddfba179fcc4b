import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { PROGRAM, runProgram } from "../support/desktop.ts"
import { temporary } from "../support/temporary.ts"
import { until } from "../support/until.ts"

/** Flows through the compiled program, each on a desktop that it starts and ends. */

const SAVE = new URL("../fixtures/flow/save.flow", import.meta.url).pathname

test("a flow writes and saves a file on its own desktop, which is gone afterwards", async () => {
  using place = temporary()
  // An app that was killed in the user's home would ask about its last session.
  const env = { ...process.env, HOME: place.path, AGENT_DESKTOP_HOME: `${place.path}/state` }
  const file = `${place.path}/note.txt`
  const junit = `${place.path}/report.xml`
  const values = ["--set", "WHO=Ada", "--set", `FILE=${file}`]
  const { json, stdout } = await runProgram(["replay", SAVE, "--isolated", ...values, "--junit", junit], env)
  expect(json, stdout).toMatchObject({ ok: true, data: { lines: 7 } })
  expect(readFileSync(file, "utf8")).toStartWith("Hello Ada")
  expect(readFileSync(junit, "utf8")).toContain('tests="7" failures="0" skipped="0"')
  expect((await runProgram(["list-desktops"], env)).json.data.desktops).toEqual([])
})

test("a flow stops at the first line that fails, and keeps what was on the screen", async () => {
  using place = temporary()
  // An app that was killed in the user's home would ask about its last session.
  const env = { ...process.env, HOME: place.path, AGENT_DESKTOP_HOME: `${place.path}/state` }
  const flow = `${place.path}/wrong.flow`
  const report = `${place.path}/report`
  writeFileSync(
    flow,
    `launch mousepad\nclick 'menuitem "Fil"' --app mousepad --timeout-ms 1500\nclipboard-set never\n`,
  )
  const { json, exitCode } = await runProgram(["replay", flow, "--isolated", "--report", report], env)
  expect(exitCode).toBe(1)
  expect(json.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { line: 2, report } })
  expect(json.error.details.candidates[0]).toMatchObject({ role: "menuitem", name: "File" })
  expect(readdirSync(report).toSorted()).toEqual(["error.json", "screen.png", "snapshot.txt"])
  expect(readFileSync(`${report}/snapshot.txt`, "utf8")).toContain('menuitem "File"')
  expect(
    existsSync(`${place.path}/state/sessions`) ? readdirSync(`${place.path}/state/sessions`) : [],
  ).toEqual([])
})

/** Processes that were started with this state directory, except those of the test itself. */
function processesOf(state: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const env = readFileSync(`/proc/${name}/environ`, "utf8").split("\0")
        if (!env.includes(`AGENT_DESKTOP_HOME=${state}`)) return []
        return [readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ")]
      } catch {
        // It has ended.
        return []
      }
    })
}

const LONG = "launch mousepad\nexpect --window Nothing --timeout-ms 120000\n"

test.each([
  ["SIGINT while the desktop starts", LONG, "Xvfb", "SIGINT", 130],
  ["SIGTERM while a line waits", LONG, "mousepad", "SIGTERM", 143],
  ["SIGINT while a line waits", LONG, "mousepad", "SIGINT", 130],
  ["a first line that fails", "launch no-such-app-here\n", undefined, undefined, 1],
] as const)("%s leaves no process and no directory", async (_, flow, running, signal, code) => {
  using place = temporary()
  const state = `${place.path}/state`
  const temp = `${place.path}/tmp`
  mkdirSync(temp)
  const file = `${place.path}/long.flow`
  const junit = `${place.path}/report.xml`
  writeFileSync(file, flow)
  const report = signal === undefined ? ["--report", `${place.path}/report`] : []
  const child = Bun.spawn([PROGRAM, "replay", file, "--isolated", "--junit", junit, ...report], {
    env: { ...process.env, HOME: place.path, TMPDIR: temp, AGENT_DESKTOP_HOME: state },
    stdio: ["ignore", "pipe", "ignore"],
  })
  if (running !== undefined) {
    await until(() => processesOf(state).some((line) => line.includes(running)), 60_000)
    child.kill(signal)
  }
  const { error } = JSON.parse(await new Response(child.stdout).text())
  expect(await child.exited).toBe(code)
  if (signal) expect(error).toMatchObject({ code: "TIMEOUT", details: { kind: "interrupted" } })
  else expect(error).toMatchObject({ code: "APP_NOT_FOUND", details: { line: 1 } })
  expect(processesOf(state)).toEqual([])
  expect(existsSync(`${state}/desktops`) ? readdirSync(`${state}/desktops`) : []).toEqual([])
  expect(existsSync(`${state}/sessions`) ? readdirSync(`${state}/sessions`) : []).toEqual([])
  expect(readdirSync(temp)).toEqual([])
})
