import { afterAll, describe, expect, test } from "bun:test"
import { AppError, NOTHING_DELIVERED } from "../../src/errors.ts"
import { NOTHING, SENT } from "../support/dispositions.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import { FIELD, holding } from "./holding.ts"

afterAll(clearDesks)

/** Finder with two windows, of which the second has the focus, and TextEdit with one. */
async function twoApps() {
  const it = desk()
  const finder = it.world.app("Finder", { pid: 100 })
  const first = finder.window("Documents", [{ role: "button", name: "Back", states: ["focused"] }], {
    id: "w-1",
  })
  const second = finder.window("Downloads", [{ role: "button", name: "Forward" }], { id: "w-2" })
  const textEdit = it.world.app("TextEdit", { pid: 200 })
  const notes = textEdit.window(
    "notes.txt",
    [
      { role: "button", name: "Bold", states: ["enabled", "focused"] },
      { role: "textfield", name: "Body", value: "", states: ["enabled"] },
    ],
    { id: "w-3" },
  )
  it.world.focused = second
  const body = (await it.ok("find", { window_id: "w-3", name: "Body", first: true })).match.ref_id
  return { ...it, finder, first, second, notes, body }
}

const DOWNLOADS = { id: "w-2", title: "Downloads", app_name: "Finder" }
const NOTES = { id: "w-3", title: "notes.txt", app_name: "TextEdit" }

