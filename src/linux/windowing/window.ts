import type { Rect } from "../../node.ts"

/** A top-level window, as a window system describes it. */
export interface TopWindow {
  /** `w-` and the window system's own id. It means the same window until that closes. */
  readonly id: string
  readonly title: string
  readonly pid?: number
  /** True if only the window itself names its process, and the window system does not confirm it. */
  readonly isPidClaimed?: boolean
  /** The names by which window systems group the windows of an app: WM_CLASS on X11. */
  readonly wmClass?: { readonly instance: string; readonly className: string }
  /** The client's own window on the screen, the origin of window coordinates; absent if unknown. */
  readonly bounds?: Rect
  /**
   * The visible window, which the contract calls its bounds: the client window plus its border and the window
   * manager's decorations, minus the invisible shadow that GTK draws inside its own window. Moving to X, Y puts the
   * top left corner of this rectangle there; resizing sets its size.
   */
  readonly frame?: Rect
  readonly gtkFrameExtents?: Extents
  readonly focused: boolean
  /** True if it may have the focus although its app does not report it. */
  readonly mayHaveFocus?: boolean
  readonly minimized: boolean
  readonly maximized: boolean
  /** True for a dialog that must be answered before other windows can be used. */
  readonly modal: boolean
  /** The window's types, preferred first: "normal", "dialog", "popup-menu". */
  readonly types: readonly string[]
  readonly transientFor?: string
  /** True for a native Wayland window, whose app does not know its screen position. */
  readonly isNative?: boolean
  /** The accessible object that it was made from, because no window system knows it. */
  readonly object?: string
  /** The desktop-file id, if the application sets it. */
  readonly desktopFile?: string
}

export interface Extents {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** False for ids of other surfaces, such as a menu's `menu-1`. */
export function isWindowId(id: string | undefined): id is string {
  return id?.startsWith("w-") === true
}

/** True for a popup that a user cannot act on: a tooltip, or the picture of a dragged item. */
export function isPassing({ types }: Pick<TopWindow, "types">): boolean {
  return types.includes("tooltip") || types.includes("dnd")
}

/** The id of the X window with this number. */
export function windowId(number: number): string {
  return `w-${number}`
}

/** The number of an X window; undefined for the id of another surface, such as a menu's `menu-1`. */
export function windowNumber(id: string | undefined): number | undefined {
  return id !== undefined && /^w-\d+$/.test(id) ? Number(id.slice(2)) : undefined
}
