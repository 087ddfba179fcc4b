import type { Direction, InputPolicy, Performed } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { untilChanged } from "../until.ts"
import { sendAction } from "./deliver.ts"
import { turnWheel } from "./pointer.ts"

/** Scrolls one list several times, and keeps what it has learned about it. */
export class ListScroll {
  method = "none"
  hasMoved = false
  /** True if it has a scroll bar, which reports its end. A wheel does not. */
  hasBar = false
  readonly list: Target
  readonly #ctx: Context
  readonly #policy: InputPolicy

  constructor(ctx: Context, list: Target, policy: InputPolicy) {
    this.#ctx = ctx
    this.list = list
    this.#policy = policy
  }

  /** undefined: it is at its end. */
  async by(direction: Direction, amount: number): Promise<Performed | undefined> {
    const action = { kind: "scroll", direction, amount } as const
    try {
      const sent = await sendAction(this.#ctx, this.list.seen.handle, action)
      if (sent.delivery !== "not_delivered") {
        this.hasBar = true
        return sent
      }
      if (this.#policy === "semantic") throw noRoute(this.list.ref)
      return await turnWheel(this.#ctx, this.list, action)
    } catch (error) {
      if (error instanceof AppError && error.details?.kind === "at_end") return undefined
      throw error
    }
  }

  /** Waits until `see` reports a view that has moved; undefined if it does not move. */
  async moved<T>({ method }: Performed, see: () => Promise<T | undefined>): Promise<T | undefined> {
    this.method = method
    const { entry, seen } = this.list
    const watch = await this.#ctx.adapter.watch([entry.pid])
    try {
      const bound = this.#ctx.deadline.slice(MOVING_MS + (seen.tellsLate ?? 0))
      const view = await untilChanged(watch, see, bound)
      this.hasMoved ||= view !== undefined
      return view
    } finally {
      await watch.close()
    }
  }
}

/** How long a view may take to move. The wait ends as soon as it does. */
const MOVING_MS = 1500
/** The largest step, in wheel notches. */
export const MOST_NOTCHES = 400

const noRoute = (ref: string): AppError =>
  new AppError("ACTION_NOT_SUPPORTED", `${ref} cannot be scrolled without the wheel`, {
    suggestion: "Leave out --input semantic",
    disposition: NOTHING_DELIVERED,
  })
