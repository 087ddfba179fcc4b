import type { Doubt } from "../../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { pause } from "../../until.ts"
import { type Atspi, INTERFACE, type Ref } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { type Element, unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"

/**
 * Rows of tables whose cells keep their texts when other rows move to their places; see the trait `cellsKeepTexts`.
 *
 * A cell of such a table belongs to a position, and so do its states and bounds. Its text is that of the row that was
 * at this position when the cell was first requested, or when the app last reported that this row changed. If the app
 * does not report a new order, nothing on the bus says which row is where, and nothing makes the toolkit renew the
 * texts. But the toolkit draws all cells of a column with one renderer, and a hit test beyond the end of a cell's text
 * returns the length of the text in the renderer: that of the cell drawn last. A pointer that enters or leaves a row
 * makes the toolkit draw that row. So the lengths of the texts that a row shows can be compared with those it reports.
 */

/** A row, as its cells report it. */
export interface Row {
  readonly element: Element
  readonly place: CellPlace
  readonly top: number
  readonly texts: readonly Text[]
}

interface Text {
  readonly ref: Ref
  /** As the cell reports it. */
  readonly length: number
}

/** The row of an element, if its texts may be outdated and can be compared with the visible ones. */
export async function rowOf(atspi: Atspi, element: Element): Promise<Row | undefined> {
  const place = await placeOf(atspi, element)
  if (!place) return undefined
  const [extents, texts] = await Promise.all([atspi.extents(element.ref), textsAt(atspi, place, place.row)])
  const hasTexts = texts.some(({ length }) => length > 0)
  return hasTexts ? { element, place, top: extents.y + (element.origin.shift?.y ?? 0), texts } : undefined
}

/**
 * Proves by the lengths of the drawn texts that a row shows what its cells report. `visit` makes the app draw this row
 * last. Throws with nothing delivered.
 */
export async function proveRow(atspi: Atspi, row: Row, visit: () => Promise<void>): Promise<void> {
  const { texts } = row
  const looks = [await drawnLengths(atspi, texts)]
  for (let visits = 0; visits < MOST_VISITS; visits++) {
    await visit()
    const patience = atspi.deadline.slice(DRAWN_MS)
    do {
      const drawn = await drawnLengths(atspi, texts)
      looks.push(drawn)
      const compared = comparable(looks)
      if (compared.every((at) => texts[at]?.length === drawn[at])) {
        if (await isDistinct(atspi, row, compared)) proved.add(row.element)
        return
      }
      await pause(LOOK_AGAIN_MS, patience)
    } while (!patience.expired)
  }
  throw otherRow()
}

/** Elements of rows that were proved to show what they report. */
const proved = new WeakSet<Element>()

/**
 * The same proof by the editor of a cell, which shows the text of the row that is there. It proves the row if the cell
 * reports that text, and no other cell of its column does.
 */
export async function settleRow(atspi: Atspi, element: Element, text: string): Promise<void> {
  const place = await placeOf(atspi, element)
  if (!place || place.rows > MOST_ROWS) return
  const texts = await Promise.all(
    Array.from({ length: place.rows }, async (_, row) => {
      const cell = await unlessRefused(atspi.cellAt(place.table, row, place.column))
      const parts = cell ? await textsIn(atspi, cell) : []
      return Promise.all(parts.map((part) => unlessRefused(atspi.text(part, 0, -1))))
    }),
  )
  const isOnly = texts.filter((parts) => parts.includes(text)).length === 1
  if (isOnly && texts[place.row]?.includes(text)) proved.add(element)
}

/**
 * The texts that can be compared. Two columns may share a renderer, as Thunar's type and date do: then it always holds
 * the text of the later one.
 */
export function comparable(looks: readonly (readonly (number | undefined)[])[]): readonly number[] {
  const [first = []] = looks
  const isShared = (at: number): boolean =>
    first.some((_, later) => later > at && looks.every((lengths) => lengths[later] === lengths[at]))
  return first.flatMap((length, at) => (length === undefined || isShared(at) ? [] : at))
}

/** The lengths of the texts that were drawn last in the columns of these. */
export const drawnLengths = (
  atspi: Atspi,
  texts: readonly Text[],
): Promise<readonly (number | undefined)[]> =>
  Promise.all(
    // A renderer without any text cannot be asked: the app would log a warning.
    texts.map(({ ref, length }) => (length === 0 ? undefined : atspi.offsetAt(ref, BEYOND))),
  )

/** To the right of, and below, every text. */
const BEYOND = { x: 100_000, y: 100_000 }

/** The app may draw another row in between for its own reasons. */
const MOST_VISITS = 2
/** How long the app may take to draw a row. */
const DRAWN_MS = 150
const LOOK_AGAIN_MS = 20

export const otherRow = (): AppError =>
  new AppError(
    "ACTION_FAILED",
    "Its row shows different texts than it reports: the rows have been reordered",
    {
      suggestion:
        "Take a 'screenshot' to see the rows, and act on the place of one ('mouse-click --xy X,Y'); or make the app read them again, often with 'press f5', and run 'snapshot'",
      details: { kind: "not_actionable", reason: "its row shows different texts than it reports" },
      disposition: NOTHING_DELIVERED,
    },
  )

/**
 * The reason why the texts of a row, or of rows that a click on a header sorts, may be outdated. An app can reorder
 * every table, even one that users cannot sort.
 */
export async function doubtOf(atspi: Atspi, element: Element): Promise<Doubt | undefined> {
  const table = await tableOf(atspi, element)
  if (!table || (!table.cell && !(await isSortable(atspi, table.ref)))) return undefined
  return { reason: MAY_BE_OLD, isSettled: () => proved.has(element) }
}

const MAY_BE_OLD =
  "Some apps, such as Thunar, do not report that their rows were reordered: then the rows have their old names here. A 'screenshot' shows which row is where"

/** True if a header can be clicked, which sorts the rows. A header takes the focus only then. */
async function isSortable(atspi: Atspi, table: Ref): Promise<boolean> {
  const { columns } = await atspi.tableSize(table)
  const headers = await Promise.all(
    Array.from({ length: Math.min(columns, MOST_COLUMNS) }, (_, at) => atspi.childAt(table, at)),
  )
  const states = await Promise.all(headers.map((header) => header && unlessRefused(atspi.states(header))))
  return states.some((set) => set !== undefined && has(set, STATE.FOCUSABLE))
}

/** True if no other row of the table has texts of the same lengths. */
async function isDistinct(atspi: Atspi, { place }: Row, compared: readonly number[]): Promise<boolean> {
  if (place.rows > MOST_ROWS) return false
  const rows = await Promise.all(
    Array.from({ length: place.rows }, async (_, row) => {
      const texts = await textsAt(atspi, place, row)
      return compared.map((at) => texts[at]?.length).join()
    }),
  )
  return rows.filter((lengths) => lengths === rows[place.row]).length === 1
}

/** For a table with at most this many rows, every cell is read. */
const MOST_ROWS = 150
const MOST_COLUMNS = 100

interface CellPlace {
  readonly table: Ref
  readonly row: number
  /** That of the cell that the element is, or is in. */
  readonly column: number
  readonly rows: number
  readonly columns: number
}

async function placeOf(atspi: Atspi, element: Element): Promise<CellPlace | undefined> {
  const table = await tableOf(atspi, element)
  if (!table?.cell) return undefined
  const [size, index] = await Promise.all([atspi.tableSize(table.ref), atspi.indexInParent(table.cell)])
  // The headers are the first children.
  const row = Math.floor(index / size.columns) - 1
  const column = index % size.columns
  return row < 0 || size.columns > MOST_COLUMNS ? undefined : { table: table.ref, row, column, ...size }
}

interface Table {
  readonly ref: Ref
  /** The cell of the table that the element is, or is in. Absent for the table itself and for its headers. */
  readonly cell?: Ref
}

async function tableOf(atspi: Atspi, { ref, origin }: Element): Promise<Table | undefined> {
  if (!origin.traits.cellsKeepTexts) return undefined
  let cell: Ref | undefined
  let at: Ref | undefined = ref
  for (let level = 0; at && level <= MOST_LEVELS; level++) {
    const role = await atspi.role(at)
    if (role === ROLE.TABLE || role === ROLE.TREE_TABLE) return { ref: at, cell }
    const parent: Ref | undefined = await unlessRefused(atspi.parent(at))
    if (HEADERS.has(role)) return parent && { ref: parent }
    if (role !== ROLE.TABLE_CELL) return undefined
    cell = at
    at = parent
  }
  return undefined
}

/** From a part of a cell to the table. */
const MOST_LEVELS = 2

const HEADERS: ReadonlySet<number> = new Set([ROLE.COLUMN_HEADER, ROLE.TABLE_COLUMN_HEADER])

export async function textsAt(
  atspi: Atspi,
  { table, columns }: Pick<CellPlace, "table" | "columns">,
  row: number,
): Promise<readonly Text[]> {
  const texts = await Promise.all(
    Array.from({ length: columns }, async (_, column) => {
      const cell = await unlessRefused(atspi.cellAt(table, row, column))
      return cell ? textsIn(atspi, cell) : []
    }),
  )
  return Promise.all(texts.flat().map(async (ref) => ({ ref, length: await atspi.characterCount(ref) })))
}

/** A cell with several parts, such as a picture and a text, is a box around them. */
async function textsIn(atspi: Atspi, cell: Ref): Promise<readonly Ref[]> {
  if (await isText(atspi, cell)) return [cell]
  const parts = await atspi.children(cell)
  const areTexts = await Promise.all(parts.map((part) => isText(atspi, part)))
  return parts.filter((_, at) => areTexts[at])
}

const isText = async (atspi: Atspi, ref: Ref): Promise<boolean> =>
  ((await atspi.interfaces(ref)) & INTERFACE.Text) !== 0
