import { type CellGrid, columnNamed, placeNamed, type Span, within } from "../content/grid.ts"
import { AppError } from "../errors.ts"
import { quoted } from "../shown-text.ts"

/** The rows and columns that a table command's arguments name. They count from 1 there, and from 0 here. */

export interface TableSpans {
  readonly range?: string
  readonly rows?: string
}

/** The rows and columns that `--range` or `--rows` name. */
export function spansOf({ range, rows }: TableSpans): { rows?: Span; columns?: Span } {
  if (range !== undefined) return rangeNamed(range)
  return rows === undefined ? {} : { rows: spanNamed(rows, "--rows") }
}

/** `A1:F40`, or one cell. */
function rangeNamed(range: string): { rows: Span; columns: Span } {
  const [from = "", to = from, ...more] = range.trim().split(":")
  const [start, end] = [placeNamed(from), placeNamed(to)]
  if (!start || !end || more.length > 0)
    throw wrong("--range", `'${range}' is not a range such as A1:F40`, "range")
  const span = (a: number, b: number): Span => ({ first: Math.min(a, b), last: Math.max(a, b) })
  return { rows: span(start.row, end.row), columns: span(start.column, end.column) }
}

/** `1-50`, or one number; from 1. */
function spanNamed(text: string, flag: string): Span {
  const [, from, to = from] = /^\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?$/.exec(text) ?? []
  const [first, last] = [Number(from) - 1, Number(to) - 1]
  if (from === undefined || first < 0 || last < first)
    throw wrong(flag, `'${text}' is not a range of numbers such as 1-50`, flag.slice(2))
  return { first, last }
}

export async function columnsNamed(text: string, grid: CellGrid<unknown>): Promise<readonly number[]> {
  const isByNumber = partsOf(text).every((part) => /^\d{1,2}(?:\s*-\s*\d{1,2})?$/.test(part))
  const some = within({ first: 0, last: TITLED_COLUMNS - 1 }, grid.columnCount)
  const titles = isByNumber
    ? undefined
    : grid.isSheet
      ? (await grid.texts({ first: 0, last: 0 }, some, false))[0]
      : await grid.titles(some)
  return columnsIn(text, grid.columnCount, titles, grid.isSheet)
}

/** The columns that are searched for a title. */
const TITLED_COLUMNS = 256

const partsOf = (text: string): readonly string[] => text.split(",").map((part) => part.trim())

export function columnsIn(
  text: string,
  count: number,
  titles: readonly string[] | undefined,
  isSheet: boolean,
): readonly number[] {
  return partsOf(text).flatMap((part) => {
    const span = NUMBERS.test(part) ? spanNamed(part, "--columns") : isSheet ? spanOfLetters(part) : undefined
    const isTitle = (title: string): boolean => title.trim().toLowerCase() === part.toLowerCase()
    const titled = part === "" ? -1 : (titles?.findIndex(isTitle) ?? -1)
    // "Qty" and "2024" are titles, unless the column QTY, or the one with this number, has a title of its own.
    if (titled >= 0 && !(span && titles?.[span.first])) return [titled]
    if (!span || span.first >= count) {
      const known = titles?.filter(Boolean).slice(0, 20).map(quoted).join(", ")
      throw wrong("--columns", `there is no column '${part}'`, "columns", known && `The columns are ${known}`)
    }
    return within(span, count)
  })
}

const NUMBERS = /^\d{1,9}(?:\s*-\s*\d{1,9})?$/

/** `C`, or `C-F`. */
function spanOfLetters(text: string): Span | undefined {
  const [from = "", to = from] = text.split(/[-:]/)
  const [first, last] = [columnNamed(from), columnNamed(to)]
  return first === undefined || last === undefined || last < first ? undefined : { first, last }
}

function wrong(flag: string, what: string, argument: string, suggestion?: string): AppError {
  return new AppError("INVALID_ARGS", `${flag}: ${what}`, { suggestion, details: { argument } })
}
