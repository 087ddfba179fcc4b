import { type Handle, type Seen, type SeenNode, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellPlace, type Grid, nameOfPlace, type TreeGrid } from "../content/grid.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { placeCells, rowsNumbered, rowsOfTree } from "../look/numbered-rows.ts"
import { hasTrait } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import { walk, wordsOf } from "../tree.ts"
import { until } from "../until.ts"
import { targetAt } from "./cells.ts"
import { sendAction } from "./deliver.ts"
import { numberIn } from "./expect.ts"
import { replaceText } from "./keyboard.ts"

/**
 * Cells that contain a field, e.g. in a document's table or a page's grid, and cells that users edit in place. They are
 * set one by one.
 */

export interface FieldCell extends CellPlace {
  readonly text: string
  /** The field, or the cell itself if it is edited in place. */
  readonly field: Seen
  /** A text of the same row, if there is one, and a way to read what is in its place now. */
  readonly label?: SeenNode
  readonly labelColumn?: number
  readonly now: (column?: number) => Promise<SeenNode | undefined>
  /** Scrolls the table to the row, which the pointer must reach. */
  readonly show: (target: Target) => Promise<void>
}

/**
 * The fields of these cells. Throws if a cell has no field, several, or one that cannot be set. Writes nothing. Whether a
 * cell can be edited in place is still open; see refuseUneditable.
 */
export async function fieldsOf(
  ctx: Context,
  table: Seen,
  grid: Grid<Handle>,
  cells: readonly (CellPlace & { readonly text: string })[],
): Promise<readonly FieldCell[]> {
  const look = async (): Promise<ContentOf> =>
    grid.kind === "cells" ? byCell(ctx, grid) : byRow(ctx, table, grid)
  const contentOf = await look()
  const found = await Promise.all(
    cells.map(async (cell) => {
      const content = await contentOf(cell)
      return { cell, content, fields: writableIn(content) }
    }),
  )
  const outside = found.filter(({ content }) => !content)
  if (outside.length > 0) throw notInTable(outside.map(({ cell }) => cell))
  const wrong = found.filter(({ fields }) => fields.length !== 1)
  if (wrong.length > 0)
    throw noField(
      wrong.map(({ cell }) => cell),
      await ctx.adapter.interfaceFor("writing"),
    )
  const written = new Set(cells.map(({ column }) => column))
  const labels = new Map(
    await Promise.all(
      [...new Set(cells.map(({ row }) => row))].map(
        async (row) => [row, await labelOf(contentOf, row, written)] as const,
      ),
    ),
  )
  return found.map(({ cell, fields }) => {
    const { row, column } = cell
    // Looks again, because the tree that was read before would only be compared with itself.
    const now = async (at = column) => (await look())({ row, column: at })
    const field = fields[0]!
    const show = async (target: Target): Promise<void> => {
      if (grid.kind !== "cells") return
      const [{ ListScroll }, { showRow }] = await Promise.all([
        import("./list-scroll.ts"),
        import("./until-row.ts"),
      ])
      await showRow(ctx, new ListScroll(ctx, targetAt(target, table), "auto"), grid, field, row)
    }
    return { ...cell, field, ...labels.get(row), now, show }
  })
}

interface Label {
  readonly label: SeenNode
  readonly labelColumn: number
}

/** The first text of a row in its first cells, apart from those to write. It identifies the row. */
async function labelOf(
  contentOf: ContentOf,
  row: number,
  written: ReadonlySet<number>,
): Promise<Label | undefined> {
  for (let column = 0; column < LABEL_COLUMNS; column++) {
    if (written.has(column)) continue
    const content = await contentOf({ row, column })
    const texts = content && fieldsIn(content).length === 0 ? [...walk(content)].map(({ node }) => node) : []
    const label = texts.find((node) => wordsOf(node))
    if (label) return { label, labelColumn: column }
  }
  return undefined
}

const LABEL_COLUMNS = 4

