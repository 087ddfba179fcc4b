import { afterAll, describe, expect, test } from "bun:test"
import type { Handle } from "../../src/adapter.ts"
import type { CellGrid } from "../../src/content/grid.ts"
import { clearDesks } from "../support/fake-desk.ts"
import { holding } from "./holding.ts"

afterAll(clearDesks)

/** `scroll --until` in a table that is read by row and column while rows come in at its start. */
async function growing(comes: (searches: number) => number) {
  const rows = Array.from({ length: 40 }, (_, i) => `Row ${i}`)
  let searches = 0
  const grid = (cell: CellGrid<Handle>["cell"]): CellGrid<Handle> => ({
    kind: "cells",
    rowCount: rows.length,
    columnCount: 1,
    isSheet: false,
    indexOf: (row) => row,
    placeOf: (row) => ({ row, column: 0 }),
    titles: async () => undefined,
    inView: async () => ({ rows: { first: 0, last: rows.length }, columns: { first: 0, last: 0 } }),
    texts: async ({ first, last }) => {
      if (last > first) rows.unshift(...Array.from({ length: comes(++searches) }, (_, i) => `New ${i}`))
      return rows.slice(first, last + 1).map((text) => [text])
    },
    cell,
    unwritable: async () => [],
    doubt: async () => undefined,
  })
  const it = await holding({
    role: "table",
    name: "It",
    states: ["enabled"],
    children: [{ role: "cell", name: "A cell" }],
    grid: (element) => grid(async () => element.children[0] as unknown as Handle),
  })
  const scroll = (until: string, timeout_ms = 6000) =>
    it.run("scroll", { ref_id: 'table "It"', until, exact: true, timeout_ms })
  return { ...it, scroll }
}

describe.concurrent("scroll --until", () => {
  test("searches again if rows were inserted meanwhile, and finds the row at its new position", async () => {
    // Rows come in before the first search has read the last rows: the row moves out of what is read.
    const { scroll } = await growing((searches) => (searches === 1 ? 5 : 0))
    expect((await scroll("Row 38")).data.found).toMatchObject({ row: 44, texts: ["Row 38"] })
  })

  test("does not report a row as missing in a table that keeps changing", async () => {
    const { scroll } = await growing(() => 5)
    expect((await scroll("Row 38", 2500)).error).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("kept changing while they were searched"),
      disposition: { delivery: "not_delivered", retry: "safe" },
    })
  })
})
