import { afterAll, describe, expect, test } from "bun:test"
import { snapshot } from "../../src/commands/snapshot.ts"
import { toText } from "../../src/look/text.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

function holding(...children: readonly Spec[]) {
  const it = desk()
  const window = it.world.app("Shop", { pid: 10 }).window("Order", children, { id: "w-1" })
  return { ...it, window }
}

describe("the text of a text node", () => {
  test.each(["statictext", "label", "paragraph"] as const)(
    "is the value of a %s, whichever member the platform has it in",
    async (role) => {
      const { ok } = holding(
        { role, name: "Total" },
        { role, value: "Total" },
        { role, name: "Total", value: "Total" },
      )
      const { tree } = await ok("snapshot")
      expect(tree.children).toEqual(Array(3).fill({ role, value: "Total" }))
    },
  )

  test("leaves a name that differs, and the members of every other role", async () => {
    const { ok } = holding(
      { role: "statictext", name: "Sum", value: "12 €" },
      { role: "heading", name: "Order" },
      { role: "textfield", name: "City", value: "City" },
    )
    expect((await ok("snapshot")).tree.children).toEqual([
      { role: "statictext", name: "Sum", value: "12 €" },
      { role: "heading", name: "Order" },
      { ref_id: "@e1", role: "textfield", name: "City", value: "City" },
    ])
  })

  test("is found by name, by value and by text, and read as value and text", async () => {
    const { ok } = holding({ role: "statictext", name: "Total: 12", actions: ["Click"] })
    const match = {
      ref_id: "@e1",
      role: "statictext",
      value: "Total: 12",
      interactive: true,
      path: ["Order"],
    }
    for (const query of [{ name: "total" }, { value: "total" }, { text: "total" }])
      expect((await ok("find", query)).matches).toEqual([match])
    for (const [property, value] of [
      ["text", "Total: 12"],
      ["value", "Total: 12"],
      ["name", null],
    ])
      expect((await ok("get", { ref_id: "@e1", property })).value).toBe(value)
  })

  test.each([
    ["name", (text: string) => ({ name: text })],
    ["value", (text: string) => ({ value: text })],
  ] as const)("is a quoted string in the outline, and no caption twice: by %s", async (_, words) => {
    const { run, ok, window } = holding(
      { role: "statictext", ...words("Ready") },
      { role: "statictext", ...words("City:") },
      { role: "textfield", name: "City", value: "" },
    )
    const printed = async (args: object): Promise<string> => {
      const text = await toText(await run("snapshot", args), snapshot)
      return text.split("\n").slice(1).join("\n")
    }
    expect(await printed({})).toBe(
      'window\n  statictext "Ready"\n  statictext "City:"\n  textfield "City" [@e1] = ""\n',
    )
    expect(await printed({ compact: true })).toBe(
      'window\n  statictext "Ready"\n  textfield "City" [@e1] = ""\n',
    )
    Object.assign(window.root.children[0]!, words("Done"))
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({
      changed: [{ role: "statictext", value: "Done", was: { value: "Ready" } }],
    })
    Object.assign(window.root.children[0]!, words("Idle"))
    expect(await printed({ diff: "last" })).toBe('~ statictext "Idle" was "Done"\n')
  })
})
