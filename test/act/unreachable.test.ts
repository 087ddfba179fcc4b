import { afterAll, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { save, shown } from "../refs/shown.ts"
import { clearDesks } from "../support/fake-desk.ts"

afterAll(clearDesks)

const NOT_SHOWN = {
  code: "ACTION_FAILED",
  suggestion: "Show its page first; what is shown now: agent-desktop snapshot -i --window-id w-1",
  details: { kind: "not_actionable", reason: "not shown" },
  disposition: { delivery: "not_delivered", retry: "safe" },
}

test("an element that has left its window is stale for every command, although its object still answers", async () => {
  const { error, world, ok } = await shown([save])
  world.at("Save").absence = "removed"
  for (const [command, args] of [
    ["click", {}],
    ["get", { property: "role" }],
    ["hover", {}],
  ] as const) {
    expect(await error(command, { ref_id: "@e1", ...args })).toMatchObject({
      code: "STALE_REF",
      message: "@e1 is stale: it is no longer in its window",
    })
  }
  expect(world.deliveries).toEqual([])
  world.at("Save").absence = undefined
  await ok("click", { ref_id: "@e1" })
})

test("an element on a page that is not shown can be read, but not acted on", async () => {
  const { error, world, ok } = await shown([save])
  world.at("Save").absence = "not shown"
  for (const [command, action] of [
    ["click", "Click"],
    ["double-click", "Double Click"],
    ["scroll-to", "Scroll To"],
    ["hover", "Hover"],
  ] as const) {
    expect(await error(command, { ref_id: "@e1" })).toEqual({
      ...NOT_SHOWN,
      message: `${action} action failed on @e1: it is on a page or panel that is not shown`,
    })
  }
  expect((await ok("get", { ref_id: "@e1", property: "role" })).value).toBe("button")
  expect(world.deliveries).toEqual([])
})

test("an element behind a modal dialog can be read, but not acted on; the error names the dialog's window", async () => {
  const { error, world, ok } = await shown([save])
  world.dialogs.set("w-1", { id: "w-2" })
  expect(await error("click", { ref_id: "@e1" })).toEqual({
    code: "ACTION_FAILED",
    message: "Click action failed on @e1: it is behind the modal dialog in window w-2",
    suggestion: "Answer the dialog first: agent-desktop snapshot -i --window-id w-2",
    details: { kind: "not_actionable", reason: "behind a modal dialog", window_id: "w-2" },
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
  expect((await ok("get", { ref_id: "@e1", property: "role" })).value).toBe("button")
  expect(world.deliveries).toEqual([])
})

test("an action is not refused if the search for dialogs fails", async () => {
  const { ok, world } = await shown([save])
  world.fail("dialogOver", new AppError("PLATFORM_NOT_SUPPORTED", "no display"))
  await ok("click", { ref_id: "@e1" })
  expect(world.sent("Save")).toEqual(["semantic click"])
})
