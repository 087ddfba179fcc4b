/** One absolute end of a command, handed down to every native call it makes. */
export class Deadline {
  readonly at: number
  /** Ends the work early: a cancelled call, an interrupted program. */
  readonly signal: AbortSignal | undefined

  constructor(at: number, signal?: AbortSignal) {
    this.at = at
    this.signal = signal
  }

  static in(ms: number, signal?: AbortSignal): Deadline {
    return new Deadline(performance.now() + ms, signal)
  }

  /** Milliseconds left, never negative; 0 once cancelled. */
  get remaining(): number {
    return this.signal?.aborted ? 0 : Math.max(0, this.at - performance.now())
  }

  get expired(): boolean {
    return this.remaining <= 0
  }

  /** The earlier of this end and `ms` from now: one call's share of the whole. */
  slice(ms: number): Deadline {
    return new Deadline(Math.min(this.at, performance.now() + ms), this.signal)
  }

  /** An earlier end that leaves time for the work that follows: `ms`, but at most this share of what remains. */
  sparing(ms: number, share: number): Deadline {
    const { remaining } = this
    return this.slice(remaining - Math.min(ms, remaining * share))
  }
}

/** When to stop reading a tree, so that there is time left to shape, store and print it. */
export function readingTime(deadline: Deadline): Deadline {
  return deadline.sparing(200, 1 / 5)
}
