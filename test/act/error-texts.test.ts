import { afterAll, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { shortTimeout } from "../support/pace.ts"

afterAll(clearDesks)

const bounds = { x: 1, y: 2, width: 30, height: 40 }
const button = (facts: Partial<Spec> = {}): Spec => ({
  role: "button",
  name: "Save",
  bounds,
  states: ["enabled"],
  actions: ["Click"],
  ...facts,
})

async function holding(spec: Spec) {
  const it = desk()
  it.world.app("Shop", { pid: 10 }).window("Order", [spec], { id: "w-1" })
  await it.ok("snapshot")
  return it
}

const QUICK = { timeout_ms: shortTimeout(50) }

test("a failed action begins with its name and the ref, then says why", async () => {
  const disabled = await holding(button({ states: ["disabled"] }))
  expect(await disabled.error("click", { ref_id: "e1", ...QUICK })).toMatchObject({
    code: "ACTION_FAILED",
    message: "Click action failed on @e1: it is disabled",
    suggestion: "Wait for it: agent-desktop wait --element @e1 --predicate actionable",
    details: { kind: "not_actionable", reason: "disabled" },
  })
  const field = await holding({
    role: "textfield",
    name: "Serial",
    bounds,
    states: ["enabled", "readonly"],
    value: "1",
  })
  for (const [command, args, words] of [
    ["set-value", { value: "2" }, "Set Value action failed on @e1: it is read-only"],
    ["type", { text: "2" }, "Type action failed on @e1: it is read-only"],
  ] as const)
    expect((await field.error(command, { ref_id: "@e1", ...args, ...QUICK })).message).toBe(words)
})

test("a ref of a named snapshot is named as the caller spelled it", async () => {
  const it = await holding(button({ states: ["disabled"] }))
  const { snapshot_id } = await it.ok("snapshot")
  const ref_id = `@${snapshot_id}:e1`
  expect((await it.error("click", { ref_id, ...QUICK })).message).toBe(
    `Click action failed on ${ref_id}: it is disabled`,
  )
})

test("the platform's reason stays, with its own words in platform_detail and a next step", async () => {
  const it = await holding(button())
  it.world.fail(
    "perform",
    new AppError("ACTION_FAILED", "The app refused the action", {
      platformDetail: "AXError -25204: cannot complete",
    }),
  )
  expect(await it.error("click", { ref_id: "@e1" })).toMatchObject({
    code: "ACTION_FAILED",
    message: "Click action failed on @e1: the app refused the action",
    suggestion: "Use 'get @e1 actions' to see what it offers, and 'get @e1 states' to see how it is now",
    platform_detail: "AXError -25204: cannot complete",
  })
})

test("an effect that did not show is reported with the action and the ref", async () => {
  const it = await holding({
    role: "checkbox",
    name: "Agree",
    bounds,
    states: ["enabled", "unchecked"],
    actions: ["Check"],
    route: "lies",
  })
  expect(await it.error("check", { ref_id: "@e1" })).toMatchObject({
    code: "ACTION_FAILED",
    message: "Check action failed on @e1: it was delivered, but its effect did not show",
    suggestion: expect.stringContaining("get @e1 states"),
    details: { kind: "contradicted" },
  })
})

test("pointer commands with a ref say so, too", async () => {
  const it = await holding(button())
  it.world.at("Save").set({ hidden: true })
  expect((await it.error("hover", { ref_id: "@e1", ...QUICK })).message).toMatch(
    /^Hover action failed on @e1: it is /,
  )
  expect((await it.error("drag", { from: "@e1", to_xy: "5,5", duration_ms: 10, ...QUICK })).message).toMatch(
    /^Drag action failed on @e1: it is /,
  )
})

test("an action that the element does not offer is named with its role, and the next step with the ref", async () => {
  const it = await holding(button())
  expect(await it.error("check", { ref_id: "@e1" })).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    message: "Check action not supported by button elements",
    suggestion: "Use 'get @e1 actions' to see what it supports",
  })
})

test("an error that is not about the action keeps its words", async () => {
  const it = await holding(button())
  it.world.at("Save").remove()
  expect((await it.error("click", { ref_id: "@e1" })).message).toBe("@e1 is stale: the button 'Save' is gone")
})
