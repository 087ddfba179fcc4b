import { afterAll, beforeAll, expect, test } from "bun:test"
import { openDesktop, runProgram, type TestDesktop } from "../support/desktop.ts"
import { within } from "../support/pace.ts"
import { until } from "../support/until.ts"

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop.close())

const ODD = new URL("../fixtures/odd.py", import.meta.url).pathname

async function start(name: string, title: string, label: string, env: Record<string, string> = {}) {
  const app = desktop.spawnApp(["/usr/bin/python3", ODD, name, title, label], { env })
  const windows = async () =>
    (await desktop.run("list-windows")).json.data.windows.filter(
      (one: { pid: number }) => one.pid === app.pid,
    )
  if (env.ODD_WINDOWS !== "0") await until(async () => (await windows()).length === 1, 20_000)
  const end = async () => {
    app.kill("SIGKILL")
    await app.exited
    await until(async () => (await windows()).length === 0)
  }
  return {
    app,
    end,
    window: async () => (await windows())[0] as { id: string; title: string; app_name: string },
  }
}

test.each([
  ["DISPLAY is empty", { DISPLAY: "" }, ["list-windows"], "DISPLAY"],
  ["DISPLAY names an X server that does not run", { DISPLAY: ":4711" }, ["list-windows"], ":4711"],
  ["DISPLAY is not the name of a display", { DISPLAY: "nonsense" }, ["list-windows"], "nonsense"],
])("when %s, the error says so and suggests the next step", async (_, change, args, named) => {
  const { exitCode, json } = await runProgram(args, { ...desktop.env, ...change })
  expect({ exitCode, code: json.error.code }).toEqual({ exitCode: 1, code: "PLATFORM_NOT_SUPPORTED" })
  expect(JSON.stringify(json.error)).toContain(named)
  expect(json.error.suggestion).toMatch(/desktop-start|Set DISPLAY/)
})

