import { afterAll, describe, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"
import { shortTimeout } from "../support/pace.ts"

afterAll(clearDesks)

const bounds = { x: 1, y: 2, width: 30, height: 4 }
const BUTTON: Spec = { role: "button", name: "It", states: ["enabled"], bounds }
/** Long enough for a loaded machine to look at least once, short enough for a test. */
const SHORT = shortTimeout(400)

async function holding(...children: Spec[]) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  const window = app.window("Window", children, { id: "w-1" })
  await it.ok("snapshot", { offscreen: true })
  return { ...it, app, window, element: window.root.children[0]! }
}

const notice = (id: string, title: string, app_name = "Mail") => ({ id, index: 0, app_name, title })

describe.concurrent("an element", () => {
  test.each([
    ["exists", BUTTON, BUTTON],
    ["visible", { ...BUTTON, states: ["enabled", "hidden"] }, BUTTON],
    ["visible", { ...BUTTON, bounds: { ...bounds, width: 0 } }, BUTTON],
    ["enabled", { ...BUTTON, states: ["disabled"] }, BUTTON],
    ["actionable", { ...BUTTON, states: ["disabled"] }, BUTTON],
    ["actionable", { ...BUTTON, states: ["enabled", "busy"] }, BUTTON],
    ["actionable", { ...BUTTON, states: ["enabled", "offscreen"] }, BUTTON],
  ] as const)("is waited for until %s, with and without events", async (predicate, before, after) => {
    for (const isSilent of [false, true]) {
      const { ok, world, element } = await holding(before)
      world.isSilent = isSilent
      world.later(() => element.set({ states: [...after.states!], bounds: after.bounds }))
      const data = await ok("wait", { element: "@e1", predicate })
      expect(data).toEqual({ found: true, elapsed_ms: expect.any(Number), element: "@e1", predicate })
    }
  })

  test("is waited for until it is gone", async () => {
    for (const args of [{ predicate: "gone" }, { gone: true }]) {
      const { ok, world, element } = await holding(BUTTON)
      world.later(() => element.remove())
      expect((await ok("wait", { element: "@e1", ...args })).predicate).toBe("gone")
    }
  })

  test("that is still there is not gone", async () => {
    const { error } = await holding(BUTTON)
    expect(await error("wait", { element: "@e1", predicate: "gone", timeout: SHORT })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "element" },
    })
  })

  test("is not reported gone while it cannot be distinguished from similar ones", async () => {
    const it = desk()
    it.world.hasAddresses = false
    const window = it.world.app("App").window("Window", [BUTTON, { ...BUTTON, bounds: { ...bounds, y: 90 } }])
    await it.ok("snapshot")
    window.root.add({ role: "toolbar" }, 0)
    expect((await it.error("wait", { element: "@e1", gone: true, timeout: SHORT })).code).toBe("TIMEOUT")
  })

  test("of a process that ended is gone", async () => {
    const { ok, app } = await holding(BUTTON)
    app.end()
    expect((await ok("wait", { element: "@e1", gone: true, timeout: 0 })).found).toBe(true)
  })

  test("of an unknown ref cannot be waited for, not even to be gone", async () => {
    const { error } = await holding(BUTTON)
    for (const predicate of ["exists", "gone"])
      expect((await error("wait", { element: "@e99", predicate })).message).toBe(
        "@e99 not found in current RefMap",
      )
  })

  test("is waited for until it has a value, which may be empty", async () => {
    const { ok, world, element } = await holding({ role: "textfield", name: "It", value: "busy" })
    world.later(() => element.set({ value: "" }))
    expect((await ok("wait", { element: "@e1", predicate: "value", value: "" })).found).toBe(true)
    expect((await ok("wait", { element: "@e1", predicate: "value", value: "", timeout: 0 })).found).toBe(true)
  })

  test("with unknown bounds may be actionable, but is not known to be visible", async () => {
    const { ok, error } = await holding({ ...BUTTON, bounds: undefined })
    expect((await ok("wait", { element: "@e1", predicate: "actionable", timeout: 0 })).found).toBe(true)
    expect((await error("wait", { element: "@e1", predicate: "visible", timeout: 0 })).code).toBe("TIMEOUT")
  })
})

