import type { NotificationTexts } from "./notification-text.ts"

/** Why a notification is gone, in the specification's numbers. */
export const REASON = { EXPIRED: 1, DISMISSED: 2, CLOSED: 3 } as const

export interface Kept extends NotificationTexts {
  readonly id: number
  /** Of this call of Notify: an application may give the same id another content at any time. */
  readonly serial: number
  /** Stays when one of its actions is invoked. */
  readonly resident: boolean
}

export interface Arrival extends NotificationTexts {
  /** 0: a new one. */
  readonly replaces: number
  readonly resident: boolean
  /** When it goes by itself; absent for those that are kept until somebody dismisses them. */
  readonly expiresMs?: number
}

/** Notifications that nobody has dismissed or closed yet. The oldest give way when there are too many. */
export class NotificationTray {
  readonly #kept = new Map<number, Kept>()
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()
  readonly #closed: (id: number, reason: number) => void
  #lastId = 0
  #lastSerial = 0

  constructor(closed: (id: number, reason: number) => void) {
    this.#closed = closed
  }

  /** Returns the id, which is the one that it replaces. */
  add({ replaces, expiresMs, ...texts }: Arrival): number {
    const id = replaces || this.#nextId()
    this.#forget(id)
    // Into the map anew: the newest is the last.
    this.#kept.set(id, { ...texts, id, serial: ++this.#lastSerial })
    if (expiresMs !== undefined)
      this.#timers.set(
        id,
        setTimeout(() => this.close(id, REASON.EXPIRED), expiresMs),
      )
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break
      this.close(oldest, REASON.EXPIRED)
    }
    return id
  }

  /** The newest first. */
  list(): readonly Kept[] {
    return [...this.#kept.values()].reverse()
  }

  /** Only if it is still what it was when it got this serial. */
  find(id: number, serial: number): Kept | undefined {
    const kept = this.#kept.get(id)
    return kept?.serial === serial ? kept : undefined
  }

  /** false: there is no such notification. */
  close(id: number, reason: number): boolean {
    if (!this.#forget(id)) return false
    this.#closed(id, reason)
    return true
  }

  #forget(id: number): boolean {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    return this.#kept.delete(id)
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % MAX_ID) + 1
    while (this.#kept.has(this.#lastId))
    return this.#lastId
  }
}

const MAX_KEPT = 200
const MAX_ID = 0xffffffff
