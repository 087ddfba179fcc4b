import type { Handle } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellGrid, lengthOf, type Span, within } from "../content/grid.ts"
import { isSameName } from "./description.ts"

/** Finds rows by their texts. */

/** How well a text matches. Among the rows seen at once, "whole" wins over "part". */
export type Fit = "whole" | "part"
export type Fits = (text: string) => Fit | undefined

/** Matches a text that contains these words in any case; with `exact`, only the text itself. */
export function withWords(words: string, exact: boolean): Fits {
  const lower = words.toLowerCase()
  return (text) => {
    if (text === words) return "whole"
    if (exact) return undefined
    const all = text.toLowerCase()
    return all.trim() === lower ? "whole" : all.includes(lower) ? "part" : undefined
  }
}

/** Matches a text that is this name, as in a target. */
export const named =
  (name: string): Fits =>
  (text) =>
    isSameName("cell", text, name) ? "whole" : undefined

/** The best match; the first of several. */
export function bestOf<T>(
  some: readonly T[],
  textsOf: (one: T) => readonly string[],
  fits: Fits,
): T | undefined {
  const marks = some.map((one) => textsOf(one).map(fits))
  const at = (fit: Fit): T | undefined => some[marks.findIndex((mark) => mark.includes(fit))]
  return at("whole") ?? at("part")
}

export interface RowSeen {
  readonly row: number
  readonly column: number
  readonly texts: readonly string[]
}

export interface GridSearch {
  readonly found: readonly RowSeen[]
  /** The rows that were looked at. */
  readonly searched: Span
  /** Milliseconds that all rows would take. */
  readonly wholeMs: number
}

/**
 * Searches rows by their texts, block by block, in either direction. Stops after the first block with `enough` rows, or
 * when the time is up.
 */
export async function searchGrid(
  ctx: Context,
  grid: CellGrid<Handle>,
  { from, to }: { readonly from: number; readonly to: number },
  fits: Fits,
  enough: number,
): Promise<GridSearch> {
  const columns = await columnsOf(grid)
  const step = Math.max(1, Math.floor(BLOCK_CELLS / columns.length))
  const isDown = to >= from
  const total = Math.abs(to - from) + 1
  const found: RowSeen[] = []
  const start = performance.now()
  const deadline = ctx.deadline.sparing(LEFT_MS, 1 / 5)
  let done = 0
  for (let took = 0; done < total && (done === 0 || deadline.remaining > took * SPARE); ) {
    const begun = performance.now()
    const count = Math.min(step, total - done)
    const first = isDown ? from + done : from - done - count + 1
    const texts = await grid.texts({ first, last: first + count - 1 }, columns, false)
    const rows = texts.map((row, at) => ({ row: first + at, texts: row }))
    for (const one of isDown ? rows : rows.toReversed()) {
      const marks = one.texts.map(fits)
      const at = marks.includes("whole") ? marks.indexOf("whole") : marks.indexOf("part")
      if (at >= 0) found.push({ ...one, column: columns[at] ?? 0 })
    }
    done += count
    took = performance.now() - begun
    if (found.length >= enough) break
  }
  const searched = isDown ? { first: from, last: from + done - 1 } : { first: from - done + 1, last: from }
  const best = bestFirst(found, fits)
  return { found: best, searched, wholeMs: (performance.now() - start) * (total / Math.max(1, done)) }
}

const bestFirst = (found: readonly RowSeen[], fits: Fits): readonly RowSeen[] => {
  const isWhole = ({ texts }: RowSeen): boolean => texts.some((text) => fits(text) === "whole")
  return [...found.filter(isWhole), ...found.filter((one) => !isWhole(one))]
}

/** Cells that are asked for at once. */
const BLOCK_CELLS = 2000
/** A block may take this many times as long as the one before. */
const SPARE = 1.5
/** Time reserved to scroll to the row. */
const LEFT_MS = 1000

/** All columns; in a sheet, which has thousands, those in view. */
async function columnsOf(grid: CellGrid<Handle>): Promise<readonly number[]> {
  const view = grid.isSheet || grid.columnCount > MOST_COLUMNS ? await grid.inView() : undefined
  const all = { first: 0, last: Math.min(grid.columnCount, MOST_COLUMNS) - 1 }
  const span = view && lengthOf(view.columns) > 0 ? view.columns : all
  return within(span, grid.columnCount)
}

const MOST_COLUMNS = 50
