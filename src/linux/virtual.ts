import type { Point, Rect } from "../node.ts"
import { type Atspi, INTERFACE, type Ref } from "./atspi.ts"
import { method, readAs } from "./dbus.ts"
import type { Child, Facts } from "./facts.ts"

/**
 * Lists and tables that make their children up as they are asked for. Calc says that it has 2^31 of
 * them: only what is on the screen is read, found through the corners of the view.
 */

/** Up to so many children a container is read like any other. */
export const MAX_MANAGED = 500
const MAX_VISIBLE = 3000
/** Where the first row may begin below the top: headers come before it. */
const PROBES = [2, 14, 26, 38, 50, 74, 98]

export async function visibleChildren(atspi: Atspi, ref: Ref, facts: Facts): Promise<readonly Child[]> {
  if (!(facts.interfaces & INTERFACE.Component)) return []
  const view = facts.extents ?? (await atspi.extents(ref))
  if (view.width <= 0 || view.height <= 0) return []
  const [first, last] = await Promise.all([probe(atspi, ref, view, 1), probe(atspi, ref, view, -1)])
  if (first === undefined) return []
  if (facts.interfaces & INTERFACE.Table) {
    const cells = await visibleCells(atspi, ref, first, last)
    if (cells) return cells
  }
  const end = last ?? first + MAX_VISIBLE
  return childrenBetween(atspi, ref, Math.min(first, end), Math.max(first, end))
}

/** The index of the first (or last) child that shows, seen from the top left (or bottom right) corner. */
async function probe(atspi: Atspi, ref: Ref, view: Rect, direction: 1 | -1): Promise<number | undefined> {
  const points: Point[] = PROBES.filter((offset) => offset < view.height && offset < view.width).map(
    (offset) =>
      direction === 1
        ? { x: view.x + Math.min(offset, 14), y: view.y + offset }
        : { x: view.x + view.width - Math.min(offset, 14), y: view.y + view.height - offset },
  )
  const indexes = await Promise.all(points.map((point) => indexAt(atspi, ref, point)))
  return indexes.find((index) => index !== undefined && index >= 0)
}

/** A header is a child as well, but it is outside the rows. */
async function indexAt(atspi: Atspi, container: Ref, point: Point): Promise<number | undefined> {
  const ref = await atspi.at(container, point).catch(() => undefined)
  if (!ref || ref.path === container.path) return undefined
  const [parent, index, row] = await Promise.all([
    atspi.parent(ref),
    atspi.indexInParent(ref),
    atspi.role(ref),
  ]).catch(() => [undefined, -1, -1])
  return parent?.path === container.path && row >= 0 && !HEADERS.has(row) ? index : undefined
}

const HEADERS: ReadonlySet<number> = new Set([10, 47, 57, 58])

async function visibleCells(
  atspi: Atspi,
  table: Ref,
  first: number,
  last: number | undefined,
): Promise<readonly Child[] | undefined> {
  const [from, to] = await Promise.all([cellPlace(atspi, table, first), cellPlace(atspi, table, last ?? -1)])
  if (!from) return undefined
  const size = await atspi.tableSize(table)
  const end = to && to.row >= from.row ? to : { row: from.row + MAX_ROWS, column: size.columns - 1 }
  const columns = Math.min(Math.max(end.column, from.column), size.columns - 1) - from.column + 1
  const rows = Math.min(end.row, size.rows - 1) - from.row + 1
  const count = Math.min(rows * columns, MAX_VISIBLE)
  const cells = await Promise.all(
    Array.from({ length: Math.max(0, count) }, async (_, at) => {
      const row = from.row + Math.floor(at / columns)
      const column = from.column + (at % columns)
      const ref = await atspi.cellAt(table, row, column).catch(() => undefined)
      return ref && { ref, index: first + (row - from.row) * size.columns + (column - from.column) }
    }),
  )
  return cells.filter((cell) => cell !== undefined)
}

const MAX_ROWS = 200

async function cellPlace(
  atspi: Atspi,
  table: Ref,
  index: number,
): Promise<{ row: number; column: number } | undefined> {
  if (index < 0) return undefined
  const ask = async (name: string): Promise<number> =>
    readAs(await atspi.call(table, method(`org.a11y.atspi.Table.${name}`, "i", [index])), "i").i32()
  const [row, column] = await Promise.all([ask("GetRowAtIndex"), ask("GetColumnAtIndex")]).catch(() => [
    -1, -1,
  ])
  return row !== undefined && column !== undefined && row >= 0 && column >= 0 ? { row, column } : undefined
}

async function childrenBetween(atspi: Atspi, ref: Ref, from: number, to: number): Promise<readonly Child[]> {
  const count = Math.min(to - from + 1, MAX_VISIBLE)
  const children = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const child = await atspi.childAt(ref, from + at).catch(() => undefined)
      return child && { ref: child, index: from + at }
    }),
  )
  return children.filter((child) => child !== undefined)
}
