import type { Deadline } from "./deadline.ts"
import { AppError, NOTHING_DELIVERED } from "./errors.ts"
import { pause } from "./until.ts"

/** A platform's lock on the pointer and the keyboard, open but not necessarily taken. */
export interface InputLock {
  /** Tries once, without waiting; true if this process holds the lock now. */
  tryTake(): boolean | Promise<boolean>
  /** The current holder, for the error of a command that does not get its turn. */
  holder(): InputHolder | Promise<InputHolder>
  /** Releases the lock. Also called if it was never taken. */
  close(): void
}

export interface InputHolder {
  readonly pid?: number
  /** The display whose pointer and keyboard are held, if the platform has several. */
  readonly display?: string
  /** Another option for the waiting command; ends the suggestion. */
  readonly instead?: string
}

/** One command's turn at the pointer and the keyboard, from the first `take` until `release`. */
export class Turn {
  readonly #open: () => Promise<InputLock>
  readonly #deadline: Deadline
  #held: Promise<InputLock> | undefined
  #isOver = false

  constructor(open: () => Promise<InputLock>, deadline: Deadline) {
    this.#open = open
    this.#deadline = deadline
  }

  /** Waits for the turn. Fails with TIMEOUT if another command keeps it for too long. */
  async take(): Promise<void> {
    this.#held ??= take(this.#open, this.#deadline, () => this.#isOver)
    const taking = this.#held
    await taking.catch((error: unknown) => {
      if (this.#held === taking) this.#held = undefined
      throw error
    })
  }

  /** Also ends a wait for the turn. */
  async release(): Promise<void> {
    this.#isOver = true
    const held = await this.#held?.catch(() => undefined)
    this.#held = undefined
    this.#isOver = false
    held?.close()
  }
}

/** Time reserved for the input itself: a turn that comes in the last millisecond is useless. */
const RESERVE_MS = 500
const LONGEST_PAUSE_MS = 16

async function take(
  open: () => Promise<InputLock>,
  deadline: Deadline,
  isOver: () => boolean,
): Promise<InputLock> {
  const patience = deadline.sparing(RESERVE_MS, 1 / 2)
  const lock = await open()
  try {
    for (let ms = 1; !(await lock.tryTake()); ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
      if (patience.expired || isOver()) throw taken(await lock.holder())
      // Waiting commands spread out, so that they do not all retry at the same moment.
      await pause(ms * (0.5 + Math.random() / 2), patience)
    }
    return lock
  } catch (error) {
    lock.close()
    throw error
  }
}

function taken({ pid, display, instead }: InputHolder): AppError {
  // The holder's note may be wrong: any program can write it.
  const who = pid ? `According to the display, process ${pid}` : "Another command"
  const where = display ? ` of ${display}` : ""
  const ways = ["Retry", "pass a longer --timeout-ms", "use --input semantic if it suffices", instead].filter(
    Boolean,
  )
  return new AppError("TIMEOUT", `${who} has had the pointer and keyboard${where} all this time`, {
    suggestion: `${ways.slice(0, -1).join(", ")}, or ${ways.at(-1)}`,
    details: { kind: "input_lease" },
    disposition: NOTHING_DELIVERED,
  })
}
