import type { Handle, Seen } from "../../adapter.ts"
import {
  type CellGrid,
  type CellPlace,
  type Cover,
  CUT,
  type Grid,
  isIn,
  type MergedCell,
  placeNamed,
  type Span,
  type UnwritableCell,
  within,
} from "../../content/grid.ts"
import { method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, property, type Ref } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { Element, unlessRefused } from "./element.ts"
import { isClassName } from "./names.ts"
import { describeElement, openAbove } from "./open.ts"
import { pastTheBus, translatingErrors } from "./read-tree.ts"
import { ROLE } from "./roles.ts"
import { doubtOf } from "./rows.ts"
import { isInSlideTable } from "./slides.ts"
import { placesInView } from "./virtual.ts"

/** Tables, lists and trees by row and column. Cells are asked for together: no cell waits for another one. */

/** The table, list or tree that an element is, or the nearest one that it is in. */
export async function tableAround(atspi: Atspi, element: Element): Promise<Seen | undefined> {
  let at: Element | undefined = element
  for (let level = 0; at && level < MOST_LEVELS; level++) {
    const role = await atspi.role(at.ref)
    if (TABLES.has(role) && !(await isColumnList(atspi, at))) return describeElement(atspi, at)
    const inside = role === ROLE.DIRECTORY_PANE ? await tableIn(atspi, at) : undefined
    if (inside) return describeElement(atspi, inside)
    at = await openAbove(atspi, at, 1)
  }
  return undefined
}

/** The pane of a file manager is not a table, but has one in it unless it shows icons. */
async function tableIn(atspi: Atspi, { ref, origin }: Element): Promise<Element | undefined> {
  const [children, states] = await Promise.all([atspi.children(ref), atspi.states(ref)])
  const roles = await Promise.all(children.map((child) => atspi.role(child)))
  const index = roles.findIndex((role) => role === ROLE.TABLE || role === ROLE.TREE_TABLE)
  const parent = { ref, role: ROLE.DIRECTORY_PANE, states, size: children.length }
  return index < 0 ? undefined : new Element(children[index]!, origin, parent, index)
}

/** From a part of a cell to its table: cells of pages may have many boxes in them. */
const MOST_LEVELS = 12

const TABLES: ReadonlySet<number> = new Set([
  ROLE.TABLE,
  ROLE.TREE_TABLE,
  ROLE.TREE,
  ROLE.LIST,
  ROLE.LIST_BOX,
])

/** GTK 4 has the rows of a column view in a list below its headers. */
async function isColumnList(atspi: Atspi, { ref, origin }: Element): Promise<boolean> {
  if (!origin.traits.columnViewsHoldLists) return false
  const parent = await unlessRefused(atspi.parent(ref))
  return parent !== undefined && (await atspi.role(parent)) === ROLE.TREE_TABLE
}

export async function openGrid(atspi: Atspi, element: Element): Promise<Grid<Handle>> {
  const { ref, origin } = element
  const interfaces = await atspi.interfaces(ref)
  const hasCells = (interfaces & INTERFACE.Table) !== 0 && origin.traits.tablesAnswerByCell
  if (!hasCells) return openTree(atspi, element, interfaces)
  const [size, first, beside, below] = await Promise.all([
    atspi.tableSize(ref),
    ...CORNER.map(([row, column]) => unlessRefused(atspi.cellAt(ref, row, column))),
  ])
  const [name, offers] = first ? await Promise.all([atspi.name(first), atspi.interfaces(first)]) : ["", 0]
  const indexes = await Promise.all(
    [first, beside, below].map((cell) => cell && unlessRefused(atspi.indexInParent(cell))),
  )
  const isHidden = origin.traits.editingHidesIndexes && indexes.every((index) => (index ?? -1) < 0)
  const [start = 0, right = start + 1, down = start + size.columns] = isHidden ? [] : indexes
  const [stride, step] = [Math.max(1, down - start), Math.max(1, right - start)]
  const isSheet =
    origin.traits.sheetCellsAreTypedOver === true &&
    // A cell of a table in a document holds paragraphs instead.
    (offers & INTERFACE.Text) !== 0 &&
    (offers & INTERFACE.Value) !== 0 &&
    placeNamed(name) !== undefined
  const placeOf = (index: number): CellPlace => ({
    row: Math.floor((index - start) / stride),
    column: Math.floor(((((index - start) % stride) + stride) % stride) / step),
  })
  const grid = new TableCells(atspi, element)
  return {
    kind: "cells",
    rowCount: Math.max(0, size.rows),
    columnCount: Math.max(0, size.columns),
    isSheet,
    forgetsTexts: !isSheet && (await isInSlideTable(atspi, ref, origin.traits)),
    indexOf: (row, column) => start + row * stride + column * step,
    placeOf,
    titles: (columns) => translatingErrors(origin, grid.titles(columns)),
    inView: () => translatingErrors(origin, placesInView(atspi, ref, origin.traits)),
    texts: (rows, columns, formulas) =>
      translatingErrors(
        origin,
        pastTheBus(atspi, element, (near) =>
          new TableCells(near, element).texts(rows, columns, isSheet, formulas),
        ),
      ),
    cell: ({ row, column }) => translatingErrors(origin, grid.cell(row, column)),
    unwritable: (cells) => translatingErrors(origin, grid.unwritable(cells)),
    covers: isSheet ? (cells) => translatingErrors(origin, grid.covers(cells, placeOf)) : undefined,
    merged: isSheet
      ? (cells) =>
          translatingErrors(
            origin,
            pastTheBus(atspi, element, (near) => new TableCells(near, element).merged(cells)),
          )
      : undefined,
    numbers: (cells) => translatingErrors(origin, grid.numbers(cells)),
    doubt: async () => (await translatingErrors(origin, doubtOf(atspi, element)))?.reason,
  } satisfies CellGrid<Handle>
}

