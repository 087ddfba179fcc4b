import { expect, test } from "bun:test"
import { onMac } from "./program.ts"

/** Tables of macOS by the numbers of their rows. The scene has 10,000 rows, and 30 of them are in view. */

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
    // Four rows cost the table and these rows, and not the 10,000.
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
