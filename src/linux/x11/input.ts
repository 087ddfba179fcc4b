import type { Env, InputEvent } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../../errors.ts"
import type { InputLock } from "../../turn.ts"
import { X11 } from "./connection.ts"
import { pressKeys } from "./keyboard.ts"
import { isKeyboardTaken, type Owner } from "./last-look.ts"
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
import { clientOf, readPids } from "./window.ts"
import { XError } from "./wire.ts"
import { openXtest } from "./xtest.ts"

/**
 * Synthesises input for an element of `owner`, unless the screen is locked: then it would go to the lock screen.
 * `approach` is called right before the pointer moves to where it presses.
 */
export async function sendInput(
  x: X11,
  event: InputEvent,
  deadline: Deadline,
  owner?: Owner,
  approach?: () => Promise<void>,
): Promise<void> {
  const xtest = await beforeInput(checkUnlocked(x, deadline).then(() => openXtest(x, deadline)))
  const before = xtest.presses
  try {
    await send(x, event, deadline, owner, approach)
  } catch (error) {
    // An app may react to a movement alone. A release has no press.
    const isPress = event.kind !== "move" && !("phase" in event && event.phase === "up")
    if (!isPress || !(error instanceof AppError)) throw error
    throw error.with({ disposition: xtest.presses === before ? NOTHING_DELIVERED : UNCERTAIN })
  }
}

const UNCERTAIN: Disposition = { delivery: "delivery_uncertain", retry: "unsafe" }

async function beforeInput<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

async function send(
  x: X11,
  event: InputEvent,
  deadline: Deadline,
  owner?: Owner,
  approach?: () => Promise<void>,
): Promise<void> {
  switch (event.kind) {
    case "key":
      return pressKeys(x, event, deadline, owner)
    case "text":
      return typeText(x, event, deadline, owner)
    case "move":
      return movePointer(x, event, deadline, owner)
    case "click":
      return clickPointer(x, event, deadline, owner, approach)
    case "button":
      return pressButton(x, event, deadline)
    case "wheel":
      return turnWheel(x, event, deadline, owner)
    case "drag":
      return dragPointer(x, event, deadline, owner, approach)
    default:
      return event satisfies never
  }
}

// A screen lock covers the screen, bypasses the window manager and holds the keyboard.
async function checkUnlocked(x: X11, deadline: Deadline): Promise<void> {
  const { children } = await queryTree(x, x.root, deadline)
  const top = children.toReversed().slice(0, TOPMOST)
  const covers = await Promise.all(top.map((id) => coversScreen(x, id, deadline)))
  if (!covers.includes(true) || !(await isKeyboardTaken(x, undefined, deadline))) return
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

const TOPMOST = 16

/**
 * The lock on the pointer and the keyboard of a display, across users, sessions and containers. The X server grants
 * ResizeRedirect of a window to one client only, and nothing resizes the root window through it: the client
 * that has it has the turn. The server takes it back when the connection ends, even if the process is
 * killed. No input, grab or focus is touched, and a stopped holder blocks only commands that wait for input.
 */
export async function openInputLock(env: Env, deadline: Deadline): Promise<InputLock> {
  // A separate connection, because two commands of one process have to wait for each other too.
  const x = await X11.connect(env, deadline)
  return {
    tryTake: async () => {
      const isTaken = await tryRedirect(x, deadline)
      if (isTaken) await signHolder(x, deadline)
      return isTaken
    },
    holder: async () => {
      return {
        pid: await readHolder(x, deadline),
        display: x.name,
        instead: "use an isolated desktop of your own ('desktop-start')",
      }
    },
    close: () => x.close(),
  }
}

async function tryRedirect(x: X11, deadline: Deadline): Promise<boolean> {
  try {
    await x.check([selectEvents(x.root, RESIZE_REDIRECT)], deadline)
    return true
  } catch (error) {
    if (error instanceof XError && error.xcode === BAD_ACCESS) return false
    throw error
  }
}

/** Leaves an id of this connection on the display, for the error of commands that do not get their turn. */
async function signHolder(x: X11, deadline: Deadline): Promise<void> {
  await x.intern([HOLDER], deadline)
  x.send(changeProperty(x.root, x.atom(HOLDER), CARDINAL, 32, words(x.setup.idBase)))
}

/** The process behind that id, according to the X server. A forged note can name other clients, and nothing else. */
async function readHolder(x: X11, deadline: Deadline): Promise<number | undefined> {
  await x.intern([HOLDER], deadline)
  const [id = 0] = await getNumbers(x, x.root, x.atom(HOLDER), deadline)
  return clientOf(x, id) === 0 ? undefined : (await readPids(x, [id], deadline)).get(clientOf(x, id))
}

const HOLDER = "_AGENT_DESKTOP_INPUT"
const RESIZE_REDIRECT = 1 << 18
const BAD_ACCESS = 10
const CARDINAL = 6