describe.concurrent("a text", () => {
  test("is found in the tree, and gets a ref if it is interactive", async () => {
    const { ok, world, window } = await holding(BUTTON)
    world.later(() => window.root.add({ role: "button", name: "Saved as draft" }))
    expect(await ok("wait", { text: "saved" })).toEqual({
      found: true,
      elapsed_ms: expect.any(Number),
      text: "saved",
      match: { ref_id: "@e2", role: "button", name: "Saved as draft", interactive: true, path: ["Window"] },
    })
    await ok("click", { ref_id: "@e2" })
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Saved as draft")).toEqual(["semantic click"])
    expect(world.sent("It")).toEqual(["semantic click"])
  })

  test("that is not interactive gets no ref", async () => {
    const { ok } = await holding({ role: "statictext", name: "Saved" })
    expect((await ok("wait", { text: "Saved" })).match).toEqual({
      role: "statictext",
      value: "Saved",
      interactive: false,
      path: ["Window"],
    })
  })

  test("is gone once no element shows it", async () => {
    const { ok, world, element } = await holding({ role: "statictext", name: "Loading" })
    world.later(() => element.remove())
    expect(await ok("wait", { text: "Loading", gone: true })).toEqual({
      found: true,
      elapsed_ms: expect.any(Number),
      text: "Loading",
    })
  })

  test("is gone with its window", async () => {
    const { ok, world, window } = await holding({ role: "statictext", name: "Loading" })
    world.later(() => window.close())
    expect((await ok("wait", { text: "Loading", gone: true, app: "App" })).found).toBe(true)
  })

  test("is not called gone in a tree that was only partly read", async () => {
    const { error, world } = await holding(BUTTON, { role: "statictext", name: "Loading" })
    world.nodeLimit = 2
    expect(await error("wait", { text: "Loading", gone: true, timeout: SHORT })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "text_gone" },
    })
  })

  test("is not called gone while the app is busy", async () => {
    const { error, world } = await holding(BUTTON)
    world.isBusy = true
    expect(await error("wait", { text: "Loading", gone: true, timeout: SHORT })).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringMatching(
        /^It is not certain that the text 'Loading' is gone after \d+ ms; the app was still busy$/,
      ),
      details: { kind: "text_gone", complete: false },
    })
  })

  test("is not called gone if its app may be one of those that do not answer", async () => {
    const { error, run, world } = await holding(BUTTON)
    world.app("", { pid: 77 }).window("Frozen", [], { id: "w-77", reason: "its process does not answer" })
    for (const args of [{ text: "Loading" }, { window: "Frozen" }])
      expect((await error("wait", { ...args, gone: true, app: "Firefox", timeout: SHORT })).code).toBe(
        "TIMEOUT",
      )
    expect((await run("snapshot", { app: "Firefox" })).error).toMatchObject({
      code: "APP_NOT_FOUND",
      message: "No windows found for app 'Firefox', but some apps do not answer",
      suggestion: "Retry when they do, or name the window: agent-desktop snapshot --window-id w-77",
      details: { certain: false, unanswered: [{ id: "w-77" }] },
    })
  })

  test("in rows for which a large list has no objects is not reported as missing or gone without a warning", async () => {
    const list: Spec = { role: "list", name: "Big", total: 1000, children: [{ role: "option", name: "1" }] }
    const { ok, error } = await holding(list)
    const unsearched = { count: 999, in: [{ role: "list", name: "Big", count: 999 }] }
    expect(await error("wait", { text: "Row 500", timeout: SHORT })).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("; 999 elements were not searched"),
      suggestion: expect.stringContaining("agent-desktop scroll @e"),
      details: { kind: "text", complete: false, unsearched },
    })
    expect(await ok("wait", { text: "Row 500", gone: true })).toMatchObject({
      found: true,
      complete: false,
      unsearched,
    })
  })

  test("may appear in an app that is not running yet", async () => {
    const { ok, world } = await holding(BUTTON)
    world.later(() => world.app("New").window("New", [{ role: "statictext", name: "Ready" }]))
    expect((await ok("wait", { text: "Ready", app: "New" })).found).toBe(true)
  })
})

