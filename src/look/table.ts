import type { Handle } from "../adapter.ts"
import type { Context } from "../command.ts"
import {
  type CellGrid,
  type CellPlace,
  CUT,
  isIn,
  lengthOf,
  nameOfPlace,
  type Span,
  type TreeGrid,
  within,
} from "../content/grid.ts"
import { AppError } from "../errors.ts"
import { withArticle } from "../node.ts"
import { entriesFor } from "../refs/allocate.ts"
import { qualified } from "../refs/resolve.ts"
import { type Position, walk, wordsOf } from "../tree.ts"
import { placeCells, type RowsOfTree, rowsNumbered, rowsOfTree } from "./numbered-rows.ts"
import { actorOf, type TreeRow, textOf } from "./rows.ts"
import { columnsIn, columnsNamed, spansOf, type TableSpans } from "./spans.ts"
import { chooseTable, type Table, type TableChoice, type TreePlace } from "./table-choice.ts"

/** Reads tables, sheets, lists and trees as rows of text. */

export interface TableAsk extends TableSpans {
  readonly columns?: string
  readonly header: boolean
  readonly formulas: boolean
  /** Also refs of every cell. */
  readonly cells: boolean
}

export interface TableRows {
  readonly ref_id: string
  readonly name?: string
  readonly rows: readonly (readonly string[])[]
  readonly row_count?: number
  readonly column_count: number
  readonly first_row?: number
  readonly first_column: number
  /** The numbers of the columns, if they do not follow each other. */
  readonly columns?: readonly number[]
  readonly header?: readonly string[]
  /** The ref of each row; null if it has none. */
  readonly refs?: readonly (string | null)[]
  readonly cell_refs?: readonly (readonly (string | null)[])[]
  readonly complete?: false
  readonly doubt?: string
}

/** Most cells that one call reads. */
export const MOST_CELLS = 100_000
/** A table with at most this many rows is read whole, in view or not. */
const FEW_ROWS = 100
/** The number of rows that are read if the rows in view are unknown. */
const SOME_ROWS = 50
const SOME_COLUMNS = 50

export async function readTable(ctx: Context, choice: TableChoice, ask: TableAsk): Promise<TableRows> {
  const table = await chooseTable(ctx, choice)
  const grid = await ctx.adapter.grid(table.seen.handle)
  const read =
    grid.kind === "cells" ? await readCells(ctx, table, grid, ask) : await readTree(ctx, table, grid, ask)
  const name = wordsOf(table.seen)
  return { ref_id: table.ref, ...(name ? { name } : {}), ...read }
}

type Read = Omit<TableRows, "ref_id" | "name">

async function readCells(ctx: Context, table: Table, grid: CellGrid<Handle>, ask: TableAsk): Promise<Read> {
  if (ask.formulas && !grid.isSheet) throw noFormulas(table)
  const asked = spansOf(ask)
  const needsView = !asked.columns || !asked.rows
  const isSmall = grid.rowCount <= FEW_ROWS && grid.columnCount <= SOME_COLUMNS
  const view = needsView && !isSmall ? await grid.inView() : undefined
  const some = (count: number, most: number): Span => ({ first: 0, last: Math.min(count, most) - 1 })
  const rows = asked.rows ?? view?.rows ?? some(grid.rowCount, isSmall ? FEW_ROWS : SOME_ROWS)
  const columns = ask.columns
    ? await columnsNamed(ask.columns, grid)
    : within(
        asked.columns ?? columnsInView(grid, view) ?? some(grid.columnCount, SOME_COLUMNS),
        grid.columnCount,
      )
  refuseOutside(table, rows, grid.rowCount)
  refuseBeside(table, asked.columns, grid.columnCount)
  const last = Math.min(rows.last, grid.rowCount - 1)
  const span = { first: rows.first, last }
  refuseTooMany(lengthOf(span) * columns.length)
  const [texts, titles, doubt, refs] = await Promise.all([
    textsInTime(ctx, grid, span, columns, ask.formulas).then((read) =>
      withoutCovered(grid, span.first, columns, read),
    ),
    ask.header && !grid.isSheet ? grid.titles(columns) : undefined,
    grid.doubt(),
    grid.isSheet && !ask.cells ? undefined : refsOfCells(ctx, table, grid, span, columns, ask.cells),
  ])
  const isOfSheet = ask.header && grid.isSheet
  const header = isOfSheet ? texts[0] : titles
  const kept = isOfSheet ? texts.slice(1) : texts
  const shown = grid.isSheet
    ? withoutEmptyEnd(kept, header, {
        rows: asked.rows !== undefined,
        columns: asked.columns !== undefined || ask.columns !== undefined,
      })
    : { rows: kept, width: columns.length }
  const skipped = isOfSheet ? 1 : 0
  return {
    rows: shown.rows,
    row_count: grid.rowCount,
    column_count: grid.columnCount,
    first_row: span.first + 1 + skipped,
    first_column: (columns[0] ?? 0) + 1,
    ...(isRun(columns) ? {} : { columns: columns.map((column) => column + 1) }),
    ...(header ? { header: header.slice(0, shown.width) } : {}),
    ...sliced(refs, skipped, shown),
    ...(texts.length < lengthOf(span) ? { complete: false } : {}),
    ...((doubt ?? cutFormulas(ask, texts)) ? { doubt: doubt ?? cutFormulas(ask, texts) } : {}),
  }
}

