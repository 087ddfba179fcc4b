import { hasTrait, isRole, type Node, type State } from "../node.ts"
import { wordsOf } from "../tree.ts"

/** Prints tables in few lines: cells are grouped in rows, and empty cells are left out. */

/** The children of a table with its cells in rows. A platform may list all cells of a table one after the other. */
export function inRows(table: Node): readonly Node[] | undefined {
  const { children } = table
  if (!children || !hasTrait(table.role, "table")) return children
  const cells = children.filter(isCell)
  if (cells.length < 2) return children
  const rows = bySheetRow(cells) ?? byColumns(children, cells) ?? byPlace(children, cells)
  if (!rows) return children
  const rowOf = new Map(rows.flatMap((row) => row.map((cell) => [cell, row] as const)))
  const made = children.flatMap((child): Node[] => {
    const row = rowOf.get(child)
    if (!row) return [child]
    return row[0] === child ? [{ role: "row", children: row }] : []
  })
  // Refs count up from the top of the tree.
  const flat = made.flatMap((node) => (node.role === "row" && !node.ref_id ? (node.children ?? []) : [node]))
  return flat.every((node, at) => node === children[at]) ? made : children
}

const isCell = ({ role }: Node): boolean => role === "cell" || role === "treeitem"

/** The cells of a sheet are named by their places: A1, B1, A2. */
function bySheetRow(cells: readonly Node[]): readonly (readonly Node[])[] | undefined {
  if (!cells.every(isSheetCell)) return undefined
  return [...Map.groupBy(cells, ({ name = "" }) => /\d+$/.exec(name)?.[0]).values()]
}

/** All cells after as many headers as a row has cells. */
function byColumns(
  children: readonly Node[],
  cells: readonly Node[],
): readonly (readonly Node[])[] | undefined {
  const columns = children.filter(({ role }) => role === "columnheader").length
  const isPlain = children.every((child) => isCell(child) || child.role === "columnheader")
  if (columns < 2 || !isPlain || cells.length % columns !== 0) return undefined
  return Array.from({ length: cells.length / columns }, (_, at) =>
    cells.slice(at * columns, (at + 1) * columns),
  )
}

/** Cells beside each other. */
function byPlace(
  children: readonly Node[],
  cells: readonly Node[],
): readonly (readonly Node[])[] | undefined {
  if (!children.every((child) => isCell(child) || hasTrait(child.role, "header"))) return undefined
  if (!cells.every(({ bounds }) => bounds && bounds.height > 0)) return undefined
  const rows = [...Map.groupBy(cells, ({ bounds }) => bounds?.y).values()]
  return rows.length < cells.length ? rows : undefined
}

/** True for a cell that is named by its place. */
export const isSheetCell = ({ role, name = "" }: Pick<LineNode, "role" | "name">): boolean =>
  role === "cell" && /^[A-Z]{1,3}[1-9]\d*$/.test(name)

/** True for a cell that shows nothing: no text, no special state and no content. */
export function isEmptyCell(node: Node): boolean {
  const { role, value, description, hint, children, children_count } = node
  if (role !== "cell" || children || children_count || description || hint) return false
  return !value && (!wordsOf(node) || (value === "" && isSheetCell(node))) && !isMarked(node)
}

/** The only informative cell inside an empty cell; the others are empty or repeat it. */
export function onlyCellIn(node: Node): Node | undefined {
  const { role, children = [] } = node
  if (role !== "cell" || wordsOf(node) || node.value || children.some((one) => one.role !== "cell"))
    return undefined
  const telling = children.find((one) => wordsOf(one)) ?? children[0]
  if (!telling || !marksOf(node).every((mark) => telling.states?.includes(mark))) return undefined
  return children.every((one) => one === telling || isEcho(one, telling)) ? telling : undefined
}

/** True for a part of a cell that only repeats another part, such as a picture in a selected row. */
function isEcho({ children, value, description, hint, ...one }: Node, telling: Node): boolean {
  if (children || value || description || hint) return false
  const words = wordsOf(one)
  return (
    (words === undefined || words === wordsOf(telling)) &&
    marksOf(one).every((mark) => telling.states?.includes(mark))
  )
}

const marksOf = ({ states = [] }: Pick<Node, "states">): readonly State[] =>
  states.filter((state) => !PLAIN.has(state))

const isMarked = (node: Node): boolean => marksOf(node).length > 0

/** States that most cells have. */
const PLAIN: ReadonlySet<State> = new Set(["enabled", "multiselectable", "offscreen", "readonly"])

/** A row that fits on one line: cells, and controls and texts without further parts. */
export function isOneLine(row: LineNode): boolean {
  const { children, children_count, offscreen } = row
  if (!isRowOfCells(row) || !children || children_count !== undefined || offscreen) return false
  return children.every(
    (child) =>
      isRole(child.role) &&
      child.children_count === undefined &&
      (child.children ?? []).every((part) => !part.children && part.children_count === undefined),
  )
}

/** In GTK 3, a table of one column may have several cells in each row. They are in a cell. */
const isRowOfCells = ({ role, name, value, children = [] }: LineNode): boolean =>
  role === "row" || (role === "cell" && !name && !value && children.every((child) => child.role === "cell"))

interface LineNode extends Omit<Node, "role" | "children"> {
  readonly role: string
  readonly children?: readonly LineNode[]
}