describe.concurrent("a window, a menu, a notification", () => {
  test("a window is waited for by part of its title, in the named app", async () => {
    const { ok, world } = await holding(BUTTON)
    world.app("Other").window("Save as", [], { id: "w-8" })
    const editor = world.app("Editor")
    world.later(() => editor.window("Save As…", [], { id: "w-9" }))
    const { window, found } = await ok("wait", { window: "save as", app: "editor" })
    expect({ found, id: window.id }).toEqual({ found: true, id: "w-9" })
  })

  test("an app with that name wins over another with it as an alias, as in every command", async () => {
    const { ok, world } = await holding(BUTTON)
    world.app("Notes", { aliases: ["Editor"] }).window("Save As…", [], { id: "w-8" })
    const editor = world.app("Editor")
    editor.window("Draft", [], { id: "w-7" })
    world.later(() => editor.window("Save As…", [], { id: "w-9" }))
    expect((await ok("wait", { window: "save as", app: "editor" })).window.id).toBe("w-9")
    expect((await ok("wait", { window: "draft", app: "notes", gone: true })).found).toBe(true)
  })

  test("a window is waited for until it is gone", async () => {
    const { ok, world, window } = await holding(BUTTON)
    world.later(() => window.close())
    expect((await ok("wait", { window: "Window", gone: true })).found).toBe(true)
  })

  test("a menu is waited for until it opens, and until it is closed", async () => {
    const { ok, world, app } = await holding(BUTTON)
    world.later(() => app.show("menu", { role: "menu", name: "File" }))
    expect((await ok("wait", { menu: true })).menu).toEqual({ type: "menu", id: "menu-1", title: "File" })
    world.later(() => app.hide("menu"))
    expect((await ok("wait", { menu_closed: true })).found).toBe(true)
  })

  test("only a new notification counts", async () => {
    const { ok, error, world } = await holding(BUTTON)
    world.notifications = [notice("1", "Old")]
    expect((await error("wait", { notification: true, timeout: SHORT })).details.kind).toBe("notification")
    world.later(() => {
      world.notifications = [notice("2", "New mail"), notice("1", "Old")]
      world.emit()
    })
    expect((await ok("wait", { notification: true })).notification).toEqual({
      index: 0,
      app_name: "Mail",
      title: "New mail",
    })
  })

  test("--text and --app filter the notifications", async () => {
    const { ok, error, world } = await holding(BUTTON)
    const come = () =>
      world.later(() => {
        world.notifications = [notice("1", "Spam"), notice("2", "Build done", "CI")]
        world.emit()
      })
    come()
    expect((await ok("wait", { notification: true, text: "done" })).notification.title).toBe("Build done")
    world.notifications = []
    come()
    expect((await ok("wait", { notification: true, app: "ci" })).notification.app_name).toBe("CI")
    world.notifications = []
    come()
    expect((await error("wait", { notification: true, text: "failed", timeout: SHORT })).code).toBe("TIMEOUT")
  })
})

