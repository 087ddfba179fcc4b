import type { Handle, Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellGrid, type CellPlace, CUT, type Grid, nameOfPlace, placeNamed } from "../content/grid.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { withArticle } from "../node.ts"
import { readTarget } from "../refs/read-target.ts"
import type { RefChoice, Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import {
  cellNamed,
  fillCellOf,
  focusCell,
  isSlowToType,
  slowToType,
  targetAt,
  UNTYPABLE,
  unlessFocusMoves,
} from "./cells.ts"
import { refuseCoveredIn } from "./covered.ts"
import { isLate } from "./failures.ts"
import { type ActedOn, actedOn } from "./result.ts"
import { refuseUnreachable } from "./unreachable.ts"

/**
 * Writes a block of cells into a sheet as a user does, cell by cell, or into the fields of a table. Refuses everything
 * that is known to fail before it writes the first cell. Then reads the block back.
 */

export interface CellsSet {
  readonly action: "set-cells"
  readonly ref_id: string
  readonly element: ActedOn
  /** The block, such as `B2:D9`. */
  readonly range: string
  readonly cells: number
  readonly differences?: readonly Difference[]
  readonly method: string
  readonly disposition: Disposition
  readonly doubt?: string
}

/** A cell that shows something other than was written: a result, another format, or another text. */
interface Difference {
  readonly cell: string
  readonly wanted: string
  readonly shows: string
  /** The app stored a number as a text: 1.5 in a sheet whose language writes 1,5. */
  readonly is?: "text"
}

export async function setCells(
  ctx: Context,
  choice: RefChoice,
  at: string,
  rows: readonly (readonly string[])[],
): Promise<CellsSet> {
  const start = placeNamed(at)
  if (!start) throw invalid("at", `'${at}' is not the address of a cell, such as A1`)
  const block = blockOf(start, rows)
  const { target, sheet, grid } = await readTarget(ctx, choice, (found) => openSheet(ctx, found))
  if (grid.kind === "cells" && grid.forgetsTexts) throw notSaved(target)
  const isSheet = grid.kind === "cells" && grid.isSheet
  const { method, differences, doubt } = isSheet
    ? await writeSheet(ctx, target, grid, block)
    : await writeFields(ctx, target, sheet, grid, block)
  // LibreOffice may keep reporting the old text of a cleared cell, although it shows nothing.
  const reported = isSheet ? differences.filter(({ wanted }) => wanted !== "") : differences
  const last = {
    row: Math.max(...block.map(({ row }) => row)),
    column: Math.max(...block.map(({ column }) => column)),
  }
  return {
    action: "set-cells",
    ref_id: target.ref,
    element: actedOn(sheet),
    range: `${nameOfPlace(start)}:${nameOfPlace(last)}`,
    cells: block.length,
    ...(reported.length > 0 ? { differences: reported } : {}),
    method,
    disposition: {
      delivery: differences.length > 0 || doubt !== undefined ? "delivered_unverified" : "delivered_verified",
      retry: "safe",
    },
    ...(doubt === undefined ? {} : { doubt }),
  }
}

async function openSheet(
  ctx: Context,
  target: Target,
): Promise<{ readonly target: Target; readonly sheet: Seen; readonly grid: Grid<Handle> }> {
  await refuseUnreachable(ctx, target)
  const sheet = await ctx.adapter.tableAround(target.seen.handle)
  const grid = sheet && (await ctx.adapter.grid(sheet.handle))
  if (!sheet || !grid) throw notASheet(target, await ctx.adapter.interfaceFor("table"))
  return { target, sheet, grid }
}

interface Written {
  readonly method: string
  readonly differences: readonly Difference[]
  /** Why it is not known what the cells show. */
  readonly doubt?: string
}

async function writeSheet(
  ctx: Context,
  target: Target,
  grid: CellGrid<Handle>,
  block: readonly Cell[],
): Promise<Written> {
  const broken = block.find(({ text }) => UNTYPABLE.test(text))
  if (broken)
    throw invalid(
      "tsv",
      `The text for ${nameOfPlace(broken)} has a tab, or a line break at its start or in a formula, which would end the cell`,
    )
  const slow = block.find(({ text }) => isSlowToType(text))
  if (slow) throw slowToType(nameOfPlace(slow), cellNamed(slow))
  await refuseUnwritable(grid, block)
  await refuseCoveredIn(ctx, grid, block, async (place) => {
    const cell = await cellAt(ctx, target, grid, place)
    await unlessFocusMoves(() => focusCell(ctx, cell, FOCUS))
    return cell
  })
  const last = block.at(-1)
  await write(ctx, block, async (one) => {
    const { text, ...place } = one
    const cell = await cellAt(ctx, target, grid, place)
    const late = await fillCellOf(ctx, cell, { kind: "set-value", value: text }, text, () =>
      read(ctx, grid, place),
    )
    return one === last ? undefined : late
  })
  return { method: "keyboard", ...(await readBack(ctx, target, grid, block)) }
}

/** Sets the fields in the cells of a table that is not a sheet, or edits the cells in place. */
async function writeFields(
  ctx: Context,
  target: Target,
  table: Seen,
  grid: Grid<Handle>,
  block: readonly Cell[],
): Promise<Written> {
  const { fieldsOf, fillField, movedRow, refuseOtherRow, refuseUneditable } = await import("./field-cells.ts")
  const seen = await fieldsOf(ctx, table, grid, block)
  const isInPlace = seen.some(({ field }) => field.editedBy)
  // Another command may be writing into this table until it is this one's turn.
  if (isInPlace) await ctx.adapter.takeTurn()
  const fields = isInPlace ? await fieldsOf(ctx, table, grid, block) : seen
  await refuseUneditable(ctx, target, fields)
  const differences: Difference[] = []
  await write(ctx, fields, async (cell) => {
    await refuseUnreachable(ctx, target)
    await refuseOtherRow(ctx, cell)
    const { shows, isMoved } = await fillField(ctx, target, cell)
    if (shows !== cell.text) differences.push({ cell: nameOfPlace(cell), wanted: cell.text, shows })
    return isMoved ? movedRow(cell) : undefined
  })
  return { method: isInPlace ? "keyboard" : "set-value", differences }
}

const FOCUS = { kind: "focus" } as const

interface Cell extends CellPlace {
  readonly text: string
}

const MOST_CELLS = 2000

function blockOf({ row, column }: CellPlace, rows: readonly (readonly string[])[]): readonly Cell[] {
  const cells = rows.flatMap((texts, down) =>
    texts.map((text, right) => ({ row: row + down, column: column + right, text })),
  )
  if (cells.length > MOST_CELLS)
    throw invalid("tsv", `${cells.length} cells are too many: one call writes at most ${MOST_CELLS}`)
  const odd = cells.find(({ text }) => /[^\P{Cc}\n\t]/u.test(text))
  if (odd) throw invalid("tsv", `The text for ${nameOfPlace(odd)} has a control character`)
  return cells
}

function invalid(argument: string, message: string): AppError {
  return new AppError("INVALID_ARGS", message, { details: { argument } })
}

async function refuseUnwritable(grid: CellGrid<Handle>, block: readonly Cell[]): Promise<void> {
  const outside = block.find(({ row, column }) => row >= grid.rowCount || column >= grid.columnCount)
  if (outside) throw invalid("at", `${nameOfPlace(outside)} is outside the sheet`)
  const all = await grid.unwritable(block)
  if (all.length === 0) return
  const locked = all.filter(({ why }) => why === "locked")
  const [cells, what, suggestion] =
    locked.length > 0
      ? [
          locked,
          "cannot be edited",
          "The sheet is protected or read-only: choose other cells, or ask its owner",
        ]
      : [all, "cannot be reached: their rows or columns are hidden or filtered out", SHOW_FIRST]
  throw new AppError("ACTION_FAILED", `${cells.map(nameOfPlace).slice(0, 5).join(", ")} ${what}`, {
    suggestion,
    details: { kind: "not_actionable", cells: cells.slice(0, 50).map(nameOfPlace) },
    disposition: NOTHING_DELIVERED,
  })
}

const SHOW_FIRST =
  "Nothing was written. Show them first, e.g. agent-desktop press ctrl+a, then agent-desktop menu 'Format > Rows > Show'; or take the filter away; or choose other cells"

/**
 * Fills the cells one after the other. An error says which ones were written. `fill` returns an error if it has written
 * its cell, and no other one may be written after it.
 */
async function write<C extends Cell>(
  ctx: Context,
  block: readonly C[],
  fill: (cell: C) => Promise<AppError | undefined>,
): Promise<void> {
  let done = 0
  try {
    for (const cell of block) {
      if (ctx.deadline.expired) throw outOfTime()
      const end = await fill(cell)
      done++
      if (end) throw end
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const next = block[done]
    // A dialog blocks the sheet, even if something else opened it.
    const isAsked = error.details?.window_id !== undefined
    // The same place may be another row now.
    const isMoved = error.details?.kind === "not_there"
    const perhaps =
      next && error.disposition?.delivery === "delivery_uncertain" ? `, and perhaps ${nameOfPlace(next)}` : ""
    // The next try would end in the same way.
    const isRefused =
      done === 0 && error.disposition?.delivery === "not_delivered" && error.code !== "TIMEOUT"
    const retry = isMoved || error.disposition?.retry === "unknown" ? "unknown" : "safe"
    throw new AppError(
      error.code,
      `${done} of ${block.length} cells were written${perhaps}: ${error.message}`,
      {
        suggestion:
          isAsked || isMoved || isRefused
            ? error.suggestion
            : next &&
              `See the sheet with 'table', then continue at ${nameOfPlace(next)}; --timeout-ms gives a large block more time`,
        details: { ...error.details, written: done, next: next && nameOfPlace(next) },
        disposition:
          done === 0 && error.disposition ? error.disposition : { delivery: "delivery_uncertain", retry },
      },
    )
  }
}

const outOfTime = (): AppError =>
  new AppError("TIMEOUT", "The time ran out before the next cell", { disposition: NOTHING_DELIVERED })

/** A cell of the sheet as the target of an action. */
async function cellAt(
  ctx: Context,
  target: Target,
  grid: CellGrid<Handle>,
  place: CellPlace,
): Promise<Target> {
  const seen = await read(ctx, grid, place)
  if (!seen) throw notThere(target, place)
  return targetAt(target, seen)
}

async function read(ctx: Context, grid: CellGrid<Handle>, place: CellPlace): Promise<Seen | undefined> {
  const handle = await grid.cell(place)
  return handle && (await ctx.adapter.read(handle))
}

/** Compares the block with what was written. If the app is late, returns a doubt: it has received the keys. */
async function readBack(
  ctx: Context,
  target: Target,
  grid: CellGrid<Handle>,
  block: readonly Cell[],
): Promise<Omit<Written, "method">> {
  try {
    return { differences: await compared(ctx, target, grid, block) }
  } catch (error) {
    if (!isLate(error)) throw error
    return { differences: [], doubt: `The cells were typed, but could not be read back: ${error.message}` }
  }
}

/** Cells that do not show what was written, once the app has had time to show it. */
async function compared(
  ctx: Context,
  { entry }: Target,
  grid: CellGrid<Handle>,
  block: readonly Cell[],
): Promise<readonly Difference[]> {
  let different: readonly Difference[] = []
  const isSame = async (): Promise<true | undefined> => {
    different = await differencesIn(grid, block)
    return different.length === 0 ? true : undefined
  }
  await until(ctx, isSame, { pids: [entry.pid], deadline: ctx.deadline.slice(SHOWING_MS) })
  return different
}

/** How long the app may take to show the block. */
const SHOWING_MS = 1000

async function differencesIn(grid: CellGrid<Handle>, block: readonly Cell[]): Promise<readonly Difference[]> {
  const first = block[0]!
  const rows = { first: first.row, last: Math.max(...block.map(({ row }) => row)) }
  const width = Math.max(...block.map(({ column }) => column)) - first.column + 1
  const columns = Array.from({ length: width }, (_, at) => first.column + at)
  const hasFormulas = block.some(({ text }) => text.startsWith("="))
  const [shown, formulas, numbers] = await Promise.all([
    grid.texts(rows, columns, false),
    hasFormulas ? grid.texts(rows, columns, true) : undefined,
    grid.numbers?.(block),
  ])
  return block.flatMap(({ row, column, text }, at): readonly Difference[] => {
    const [down, right] = [row - first.row, column - first.column]
    const shows = shown[down]?.[right] ?? ""
    const formula = formulas?.[down]?.[right] ?? ""
    if (shows === text && isTakenForText(text, numbers?.[at]))
      return [{ cell: nameOfPlace({ row, column }), wanted: text, shows, is: "text" }]
    if (isWritten(text, shows, formula)) return []
    return [
      { cell: nameOfPlace({ row, column }), wanted: text, shows: text.startsWith("=") ? formula : shows },
    ]
  })
}

/** True for a number such as 1.5 in a sheet whose language writes 1,5. */
function isTakenForText(wanted: string, holds: number | undefined): boolean {
  const number = losesDigits(wanted) ? undefined : numberIn(wanted)
  return number !== undefined && holds !== undefined && !isNear(number, holds)
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a))

function isWritten(wanted: string, shows: string, formula: string): boolean {
  if (wanted.startsWith("=") && wanted.length > 1) {
    if (!formula.endsWith(CUT)) return plain(formula) === plain(wanted)
    return plain(wanted).startsWith(plain(formula.slice(0, -CUT.length)))
  }
  // An apostrophe makes the rest a text.
  if (shows === wanted || (wanted.startsWith("'") && shows === wanted.slice(1))) return true
  if (wanted.startsWith("'") || losesDigits(wanted)) return false
  const [a, b] = [numberIn(wanted), numberIn(shows)]
  return a !== undefined && b !== undefined && isNear(a, b)
}

/** A formula without blanks, in capitals, because the app reformats it. */
const plain = (formula: string): string => formula.replaceAll(/\s+/g, "").toUpperCase()

function numberIn(text: string): number | undefined {
  const bare = text.trim()
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(bare) ? Number(bare) : undefined
}

/** True for digits that must not become a number: leading zeros, as in a postal code, or too many digits. */
const losesDigits = (text: string): boolean =>
  /^\s*[-+]?0\d/.test(text) || text.replaceAll(/e.*|\D/gi, "").replace(/^0+/, "").length > 15

function notASheet({ ref, seen }: Target, missing: string): AppError {
  return new AppError(
    "ACTION_NOT_SUPPORTED",
    `${ref} is ${withArticle(seen.role)}, not in a sheet or table`,
    {
      suggestion: "Give the table or a cell of it; the only one of a window: agent-desktop table --app NAME",
      platformDetail: `neither it nor anything around it has ${missing}, or rows`,
      details: { kind: "no_table_interface", interface: missing },
      disposition: NOTHING_DELIVERED,
    },
  )
}

function notSaved({ ref }: Target): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `${ref} is on a slide: the app does not save texts set there`, {
    suggestion: `Type them: agent-desktop table ${ref} --cells, then for a cell: click REF, double-click REF, press ctrl+a, press 'shift+l i m a', press escape`,
    details: { kind: "not_saved" },
    disposition: NOTHING_DELIVERED,
  })
}

function notThere({ ref }: Target, place: CellPlace): AppError {
  return new AppError("ACTION_FAILED", `${ref} has no cell ${nameOfPlace(place)} now`, {
    suggestion: "Run 'table' to see the sheet",
    details: { kind: "not_there" },
    disposition: NOTHING_DELIVERED,
  })
}
