import type { InputEvent, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp, Picture } from "../../desktop.ts"
import type { DisplayInfo, Point, Rect } from "../../node.ts"
import type { InputLock } from "../../turn.ts"
import type { PopupWatch, ScreenWatch } from "../../watch.ts"
import type { TopWindow } from "./window.ts"

/**
 * A window system: the windows of a desktop with their positions and operations, input, pictures, the clipboard and
 * displays. An operation that it lacks throws PLATFORM_NOT_SUPPORTED before anything is sent.
 */
export interface WindowSystem {
  /** False if only the accessibility bus knows some windows. */
  readonly listsAll: boolean
  /** False if it accepts no input: `openLock` and `input` refuse. */
  readonly hasInput: boolean
  /** True if the windows of this process do not know their screen position. */
  isNative(pid: number, deadline: Deadline): Promise<boolean>

  /** All windows, topmost first. */
  windows(deadline: Deadline): Promise<readonly TopWindow[]>
  /**
   * Adds what it knows about windows of the accessibility bus, and removes a focus that it does not confirm. Absent: it
   * knows nothing about them.
   */
  recognize?(windows: readonly TopWindow[], deadline: Deadline): Promise<readonly TopWindow[]>
  /** A window and the others of its process, topmost first; empty if there is no such window. */
  mates(id: string, deadline: Deadline): Promise<readonly TopWindow[]>
  /** The windows among these that still exist. */
  existing(ids: readonly string[], deadline: Deadline): Promise<ReadonlySet<string>>
  /** Visible menus, popovers and tooltips, topmost first; undefined if it does not know them. */
  popups(deadline: Deadline): Promise<readonly TopWindow[] | undefined>
  /** Follows the popups of the desktop from now on. Absent: they cannot be followed. */
  watchPopups?(deadline: Deadline): Promise<PopupWatch>
  /** The window that a click at this point would reach, popups included. */
  windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined>
  /** Calls back when a window opens, closes, changes its title or state, or gets the focus. Ends when disposed. */
  watch(changed: () => void, deadline: Deadline): Promise<Disposable>

  operate(id: string, op: WindowOp, deadline: Deadline): Promise<void>
  /**
   * Asks the window to close, without waiting. Returns the method in the window system's words; undefined if this
   * window cannot be asked.
   */
  requestClose(id: string, deadline: Deadline): Promise<string | undefined>
  /** Waits until the window's app has handled its input. False: it did not in time. */
  caughtUp(id: string, deadline: Deadline): Promise<boolean>

  /** A lock on the pointer and the keyboard, across processes. */
  openLock(deadline: Deadline): Promise<InputLock>
  /**
   * True if keys go to the owner's window now or, if that is unknown, to any window of its process. undefined: unknown.
   */
  hasKeys(owner: Owner, deadline: Deadline): Promise<boolean | undefined>
  /**
   * Synthesises input for an element of `owner`. `approach` is called right before the pointer moves to where it
   * presses.
   */
  input(event: InputEvent, deadline: Deadline, owner?: Owner, approach?: () => Promise<void>): Promise<void>
  /** Moves the pointer over a row and out of it upwards, and waits for the app to react to both. */
  visitRow(at: Point, top: number, deadline: Deadline): Promise<void>

  /** The notes on a process's visible menus that are in no tree. */
  readMenuNotes(pid: number, deadline: Deadline): Promise<readonly string[]>
  writeMenuNote(menu: MenuNote, deadline: Deadline): Promise<void>

  clipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined>
  picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture>
  /** The visible pixels of a part of a window. Absent: window positions are unknown. undefined: the part is covered. */
  uncovered?(window: string, area: Rect, deadline: Deadline): Promise<Uncovered | undefined>
  displays(deadline: Deadline): Promise<readonly DisplayInfo[]>
  /** Follows the pixels of the screen. Absent or undefined: it does not report when they change. */
  watchScreen?(deadline: Deadline): Promise<ScreenWatch | undefined>
}

export interface Uncovered {
  readonly area: Rect
  /** Four bytes each: blue, green, red, unused. Rows have no gaps. */
  readonly pixels: { readonly width: number; readonly height: number; readonly bgrx: Uint8Array }
}

/** The process that input is meant for, and its window if that is known. */
export interface Owner {
  readonly pid: number
  readonly window?: string
}

/** A note on the topmost popup of a process at a point: which accessible object it is. */
export interface MenuNote {
  readonly pid: number
  readonly at: Point
  readonly note: string
}
