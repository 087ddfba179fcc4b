import type { SeenRow } from "./row-views.ts"

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
  const texts = textsIn(rows, column)
  const sign = Math.sign(compare(texts.at(-1) ?? "", texts[0] ?? ""))
  const isSorted = texts.every((text, at) => at === 0 || sign * compare(text, texts[at - 1] ?? "") >= 0)
  if (sign === 0 || !isSorted) return undefined
  return {
    place: (others, wanted) => {
      const shown = textsIn(others, column)
      if (sign * compare(wanted, shown[0] ?? "") < 0) return -1
      return sign * compare(wanted, shown.at(-1) ?? "") > 0 ? 1 : 0
    },
  }
}

/** Fewer rows may be in order by chance. */
const FEWEST = 20

const textsIn = (rows: readonly SeenRow[], column: number): readonly string[] =>
  rows.map(({ texts }) => texts[column] ?? "")

/** As file managers sort: numbers by their size, letters in any case. */
const { compare } = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at]?.toLowerCase() === b[at]?.toLowerCase()) at++
  return at
}
