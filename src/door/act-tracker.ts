import type { Adapter } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Door } from "../door.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { hasViewers } from "../viewers.ts"

/**
 * Notices whether a command has called anything that may change the desktop. Such a call fails while a person has
 * paused the agents.
 */
export class ActTracker {
  readonly #door: Door
  readonly #deadline: Deadline
  #hasActed = false

  constructor(door: Door, deadline: Deadline) {
    this.#door = door
    this.#deadline = deadline
  }

  /** The same adapter, with every method that may act being watched. */
  track(adapter: Adapter): Adapter {
    return {
      ...adapter,
      perform: (handle, action, policy) => this.#acting(() => adapter.perform(handle, action, policy)),
      keepFocus: (handle) => this.#acting(() => adapter.keepFocus(handle)),
      selectText: (handle, range) => this.#acting(() => adapter.selectText(handle, range)),
      input: (event) => this.#acting(() => adapter.input(event)),
      window: (id, op) => this.#acting(() => adapter.window(id, op)),
      launch: (app, args) => this.#acting(() => adapter.launch(app, args)),
      quit: (app, force) => this.#acting(() => adapter.quit(app, force)),
      notification: (target, op) => this.#acting(() => adapter.notification(target, op)),
      clipboard: (op) =>
        op.kind === "get" ? adapter.clipboard(op) : this.#acting(() => adapter.clipboard(op)),
      desktops: (op) =>
        op.kind === "list" ? adapter.desktops(op) : this.#noting(() => adapter.desktops(op)),
      permissions: (request) =>
        request ? this.#noting(() => adapter.permissions(true)) : adapter.permissions(false),
    }
  }

  /** Adds to a failure whether the command has acted, unless the failure already says so. */
  addDisposition(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code === "INVALID_ARGS") return error
    return error.with({ disposition: this.#hasActed ? UNCERTAIN : NOTHING_DELIVERED })
  }

  async #acting<T>(call: () => Promise<T>): Promise<T> {
    if (!hasViewers()) return this.#noting(call)
    const { act } = await import("./report-to-viewers.ts")
    return act(this.#door, this.#deadline, this.#hasActed, () => this.#noting(call))
  }

  async #noting<T>(call: () => Promise<T>): Promise<T> {
    const before = this.#hasActed
    this.#hasActed = true
    try {
      return await call()
    } catch (error) {
      // The failure says that nothing was delivered.
      if (error instanceof AppError && error.disposition?.delivery === "not_delivered")
        this.#hasActed = before
      throw error
    }
  }
}

const UNCERTAIN: Disposition = { delivery: "delivery_uncertain", retry: "unknown" }
