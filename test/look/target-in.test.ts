import { afterAll, describe, expect, test } from "bun:test"
import { clearDesks } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { button, group, holding, row, text } from "./holding.ts"

/** Descriptions that name the row, section or group around their element. */

afterAll(clearDesks)

describe.concurrent("in", () => {
  const pick = async (target: string, ...children: Spec[]): Promise<string> => {
    const it = holding(...children)
    const { ok, data, error } = await it.run("get", { ref_id: target, property: "value", timeout_ms: 0 })
    return ok ? String(data.value) : error.code
  }
  const del = (value: string): Spec => button("Delete", { value })

  test("a row of a page, although the browser creates new objects for its cells", async () => {
    const cell = (...children: Spec[]): Spec => ({ role: "cell", isRecycled: true, children })
    const row = (name: string, value: string): Spec => ({
      role: "row",
      children: [
        { ...cell(), name },
        { ...cell(del(value)), name: "Delete" },
      ],
    })
    const table: Spec = { role: "table", children: [row("Ada", "a"), row("Bob", "b")] }
    expect(await pick('button "Delete" in "Bob"', table)).toBe("b")
    expect(await pick('button "Delete" in "Ada"', table)).toBe("a")
  })

  test.each([
    ["the row of a table", 'button "Delete" in "Bob"', "b"],
    ["a row by its role", 'button "Delete" in row "Bob"', "b"],
    ["a row and the table around it", 'button "Delete" in "Bob" in table "People"', "b"],
    ["another container than it is in", 'button "Delete" in "Bob" in toolbar', "ELEMENT_NOT_FOUND"],
    ["a row without such an element", 'button "Delete" in "Cid"', "ELEMENT_NOT_FOUND"],
    ["the table itself", 'button "Delete" in "People"', "AMBIGUOUS_TARGET"],
    ["the second of the table", 'button "Delete" in table "People" nth 2', "b"],
  ])("%s", async (_, target, expected) => {
    const table: Spec = {
      role: "table",
      name: "People",
      children: [
        row({ role: "cell", name: "Ada" }, { role: "cell", children: [del("a")] }),
        row({ role: "cell", name: "Bob" }, { role: "cell", children: [del("b")] }),
        row({ role: "cell", name: "Cid" }, { role: "cell" }),
      ],
    }
    expect(await pick(target, text("People"), table)).toBe(expected)
  })

  test("the row of the cell's own text", async () => {
    const cell = (name: string, ...children: Spec[]): Spec => ({ role: "cell", name, value: name, children })
    const table: Spec = {
      role: "table",
      name: "Ada",
      children: [
        row(cell("Ada"), cell("12")),
        row(cell("Bob", text("Bob")), cell("12")),
        row(cell("Twice"), cell("Twice")),
      ],
    }
    expect(await pick('cell "Ada" in "Ada"', table)).toBe("Ada")
    expect(await pick('cell "Bob" in "Bob"', table)).toBe("Bob")
    expect(await pick('cell "12" in "Bob"', table)).toBe("12")
    expect(await pick('cell "Ada" in "Bob"', table)).toBe("ELEMENT_NOT_FOUND")
    expect(await pick('cell "Twice" in "Twice"', table)).toBe("AMBIGUOUS_TARGET")
    expect(await pick('button "Delete" in "Delete"', row(text("Ada"), del("a")))).toBe("ELEMENT_NOT_FOUND")
  })

  test("a row that the platform calls a group, and never the next one", async () => {
    const rows = (...names: (readonly [string, boolean])[]): Spec =>
      group(...names.map(([name, has]) => group(group(text(name)), group(...(has ? [del(name)] : [])))))
    expect(await pick('"Delete" in "Bob"', rows(["Ada", true], ["Bob", true]))).toBe("Bob")
    expect(await pick('"Delete" in "Ada"', rows(["Ada", false], ["Bob", true]))).toBe("ELEMENT_NOT_FOUND")
    expect(await pick('"Delete" in "Bob"', rows(["Ada", true], ["Bob", false]))).toBe("ELEMENT_NOT_FOUND")
    const flat = (name: string, ...more: Spec[]): Spec => group(text(name), ...more)
    expect(await pick('"Delete" in "Ada"', group(flat("Ada"), flat("Bob", del("b"))))).toBe(
      "ELEMENT_NOT_FOUND",
    )
    expect(await pick('"Delete" in "Bob"', group(flat("Ada", del("a")), flat("Bob", del("b"))))).toBe("b")
    const list: Spec = { role: "list", children: [group(text("Ada")), group(text("Bob"), del("b"))] }
    expect(await pick('"Delete" in "Ada"', list)).toBe("ELEMENT_NOT_FOUND")
  })

  test("a section by its heading, a group by its name, a dialog by its question", async () => {
    const field = (value: string): Spec => ({ role: "textfield", name: "Street", value, states: ["enabled"] })
    const section = (title: string, value: string): Spec =>
      group({ role: "heading", name: title }, group(group(text("Street"), field(value)), group(text("City"))))
    const page = group(section("Billing", "b"), section("Shipping", "s"))
    expect(await pick('textfield "Street" in "Shipping"', page)).toBe("s")
    expect(await pick('textfield "Street" in heading "Shipping"', page)).toBe("ELEMENT_NOT_FOUND")
    const named = (name: string): Spec => ({ role: "group", name, children: [text("x"), field(name)] })
    expect(await pick('"Street" in group "Two"', named("One"), named("Two"))).toBe("Two")
    const dialog: Spec = {
      role: "dialog",
      children: [group(text("Really?")), group(button("OK", { value: "1" }), button("Cancel"))],
    }
    expect(await pick('"OK" in "Really?"', dialog, button("OK"))).toBe("1")
  })

  test("the nearest of that name, not the window of the same name", async () => {
    const it = holding()
    const app = it.world.app("Two")
    it.world.focused = app.window("Bob", [
      { role: "table", children: [row(text("Ada"), del("a")), row(text("Bob"), del("b"))] },
    ])
    expect((await it.ok("get", { ref_id: '"Delete" in "Bob"', property: "value" })).value).toBe("b")
  })
})
