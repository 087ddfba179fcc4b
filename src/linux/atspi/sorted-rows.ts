import type { SeenNode } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { Rect } from "../../node.ts"
import { around, encloses } from "../../rect.ts"
import { isInteractive } from "../../tree.ts"
import { DBusClosed, DBusError, DBusTimeout } from "../dbus/bus.ts"
import type { Uncovered } from "../windowing/system.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { Element, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"
import { comparable, drawnLengths, otherRow, rowOf, textsAt } from "./rows.ts"
import { placesInView } from "./virtual.ts"

/**
 * Signs that a table has been sorted without its cells noticing; see rows.ts.
 *
 * A cell reports where its text would end on the screen, and the pixels show where the visible text ends. If they
 * differ, either the rows are in another order, and then each text ends where another row's should; or the app draws
 * some rows in bold, for example, which the cells do not know. A second sign decides between the two if the moved rows
 * are not all in view: a sorted table is drawn as a whole, so the row drawn last is the last one.
 */

/** The pixels of an area; undefined if they cannot be seen. */
type ReadPixels = (area: Rect, deadline: Deadline) => Promise<Uncovered | undefined>

/**
 * Warns that the rows of a table may be in another order, if a user can sort it and its cells do not look as they
 * report.
 */
export async function rowsInDoubt(
  atspi: Atspi,
  root: SeenNode,
  look: ReadPixels,
): Promise<string | undefined> {
  const soon = atspi.within(atspi.deadline.slice(LOOK_MS))
  const answers = await Promise.all(
    tablesIn(root).map((table) => mayBeSorted(soon, table, look).catch(falseIfSilent)),
  )
  return answers.includes(true) ? MAY_BE_SORTED : undefined
}

const LOOK_MS = 500

const MAY_BE_SORTED =
  "The rows of a table may be in another order on the screen: some apps, such as Thunar, do not report that they have sorted them. A 'screenshot' shows which row is where"

/** The tree was read. If its app has fallen silent or ended since, that does not matter here. */
function falseIfSilent(error: unknown): false {
  const isExpected = [AppError, DBusError, DBusTimeout, DBusClosed].some((kind) => error instanceof kind)
  if (isExpected) return false
  throw error
}

const tablesIn = (node: SeenNode): readonly SeenNode[] => [
  ...(node.role === "table" && headersOf(node).some(isInteractive) ? [node] : []),
  ...node.children.flatMap(tablesIn),
]

const headersOf = ({ children }: SeenNode): readonly SeenNode[] =>
  children.filter(({ role }) => role === "columnheader")

async function mayBeSorted(atspi: Atspi, table: SeenNode, look: ReadPixels): Promise<boolean> {
  const { ref, origin } = Element.of(table.handle)
  const inView = firstTexts(table)
  if (inView.length < 2) return false
  const [{ x, y, width, height }, all] = await Promise.all([
    atspi.extents(ref),
    Promise.all(inView.map((cell) => endOf(atspi, cell))),
  ])
  const shift = origin.shift ?? { x: 0, y: 0 }
  // A row may be scrolled below the headers.
  const top = Math.max(
    y + shift.y,
    ...headersOf(table).map(({ bounds }) => (bounds ? bounds.y + bounds.height : 0)),
  )
  const area = { x: x + shift.x, y: top, width, height: y + shift.y + height - top }
  const cells = inView.flatMap(({ bounds }) => (bounds && encloses(area, bounds) ? [bounds] : []))
  if (cells.length < 2) return false
  const texts = all.flatMap((end) => (end && encloses(area, end.cell) ? [end] : []))
  // The other columns and the space below the rows are not looked at.
  const seen = await look(around(cells), atspi.deadline)
  const ends = seen && inkEnds(seen, texts)
  const wrong = ends && texts.filter((text, i) => !isNear(ends[i]!, text.end))
  if (wrong?.length === 0) return false
  return (seen && wrong && havePlacesOfOthers(seen, wrong)) || isLastDrawnElsewhere(atspi, table)
}

/**
 * Throws if the screen shows another row in place of the element's, before it is acted on without the pointer. A row
 * that cannot be seen is not refused. Neither is one whose texts are only a little wider or narrower than reported,
 * unless those of another row in view would match: the app may draw it in bold.
 */
