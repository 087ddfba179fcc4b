import type { Direction } from "../action.ts"
import type { SeenNode } from "../adapter.ts"
import type { Rect } from "../node.ts"
import { walk, wordsOf } from "../tree.ts"
import { actorOf, rowsIn, textOf } from "./rows.ts"

/** The rows that a list shows at one moment, to see how far it has scrolled. */

/** A row as it was seen. */
export interface SeenRow {
  readonly node: SeenNode
  readonly actor: SeenNode
  readonly texts: readonly string[]
  readonly key: string
  readonly isShown: boolean
  readonly bounds: Rect | undefined
}

export interface View {
  readonly rows: readonly SeenRow[]
  /** Differs if the view has moved. */
  readonly print: string
}

export const hasUnmade = (root: SeenNode): boolean =>
  [...walk(root)].some(({ node }) => (node.children_count ?? 0) > node.children.length)

export function viewOf(rows: readonly SeenRow[]): View {
  const print = rows.map(({ key, isShown, bounds }) => `${key} ${isShown} ${bounds?.y}`).join("\n")
  return { rows, print }
}

/** The rows that are reported as visible, in runs from top to bottom. */
export function runsOf(rows: readonly SeenRow[]): readonly (readonly SeenRow[])[] {
  const runs: SeenRow[][] = []
  for (const row of rows) {
    if (!row.isShown || !row.bounds) continue
    const last = runs.at(-1)?.at(-1)?.bounds
    if (last && row.bounds.y > last.y) runs.at(-1)?.push(row)
    else runs.push([row])
  }
  return runs
}

export function rowsOf(root: SeenNode): readonly SeenRow[] {
  const { rows } = rowsIn(root)
  const found = rows.length > 0 ? rows : textsIn(root)
  return found.map((row): SeenRow => {
    const { node, cells } = row
    const own = wordsOf(node)
    const texts = cells.map(textOf)
    const isShown = [node, ...cells].every(({ states }) => !states.some((state) => AWAY.has(state)))
    return {
      node,
      actor: actorOf(row),
      texts: own && !texts.includes(own) ? [own, ...texts] : texts,
      key: texts.join("\t"),
      isShown,
      bounds: node.bounds ?? cells[0]?.bounds,
    }
  })
}

const AWAY: ReadonlySet<string> = new Set(["offscreen", "hidden"])

/** For an element without rows: its texts. */
const textsIn = (
  root: SeenNode,
): readonly { readonly node: SeenNode; readonly cells: readonly SeenNode[] }[] =>
  [...walk(root)].flatMap(({ node }) => (wordsOf(node) && node !== root ? [{ node, cells: [node] }] : []))

/**
 * True if two looks overlap: the last two rows of the first are neighbors in the second. One row is not enough: a list
 * may keep the object of a selected row that is far away.
 */
export function joint(
  before: readonly SeenRow[],
  after: readonly SeenRow[],
  direction: Direction,
): { readonly added: number; readonly isAmbiguous: boolean } | undefined {
  const isDown = direction === "down"
  const end = isDown ? before.slice(-2) : before.slice(0, 2)
  const places = (rows: readonly SeenRow[]): readonly number[] =>
    rows.flatMap((_, at) => (end.every(({ key }, i) => rows[at + i]?.key === key) ? [at] : []))
  const [now, then] = [places(after), places(before)]
  const [at] = now
  if (at === undefined) return undefined
  const added = isDown ? after.length - at - end.length : at
  return { added: Math.max(0, added), isAmbiguous: now.length > 1 || then.length > 1 }
}