describe("press", () => {
  test("reports the window and the element that had the focus", async () => {
    const { ok, world, notes } = await twoApps()
    expect(await ok("press", { combo: "ctrl+s" })).toEqual({
      action: "press",
      window: DOWNLOADS,
      disposition: SENT,
    })
    world.focused = notes
    expect(await ok("press", { combo: "return" })).toEqual({
      action: "press",
      window: NOTES,
      element: { role: "button", name: "Bold" },
      disposition: SENT,
    })
  })

  test("presses several combos in order, and all of them again with --count", async () => {
    const { ok, world } = await twoApps()
    expect(await ok("press", { combo: "ctrl+a delete", count: 2 })).toEqual({
      action: "press",
      window: DOWNLOADS,
      disposition: SENT,
    })
    expect(world.keys).toEqual(["ctrl+a", "forwarddelete", "ctrl+a", "forwarddelete"])
  })

  test("that fails after some combos says so", async () => {
    const { error, world } = await twoApps()
    let left = 2
    world.onInput = () => {
      if (left-- === 0)
        throw new AppError("ACTION_FAILED", "The focus moved", { disposition: NOTHING_DELIVERED })
    }
    expect(await error("press", { combo: "a b c d" })).toMatchObject({
      message: "The focus moved, after 2 of 4 combinations",
      details: { pressed: 2 },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(world.keys).toEqual(["a", "b"])
  })

  test("never continues in another app: the window may have closed, with another one behind it", async () => {
    const { error, ok, world, second, notes } = await twoApps()
    world.onKey = () => {
      world.focused = notes
    }
    expect(await error("press", { combo: "alt+f4 return" })).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("after 1 of 2"),
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(world.keys).toEqual(["alt+f4"])
    // Alt+Tab is meant to go to another app.
    world.focused = second
    await ok("press", { combo: "alt+tab return" })
    expect(world.keys).toEqual(["alt+f4", "alt+tab", "return"])
  })

  test("checks every combo before the first is pressed", async () => {
    const { error, world } = await twoApps()
    expect((await error("press", { combo: "ctrl+a nokey" })).code).toBe("INVALID_ARGS")
    expect((await error("press", { combo: "escape ctrl+alt+delete" })).code).toBe("POLICY_DENIED")
    expect(world.keys).toEqual([])
  })

  test("reports neither if the keys went to a window that is not listed", async () => {
    const { ok, world } = await twoApps()
    world.onInput = () => {
      world.focused = undefined
    }
    expect(await ok("press", { combo: "ctrl+s" })).toEqual({
      action: "press",
      disposition: SENT,
      doubt: expect.stringContaining("No listed window"),
    })
    expect(await ok("press", { combo: "ctrl+s" })).toHaveProperty(
      "doubt",
      expect.stringContaining("No listed window"),
    )
  })

  test("Enter in a field waits until the default button of the dialog is enabled", async () => {
    const { ok, world, notes, body } = await twoApps()
    world.focused = notes
    world.isEnterBlocked = true
    const isBlocked: boolean[] = []
    world.onInput = () => isBlocked.push(world.isEnterBlocked)
    const pressed = ok("press", { combo: "return", to: body })
    setTimeout(() => {
      world.isEnterBlocked = false
    }, 200)
    expect(await pressed).not.toHaveProperty("doubt")
    expect(isBlocked.at(-1)).toBe(false)
    // It may stay disabled, and the field may have an effect of its own.
    world.isEnterBlocked = true
    expect((await ok("press", { combo: "return", to: body })).doubt).toContain("disabled")
    // Other keys do not press it.
    expect(await ok("press", { combo: "tab", to: body })).not.toHaveProperty("doubt")
  })

  test.each([{ app: "TextEdit" }, { window_id: "w-3" }])(
    "goes to the window of %j, which gives the focus back",
    async (choice) => {
      const { ok, world } = await twoApps()
      expect(await ok("press", { combo: "ctrl+s", ...choice })).toEqual({
        action: "press",
        window: NOTES,
        element: { role: "button", name: "Bold" },
        focus_returned: true,
        disposition: SENT,
      })
      expect(world.keys).toEqual(["ctrl+s"])
      expect(world.focused?.id).toBe("w-2")
    },
  )

  test("does not move the focus if the window already has it", async () => {
    const { ok, world } = await twoApps()
    expect(await ok("press", { combo: "ctrl+s", window_id: "w-2" })).toEqual({
      action: "press",
      window: DOWNLOADS,
      disposition: SENT,
    })
    expect(world.calls).not.toContain("window")
  })

  test("does not give the focus back if the keys moved it", async () => {
    const { ok, world, finder } = await twoApps()
    world.onKey = () => {
      world.focused = finder.window("Save?", [], { id: "w-9" })
    }
    expect((await ok("press", { combo: "ctrl+s", app: "TextEdit" })).focus_returned).toBe(false)
    expect(world.focused?.id).toBe("w-9")
  })

  test("says so if the focus cannot be given back, since the keys were sent", async () => {
    const { ok, world } = await twoApps()
    world.onKey = () => {
      world.refusesFocus = true
    }
    expect((await ok("press", { combo: "ctrl+s", app: "TextEdit" })).focus_returned).toBe(false)
  })

  test("sends nothing if the window does not get the focus, or loses it before the keys", async () => {
    const { error, world, first } = await twoApps()
    world.onInput = () => {
      world.focused = first
    }
    expect((await error("press", { combo: "ctrl+w", app: "TextEdit" })).disposition).toEqual(NOTHING)
    world.refusesFocus = true
    expect((await error("press", { combo: "ctrl+w", app: "TextEdit" })).code).toBe("ACTION_FAILED")
    expect(world.keys).toEqual([])
  })

  test("gives the focus back if nothing was sent", async () => {
    const { error, world } = await twoApps()
    world.fail("input", new AppError("ACTION_FAILED", "No", { disposition: NOTHING_DELIVERED }))
    expect((await error("press", { combo: "ctrl+w", app: "TextEdit" })).disposition).toEqual(NOTHING)
    expect(world.focused?.id).toBe("w-2")
  })
})

describe("press --to", () => {
  test("gives the element the focus, in its window, and reports both", async () => {
    const { ok, world, body } = await twoApps()
    expect(await ok("press", { combo: "return", to: body })).toEqual({
      action: "press",
      ref_id: body,
      window: NOTES,
      element: { role: "textfield", name: "Body" },
      disposition: SENT,
    })
    expect(world.focused?.id).toBe("w-3")
    expect(world.keys).toEqual(["return"])
  })

  test("sends nothing to an element that does not take the focus, or loses it", async () => {
    const { error, world, body, notes } = await twoApps()
    const field = notes.root.children[1]!
    world.onInput = () => field.set({ states: ["enabled"] })
    expect((await error("press", { combo: "return", to: body })).disposition).toEqual(NOTHING)
    field.route = "lies"
    expect(await error("press", { combo: "return", to: body })).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_focused" },
      disposition: NOTHING,
    })
    expect(world.keys).toEqual([])
  })

  test("says that nothing was sent if the app falls silent before the keys", async () => {
    const { error, world, body } = await twoApps()
    world.fail("perform", new AppError("APP_UNRESPONSIVE", "The app says nothing"))
    expect(await error("press", { combo: "return", to: body })).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: NOTHING,
    })
    expect(world.keys).toEqual([])
  })

  test("refuses a disabled element at once", async () => {
    const { error, world, body, notes } = await twoApps()
    notes.root.children[1]!.set({ states: ["disabled"] })
    expect(await error("press", { combo: "return", to: body })).toMatchObject({
      message: `${body} is disabled and cannot get keys`,
      details: { kind: "not_actionable", reason: "disabled" },
      disposition: NOTHING,
    })
    expect(world.focused?.id).toBe("w-2")
  })

  test("cannot be combined with --window-id, since the ref names the window", async () => {
    const { error, body } = await twoApps()
    for (const choice of [{ app: "TextEdit" }, { window_id: "w-3" }])
      expect((await error("press", { combo: "return", to: body, ...choice })).code).toBe("INVALID_ARGS")
  })
})