function cutFormulas({ formulas }: TableAsk, texts: readonly (readonly string[])[]): string | undefined {
  const isCut =
    formulas && texts.some((row) => row.some((text) => text.startsWith("=") && text.endsWith(CUT)))
  return isCut
    ? `LibreOffice reports a formula up to its first colon or semicolon: those that end in ${CUT} go on. The formula bar shows the whole formula of the current cell`
    : undefined
}

/** The texts of the rows that can be read in time, block by block. A first block that is not in time fails. */
async function textsInTime(
  ctx: Context,
  grid: CellGrid<Handle>,
  { first, last }: Span,
  columns: readonly number[],
  formulas: boolean,
): Promise<readonly (readonly string[])[]> {
  if (columns.length === 0 || last < first) return []
  const step = Math.max(1, Math.floor(BLOCK_CELLS / columns.length))
  const texts: (readonly string[])[] = []
  const isTime = (row: number, took: number): boolean =>
    row === first || ctx.deadline.remaining > took * SPARE
  for (let row = first, took = 0; row <= last && isTime(row, took); row += step) {
    const start = performance.now()
    texts.push(...(await grid.texts({ first: row, last: Math.min(row + step - 1, last) }, columns, formulas)))
    took = Math.max(took, performance.now() - start)
  }
  return texts
}

/** Cells that are asked for at once. */
const BLOCK_CELLS = 2000
/** A block may take this many times as long as the slowest one before. */
const SPARE = 1.5

/**
 * Leaves out the texts that a merged cell of the block covers: the sheet does not show them. It reports merged cells one
 * by one, so this asks about each cell that has a text to its right or below. A large block is returned as it is,
 * because that takes too long; so is a block for which the time runs out.
 */
async function withoutCovered(
  grid: CellGrid<Handle>,
  firstRow: number,
  columns: readonly number[],
  texts: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  if (!grid.merged || texts.length > MOST_ASKED) return texts
  const ends = texts.map((row) => row.findLastIndex(Boolean))
  const asked = texts.flatMap((_, down) => {
    const last = Math.max(ends[down]! - 1, ...ends.slice(down + 1))
    return columns.slice(0, last + 1).map((column) => ({ row: firstRow + down, column }))
  })
  const isCheap = asked.length > 0 && asked.length <= MOST_ASKED
  const merged = isCheap ? await grid.merged(asked).catch(unlessLate) : []
  if (merged.length === 0) return texts
  const isCovered = (cell: CellPlace): boolean =>
    merged.some((one) => isIn(one, cell) && !(one.row === cell.row && one.column === cell.column))
  return texts.map((row, down) =>
    row.map((text, right) => (isCovered({ row: firstRow + down, column: columns[right]! }) ? "" : text)),
  )
}

