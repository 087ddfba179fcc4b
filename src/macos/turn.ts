import { closeSync } from "node:fs"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"

/**
 * One command at a time has the pointer and the keyboard of the login session: by the lock of a file in
 * the user's own temporary directory, which all his programs share. The kernel takes it back with the process.
 */
export class Turn {
  readonly #directory: string
  readonly #deadline: Deadline
  #held: Promise<number> | undefined

  constructor(env: Readonly<Record<string, string | undefined>>, deadline: Deadline) {
    this.#directory = env.TMPDIR?.startsWith("/") ? env.TMPDIR.replace(/\/+$/, "") : "/tmp"
    this.#deadline = deadline
  }

  /** Waits for the turn; once had, it is kept until `release`. */
  async take(): Promise<void> {
    this.#held ??= lock(`${this.#directory}/agent-desktop-input-${process.getuid?.()}.lock`, this.#deadline)
    const taking = this.#held
    await taking.catch((error: unknown) => {
      if (this.#held === taking) this.#held = undefined
      throw error
    })
  }

  async release(): Promise<void> {
    const fd = await this.#held?.catch(() => undefined)
    this.#held = undefined
    if (fd !== undefined) closeSync(fd)
  }
}

/** What is left when the turn comes must do for what it was wanted for. */
const RESERVE_MS = 500
const LONGEST_PAUSE_MS = 16

async function lock(path: string, deadline: Deadline): Promise<number> {
  const [{ tryLock }, { openLockFile }] = await Promise.all([
    import("../../ffi/libsystem.ts"),
    import("../private-files.ts"),
  ])
  const { remaining } = deadline
  const patience = deadline.slice(remaining - Math.min(RESERVE_MS, remaining / 2))
  const fd = openLockFile(path)
  for (let pause = 1; !tryLock(fd); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (patience.expired) {
      closeSync(fd)
      throw new AppError("TIMEOUT", "Another command has had the pointer and keyboard all this time", {
        suggestion: "Retry, pass a longer --timeout-ms, or use --input semantic where it does",
        details: { kind: "input_lease" },
        disposition: NOTHING_DELIVERED,
      })
    }
    await Bun.sleep(pause * (0.5 + Math.random() / 2))
  }
  return fd
}
