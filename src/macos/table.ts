import type { Handle } from "../adapter.ts"
import type { Span, TreeGrid } from "../grid.ts"
import type { Ax } from "./ax.ts"
import { elementOf, handleOf } from "./describe.ts"
import { Failure, readFailed } from "./failure.ts"
import { asElements, type Element, Stretch } from "./value.ts"
import { LONG_LIST, ROWS_OFFSET } from "./walk.ts"

/** A table or outline by rows. Its tree has those in view; the others are asked for by their numbers. */
export function openTable(ax: Ax, element: Element): TreeGrid<Handle> {
  const count = ax.count(element, "AXRows")
  const columnCount = ax.count(element, "AXColumns") || undefined
  const columnOf = async (cell: Handle) => columnIn(ax, elementOf(cell))
  if (count <= LONG_LIST) return { kind: "tree", columnCount, columnOf }
  const [first] = asElements(ax.must(element, "AXVisibleRows"))
  const firstRow = first && rowNumber(ax, element, first)
  return {
    kind: "tree",
    rowCount: count,
    columnCount,
    firstRow,
    columnOf,
    rowsAt: async (span) => rowsAt(ax, element, span),
  }
}

function rowsAt(ax: Ax, table: Element, { first, last }: Span) {
  const rows = ax.some(table, "AXRows", first, last - first + 1)
  if (rows instanceof Failure) throw readFailed("AXRows", rows.code)
  return rows.map((row, at) => ({ handle: handleOf(row), index: ROWS_OFFSET + first + at }))
}

/** By AXIndex, or by its place among all rows. */
function rowNumber(ax: Ax, table: Element, row: Element): number | undefined {
  const index = ax.get(row, "AXIndex")
  if (typeof index === "number") return index
  const at = asElements(ax.must(table, "AXRows")).indexOf(row)
  return at < 0 ? undefined : at
}

/** The column that a cell begins in. */
function columnIn(ax: Ax, cell: Element): number | undefined {
  const range = ax.get(cell, "AXColumnIndexRange")
  return range instanceof Stretch ? range.location : undefined
}
