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

describe("the chosen window", () => {
  test("is exactly the one of --window-id, no matter which has the focus", async () => {
    const { ok } = twoApps()
    expect((await ok("snapshot", { window_id: "w-1" })).window).toEqual({ id: "w-1", title: "Documents" })
  })

  test("is the focused window of --app, or else its first one", async () => {
    const { ok, world, notes } = twoApps()
    expect((await ok("snapshot", { app: "Finder" })).window.id).toBe("w-2")
    world.focused = notes
    expect((await ok("snapshot", { app: "Finder" })).window.id).toBe("w-1")
  })

  test("is the focused window if neither is given", async () => {
    const { ok, world, notes } = twoApps()
    expect((await ok("snapshot")).window.id).toBe("w-2")
    world.focused = notes
    expect((await ok("snapshot")).app).toBe("TextEdit")
  })

  test("is waited for by a look while none has the focus, as right after a launch", async () => {
    const { ok, error, world, notes } = twoApps()
    for (const command of ["snapshot", "find"]) {
      world.focused = undefined
      setTimeout(() => {
        world.focused = notes
        world.emit()
      }, 50)
      await ok(command)
    }
    world.focused = undefined
    expect(await error("snapshot", { timeout_ms: 0 })).toMatchObject({ code: "WINDOW_NOT_FOUND" })
  })

  test("is found by the whole app name, in any case, or by an alias", async () => {
    const { ok, error } = twoApps()
    for (const app of ["finder", "FINDER", "com.apple.finder", "COM.Apple.Finder"])
      expect((await ok("snapshot", { app })).app).toBe("Finder")
    for (const app of ["Find", "inder", "Finder ", ""])
      expect((await error("snapshot", { app })).code).toBe("APP_NOT_FOUND")
  })

  test("belongs to the app with that name rather than to one with it as an alias", async () => {
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
    // After that, no app has it as its own name.
    expect((await ok("snapshot", { app: "TextEdit" })).window.id).toBe("w-4")
    const third = world.app("Third", { pid: 400, aliases: ["textedit"] })
    third.window("third", [{ role: "button", name: "Save" }], { id: "w-5" })
    expect((await error("snapshot", { app: "TextEdit" })).code).toBe("AMBIGUOUS_TARGET")
  })

  test("must exist: an unknown app or window fails with the contract's message", async () => {
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

  test("must belong to the named app", async () => {
    const { ok, error } = twoApps()
    expect((await ok("snapshot", { window_id: "w-3", app: "textedit" })).window.id).toBe("w-3")
    expect(await error("snapshot", { window_id: "w-3", app: "Finder" })).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "Window 'w-3' belongs to 'TextEdit', not to 'Finder'",
    })
  })

  test("is not guessed: if no window has the focus, the command fails", async () => {
    const { error, world } = twoApps()
    world.focused = undefined
    expect(await error("snapshot")).toMatchObject({
      code: "WINDOW_NOT_FOUND",
      message: "No window has the focus",
    })
  })

  test("is not guessed between two running apps of the same name", async () => {
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
  test("windows have exactly the documented members", async () => {
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

  test("apps have name, pid and bundle id", async () => {
    const { ok } = twoApps()
    expect(await ok("list-apps")).toEqual({
      apps: [
        { name: "Finder", pid: 100, bundle_id: "com.apple.finder" },
        { name: "TextEdit", pid: 200 },
      ],
    })
  })

  test("surfaces are those of the named app", async () => {
    const { ok, textEdit } = twoApps()
    textEdit.show("menu", { role: "menu", name: "File" })
    expect(await ok("list-surfaces", { app: "TextEdit" })).toEqual({
      pid: 200,
      surfaces: [{ type: "menu", id: "menu-1", title: "File" }],
    })
    expect(await ok("list-surfaces", { app: "Finder" })).toEqual({ pid: 100, surfaces: [] })
  })

  test("coordinates that the platform does not know become 0", async () => {
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
  test("each returns the window's new state", async () => {
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

  test("a title must match completely, and only one window", async () => {
    const { ok, error, finder } = twoApps()
    expect((await ok("focus-window", { title: "notes.txt" })).focused.id).toBe("w-3")
    expect((await error("focus-window", { title: "notes" })).code).toBe("WINDOW_NOT_FOUND")
    finder.window("notes.txt", [], { id: "w-9" })
    expect((await error("focus-window", { title: "notes.txt" })).code).toBe("AMBIGUOUS_TARGET")
    expect((await ok("focus-window", { title: "notes.txt", app: "Finder" })).focused.id).toBe("w-9")
  })

  test("the window must be named: the focused one is not assumed", async () => {
    const { error, world } = twoApps()
    for (const name of ["focus-window", "minimize", "maximize", "restore"])
      expect((await error(name)).code).toBe("INVALID_ARGS")
    expect((await error("move-window", { x: 1, y: 1 })).code).toBe("INVALID_ARGS")
    expect(world.calls).not.toContain("window")
  })

  test("a window that does not get the focus is a failure", async () => {
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
