import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { type FixtureEvent, firefox, startFixture, startPage } from "../fixtures/fixture.ts"
import { startReacting } from "../fixtures/reacting.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"
import { type Printed, Stage } from "./matrix-stage.ts"

/** Keys go where the caller thinks. The log of the fixture, and the window manager, say where they went. */

const KINDS = ["gtk3", "gtk4", "qt6", "qt5", "web", "firefox"] as const
/** Toolkits that take text through the accessibility bus, so that typing needs neither focus nor window. */
const TAKES_TEXT: readonly string[] = ["gtk3", "gtk4", "qt6", "qt5"]
const SENT = { delivery: "delivered_unverified", retry: "unsafe" }
const PRESS_ME = { role: "button", name: "Press me" }
/** An app on a busy machine may not say in time which element has the focus. */
const mayBe = (element: object) => [element, undefined]
const NOT_DELIVERED = { delivery: "not_delivered", retry: "safe" }

async function open(kind: (typeof KINDS)[number]): Promise<Stage> {
  const desktop = await openDesktop()
  const page = kind === "web" || kind === "firefox"
  const fixture = kind === "firefox" ? await startPage(desktop, firefox) : await startFixture(desktop, kind)
  const stage = new Stage(desktop, fixture, page ? "web" : kind)
  await until(async () => (await activeTitle(desktop)) === fixture.title, 30_000)
  await until(async () => named(await stage.look("--max-depth", "50"), "button", "Exit"), 30_000)
  return stage
}

/** A busy machine gets more time than usual. */
const PATIENT = ["--timeout-ms", "20000"]

const named = (nodes: readonly Printed[], role: string, name: string) =>
  nodes.find((node) => node.role === role && node.name === name)?.ref_id

const refOf = (stage: Stage, role: string, name: string): Promise<string> =>
  until(async () => named(await stage.look("--max-depth", "50"), role, name))

/** The active window. For a moment, while the window manager changes it, there is none. */
const active = async (desktop: TestDesktop): Promise<string> =>
  until(async () => {
    const found = await Bun.$`xdotool getactivewindow`
      .env({ ...desktop.env })
      .nothrow()
      .quiet()
      .text()
    return found.trim() === "" ? undefined : `w-${found.trim()}`
  })

const activeTitle = async (desktop: TestDesktop) =>
  (
    await Bun.$`xdotool getactivewindow getwindowname`
      .env({ ...desktop.env })
      .nothrow()
      .quiet()
      .text()
  ).trim()

/** Opens a window of another app in front, and returns its id. */
async function cover(desktop: TestDesktop): Promise<string> {
  desktop.spawnApp(["xterm", "-T", "Other"])
  await until(async () => (await activeTitle(desktop)) === "Other", 20_000)
  return active(desktop)
}

/** The fixture's own note of what keys did to its buttons and fields. */
const effects = (events: readonly FixtureEvent[]) =>
  events
    .filter(({ event, name }) => event === "activate" || (event === "press" && name === "Press me"))
    .map(({ event, name, value }) => ({ event, name, ...(event === "activate" ? { value } : {}) }))

describe.each(KINDS)("in %s", (kind) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await open(kind)
  })
  afterAll(() => stage?.desktop.close())

  const fresh = async () => {
    await stage.reset()
    await stage.fixture.command({ do: "focus", name: "Press me" })
    const mark = (await stage.fixture.events()).length
    return async () => effects((await stage.fixture.events()).slice(mark))
  }

  test("Enter after type submits the field that was typed into", async () => {
    const done = await fresh()
    const field = await refOf(stage, "textfield", "Name")
    const typed = await stage.run("type", field, "ada", ...PATIENT)
    expect(typed.json).toMatchObject({ ok: true, data: { focused: true } })
    const pressed = await stage.run("press", "return", ...PATIENT)
    expect(pressed.json).toMatchObject({
      ok: true,
      data: {
        action: "press",
        window: { title: stage.fixture.title },
        disposition: SENT,
      },
    })
    expect(mayBe({ role: "textfield", name: "Name" })).toContainEqual(pressed.json.data.element)
    await until(async () => (await done()).length > 0)
    expect(await done()).toEqual([{ event: "activate", name: "Name", value: "ada" }])
  })

  test("Enter after set-value submits the field", async () => {
    const done = await fresh()
    const field = await refOf(stage, "textfield", "Name")
    expect((await stage.run("set-value", field, "bob", ...PATIENT)).json).toMatchObject({
      ok: true,
      data: { focused: true },
    })
    await stage.run("press", "return", ...PATIENT)
    await until(async () => (await done()).length > 0)
    expect(await done()).toEqual([{ event: "activate", name: "Name", value: "bob" }])
  })

  test("text that is typed twice is there twice, and the caret is behind it", async () => {
    const done = await fresh()
    const field = await refOf(stage, "textfield", "Name")
    await stage.run("type", field, "ab", ...PATIENT)
    await stage.run("type", field, "cd", ...PATIENT)
    await stage.run("press", "e", ...PATIENT)
    await stage.run("press", "return", ...PATIENT)
    await until(async () => (await done()).length > 0)
    expect(await done()).toEqual([{ event: "activate", name: "Name", value: "abcde" }])
  })

  test("--input semantic leaves the focus where it is", async () => {
    if (!TAKES_TEXT.includes(kind)) return
    const done = await fresh()
    const field = await refOf(stage, "textfield", "Name")
    const { json } = await stage.run("type", field, "ada", "--input", "semantic", ...PATIENT)
    expect(json.data.focused).toBeUndefined()
    const { element } = (await stage.run("press", "space", ...PATIENT)).json.data
    expect(mayBe(PRESS_ME)).toContainEqual(element)
    await until(async () => (await done()).length > 0)
    expect(await done()).toEqual([{ event: "press", name: "Press me" }])
  })

  test("press --to gives the element the focus first", async () => {
    const done = await fresh()
    const field = await refOf(stage, "textfield", "Name")
    await stage.run("set-value", field, "eve", "--input", "semantic", ...PATIENT)
    await stage.fixture.command({ do: "focus", name: "Press me" })
    const { json } = await stage.run("press", "return", "--to", field, ...PATIENT)
    expect(json).toMatchObject({
      ok: true,
      data: { element: { role: "textfield", name: "Name" }, ref_id: field, disposition: SENT },
    })
    await until(async () => (await done()).length > 0)
    expect(await done()).toMatchObject([{ event: "activate", name: "Name" }])
  })

  test("press --to an element that cannot have the focus sends nothing", async () => {
    const done = await fresh()
    const locked = await refOf(stage, "button", "Locked")
    const mark = (await stage.fixture.events()).length
    const { json } = await stage.run("press", "return", "--to", locked, "--timeout-ms", "2500")
    expect(json).toMatchObject({ ok: false, error: { disposition: NOT_DELIVERED } })
    await stage.fixture.command({ do: "sync" })
    expect(await done()).toEqual([])
    expect((await stage.fixture.events()).slice(mark).filter(({ event }) => event === "key")).toEqual([])
  })
})

