import { afterAll, describe, expect, test } from "bun:test"
import { VERIFIED } from "../support/dispositions.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { Route } from "../support/fake-world.ts"
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
