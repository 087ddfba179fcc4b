import type { SeenNode } from "../adapter.ts"
import type { Context } from "../command.ts"
import { isList } from "../node.ts"
import type { Position } from "../tree.ts"
import { withinRow } from "./matching.ts"

/** The places among these that are in a row with a text: whole, or as a part in any case. */
export async function inRowWith(
  ctx: Context,
  { found, places }: { readonly found: readonly Position[]; readonly places: readonly Position[] },
  text: string,
  isExact: boolean,
): Promise<readonly Position[]> {
  const rows = await inTheirRows(ctx, places)
  const wanted = new Set(found.map(({ node }) => node))
  const chosen = withinRow(
    rows.filter(({ node }) => wanted.has(node)),
    text,
    isExact,
    rows,
  )
  const kept = new Set(chosen.map(({ node }) => node))
  return found.filter(({ node }) => kept.has(node))
}

/**
 * The same places, with a row around the cells of each row. Some platforms list all cells of a table in one sequence.
 * Only the ancestors differ; nodes and paths stay the same.
 */
export async function inTheirRows(ctx: Context, places: readonly Position[]): Promise<readonly Position[]> {
  const tables = places.filter(({ node }) => isList(node) && node.children.filter(isCell).length > 1)
  if (tables.length === 0) return places
  const rows = new Map<SeenNode, SeenNode>()
  for (const { node } of tables) for (const [cell, row] of await rowsOf(ctx, node)) rows.set(cell, row)
  return places.map((place) => {
    const { node, ancestors } = place
    const at = ancestors.findIndex((_, depth) => rows.has(ancestors[depth + 1] ?? node))
    const row = at < 0 ? undefined : rows.get(ancestors[at + 1] ?? node)
    return row
      ? { ...place, ancestors: [...ancestors.slice(0, at + 1), row, ...ancestors.slice(at + 1)] }
      : place
  })
}

const isCell = ({ role }: SeenNode): boolean => role === "cell"

async function rowsOf(ctx: Context, table: SeenNode): Promise<readonly (readonly [SeenNode, SeenNode])[]> {
  const grid = await ctx.adapter.grid(table.handle)
  if (grid.kind !== "cells") return []
  const cells = table.children.filter((child) => isCell(child) && child.index !== undefined)
  const groups = Map.groupBy(cells, ({ index = 0 }) => grid.placeOf(index).row)
  return [...groups.values()].flatMap((children) => {
    const row: SeenNode = { handle: table.handle, role: "row", states: [], children }
    return children.map((cell) => [cell, row] as const)
  })
}
