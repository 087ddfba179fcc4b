import type { Handle } from "../adapter.ts"
import { type CellGrid, type CellPlace, type Grid, type Span, within } from "../content/grid.ts"
import type { Ax } from "./ax.ts"
import { newArray, newNumber } from "./cf.ts"
import { elementOf, handleOf } from "./describe.ts"
import { Failure, ILLEGAL_ARGUMENT, isUnread, readFailed } from "./failure.ts"
import { asElement, asElements, asWords, type Element, Stretch, type Value } from "./value.ts"
import { LONG_LIST, ROWS_OFFSET } from "./walk.ts"

/**
 * A table or outline by rows. Its tree has those in view; the others are asked for by their numbers. A table without
 * rows, such as a spreadsheet, is asked for its cells.
 */
export function openTable(ax: Ax, element: Element): Grid<Handle> {
  const count = ax.count(element, "AXRows")
  const cells = count === 0 ? openCells(ax, element) : undefined
  if (cells) return cells
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

/** Cells by AXCellForColumnAndRow, or by the places that they report; undefined if the table reports no counts. */
function openCells(ax: Ax, table: Element): CellGrid<Handle> | undefined {
  const [rowCount, columnCount] = [ax.get(table, "AXRowCount"), ax.get(table, "AXColumnCount")]
  if (typeof rowCount !== "number" || typeof columnCount !== "number") return undefined
  let children: readonly Element[] | undefined
  const all = (): readonly Element[] => {
    children ??= asElements(ax.must(table, "AXChildren"))
    return children
  }
  const isAnswered = cellAt(ax, table, 0, 0) !== undefined
  const reported = isAnswered ? undefined : reportedPlaces(ax, all())
  const at = (row: number, column: number): Element | undefined =>
    reported ? reported.get(`${row} ${column}`) : cellAt(ax, table, row, column)
  return {
    kind: "cells",
    rowCount,
    columnCount,
    isSheet: false,
    indexOf: (row, column) => {
      const cell = at(row, column)
      return cell ? all().indexOf(cell) : -1
    },
    placeOf: (index) => placeIn(ax, all()[index]),
    titles: async () => undefined,
    inView: async () => undefined,
    texts: async (rows, columns) =>
      within(rows, rowCount).map((row) => columns.map((column) => textAt(ax, at(row, column), row, column))),
    cell: async ({ row, column }) => {
      const cell = at(row, column)
      return cell && handleOf(cell)
    },
    unwritable: async (cells) =>
      cells.flatMap(({ row, column }) => {
        const cell = at(row, column)
        return cell && ax.canSet(cell, "AXValue") ? [] : [{ row, column, why: "locked" as const }]
      }),
    doubt: async () => undefined,
  }
}

function cellAt(ax: Ax, table: Element, row: number, column: number): Element | undefined {
  using first = newNumber(column)
  using second = newNumber(row)
  using place = newArray([first.ref, second.ref])
  const cell = ax.answer(table, "AXCellForColumnAndRow", place.ref)
  if (isUnread(cell) && cell.code !== ILLEGAL_ARGUMENT) throw readFailed("AXCellForColumnAndRow", cell.code)
  return asElement(cell)
}

function reportedPlaces(ax: Ax, cells: readonly Element[]): ReadonlyMap<string, Element> {
  return new Map(
    cells.map((cell) => {
      const { row, column } = placeIn(ax, cell)
      return [`${row} ${column}`, cell]
    }),
  )
}

/** The text of a cell. One that spans several places shows it at the first of them, and answers for all. */
function textAt(ax: Ax, cell: Element | undefined, row: number, column: number): string {
  if (!cell) return ""
  const place = placeIn(ax, cell)
  const isFirst = (place.row < 0 || place.row === row) && (place.column < 0 || place.column === column)
  return isFirst ? textIn(ax, cell, MOST_LEVELS) : ""
}

/** Groups in a cell around its text. */
const MOST_LEVELS = 3

function textIn(ax: Ax, element: Element, levels: number): string {
  const read = ax.read(element, CONTENT)
  if (read instanceof Failure) return ""
  const own = [read.AXValue, read.AXTitle, read.AXDescription].map(asWords).find(Boolean)
  if (own !== undefined || levels === 0) return own ?? ""
  const parts = asElements(read.AXChildren).map((child) => textIn(ax, child, levels - 1))
  return parts.filter(Boolean).join(" ")
}

const CONTENT = ["AXValue", "AXTitle", "AXDescription", "AXChildren"]

/** −1 if the cell does not report it. */
function placeIn(ax: Ax, cell: Element | undefined): CellPlace {
  const read = cell && ax.read(cell, PLACE)
  if (!read || read instanceof Failure) return { row: -1, column: -1 }
  const start = (value: Value): number => (value instanceof Stretch ? value.location : -1)
  return { row: start(read.AXRowIndexRange), column: start(read.AXColumnIndexRange) }
}

const PLACE = ["AXRowIndexRange", "AXColumnIndexRange"]

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

/** The first column of a cell. */
function columnIn(ax: Ax, cell: Element): number | undefined {
  const range = ax.get(cell, "AXColumnIndexRange")
  return range instanceof Stretch ? range.location : undefined
}
