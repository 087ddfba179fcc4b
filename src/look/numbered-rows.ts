import { type Handle, type SeenNode, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Span, TreeGrid } from "../content/grid.ts"
import { isList } from "../node.ts"
import { rowsIn, type TreeRow } from "./rows.ts"

/** The rows of a table, list or tree by their numbers, from 0. A long table may have only a part of them in its tree. */

export interface RowsOfTree {
  readonly header?: TreeRow
  /** The rows that are in the tree. */
  readonly rows: readonly TreeRow[]
  /** The number of the first of them; undefined if the app does not report it. */
  readonly first: number | undefined
  readonly count: number
  readonly width: number
}

export function rowsOfTree(node: SeenNode, grid: TreeGrid<Handle>): RowsOfTree {
  const { header, rows } = rowsIn(node)
  const more = Math.max(unmadeIn(node), (grid.rowCount ?? 0) - rows.length)
  const widths = rows.map(({ cells }) => cells.length)
  return {
    header,
    rows,
    first: grid.firstRow ?? (more > 0 ? undefined : 0),
    count: grid.rowCount ?? rows.length + more,
    width: Math.max(grid.columnCount ?? 0, header?.cells.length ?? 0, ...widths),
  }
}

/** The number of rows that the list has no objects for. */
function unmadeIn(node: SeenNode): number {
  const list = isList(node) && !node.children_count ? (node.children.find(isList) ?? node) : node
  return Math.max(0, (list.children_count ?? 0) - list.children.length)
}

/**
 * These rows, if they are in the tree or can be requested; as many as the time allows. undefined: they have no numbers.
 */
export async function rowsNumbered(
  ctx: Context,
  { rows, first }: RowsOfTree,
  grid: TreeGrid<Handle>,
  wanted: Span,
): Promise<readonly TreeRow[] | undefined> {
  if (first === undefined) return undefined
  const isThere = wanted.first >= first && wanted.last < first + rows.length
  if (isThere || !grid.rowsAt) return rows.slice(Math.max(0, wanted.first - first), wanted.last - first + 1)
  const read: TreeRow[] = []
  for (const { handle, index } of await grid.rowsAt(wanted)) {
    if (ctx.deadline.remaining < LEFT_MS && read.length > 0) break
    const { root } = await ctx.adapter.tree({ kind: "element", handle }, WHOLE_TREE)
    const [row] = rowsIn({ ...root, role: "table", children: [{ ...root, index }] }).rows
    if (row) read.push(row)
  }
  return read
}

/** Time reserved for the answer. */
const LEFT_MS = 200

/**
 * Puts the cells of a row into their columns. If there are fewer cells than columns, some span several: then asks the
 * app for the first column of each.
 */
export async function placeCells(
  cells: readonly SeenNode[],
  width: number,
  { columnOf }: TreeGrid<Handle>,
): Promise<readonly (SeenNode | undefined)[]> {
  if (cells.length >= width || !columnOf) return cells
  const columns = await Promise.all(cells.map(({ handle }) => columnOf(handle)))
  if (columns.some((column) => column === undefined || column >= width)) return cells
  const placed: (SeenNode | undefined)[] = Array.from({ length: width }, () => undefined)
  columns.forEach((column, at) => {
    placed[column!] = cells[at]
  })
  return placed
}
