import type { Direction } from "../action.ts"
import type { SeenNode } from "../adapter.ts"
import { isRow, type Rect } from "../node.ts"
import { isInteractive, walk, wordsOf } from "../tree.ts"
import { actorOf, rowsIn, textOf } from "./rows.ts"

/** The rows that a list shows at one moment, to see how far it has scrolled. */

/** A row as it was seen. */
export interface SeenRow {
  readonly node: SeenNode
  readonly actor: SeenNode
  readonly texts: readonly string[]
  /** Texts that are only a part of a cell, such as the subject in a card of a mail. */
  readonly parts: readonly string[]
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
    const all = own && !texts.includes(own) ? [own, ...texts] : texts
    const isShown = [node, ...cells].every(({ states }) => !states.some((state) => AWAY.has(state)))
    return {
      node,
      actor: actorOf(row),
      texts: all,
      parts: partsOf(cells).filter((part) => !all.includes(part)),
      key: texts.join("\t"),
      isShown,
      bounds: node.bounds ?? cells[0]?.bounds,
    }
  })
}

const partsOf = (cells: readonly SeenNode[]): readonly string[] =>
  cells.flatMap((cell) =>
    cell.children
      .filter((child) => !isRow(child))
      .flatMap((child) =>
        [...walk(child)].flatMap(({ node }) => (isInteractive(node) ? [] : (wordsOf(node) ?? []))),
      ),
  )

/** The texts by which a row is found. */
export const allTexts = ({ texts, parts }: SeenRow): readonly string[] => [...texts, ...parts]

const AWAY: ReadonlySet<string> = new Set(["offscreen", "hidden"])

/** For an element without rows: its texts. */
const textsIn = (
  root: SeenNode,
): readonly { readonly node: SeenNode; readonly cells: readonly SeenNode[] }[] =>
  [...walk(root)].flatMap(({ node }) => (wordsOf(node) && node !== root ? [{ node, cells: [node] }] : []))

export interface Joint {
  /** Rows that the second look has beyond the first. */
  readonly added: number
  readonly isAmbiguous: boolean
  /** The place of one row in both looks. */
  readonly before: number
  readonly after: number
}

/** The number of rows by which the view has moved between two looks, by a row that is in both. */
export function rowsMoved(before: View, after: View, joined: Joint): number | undefined {
  const [first, now] = [before, after].map(({ rows }) => rows.findIndex(({ isShown }) => isShown))
  if (first === undefined || now === undefined || first < 0 || now < 0) return undefined
  return Math.abs(joined.before - first - (joined.after - now))
}

/**
 * The place where two looks overlap: the two rows at the end of the first stand beside each other in the second.
 * undefined: there is none. One row is not enough: a list keeps the objects of a few rows far away, such as the one
 * with the focus, before or behind all others.
 */
export function joint(
  before: readonly SeenRow[],
  after: readonly SeenRow[],
  direction: Direction,
): Joint | undefined {
  const isDown = direction === "down"
  const [was, is] = [before, after].map((rows) => (isDown ? rows : rows.toReversed())) as [
    readonly SeenRow[],
    readonly SeenRow[],
  ]
  const ends = Array.from({ length: Math.max(0, Math.min(MOST_KEPT + 1, was.length - 1)) }, (_, kept) => {
    const end = was.slice(was.length - 2 - kept, was.length - kept)
    const places = (rows: readonly SeenRow[]): readonly number[] =>
      rows.flatMap((_, at) => (end.every(({ key }, i) => rows[at + i]?.key === key) ? [at] : []))
    const [now, then] = [places(is), places(was)]
    const [at] = now
    if (at === undefined) return undefined
    const isAmbiguous = now.length > 1 || then.length > 1
    const place = (rows: readonly SeenRow[], row: number): number => (isDown ? row : rows.length - 1 - row)
    return {
      added: Math.max(0, is.length - at - 2 - kept),
      isAmbiguous,
      before: place(was, was.length - 2 - kept),
      after: place(is, at),
    }
  })
  // Rows that are the last ones in both may be kept ones. If all are, the list is at its end.
  return ends.find((end) => end && end.added > 0) ?? (ends.every(Boolean) ? ends[0] : undefined)
}

/** Rows out of view that a list keeps: the one with the focus and its neighbours. */
export const MOST_KEPT = 5

/** Rows that are sorted by one of their texts. Every row shows whether a text must be above or below it. */
export interface Order {
  /** −1: a row with this text comes before all of these rows; 1: behind them; 0: among them. */
  place(rows: readonly SeenRow[], words: string): -1 | 0 | 1
}

/** The order of these rows by the column that looks most like `words`; undefined if that is not sorted. */
export function orderOf(rows: readonly SeenRow[], words: string): Order | undefined {
  const [first] = rows
  if (!first || rows.length < FEWEST) return undefined
  const likeness = first.texts.map((text) => commonStart(text, words))
  const column = likeness.indexOf(Math.max(...likeness))
  const texts = columnOf(rows, column)
  const sign = Math.sign(compare(texts.at(-1) ?? "", texts[0] ?? ""))
  const isSorted = texts.every((text, at) => at === 0 || sign * compare(text, texts[at - 1] ?? "") >= 0)
  if (sign === 0 || !isSorted) return undefined
  return {
    place: (others, wanted) => {
      const shown = columnOf(others, column)
      if (sign * compare(wanted, shown[0] ?? "") < 0) return -1
      return sign * compare(wanted, shown.at(-1) ?? "") > 0 ? 1 : 0
    },
  }
}

/** Fewer rows may be in order by chance. */
const FEWEST = 20

const columnOf = (rows: readonly SeenRow[], column: number): readonly string[] =>
  rows.map(({ texts }) => texts[column] ?? "")

/** As file managers sort: numbers by their size, letters in any case. */
const { compare } = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at]?.toLowerCase() === b[at]?.toLowerCase()) at++
  return at
}
