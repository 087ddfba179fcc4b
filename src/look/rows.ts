import type { SeenNode } from "../adapter.ts"
import { hasTrait, isList, isRow } from "../node.ts"
import { isInteractive } from "../tree.ts"

/** The rows of a table, list or tree that was read as a tree. */

export interface TreeRow {
  readonly node: SeenNode
  readonly cells: readonly SeenNode[]
}

export interface TreeRows {
  /** The row of column titles, if the first one is that. */
  readonly header?: TreeRow
  readonly rows: readonly TreeRow[]
}

export function rowsIn(table: SeenNode): TreeRows {
  const [first, ...others] = rowsBelow(table)
  if (!first) return { rows: [] }
  const isHeader = first.cells.length > 0 && first.cells.every(({ role }) => role === "columnheader")
  const isOutside = first.node.role === "row" && others.length > 0 && isOutsideList(table, first.node)
  return isHeader || isOutside ? { header: first, rows: others } : { rows: [first, ...others] }
}

/** A column view has its titles above the list of its rows. */
const isOutsideList = (table: SeenNode, row: SeenNode): boolean =>
  table.children.includes(row) && table.children.some(isList)

/** The rows of a table inside a cell belong to that table. Rows expanded below a row count, too. */
function rowsBelow(node: SeenNode): readonly TreeRow[] {
  return node.children.flatMap((child): readonly TreeRow[] => {
    if (isRow(child)) return [{ node: child, cells: cellsOf(child) }, ...rowsInRow(child)]
    if (child.role === "columnheader" || child.role === "cell") return []
    return rowsBelow(child)
  })
}

const rowsInRow = (row: SeenNode): readonly TreeRow[] =>
  row.role === "treeitem" ? rowsBelow({ ...row, children: row.children.filter((one) => !isCell(one)) }) : []

function cellsOf(row: SeenNode): readonly SeenNode[] {
  const cells = row.children.filter(isCell)
  if (cells.length > 0) return cells
  // A row of titles may hold plain boxes.
  const boxes = row.children.filter((child) => child.role === "group")
  return row.role === "row" && boxes.length > 1 && boxes.length === row.children.length ? boxes : [row]
}

const isCell = ({ role }: SeenNode): boolean => role === "cell" || hasTrait(role, "header")

/** The element of a row to act on: the row itself if it takes actions, else its first cell that does. */
export const actorOf = ({ node, cells }: TreeRow): SeenNode =>
  isInteractive(node) ? node : (cells.find(isInteractive) ?? node)

/** The text that a cell shows: a field's value, a check box's state. */
export function textOf(node: SeenNode): string {
  const own = ownText(node)
  const parts = node.children.filter((child) => !isRow(child))
  const isPlain = parts.every(({ role }) => hasTrait(role, "text") || role === "image")
  if (own && (parts.length === 0 || isPlain)) return own
  const inside = parts.map(textOf).filter(Boolean).join(" ")
  // A page names a cell by its content, and an empty field by its label.
  return inside || (holdsField(node) ? "" : own)
}

const holdsField = ({ children }: SeenNode): boolean =>
  children.some((child) => !isRow(child) && (hasTrait(child.role, "typable") || holdsField(child)))

function ownText({ role, name, value, states }: SeenNode): string {
  if (states.includes("secure")) return ""
  if (hasTrait(role, "checkable")) {
    if (states.includes("indeterminate")) return "indeterminate"
    return states.includes("checked") ? "checked" : "unchecked"
  }
  if (hasTrait(role, "typable")) return value ?? ""
  return role === "combobox" || role === "slider" || role === "cell"
    ? (value ?? name ?? "")
    : (name ?? value ?? "")
}