/** The most cells of a block that are asked about. */
const MOST_ASKED = 1000

/** The texts that were read are worth more than none. */
function unlessLate(error: unknown): readonly [] {
  if (error instanceof AppError && (error.code === "TIMEOUT" || error.code === "APP_UNRESPONSIVE")) return []
  throw error
}

const columnsInView = (
  grid: CellGrid<Handle>,
  view: { readonly columns: Span } | undefined,
): Span | undefined => (grid.isSheet || grid.columnCount > SOME_COLUMNS ? view?.columns : undefined)

const isRun = (columns: readonly number[]): boolean =>
  columns.every((column, at) => column === (columns[0] ?? 0) + at)

interface CellRefs {
  readonly refs: readonly (string | null)[]
  readonly cell_refs?: readonly (readonly (string | null)[])[]
}

function sliced(
  all: CellRefs | undefined,
  skipped: number,
  { rows, width }: { readonly rows: { readonly length: number }; readonly width: number },
): Partial<CellRefs> {
  if (!all) return {}
  const refs = all.refs.slice(skipped, skipped + rows.length)
  const cells = all.cell_refs?.slice(skipped, skipped + rows.length).map((row) => row.slice(0, width))
  return {
    ...(refs.some(Boolean) && !cells ? { refs } : {}),
    ...(cells?.flat().some(Boolean) ? { cell_refs: cells } : {}),
  }
}

/** A sheet has no end: the empty rows and columns behind its content are left out, unless the caller asked for them. */
function withoutEmptyEnd(
  rows: readonly (readonly string[])[],
  header: readonly string[] | undefined,
  asked: { readonly rows: boolean; readonly columns: boolean },
): { readonly rows: readonly (readonly string[])[]; readonly width: number } {
  const kept = asked.rows ? rows : rows.slice(0, rows.findLastIndex((row) => row.some(Boolean)) + 1)
  const all = [...kept, header ?? []]
  const width = all.reduce(
    (most, row) => Math.max(most, asked.columns ? row.length : row.findLastIndex(Boolean) + 1),
    0,
  )
  return { rows: kept.map((row) => row.slice(0, width)), width }
}

/** Refs of the cells that the table has objects for now: those in view. The ref of the first cell is the ref of the row. */
async function refsOfCells(
  ctx: Context,
  table: Table,
  grid: CellGrid<Handle>,
  rows: Span,
  columns: readonly number[],
  all: boolean,
): Promise<CellRefs | undefined> {
  const place = await table.place()
  const below = new Set(place.node.children)
  const byIndex = new Map(
    place.all.flatMap((one) =>
      below.has(one.node) && one.node.index !== undefined && one.node.role !== "columnheader"
        ? [[one.node.index, one] as const]
        : [],
    ),
  )
  const at = (row: number, column: number): Position | undefined => byIndex.get(grid.indexOf(row, column))
  const numbers = within(rows, grid.rowCount)
  const wanted = numbers.map((row) =>
    all ? columns.map((column) => at(row, column)) : [columns.map((column) => at(row, column)).find(Boolean)],
  )
  const refOf = await refsFor(
    ctx,
    place,
    wanted.flat().filter((one) => one !== undefined),
  )
  const given = wanted.map((row) => row.map((one) => (one && refOf(one)) ?? null))
  return { refs: given.map(([first = null]) => first), ...(all ? { cell_refs: given } : {}) }
}

async function refsFor(
  ctx: Context,
  { all, source, snapshotId }: TreePlace,
  chosen: readonly Position[],
): Promise<(place: Position) => string | undefined> {
  if (chosen.length === 0) return () => undefined
  const refs = await ctx.refs.append(entriesFor(chosen, all, source), snapshotId, source.reachedBy)
  const given = new Map(chosen.map(({ node }, i) => [node, qualified(refs[i]!, snapshotId)]))
  return ({ node }) => given.get(node)
}