test.each([
  ["there is no session bus", { DBUS_SESSION_BUS_ADDRESS: "", XDG_RUNTIME_DIR: "/nonexistent" }],
  ["the session bus is dead", { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus" }],
  ["the accessibility bus is dead", { AT_SPI_BUS_ADDRESS: "unix:path=/nonexistent/bus" }],
])("when %s, list-apps answers or suggests doctor, and doctor names the broken bus", async (_, change) => {
  const env = { ...desktop.env, ...change }
  const [list, doctor] = await Promise.all([
    runProgram(["list-apps", "--timeout-ms", "3000"], env),
    runProgram(["doctor", "--timeout-ms", "3000"], env),
  ])
  // Without a session bus, the X server still names the accessibility bus.
  if (list.json.ok) expect(list.json.data.apps).toBeArray()
  else
    expect(list.json.error).toMatchObject({
      code: "PLATFORM_NOT_SUPPORTED",
      suggestion: expect.stringContaining("doctor"),
    })
  expect(doctor.json.data.healthy).toBe(false)
  const broken = doctor.json.data.checks.filter((check: { ok: boolean }) => !check.ok)
  expect(broken.map((check: { name: string }) => check.name).join()).toMatch(/session_bus|accessibility_bus/)
  // Packages do not help without a session.
  if (!("AT_SPI_BUS_ADDRESS" in change))
    for (const { name, suggestion } of broken)
      expect([name, suggestion]).toEqual([name, expect.stringContaining("agent-desktop desktop-start")])
  for (const check of broken) expect(check.suggestion).toBeTruthy()
})

test("a stopped app is reported as unresponsive in time, and other apps can still be seen", async () => {
  const stopped = await start("stopped", "Stopped", "Button")
  const other = await start("other", "Other", "Button")
  const window = await stopped.window()
  process.kill(stopped.app.pid, "SIGSTOP")
  try {
    const snapshot = await within(2000, () =>
      desktop.run("snapshot", "--window-id", window.id, "--timeout-ms", "2000"),
    )
    expect(snapshot.json.error).toMatchObject({ code: "APP_UNRESPONSIVE", suggestion: expect.any(String) })
    const windows = (await desktop.run("list-windows")).json.data.windows
    expect(windows.map((one: { title: string }) => one.title)).toEqual(
      expect.arrayContaining(["Stopped", "Other"]),
    )
    expect((await desktop.run("snapshot", "--app", "other", "-i")).json).toMatchObject({
      ok: true,
      data: { ref_count: 1 },
    })
  } finally {
    process.kill(stopped.app.pid, "SIGCONT")
  }
  expect((await desktop.run("snapshot", "--window-id", window.id, "-i")).json.data.ref_count).toBe(1)
  await stopped.end()
  await other.end()
})

test("an app without windows is listed, and a snapshot of it fails", async () => {
  const shy = await start("shy", "Shy", "Button", { ODD_WINDOWS: "0" })
  await until(async () =>
    (await desktop.run("list-apps")).json.data.apps.some((app: { pid: number }) => app.pid === shy.app.pid),
  )
  expect((await desktop.run("snapshot", "--app", "shy")).json.error).toMatchObject({
    code: "APP_NOT_FOUND",
    message: "No windows found for app 'shy'",
    suggestion: expect.stringContaining("list-apps"),
  })
  await shy.end()
})

test("snapshot --window-id works for an app without a name, title or label", async () => {
  const nameless = await start("@empty", "@empty", "@empty")
  const window = await nameless.window()
  const { json } = await desktop.run("snapshot", "--window-id", window.id)
  expect(json).toMatchObject({ ok: true, data: { ref_count: 1, complete: true } })
  await nameless.end()
})

test("a name of a million characters is cut, and the answer stays one line", async () => {
  const long = await start("long", "Long", "@long")
  const { stdout, json } = await desktop.run("snapshot", "--app", "long", "-i")
  expect(json.data.ref_count).toBe(1)
  expect(stdout.length).toBeLessThan(20_000)
  expect(stdout.trimEnd()).not.toContain("\n")
  expect((await desktop.run("click", "@e1")).json.ok).toBe(true)
  await long.end()
})

test("control characters in a title and a label neither break the line nor reach a terminal", async () => {
  const rude = await start("rude", "@control", "@control")
  const { stdout, json } = await desktop.run("snapshot", "--app", "rude", "-i")
  expect(json).toMatchObject({ ok: true, data: { ref_count: 1 } })
  expect(stdout.slice(0, -1)).not.toMatch(/[\x00-\x1f]/)
  await rude.end()
})

test("if two apps have the same name, snapshot --app fails and lists their windows to choose from", async () => {
  const one = await start("twin", "Twin one", "Button")
  const two = await start("twin", "Twin two", "Button")
  const { error } = (await desktop.run("snapshot", "--app", "twin")).json
  expect(error.code).toBe("AMBIGUOUS_TARGET")
  expect(error.details.candidates.map(({ title }: { title: string }) => title).toSorted()).toEqual([
    "Twin one",
    "Twin two",
  ])
  const [first] = error.details.candidates
  expect((await desktop.run("snapshot", "--window-id", first.id)).json.data.window).toEqual({
    id: first.id,
    title: first.title,
  })
  await one.end()
  await two.end()
})

/** Two GTK 4 windows that differ only in their button. GTK 4 reports no screen coordinates. */
const TWINS = `
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
app = Gtk.Application()
def open_both(app):
    for name in ["First", "Second"]:
        window = Gtk.ApplicationWindow(application=app, title="Twin", default_width=300, default_height=200)
        window.set_child(Gtk.Button(label=name))
        window.present()
app.connect("activate", open_both)
app.run()
`

test("a snapshot of one of two identical windows fails until the window has the focus", async () => {
  const app = desktop.spawnApp(["/usr/bin/python3", "-c", TWINS])
  const twins = await until(async () => {
    const { windows } = (await desktop.run("list-windows")).json.data
    const own = windows.filter(({ pid }: { pid: number }) => pid === app.pid)
    return own.length === 2 && own.map(({ id }: { id: string }) => id)
  }, 20_000)
  const other = await start("other", "Other", "Button")
  const { id } = await other.window()
  await until(async () => (await desktop.run("focus-window", id)).json.data?.focused?.is_focused)
  for (const twin of twins) {
    const { error } = (await desktop.run("snapshot", "--window-id", twin)).json
    expect(error).toMatchObject({ code: "AMBIGUOUS_TARGET", suggestion: expect.stringContaining(twin) })
    expect(error.details.candidates.toSorted()).toEqual(twins.toSorted())
  }
  const names: string[] = []
  for (const twin of twins) {
    const seen = await until(async () => {
      await desktop.run("focus-window", twin)
      return (await desktop.run("snapshot", "--window-id", twin, "--format", "text")).stdout
    })
    names.push(/button "(\w+)"/.exec(seen)?.[1] ?? seen)
  }
  expect(names.toSorted()).toEqual(["First", "Second"])
  app.kill("SIGKILL")
  await other.end()
})

test("if the app ends after the snapshot, its refs are stale and the error says that it has ended", async () => {
  const brief = await start("brief", "Brief", "Button")
  await desktop.run("snapshot", "--app", "brief")
  await brief.end()
  expect((await desktop.run("click", "@e1")).json.error).toMatchObject({
    code: "STALE_REF",
    message: expect.stringContaining("has ended"),
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
})

test("if the app ends during a snapshot, the command succeeds or fails with an expected code", async () => {
  for (let round = 0; round < 5; round++) {
    const dying = await start("dying", "Dying", "Button")
    const [{ json }] = await Promise.all([
      desktop.run("snapshot", "--app", "dying", "--timeout-ms", "3000"),
      Bun.sleep(round * 4).then(() => dying.app.kill("SIGKILL")),
    ])
    if (!json.ok)
      expect(json.error.code).toBeOneOf([
        "APP_NOT_FOUND",
        "WINDOW_NOT_FOUND",
        "PLATFORM_NOT_SUPPORTED",
        "APP_UNRESPONSIVE",
      ])
    await dying.end()
  }
})

test("megabytes of JSON arrive whole through a pipe", async () => {
  const app = desktop.spawnApp([
    "/usr/bin/python3",
    new URL("../fixtures/noise.py", import.meta.url).pathname,
  ])
  // Noise cannot be compressed, so the picture is this large only if the noise shows.
  const { json } = await until(async () => {
    const shot = await desktop.run("screenshot")
    return shot.stdout.length > 5_000_000 && shot
  }, 20_000)
  await Bun.write(`${desktop.directory}/shot.png`, Buffer.from(json.data.base64, "base64"))
  const size = await Bun.$`identify -format %wx%h ${desktop.directory}/shot.png`.text()
  expect(size).toBe("1280x1024")
  app.kill("SIGKILL")
  await app.exited
})
