import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

const bounds = { x: 1, y: 2, width: 30, height: 4 }

async function holding(spec: Spec) {
  const it = desk()
  const window = it.world.app("App", { pid: 10 }).window("Window", [spec])
  await it.ok("snapshot", { offscreen: true })
  const element = window.root.children[0]!
  const get = async (property: string) => (await it.ok("get", { ref_id: "@e1", property })).value
  const is = async (property: string) => {
    const { result, applicable } = await it.ok("is", { ref_id: "@e1", property })
    return applicable ? result : [result, "not applicable"]
  }
  return { ...it, element, get, is }
}

const FIELD: Spec = {
  role: "textfield",
  name: "Name",
  value: "Ada",
  description: "Who you are",
  states: ["enabled", "focused"],
  bounds,
  actions: ["Click", "SetValue"],
}

describe("get", () => {
  test("returns property, ref and value, and nothing else", async () => {
    const { ok } = await holding(FIELD)
    expect(await ok("get", { ref_id: "@e1", property: "enabled" })).toEqual({
      property: "enabled",
      ref_id: "@e1",
      value: "true",
    })
  })

  test.each([
    ["text", "Ada"],
    ["value", "Ada"],
    ["title", "Name"],
    ["name", "Name"],
    ["role", "textfield"],
    ["states", ["enabled", "focused"]],
    ["bounds", bounds],
    ["actions", ["Click", "SetValue"]],
    ["enabled", "true"],
    ["focused", "true"],
    ["visible", "true"],
    ["description", "Who you are"],
    ["checked", null],
    ["expanded", null],
    ["selected", null],
  ])("%s of a text field is %j", async (property, value) => {
    const { get } = await holding(FIELD)
    expect(await get(property)).toEqual(value)
  })

  test("reads the live element, not the snapshot", async () => {
    const { get, element } = await holding(FIELD)
    element.set({ value: "", states: ["disabled"], bounds: { ...bounds, x: 99 } })
    expect(await get("value")).toBe("")
    expect(await get("text")).toBe("")
    expect(await get("enabled")).toBe("false")
    expect(await get("focused")).toBe("false")
    expect(await get("states")).toEqual(["disabled"])
    expect((await get("bounds")).x).toBe(99)
  })

  test("returns the name as text if there is no value", async () => {
    const { get } = await holding({ role: "link", name: "Next" })
    expect(await get("text")).toBe("Next")
    expect(await get("value")).toBeNull()
    expect(await get("actions")).toEqual([])
    expect(await get("enabled")).toBeNull()
    expect(await get("visible")).toBeNull()
    expect(await get("bounds")).toBeNull()
  })

  test("never returns the value or text of a secure field", async () => {
    const { get } = await holding({ ...FIELD, value: "hunter2", states: ["enabled", "secure"] })
    expect(await get("value")).toBeNull()
    expect(await get("text")).toBeNull()
  })

  test("rejects an unknown property and lists the known ones", async () => {
    const { error } = await holding(FIELD)
    const refused = await error("get", { ref_id: "@e1", property: "colour" })
    expect(refused.code).toBe("INVALID_ARGS")
    expect(refused.message).toContain("visible")
  })
})

describe("is", () => {
  test("returns the result, and whether the question applies", async () => {
    const { ok } = await holding(FIELD)
    expect(await ok("is", { ref_id: "@e1", property: "enabled" })).toEqual({
      property: "enabled",
      ref_id: "@e1",
      result: true,
      applicable: true,
    })
    expect(await ok("is", { ref_id: "@e1", property: "checked" })).toEqual({
      property: "checked",
      ref_id: "@e1",
      result: false,
      applicable: false,
    })
  })

  test.each([
    [["enabled", "checked"], "checked", true],
    [["enabled", "unchecked"], "checked", false],
    [["enabled", "indeterminate"], "checked", false],
    [["disabled"], "enabled", false],
    [[], "enabled", [false, "not applicable"]],
    [["expanded"], "expanded", true],
    [["collapsed"], "expanded", false],
    [[], "expanded", [false, "not applicable"]],
    [["focused"], "focused", true],
    [[], "focused", false],
    [["selected"], "selected", true],
    [[], "selected", [false, "not applicable"]],
    [["hidden"], "visible", false],
    [["offscreen"], "visible", false],
    [[], "visible", true],
  ] as const)("with the states %j, %s is %j", async (states, property, expected) => {
    const { is } = await holding({ role: "checkbox", name: "It", states: [...states], bounds })
    expect(await is(property)).toEqual(expected as never)
  })

  test("reports a selectable element without the selected state as not selected", async () => {
    const { is } = await holding({ role: "tab", name: "It" })
    expect(await is("selected")).toBe(false)
    expect(await is("visible")).toEqual([false, "not applicable"])
  })

  test("agrees with get on a live element", async () => {
    const { is, get, element } = await holding({
      role: "checkbox",
      name: "It",
      states: ["enabled", "unchecked"],
    })
    element.set({ states: ["disabled", "checked"] })
    for (const property of ["enabled", "checked", "focused"])
      expect(String(await is(property))).toBe(await get(property))
  })
})
