import { afterAll, beforeAll, expect, test } from "bun:test"
import { Deadline } from "../../src/deadline.ts"
import { connectLinux } from "../../src/linux/adapter.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { startXvfb } from "./x11/xvfb.ts"

/** The process of a window. The X server and the accessibility bus know it; a window may claim any other one. */

const isRoot = process.getuid?.() === 0

let desktop: TestDesktop
let platform: Awaited<ReturnType<typeof connectLinux>>

beforeAll(async () => {
  desktop = await openDesktop()
  platform = await connectLinux({ env: desktop.env, root: desktop.home })
})
afterAll(async () => {
  await platform.close()
  await desktop.close()
})

const adapter = () => platform.adapter(Deadline.in(20_000))
const isRunning = (pid: number) =>
  /^[^Z]/.test(Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString())

/** A terminal with a name of its own. It claims to be another process. */
async function openLiar(env: Readonly<Record<string, string>>, name: string, claimed: number) {
  const terminal = Bun.spawn(["xterm", "-xrm", "*waitForWm: false", "-name", name, "-T", name], {
    env: { ...env },
    stdio: ["ignore", "ignore", "ignore"],
  })
  const run = (...command: string[]) => Bun.spawnSync(command, { env: { ...env } }).stdout.toString()
  const window = await until(() => run("xdotool", "search", "--name", `^${name}$`).trim(), 20_000)
  const claim = () => run("xprop", "-id", window, "_NET_WM_PID")
  // The terminal sets its pid a moment after its window appears.
  await until(() => claim().includes(`= ${terminal.pid}`), 20_000)
  run("xprop", "-id", window, "-f", "_NET_WM_PID", "32c", "-set", "_NET_WM_PID", String(claimed))
  expect(claim()).toContain(`= ${claimed}`)
  return terminal
}

test("close-app --force ends the program of the window, not the one that the window names", async () => {
  const bystander = Bun.spawn(["sleep", "1000"], { stdio: ["ignore", "ignore", "ignore"] })
  const liar = await openLiar(desktop.env, "junk", bystander.pid)
  try {
    const app = await until(async () => (await adapter().apps()).find(({ name }) => name === "junk"))

    expect(app.pid).toBe(liar.pid)
    expect((await adapter().apps()).map(({ pid }) => pid)).not.toContain(bystander.pid)
    expect(await adapter().quit(app, true)).toEqual({ method: "SIGKILL" })
    await liar.exited
    expect(isRunning(bystander.pid)).toBe(true)
  } finally {
    bystander.kill()
    liar.kill()
  }
})

test("a process is not ended only because a window names it", async () => {
  await using bare = await startXvfb({ args: ["-extension", "X-Resource"] })
  const env = { ...desktop.env, ...bare.env }
  const bystander = Bun.spawn(["sleep", "1000"], { stdio: ["ignore", "ignore", "ignore"] })
  const liar = await openLiar(env, "junk", bystander.pid)
  const there = await connectLinux({ env, root: desktop.home })
  try {
    const now = () => there.adapter(Deadline.in(20_000))
    // Without the extension, only the window itself names a process.
    const app = await until(async () => (await now().apps()).find(({ pid }) => pid === bystander.pid))

    expect(
      await now()
        .quit(app, true)
        .catch((error) => error),
    ).toMatchObject({
      code: "POLICY_DENIED",
      message: `Process ${bystander.pid} (sleep) is not ended: only the window itself claims to belong to it`,
      disposition: { delivery: "not_delivered" },
    })
    expect(isRunning(bystander.pid)).toBe(true)
  } finally {
    await there.close()
    bystander.kill()
    liar.kill()
  }
})

test.skipIf(!isRoot)("an app with its own process numbers, as in a sandbox, is listed once", async () => {
  const fixture = new URL("../fixtures/gtk3.py", import.meta.url).pathname
  const outer = desktop.spawnApp(["unshare", "--pid", "--fork", "/usr/bin/python3", fixture], {
    env: { FIXTURE_LOG: `${desktop.directory}/sandbox.log` },
  })
  const inner = await until(() => {
    const text = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(outer.pid)]).stdout.toString()
    return Number(text.trim())
  })
  const found = await until(async () => {
    const windows = await adapter().windows()
    return windows.find(({ pid, accessible }) => pid === inner && accessible !== false)
  }, 30_000)

  expect((await adapter().apps()).filter(({ name }) => name === found.app_name)).toMatchObject([
    { pid: inner },
  ])
  expect((await adapter().apps()).map(({ pid }) => pid)).not.toContain(1)
  process.kill(inner, "SIGKILL")
})
