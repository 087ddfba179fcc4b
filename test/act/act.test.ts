import { afterAll, describe, expect, test } from "bun:test"
import { NOTHING, VERIFIED } from "../support/dispositions.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Route, Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"

afterAll(clearDesks)

const bounds = { x: 10, y: 10, width: 100, height: 20 }
const ON = { role: "checkbox", name: "It", states: ["enabled", "checked"], bounds } as const
const OFF = { role: "checkbox", name: "It", states: ["enabled", "unchecked"], bounds } as const
const FIELD = { role: "textfield", name: "It", value: "abc", states: ["enabled"], bounds } as const
const BUTTON = { role: "button", name: "It", states: ["enabled"], bounds } as const
const CLOSED = { role: "combobox", name: "It", value: "A", states: ["enabled", "collapsed"], bounds } as const
const OPEN = { role: "combobox", name: "It", value: "A", states: ["enabled", "expanded"], bounds } as const

/** A desk whose one window holds this element as @e1. */
async function holding(spec: Spec) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  const window = app.window("Window", [spec], { id: "w-1" })
  await it.ok("snapshot")
  const element = window.root.children[0]!
  const act = (name: string, args: object = {}): Promise<Json> => it.run(name, { ref_id: "@e1", ...args })
  return { ...it, app, window, element, act, sent: () => it.world.sent("It") }
}

/** Shorter than the command waits for an effect, and long enough for a loaded machine to deliver. */
const SHORT = 600

