import { afterAll, describe, expect, test } from "bun:test"
import { NOTHING } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { bounds, holding, SHORT } from "./holding.ts"
import { BUTTON, COMBO, FIELD } from "./unroutable.ts"

afterAll(clearDesks)

describe.concurrent("keys", () => {
  test("are not typed into a field that has just lost the focus", async () => {
    const { act, world, element } = await holding({ ...FIELD, states: ["enabled", "focused"] })
    world.onInput = () => {
      element.states = ["enabled"]
    }
    expect((await act("type", { text: "d", timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      message: "Type action failed on @e1: it cannot get keys: it lost the keyboard focus",
      disposition: NOTHING,
    })
    expect(world.deliveries).toEqual([])
  })

  test("go to the element only once both it and its window have the focus", async () => {
    const other: Spec = { ...FIELD, name: "Other", states: ["enabled", "focused"] }
    const { act, world, element } = await holding(FIELD, { ...other, bounds: { ...bounds, y: 100 } })
    const front = world.app("Front").window("Front", [{ ...other, name: "Wrong" }], {
      bounds: { x: 500, y: 500, width: 100, height: 100 },
    })
    world.windows.reverse()
    world.focused = front
    expect((await act("type", { text: "d" })).data.post_state.value).toBe("abcd")
    expect(element.value).toBe("abcd")
    expect(world.at("Other").value).toBe("abc")
    expect(world.at("Wrong").value).toBe("abc")
  })

  test("do not go to another element that got the focus when the window came to the front", async () => {
    const other: Spec = { ...FIELD, name: "Other", bounds: { ...bounds, y: 100 } }
    const { act, world, window, element } = await holding({ ...FIELD, states: ["enabled", "focused"] }, other)
    const front = world
      .app("Front")
      .window("Front", [], { bounds: { x: 500, y: 500, width: 100, height: 100 } })
    world.windows.reverse()
    world.focused = front
    window.onFocus = () => {
      element.states = ["enabled"]
      world.at("Other").states = ["enabled", "focused"]
    }
    expect((await act("type", { text: "d" })).ok).toBe(true)
    expect([element.value, world.at("Other").value]).toEqual(["abcd", "abc"])
  })

  test("focus the element by the accessibility route if there is one", async () => {
    const { act, sent, world, element } = await holding({ ...FIELD, route: "works" })
    expect((await act("type", { text: "d", input: "physical" })).ok).toBe(true)
    expect(sent()).toEqual(["semantic focus", "keyboard type"])
    expect(element.value).toBe("abcd")
    // Some fields select all their text when they get the focus.
    expect(world.keys).toEqual([process.platform === "darwin" ? "cmd+right" : "end"])
  })

  test("are not sent to an element that does not take the focus", async () => {
    const { act, sent, world } = await holding({ ...FIELD, route: "lies" })
    expect((await act("type", { text: "d", input: "physical", timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_focused" },
      disposition: NOTHING,
    })
    expect(sent()).toEqual(["semantic focus"])
    expect(world.keys).toEqual([])
  })

  test("are not sent while its window is not in front", async () => {
    const { act, world } = await holding({ ...FIELD, states: ["enabled", "focused"] })
    const front = world.app("Front").window("Front", [{ ...FIELD, name: "Wrong", states: ["focused"] }])
    world.focused = front
    world.refusesFocus = true
    expect((await act("type", { text: "d" })).error.details.kind).toBe("not_focused")
    expect(world.deliveries).toEqual([])
  })

  test.each(["button", "checkbox", "link", "menuitem", "tab", "slider", "radiobutton"])(
    "are not typed into a %s, since they would press it",
    async (role) => {
      const { act, sent } = await holding({ ...BUTTON, role, states: ["enabled", "focused"] })
      expect((await act("type", { text: " " })).error.code).toBe("ACTION_NOT_SUPPORTED")
      expect(sent()).toEqual([])
    },
  )

  test("are not preceded by a click if the click would change the element", async () => {
    const { act, sent } = await holding(COMBO)
    expect((await act("type", { text: "B" })).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect((await act("set-value", { value: "B" })).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect((await act("focus")).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect(sent()).toEqual([])
  })

  test("are uncertain, not undelivered, if a slider cannot be read after the first one", async () => {
    const slider: Spec = { ...BUTTON, role: "slider", value: "1", states: ["enabled", "focused"] }
    const { act, world } = await holding({ ...slider, actions: ["SetValue"] })
    world.onKey = () => world.hang("read")
    expect((await act("set-value", { value: "5", timeout_ms: SHORT })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
    expect(world.keys).toEqual(["right"])
  })

  test("that may have been sent are reported as uncertain", async () => {
    const { act, world } = await holding({ ...FIELD, states: ["enabled", "focused"] })
    world.fail("input", new Error("the wire broke"))
    expect((await act("type", { text: "d", timeout_ms: SHORT })).error).toMatchObject({
      code: "INTERNAL",
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
  })
})