async function readTree(ctx: Context, table: Table, grid: TreeGrid<Handle>, ask: TableAsk): Promise<Read> {
  if (ask.formulas) throw noFormulas(table)
  const place = await table.place()
  const all = rowsOfTree(place.node, grid)
  const { header, rows, width, count: rowCount } = all
  const titles = header?.cells.map(textOf)
  const asked = spansOf(ask)
  const inView = rowsInView(rows)
  const first = all.first ?? 0
  if (grid.texts && (asked.rows || rowCount <= FEW_ROWS))
    return readNumbered(ctx, table, place, grid.texts, all, ask)
  const wanted = asked.rows ?? { first: first + inView.first, last: first + inView.last }
  refuseOutside(table, wanted, rowCount)
  const span = { first: wanted.first, last: Math.min(wanted.last, rowCount - 1) }
  if (asked.rows) refuseTooMany(lengthOf(span) * width)
  const shown = asked.rows
    ? await rowsNumbered(ctx, all, grid, span)
    : rows.slice(inView.first, inView.last + 1)
  if (!shown) throw noNumbers(table, await ctx.adapter.interfaceFor("table"))
  refuseBeside(table, asked.columns, width)
  const columns = ask.columns
    ? columnsIn(ask.columns, width, titles, false)
    : within(asked.columns ?? { first: 0, last: width - 1 }, width)
  const placed = await Promise.all(shown.map(({ cells }) => placeCells(cells, width, grid)))
  const positions = new Map([...place.all, ...positionsOf(place, shown)].map((one) => [one.node, one]))
  const chosen = shown.flatMap((row, at) =>
    ask.cells ? columns.map((column) => placed[at]?.[column]) : [actorOf(row)],
  )
  const refOf = await refsFor(
    ctx,
    { ...place, all: [...positions.values()] },
    chosen.flatMap((node) => (node && positions.get(node)) ?? []),
  )
  const given = chosen.map((node) => (node && positions.has(node) && refOf(positions.get(node)!)) || null)
  const isAll = place.complete && all.first !== undefined && rowCount <= first + rows.length
  const isWhole = isAll || (asked.rows !== undefined && shown.length === lengthOf(span))
  return {
    rows: placed.map((cells) => columns.map((column) => (cells[column] ? textOf(cells[column]) : ""))),
    row_count: rowCount,
    column_count: width,
    // If rows are created as the list is scrolled, the number of the first one is unknown.
    ...(all.first === undefined ? {} : { first_row: Math.max(wanted.first, grid.rowsAt ? 0 : first) + 1 }),
    first_column: (columns[0] ?? 0) + 1,
    ...(isRun(columns) ? {} : { columns: columns.map((column) => column + 1) }),
    ...(ask.header && titles ? { header: columns.map((column) => titles[column] ?? "") } : {}),
    ...(ask.cells
      ? { cell_refs: shown.map((_, at) => given.slice(at * columns.length, (at + 1) * columns.length)) }
      : { refs: given }),
    ...(isWhole ? {} : { complete: false }),
  }
}

/** Reads rows by their numbers. Those in the tree have refs. */
async function readNumbered(
  ctx: Context,
  table: Table,
  place: TreePlace,
  read: NonNullable<TreeGrid<Handle>["texts"]>,
  { header, rows, width, count }: RowsOfTree,
  ask: TableAsk,
): Promise<Read> {
  const asked = spansOf(ask)
  const wanted = asked.rows ?? { first: 0, last: count - 1 }
  refuseOutside(table, wanted, count)
  const span = { first: wanted.first, last: Math.min(wanted.last, count - 1) }
  const titles = header?.cells.map(textOf)
  const columns = ask.columns
    ? columnsIn(ask.columns, width, titles, false)
    : within(asked.columns ?? { first: 0, last: width - 1 }, width)
  const positions = new Map(place.all.map((one) => [one.node, one]))
  const made = new Map(rows.map((row) => [row.node.index, row]))
  const chosen = within(span, count).map((number) => {
    const row = made.get(number)
    const nodes = ask.cells ? columns.map((column) => row?.cells[column]) : [row && actorOf(row)]
    return nodes.map((node) => node && positions.get(node))
  })
  const [texts, refOf] = await Promise.all([
    read(span),
    refsFor(
      ctx,
      place,
      chosen.flat().filter((one) => one !== undefined),
    ),
  ])
  const given = chosen.map((row) => row.map((one) => (one && refOf(one)) ?? null))
  return {
    rows: texts.map((row) => columns.map((column) => row[column] ?? "")),
    row_count: count,
    column_count: width,
    first_row: span.first + 1,
    first_column: (columns[0] ?? 0) + 1,
    ...(isRun(columns) ? {} : { columns: columns.map((column) => column + 1) }),
    ...(ask.header && titles ? { header: columns.map((column) => titles[column] ?? "") } : {}),
    ...(ask.cells ? { cell_refs: given } : { refs: given.map(([first = null]) => first) }),
  }
}

