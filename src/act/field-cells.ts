import { type Handle, type Seen, type SeenNode, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellPlace, type Grid, nameOfPlace, type TreeGrid } from "../content/grid.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { placeCells, rowsNumbered, rowsOfTree } from "../look/tree-rows.ts"
import { hasTrait } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import { walk, wordsOf } from "../tree.ts"
import { until } from "../until.ts"
import { targetAt } from "./cells.ts"
import { sendAction } from "./deliver.ts"
import { replaceText } from "./keyboard.ts"

/** Cells that contain a field, e.g. in a document's table or a page's grid. Their fields are set one by one. */

export interface FieldCell extends CellPlace {
  readonly text: string
  readonly field: Seen
  /** A text of the same row, if there is one. */
  readonly label?: SeenNode
}

/** The fields of these cells. Throws if a cell has no field, several, or one that cannot be set. Writes nothing. */
export async function fieldsOf(
  ctx: Context,
  table: Seen,
  grid: Grid<Handle>,
  cells: readonly (CellPlace & { readonly text: string })[],
): Promise<readonly FieldCell[]> {
  const contentOf = grid.kind === "cells" ? byCell(ctx, grid) : await byRow(ctx, table, grid)
  const found = await Promise.all(
    cells.map(async (cell) => ({ cell, fields: fieldsIn(await contentOf(cell)) })),
  )
  const wrong = found.filter(({ fields }) => fields.length !== 1)
  if (wrong.length > 0) throw noField(wrong.map(({ cell }) => cell))
  const labels = new Map(
    await Promise.all(
      [...new Set(cells.map(({ row }) => row))].map(
        async (row) => [row, await labelOf(contentOf, row)] as const,
      ),
    ),
  )
  return found.map(({ cell, fields }) => ({ ...cell, field: fields[0]!, label: labels.get(cell.row) }))
}

/** The first text of a row, in its first cells. It identifies the row. */
async function labelOf(contentOf: ContentOf, row: number): Promise<SeenNode | undefined> {
  for (let column = 0; column < LABEL_COLUMNS; column++) {
    const content = await contentOf({ row, column })
    const texts = content && fieldsIn(content).length === 0 ? [...walk(content)].map(({ node }) => node) : []
    const label = texts.find((node) => wordsOf(node))
    if (label) return label
  }
  return undefined
}

const LABEL_COLUMNS = 4

/** Throws if the row of the cell has changed: a page may show another row in the same fields. */
export async function refuseOtherRow(ctx: Context, { label, ...cell }: FieldCell): Promise<void> {
  const now = label && (await ctx.adapter.read(label.handle))
  if (!label || (now && wordsOf(now) === wordsOf(label))) return
  throw new AppError("ACTION_FAILED", `The row of ${nameOfPlace(cell)} now shows another entry`, {
    suggestion: "See the rows with 'table', then go on at the right cell",
    details: { kind: "not_there" },
    disposition: NOTHING_DELIVERED,
  })
}

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

function fieldsIn(cell: SeenNode | undefined): readonly SeenNode[] {
  if (!cell) return []
  const fields = [...walk(cell)].filter(({ node }) => hasTrait(node.role, "typable"))
  return fields.flatMap(({ node }) => (node.actions?.includes("SetValue") && isOpen(node) ? [node] : []))
}

const isOpen = ({ states }: SeenNode): boolean =>
  !states.some((state) => state === "readonly" || state === "disabled" || state === "secure")

/** Sets the field of one cell, and waits until it shows the text. Returns the text that it then shows. */
export async function fillField(ctx: Context, target: Target, { field, text }: FieldCell): Promise<string> {
  const action = { kind: "set-value", value: text } as const
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
  return shows
}

/** How long a field may take to show its text. */
const SHOWING_MS = 1500

function noField(cells: readonly CellPlace[]): AppError {
  const names = cells.map(nameOfPlace)
  return new AppError("ACTION_NOT_SUPPORTED", `${names.slice(0, 5).join(", ")} cannot be written as a cell`, {
    suggestion:
      "A cell is written if it is a cell of a sheet, or has one field that can be set. If users edit it in place: double-click the cell, then type @focused TEXT, then press return",
    details: { kind: "not_writable", cells: names.slice(0, 50) },
    disposition: NOTHING_DELIVERED,
  })
}
