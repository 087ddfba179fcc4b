import type { Deadline } from "./deadline.ts"
import type { Rect } from "./node.ts"
import type { BusHint } from "./refmap.ts"

/**
 * `changed` resolves with true as soon as something has happened since the last call, and with false after `maxMs`. An
 * event means "look again", never "this is what changed".
 */
export interface Watch {
  changed(maxMs: number): Promise<boolean>
  /**
   * Objects that apps have reported as new, showing or active since the last call, newest first. A dialog or popover may
   * be among them; `openedAmong` finds it. Absent: the platform does not report them.
   */
  appeared?(): readonly Appeared[]
  close(): Promise<void>
}

export interface Appeared {
  readonly address: string
  /** False if it was only reported as active: it may have been open before. */
  readonly isNew: boolean
}

export interface WatchOptions {
  /** From the map that names the process. */
  readonly hint?: BusHint
  /** Also reports windows that come and go, of any app. A watch of all processes always does. */
  readonly windows?: boolean
  /** Leaves out elements that only move or grow. */
  readonly ignoresMoves?: boolean
}

export interface PopupWatch extends Disposable {
  /**
   * `opened`: a popup of the process has opened since, and still shows. `window`: the process shows a new window that is
   * not a popup. `hidden window`: it has made one that does not show yet. `closed`: only popups have closed since.
   */
  look(pid: number): Promise<"opened" | "window" | "hidden window" | "closed" | undefined>
  /** Forgets everything up to now: it came before the action. */
  forget(): void
  /** True if the window with this id was made or shown since, by the last look. */
  hasAppeared(id: string): boolean
}

/** Follows the pixels of the screen. Its methods fail when the desktop has ended. */
export interface ScreenWatch {
  /** Known after the first `take`. */
  readonly size: { readonly width: number; readonly height: number }
  /** Resolves with true when something was drawn since the last `take`, and with false after `maxMs`. */
  changed(maxMs: number): Promise<boolean>
  /** The parts drawn since the last call, as they are now. The whole screen if its size has changed. */
  take(deadline: Deadline): Promise<readonly ScreenPart[]>
  close(): void
}

/** A part of the screen: four bytes a pixel (blue, green, red, unused), in rows without gaps. */
export interface ScreenPart extends Rect {
  readonly bgrx: Uint8Array
}
