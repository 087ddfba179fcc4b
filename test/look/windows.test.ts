import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"

afterAll(clearDesks)

/** Two apps: Finder with two windows (the second has the focus), TextEdit with one. */
function twoApps() {
  const it = desk()
  const finder = it.world.app("Finder", {
    pid: 100,
    bundleId: "com.apple.finder",
    aliases: ["com.apple.finder"],
  })
  const first = finder.window("Documents", [{ role: "button", name: "Back" }], { id: "w-1" })
  const second = finder.window("Downloads", [{ role: "button", name: "Forward" }], { id: "w-2" })
  const textEdit = it.world.app("TextEdit", { pid: 200 })
  const notes = textEdit.window("notes.txt", [{ role: "textfield", name: "Body", value: "" }], { id: "w-3" })
  it.world.focused = second
  return { ...it, finder, textEdit, first, second, notes }
}

describe("which window", () => {
  test("--window-id means exactly that window, whatever has the focus", async () => {
    const { ok } = twoApps()
    expect((await ok("snapshot", { window_id: "w-1" })).window).toEqual({ id: "w-1", title: "Documents" })
  })

  test("--app means its focused window, and without one its first", async () => {
    const { ok, world, notes } = twoApps()
    expect((await ok("snapshot", { app: "Finder" })).window.id).toBe("w-2")
    world.focused = notes
    expect((await ok("snapshot", { app: "Finder" })).window.id).toBe("w-1")
  })

  test("without either it is the focused window", async () => {
    const { ok, world, notes } = twoApps()
    expect((await ok("snapshot")).window.id).toBe("w-2")
    world.focused = notes
    expect((await ok("snapshot")).app).toBe("TextEdit")
  })

  test("app names match whole, in any case, and by their aliases", async () => {
    const { ok, error } = twoApps()
    for (const app of ["finder", "FINDER", "com.apple.finder", "COM.Apple.Finder"])
      expect((await ok("snapshot", { app })).app).toBe("Finder")
    for (const app of ["Find", "inder", "Finder ", ""])
      expect((await error("snapshot", { app })).code).toBe("APP_NOT_FOUND")
  })

  test("a name that an app is shown under goes before the same as another's alias", async () => {
    const { ok, error, world, textEdit } = twoApps()
    const other = world.app("Editor", { pid: 300, aliases: ["TextEdit", "org.editor"] })
    other.window("draft", [{ role: "button", name: "Save" }], { id: "w-4" })
    expect((await ok("snapshot", { app: "textedit" })).window.id).toBe("w-3")
    expect((await ok("list-windows", { app: "TextEdit" })).windows).toMatchObject([{ id: "w-3" }])
    world.quit = (app) => {
      expect(app.pid).toBe(textEdit.pid)
      textEdit.end()
      return "quit"
    }
    expect((await ok("close-app", { app: "TextEdit" })).closed).toBe(true)
    // Now it is nobody's own name.
    expect((await ok("snapshot", { app: "TextEdit" })).window.id).toBe("w-4")
    const third = world.app("Third", { pid: 400, aliases: ["textedit"] })
    third.window("third", [{ role: "button", name: "Save" }], { id: "w-5" })
    expect((await error("snapshot", { app: "TextEdit" })).code).toBe("AMBIGUOUS_TARGET")
  })

  test("an unknown app and an unknown window are named in the contract's words", async () => {
    const { run } = twoApps()
    expect(await run("snapshot", { app: "InvalidApp" })).toEqual({
      version: "1.0",
      ok: false,
      command: "snapshot",
      error: {
        code: "APP_NOT_FOUND",
        message: "No windows found for app 'InvalidApp'",
        suggestion: "Use 'list-apps' to see running apps, or 'launch' to start one",
      },
    })
    expect(await run("snapshot", { window_id: "w-99999" })).toEqual({
      version: "1.0",
      ok: false,
      command: "snapshot",
      error: {
        code: "WINDOW_NOT_FOUND",
        message: "Window 'w-99999' not found",
        suggestion: "Use 'list-windows' to see available windows",
      },
    })
  })

  test("a window of another app than the named one is refused", async () => {
    const { ok, error } = twoApps()
    expect((await ok("snapshot", { window_id: "w-3", app: "textedit" })).window.id).toBe("w-3")
    expect(await error("snapshot", { window_id: "w-3", app: "Finder" })).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "Window 'w-3' belongs to 'TextEdit', not to 'Finder'",
    })
  })

  test("no focused window is said so, not guessed", async () => {
    const { error, world } = twoApps()
    world.focused = undefined
    expect(await error("snapshot")).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "No window has the focus",
    })
  })

  test("two running apps of one name are never guessed between", async () => {
    const { ok, error, world } = twoApps()
    const other = world.app("finder", { pid: 300 })
    other.window("Other", [], { id: "w-4" })
    const refused = await error("snapshot", { app: "Finder" })
    expect(refused.code).toBe("AMBIGUOUS_TARGET")
    expect(refused.details.candidates.map((window: { id: string }) => window.id)).toEqual([
      "w-1",
      "w-2",
      "w-4",
    ])
    expect((await ok("snapshot", { window_id: "w-4" })).window.title).toBe("Other")
  })
})

