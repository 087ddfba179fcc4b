import { afterAll, describe, expect, test } from "bun:test"
import type { Action } from "../../src/action.ts"
import type { Handle } from "../../src/adapter.ts"
import type { CellGrid } from "../../src/content/grid.ts"
import { clearDesks } from "../support/fake-desk.ts"
import type { FakeElement } from "../support/fake-world.ts"
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

/** A list that keeps its rows above the view, and reports them as visible, but not their buttons. */
async function kept(scrolls: boolean) {
  const top = (row: number): number => 10 + (row - 20) * 20
  const rows = Array.from({ length: 30 }, (_, row) => ({
    role: "option" as const,
    name: `Row ${row}`,
    states: ["enabled"] as const,
    bounds: { x: 10, y: top(row), width: 100, height: 20 },
    does: (option: FakeElement, { kind }: Action) => {
      if (kind !== "scroll-to" || !scrolls) return
      const by = 10 - (option.bounds?.y ?? 0)
      for (const row of option.parent?.children ?? []) {
        for (const one of [row, ...row.children])
          if (one.bounds) one.bounds = { ...one.bounds, y: one.bounds.y + by }
        for (const star of row.children) star.hidden = (row.bounds?.y ?? 0) < 0
      }
    },
    children: [
      {
        role: "button" as const,
        name: "Star",
        states: ["enabled"] as const,
        hidden: row < 20,
        bounds: { x: 90, y: top(row), width: 20, height: 20 },
      },
    ],
  }))
  return holding({
    role: "listbox",
    name: "It",
    states: ["enabled"],
    bounds: { x: 10, y: top(0), width: 100, height: 600 },
    grid: () => ({ kind: "tree", rowCount: 100 }),
    children: rows,
  })
}

describe.concurrent("a row that a list keeps above its view, and reports as visible,", () => {
  test("is scrolled into view by scroll --until", async () => {
    const { run, element } = await kept(true)
    const { data } = await run("scroll", { ref_id: 'listbox "It"', direction: "up", until: "Row 3" })
    expect(data).toMatchObject({
      found: { texts: expect.arrayContaining(["Row 3"]) },
      disposition: { delivery: "delivered_verified", retry: "safe" },
    })
    expect(element.children[3]?.bounds?.y).toBe(10)
  })

  test("is not reported as found if the list does not scroll to it", async () => {
    const { run } = await kept(false)
    const args = { ref_id: 'listbox "It"', direction: "up", until: "Row 3", timeout_ms: 2500 }
    expect((await run("scroll", args)).error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining('does not scroll to the row that shows "Row 3"'),
      details: { kind: "no_move" },
    })
  })

  test("is scrolled into view for a target in it, although the app was busy at the first look", async () => {
    const { run, world, element } = await kept(true)
    world.isBusy = true
    let looks = 0
    world.onCaughtUp = () => {
      looks += 1
      world.isBusy = looks < 3
    }
    const { data, error } = await run("click", { ref_id: 'button "Star" in "Row 3"', app: "App" })
    expect(data?.disposition.delivery ?? error).toStartWith("delivered")
    expect(element.children[3]?.bounds?.y).toBe(10)
  })
})