describe.concurrent.each([
  ["type", { text: "d" }],
  ["set-value", { value: "d" }],
] as const)("%s", (name, args) => {
  test("leaves its field with the focus", async () => {
    const { act, ok, sent } = await holding(FIELD)
    expect((await act(name, args)).data.focused).toBe(true)
    expect((await ok("press", { combo: "return" })).element).toEqual({ role: "textfield", name: "It" })
    expect(sent()).toEqual([`semantic ${name}`])
  })

  test("leaves the focus alone with --input semantic", async () => {
    const { act, element, world } = await holding(FIELD)
    const { data } = await act(name, { ...args, input: "semantic" })
    expect(data).not.toHaveProperty("focused")
    expect(element.has("focused")).toBe(false)
    expect(world.calls).not.toContain("keepFocus")
  })

  test("does not raise a window that is behind another one, and says so", async () => {
    const { act, world } = await holding(FIELD)
    world.focused = world.app("Other", { pid: 11 }).window("Other", [], { id: "w-2" })
    const { data } = await act(name, args)
    expect(data).toMatchObject({
      disposition: { delivery: "delivered_verified" },
      focused: false,
      focus_reason: "its window w-1 is not in front; 'press KEYS --to @e1' brings it there",
    })
    expect(world.focused.id).toBe("w-2")
    expect(world.calls).not.toContain("window")
  })

  test("succeeds if the field does not take the focus, says so, and tries nothing else", async () => {
    const { act, world, sent } = await holding(FIELD)
    world.fail("keepFocus", new AppError("APP_UNRESPONSIVE", "The app says nothing"))
    expect((await act(name, args)).data).toMatchObject({
      disposition: { delivery: "delivered_verified" },
      focused: false,
      focus_reason: "The app says nothing",
    })
    expect(world.calls.filter((call) => call === "keepFocus")).toHaveLength(1)
    expect(sent()).toEqual([`semantic ${name}`])
  })

  test("asks for no focus if the text may not have arrived", async () => {
    const { act, world } = await holding({ ...FIELD, route: "uncertain_lost" })
    await act(name, { ...args, timeout_ms: 300 })
    expect(world.calls).not.toContain("keepFocus")
  })
})

test("press in a page that has just come to the front reports the element in it, which the page reports late", async () => {
  const it = desk()
  const browser = it.world.app("Browser", { pid: 300 })
  const button = { role: "button", name: "Press me", states: ["enabled"] } as const
  const page = {
    role: "webarea",
    name: "Page",
    states: ["focused"],
    tellsLate: 400,
    children: [button],
  } as const
  const behind = browser.window("Page", [page], { id: "w-1" })
  const other = it.world.app("Editor", { pid: 400 }).window("Text", [], { id: "w-2" })
  it.world.focused = other
  const [webarea] = behind.root.children
  behind.onFocus = () => {
    setTimeout(() => {
      webarea!.states = []
      webarea!.children[0]!.states.push("focused")
      it.world.emit()
    }, 50)
  }
  expect(await it.ok("press", { combo: "space", window_id: "w-1" })).toMatchObject({
    element: { role: "button", name: "Press me" },
    focus_returned: true,
  })
})
