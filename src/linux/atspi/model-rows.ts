import type { Rect } from "../../node.ts"
import { isEmpty } from "../../rect.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { readRange } from "./editing.ts"
import { ROLE } from "./roles.ts"
import { panesAround } from "./scrolling.ts"

/** A container and the rectangles of its rows. One out of view has no room, or no rectangle. */
interface RowsMade {
  readonly list: Ref
  readonly role: number
  readonly rows: readonly (Rect | undefined)[]
}

/**
 * The number of rows of a list view that creates objects for only some of them: the length of its scroll bar divided by
 * the distance of the rows in view. If these are not evenly spaced, it is an estimate, and always more than there are
 * objects. undefined: all rows have objects.
 */
export async function rowsInModel(atspi: Atspi, { list, role, rows }: RowsMade): Promise<number | undefined> {
  const shown = rows.flatMap((row) => (row === undefined || isEmpty(row) ? [] : row))
  // A list of widgets has a place for each of them, also out of view.
  if (shown.length === rows.length) return undefined
  const [pane] = await panesAround(atspi, list)
  const range = pane?.vertical && (await readRange(atspi, pane.vertical))
  const lines = range && linesIn(shown, range.most - range.least)
  const inLine = role === ROLE.TABLE ? mostInLine(shown) : 1
  if (lines !== undefined && Number.isInteger(lines) && lines * inLine - rows.length < inLine)
    return undefined
  return Math.max(rows.length + 1, Math.round((lines ?? 0) * inLine))
}

/** The number of lines in a view of this length; a fraction if they are not evenly spaced. undefined: unknown. */
function linesIn(shown: readonly Rect[], length: number): number | undefined {
  const tops = [...new Set(shown.map(({ y }) => y))].sort((a, b) => a - b)
  const [top, bottom] = [tops[0], tops.at(-1)]
  if (top === undefined || bottom === undefined || tops.length < 2) return undefined
  const distance = (bottom - top) / (tops.length - 1)
  const isEven = tops.every((y, i) => y === top + i * distance)
  const lines = length / distance
  return isEven ? lines : Math.floor(lines) + 0.5
}

function mostInLine(shown: readonly Rect[]): number {
  const counts = new Map<number, number>()
  for (const { y } of shown) counts.set(y, (counts.get(y) ?? 0) + 1)
  return Math.max(1, ...counts.values())
}