/** Cells whose indexes are enough to compute all others: some toolkits count a header in every row. */
const CORNER = [
  [0, 0],
  [0, 1],
  [1, 0],
] as const

/** The facts about a table that its tree does not hold. */
async function openTree(atspi: Atspi, element: Element, interfaces: number): Promise<Grid<Handle>> {
  const { ref, origin } = element
  if (origin.traits.columnViewsHoldLists) return openList(atspi, element)
  if (!origin.traits.pagesCountRows) return { kind: "tree" }
  const attributes = await unlessRefused(atspi.attributes(ref))
  const rowCount = countIn(attributes, "rowcount")
  const columnCount = countIn(attributes, "colcount")
  const numbers = rowCount === undefined ? undefined : await numbersOf(atspi, ref)
  const isTable = (interfaces & INTERFACE.Table) !== 0
  return {
    kind: "tree",
    // A page counts its header, too.
    rowCount: rowCount && Math.max(0, rowCount - (numbers?.headers ?? 0)),
    columnCount,
    firstRow: numbers && (numbers.first ?? (origin.traits.rowsInPlaceLackNumbers ? 0 : undefined)),
    columnOf: isTable
      ? (cell) => translatingErrors(origin, columnOf(atspi, Element.of(cell).ref))
      : undefined,
  }
}

/** A list of GTK 4 keeps the rows out of view as objects without room. A long list has objects for only some rows. */
async function openList(atspi: Atspi, element: Element): Promise<Grid<Handle>> {
  const { ref, origin } = element
  const children = (await atspi.role(ref)) === ROLE.TREE_TABLE ? await atspi.children(ref) : [ref]
  const roles = await Promise.all(children.map((child) => atspi.role(child)))
  const list = children[roles.indexOf(ROLE.LIST)]
  const rows = list && (await atspi.children(list))
  if (!rows || rows.length >= (origin.traits.rowsMade?.list ?? 0)) return { kind: "tree" }
  const isView = list.path !== ref.path
  const texts = async (row: Ref): Promise<readonly string[]> =>
    isView
      ? Promise.all((await atspi.children(row)).map((cell) => labelsIn(atspi, cell, MOST_BOXES)))
      : [await labelsIn(atspi, row, MOST_BOXES)]
  return {
    kind: "tree",
    rowCount: rows.length,
    texts: ({ first, last }) =>
      translatingErrors(origin, Promise.all(rows.slice(first, last + 1).map(texts))),
  }
}

/** The texts of the labels in a cell. A box without a name has the name of its class. */
async function labelsIn(atspi: Atspi, ref: Ref, levels: number): Promise<string> {
  const [name, children] = await Promise.all([atspi.name(ref), levels > 0 ? atspi.children(ref) : []])
  if (children.length === 0) return isClassName(name) ? "" : cleanCell(name)
  const texts = await Promise.all(children.map((child) => labelsIn(atspi, child, levels - 1)))
  return texts.filter(Boolean).join(" ")
}

/** Boxes around the label of a cell. */
const MOST_BOXES = 4

/** aria-rowcount and aria-colcount; −1 means that the page does not know. */
function countIn(attributes: ReadonlyMap<string, string> | undefined, key: string): number | undefined {
  const count = Number(attributes?.get(key) ?? Number.NaN)
  return Number.isInteger(count) && count >= 0 ? count : undefined
}

