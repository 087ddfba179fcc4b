import type { SeenNode } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellPlace, placeNamed } from "../content/grid.ts"
import { hasTrait } from "../node.ts"
import type { Position } from "../tree.ts"
import type { Description } from "./description.ts"
import { isSheetCell } from "./printed-rows.ts"
import type { Find, Seeing } from "./reachable.ts"

/** Cells of sheets, which a description names by their address, in view or not. */

/** True if the cells of sheets need not be read: the description is of something else, or has the address of a cell. */
export const isOutsideSheets = (description: Description): boolean =>
  description.role !== undefined &&
  description.within.length === 0 &&
  (description.role !== "cell" || addressOf(description) !== undefined)

/** The address that a description names, such as D5, if the window has a sheet. */
export const addressIn = ({ places }: Seeing, description: Description): string | undefined =>
  places.some(({ node }) => isSheet(node)) ? addressOf(description) : undefined

function addressOf({ role, name = "" }: Description): string | undefined {
  const address = name.toUpperCase()
  return role === "cell" && isSheetCell({ role, name: address }) ? address : undefined
}

/** True for a table of cells with addresses. */
const isSheet = (node: SeenNode): boolean =>
  node.role === "table" && (node.children.some(isSheetCell) || isUnread(node))

/** True for a sheet whose cells were left out, which is the only kind of table with so many. */
const isUnread = ({ role, children, children_count = 0 }: SeenNode): boolean =>
  role === "table" && children.length === 0 && children_count > MOST_ROWS

const MOST_ROWS = 100_000_000

/** The look with a cell of its sheet that is out of view. undefined: none, or it does not fit the description. */
export async function seeCell(
  ctx: Context,
  seen: Seeing,
  address: string,
  find: Find,
): Promise<Seeing | undefined> {
  const place = placeNamed(address)
  const sheet = seen.places.find(({ node }) => isSheet(node))
  const found = place && sheet && (await cellIn(ctx, sheet, place))
  if (!found) return undefined
  const places = [...seen.places, found]
  return (await find(places)).includes(found) ? { ...seen, places, found: [found] } : undefined
}

async function cellIn(ctx: Context, sheet: Position, place: CellPlace): Promise<Position | undefined> {
  const grid = await ctx.adapter.grid(sheet.node.handle)
  if (grid.kind !== "cells" || !grid.isSheet) return undefined
  if (place.row >= grid.rowCount || place.column >= grid.columnCount) return undefined
  const handle = await grid.cell(place)
  const cell = handle && (await ctx.adapter.read(handle))
  if (!cell) return undefined
  const index = grid.indexOf(place.row, place.column)
  return {
    node: { ...cell, index, children: [] },
    path: [...sheet.path, index],
    ancestors: [...sheet.ancestors, sheet.node],
  }
}

/**
 * A look without the cells of sheets, with the cell that has the focus: a field beside the sheet shows its address, as
 * LibreOffice's Name Box does, and the cell itself must claim the focus. undefined: all cells must be asked.
 */
export async function seeFocusedCell(ctx: Context, seen: Seeing, find: Find): Promise<Seeing | undefined> {
  const sheets = seen.places.filter(({ node }) => isUnread(node))
  const isBeside = ({ node }: Position): boolean =>
    sheets.every((sheet) => sheet.node !== node && !sheet.ancestors.includes(node))
  if (sheets.length === 0 || seen.found.some(isBeside)) return seen
  const named = seen.places.flatMap(({ node: { role, value } }) =>
    hasTrait(role, "typable") && value ? cornersIn(value) : [],
  )
  for (const place of named.slice(0, MOST_NAMED)) {
    const cells = await Promise.all(sheets.map((sheet) => cellIn(ctx, sheet, place)))
    const focused = cells.filter((cell) => cell?.node.states.includes("focused"))
    const [cell, ...others] = focused
    if (!cell || others.length > 0) continue
    const places = [...seen.places, cell]
    return { ...seen, places, found: await find(places) }
  }
  return undefined
}

/** The cell of an address, or the corners of a range, one of which has the focus. */
function cornersIn(text: string): readonly CellPlace[] {
  const [from = "", to = from, ...more] = text.trim().split(":")
  const [start, end] = [placeNamed(from), placeNamed(to)]
  if (!start || !end || more.length > 0) return []
  const corners = [start, end, { ...start, column: end.column }, { ...end, column: start.column }]
  return from === to ? [start] : corners
}

/** Fields that show an address by chance must not make the look longer than one at all cells. */
const MOST_NAMED = 8
