import { expect, test } from "bun:test"
import { Deadline } from "../../src/deadline.ts"
import { Bus, DBUS, DBUS_PATH, method, readAs } from "../../src/linux/dbus/bus.ts"
import { startPage } from "../fixtures/fixture.ts"
import { answersOf, windowTitled } from "../support/answers.ts"
import { openDesktop, PROGRAM, type TestDesktop } from "../support/desktop.ts"
import { startServer } from "../support/mcp-server.ts"
import { until } from "../support/until.ts"

/**
 * Chromium crashes if its last accessibility client leaves while it handles a key. It asks the registry about each key
 * and waits for half a second, so a stopped registry makes that moment long enough for a test.
 */

const REGISTRY = "org.a11y.atspi.Registry"
const soon = () => Deadline.in(10_000)

test.each([
  ["an act or a wait in any app", waitInAnyApp],
  ["a look at its window", lookAtWindow],
])("Chromium survives keys that a user types while %s ends", async (_, startClient) => {
  await using desktop = await openDesktop()
  const page = await startPage(desktop)
  const window = await windowTitled(
    answersOf(() => desktop),
    page.title,
    20_000,
  )
  await desktop.run("focus-window", "--window-id", window)
  using bus = await openAccessibility(desktop)
  const registry = await pidOf(bus, REGISTRY)
  const end = await startClient(desktop, window)

  process.kill(registry, "SIGSTOP")
  try {
    await Bun.$`xdotool key a b c`.env(desktop.env).quiet()
    const hasKey = async () =>
      (await page.events()).some(({ event, text }) => event === "key" && text === "a")
    // It has handled the first press, and waits for the registry's answer to the next event.
    await until(hasKey, 20_000)
    await end()
  } finally {
    process.kill(registry, "SIGCONT")
  }

  const typed = async () =>
    (await page.events()).filter(({ event, phase }) => event === "key" && phase === "up")
  await until(async () => !page.isAlive() || (await typed()).some(({ text }) => text === "c"), 20_000)
  expect(page.isAlive()).toBe(true)
})

/** Every app learns that it listens. Commands before it have ended in the usual way. */
async function waitInAnyApp(desktop: TestDesktop): Promise<() => Promise<void>> {
  await desktop.run("wait", "--text", "nowhere", "--timeout-ms", "300")
  const child = Bun.spawn([PROGRAM, "wait", "--text", "nowhere", "--timeout-ms", "100000"], {
    env: { ...desktop.env },
    stdio: ["ignore", "ignore", "ignore"],
  })
  using bus = await openAccessibility(desktop)
  const listeners = async () => {
    const called = method(`${REGISTRY}.GetRegisteredEvents`)
    return readAs(await bus.call(called, REGISTRY, "/org/a11y/atspi/registry", soon()), "a(ss)").u32()
  }
  await until(async () => (await listeners()) > 0, 10_000)
  return async () => {
    child.kill("SIGKILL")
    await child.exited
  }
}

async function lookAtWindow(desktop: TestDesktop, window: string): Promise<() => Promise<void>> {
  const server = await startServer(desktop.env)
  expect(await server.call("desktop_snapshot", { window_id: window })).not.toHaveProperty("isError")
  return async () => server[Symbol.asyncDispose]()
}

async function openAccessibility(desktop: TestDesktop): Promise<Bus & Disposable> {
  const session = await Bus.open(desktop.env.DBUS_SESSION_BUS_ADDRESS!, soon())
  const reply = await session.call(method("org.a11y.Bus.GetAddress"), "org.a11y.Bus", "/org/a11y/bus", soon())
  const bus = await Bus.open(readAs(reply, "s").string(), soon())
  session.close()
  return Object.assign(bus, { [Symbol.dispose]: () => bus.close() })
}

async function pidOf(bus: Bus, name: string): Promise<number> {
  const called = method(`${DBUS}.GetConnectionUnixProcessID`, "s", [name])
  return readAs(await bus.call(called, DBUS, DBUS_PATH, soon()), "u").u32()
}