/** The number of the first row that a page shows, by its aria-rowindex, and of the headers that it counts before it. */
async function numbersOf(
  atspi: Atspi,
  table: Ref,
): Promise<{ readonly first?: number; readonly headers: number }> {
  const top = await unlessRefused(atspi.cellAt(table, 0, 0))
  const isHeader = top !== undefined && HEADERS.has(await atspi.role(top))
  // A header stays in place while the rows below it change. Chromium does not report the number of a row that is in place.
  const index = await rowIndexOf(atspi, isHeader ? await unlessRefused(atspi.cellAt(table, 1, 0)) : top)
  const headers = isHeader && index !== 1 ? 1 : 0
  return { headers, ...(index ? { first: Math.max(0, index - 1 - headers) } : {}) }
}

const HEADERS: ReadonlySet<number> = new Set([ROLE.COLUMN_HEADER, ROLE.TABLE_COLUMN_HEADER])

async function rowIndexOf(atspi: Atspi, cell: Ref | undefined): Promise<number | undefined> {
  const row = cell && (await unlessRefused(atspi.parent(cell)))
  for (const ref of [cell, row]) {
    const index = ref && countIn(await unlessRefused(atspi.attributes(ref)), "rowindex")
    if (index) return index
  }
  return undefined
}

async function columnOf(atspi: Atspi, cell: Ref): Promise<number | undefined> {
  const place = await unlessRefused(
    atspi.ask(cell, CELL_POSITION, (reply) => {
      const body = readAs(reply, "v")
      if (body.signature() !== "(ii)") return undefined
      body.align(8)
      return [body.i32(), body.i32()]
    }),
  )
  const column = place?.[1] ?? -1
  return column >= 0 ? column : undefined
}

/** The question for the text of a column's cells, which are of one kind. */
type ColumnKind = "text" | "name" | "check" | "parts"

class TableCells {
  readonly #atspi: Atspi
  readonly #element: Element

  constructor(atspi: Atspi, element: Element) {
    this.#atspi = atspi
    this.#element = element
  }

