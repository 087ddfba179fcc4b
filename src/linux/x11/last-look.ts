import type { Deadline } from "../../deadline.ts"
import { isPassing } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import { getInputFocus, queryPointer, queryTree, unlessGone } from "./requests.ts"
import { readPids } from "./window.ts"
import { listOverrideWindows } from "./windows.ts"
import { Request } from "./wire.ts"

/**
 * The last look before input is sent. The server carries out no request of another client between the look and the
 * input, so no window can open, close, move or take the focus in between.
 */
export async function atomically<T>(x: X11, work: () => Promise<T>): Promise<T> {
  x.send(new Request(GRAB_SERVER))
  try {
    return await work()
  } finally {
    if (!x.closed) x.send(new Request(UNGRAB_SERVER))
  }
}

/** The process that input is meant for, and its window if that is known. */
export interface Owner {
  readonly pid: number
  readonly window?: number
}

/** The innermost window under the pointer. */
export async function windowUnderPointer(x: X11, deadline: Deadline): Promise<number> {
  let at = x.root
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const inner = await unlessGone(queryPointer(x, deadline, at))
    if (!inner || inner.child === 0) return at
    at = inner.child
  }
  return at
}

/**
 * True if another app has grabbed the pointer, as an open menu does: presses and keys go to that app. The trial grab
 * uses the window under the pointer, so no client sees the pointer leave. While a button is down, the app that saw the
 * press has a grab, too; that does not count.
 */
export async function isPointerTaken(x: X11, pid: number, deadline: Deadline): Promise<boolean> {
  const { mask } = await queryPointer(x, deadline)
  if ((mask & ANY_BUTTON) !== 0) return false
  const window = await windowUnderPointer(x, deadline)
  const grab = new Request(GRAB_POINTER, 0).u32(window).u16(0).u8(ASYNC).u8(ASYNC).u32(0).u32(0).u32(0)
  return (await isTaken(x, grab, UNGRAB_POINTER, deadline)) && !(await hasPopup(x, pid, deadline))
}

/**
 * True if another app has grabbed the keyboard; without a process, also if the app itself has. The focused window sees
 * the focus leave and return at once, so this is not for every key.
 */
export async function isKeyboardTaken(x: X11, pid: number | undefined, deadline: Deadline): Promise<boolean> {
  const focus = await getInputFocus(x, deadline)
  const window = focus <= POINTER_ROOT ? x.root : focus
  const grab = new Request(GRAB_KEYBOARD, 0).u32(window).u32(0).u8(ASYNC).u8(ASYNC).u16(0)
  if (!(await isTaken(x, grab, UNGRAB_KEYBOARD, deadline))) return false
  return pid === undefined || !(await hasPopup(x, pid, deadline))
}

async function isTaken(x: X11, grab: Request, ungrab: number, deadline: Deadline): Promise<boolean> {
  const status = (await unlessGone(x.ask(grab, deadline)))?.u8(1)
  if (status === 0) x.send(new Request(ungrab).u32(0))
  return status === ALREADY_GRABBED || status === FROZEN
}

/** True if the process shows a menu or another popup: then it has the pointer and the keyboard. */
async function hasPopup(x: X11, pid: number, deadline: Deadline): Promise<boolean> {
  const popups = await listOverrideWindows(x, deadline)
  return popups.some((popup) => popup.pid === pid && !isPassing(popup))
}

/** The top-level window that keys go to; 0 if they go nowhere. */
export async function keyboardWindow(x: X11, deadline: Deadline): Promise<number> {
  const focus = await getInputFocus(x, deadline)
  if (focus === POINTER_ROOT) return (await queryPointer(x, deadline)).child
  return topLevelOf(x, focus, deadline)
}

/** The child of the root window that a window is in: itself, or the frame that the window manager put around it. */
export async function topLevelOf(x: X11, window: number, deadline: Deadline): Promise<number> {
  if (window <= POINTER_ROOT || window === x.root) return window
  const parent = (await unlessGone(queryTree(x, window, deadline)))?.parent ?? 0
  return parent === x.root || parent === 0 ? window : topLevelOf(x, parent, deadline)
}

/** The process of the focused window; undefined if the server does not know it. */
export async function focusedPid(x: X11, deadline: Deadline): Promise<number | undefined> {
  const focus = await getInputFocus(x, deadline)
  return [...(await readPids(x, [focus], deadline)).values()][0]
}

const GRAB_SERVER = 36
const UNGRAB_SERVER = 37
const GRAB_POINTER = 26
const UNGRAB_POINTER = 27
const GRAB_KEYBOARD = 31
const UNGRAB_KEYBOARD = 32
const ASYNC = 1
const ALREADY_GRABBED = 1
const FROZEN = 4
const POINTER_ROOT = 1
const ANY_BUTTON = 7 << 8
const MAX_DEPTH = 50
