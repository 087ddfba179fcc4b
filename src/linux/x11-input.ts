import type { InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { X11 } from "./x11.ts"
import { pressKeys } from "./x11-keyboard.ts"
import { clickPointer, dragPointer, movePointer, pressButton, turnWheel } from "./x11-pointer.ts"
import { getAttributes, getGeometry, queryTree, unlessGone } from "./x11-requests.ts"
import { typeText } from "./x11-typing.ts"
import { clientOf } from "./x11-window.ts"
import { Request } from "./x11-wire.ts"

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