/** The places of rows that are not in the tree. */
function positionsOf({ node, all }: TreePlace, rows: readonly TreeRow[]): readonly Position[] {
  const table = all.find((one) => one.node === node)
  const known = new Set(all.map((one) => one.node))
  if (!table) return []
  return rows.flatMap((row) => {
    if (known.has(row.node) || row.node.index === undefined) return []
    const above = [...table.ancestors, table.node]
    const path = [...table.path, row.node.index]
    return [...walk(row.node)].map((one) => ({
      node: one.node,
      path: [...path, ...one.path],
      ancestors: [...above, ...one.ancestors],
    }))
  })
}

/** The rows in view of a long table, or its first rows if it does not report which are in view. */
function rowsInView(rows: readonly TreeRow[]): Span {
  if (rows.length <= FEW_ROWS) return { first: 0, last: rows.length - 1 }
  const shows = ({ node, cells }: TreeRow): boolean =>
    [node, ...cells].every(({ states }) => !states.includes("offscreen"))
  const first = rows.findIndex(shows)
  const last = rows.findLastIndex(shows)
  return first < 0 || last - first >= FEW_ROWS ? { first: 0, last: SOME_ROWS - 1 } : { first, last }
}

function refuseOutside({ ref }: Table, { first }: Span, count: number): void {
  if (first < count || first === 0) return
  throw new AppError("INVALID_ARGS", `${ref} has ${count} rows, so row ${first + 1} does not exist`, {
    suggestion: `Read the last ones: agent-desktop table ${ref} --rows ${Math.max(1, count - SOME_ROWS + 1)}-${count}`,
    details: { argument: "rows", row_count: count },
  })
}

function refuseBeside({ ref }: Table, asked: Span | undefined, count: number): void {
  if (!asked || asked.first < count) return
  const [first, last] = [asked.first, count - 1].map((column) => nameOfPlace({ row: 0, column }).slice(0, -1))
  throw new AppError("INVALID_ARGS", `${ref} has ${count} columns, and column ${first} is behind them`, {
    suggestion: count > 0 ? `Its last column is ${last}` : undefined,
    details: { argument: "range", column_count: count },
  })
}

function refuseTooMany(cells: number): void {
  if (cells <= MOST_CELLS) return
  throw new AppError("INVALID_ARGS", `${cells} cells are too many: one call reads at most ${MOST_CELLS}`, {
    suggestion: "Ask for fewer rows with --rows 1-1000, or for fewer columns with --columns",
    details: { argument: "rows" },
  })
}

function noNumbers({ ref }: Table, missing: string): AppError {
  return new AppError(
    "ACTION_NOT_SUPPORTED",
    `The rows of ${ref} have no numbers: the app creates them as the list is scrolled`,
    {
      suggestion: `Leave out --rows to read the rows in view, or look for one: agent-desktop scroll ${ref} --until TEXT`,
      platformDetail: `it lacks ${missing}`,
      details: { kind: "no_table_interface", interface: missing },
    },
  )
}

function noFormulas({ ref, seen }: Table): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `${ref} is ${withArticle(seen.role)} without formulas`, {
    suggestion: `Leave out --formulas: agent-desktop table ${ref}`,
  })
}
