import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { BOUNDS, button, holding, WINDOW } from "./holding.ts"

/** The element that has the keyboard focus, as a target. */

afterAll(clearDesks)

describe.concurrent("@focused", () => {
  const field = (name: string, states: Spec["states"], more: Partial<Spec> = {}): Spec => ({
    role: "textfield",
    name,
    value: "",
    states,
    bounds: BOUNDS,
    ...more,
  })

  test("is the element that has the keyboard focus", async () => {
    const it = holding(field("A", ["enabled"]), field("B", ["enabled", "focused"]))
    expect(await it.ok("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      value: "B",
      window: WINDOW,
    })
    expect(await it.ok("type", { ref_id: "@focused", text: "hi" })).toMatchObject({
      element: { name: "B" },
      window: WINDOW,
    })
    expect(it.window.root.children[1]!.value).toBe("hi")
  })

  test("is the only one that still reports the focus after a moment, or else ambiguous", async () => {
    const it = holding(field("Address", ["enabled", "focused"]), field("Page", ["enabled", "focused"]))
    expect(await it.error("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      details: { candidates: [{ name: "Address" }, { name: "Page" }] },
    })
    const page = it.window.root.children[1]!
    setTimeout(() => page.set({ states: ["enabled"] }), 50)
    expect((await it.ok("get", { ref_id: "@focused", property: "name" })).value).toBe("Address")
  })

  test("is missing if several elements have reported the focus, and none does any more", async () => {
    const it = holding(field("Address", ["enabled", "focused"]), field("Page", ["enabled", "focused"]))
    setTimeout(() => {
      for (const one of it.window.root.children) one.set({ states: ["enabled"] })
    }, 50)
    expect(await it.error("get", { ref_id: "@focused", property: "name" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
    })
  })

  test("is the field, not the nameless part of it that also reports the focus", async () => {
    const inner = field("", ["enabled", "focused"], { name: undefined })
    const it = holding(field("B", ["enabled", "focused"], { children: [inner] }))
    expect((await it.ok("get", { ref_id: "@focused", property: "name" })).value).toBe("B")
  })

  test("without a focus in the tree, only type continues: its keys go to the focused window", async () => {
    const it = holding(button("A"))
    expect(await it.error("click", { ref_id: "@focused" })).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { kind: "no_focus", window: WINDOW },
    })
    expect(await it.ok("type", { ref_id: "@focused", text: "hi" })).toEqual({
      action: "type",
      window: WINDOW,
      method: "keyboard",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    const hidden = await it.error("type", { ref_id: "@focused", secret: "env:PATH" })
    expect(hidden.code).toBe("INVALID_ARGS")
    const semantic = await it.error("type", { ref_id: "@focused", text: "hi", input: "semantic" })
    expect(semantic.code).toBe("ELEMENT_NOT_FOUND")
    const second = it.world.app("Two").window("Behind", [button("A")], { id: "w-9" })
    expect(second.id).toBe("w-9")
    expect(await it.error("type", { ref_id: "@focused", text: "hi", window_id: "w-9" })).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_focused" },
    })
  })

  test("types into a window that shows no elements at all", async () => {
    const it = desk()
    it.world.app("xterm", { pid: 7 }).window("Terminal", [], { id: "w-7", accessible: false })
    expect((await it.ok("type", { ref_id: "@focused", text: "ls\n" })).window.title).toBe("Terminal")
  })
})