export async function refuseOtherRow(atspi: Atspi, element: Element, look: ReadPixels): Promise<void> {
  const row = await rowOf(atspi, element)
  if (!row) return
  const { place, texts } = row
  // GTK 3 reports a position beside the texts for the cells of a tree.
  if ((await atspi.role(place.table)) !== ROLE.TABLE) return
  const { origin } = element
  const shift = origin.shift ?? { x: 0, y: 0 }
  const moved = ({ x, y, ...size }: Rect): Rect => ({ x: x + shift.x, y: y + shift.y, ...size })
  const endsOf = (parts: typeof texts) =>
    Promise.all(
      parts.map(async ({ ref }) => {
        const [cell, text] = await Promise.all([atspi.extents(ref), atspi.text(ref, 0, -1)])
        return placed(atspi, { ref, origin }, text, moved(cell))
      }),
    )
  const area = await belowHeader(atspi, place.table, moved)
  const [seen, own] = await Promise.all([look(area, atspi.deadline), endsOf(texts)])
  if (!seen) return
  const inks = own.flatMap((text, at) => {
    const ink = text && inkEnd(seen, text)
    return ink === undefined || isNear(ink, text!.end) ? [] : [{ at, ink, text: text! }]
  })
  if (inks.length === 0) return
  const isOtherText = inks.some(({ ink, text: { start, end } }) => {
    const ratio = (ink - start) / (end - start)
    return ratio < LEAST_RATIO || ratio > MOST_RATIO
  })
  if (isOtherText) throw otherRow()
  const view = await placesInView(atspi, place.table, origin.traits)
  const { first, last } = view?.rows ?? { first: 0, last: -1 }
  for (let at = first; at <= Math.min(last, first + MOST_ROWS); at++) {
    const other = at === place.row ? undefined : await endsOf(await textsAt(atspi, place, at))
    if (other && inks.every((one) => isNear(one.ink, other[one.at]?.end ?? -1))) throw otherRow()
  }
}

/** The area of a table's rows. A row may be scrolled below the headers, which are the first children. */
async function belowHeader(atspi: Atspi, table: Ref, moved: (rect: Rect) => Rect): Promise<Rect> {
  const [whole, header] = await Promise.all([
    atspi.extents(table),
    atspi.childAt(table, 0).then((first) => first && unlessRefused(atspi.extents(first))),
  ])
  const { x, y, width, height } = moved(whole)
  const top = header && header.height > 0 ? Math.max(y, moved(header).y + header.height) : y
  return { x, y: top, width, height: y + height - top }
}

/** A bold text is about a tenth wider. */
const LEAST_RATIO = 0.85
const MOST_RATIO = 1.2

/** The first text of each row. */
function firstTexts(table: SeenNode): readonly SeenNode[] {
  const rows = new Map<number, SeenNode>()
  const visit = (node: SeenNode): void => {
    const { role, name, bounds, children } = node
    const known = bounds && rows.get(bounds.y)
    const isText = role === "cell" && Boolean(name) && children.length === 0
    if (isText && bounds && (known?.bounds?.x ?? Infinity) > bounds.x) rows.set(bounds.y, node)
    for (const child of children) visit(child)
  }
  visit(table)
  return [...rows.values()].slice(0, MOST_ROWS)
}

const MOST_ROWS = 60

interface Placed {
  readonly cell: Rect
  /** The left and the right edge of the text that the cell reports. */
  readonly start: number
  readonly end: number
}

const endOf = async (atspi: Atspi, { handle, name, bounds }: SeenNode): Promise<Placed | undefined> =>
  bounds && placed(atspi, Element.of(handle), name ?? "", bounds)

/** undefined for a text that is cut off, or that is not a single line from left to right. */
async function placed(
  atspi: Atspi,
  { ref, origin }: Pick<Element, "ref" | "origin">,
  text: string,
  cell: Rect,
): Promise<Placed | undefined> {
  const length = [...text.trimEnd()].length
  if (length === 0 || length > MOST_CHARACTERS || NOT_A_PLAIN_LINE.test(text)) return undefined
  const [first, last] = await Promise.all(
    [0, length - 1].map((offset) => unlessRefused(atspi.characterExtents(ref, offset))),
  )
  if (!first || !last || first.y !== last.y) return undefined
  const { x } = origin.shift ?? { x: 0 }
  const [start, end] = [first.x + x, last.x + last.width + x]
  return start >= cell.x && end <= cell.x + cell.width ? { cell, start, end } : undefined
}