/** Throws if the row of the cell has changed: a page may show another row in the same fields. */
export async function refuseOtherRow(ctx: Context, cell: FieldCell): Promise<void> {
  const { label } = cell
  if (cell.field.editedBy) return refuseOtherPlace(cell)
  const now = label && (await ctx.adapter.read(label.handle))
  if (!label || (now && wordsOf(now) === wordsOf(label))) return
  throw otherRow(cell)
}

/** By place: a table that is sorted moves a row as soon as one of its cells is written, and Qt's cells move with it. */
async function refuseOtherPlace(cell: FieldCell): Promise<void> {
  const [own] = writableIn(await cell.now())
  const isSame = own !== undefined && wordsOf(own) === wordsOf(cell.field)
  if (!isSame || !(await hasLabel(cell))) throw otherRow(cell)
}

/** True if the label of the row is still in its place, or the row has none. */
async function hasLabel({ label, labelColumn, now }: FieldCell): Promise<boolean> {
  if (!label) return true
  const beside = await now(labelColumn)
  const texts = beside ? [...walk(beside)].map(({ node }) => wordsOf(node)) : []
  return texts.includes(wordsOf(label))
}

const otherRow = (cell: CellPlace): AppError =>
  new AppError("ACTION_FAILED", `The row of ${nameOfPlace(cell)} now shows another entry`, {
    suggestion: "See the rows with 'table', then go on at the right cell",
    details: { kind: "not_there" },
    disposition: NOTHING_DELIVERED,
  })

/** The error for a cell whose place shows another text after it was written: the table may have moved its rows. */
export const movedRow = (cell: CellPlace): AppError =>
  new AppError(
    "ACTION_FAILED",
    `${nameOfPlace(cell)} now shows another text than was written: the rows may have moved`,
    {
      suggestion: "See the rows with 'table', then go on at the right cell",
      details: { kind: "not_there" },
      disposition: { delivery: "delivered_unverified", retry: "unknown" },
    },
  )

type ContentOf = (place: CellPlace) => Promise<SeenNode | undefined>

const byCell =
  (ctx: Context, grid: Extract<Grid<Handle>, { kind: "cells" }>): ContentOf =>
  async (place) => {
    const isThere = place.row < grid.rowCount && place.column < grid.columnCount
    const handle = isThere ? await grid.cell(place) : undefined
    return handle && (await ctx.adapter.tree({ kind: "element", handle }, WHOLE_TREE)).root
  }

/** By row number, since a tree with only some of the rows may not number them. */
async function byRow(ctx: Context, table: Seen, grid: TreeGrid<Handle>): Promise<ContentOf> {
  const { root } = await ctx.adapter.tree({ kind: "element", handle: table.handle }, WHOLE_TREE)
  const all = rowsOfTree(root, grid)
  return async ({ row, column }) => {
    if (row >= all.count) return undefined
    const [found] = (await rowsNumbered(ctx, all, grid, { first: row, last: row })) ?? []
    return found && (await placeCells(found.cells, all.width, grid))[column]
  }
}

/** The fields of a cell; without any, its parts that may be edited in place. */
function writableIn(cell: SeenNode | undefined): readonly SeenNode[] {
  const fields = fieldsIn(cell)
  if (fields.length > 0 || !cell) return fields
  return [...walk(cell)].flatMap(({ node }) =>
    node.editedBy && node.children.length === 0 && isOpen(node) ? [node] : [],
  )
}

function fieldsIn(cell: SeenNode | undefined): readonly SeenNode[] {
  if (!cell) return []
  const fields = [...walk(cell)].filter(({ node }) => hasTrait(node.role, "typable"))
  return fields.flatMap(({ node }) => (node.actions?.includes("SetValue") && isOpen(node) ? [node] : []))
}

const isOpen = ({ states }: SeenNode): boolean =>
  !states.some((state) => state === "readonly" || state === "disabled" || state === "secure")

/**
 * Throws if one of several cells that are edited in place has no editor, which shows only if it is opened. One cell alone
 * is found out when it is written.
 */
