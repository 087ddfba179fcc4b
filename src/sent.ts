import type { Adapter } from "./adapter.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "./errors.ts"

/** Whether a command has asked its platform for anything that may change something. */
export class Sent {
  #begun = false

  /** The same adapter, watched. */
  watch(adapter: Adapter): Adapter {
    return {
      ...adapter,
      perform: (handle, action) => this.#begin(() => adapter.perform(handle, action)),
      input: (event) => this.#begin(() => adapter.input(event)),
      window: (id, op) => this.#begin(() => adapter.window(id, op)),
      launch: (app, args) => this.#begin(() => adapter.launch(app, args)),
      quit: (app, force) => this.#begin(() => adapter.quit(app, force)),
      clipboard: (op) => this.#begin(() => adapter.clipboard(op), op.kind !== "get"),
      notification: (target, op) => this.#begin(() => adapter.notification(target, op)),
      desktops: (op) => this.#begin(() => adapter.desktops(op), op.kind !== "list"),
      permissions: (request) => this.#begin(() => adapter.permissions(request), request),
    }
  }

  /** A failure that does not say itself whether something was delivered, with what is known about it. */
  explain(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code === "INVALID_ARGS") return error
    return error.with({ disposition: this.#begun ? UNCERTAIN : NOTHING_DELIVERED })
  }

  async #begin<T>(call: () => Promise<T>, acts = true): Promise<T> {
    if (!acts) return call()
    const before = this.#begun
    this.#begun = true
    try {
      return await call()
    } catch (error) {
      // It says that it came to nothing.
      if (error instanceof AppError && error.disposition?.delivery === "not_delivered") this.#begun = before
      throw error
    }
  }
}

const UNCERTAIN: Disposition = { delivery: "delivery_uncertain", retry: "unknown" }
