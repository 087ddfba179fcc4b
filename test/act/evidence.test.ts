import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks } from "../support/fake-desk.ts"
import { BUTTON, bounds, FIELD, holding, SHORT } from "./holding.ts"

afterAll(clearDesks)

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

  test.each([
    ["echoes it", "Password: x", "delivered_verified"],
    ["shows nothing", "Password: ", "delivered_unverified"],
    ["shows something else", "Password: \nWelcome", "delivered_unverified"],
    ["is cleared", "", "delivered_unverified"],
  ])("a terminal that %s has not contradicted the text", async (_, after, delivery) => {
    for (const input of ["auto", "physical"]) {
      const { act } = await holding({
        ...FIELD,
        role: "terminal",
        actions: ["TypeText"],
        value: "Password: ",
        states: ["enabled", "focused"],
        does: (it) => it.set({ value: after }),
      })
      const { data } = await act("type", { text: "x", input })
      expect(data.disposition).toEqual({ delivery, retry: "unsafe" })
    }
  })

  test("text counts as lost if only the selection was deleted", async () => {
    const { act } = await holding({ ...FIELD, does: (it) => it.set({ value: "ac" }) })
    expect((await act("type", { text: "x", timeout_ms: SHORT })).error).toMatchObject({
      code: "ACTION_FAILED",
      platform_detail: "delivered by fake:type",
      details: { kind: "contradicted", observed: { value: "ac" } },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test("the focus of an element does not count while its window does not have the focus", async () => {
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

  test.each([
    ["one\ntwo", "delivered_verified"],
    ["one", "delivered_unverified"],
    ["one\n", "delivered_unverified"],
    ["on", "contradicted"],
    ["two", "contradicted"],
    ["", "contradicted"],
    ["abc", "contradicted"],
  ])("a field that was set to two lines may show the first: %j", async (value, outcome) => {
    const { act } = await holding({ ...FIELD, does: (it) => it.set({ value }) })
    const { data, error } = await act("set-value", { value: "one\ntwo", timeout_ms: SHORT })
    expect(error?.details.kind ?? data.disposition.delivery).toBe(outcome)
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
      observed: { role: "slider", states: ["enabled", "focused"], value: "50" },
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
