import type { Direction, InputPolicy, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { CellGrid } from "../content/grid.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { type Fits, named, searchGrid, withWords } from "../look/row-search.ts"
import { look } from "../look/search.ts"
import { refSource } from "../look/surface.ts"
import { hasTrait } from "../node.ts"
import { entriesFor } from "../refs/allocate.ts"
import { type RefChoice, resolve, type Target, windowOf } from "../refs/resolve.ts"
import { quoted } from "../shown-text.ts"
import { wordsOf } from "../tree.ts"
import { sendAction } from "./deliver.ts"
import { ListScroll, MOST_NOTCHES } from "./list-scroll.ts"
import { Sweep } from "./list-sweep.ts"
import { type ActedOn, actedOn } from "./result.ts"
import { refuseUnreachable } from "./unreachable.ts"

/**
 * Scrolls a table, list or page until a row shows a text. A table that can be read by row and column is searched first,
 * and scrolled once. Anything else is scrolled by less than one view at a time, so that no row is skipped.
 */

export interface RowShown {
  readonly action: "scroll"
  readonly ref_id: string
  readonly element: ActedOn
  readonly found: FoundRow
  readonly method: string
  readonly already?: true
  readonly disposition: Disposition
}

export interface FoundRow {
  readonly ref_id?: string
  /** Counts from 1. Absent if the app does not report it. */
  readonly row?: number
  readonly texts: readonly string[]
}

export interface RowAsk {
  readonly direction: Direction
  readonly until: string
  readonly exact: boolean
  readonly input?: InputPolicy
}

export async function scrollUntil(ctx: Context, choice: RefChoice, ask: RowAsk): Promise<RowShown> {
  if (ask.direction === "left" || ask.direction === "right") throw sideways()
  const target = await resolve(ctx, choice)
  await refuseUnreachable(ctx, target)
  const search = new RowSearch(ctx, target, withWords(ask.until, ask.exact), ask.until, ask.input ?? "auto")
  const outcome = await search.go(ask.direction)
  if (outcome.kind !== "found") throw search.failure(outcome, ask.until)
  const { hit } = outcome
  return {
    action: "scroll",
    ref_id: target.ref,
    element: actedOn(target.seen),
    found: {
      ref_id: await refOf(ctx, target, hit),
      ...(hit.row === undefined ? {} : { row: hit.row + 1 }),
      texts: hit.texts,
    },
    method: search.method,
    ...(search.hasMoved ? {} : { already: true }),
    disposition: { delivery: search.hasMoved ? "delivered_verified" : "not_delivered", retry: "safe" },
  }
}

/**
 * Brings the row that a description names into view, if it is the only one. Fails if several rows have this name, or if
 * the list could not be searched in time. `only`: all rows were searched. undefined: there is no such row.
 */
export async function revealRow(
  ctx: Context,
  list: Target,
  name: string,
): Promise<"only" | "first" | undefined> {
  const search = new RowSearch(ctx, list, named(name), name, "auto")
  for (const direction of ["down", "up"] as const) {
    const outcome = await search.go(direction, 2)
    if (outcome.kind === "found" && outcome.others > 0) throw severalRows(list.ref, name)
    if (outcome.kind === "found") return outcome.hit.row === undefined ? "first" : "only"
    if (outcome.kind !== "end") throw search.failure(outcome, name)
    // A table was searched from its first row to its last.
    if (outcome.searched.row_count !== undefined) return undefined
  }
  return undefined
}

interface Hit {
  /** The element of the row to act on. */
  readonly seen: Seen
  readonly row?: number
  readonly texts: readonly string[]
}

type Outcome =
  | { readonly kind: "found"; readonly hit: Hit; readonly others: number }
  /** `changing`: rows came or went during the search, and shifted the others. */
  | { readonly kind: "end" | "late" | "stuck" | "away" | "changing"; readonly searched: Searched }

/** Time that another search needs at least. */
const AGAIN_MS = 1500

interface Searched {
  /** Counts from 1. Absent if the app does not report it. */
  readonly first_row?: number
  readonly last_row?: number
  readonly row_count?: number
  /** The number of rows seen, if they have no numbers. */
  readonly rows_seen?: number
  readonly may_have_missed?: true
  readonly from_here?: boolean
  readonly needed_ms?: number
  readonly direction: Direction
}

class RowSearch {
  readonly #ctx: Context
  readonly #target: Target
  readonly #fits: Fits
  readonly #words: string
  readonly #policy: InputPolicy
  #scroll: ListScroll

  constructor(ctx: Context, target: Target, fits: Fits, words: string, policy: InputPolicy) {
    this.#ctx = ctx
    this.#target = target
    this.#fits = fits
    this.#words = words
    this.#policy = policy
    this.#scroll = new ListScroll(ctx, target, policy)
  }

  get method(): string {
    return this.#scroll.method
  }

  get hasMoved(): boolean {
    return this.#scroll.hasMoved
  }

  /** `enough`: stops searching a table after this many matching rows. */
  async go(direction: Direction, enough = 1): Promise<Outcome> {
    const table = await this.#ctx.adapter.tableAround(this.#target.seen.handle)
    const grid = table && (await this.#ctx.adapter.grid(table.handle))
    const list: Target = table ? { ...this.#target, seen: table } : this.#target
    this.#scroll = new ListScroll(this.#ctx, list, this.#policy)
    if (!table || grid?.kind !== "cells") return this.#bySweep(direction, enough > 1)
    const outcome = await this.#inGrid(grid, direction, enough)
    if (outcome.kind === "end" && (await this.#rowCount(table)) !== grid.rowCount)
      return this.#again({ ...outcome, kind: "changing" }, direction, enough)
    return outcome.kind === "changing" ? this.#again(outcome, direction, enough) : outcome
  }

  /** Searches once more, as long as there is time. */
  #again(outcome: Outcome, direction: Direction, enough: number): Promise<Outcome> | Outcome {
    return this.#ctx.deadline.remaining > AGAIN_MS ? this.go(direction, enough) : outcome
  }

  async #rowCount({ handle }: Seen): Promise<number | undefined> {
    const grid = await this.#ctx.adapter.grid(handle)
    return grid?.kind === "cells" ? grid.rowCount : undefined
  }

  async #bySweep(direction: Direction, isFree: boolean): Promise<Outcome> {
    const swept = await new Sweep(this.#ctx, this.#scroll, this.#fits, this.#words).go(direction, isFree)
    if (swept.kind === "found")
      return { kind: "found", hit: { seen: swept.row.actor, texts: swept.row.texts }, others: 0 }
    const { kind, rows, isSure } = swept
    const missed = isSure ? {} : { may_have_missed: true as const }
    return { kind, searched: { rows_seen: rows, ...missed, from_here: true, direction } }
  }

  failure({ kind, searched }: Exclude<Outcome, { kind: "found" }>, words: string): AppError {
    const { ref } = this.#target
    const { direction, needed_ms, from_here, ...details } = searched
    const rows =
      searched.first_row === undefined
        ? `the ${searched.rows_seen ?? 0} rows from here ${direction}`
        : `rows ${searched.first_row} to ${searched.last_row} of ${searched.row_count}`
    const disposition: Disposition = this.hasMoved
      ? { delivery: "delivered_verified", retry: "safe" }
      : NOTHING_DELIVERED
    const number = Math.ceil(((needed_ms ?? 0) * 1.5 + 5000) / 5000) * 5000
    if (kind === "late")
      return new AppError("TIMEOUT", `The time was up: ${rows} in ${ref} do not show ${quoted(words)}`, {
        suggestion: from_here
          ? "Run it again: it continues from here. --timeout-ms 60000 gives it more time"
          : `Give it more time: --timeout-ms ${number}`,
        details: { kind: "search", ...details },
        disposition,
      })
    if (kind === "changing")
      return new AppError(
        "TIMEOUT",
        `The rows of ${ref} kept changing while they were searched for ${quoted(words)}`,
        {
          suggestion: "Wait until the app is done, or filter the list, then run it again",
          details: { kind: "search", ...details },
          disposition,
        },
      )
    if (kind === "stuck")
      return new AppError(
        "ACTION_FAILED",
        `${ref} has stopped moving: ${rows} do not show ${quoted(words)}`,
        {
          suggestion: "There are more rows. Run it again: it continues from here",
          details: { kind: "no_move", ...details },
          disposition,
        },
      )
    if (kind === "away")
      return new AppError("ACTION_FAILED", `${ref} does not scroll to the row that shows ${quoted(words)}`, {
        suggestion: "Run it again: it continues from here. --timeout-ms 60000 gives it more time",
        details: { kind: "no_move", ...details },
        disposition,
      })
    const isAll = searched.first_row === 1 && searched.last_row === searched.row_count
    const back = direction === "down" ? "up" : "down"
    const missed = searched.may_have_missed ? "; some may have been skipped" : ""
    return new AppError("ELEMENT_NOT_FOUND", `None of ${rows} in ${ref} shows ${quoted(words)}${missed}`, {
      suggestion: isAll
        ? `See its rows: agent-desktop table ${ref}`
        : `The rows ${direction === "down" ? "before" : "after"} them were not searched: agent-desktop scroll ${ref} ${back} --until TEXT`,
      details: { kind: "no_row", ...details },
      disposition,
    })
  }

  async #inGrid(grid: CellGrid<Seen["handle"]>, direction: Direction, enough: number): Promise<Outcome> {
    const view = await grid.inView()
    const from = direction === "down" ? (view?.rows.first ?? 0) : (view?.rows.last ?? grid.rowCount - 1)
    const isAll = enough > 1
    const span = isAll
      ? { from: 0, to: grid.rowCount - 1 }
      : { from, to: direction === "down" ? grid.rowCount - 1 : 0 }
    const { found, searched, wholeMs } = await searchGrid(this.#ctx, grid, span, this.#fits, enough)
    const [best] = found
    const isWhole = searched.last - searched.first === Math.abs(span.to - span.from)
    if (!best || (isAll && !isWhole && found.length < enough))
      return {
        kind: isWhole ? "end" : "late",
        searched: {
          first_row: searched.first + 1,
          last_row: searched.last + 1,
          row_count: grid.rowCount,
          needed_ms: wholeMs,
          direction,
        },
      }
    if (found.length > 1 && isAll)
      return { kind: "found", hit: { seen: this.#target.seen, texts: best.texts }, others: found.length - 1 }
    const handle = await grid.cell(best)
    const seen = handle && (await this.#ctx.adapter.read(handle))
    if (!seen) throw gone(this.#target.ref)
    await showRow(this.#ctx, this.#scroll, grid, seen, best.row)
    const now = await this.#ctx.adapter.read(seen.handle)
    const [[text = ""] = []] = await grid.texts({ first: best.row, last: best.row }, [best.column], false)
    if (!this.#fits(text)) return { kind: "changing", searched: { row_count: grid.rowCount, direction } }
    return {
      kind: "found",
      hit: { seen: now ?? seen, row: best.row, texts: best.texts },
      others: found.length - 1,
    }
  }
}

/** Scrolls a table until a row is in view. `cell`: of this row. */
export async function showRow(
  ctx: Context,
  scroll: ListScroll,
  grid: CellGrid<Seen["handle"]>,
  cell: Seen,
  row: number,
): Promise<void> {
  const isMoved = async (first: number, sent: Performed): Promise<boolean> => {
    const see = async () => (await grid.inView())?.rows.first !== first || undefined
    return (await scroll.moved(sent, see)) === true
  }
  let rowsPerNotch = 3
  let hasAsked = false
  while (!ctx.deadline.expired) {
    const view = (await grid.inView())?.rows
    if (!view || (row >= view.first && row <= view.last)) return
    if (!hasAsked) {
      hasAsked = true
      const sent = await sendAction(ctx, cell.handle, { kind: "scroll-to" })
      if (sent.delivery !== "not_delivered" && (await isMoved(view.first, sent))) continue
    }
    const distance = row < view.first ? row - view.first : row - view.last
    const notches = Math.min(MOST_NOTCHES, Math.max(1, Math.floor(Math.abs(distance) / rowsPerNotch)))
    const sent = await scroll.by(distance < 0 ? "up" : "down", notches)
    if (!sent || !(await isMoved(view.first, sent))) throw stuck(scroll.list.ref, row)
    const after = (await grid.inView())?.rows
    const moved = Math.abs((after?.first ?? view.first) - view.first)
    if (moved > 0) rowsPerNotch = Math.max(0.1, moved / notches)
  }
}

/** A ref for the row in its window's tree. A list may have recreated its rows since. */
async function refOf(ctx: Context, { entry }: Target, { seen, texts }: Hit): Promise<string | undefined> {
  const window = await windowOf(ctx.adapter, entry)
  if (!window) return undefined
  const { tree, places, processStart } = await look(ctx, window, { includeHidden: false, fits: () => false })
  const same = places.filter(({ node }) => node.address !== undefined && node.address === seen.address)
  const words = wordsOf(seen) ?? texts.find(Boolean)
  const alike = places.filter(({ node }) => hasTrait(node.role, "item") && words && wordsOf(node) === words)
  const [place, ...others] = same.length > 0 ? same : alike
  if (!place || others.length > 0) return undefined
  const source = { ...refSource(tree, processStart ?? entry.process_start), rootPath: [] }
  const [ref] = await ctx.refs.append(entriesFor([place], places, source), undefined, source.reachedBy)
  return ref
}

const sideways = (): AppError =>
  new AppError("INVALID_ARGS", "--until searches up or down", { details: { argument: "direction" } })

const gone = (ref: string): AppError =>
  new AppError("ACTION_FAILED", `The row in ${ref} is gone`, {
    suggestion: "Run it again",
    disposition: NOTHING_DELIVERED,
  })

const stuck = (ref: string, row: number): AppError =>
  new AppError("ACTION_FAILED", `The list does not scroll to row ${row + 1} of ${ref}`, {
    suggestion: `Read the row: agent-desktop table ${ref} --rows ${row + 1}`,
    details: { kind: "no_move", row: row + 1 },
    disposition: NOTHING_DELIVERED,
  })

const severalRows = (ref: string, name: string): AppError =>
  new AppError("AMBIGUOUS_TARGET", `More than one row of ${ref} shows ${quoted(name)}`, {
    suggestion: `Choose one: agent-desktop scroll ${ref} --until TEXT, then use its ref`,
    disposition: NOTHING_DELIVERED,
  })
