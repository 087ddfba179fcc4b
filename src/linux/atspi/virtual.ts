import { type CellPlace, placeNamed, type Span } from "../../content/grid.ts"
import type { Point, Rect } from "../../node.ts"
import { method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Ref } from "./atspi.ts"
import { unlessRefused } from "./element.ts"
import type { Child, Facts, Look, Maybe, Source } from "./facts.ts"
import { ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/**
 * Lists and tables that create their children on request. Calc reports 2^31 of them. Only those on the screen are read;
 * hit tests at the corners of the view find them.
 */

/** The most children that a container may have to be read like any other. */
export function mostListed(role: number, { listBoxHasAllRows }: Traits): number {
  return listBoxHasAllRows && role === ROLE.LIST_BOX ? MAX_REAL : MAX_MANAGED
}

export const MAX_MANAGED = 500
/** If all children exist. GTK makes a list of all of them for each: the time grows with the square of the number. */
const MAX_REAL = 3000
const MAX_VISIBLE = 3000
const MAX_HEADERS = 100
const MAX_ROWS = 200
/** Distances from the top at which the first row may begin, below headers. */
const PROBES = [2, 14, 26, 38, 50, 74, 98]
/** Distances from the side at which the first column may begin: first without row numbers, then after them. */
const SIDES = [[14], [30, 60, 120]] as const

export interface Visible {
  readonly children: readonly Child[]
  /** The columns of a table's cells, by path. The cells of one column are of one kind. */
  readonly columns?: ReadonlyMap<string, number>
}

/** The children in view. undefined: unknown. Throws if an answer did not come in time. */
export async function visibleChildren(
  atspi: Atspi,
  ref: Ref,
  { interfaces, extents }: Facts,
  traits: Traits,
): Promise<Visible | undefined> {
  if (!(interfaces & INTERFACE.Component)) return undefined
  const view = extents ?? (await atspi.extents(ref))
  if (view.width <= 0 || view.height <= 0) return NOTHING
  const look = (direction: 1 | -1) => probe(atspi, ref, view, direction, traits)
  const [first, last] = await Promise.all([look(1), look(-1)])
  if (first === undefined) return undefined
  const table = interfaces & INTERFACE.Table ? await visibleCells(atspi, ref, first.index, last) : undefined
  if (table) return table
  const end = last?.index ?? first.index + MAX_VISIBLE
  const [from, to] = [Math.min(first.index, end), Math.max(first.index, end)]
  return { children: await childrenBetween(atspi, ref, from, to) }
}

const NOTHING: Visible = { children: [] }

/** True if a list with this many rows may have more of them, without objects; see model-rows.ts. */
export function mayHaveMore({ rowsMade }: Traits, role: number, rows: number): boolean {
  if (!rowsMade) return false
  return (role === ROLE.LIST && rows >= rowsMade.list) || (role === ROLE.TABLE && rows >= rowsMade.grid)
}

/** The rows and columns of a table that are in view. undefined: unknown. */
export async function placesInView(
  atspi: Atspi,
  table: Ref,
  traits: Traits,
): Promise<{ readonly rows: Span; readonly columns: Span } | undefined> {
  const view = await unlessRefused(atspi.extents(table))
  if (!view || view.width <= 0 || view.height <= 0) return undefined
  const look = (direction: 1 | -1) => probe(atspi, table, view, direction, traits)
  const [first, last] = await Promise.all([look(1), look(-1)])
  const [from, to, size] = await Promise.all([
    cellPlace(atspi, table, first?.index ?? -1),
    cellPlace(atspi, table, last?.index ?? -1),
    atspi.tableSize(table),
  ])
  if (!from) return undefined
  const end = endOf(from, to, last, { row: size.rows - 1, column: size.columns - 1 })
  const lastRow = Math.min(end.row, from.row + MAX_ROWS, size.rows - 1)
  const lastColumn = Math.min(Math.max(end.column, from.column), from.column + MAX_HEADERS, size.columns - 1)
  return {
    rows: { first: from.row, last: lastRow },
    columns: { first: from.column, last: lastColumn },
  }
}

/**
 * Reads the cells of a table, or the items of a list. The kind of the first one in a column holds for the others. They
 * have no children, unless the first one has some: a cell of GTK 3 with an icon has its text in a child.
 */
export class ColumnSource implements Source {
  readonly #source: Source
  readonly #columnOf: (ref: Ref) => number | undefined
  readonly #kinds = new Map<number, Promise<FirstCell>>()

  constructor(source: Source, columnOf: (ref: Ref) => number | undefined) {
    this.#source = source
    this.#columnOf = columnOf
  }

  look(ref: Ref, sparing: boolean): Maybe<Look> {
    return this.#source.look(ref, sparing || this.#columnOf(ref) !== undefined)
  }

  facts(ref: Ref, look: Look): Maybe<Facts> {
    const column = this.#columnOf(ref)
    if (column === undefined) return this.#source.facts(ref, look)
    const whole = (): Maybe<Facts> => this.#source.facts(ref, look)
    const first = this.#kinds.get(column)
    if (!first) {
      const facts = Promise.resolve(whole())
      const kind = this.#kindOf(ref, facts)
      // Only the other cells of the column wait for it.
      kind.catch(() => {})
      this.#kinds.set(column, kind)
      return facts
    }
    const likeFirst = async ({ role, interfaces, hasParts }: FirstCell): Promise<Facts> => {
      if (hasParts || (role !== ROLE.TABLE_CELL && role !== ROLE.LIST_ITEM)) return whole()
      return { ...(await this.#source.facts(ref, { ...look, role, interfaces })), childCount: 0 }
    }
    // If the first has gone away, each of the others is asked for its kind.
    return first.then(likeFirst, whole)
  }

  async #kindOf(ref: Ref, first: Promise<Facts>): Promise<FirstCell> {
    const { role, interfaces, name } = await first
    const parts = name === "" && role === ROLE.TABLE_CELL ? await this.#source.children(ref, false) : []
    return { role, interfaces, hasParts: parts.length > 0 }
  }

  children(ref: Ref, showing: boolean): Maybe<readonly Child[]> {
    return this.#source.children(ref, showing)
  }
}

interface FirstCell extends Pick<Facts, "role" | "interfaces"> {
  readonly hasParts: boolean
}

/**
 * The index of the first (or last) visible child, by hit tests from the top left (or bottom right) corner. The last row
 * is also searched for at the left, since there may be nothing to the right of the columns.
 */
async function probe(
  atspi: Atspi,
  ref: Ref,
  view: Rect,
  direction: 1 | -1,
  traits: Traits,
): Promise<Probed | undefined> {
  const [left, right] = [view.x, view.x + view.width]
  const tries = SIDES.flatMap((sides) =>
    direction === 1
      ? [sides.map((side) => ({ from: left, side }))]
      : [sides.map((side) => ({ from: right, side: -side })), sides.map((side) => ({ from: left, side }))],
  )
  for (const columns of tries) {
    const points: Point[] = columns.flatMap(({ from, side }) =>
      PROBES.filter((offset) => offset < view.height && Math.abs(side) < view.width).map((offset) => ({
        // Close to a corner, the border of the view is nearer.
        x: from + Math.sign(side) * (Math.abs(side) === 14 ? Math.min(offset, 14) : Math.abs(side)),
        y: direction === 1 ? view.y + offset : view.y + view.height - offset,
      })),
    )
    const indexes = await Promise.all(points.map((point) => indexAt(atspi, ref, point, traits)))
    const found = indexes.find((index) => index !== undefined && index >= 0)
    if (found !== undefined) return { index: found, isAtRight: columns[0]?.from === right }
  }
  return undefined
}

interface Probed {
  readonly index: number
  /** False: nothing is at the right end, so the last column in view is unknown. */
  readonly isAtRight: boolean
}

/** The last cell in view. `most`: the last one that may be in view, if that is unknown. */
function endOf(
  from: CellPlace,
  to: CellPlace | undefined,
  last: Probed | undefined,
  most: CellPlace,
): CellPlace {
  if (!to || to.row < from.row) return most
  return last?.isAtRight ? to : { row: to.row, column: most.column }
}

/** A header is a child as well, but it is outside the rows. */
async function indexAt(
  atspi: Atspi,
  container: Ref,
  point: Point,
  traits: Traits,
): Promise<number | undefined> {
  const ref = await unlessRefused(atspi.at(container, point))
  if (!ref || ref.path === container.path) return undefined
  const answers = await unlessRefused(
    Promise.all([atspi.parent(ref), atspi.indexInParent(ref), atspi.role(ref)]),
  )
  if (!answers) return undefined
  const [parent, index, role] = answers
  if (parent?.path !== container.path || HEADERS.has(role)) return undefined
  return index < 0 && traits.editingHidesIndexes ? indexByName(atspi, container, ref) : index
}

async function indexByName(atspi: Atspi, table: Ref, cell: Ref): Promise<number | undefined> {
  const [name, { columns }] = await Promise.all([atspi.name(cell), atspi.tableSize(table)])
  const place = placeNamed(name)
  return place && place.row * columns + place.column
}

const HEADERS: ReadonlySet<number> = new Set([
  ROLE.COLUMN_HEADER,
  ROLE.ROW_HEADER,
  ROLE.TABLE_COLUMN_HEADER,
  ROLE.TABLE_ROW_HEADER,
])

async function visibleCells(
  atspi: Atspi,
  table: Ref,
  first: number,
  last: Probed | undefined,
): Promise<Visible | undefined> {
  const [from, to, size] = await Promise.all([
    cellPlace(atspi, table, first),
    cellPlace(atspi, table, last?.index ?? -1),
    atspi.tableSize(table),
  ])
  if (!from) return undefined
  const end = endOf(from, to, last, { row: from.row + MAX_ROWS, column: size.columns - 1 })
  const width = Math.min(Math.max(end.column, from.column), size.columns - 1) - from.column + 1
  const height = Math.min(end.row, size.rows - 1) - from.row + 1
  const count = Math.max(0, Math.min(width * height, MAX_VISIBLE))
  const stride = await rowStride(atspi, table, from, size)
  // GTK 3 and Qt count the headers as their first children, and Qt the number of a row as the first of that row.
  const start = first - from.row * stride - from.column
  const headers = start - (stride - size.columns)
  const [above, cells] = await Promise.all([
    headers > 0 && headers <= MAX_HEADERS ? childrenBetween(atspi, table, 0, headers - 1) : [],
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const row = from.row + Math.floor(at / width)
        const column = from.column + (at % width)
        const ref = await unlessRefused(atspi.cellAt(table, row, column))
        return ref && { ref, column, index: start + row * stride + column }
      }),
    ),
  ])
  const there = cells.filter((cell) => cell !== undefined)
  return {
    children: [...above, ...there],
    columns: new Map(there.map(({ ref, column }) => [ref.path, column])),
  }
}

