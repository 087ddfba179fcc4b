import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac } from "./program.ts"

/** Tables of macOS by row number. The scene has 10,000 rows, and 30 of them are in view. */

const rows = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => [`Row ${first + at}`, String(first + at - 1)])

test("a long table has the numbers of the rows in view, and rows far from them are read by number", () =>
  onMac("table", async ({ mac, ok, error }) => {
    const seen = await ok("table", { app: "Numbers" })
    expect(seen).toMatchObject({ rows: rows(1, 30), row_count: 10_000, column_count: 2, first_row: 1 })
    expect(seen.complete).toBe(false)
    const before = mac.report().round_trips
    const far = await ok("table", { ref_id: seen.ref_id, rows: "5000-5003" })
    expect(far).toMatchObject({ rows: rows(5000, 4), row_count: 10_000, first_row: 5000 })
    expect(far.complete).toBeUndefined()
    // The cost depends on these four rows, not on all 10,000.
    expect(mac.report().round_trips - before).toBeLessThan(1000)
    expect((await ok("get", { ref_id: far.refs[1], property: "name" })).value).toStartWith("Row 5001")
    expect((await ok("table", { ref_id: seen.ref_id, range: "B9999:B10000" })).rows).toEqual([
      ["9998"],
      ["9999"],
    ])
    expect((await error("table", { ref_id: seen.ref_id, rows: "10001" })).code).toBe("INVALID_ARGS")
  }))

test("set-cells writes the row of that number, scrolled or not, and no other", () =>
  onMac("table", async ({ mac, ok, error }) => {
    const { ref_id } = await ok("table", { app: "Numbers" })
    mac.apply({ do: "set", node: "vertical", attribute: "AXValue", value: 0.5 })
    const { first_row } = await ok("table", { app: "Numbers" })
    expect(first_row).toBeGreaterThan(4000)
    expect(await ok("set-cells", { ref_id, at: "B2", tsv: "two" })).toMatchObject({
      disposition: { delivery: "delivered_verified" },
    })
    expect(mac.look("value-1").AXValue).toBe("two")
    expect(mac.record("write").map(({ node, attribute }) => `${node} ${attribute}`)).toEqual([
      "value-1 AXValue",
    ])
    expect((await error("set-cells", { ref_id, at: "B10001", tsv: "none" })).disposition.delivery).toBe(
      "not_delivered",
    )
  }))

/** A sheet without rows: its cells are children of the table, and the title spans both columns. */
const cell = (row: number, column: number, more: object = {}, width = 1) => ({
  AXRole: "AXCell",
  AXRowIndexRange: { $range: [row, 1] },
  AXColumnIndexRange: { $range: [column, width] },
  frame: [110 + column * 100, 110 + row * 20, 100 * width, 20],
  ...more,
})
const field = (id: string, text: string, more: object = {}) => ({
  children: [{ id, AXRole: "AXTextField", AXTitle: id, AXValue: text, frame: [112, 132, 90, 16], ...more }],
})
const sheet = (more: object = {}) =>
  appWith([
    {
      id: "sheet",
      AXRole: "AXTable",
      AXTitle: "Stock",
      AXRowCount: 3,
      AXColumnCount: 2,
      frame: [100, 100, 400, 300],
      // Not in reading order: the index among the children says nothing about the position.
      children: [
        cell(2, 1, field("b3", "3")),
        cell(1, 0, { AXValue: "Pens" }),
        cell(1, 1, field("b2", "12")),
        cell(0, 0, { AXValue: "Title" }, 2),
        cell(2, 0, { AXValue: "Paper" }),
      ],
      ...more,
    },
  ])

test("a table without rows is read by column and row, and a cell that spans two columns shows its text once", () =>
  onMac(sheet(), async ({ mac, ok }) => {
    const { ref_id } = await ok("table", { app: "Demo" })
    const read = await ok("table", { ref_id, cells: true })
    expect(read).toMatchObject({
      rows: [
        ["Title", ""],
        ["Pens", "12"],
        ["Paper", "3"],
      ],
      row_count: 3,
      column_count: 2,
      first_row: 1,
    })
    expect((await ok("table", { ref_id, range: "B2:B3" })).rows).toEqual([["12"], ["3"]])
    // B3 is in the last row, although it is the first child.
    const { value } = await ok("get", { ref_id: read.cell_refs[2][1], property: "bounds" })
    expect(value).toMatchObject({ x: 210, y: 150 })
    expect(mac.record("write")).toEqual([])
  }))

test("set-cells in a table without rows writes the field at that column and row, once", () =>
  onMac(sheet(), async ({ mac, ok, error }) => {
    const { ref_id } = await ok("table", { app: "Demo" })
    expect(await ok("set-cells", { ref_id, at: "B2", tsv: "13\n4" })).toMatchObject({
      range: "B2:B3",
      disposition: { delivery: "delivered_verified" },
    })
    expect([mac.look("b2").AXValue, mac.look("b3").AXValue]).toEqual(["13", "4"])
    expect(mac.record("write").map(({ node }) => node)).toEqual(["b2", "b3"])
    // A2 does not contain a field: neither A2 nor B2 is written.
    expect((await error("set-cells", { ref_id, at: "A2", tsv: "x\ty" })).disposition.delivery).toBe(
      "not_delivered",
    )
    expect(mac.record("write")).toHaveLength(2)
  }))

test("a table that does not answer by column and row is read by the positions that its cells report", () =>
  onMac(sheet({ errors: { AXCellForColumnAndRow: -25_213 } }), async ({ ok }) => {
    const { rows } = await ok("table", { app: "Demo" })
    expect(rows).toEqual([
      ["Title", ""],
      ["Pens", "12"],
      ["Paper", "3"],
    ])
  }))
