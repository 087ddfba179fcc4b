import type { Direction, Performed } from "../action.ts"
import { WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { bestOf, type Fits } from "../look/row-search.ts"
import {
  allTexts,
  hasUnmade,
  type Joint,
  joint,
  MOST_KEPT,
  orderOf,
  rowsMoved,
  rowsOf,
  runsOf,
  type SeenRow,
  type View,
  viewOf,
} from "../look/rows-in-view.ts"
import { contains, middle } from "../rect.ts"
import { windowOf } from "../refs/resolve.ts"
import { sendAction } from "./deliver.ts"
import { isLate } from "./failures.ts"
import { type ListScroll, MOST_NOTCHES } from "./list-scroll.ts"

/** Scrolls a list by less than one view at a time, and looks at all its rows. */

export type Swept =
  | { readonly kind: "found"; readonly row: SeenRow }
  /**
   * `end`: all rows in the direction were seen, unless some may have been skipped. `late`: the time was up. `stuck`:
   * the list is not at its end and does not move. `away`: the row was seen, but did not come into view.
   */
  | {
      readonly kind: "end" | "late" | "stuck" | "away"
      readonly rows: number
      readonly isSure: boolean
    }

export class Sweep {
  readonly #ctx: Context
  readonly #scroll: ListScroll
  readonly #fits: Fits
  readonly #words: string
  /** True if the app can scroll an element to an edge of the view. */
  #edges: "unknown" | "work" | "none" = "unknown"
  #rowsPerNotch = 3
  /** True if the list creates objects for only some of its rows. */
  #hasUnmade: boolean | undefined

  constructor(ctx: Context, scroll: ListScroll, fits: Fits, words: string) {
    this.#ctx = ctx
    this.#scroll = scroll
    this.#fits = fits
    this.#words = words
  }

  /** `isFree`: the row may be in the other direction, too. */
  async go(direction: Direction, isFree: boolean): Promise<Swept> {
    let view = await this.#look()
    let [isSure, rows] = [true, view.rows.length]
    let most = MOST_NOTCHES
    let isFirst = true
    for (let took = 0; ; ) {
      const hit = bestOf(view.rows, allTexts, this.#fits)
      if (hit) return this.#found(view, hit, { rows, isSure })
      if (this.#ctx.deadline.remaining < took * 1.5 + LEFT_MS) return { kind: "late", rows, isSure }
      const begun = performance.now()
      const step = await this.#step(view, direction, most).catch((error: unknown) => {
        if (this.#ctx.deadline.remaining < LEFT_MS && isLate(error)) return "late" as const
        throw error
      })
      took = performance.now() - begun
      if (typeof step === "string") return { kind: step, rows, isSure }
      const joined = joint(view.rows, step.view.rows, direction)
      if (joined === undefined && step.notches > 1) {
        // It went too far: go back, and continue with a smaller step.
        most = Math.max(1, Math.floor(step.notches / 2))
        view = (await this.#scrolled(step.view, opposite(direction), step.notches)) ?? view
        continue
      }
      isSure &&= joined !== undefined && !joined.isAmbiguous
      rows += joined?.added ?? step.view.rows.length
      if (step.notches > 0) this.#learn(view, step.view, step.notches, joined)
      view = step.view
      const jumped = isFirst && this.#hasUnmade ? await this.#bySize(view, direction, isFree) : undefined
      isFirst = false
      if (jumped?.hit) return this.#found(jumped.view, jumped.hit, { rows, isSure })
      if (jumped) view = jumped.view
    }
  }

  /**
   * Looks for the row of a sorted list where it must be: jumps twice as far each time until it is past the row, and then
   * half as far. If the row is not there, goes back to the start or a little further. undefined: nothing has moved.
   */
  async #bySize(
    first: View,
    direction: Direction,
    isFree: boolean,
  ): Promise<{ readonly view: View; readonly hit?: SeenRow } | undefined> {
    const order = orderOf(madeTogether(first), this.#words)
    const side = order?.place(madeTogether(first), this.#words)
    if (!order || !side || !(isFree || side === (direction === "down" ? 1 : -1))) return undefined
    let [view, to, size, net] = [first, side, this.#notchesOf(first), 0]
    for (let hasPassed = false, jumps = 0; jumps < MOST_JUMPS; jumps++) {
      if (this.#ctx.deadline.remaining < JUMP_MS) break
      const next = await this.#scrolled(view, to > 0 ? "down" : "up", size)
      net += to * size
      view = next ?? (await this.#look())
      const hit = bestOf(view.rows, allTexts, this.#fits)
      if (hit) return { view, hit }
      const now = order.place(madeTogether(view), this.#words)
      if (now === 0) break
      hasPassed ||= now !== to
      size = hasPassed ? Math.max(this.#notchesOf(view), Math.floor(size / 2)) : size * 2
      to = now
    }
    const back = Math.abs(net) + this.#notchesOf(view)
    view = (await this.#scrolled(view, net > 0 ? "up" : "down", back)) ?? (await this.#look())
    return { view }
  }

  /** The notches of half as many rows as are made at once. */
  #notchesOf({ rows }: View): number {
    return Math.max(1, Math.floor(rows.length / 2 / this.#rowsPerNotch))
  }

  /** Goes on by less than what is seen. */
  async #step(first: View, direction: Direction, most: number): Promise<Step | "end" | "stuck"> {
    let view = first
    for (let tries = 0; tries < MOST_STEPS; tries++) {
      const isLast = tries === MOST_STEPS - 1
      const next =
        this.#edges !== "none" && !isLast && view.rows.length > 1
          ? await this.#byEdge(view, direction)
          : await this.#byNotches(view, direction, most)
      if (next) return next
      // The list may have replaced its rows meanwhile.
      view = await this.#look()
      if (view.print !== first.print) return { view, notches: 0 }
    }
    return this.#scroll.hasBar ? "stuck" : "end"
  }

  async #byEdge(view: View, direction: Direction): Promise<Step | undefined> {
    const isDown = direction === "down"
    const anchor = isDown ? view.rows.at(-2) : view.rows[1]
    const sent = anchor && (await this.#toEdge(anchor, isDown ? "top" : "bottom"))
    if (!sent || sent.delivery === "not_delivered") {
      if (this.#edges === "unknown") this.#edges = "none"
      return undefined
    }
    const next = await this.#changed(view, sent)
    if (next) this.#edges = "work"
    return next && { view: next, notches: 0 }
  }

  async #byNotches(view: View, direction: Direction, most: number): Promise<Step | "end" | undefined> {
    const beyond =
      direction === "down"
        ? view.rows.length - view.rows.findIndex(({ isShown }) => isShown)
        : view.rows.findLastIndex(({ isShown }) => isShown) + 1
    // A list that creates objects for some rows also creates them before the new view: a larger step leaves no gap.
    const rows = this.#hasUnmade ? view.rows.length : beyond
    const room = Math.floor(((rows - 2) * 0.9) / this.#rowsPerNotch)
    const notches = Math.max(1, Math.min(most, room))
    const sent = await this.#scroll.by(direction, notches)
    if (!sent) return "end"
    const next = await this.#changed(view, sent)
    return next && { view: next, notches }
  }

  async #toEdge(row: SeenRow, edge: "top" | "bottom"): Promise<Performed | undefined> {
    try {
      return await sendAction(this.#ctx, row.node.handle, { kind: "scroll-to", edge })
    } catch (error) {
      // The list may have replaced the row meanwhile.
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  async #scrolled(view: View, direction: Direction, notches: number): Promise<View | undefined> {
    const sent = await this.#scroll.by(direction, notches)
    return sent && this.#changed(view, sent)
  }

  /** The view once it differs; undefined if it does not change. */
  #changed(before: View, sent: Performed): Promise<View | undefined> {
    return this.#scroll.moved(sent, async () => {
      const now = await this.#look()
      return now.print !== before.print && now.rows.some(({ isShown }) => isShown) ? now : undefined
    })
  }

  #learn(before: View, after: View, notches: number, joined: Joint | undefined): void {
    const moved = joined && rowsMoved(before, after, joined)
    if (moved) this.#rowsPerNotch = moved / notches
  }

  async #found(view: View, hit: SeenRow, searched: { rows: number; isSure: boolean }): Promise<Swept> {
    const row = await this.#bring(view, hit)
    return row ? { kind: "found", row } : { kind: "away", ...searched }
  }

  /** Scrolls until a row that was seen is in view. undefined: it does not come into view. */
  async #bring(seen: View, hit: SeenRow): Promise<SeenRow | undefined> {
    let { view, row } = await this.#inView(seen, hit)
    let jump: Jump | undefined
    for (let tries = 0; !row.isShown; tries++) {
      if (tries === MOST_TRIES || this.#ctx.deadline.expired) return undefined
      // A row out of view of a list that makes rows may report any place.
      const sent = this.#hasUnmade
        ? undefined
        : await sendAction(this.#ctx, row.node.handle, { kind: "scroll-to" })
      const isSent = sent !== undefined && sent.delivery !== "not_delivered"
      const asked = isSent ? await this.#changed(view, sent) : undefined
      if (!asked) jump = this.#jumpTo(view, row, jump)
      const next = asked ?? (jump && (await this.#towards(view, jump)))
      if (next) ({ view, row } = await this.#inView(next, bestOf(next.rows, allTexts, this.#fits) ?? row))
    }
    return row
  }

  /**
   * A page may report rows as visible that it keeps far above and below the view. If a hit test does not find the row,
   * those it does find are in view, and the rows between them.
   */
  async #inView(view: View, row: SeenRow): Promise<{ readonly view: View; readonly row: SeenRow }> {
    const { adapter } = this.#ctx
    const isHit = async ({ node, bounds }: SeenRow): Promise<boolean | undefined> => {
      if (!bounds) return undefined
      const at = middle(bounds)
      const hit = await adapter.hit(node.handle, at, "quick")
      if (hit.kind !== "occluded") return hit.kind === "hit" ? true : undefined
      if (!hit.isOtherApp) return false
      // Behind another window it may be in view. Outside its own window it is not.
      const own = (await windowOf(adapter, this.#scroll.list.entry))?.bounds
      return own && !contains(own, at) ? false : undefined
    }
    const at = view.rows.indexOf(row)
    if (at < 0 || !row.isShown || (await isHit(row)) !== false) return { view, row }
    const hits = await Promise.all(view.rows.map((one) => one.isShown && isHit(one)))
    const drawn = view.rows.flatMap(({ bounds }, i) => (hits[i] === true && bounds ? [bounds] : []))
    // A window behind others, for example, gives no answer.
    if (drawn.length === 0) return { view, row }
    const top = Math.min(...drawn.map(({ y }) => y))
    const bottom = Math.max(...drawn.map(({ y, height }) => y + height))
    const isBeyond = ({ bounds }: SeenRow): boolean =>
      bounds !== undefined && (middle(bounds).y < top || middle(bounds).y > bottom)
    const rows = view.rows.map((one) => (one.isShown && isBeyond(one) ? { ...one, isShown: false } : one))
    return { view: { ...view, rows }, row: rows[at] ?? row }
  }

  /**
   * The next step towards a row. If it is one of the few that are kept from far away, its distance is unknown: goes twice
   * as far each time until it has passed the row, and then half as far.
   */
  #jumpTo({ rows }: View, row: SeenRow, last: Jump | undefined): Jump {
    const at = rows.indexOf(row)
    const first = rows.findIndex(({ isShown }) => isShown)
    const distance = at < first ? at - first : at - rows.findLastIndex(({ isShown }) => isShown)
    const near = Math.max(1, Math.floor(Math.abs(distance) / this.#rowsPerNotch))
    const direction = distance < 0 ? "up" : "down"
    const hasPassed = last !== undefined && (last.hasPassed || last.direction !== direction)
    const isKept = this.#hasUnmade && (at < MOST_KEPT || at >= rows.length - MOST_KEPT)
    const far = last && isKept ? Math.floor(hasPassed ? last.notches / 2 : last.notches * 2) : 0
    const most = this.#scroll.hasBar ? Number.POSITIVE_INFINITY : MOST_NOTCHES
    return { direction, notches: Math.min(most, Math.max(near, far)), hasPassed }
  }

  async #towards(view: View, { direction, notches }: Jump): Promise<View | undefined> {
    const next = await this.#scrolled(view, direction, notches)
    if (next) this.#learn(view, next, notches, joint(view.rows, next.rows, direction))
    return next
  }

  async #look(): Promise<View> {
    const read = async (includeHidden: boolean) =>
      (
        await this.#ctx.adapter.tree(
          { kind: "element", handle: this.#scroll.list.seen.handle },
          { ...WHOLE_TREE, includeHidden },
        )
      ).root
    const first = await read(this.#hasUnmade === true)
    // A list that creates objects for only some rows also has them for rows out of view, which look hidden.
    const isNew = this.#hasUnmade === undefined && hasUnmade(first)
    this.#hasUnmade ??= hasUnmade(first)
    return viewOf(await this.#asDrawn(rowsOf(isNew ? await read(true) : first)))
  }

  /**
   * GTK 4 leaves rows that went out of view at their last positions. Consecutive rows from top to bottom are either all
   * visible or all left over; a hit test of one decides.
   */
  async #asDrawn(rows: readonly SeenRow[]): Promise<readonly SeenRow[]> {
    const runs = runsOf(rows)
    if (runs.length < 2) return rows
    const drawn = await Promise.all(
      runs.map(async (run) => {
        const { node, bounds } = run[Math.floor(run.length / 2)]!
        return bounds && (await this.#ctx.adapter.hit(node.handle, middle(bounds))).kind === "hit"
      }),
    )
    // A window behind others, for example, gives no answer.
    if (!drawn.includes(true)) return rows
    const shown = new Set(runs.filter((_, at) => drawn[at]).flat())
    return rows.map((row) => (row.isShown && !shown.has(row) ? { ...row, isShown: false } : row))
  }
}

/** The rows around those that show, without the few that are kept from far away. */
const madeTogether = ({ rows }: View): readonly SeenRow[] => rows.slice(MOST_KEPT, -MOST_KEPT)

/** Enough to find one of a million rows. */
const MOST_JUMPS = 40
/** Time that is left to go back. */
const JUMP_MS = 3000

const MOST_TRIES = 30
/** Time reserved to bring the row into view. */
const LEFT_MS = 500

/** Attempts to scroll on before the list counts as stuck. */
const MOST_STEPS = 4

interface Jump {
  readonly direction: Direction
  readonly notches: number
  /** True if the view has been on the other side of the row. */
  readonly hasPassed: boolean
}

interface Step {
  readonly view: View
  readonly notches: number
}

const opposite = (direction: Direction): Direction => (direction === "down" ? "up" : "down")