describe.concurrent("the result", () => {
  test("reports the action, the ref, how it was delivered and the changed state", async () => {
    const { act } = await holding({ ...BUTTON, does: (it) => it.set({ states: ["enabled", "pressed"] }) })
    expect(await act("click")).toEqual({
      version: "1.0",
      ok: true,
      command: "click",
      data: {
        action: "click",
        ref_id: "@e1",
        post_state: { role: "button", states: ["enabled", "pressed"] },
        method: "fake:click",
        disposition: VERIFIED,
      },
    })
  })

  test("counts the focus as an effect of a click only for a text field", async () => {
    for (const [spec, delivery] of [
      [BUTTON, "delivered_unverified"],
      [FIELD, "delivered_verified"],
    ] as const) {
      const { act } = await holding({ ...spec, does: (it) => it.set({ states: ["enabled", "focused"] }) })
      const { data } = await act("click")
      expect(data).toMatchObject({
        post_state: { states: ["enabled", "focused"] },
        disposition: { delivery },
      })
    }
  })

  test("omits the state if nothing changed, and reports delivery without verification", async () => {
    const { act } = await holding(BUTTON)
    expect((await act("click")).data).toEqual({
      action: "click",
      ref_id: "@e1",
      method: "fake:click",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("is verified if the element disappears after it accepted the click", async () => {
    const { act } = await holding({ ...BUTTON, does: (it) => it.remove() })
    expect((await act("click")).data).toEqual({
      action: "click",
      ref_id: "@e1",
      method: "fake:click",
      disposition: VERIFIED,
    })
  })

  test("is not verified by a disappearance if the element did not confirm the click", async () => {
    for (const [spec, args, delivery] of [
      [{ ...BUTTON, route: "uncertain" }, {}, "delivery_uncertain"],
      [BUTTON, { input: "physical" }, "delivered_unverified"],
    ] as const) {
      const { act } = await holding({ ...spec, does: (it) => it.remove() })
      expect((await act("click", args)).data.disposition.delivery).toBe(delivery)
    }
  })

  test("is not verified by a disappearance that may have come before the click", async () => {
    const { act } = await holding({ ...BUTTON, tellsLate: true, does: (it) => it.remove() })
    expect((await act("click")).data.disposition.delivery).toBe("delivered_unverified")
  })

  test("is not verified if the field disappears after set-value", async () => {
    const { act } = await holding({ ...FIELD, does: (it) => it.remove() })
    expect((await act("set-value", { value: "x" })).data.disposition).toEqual({
      delivery: "delivered_unverified",
      retry: "safe",
    })
  })

  test("never contains the value of a secure field", async () => {
    const { act } = await holding({
      ...FIELD,
      value: "hunter2",
      states: ["enabled", "secure"],
      does: (it) => it.set({ states: ["enabled", "secure", "focused"] }),
    })
    const { data } = await act("type", { text: "hunter3" })
    expect(data.post_state).toEqual({ role: "textfield", states: ["enabled", "secure", "focused"] })
    expect(data.disposition.delivery).toBe("delivered_unverified")
    expect(JSON.stringify(data)).not.toContain("hunter")
  })

  test("shows an empty value as an empty string", async () => {
    const { act } = await holding(FIELD)
    expect((await act("clear")).data.post_state).toEqual({
      role: "textfield",
      states: ["enabled"],
      value: "",
    })
  })
})

/** Each action with an element that supports it, and the state expected afterwards. */
const ACTIONS: readonly (readonly [string, Spec, object, object])[] = [
  ["toggle", OFF, {}, { role: "checkbox", states: ["enabled", "checked"] }],
  ["toggle", ON, {}, { role: "checkbox", states: ["enabled", "unchecked"] }],
  ["check", OFF, {}, { role: "checkbox", states: ["enabled", "checked"] }],
  ["uncheck", ON, {}, { role: "checkbox", states: ["enabled", "unchecked"] }],
  ["expand", CLOSED, {}, { role: "combobox", states: ["enabled", "expanded"], value: "A" }],
  ["collapse", OPEN, {}, { role: "combobox", states: ["enabled", "collapsed"], value: "A" }],
  ["select", CLOSED, { value: "B" }, { role: "combobox", states: ["enabled", "collapsed"], value: "B" }],
  ["set-value", FIELD, { value: "75" }, { role: "textfield", states: ["enabled"], value: "75" }],
  ["type", FIELD, { text: "d\ne" }, { role: "textfield", states: ["enabled"], value: "abcd\ne" }],
  ["clear", FIELD, {}, { role: "textfield", states: ["enabled"], value: "" }],
  ["focus", FIELD, {}, { role: "textfield", states: ["enabled", "focused"], value: "abc" }],
]

describe.concurrent.each(ACTIONS)("%s of %j", (name, spec, args, post) => {
  test("is delivered once and verified by the new state", async () => {
    const { act, sent } = await holding(spec)
    const { data } = await act(name, args)
    expect(data).toMatchObject({
      action: name,
      post_state: post,
      disposition: { delivery: "delivered_verified" },
    })
    expect(sent()).toEqual([`semantic ${name}`])
  })

  test("is verified even if its effect comes late, with or without an event", async () => {
    for (const [delay, isSilent] of [
      ["event", false],
      [5, false],
      [5, true],
    ] as const) {
      const { act, sent, world } = await holding({ ...spec, delay })
      world.isSilent = isSilent
      expect((await act(name, args)).data).toMatchObject({
        post_state: post,
        disposition: { delivery: "delivered_verified" },
      })
      expect(sent()).toEqual([`semantic ${name}`])
    }
  })

  test("fails if it has no effect, reports the observed state, and is not repeated", async () => {
    const { act, sent } = await holding({ ...spec, route: "lies" })
    const { error } = await act(name, { ...args, timeout_ms: SHORT })
    expect(error.code).toBe("ACTION_FAILED")
    expect(error.details.kind).toBe("contradicted")
    expect(error.details.observed.role).toBe(spec.role)
    expect(error.platform_detail).toBe(`delivered by fake:${name}`)
    expect(error.disposition.delivery).toBe("delivered_unverified")
    expect(sent()).toEqual([`semantic ${name}`])
  })

  test("does not fail if its effect had no time to show", async () => {
    const { act, sent } = await holding({ ...spec, route: "lies" })
    for (const timeout_ms of [0, 100]) {
      const { data } = await act(name, { ...args, timeout_ms })
      expect(data.disposition.delivery).toBe("delivered_unverified")
    }
    expect(sent()).toEqual([`semantic ${name}`, `semantic ${name}`])
  })

  test("succeeds if it worked despite an error, and is not repeated", async () => {
    const { act, sent } = await holding({ ...spec, route: "errs_but_works", delay: "event" })
    expect((await act(name, args)).data).toMatchObject({
      post_state: post,
      disposition: { delivery: "delivered_verified" },
    })
    expect(sent()).toEqual([`semantic ${name}`])
  })
})

/** Routes that may have sent something, and the error code if no effect shows. */
const DOUBTFUL: readonly (readonly [Route, string])[] = [
  ["errs", "ACTION_FAILED"],
  ["errs_silently", "APP_UNRESPONSIVE"],
  ["crashes", "INTERNAL"],
]

describe.concurrent.each(DOUBTFUL)("a route that %s", (route, code) => {
  test.each([
    ["click", {}, BUTTON, "unknown"],
    ["type", { text: "x" }, FIELD, "unknown"],
    ["check", {}, OFF, "safe"],
    ["set-value", { value: "x" }, FIELD, "safe"],
  ] as const)(
    "leaves %s uncertain, sends nothing else, and reports if a retry is safe",
    async (name, args, spec, retry) => {
      const { act, sent, world } = await holding({ ...spec, route })
      const { error } = await act(name, { ...args, timeout_ms: SHORT })
      // The platform's own statement about a retry is kept.
      const expected = { delivery: "delivery_uncertain", retry: route === "errs" ? "unknown" : retry }
      expect(error).toMatchObject({ code, disposition: expected })
      expect(sent()).toEqual([`semantic ${name}`])
      expect(world.calls).not.toContain("input")
    },
  )
})

describe.concurrent("uncertain delivery", () => {
  test("is resolved by the observed effect", async () => {
    const { act, sent } = await holding({ ...OFF, route: "uncertain" })
    expect((await act("check")).data.disposition).toEqual({ delivery: "delivered_verified", retry: "safe" })
    expect(sent()).toEqual(["semantic check"])
  })

  test("stays uncertain if the effect cannot be predicted", async () => {
    const { act, sent } = await holding({ ...BUTTON, route: "uncertain_lost" })
    expect((await act("click")).data.disposition).toEqual({
      delivery: "delivery_uncertain",
      retry: "unknown",
    })
    expect(sent()).toEqual(["semantic click"])
  })

  test("stays uncertain if the observed state contradicts the action", async () => {
    const { act, sent } = await holding({ ...OFF, route: "uncertain_lost" })
    expect((await act("check", { timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
    expect(sent()).toEqual(["semantic check"])
  })

  test("does not follow from a failed read after the action", async () => {
    const { act, world, sent } = await holding(OFF)
    world.hang("read")
    expect((await act("check", { timeout_ms: SHORT })).data).toEqual({
      action: "check",
      ref_id: "@e1",
      method: "fake:check",
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
    expect(sent()).toEqual(["semantic check"])
  })

  test("does not arise, and nothing is waited for, if the route saw the effect itself", async () => {
    const { act, sent } = await holding({ ...BUTTON, route: "works_verified" })
    expect((await act("click")).data.disposition).toEqual(VERIFIED)
    expect(sent()).toEqual(["semantic click"])
  })
})

describe.concurrent("evidence", () => {
  test.each([
    ["inserted in the middle", "abc", "x", "abxc", "delivered_verified"],
    ["in place of a selection", "abc", "xy", "axyc", "delivered_verified"],
    ["in place of everything", "abc", "x", "x", "delivered_verified"],
    ["typed again after the same letter", "banana", "a", "bananaa", "delivered_verified"],
    ["changed by the app", "abc", "x", "ABCX", "delivered_unverified"],
    ["doubled by the app", "aa", "x", "aaxaa", "delivered_unverified"],
    ["cut by the app", "abc", "xyz", "abcx", "delivered_unverified"],
  ] as const)("text %s", async (_, before, text, after, delivery) => {
    const { act } = await holding({ ...FIELD, value: before, does: (it) => it.set({ value: after }) })
    expect((await act("type", { text })).data).toMatchObject({
      post_state: { value: after },
      disposition: { delivery },
    })
  })

  test("text typed over an identical selection may change nothing", async () => {
    const { act } = await holding({ ...FIELD, route: "lies" })
    expect((await act("type", { text: "b", timeout_ms: SHORT })).data.disposition.delivery).toBe(
      "delivered_unverified",
    )
  })

  test("text that only deleted the selection did not arrive", async () => {
    const { act } = await holding({ ...FIELD, does: (it) => it.set({ value: "ac" }) })
    expect((await act("type", { text: "x", timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      platform_detail: "delivered by fake:type",
      details: { kind: "contradicted", observed: { value: "ac" } },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("focus in a window without the focus does not count", async () => {
    const { act, app, world, sent } = await holding({ ...FIELD, states: ["enabled", "focused"] })
    world.focused = app.window("Other", [], { id: "w-2" })
    expect((await act("focus", { timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      suggestion: "Its window may be behind another one: agent-desktop focus-window w-1",
      platform_detail: "delivered by fake:focus",
      details: { kind: "contradicted" },
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
    expect(sent()).toEqual(["semantic focus"])
  })

  test("focus is verified once the window has the focus too", async () => {
    const { act, app, window, world } = await holding({
      ...FIELD,
      does: (it) => {
        it.set({ states: ["enabled", "focused"] })
        world.focused = window
      },
    })
    world.focused = app.window("Other", [], { id: "w-2" })
    expect((await act("focus")).data).toMatchObject({
      post_state: { states: ["enabled", "focused"] },
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
  })

  test.each([
    [{ x: 10, y: -30 }, "delivered_verified"],
    [{ x: 10, y: 10 }, "delivered_unverified"],
  ])("an element that is at %j after scrolling", async (place, delivery) => {
    const { act } = await holding({ ...BUTTON, does: (it) => it.set({ bounds: { ...bounds, ...place } }) })
    expect((await act("scroll")).data.disposition.delivery).toBe(delivery)
  })

  test("the same number in another notation is verified", async () => {
    const { act } = await holding({
      ...FIELD,
      role: "slider",
      value: "10",
      does: (it) => it.set({ value: "75.0" }),
    })
    expect((await act("set-value", { value: "75" })).data.disposition.delivery).toBe("delivered_verified")
  })

  test.each([
    ["1.50″", "delivered_verified"],
    ["1,5 cm", "delivered_verified"],
    ["+1.5", "delivered_verified"],
    ["150%", "delivered_unverified"],
    ["1.49 cm", "delivered_unverified"],
  ])("a number field that was set to 1.5 may show %s", async (value, delivery) => {
    const { act } = await holding({
      ...FIELD,
      role: "incrementor",
      value: "0 cm",
      does: (it) => it.set({ value }),
    })
    expect((await act("set-value", { value: "1.5", timeout_ms: SHORT })).data).toMatchObject({
      post_state: { value },
      disposition: { delivery },
    })
  })

  test.each([
    ["incrementor", "0 cm", "0 cm"],
    ["textfield", "", "1.5 apples"],
  ] as const)("a %s with a wrong value contradicts set-value 1.5", async (role, value, after) => {
    const { act } = await holding({ ...FIELD, role, value, does: (it) => it.set({ value: after }) })
    expect((await act("set-value", { value: "1.5", timeout_ms: SHORT })).error.details.kind).toBe(
      "contradicted",
    )
  })

  test("a value that the app replaced by another one contradicts the request", async () => {
    const { act } = await holding({
      ...FIELD,
      role: "slider",
      value: "10",
      does: (it) => it.set({ value: "50" }),
    })
    expect((await act("set-value", { value: "75", timeout_ms: SHORT })).error.details).toEqual({
      kind: "contradicted",
      observed: { role: "slider", states: ["enabled"], value: "50" },
    })
  })

  test("a field that reports no value is not evidence either way", async () => {
    const { act } = await holding({ ...FIELD, value: undefined, does: (it) => it.set({ value: undefined }) })
    for (const [name, args] of [
      ["set-value", { value: "x" }],
      ["type", { text: "x" }],
      ["clear", {}],
    ] as const)
      expect((await act(name, args)).data.disposition.delivery).toBe("delivered_unverified")
  })

  test("a toggle that never reports a state is not evidence either way", async () => {
    const { act, sent } = await holding({ ...BUTTON, actions: ["Click", "Toggle", "Check"], route: "lies" })
    for (const name of ["toggle", "check"])
      expect((await act(name, { timeout_ms: SHORT })).data.disposition.delivery).toBe("delivered_unverified")
    expect(sent()).toEqual(["semantic toggle", "semantic check"])
  })

  test("a checkbox that is only pressed does not count as checked", async () => {
    const { act } = await holding({
      ...BUTTON,
      role: "checkbox",
      states: ["enabled", "unchecked"],
      actions: ["Click", "Toggle", "Check"],
      does: (it) => it.set({ states: ["enabled", "unchecked", "pressed"] }),
    })
    for (const name of ["check", "toggle"])
      expect((await act(name, { timeout_ms: SHORT })).error).toMatchObject({
        code: "ACTION_FAILED",
        details: { kind: "contradicted" },
      })
  })

  test("a toggle button reports that it is pressed", async () => {
    const { act } = await holding({ ...BUTTON, actions: ["Click", "Toggle"] })
    expect((await act("toggle")).data.post_state.states).toEqual(["enabled", "pressed"])
    expect((await act("toggle")).data.post_state.states).toEqual(["enabled"])
  })
})

describe.concurrent("a state that is already reached", () => {
  test.each([
    ["check", ON, {}],
    ["check", { ...BUTTON, states: ["enabled", "pressed"], actions: ["Toggle", "Check"] }, {}],
    ["uncheck", OFF, {}],
    ["expand", OPEN, {}],
    ["collapse", CLOSED, {}],
    ["select", CLOSED, { value: "A" }],
    ["focus", { ...FIELD, states: ["enabled", "focused"] }, {}],
    ["check", { ...ON, states: ["disabled", "checked"] }, {}],
  ] as const)("needs no %s", async (name, spec, args) => {
    const { act, sent, world } = await holding(spec)
    const calls = world.calls.length
    expect((await act(name, args)).data).toEqual({
      action: name,
      ref_id: "@e1",
      method: "none",
      disposition: NOTHING,
    })
    expect(sent()).toEqual([])
    expect(world.calls.slice(calls)).not.toContain("perform")
  })

  test("is also accepted if only the platform can see it", async () => {
    const { act, sent, world } = await holding({ ...CLOSED, value: undefined, route: "already" })
    expect((await act("select", { value: "A" })).data).toEqual({
      action: "select",
      ref_id: "@e1",
      method: "none",
      disposition: NOTHING,
    })
    expect(sent()).toEqual([])
    expect(world.calls).not.toContain("input")
  })

  test("is also accepted if it is reached while waiting", async () => {
    const { act, sent, world, element } = await holding({ ...OFF, states: ["disabled", "unchecked"] })
    world.later(() => element.set({ states: ["enabled", "checked"] }))
    expect((await act("check")).data.method).toBe("none")
    expect(sent()).toEqual([])
  })

  test("does not include a mixed checkbox, which is switched", async () => {
    for (const [name, state] of [
      ["check", "checked"],
      ["uncheck", "unchecked"],
      ["toggle", "checked"],
    ] as const) {
      const mixed: Spec = {
        ...OFF,
        states: ["enabled", "indeterminate"],
        does: (it) => it.set({ states: ["enabled", state] }),
      }
      const { act, sent } = await holding(mixed)
      expect((await act(name)).data.disposition.delivery).toBe("delivered_verified")
      expect(sent()).toEqual([`semantic ${name}`])
    }
  })
})

describe.concurrent("actionability", () => {
  test.each([
    ["disabled", { ...BUTTON, states: ["disabled"] }, "click", {}],
    ["busy", { ...BUTTON, states: ["enabled", "busy"] }, "click", {}],
    ["read-only", { ...FIELD, states: ["enabled", "readonly"] }, "type", { text: "x" }],
    ["read-only", { ...FIELD, states: ["enabled", "readonly"] }, "set-value", { value: "x" }],
    ["read-only", { ...FIELD, states: ["enabled", "readonly"] }, "clear", {}],
  ] as const)("an element that is %s is waited for, then acted on once", async (_, spec, name, args) => {
    for (const isSilent of [false, true]) {
      const { act, sent, world, element } = await holding(spec)
      world.isSilent = isSilent
      world.later(() => element.set({ states: ["enabled"] }))
      expect((await act(name, args)).ok).toBe(true)
      expect(sent()).toEqual([`semantic ${name}`])
    }
  })

  test.each([
    ["disabled", { ...BUTTON, states: ["disabled"] }, "click", {}],
    ["busy", { ...BUTTON, states: ["enabled", "busy"] }, "click", {}],
    ["read-only", { ...FIELD, states: ["enabled", "readonly"] }, "type", { text: "x" }],
  ] as const)(
    "an element that stays %s is refused at the timeout, and nothing is sent",
    async (reason, spec, name, args) => {
      for (const timeout_ms of [0, 40]) {
        const { act, sent } = await holding(spec)
        expect((await act(name, { ...args, timeout_ms })).error).toEqual({
          code: "ACTION_FAILED",
          message: `${name === "type" ? "Type" : "Click"} action failed on @e1: it is ${reason}`,
          suggestion:
            reason === "read-only"
              ? "Look for what makes it editable: agent-desktop snapshot -i; its text: agent-desktop get @e1 value"
              : "Wait for it: agent-desktop wait --element @e1 --predicate actionable",
          details: { kind: "not_actionable", reason },
          disposition: NOTHING,
        })
        expect(sent()).toEqual([])
      }
    },
  )

  test("an element that disappears while waiting is stale", async () => {
    const { act, world, element } = await holding({ ...BUTTON, states: ["disabled"] })
    world.later(() => element.remove())
    expect((await act("click")).error).toMatchObject({ code: "STALE_REF", disposition: NOTHING })
    expect(world.deliveries).toEqual([])
  })

  test("an element that becomes another while waiting is stale, even if it is enabled", async () => {
    const { act, world, element } = await holding({ ...BUTTON, states: ["disabled"] })
    world.later(() => element.set({ name: "Delete all", states: ["enabled"] }))
    expect((await act("click")).error.message).toContain("its name was 'It' and is 'Delete all' now")
    expect(world.deliveries).toEqual([])
  })

  test("a disabled element can be scrolled and scrolled to", async () => {
    const { act, sent } = await holding({ ...BUTTON, states: ["disabled"] })
    expect((await act("scroll-to")).ok).toBe(true)
    expect((await act("scroll")).ok).toBe(true)
    expect(sent()).toEqual(["semantic scroll-to", "semantic scroll"])
  })
})

describe.concurrent("an unsupported action", () => {
  test.each([
    [
      "toggle",
      { role: "image", name: "It", actions: ["Click"] },
      "Toggle action not supported by image elements",
    ],
    ["check", BUTTON, "Check action not supported by button elements"],
    ["expand", BUTTON, "Expand action not supported by button elements"],
    [
      "uncheck",
      { ...ON, role: "radiobutton", actions: ["Click", "Check"] },
      "Uncheck action not supported by radiobutton elements",
    ],
  ] as const)("%s is refused, and nothing is sent", async (name, spec, message) => {
    const { act, sent } = await holding(spec)
    expect((await act(name)).error).toEqual({
      code: "ACTION_NOT_SUPPORTED",
      message,
      suggestion: "Use 'get @e1 actions' to see what it supports",
      disposition: NOTHING,
    })
    expect(sent()).toEqual([])
  })
})

describe.concurrent("right-click", () => {
  const menu: Spec = {
    role: "menu",
    name: "Context",
    children: [
      { role: "menuitem", name: "Copy", states: ["enabled"], bounds },
      { role: "separator" },
      { role: "menuitem", name: "Paste", states: ["disabled"], bounds },
    ],
  }

  test("returns the menu it opened, with refs that are added to the map", async () => {
    const opener: Spec = { ...BUTTON, does: ({ app }) => app.show("menu", menu) }
    const { act, run, world, sent, refs } = await holding(opener)
    const before = await refs.load()
    expect((await act("right-click")).data).toEqual({
      action: "right-click",
      ref_id: "@e1",
      method: "fake:right-click",
      disposition: VERIFIED,
      menu: {
        role: "menu",
        name: "Context",
        children: [
          { ref_id: "@e2", role: "menuitem", name: "Copy", states: ["enabled"] },
          { role: "separator" },
          { ref_id: "@e3", role: "menuitem", name: "Paste", states: ["disabled"] },
        ],
      },
    })
    expect(sent()).toEqual(["semantic right-click"])
    const after = await refs.load()
    expect(after.inner.get("@e1")).toEqual(before.inner.get("@e1")!)
    expect(after.snapshot_id).toBe(before.snapshot_id)
    expect((await run("click", { ref_id: "@e2" })).ok).toBe(true)
    expect(world.sent("Copy")).toEqual(["semantic click"])
  })

  test("a menu that opens late is waited for", async () => {
    const { act } = await holding({ ...BUTTON, delay: 30, does: ({ app }) => app.show("menu", menu) })
    expect((await act("right-click")).data.menu.name).toBe("Context")
  })

  test("reports only delivery if no menu opens", async () => {
    const { act } = await holding(BUTTON)
    const { data } = await act("right-click")
    expect(data.menu).toBeUndefined()
    expect(data.disposition.delivery).toBe("delivered_unverified")
  })

  test("reports the click as delivered even if reading the menu fails", async () => {
    const { act, world, sent } = await holding(BUTTON)
    world.hang("tree")
    expect((await act("right-click", { timeout_ms: SHORT })).error).toMatchObject({
      code: "APP_UNRESPONSIVE",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
    expect(sent()).toEqual(["semantic right-click"])
  })

  test("gives the menu's refs the snapshot id if the ref had one", async () => {
    const { ok, refs } = await holding({ ...BUTTON, does: ({ app }) => app.show("menu", menu) })
    const id = (await refs.load()).snapshot_id
    await ok("snapshot")
    const { menu: opened } = await ok("right-click", { ref_id: `@${id}:e1` })
    expect(opened.children[0].ref_id).toBe(`@${id}:e2`)
    expect((await ok("get", { ref_id: `@${id}:e2`, property: "name" })).value).toBe("Copy")
  })
})

test("if the watch cannot be opened, nothing is sent", async () => {
  const { act, world, sent } = await holding(BUTTON)
  world.hang("watch")
  expect((await act("click", { timeout_ms: 40 })).error).toMatchObject({
    code: "APP_UNRESPONSIVE",
    disposition: NOTHING,
  })
  expect(sent()).toEqual([])
})