describe.each(KINDS)("with %s behind another window", (kind) => {
  let stage: Stage
  let own: string
  let other: string
  beforeAll(async () => {
    stage = await open(kind)
    own = await active(stage.desktop)
    other = await cover(stage.desktop)
  })
  afterAll(() => stage?.desktop.close())

  const toBack = async () => {
    await stage.reset()
    await stage.fixture.command({ do: "focus", name: "Press me" })
    await stage.run("focus-window", other)
    await until(async () => (await active(stage.desktop)) === other)
    const mark = (await stage.fixture.events()).length
    return async () => (await stage.fixture.events()).slice(mark)
  }

  test("text arrives there, and the window stays behind", async () => {
    if (!TAKES_TEXT.includes(kind)) return
    const log = await toBack()
    const field = await refOf(stage, "textfield", "Name")
    const { json } = await stage.run("type", field, "ada", ...PATIENT)
    expect(json).toMatchObject({
      ok: true,
      data: {
        focused: false,
        focus_reason: expect.stringContaining(own),
        disposition: { delivery: "delivered_verified" },
      },
    })
    await until(async () => (await log()).some(({ event, value }) => event === "text" && value === "ada"))
    expect(await active(stage.desktop)).toBe(other)
  })

  test("press --window-id presses there and gives the focus back", async () => {
    const log = await toBack()
    const { json } = await stage.run("press", "space", "--window-id", own, ...PATIENT)
    expect(json).toMatchObject({
      ok: true,
      data: { window: { id: own }, focus_returned: true, disposition: SENT },
    })
    expect(mayBe(PRESS_ME)).toContainEqual(json.data.element)
    expect(await active(stage.desktop)).toBe(other)
    await until(async () => effects(await log()).length > 0)
    expect(effects(await log())).toEqual([{ event: "press", name: "Press me" }])
    expect(await active(stage.desktop)).toBe(other)
  })

  test("press --to brings the window of the element to the front", async () => {
    const log = await toBack()
    const field = await refOf(stage, "textfield", "Name")
    const { json } = await stage.run("press", "x", "--to", field, ...PATIENT)
    expect(json).toMatchObject({ ok: true, data: { window: { id: own }, element: { name: "Name" } } })
    await until(async () => (await log()).some(({ event, value }) => event === "text" && value === "x"))
    expect(await active(stage.desktop)).toBe(own)
  })

  test("a dialog that the keys open keeps the focus", async () => {
    if (kind === "web" || kind === "firefox") return
    const log = await toBack()
    await stage.fixture.command({ do: "focus", name: "Open dialog" })
    const { json } = await stage.run("press", "space", "--window-id", own, ...PATIENT)
    expect(json).toMatchObject({ ok: true, data: { window: { id: own }, focus_returned: false } })
    await until(async () => (await log()).some(({ event }) => event === "opened"))
    await until(async () => ![own, other].includes(await active(stage.desktop)))
    const dialog = await active(stage.desktop)
    expect(await activeTitle(stage.desktop)).not.toBe("Other")
    // A dialog is a window like any other: its keys go to it, and nothing has to be given back.
    const closed = await stage.run("press", "escape", "--window-id", dialog, ...PATIENT)
    expect(closed.json.data.focus_returned).toBeUndefined()
  })
})

