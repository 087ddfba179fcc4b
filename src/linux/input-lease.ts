import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Env } from "./session.ts"
import { X11 } from "./x11.ts"
import { changeProperty, getNumbers, selectEvents, words } from "./x11-requests.ts"
import { XError } from "./x11-wire.ts"

/**
 * One command at a time has the pointer and the keyboard of a display, whatever its user, session or
 * container. The X server grants ResizeRedirect of a window to one client only, and nothing ever resizes
 * the root window through it: who has it has the turn. The server takes it back when the connection ends,
 * also when the process was killed; no input, grab or focus is touched, and a stopped holder stops nobody else.
 */
export class InputLease {
  readonly #env: () => Env
  readonly #deadline: Deadline
  #held: Promise<X11> | undefined

  constructor(env: () => Env, deadline: Deadline) {
    this.#env = env
    this.#deadline = deadline
  }

  /** Waits for the turn; once had, it is kept until `release`. */
  async take(): Promise<void> {
    this.#held ??= takeTurn(this.#env(), this.#deadline)
    const taking = this.#held
    await taking.catch((error: unknown) => {
      if (this.#held === taking) this.#held = undefined
      throw error
    })
  }

  async release(): Promise<void> {
    const held = await this.#held?.catch(() => undefined)
    this.#held = undefined
    held?.close()
  }
}

/** What is left when the turn comes must do for what it was wanted for. */
const RESERVE_MS = 500
const LONGEST_PAUSE_MS = 16

async function takeTurn(env: Env, deadline: Deadline): Promise<X11> {
  const { remaining } = deadline
  const patience = deadline.slice(remaining - Math.min(RESERVE_MS, remaining / 2))
  // A connection of its own: what this process does at the same time for another command must wait, too.
  const x = await X11.connect(env, deadline)
  try {
    for (let pause = 1; !(await isGranted(x, deadline)); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (patience.expired) throw await taken(x, deadline)
      await Bun.sleep(pause * (0.5 + Math.random() / 2))
    }
    await signHolder(x, deadline)
    return x
  } catch (error) {
    x.close()
    throw error
  }
}

async function isGranted(x: X11, deadline: Deadline): Promise<boolean> {
  try {
    await x.check([selectEvents(x.root, RESIZE_REDIRECT)], deadline)
    return true
  } catch (error) {
    if (error instanceof XError && error.xcode === BAD_ACCESS) return false
    throw error
  }
}

/** Only for the message of those who waited in vain. */
async function signHolder(x: X11, deadline: Deadline): Promise<void> {
  await x.intern([HOLDER], deadline)
  x.send(changeProperty(x.root, x.atom(HOLDER), CARDINAL, 32, words(process.pid)))
}

async function taken(x: X11, deadline: Deadline): Promise<AppError> {
  await x.intern([HOLDER], deadline)
  const [holder] = await getNumbers(x, x.root, x.atom(HOLDER), deadline)
  const who = holder ? `Process ${holder}` : "Another command"
  return new AppError("TIMEOUT", `${who} has had the pointer and keyboard of ${x.name} all this time`, {
    suggestion:
      "Retry, pass a longer --timeout-ms, use --input semantic where it does, or a desktop of your own ('desktop-start')",
    details: { kind: "input_lease" },
    disposition: NOTHING_DELIVERED,
  })
}

const HOLDER = "_AGENT_DESKTOP_INPUT"
const RESIZE_REDIRECT = 1 << 18
const BAD_ACCESS = 10
const CARDINAL = 6