describe.concurrent("time", () => {
  test("wait MS waits for that number of milliseconds", async () => {
    const { ok, world } = await holding(BUTTON)
    const calls = world.calls.length
    const start = performance.now()
    expect((await ok("wait", { ms: 40 })).found).toBe(true)
    expect(performance.now() - start).toBeGreaterThanOrEqual(39)
    expect(world.calls.slice(calls)).toEqual([])
    expect((await ok("wait", { ms: 0 })).found).toBe(true)
  })

  test("a number above the timeout is refused at once, with the option to add", async () => {
    const { error } = await holding(BUTTON)
    expect(await error("wait", { ms: 60_000 })).toEqual({
      code: "INVALID_ARGS",
      message: "MS 60000 is longer than --timeout-ms 30000",
      suggestion: "Add --timeout-ms 61000",
      details: { argument: "timeout_ms" },
    })
  })

  test.each([
    [{ element: "@e1", predicate: "visible" }, "element", "@e1 was not 'visible' after"],
    [{ element: 'button "Never"' }, "element", 'button "Never" did not appear after'],
    [{ window: "Nowhere" }, "window", "The window 'Nowhere' did not appear after"],
    [{ window: "Window", gone: true }, "window", "The window 'Window' was still there after"],
    [{ text: "Never" }, "text", "The text 'Never' did not appear after"],
    [{ text: "x".repeat(200) }, "text", `The text '${"x".repeat(60)}…' did not appear after`],
    [{ text: "It", gone: true }, "text_gone", "The text 'It' was still there after"],
    [{ menu: true }, "menu", "No menu opened after"],
    [{ notification: true }, "notification", "No new notification came after"],
  ])("%j that does not happen fails with TIMEOUT and says why", async (args, kind, message) => {
    for (const timeout_ms of [0, SHORT]) {
      const { error } = await holding({ ...BUTTON, states: ["hidden"] })
      const start = performance.now()
      const refused = await error("wait", { ...args, timeout_ms })
      const took = performance.now() - start
      expect(refused.code).toBe("TIMEOUT")
      expect(refused.message).toStartWith(message)
      const windows = { windows: [{ id: "w-1", title: "Window", app_name: "App" }] }
      const more = kind === "window" && !("gone" in args) ? windows : {}
      expect(refused.details).toEqual({ kind, elapsed_ms: expect.any(Number), ...more })
      if (timeout_ms > 0) expect(took).toBeGreaterThanOrEqual(timeout_ms - 1)
    }
  })

  test("an open menu that does not close fails with TIMEOUT too", async () => {
    const { error, app } = await holding(BUTTON)
    app.show("menu", { role: "menu" })
    expect(await error("wait", { menu_closed: true, timeout: SHORT })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "menu_closed" },
    })
  })

  test("timeout 0 looks once and does not wait", async () => {
    const { error, world } = await holding(BUTTON)
    const calls = world.calls.length
    expect((await error("wait", { text: "Never", timeout: 0 })).code).toBe("TIMEOUT")
    expect(world.calls.slice(calls).filter((call) => call === "tree")).toEqual(["tree"])
    expect(world.calls).not.toContain("watch")
  })
})

describe.concurrent("an app that does not answer", () => {
  test("may answer later: the wait continues", async () => {
    const { ok, world, window } = await holding(BUTTON)
    const silence = new AppError("APP_UNRESPONSIVE", "App 'App' did not answer")
    world.fail("tree", silence, silence)
    world.later(() => window.root.add({ role: "statictext", name: "Done" }))
    expect((await ok("wait", { text: "Done" })).found).toBe(true)
  })

  test("and never answers ends the wait with TIMEOUT and the reason", async () => {
    for (const code of ["APP_UNRESPONSIVE", "TIMEOUT"] as const) {
      const { error, world } = await holding(BUTTON)
      world.hang("tree", code)
      expect(await error("wait", { text: "Done", timeout: SHORT })).toMatchObject({
        code: "TIMEOUT",
        message: expect.stringContaining("tree did not end in time"),
        details: { kind: "text" },
      })
    }
  })

  test("and fails in another way ends the wait at once", async () => {
    const { error, world } = await holding(BUTTON)
    world.fail("tree", new AppError("PERM_DENIED", "No"))
    expect((await error("wait", { text: "Done" })).code).toBe("PERM_DENIED")
  })
})

describe("conflicting or invalid options are refused", () => {
  test.each([
    [{}],
    [{ ms: 5, text: "x" }],
    [{ element: "@e1", window: "x" }],
    [{ menu: true, menu_closed: true }],
    [{ text: "" }],
    [{ window: "" }],
    [{ element: "@e1", predicate: "value" }],
    [{ element: "@e1", value: "x" }],
    [{ element: "@e1", predicate: "shiny" }],
    [{ text: "x", predicate: "gone" }],
    [{ menu: true, gone: true }],
    [{ notification: true, text: "x", gone: true }],
    [{ ms: 5, gone: true }],
    [{ ms: -1 }],
    [{ timeout: 5, timeout_ms: 5, ms: 1 }],
  ])("%j", async (args: Json) => {
    const it = desk()
    expect((await it.error("wait", args)).code).toBe("INVALID_ARGS")
    expect(it.world.calls).toEqual([])
  })
})
