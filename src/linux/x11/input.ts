import type { Env, InputEvent } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { X11 } from "./connection.ts"
import { pressKeys } from "./keyboard.ts"
import { clickPointer, dragPointer, movePointer, pressButton, turnWheel } from "./pointer.ts"
import {
  changeProperty,
  getAttributes,
  getGeometry,
  getNumbers,
  queryTree,
  selectEvents,
  unlessGone,
  words,
} from "./requests.ts"
import { typeText } from "./typing.ts"
import { clientOf } from "./window.ts"
import { Request, XError } from "./wire.ts"

/** Synthesises the input, unless the screen is locked: then it would go to the lock. */
export async function sendInput(x: X11, event: InputEvent, deadline: Deadline): Promise<void> {
  await checkUnlocked(x, deadline).catch((error: unknown) => {
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  })
  switch (event.kind) {
    case "key":
      return pressKeys(x, event, deadline)
    case "text":
      return typeText(x, event.text, deadline, event.secret)
    case "move":
      return movePointer(x, event, deadline)
    case "click":
      return clickPointer(x, event, deadline)
    case "button":
      return pressButton(x, event, deadline)
    case "wheel":
      return turnWheel(x, event, deadline)
    case "drag":
      return dragPointer(x, event, deadline)
    default:
      return event satisfies never
  }
}

// A screen lock covers everything past the window manager and holds the keyboard. Only where something covers
// everything is the keyboard tried, for that makes the focused window believe it lost the focus for a moment.
async function checkUnlocked(x: X11, deadline: Deadline): Promise<void> {
  const { children } = await queryTree(x, x.root, deadline)
  const top = children.toReversed().slice(0, TOPMOST)
  const covers = await Promise.all(top.map((id) => coversScreen(x, id, deadline)))
  if (!covers.includes(true) || !(await isKeyboardTaken(x, deadline))) return
  throw new AppError(
    "ACTION_FAILED",
    "The screen is locked, or a full-screen program has taken the keyboard",
    {
      suggestion: "Take a 'screenshot' to see; only the user can unlock it",
      details: { kind: "locked" },
      disposition: NOTHING_DELIVERED,
    },
  )
}

async function coversScreen(x: X11, id: number, deadline: Deadline): Promise<boolean> {
  const [attributes, at] = await Promise.all([
    unlessGone(getAttributes(x, id, deadline)),
    unlessGone(getGeometry(x, id, deadline)),
  ])
  // The compositor draws on a window of the server's own, which covers everything too.
  if (!attributes?.overrideRedirect || !attributes.viewable || !at || clientOf(x, id) === 0) return false
  const { width, height } = x.setup.screen
  return at.x <= 0 && at.y <= 0 && at.x + at.width >= width && at.y + at.height >= height
}

async function isKeyboardTaken(x: X11, deadline: Deadline): Promise<boolean> {
  const grab = new Request(GRAB_KEYBOARD, 0).u32(x.root).u32(0).u8(ASYNC).u8(ASYNC).u16(0)
  const status = (await x.ask(grab, deadline)).u8(1)
  if (status === 0) await x.check([new Request(UNGRAB_KEYBOARD).u32(0)], deadline)
  return status === ALREADY_GRABBED || status === FROZEN
}

const TOPMOST = 16
const GRAB_KEYBOARD = 31
const UNGRAB_KEYBOARD = 32
const ASYNC = 1
const ALREADY_GRABBED = 1
const FROZEN = 4

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