describe("lists", () => {
  test("windows are listed with everything an agent may say about them, and nothing else", async () => {
    const { ok, error } = twoApps()
    const { windows } = await ok("list-windows", { app: "textedit" })
    expect(windows).toEqual([
      {
        id: "w-3",
        title: "notes.txt",
        app_name: "TextEdit",
        pid: 200,
        bounds: { x: 0, y: 0, width: 1000, height: 800 },
        is_focused: false,
      },
    ])
    expect((await ok("list-windows")).windows.map((window: { id: string }) => window.id)).toEqual([
      "w-1",
      "w-2",
      "w-3",
    ])
    expect(await ok("list-windows", { app: "Docker" })).toEqual({ windows: [] })
    expect((await error("list-surfaces", { app: "Docker" })).code).toBe("APP_NOT_FOUND")
  })

  test("apps are listed by name, pid and bundle id", async () => {
    const { ok } = twoApps()
    expect(await ok("list-apps")).toEqual({
      apps: [
        { name: "Finder", pid: 100, bundle_id: "com.apple.finder" },
        { name: "TextEdit", pid: 200 },
      ],
    })
  })

  test("surfaces are those of the app that is named", async () => {
    const { ok, textEdit } = twoApps()
    textEdit.show("menu", { role: "menu", name: "File" })
    expect(await ok("list-surfaces", { app: "TextEdit" })).toEqual({
      pid: 200,
      surfaces: [{ type: "menu", id: "menu-1", title: "File" }],
    })
    expect(await ok("list-surfaces", { app: "Finder" })).toEqual({ pid: 100, surfaces: [] })
  })

  test("coordinates that a platform could not tell read as 0", async () => {
    const { ok, notes } = twoApps()
    notes.bounds = { x: Number.NaN, y: Number.POSITIVE_INFINITY, width: 10, height: 20 }
    expect((await ok("list-windows", { app: "TextEdit" })).windows[0].bounds).toEqual({
      x: 0,
      y: 0,
      width: 10,
      height: 20,
    })
  })
})

describe("window operations", () => {
  test("each tells how the window is afterwards", async () => {
    const { ok, world } = twoApps()
    expect((await ok("move-window", { window_id: "w-1", x: 30, y: 40 })).window.bounds).toEqual({
      x: 30,
      y: 40,
      width: 1000,
      height: 800,
    })
    expect(
      (await ok("resize-window", { app: "TextEdit", width: 640, height: 480 })).window.bounds,
    ).toMatchObject({
      width: 640,
      height: 480,
    })
    expect((await ok("focus-window", { window_id: "w-3" })).focused).toMatchObject({
      id: "w-3",
      is_focused: true,
    })
    expect(world.focused?.id).toBe("w-3")
    expect((await ok("minimize", { id: "w-3" })).window.id).toBe("w-3")
    expect(world.focused?.minimized).toBe(true)
    expect((await ok("restore", { window_id: "w-3" })).window.id).toBe("w-3")
    expect(world.focused?.minimized).toBe(false)
    expect((await ok("maximize", { app: "textedit" })).window.bounds.width).toBe(1920)
  })

  test("a title must be whole and belong to one window", async () => {
    const { ok, error, finder } = twoApps()
    expect((await ok("focus-window", { title: "notes.txt" })).focused.id).toBe("w-3")
    expect((await error("focus-window", { title: "notes" })).code).toBe("WINDOW_NOT_FOUND")
    finder.window("notes.txt", [], { id: "w-9" })
    expect((await error("focus-window", { title: "notes.txt" })).code).toBe("AMBIGUOUS_TARGET")
    expect((await ok("focus-window", { title: "notes.txt", app: "Finder" })).focused.id).toBe("w-9")
  })

  test("the window must be named: the focused one is not a guess worth making", async () => {
    const { error, world } = twoApps()
    for (const name of ["focus-window", "minimize", "maximize", "restore"])
      expect((await error(name)).code).toBe("INVALID_ARGS")
    expect((await error("move-window", { x: 1, y: 1 })).code).toBe("INVALID_ARGS")
    expect(world.calls).not.toContain("window")
  })

  test("a focus that did not come is a failure, not a success", async () => {
    const { error, world } = twoApps()
    world.refusesFocus = true
    expect(await error("focus-window", { window_id: "w-3" })).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "contradicted" },
    })
  })

  test("a window that is gone is not found", async () => {
    const { error } = twoApps()
    expect((await error("maximize", { window_id: "w-77" })).message).toBe("Window 'w-77' not found")
  })
})

describe("press", () => {
  test("keys for an app go there only once its window has the focus", async () => {
    const { ok, error, world } = twoApps()
    expect(await ok("press", { combo: "ctrl+s", app: "TextEdit" })).toEqual({ action: "press" })
    expect(world.focused?.id).toBe("w-3")
    expect(world.keys).toEqual(["ctrl+s"])
    world.refusesFocus = true
    expect((await error("press", { combo: "ctrl+w", app: "Finder" })).code).toBe("ACTION_FAILED")
    expect(world.keys).toEqual(["ctrl+s"])
  })
})
