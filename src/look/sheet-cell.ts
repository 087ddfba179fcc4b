import type { SeenNode } from "../adapter.ts"
import type { Context } from "../command.ts"
import { placeNamed } from "../content/grid.ts"
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

/** True for a table of cells with addresses. One whose cells were left out is the only kind with so many. */
const isSheet = ({ role, children, children_count = 0 }: SeenNode): boolean =>
  role === "table" && (children.some(isSheetCell) || (children.length === 0 && children_count > MOST_ROWS))

const MOST_ROWS = 100_000_000

/** The look with a cell of its sheet that is out of view. undefined: no sheet has it, or it is not in what was named. */
export async function seeCell(
  ctx: Context,
  seen: Seeing,
  address: string,
  find: Find,
): Promise<Seeing | undefined> {
  const place = placeNamed(address)
  const sheet = seen.places.find(({ node }) => isSheet(node))
  const grid = sheet && (await ctx.adapter.grid(sheet.node.handle))
  if (!place || !sheet || grid?.kind !== "cells" || !grid.isSheet) return undefined
  if (place.row >= grid.rowCount || place.column >= grid.columnCount) return undefined
  const handle = await grid.cell(place)
  const cell = handle && (await ctx.adapter.read(handle))
  if (!cell) return undefined
  const index = grid.indexOf(place.row, place.column)
  const found: Position = {
    node: { ...cell, index, children: [] },
    path: [...sheet.path, index],
    ancestors: [...sheet.ancestors, sheet.node],
  }
  const places = [...seen.places, found]
  return (await find(places)).includes(found) ? { ...seen, places, found: [found] } : undefined
}
