import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { pause } from "../../until.ts"
import type { X11 } from "./connection.ts"
import {
  atomically,
  focusedPid,
  isKeyboardTaken,
  isPointerTaken,
  keyboardWindow,
  type Owner,
  topLevelOf,
} from "./last-look.ts"

/** The window that keys are meant for. */
export interface KeyTarget {
  /** The top-level window. */
  readonly top: number
  /** The process that must get the keys. Absent: another process that has taken the keyboard may get them, too. */
  readonly pid?: number
}

/**
 * Waits until the keyboard focus is in the owner's window: a window manager passes it on a moment after the window has
 * come to the front. Without an owner: the window that has the focus now. Throws with nothing delivered.
 */
export async function findKeyTarget(
  x: X11,
  owner: Owner | undefined,
  deadline: Deadline,
  secret = false,
): Promise<KeyTarget> {
  if (!owner) {
    const top = await keyboardWindow(x, deadline)
    if (top === 0) throw noFocus()
    return { top }
  }
  const top = await ownWindow(x, owner, deadline)
  const patience = deadline.slice(FOCUS_MS)
  for (let now = await keyboardWindow(x, deadline); now !== top; now = await keyboardWindow(x, deadline)) {
    if (patience.expired) throw now === 0 ? noFocus() : focusElsewhere()
    await pause(LOOK_MS, patience)
  }
  const isTaken = secret ? isKeyboardTaken : isPointerTaken
  if (await isTaken(x, owner.pid, deadline)) throw keyboardTaken()
  return { top, pid: owner.pid }
}

/** A menu's element does not know its window. Then it is the focused window of its process. */
async function ownWindow(x: X11, { window, pid }: Owner, deadline: Deadline): Promise<number> {
  if (window !== undefined) return topLevelOf(x, window, deadline)
  const focused = await focusedPid(x, deadline)
  if (focused !== undefined && focused !== pid) throw focusElsewhere()
  return keyboardWindow(x, deadline)
}

/** True if keys go to the owner's window now or, if that is unknown, to any window of its process. */
export async function hasKeys(x: X11, { window, pid }: Owner, deadline: Deadline): Promise<boolean> {
  if (window === undefined) return (await focusedPid(x, deadline)) === pid
  const [top, now] = await Promise.all([topLevelOf(x, window, deadline), keyboardWindow(x, deadline)])
  return top === now
}

/** Sends keys if they reach the target at this very moment. Otherwise it throws the error that `lost` makes. */
export async function sendKeys(
  x: X11,
  target: KeyTarget,
  deadline: Deadline,
  send: () => void,
  lost: () => AppError,
): Promise<void> {
  await atomically(x, async () => {
    if (!(await isFocused(x, target, deadline))) throw lost()
    // An open menu takes the keys together with the pointer.
    if (target.pid !== undefined && (await isPointerTaken(x, target.pid, deadline))) throw lost()
    send()
  })
}

export async function isFocused(x: X11, { top }: KeyTarget, deadline: Deadline): Promise<boolean> {
  return (await keyboardWindow(x, deadline)) === top
}

export function focusElsewhere(): AppError {
  return new AppError("ACTION_FAILED", "The keyboard focus is in another window", {
    suggestion:
      "See which window has it, then retry: agent-desktop list-windows; a window that keeps taking it has to be closed first",
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })
}

function keyboardTaken(): AppError {
  return new AppError("ACTION_FAILED", "Another app has taken the keyboard, for an open menu or a dialog", {
    suggestion: "Close the menu with 'press escape', or see with 'screenshot screen.png'",
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })
}

function noFocus(): AppError {
  return new AppError("ACTION_FAILED", "No window has the keyboard focus", {
    suggestion:
      "See which window it is, then give it the focus: agent-desktop list-windows, agent-desktop focus-window ID",
    disposition: NOTHING_DELIVERED,
  })
}

const FOCUS_MS = 500
const LOOK_MS = 10