/** The distance of two rows among the children of a table. */
async function rowStride(
  atspi: Atspi,
  table: Ref,
  { row, column }: CellPlace,
  size: { readonly rows: number; readonly columns: number },
): Promise<number> {
  const next = row + 1 < size.rows ? row + 1 : row - 1
  if (next < 0) return size.columns
  const indexes = await Promise.all(
    [row, next].map(async (at) => {
      const cell = await unlessRefused(atspi.cellAt(table, at, column))
      return cell && unlessRefused(atspi.indexInParent(cell))
    }),
  )
  const [here = 0, there = 0] = indexes
  const stride = Math.abs(there - here)
  return Math.max(stride, size.columns)
}

async function cellPlace(
  atspi: Atspi,
  table: Ref,
  index: number,
): Promise<{ row: number; column: number } | undefined> {
  if (index < 0) return undefined
  const ask = async (name: string): Promise<number> =>
    readAs(await atspi.call(table, method(`org.a11y.atspi.Table.${name}`, "i", [index])), "i").i32()
  const place = await unlessRefused(Promise.all([ask("GetRowAtIndex"), ask("GetColumnAtIndex")]))
  const [row = -1, column = -1] = place ?? []
  return row >= 0 && column >= 0 ? { row, column } : undefined
}

async function childrenBetween(atspi: Atspi, ref: Ref, from: number, to: number): Promise<readonly Child[]> {
  const count = Math.min(to - from + 1, MAX_VISIBLE)
  const children = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const child = await unlessRefused(atspi.childAt(ref, from + at))
      return child && { ref: child, index: from + at }
    }),
  )
  return children.filter((child) => child !== undefined)
}
