import { afterAll, describe, expect, test } from "bun:test"
import type { Ending } from "../../src/desktop.ts"
import { NOTHING, VERIFIED } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Route, Spec } from "../support/fake-world.ts"
import { BUTTON, FIELD, holding, OFF, SHORT } from "./holding.ts"

afterAll(clearDesks)

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
    "leaves %s uncertain, sends nothing else, and reports whether a retry is safe",
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

describe.concurrent("an app that says no", () => {
  test("is believed once nothing has changed for a while", async () => {
    const { act, sent, world } = await holding({ ...BUTTON, route: "says_no" })
    expect((await act("click")).error).toEqual({
      code: "ACTION_FAILED",
      message: "Click action failed on @e1: the app refused it, and nothing changed",
      suggestion: "Use 'get @e1 actions' to see what it offers, and 'get @e1 states' to see how it is now",
      platform_detail: "Fake no",
      details: { kind: "refused" },
      disposition: NOTHING,
    })
    expect(sent()).toEqual(["semantic click"])
    expect(world.calls).not.toContain("input")
  })

  test("is not believed before it had time to do it", async () => {
    const { act } = await holding({ ...BUTTON, route: "says_no" })
    expect((await act("click", { timeout_ms: 0 })).error).toMatchObject({
      details: { kind: "refused" },
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
  })

  test.each([
    ["check", OFF],
    ["toggle", OFF],
    ["set-value", FIELD],
  ] as const)("is believed for %s, too", async (name, spec) => {
    const { act } = await holding({ ...spec, route: "says_no" })
    expect((await act(name, name === "set-value" ? { value: "x" } : {})).error).toMatchObject({
      details: { kind: "refused" },
      disposition: NOTHING,
    })
  })

  test.each([
    ["the element shows the effect", "check", OFF, "delivered_verified"],
    [
      "the element reacts",
      "click",
      { ...BUTTON, does: (it) => it.set({ states: ["enabled", "pressed"] }) },
      "delivered_verified",
    ],
    ["something else changes", "click", { ...BUTTON, does: (it) => it.world.emit() }, "delivery_uncertain"],
    [
      "something else changes later",
      "click",
      { ...BUTTON, delay: 400, does: (it) => it.world.emit() },
      "delivery_uncertain",
    ],
  ] as readonly (readonly [string, string, Spec, string])[])(
    "is not believed if %s",
    async (_, name, spec, delivery) => {
      const { act, sent } = await holding({ ...spec, route: "says_no_but_works" })
      expect((await act(name)).data.disposition.delivery).toBe(delivery)
      expect(sent()).toEqual([`semantic ${name}`])
    },
  )
})

describe.concurrent("an app that ends", () => {
  const ending = (ending: Ending, more: Partial<Spec> = {}) =>
    holding({ ...BUTTON, ...more, does: (it) => it.app.end(ending) })

  test.each([
    [{ signal: "SIGSEGV" }, "by SIGSEGV", { signal: "SIGSEGV" }],
    [{ code: 3 }, "with exit code 3", { exit_code: 3 }],
  ] as const)("with %j has failed", async (how, words, facts) => {
    for (const input of ["auto", "physical"]) {
      const { act, sent } = await ending(how)
      expect((await act("click", { input })).error).toEqual({
        code: "ACTION_FAILED",
        message: `Click action failed on @e1: its app ended ${words}`,
        suggestion: "Start it again and see what was saved: agent-desktop launch App",
        details: { kind: "app_ended", pid: 10, ...facts },
        disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
      })
      expect(sent()).toHaveLength(1)
    }
  })

  test.each([
    ["auto", "delivered_verified"],
    ["physical", "delivered_unverified"],
  ])("as by a Quit button is an effect (%s)", async (input, delivery) => {
    const { act } = await ending({ code: 0 })
    expect((await act("click", { input })).data).toEqual({
      action: "click",
      ref_id: "@e1",
      element: { role: "button", name: "It" },
      method: input === "auto" ? "fake:click" : "pointer",
      app_ended: true,
      disposition: { delivery, retry: "unsafe" },
    })
  })

  test("for an unknown reason does not contradict an action that it confirmed", async () => {
    const { act } = await ending({})
    expect((await act("click")).data).toMatchObject({
      app_ended: true,
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    })
  })

  test.each(["uncertain", "errs_but_works"] as const)(
    "for an unknown reason, and %s, has failed",
    async (route) => {
      const { act } = await ending({}, { route })
      expect((await act("click")).error).toMatchObject({
        message: "Click action failed on @e1: its app ended before it answered",
        details: { kind: "app_ended", pid: 10 },
        disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
      })
    },
  )

  test("with exit code 0 and without an answer may have acted", async () => {
    const { act } = await ending({ code: 0 }, { route: "errs_but_works" })
    expect((await act("click")).data).toMatchObject({
      app_ended: true,
      disposition: { delivery: "delivery_uncertain" },
    })
  })
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
      element: { role: "checkbox", name: "It" },
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