  async titles(columns: readonly number[]): Promise<readonly string[] | undefined> {
    const titles = await Promise.all(
      columns.map((column) =>
        unlessRefused(
          this.#atspi.ask(this.#element.ref, COLUMN_TITLE.with(column), (reply) =>
            readAs(reply, "s").string(),
          ),
        ),
      ),
    )
    return titles.some(Boolean) ? titles.map((title) => cleanCell(title ?? "")) : undefined
  }

  async texts(
    rows: Span,
    columns: readonly number[],
    isSheet: boolean,
    formulas: boolean,
  ): Promise<readonly (readonly string[])[]> {
    const all = within(rows, Number.POSITIVE_INFINITY)
    const kinds = isSheet
      ? undefined
      : await Promise.all(columns.map((column) => this.#kindOf(rows.first, column)))
    return Promise.all(
      all.map((row) =>
        Promise.all(
          columns.map(async (column, at) => {
            const ref = await unlessRefused(this.#atspi.cellAt(this.#element.ref, row, column))
            if (!ref) return ""
            const formula = formulas ? await this.#formula(ref) : ""
            return formula || cleanCell((await unlessRefused(this.#text(ref, kinds?.[at] ?? "text"))) ?? "")
          }),
        ),
      ),
    )
  }

  async cell(row: number, column: number): Promise<Handle | undefined> {
    const { ref, origin } = this.#element
    const [cell, role, states] = await Promise.all([
      unlessRefused(this.#atspi.cellAt(ref, row, column)),
      this.#atspi.role(ref),
      this.#atspi.states(ref),
    ])
    return cell && new Element(cell, origin, { ref, role, states, size: -1 }).handle
  }

  async unwritable(cells: readonly CellPlace[]): Promise<readonly UnwritableCell[]> {
    const found = await Promise.all(
      cells.map(async ({ row, column }): Promise<readonly UnwritableCell[]> => {
        const ref = await unlessRefused(this.#atspi.cellAt(this.#element.ref, row, column))
        const states = ref && (await this.#atspi.states(ref))
        if (!states || !has(states, STATE.EDITABLE)) return [{ row, column, why: "locked" }]
        // A cell that is only out of view is VISIBLE.
        return has(states, STATE.VISIBLE) ? [] : [{ row, column, why: "hidden" }]
      }),
    )
    return found.flat()
  }

  /** The sheet says nothing about a covered cell, but finds the merged one at its place. */
  async covers(
    cells: readonly CellPlace[],
    placeOf: (index: number) => CellPlace,
  ): Promise<readonly (Cover | undefined)[]> {
    const { ref: table, origin } = this.#element
    const atspi = this.#atspi
    const coordinates = origin.traits.coordinates
    return Promise.all(
      cells.map(async ({ row, column }): Promise<Cover | undefined> => {
        const cell = await unlessRefused(atspi.cellAt(table, row, column))
        const room = cell && (await unlessRefused(atspi.extents(cell, coordinates)))
        if (!room || room.width <= 0 || room.height <= 0) return undefined
        const middle = { x: room.x + (room.width >> 1), y: room.y + (room.height >> 1) }
        const there = await unlessRefused(atspi.at(table, middle, coordinates))
        const index = there && (await unlessRefused(atspi.indexInParent(there)))
        if (index === undefined || index < 0) return undefined
        const by = placeOf(index)
        if (by.row === row && by.column === column) return { kind: "none" }
        return isIn(await this.#extentOf(by), { row, column }) ? { kind: "covered", by } : undefined
      }),
    )
  }

  async merged(cells: readonly CellPlace[]): Promise<readonly MergedCell[]> {
    const all = await Promise.all(cells.map((cell) => this.#extentOf(cell)))
    return all.filter(({ rows, columns }) => rows > 1 || columns > 1)
  }

  async #extentOf({ row, column }: CellPlace): Promise<MergedCell> {
    const [rows = 1, columns = 1] = await Promise.all(
      [ROW_EXTENT, COLUMN_EXTENT].map((question) =>
        unlessRefused(
          this.#atspi.ask(this.#element.ref, question.with(row, column), (reply) => readAs(reply, "i").i32()),
        ),
      ),
    )
    return { row, column, rows, columns }
  }

  async numbers(cells: readonly CellPlace[]): Promise<readonly (number | undefined)[]> {
    return Promise.all(
      cells.map(async ({ row, column }) => {
        const ref = await unlessRefused(this.#atspi.cellAt(this.#element.ref, row, column))
        return ref && unlessRefused(this.#atspi.currentValue(ref))
      }),
    )
  }

  async #kindOf(row: number, column: number): Promise<ColumnKind> {
    const atspi = this.#atspi
    const ref = await unlessRefused(atspi.cellAt(this.#element.ref, row, column))
    if (!ref) return "name"
    const [interfaces, states, count, name] = await Promise.all([
      atspi.interfaces(ref),
      atspi.states(ref),
      unlessRefused(atspi.childCount(ref)),
      atspi.name(ref),
    ])
    // An empty cell of a document has no paragraph, and its address for a name.
    if (count || (this.#element.origin.traits.gridCellsAreNamedByColumn && placeNamed(name))) return "parts"
    if (has(states, STATE.CHECKABLE)) return "check"
    if (name === "" && interfaces & INTERFACE.Action && !(interfaces & INTERFACE.Text))
      return (await atspi.actionNames(ref)).includes("toggle") ? "check" : "name"
    return name === "" && interfaces & INTERFACE.Text ? "text" : "name"
  }

  async #text(ref: Ref, kind: ColumnKind): Promise<string> {
    const atspi = this.#atspi
    switch (kind) {
      case "text":
        return atspi.text(ref, 0, -1)
      case "name":
        return atspi.name(ref)
      case "check": {
        const [name, states] = await Promise.all([atspi.name(ref), atspi.states(ref)])
        return [name, has(states, STATE.CHECKED) ? "checked" : "unchecked"].filter(Boolean).join(" ")
      }
      case "parts": {
        const [name, parts] = await Promise.all([atspi.name(ref), atspi.children(ref)])
        const texts = await Promise.all(parts.map((part) => this.#partText(part)))
        return texts.filter(Boolean).join("\n") || (placeNamed(name) ? "" : name)
      }
      default:
        return kind satisfies never
    }
  }

  async #partText(part: Ref): Promise<string> {
    const [name, interfaces] = await Promise.all([this.#atspi.name(part), this.#atspi.interfaces(part)])
    return name || (interfaces & INTERFACE.Text ? this.#atspi.text(part, 0, -1) : "")
  }

  async #formula(ref: Ref): Promise<string> {
    const formula = (await unlessRefused(this.#atspi.attributes(ref)))?.get("Formula") ?? ""
    if (formula === "") return ""
    // The attribute is cut at the first colon or semicolon, though that is escaped by a backslash.
    const [, whole = "", cut] = /^((?:[^\\]|\\.)*)(\\?)$/s.exec(formula) ?? []
    const plain = whole.replaceAll(/\\(.)/gs, "$1")
    return `${plain.startsWith("=") ? "" : "="}${plain}${cut ? CUT : ""}`
  }
}

/** Keeps tabs and line breaks. */
const cleanCell = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]|\ufffc/gu, "")

const CELL_POSITION = property("TableCell", "Position")
const ROW_EXTENT = method("org.a11y.atspi.Table.GetRowExtentAt", "ii", [0, 0])
const COLUMN_EXTENT = method("org.a11y.atspi.Table.GetColumnExtentAt", "ii", [0, 0])
const COLUMN_TITLE = method("org.a11y.atspi.Table.GetColumnDescription", "i", [0])
