import { afterAll, describe, expect, test } from "bun:test"
import { NOTHING, SENT_SAFELY } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { bounds, holding, SHORT } from "./holding.ts"
import { BOX, BUTTON, COMBO, FIELD } from "./unroutable.ts"

afterAll(clearDesks)

describe.concurrent("input is synthesised only if nothing was sent before", () => {
  test.each([
    ["click", BUTTON, {}, ["pointer click"]],
    ["double-click", BUTTON, {}, ["pointer double-click"]],
    ["triple-click", BUTTON, {}, ["pointer triple-click"]],
    ["right-click", BUTTON, {}, ["pointer right-click"]],
    ["toggle", BOX, {}, ["pointer click"]],
    ["check", BOX, {}, ["pointer click"]],
    ["expand", COMBO, {}, ["pointer click"]],
    ["focus", FIELD, {}, ["pointer click"]],
    ["type", FIELD, { text: "d" }, ["pointer click", "keyboard type"]],
    ["set-value", FIELD, { value: "new" }, ["pointer click", "keyboard type"]],
    ["clear", FIELD, {}, ["pointer click", "keyboard clear"]],
    ["scroll", BUTTON, { direction: "up", amount: 5 }, ["wheel scroll"]],
  ] as const)("%s", async (name, spec, args, expected) => {
    for (const route of ["absent", "refuses"] as const) {
      const { act, sent } = await holding({ ...spec, route })
      const { ok, data, error } = await act(name, args)
      expect({ ok, error }).toEqual({ ok: true, error: undefined })
      expect(data.method).toBe(
        name === "scroll" ? "wheel" : /^(type|set-value|clear)$/.test(name) ? "keyboard" : "pointer",
      )
      expect(sent()).toEqual([...expected])
    }
  })

  test("and its effect is verified as usual", async () => {
    const { act } = await holding(BOX)
    expect((await act("check")).data).toEqual({
      action: "check",
      ref_id: "@e1",
      element: { role: "checkbox", name: "It" },
      post_state: { role: "checkbox", states: ["enabled", "checked"] },
      method: "pointer",
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
  })

  test("and set-value replaces the old text", async () => {
    const { act, element } = await holding(FIELD)
    expect((await act("set-value", { value: "new" })).data.post_state.value).toBe("new")
    expect((await act("set-value", { value: "" })).data.post_state.value).toBe("")
    expect(element.value).toBe("")
  })

  test.each([
    ["textfield", "ACTION_FAILED"],
    ["combobox", "delivered_unverified"],
  ] as const)("a %s that still reports the old text after the keys: %s", async (role, outcome) => {
    const { act, element, sent } = await holding({ ...FIELD, role, states: ["enabled", "focused"] })
    Object.defineProperty(element, "value", { get: () => "abc", set: () => {} })
    const { data, error } = await act("set-value", { value: "new", timeout_ms: SHORT })
    expect(error?.code ?? data.disposition.delivery).toBe(outcome)
    expect(sent()).toEqual(["keyboard type"])
  })

  test.each(["lies", "errs", "errs_silently", "uncertain_lost", "crashes"] as const)(
    "not after a route that %s",
    async (route) => {
      for (const [name, spec] of [
        ["click", BUTTON],
        ["check", BOX],
        ["focus", FIELD],
      ] as const) {
        const { act, sent, world } = await holding({ ...spec, route })
        await act(name, { timeout_ms: SHORT })
        expect(sent()).toEqual([`semantic ${name}`])
        expect(world.calls).not.toContain("input")
      }
    },
  )

  test("not if the accessibility route failed for a reason that input would not help with", async () => {
    const { act, sent } = await holding({ ...FIELD, route: "fails_unsent" })
    expect((await act("set-value", { value: "9999" })).error).toMatchObject({
      code: "ACTION_FAILED",
      message: "Set Value action failed on @e1: out of range",
      disposition: NOTHING,
    })
    expect(sent()).toEqual([])
  })
})

describe.concurrent("--input", () => {
  test("semantic never synthesises input: an element without a route is not supported", async () => {
    for (const route of ["absent", "refuses"] as const) {
      const { act, sent, world } = await holding({ ...BUTTON, route })
      expect((await act("click", { input: "semantic" })).error).toMatchObject({
        code: "ACTION_NOT_SUPPORTED",
        message: "Click action not supported by button elements",
        disposition: NOTHING,
      })
      expect(sent()).toEqual([])
      expect(world.calls).not.toContain("input")
    }
  })

  test("physical never takes the accessibility route, even if there is one", async () => {
    const { act, sent } = await holding({ ...BUTTON, route: "works" })
    expect((await act("click", { input: "physical" })).data.method).toBe("pointer")
    expect(sent()).toEqual(["pointer click"])
  })

  test("is not needed if the state is already reached", async () => {
    const { act, sent } = await holding({ ...BOX, states: ["enabled", "checked"] })
    expect((await act("check", { input: "physical" })).data.method).toBe("none")
    expect(sent()).toEqual([])
  })
})

describe.concurrent("modifiers", () => {
  test.each(["click", "double-click"])(
    "of a %s make it use the pointer, and are held meanwhile",
    async (name) => {
      const { act, world } = await holding(BUTTON)
      const { data } = await act(name, { modifiers: "shift,ctrl" })
      expect(data.method).toBe("pointer")
      expect(world.inputs.at(-1)).toMatchObject({ kind: "click", modifiers: ["ctrl", "shift"] })
    },
  )

  test("are held during a drag", async () => {
    const { ok, world } = await holding(BUTTON, { ...BUTTON, name: "To", bounds: { ...bounds, y: 200 } })
    await ok("drag", { from: "@e1", to: "@e2", duration: 0, modifiers: "ctrl" })
    expect(world.inputs.at(-1)).toMatchObject({ kind: "drag", modifiers: ["ctrl"] })
  })

  test("are refused with --input semantic, and if they are not modifiers", async () => {
    const { error, world } = await holding(BUTTON)
    for (const args of [{ modifiers: "ctrl", input: "semantic" }, { modifiers: "ctrl,a" }, { modifiers: "" }])
      expect((await error("click", { ref_id: "@e1", ...args })).code).toBe("INVALID_ARGS")
    expect(world.deliveries).toEqual([])
  })
})

describe.concurrent("the point", () => {
  test("is the centre of the element", async () => {
    const { ok, world } = await holding(BUTTON)
    expect(await ok("hover", { ref_id: "@e1" })).toEqual({
      ref_id: "@e1",
      action: "hover",
      x: 60,
      y: 20,
      element: { role: "button", name: "It" },
      disposition: SENT_SAFELY,
    })
    expect(world.keys).toEqual(['{"kind":"move","at":{"x":60,"y":20}}'])
  })

  test("gets no input if it is covered; the message names the covering element", async () => {
    const cover: Spec = { role: "dialog", name: "Update", bounds: { x: 0, y: 0, width: 500, height: 500 } }
    const { act, sent, world } = await holding(BUTTON, cover)
    expect((await act("click", { timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      message: "Click action failed on @e1: it is covered by dialog 'Update'",
      details: { kind: "not_actionable", reason: "covered by dialog 'Update'" },
      disposition: NOTHING,
    })
    expect(sent()).toEqual([])
    expect(world.deliveries).toEqual([])
  })

  test("is waited for until it is uncovered", async () => {
    const cover: Spec = { role: "dialog", name: "Update", bounds: { x: 0, y: 0, width: 500, height: 500 } }
    const { act, sent, world } = await holding(BUTTON, cover)
    world.later(() => world.at("Update").remove())
    expect((await act("click")).ok).toBe(true)
    expect(sent()).toEqual(["pointer click"])
  })

  test("is in the window of the element, which comes to the front first", async () => {
    const { act, sent, world } = await holding(BUTTON)
    const other = world.app("Other").window("On top", [{ role: "button", name: "Wrong", bounds }])
    world.windows.reverse()
    world.focused = other
    expect((await act("click")).ok).toBe(true)
    expect(world.focused?.id).toBe("w-1")
    expect(sent()).toEqual(["pointer click"])
    expect(world.sent("Wrong")).toEqual([])
  })

  test("is refused if its window stays behind another", async () => {
    const { act, world } = await holding(BUTTON)
    const other = world.app("Other").window("On top", [{ role: "button", name: "Wrong", bounds }])
    world.windows.reverse()
    world.focused = other
    world.refusesFocus = true
    for (const knowsHits of [true, false]) {
      world.knowsHits = knowsHits
      expect((await act("click", { timeout_ms: SHORT })).error.details.kind).toBe("not_actionable")
    }
    expect(world.deliveries).toEqual([])
  })

  test("must be on a display if hits cannot be tested", async () => {
    const { act, world, sent } = await holding({ ...BUTTON, bounds: { ...bounds, x: 5000 } })
    world.knowsHits = false
    expect((await act("click", { timeout_ms: SHORT })).error.message).toBe(
      "Click action failed on @e1: it is outside every display",
    )
    expect(sent()).toEqual([])
    world.at("It").bounds = bounds
    expect((await act("click")).ok).toBe(true)
    expect(sent()).toEqual(["pointer click"])
  })

  test("turns the wheel over the part of a long list that is in its window", async () => {
    const { act, sent } = await holding({
      ...BUTTON,
      role: "list",
      bounds: { ...bounds, y: -9000, height: 10_000 },
      route: "absent",
    })
    const { data, error } = await act("scroll", { ref_id: 'list "It"', direction: "down", timeout_ms: SHORT })
    expect(data ?? error).toMatchObject({ method: "wheel" })
    expect(sent()).toEqual(["wheel scroll"])
  })

  test("of an element out of view is scrolled into view", async () => {
    const { act, sent } = await holding({
      ...BUTTON,
      role: "link",
      route: "works",
      states: ["enabled", "offscreen"],
    })
    expect((await act("click", { input: "physical" })).ok).toBe(true)
    expect(sent()).toEqual(["semantic scroll-to", "pointer click"])
  })

  test.each([
    ["hidden", { states: ["enabled", "hidden"] }, "Click action failed on @e1: it is hidden"],
    ["without a place", { bounds: undefined }, "Click action failed on @e1: it is not visible on the screen"],
    [
      "without a size",
      { bounds: { ...bounds, width: 0 } },
      "Click action failed on @e1: it is not visible on the screen",
    ],
  ] as const)("of an element %s does not exist", async (_, change, message) => {
    const { act, sent } = await holding({ ...BUTTON, ...change })
    expect((await act("click", { timeout_ms: SHORT })).error).toMatchObject({ message, disposition: NOTHING })
    expect(sent()).toEqual([])
  })

  test("of a moving element is used only once the element stops", async () => {
    const { act, sent, world, element } = await holding(BUTTON)
    let moves = 0
    // It moves at each of the first six looks, then stops.
    Object.defineProperty(element, "bounds", {
      get: () => ({ ...bounds, x: 10 + Math.min(++moves, 6) * 10 }),
    })
    expect((await act("click")).ok).toBe(true)
    expect(moves).toBeGreaterThan(6)
    expect(sent()).toEqual(["pointer click"])
    expect(world.deliveries.length).toBe(1)
  })

  test("is not used if another element took its place", async () => {
    const { act, world, element } = await holding({ ...BUTTON, states: ["enabled", "offscreen"] })
    world.later(() => element.set({ name: "Delete all", states: ["enabled"] }))
    expect((await act("click", { input: "physical" })).error.code).toBe("STALE_REF")
    expect(world.sent("Delete all").filter((one) => one.startsWith("pointer"))).toEqual([])
  })
})

describe.concurrent("after the pointer has arrived, nothing is pressed", () => {
  const cover: Spec = { role: "button", name: "Delete", bounds }
  const elsewhere = { ...bounds, x: 400, y: 300 }

  test.each([
    ["if something covers the element now", "covered by button 'Delete', now that the pointer is there"],
    ["if the element has moved away", "somewhere else, now that the pointer is there"],
    ["if the element has become another one", "STALE_REF"],
    ["if the element has gone", "STALE_REF"],
  ] as const)("%s", async (which, outcome) => {
    for (const [name, args] of [
      ["click", {}],
      ["double-click", {}],
      ["right-click", {}],
      ["scroll", { direction: "down" }],
    ] as const) {
      const { act, world, window, element } = await holding(BUTTON)
      world.onPointer = () => {
        if (which.includes("covers")) window.root.add(cover)
        if (which.includes("moved")) element.bounds = elsewhere
        if (which.includes("become")) element.name = "Delete"
        if (which.includes("gone")) element.remove()
      }
      const { error } = await act(name, { ...args, timeout_ms: 1500 })
      expect(error.code === "STALE_REF" ? error.code : error.message).toEndWith(outcome)
      expect(error.disposition).toEqual(NOTHING)
      expect(world.deliveries).toEqual([])
    }
  })

  test("if the platform can no longer find the element at the point", async () => {
    const { act, world } = await holding(BUTTON)
    world.onPointer = () => {
      world.knowsHits = false
    }
    expect((await act("click", { timeout_ms: 1500 })).error).toMatchObject({
      code: "ACTION_FAILED",
      disposition: NOTHING,
    })
    expect(world.deliveries).toEqual([])
  })

  test("until a popup that appeared with the pointer has closed again", async () => {
    const { act, world, window, sent } = await holding(BUTTON)
    world.onPointer = () => {
      let looks = 0
      // It is there for the first three looks.
      Object.defineProperty(window.root.add(cover), "bounds", {
        get: () => (++looks > 3 ? undefined : bounds),
      })
    }
    expect((await act("click")).ok).toBe(true)
    expect(sent()).toEqual(["pointer click"])
  })

  test("except the element itself, even if it has moved a little", async () => {
    const { act, world, element, sent } = await holding(BUTTON)
    world.onPointer = () => {
      element.bounds = { ...bounds, y: bounds.y - 3 }
    }
    expect((await act("click")).ok).toBe(true)
    expect(sent()).toEqual(["pointer click"])
  })

  test("and nothing is dropped on another app that came in between", async () => {
    const { run, world } = await holding(BUTTON, { ...BUTTON, name: "Bin", bounds: elsewhere })
    world.onPointer = ({ x }) => {
      if (x < elsewhere.x) return
      const other = world
        .app("Other")
        .window("On top", [{ role: "button", name: "Wrong", bounds: elsewhere }])
      world.windows.unshift(...world.windows.splice(world.windows.indexOf(other), 1))
    }
    expect((await run("drag", { from: "@e1", to: "@e2" })).error).toMatchObject({
      code: "ACTION_FAILED",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
    expect(world.keys).toEqual([])
  })
})

test("a click goes to the point that the platform reports for the element", async () => {
  const mark: Spec = { role: "image", name: "Mark", bounds: { x: 12, y: 12, width: 10, height: 10 } }
  const { act, world } = await holding({ ...BUTTON, clickPoint: { x: 15, y: 15 }, children: [mark] })
  await act("click", { input: "physical" })
  expect(world.deliveries).toEqual([{ name: "Mark", by: "pointer", kind: "click" }])
})

describe.concurrent("a row is opened and closed", () => {
  const row = { ...BUTTON, role: "treeitem", states: ["enabled", "collapsed"] } as const

  test("by a click on the point that the platform reports", async () => {
    const sign: Spec = { role: "image", name: "Sign", bounds: { x: 12, y: 12, width: 10, height: 10 } }
    const { act, world } = await holding({
      ...row,
      disclosure: { x: 15, y: 15 },
      children: [{ ...sign, does: (it) => it.parent!.turn("collapsed", "expanded") }],
    })
    expect((await act("expand")).data.post_state.states).toEqual(["enabled", "expanded"])
    expect(world.deliveries).toEqual([{ name: "Sign", by: "pointer", kind: "click" }])
  })

  test("or by the arrow keys, after it got the focus", async () => {
    const { act, sent, world, element } = await holding({
      ...row,
      route: "works",
      disclosure: "arrow keys",
      states: ["enabled", "collapsed", "focused"],
    })
    world.onKey = (combo) => {
      if (combo === "right") element.set({ states: ["enabled", "expanded", "focused"] })
    }
    expect((await act("expand", { input: "physical" })).data).toMatchObject({
      method: "keyboard",
      disposition: { delivery: "delivered_verified" },
    })
    expect(world.keys).toEqual(["right"])
    expect(sent()).toEqual([])
  })
})

describe.concurrent("a click does not", () => {
  test("expand an item of a tree: it would select it", async () => {
    const { act, sent } = await holding({ ...BUTTON, role: "treeitem", states: ["enabled", "collapsed"] })
    expect((await act("expand")).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect(sent()).toEqual([])
  })

  test("set a slider or scroll to an element", async () => {
    const { act, sent } = await holding({ ...BUTTON, role: "slider", value: "1" })
    expect((await act("set-value", { value: "5" })).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect((await act("scroll-to")).error.code).toBe("ACTION_NOT_SUPPORTED")
    expect(sent()).toEqual([])
  })
})