const MOST_CHARACTERS = 200
const NOT_A_PLAIN_LINE = /[\n\p{Script=Hebrew}\p{Script=Arabic}]/u

/** In pixels. The last letter need not fill its width. */
const TOLERANCE = 4

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE

/** True if each of several texts ends where another one of them should end. */
function havePlacesOfOthers(seen: Uncovered, texts: readonly Placed[]): boolean {
  const isOther = (text: Placed): boolean =>
    texts.some((one) => one !== text && isNear(inkEnd(seen, text), one.end))
  return texts.length > 1 && texts.every(isOther)
}

/** True if the row that was drawn last is not the last one in view. */
async function isLastDrawnElsewhere(atspi: Atspi, { handle }: SeenNode): Promise<boolean> {
  const { ref, origin } = Element.of(handle)
  const [{ columns }, view] = await Promise.all([
    atspi.tableSize(ref),
    placesInView(atspi, ref, origin.traits),
  ])
  if (!view || columns > MOST_COLUMNS) return false
  const texts = await textsAt(atspi, { table: ref, columns }, view.rows.last)
  const drawn = await drawnLengths(atspi, texts)
  return comparable([drawn]).some((at) => texts[at]?.length !== drawn[at])
}

const MOST_COLUMNS = 100

/**
 * The right edges of the ink in several cells. Texts that a window shows from one snapshot to the next are compared as
 * a whole, not searched pixel by pixel again.
 */
function inkEnds(seen: Uncovered, texts: readonly Placed[]): readonly number[] {
  const { area, pixels } = seen
  const key = JSON.stringify([area, pixels.width, texts])
  if (last?.key !== key || Buffer.compare(last.bgrx, pixels.bgrx) !== 0) {
    const ends = texts.map((text) => inkEnd(seen, text))
    last = { key, bgrx: pixels.bgrx, ends }
  }
  return last.ends
}

let last: { readonly key: string; readonly bgrx: Uint8Array; readonly ends: readonly number[] } | undefined

/** The right edge of the ink in a cell. For an empty one: where its text should end. */
function inkEnd({ area, pixels }: Uncovered, { cell, end }: Placed): number {
  const [left, top] = [cell.x - area.x, cell.y - area.y]
  const [right, bottom] = [left + cell.width, top + cell.height]
  if (left < 0 || top < 0 || right > area.width || bottom > area.height) return end
  const colours = new Uint32Array(pixels.bgrx.buffer, pixels.bgrx.byteOffset, pixels.width * pixels.height)
  const background = commonest(colours, pixels.width, { left, top, right, bottom })
  for (let x = right - 1 - FRAME; x >= left; x--)
    for (let y = top + FRAME; y < bottom - FRAME; y++)
      if (isInk(colours[y * pixels.width + x]!, background)) return x + 1 + area.x
  return end
}

/** The row that has the focus may have a line around it. */
const FRAME = 3

/** The background has by far the most pixels, in runs: these are counted, not the pixels one by one. */
function commonest(
  colours: Uint32Array,
  width: number,
  { left, top, right, bottom }: { left: number; top: number; right: number; bottom: number },
): number {
  const counts = new Map<number, number>()
  for (let y = top; y < bottom; y++) {
    const end = y * width + right
    for (let at = y * width + left; at < end; ) {
      const start = at
      const colour = colours[at]! & RGB
      while (at < end && (colours[at]! & RGB) === colour) at++
      counts.set(colour, (counts.get(colour) ?? 0) + at - start)
    }
  }
  let [best, most] = [0, 0]
  for (const [colour, count] of counts) if (count > most) [best, most] = [colour, count]
  return best
}

const RGB = 0xffffff

const isInk = (colour: number, background: number): boolean =>
  differs(colour, background, 0) || differs(colour, background, 8) || differs(colour, background, 16)

const differs = (colour: number, other: number, shift: number): boolean =>
  Math.abs(((colour >> shift) & 255) - ((other >> shift) & 255)) > CONTRAST

const CONTRAST = 64