test("set-value and Enter in a file dialog of GTK 3 that has just opened save the file", async () => {
  await using desktop = await openDesktop()
  const folder = `${desktop.directory}/folder`
  mkdirSync(folder)
  for (const name of ["first.txt", "second.txt"]) {
    const path = `${folder}/${name}`
    desktop.spawnApp([
      "/usr/bin/python3",
      new URL("../fixtures/file-dialog.py", import.meta.url).pathname,
      folder,
    ])
    await until(async () => (await activeTitle(desktop)) === "Save as", 30_000)
    const field = await until(async () => {
      const { json } = await desktop.run("find", "--app", "file-dialog", "--role", "textfield", "--first")
      return json?.data?.match?.ref_id
    }, 30_000)
    const set = { command: "set-value", args: { ref_id: field, value: name } }
    const enter = { command: "press", args: { combo: "return" } }
    const { json } = await desktop.run("batch", JSON.stringify([set, enter]))
    const [typed, pressed] = json.data.results
    expect({ typed: typed.ok, pressed: pressed.ok }).toEqual({ typed: true, pressed: true })
    const text = () =>
      Bun.file(path)
        .text()
        .catch(() => "")
    await until(async () => (await text()) === "saved\n", 10_000)
  }
})

test("keys work in a dialog of GTK 3 that a click has opened, although the app is still busy with the click", async () => {
  await using desktop = await openDesktop()
  const [first, second] = ["first", "second"].map((name) => `${desktop.directory}/${name}.txt`)
  const script = new URL("../fixtures/file-dialog.py", import.meta.url).pathname
  desktop.spawnApp(["/usr/bin/python3", script, desktop.directory, "--by-button"])
  await until(async () => (await activeTitle(desktop)) === "Document", 30_000)
  const app = "file-dialog"
  const stepsFor = (value: string | undefined) => [
    { command: "click", args: { ref_id: 'button "Save as"', app } },
    { command: "set-value", args: { ref_id: 'textfield "Name:"', value, app } },
    { command: "press", args: { combo: "return", app } },
  ]
  const saved = (path = "") =>
    until(async () => (await Bun.file(path).exists()) && (await activeTitle(desktop)) === "Document", 10_000)
  // Run each command in its own process, one after the other; then all of them in one process.
  for (const step of stepsFor(first)) {
    const { json, stdout } = await desktop.run("batch", JSON.stringify([step]))
    expect(json.data.failed, stdout).toBeUndefined()
  }
  await saved(first)
  expect((await desktop.run("batch", JSON.stringify(stepsFor(second)))).json.data.failed).toBeUndefined()
  await saved(second)
  await until(() => keepersOf(desktop.home).length === 0, 10_000)
})

test("press --changes reports a dialog that Enter closes after a while", async () => {
  await using desktop = await openDesktop()
  const { events } = await startReacting(desktop, "rename")
  await until(async () => (await activeTitle(desktop)) === "Rename", 30_000)
  const { json, stdout } = await desktop.run("press", "return", "--changes", ...PATIENT)
  expect((await events()).slice(-2)).toEqual([{ event: "enter" }, { event: "closed" }])
  expect(json.data.changes.closed, stdout).toMatchObject([{ title: "Rename" }])
  expect(json.data.disposition.delivery, stdout).toBe("delivered_verified")
})

/** Processes that keep connections of earlier commands open. */
function keepersOf(home: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const isKeeper = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("__keep-open")
      return isKeeper && readFileSync(`/proc/${pid}/environ`, "utf8").includes(home)
    } catch {
      return false
    }
  })
}

test("press in an app that does not answer says so, and the keys arrive when it resumes", async () => {
  await using desktop = await openDesktop()
  // A desktop without windows.
  expect((await desktop.run("press", "f9")).json.data.doubt).toContain("No listed window")
  const app = desktop.spawnApp(["mousepad", "--disable-server"])
  const field = await until(async () => {
    const { json } = await desktop.run("find", "--app", "mousepad", "--role", "textfield", "--first")
    return json?.data?.match?.ref_id
  }, 30_000)
  process.kill(app.pid, "SIGSTOP")
  const { json } = await desktop.run("press", "k", "--timeout-ms", "1500").finally(() => {
    process.kill(app.pid, "SIGCONT")
  })
  expect(json).toMatchObject({
    ok: true,
    data: {
      window: { app_name: "mousepad" },
      disposition: SENT,
      doubt: expect.stringContaining("does not answer"),
    },
  })
  await until(async () => (await desktop.run("get", field, "text")).json?.data?.value === "k")
})

test("press in a nameless editor of Qt says that a text field got the keys, not the group inside it", async () => {
  await using desktop = await openDesktop()
  desktop.spawnApp(["featherpad", "--standalone"])
  await until(async () => (await activeTitle(desktop)) === "Untitled", 30_000)
  const element = await until(async () => (await desktop.run("press", "home")).json?.data?.element, 30_000)
  expect(element).toEqual({ role: "textfield" })
})
