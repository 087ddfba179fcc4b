import { afterAll, describe, expect, test } from "bun:test"
import { NOTHING, VERIFIED } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { within } from "../support/pace.ts"
import { until } from "../support/until.ts"
import { BUTTON, CLOSED, FIELD, holding, OFF, ON, OPEN, SHORT } from "./holding.ts"

afterAll(clearDesks)

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
        element: { role: "button", name: "It" },
        post_state: { role: "button", states: ["enabled", "pressed"] },
        method: "fake:click",
        disposition: VERIFIED,
      },
    })
  })

  test.each([
    ["its name", { name: "Delete all" }, { role: "button", name: "Delete all" }],
    ["no name if it has none", { name: undefined }, { role: "button" }],
    [
      "the text of a label",
      { role: "statictext", name: undefined, value: "Hi" },
      { role: "statictext", name: "Hi" },
    ],
    ["the start of a long name", { name: "x".repeat(5000) }, { role: "button", name: `${"x".repeat(200)}…` }],
    ["no text that a user wrote", { ...FIELD, role: "paragraph", name: undefined }, { role: "paragraph" }],
  ] as const)("names the element that was acted on: %s", async (_, spec, element) => {
    const it = await holding({ ...BUTTON, actions: ["Click"], ...spec })
    expect((await it.act("click")).data.element).toEqual(element)
    expect((await it.ok("hover", { ref_id: "@e1" })).element).toEqual(element)
  })

  test("never holds the text of a secure field", async () => {
    const { act } = await holding({ ...FIELD, value: undefined, states: ["enabled", "secure"] })
    const { data } = await act("type", { text: "hunter2" })
    expect(data.element).toEqual({ role: "textfield", name: "It" })
    expect(JSON.stringify(data)).not.toContain("hunter2")
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
      element: { role: "button", name: "It" },
      method: "fake:click",
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("is verified if the element disappears after it accepted the click", async () => {
    const { act } = await holding({ ...BUTTON, does: (it) => it.remove() })
    expect((await act("click")).data).toEqual({
      action: "click",
      ref_id: "@e1",
      element: { role: "button", name: "It" },
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
    const { act } = await holding({ ...BUTTON, tellsLate: 400, does: (it) => it.remove() })
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
  ["set-value", FIELD, { value: "75" }, { role: "textfield", states: ["enabled", "focused"], value: "75" }],
  ["type", FIELD, { text: "d\ne" }, { role: "textfield", states: ["enabled", "focused"], value: "abcd\ne" }],
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
    for (const timeout_ms of [0, 100])
      await until(async () => {
        const { act, sent } = await holding({ ...spec, route: "lies" })
        const { data } = await act(name, { ...args, timeout_ms })
        // A busy machine may need all of that time to deliver, or let enough of it pass for the effect to show.
        if (timeout_ms > 0 && !data) return false
        expect(data.disposition.delivery).toBe("delivered_unverified")
        expect(sent()).toEqual([`semantic ${name}`])
        return true
      })
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
      element: { role: spec.role, name: "It" },
      method: "none",
      already: true,
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
      element: { role: "combobox", name: "It" },
      method: "none",
      already: true,
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

  test("an element that stays disabled is refused within a second, unless the caller sets a time", async () => {
    const { act, element, world } = await holding({ ...BUTTON, states: ["disabled"] })
    const { error } = await within(1000, () => act("click"))
    expect(error).toMatchObject({ code: "ACTION_FAILED", disposition: NOTHING })
    setTimeout(() => element.set({ states: ["enabled"] }), 1200)
    expect((await act("click", { timeout_ms: 20_000 })).ok).toBe(true)
    expect(world.sent("It")).toEqual(["semantic click"])
  })

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

test("if the watch cannot be opened, nothing is sent", async () => {
  const { act, world, sent } = await holding(BUTTON)
  world.hang("watch")
  expect((await act("click", { timeout_ms: 40 })).error).toMatchObject({
    code: "APP_UNRESPONSIVE",
    disposition: NOTHING,
  })
  expect(sent()).toEqual([])
})