export async function refuseUneditable(
  ctx: Context,
  target: Target,
  cells: readonly FieldCell[],
): Promise<void> {
  const inPlace = cells.filter(({ field }) => field.editedBy)
  if (inPlace.length === 0 || cells.length === 1) return
  const { proveEditable } = await import("./edit-in-place.ts")
  for (const cell of inPlace) {
    await refuseOtherRow(ctx, cell)
    await cell.show(target)
    await proveEditable(ctx, targetAt(target, cell.field), { kind: "set-value", value: cell.text }).catch(
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error
        const { code, suggestion, details, disposition } = error
        throw new AppError(code, `Nothing was written, because of ${nameOfPlace(cell)}: ${error.message}`, {
          suggestion,
          details: { ...details, cells: [nameOfPlace(cell)] },
          disposition: disposition ?? NOTHING_DELIVERED,
        })
      },
    )
  }
}

export interface FilledField {
  /** The text in the place of the cell, which is what the caller named. */
  readonly shows: string
  /** True if the row may have moved, so that other rows are in the places of the next cells. */
  readonly isMoved?: boolean
}

/** Sets the field of one cell, and waits until it shows the text. */
export async function fillField(ctx: Context, target: Target, cell: FieldCell): Promise<FilledField> {
  const { field, text } = cell
  const action = { kind: "set-value", value: text } as const
  if (field.editedBy) {
    await cell.show(target)
    return fillCellInPlace(ctx, target, cell)
  }
  const sent = await sendAction(ctx, field.handle, action)
  // Fields of pages are typed over, as by 'set-value'.
  if (sent.delivery === "not_delivered" && !sent.already)
    await replaceText(ctx, targetAt(target, field), action, text)
  let shows = field.value ?? ""
  const isThere = async (): Promise<true | undefined> => {
    shows = (await ctx.adapter.read(field.handle))?.value ?? ""
    return shows === text ? true : undefined
  }
  await until(ctx, isThere, { pids: [target.entry.pid], deadline: ctx.deadline.slice(SHOWING_MS) })
  return { shows }
}

async function fillCellInPlace(ctx: Context, target: Target, cell: FieldCell): Promise<FilledField> {
  const { field, text, label } = cell
  const { fillInPlace, isExactly, isSameText, textOf } = await import("./edit-in-place.ts")
  const after = await fillInPlace(ctx, targetAt(target, field), { kind: "set-value", value: text }, text)
  const [there] = writableIn(await cell.now())
  if (!there) return { shows: "", isMoved: true }
  const placed = textOf(there)
  if (isExactly(placed, text)) return { shows: text }
  if (isSameText(placed, text)) return { shows: placed }
  // Qt's cells move with their row.
  const hasLeft = after !== undefined && isSameText(textOf(after), text)
  const isBeside = label ? await hasLabel(cell) : isSameApartFromFormat(placed, text)
  return { shows: placed, isMoved: hasLeft || !isBeside }
}

/** True for a text in other letters, or a number in another format: an app may show a text so. */
const isSameApartFromFormat = (a: string, b: string): boolean =>
  a.toLowerCase() === b.toLowerCase() || (a.trim() !== "" && numberIn(a) === numberIn(b))

/** How long a field may take to show its text. */
const SHOWING_MS = 1500

function notInTable(cells: readonly CellPlace[]): AppError {
  const names = cells.map(nameOfPlace)
  return new AppError("ACTION_NOT_SUPPORTED", `The table has no cell ${names.slice(0, 5).join(", ")} now`, {
    suggestion: "See its rows with 'table': A1 is the first cell of the first one",
    details: { kind: "not_writable", cells: names.slice(0, 50) },
    disposition: NOTHING_DELIVERED,
  })
}

function noField(cells: readonly CellPlace[], missing: string): AppError {
  const names = cells.map(nameOfPlace)
  return new AppError("ACTION_NOT_SUPPORTED", `${names.slice(0, 5).join(", ")} cannot be written as a cell`, {
    suggestion:
      "A cell is written if it is a cell of a sheet, or has one field that can be set. If users edit it in another way: do that, e.g. double-click the cell, then type @focused TEXT, then press return",
    platformDetail: `nothing in the cell has ${missing}`,
    details: { kind: "not_writable", interface: missing, cells: names.slice(0, 50) },
    disposition: NOTHING_DELIVERED,
  })
}
