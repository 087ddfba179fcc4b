import type { Action, Button, Combo, InputPolicy, KeptFocus, Modifier, Performed } from "./action.ts"
import type { DateKind, DatePart } from "./content/dates.ts"
import type { Grid } from "./content/grid.ts"
import type { NoText, TextAccess, TextRange } from "./content/text.ts"
import type { Deadline } from "./deadline.ts"
import type {
  Check,
  ClipboardOp,
  DesktopInfo,
  DesktopOp,
  Launched,
  Life,
  NotificationOp,
  Permissions,
  Picture,
  SeenNotification,
} from "./desktop.ts"
import type {
  ActionName,
  AppInfo,
  Beyond,
  DisplayInfo,
  Point,
  Rect,
  Role,
  State,
  Surface,
  SurfaceInfo,
  WindowInfo,
} from "./node.ts"
import type { BusHint, RefEntry } from "./refmap.ts"
import type { PopupWatch, ScreenWatch, Watch, WatchOptions } from "./watch.ts"

/**
 * The operations that the core needs from an operating system. One adapter serves one command: it is made for that
 * command's deadline, and every native call it makes is bounded by it. Waiting, retrying, matching
 * and pruning belong to the core; an adapter answers in contract words, never in refs or envelopes.
 * An operation that a platform lacks throws PLATFORM_NOT_SUPPORTED or ACTION_NOT_SUPPORTED.
 */
export interface Adapter {
  permissions(request: boolean): Promise<Permissions>
  /** Probes every link between us and an app. `gnomeExtension`: installs or removes it first, on GNOME. */
  diagnose(options: { ffi: boolean; gnomeExtension?: "install" | "remove" }): Promise<readonly Check[]>

  apps(): Promise<readonly SeenApp[]>
  /** All top-level windows, the frontmost first if the platform knows the order. With `only`, others may be left out. */
  windows(only?: WindowFilter): Promise<readonly SeenWindow[]>
  displays(): Promise<readonly DisplayInfo[]>
  /** The surfaces that `--surface` can name for this process now. */
  surfaces(pid: number): Promise<readonly SurfaceInfo[]>

  /**
   * The number of this process's popups on the display, with or without a tree. undefined: the platform cannot count
   * them.
   */
  popups(pid: number): Promise<number | undefined>
  /** Follows the popups of the desktop from now on; undefined if the platform cannot. */
  watchPopups(): Promise<PopupWatch | undefined>

  /** Throws WINDOW_NOT_FOUND or ELEMENT_NOT_FOUND if there is no such surface. */
  tree(target: TreeTarget, options: TreeOptions): Promise<SeenTree>
  /**
   * The dialog, alert or popover of a process that one of these objects is; see `Watch.appeared`. "opening": its window
   * does not show yet. undefined: none of them is one.
   */
  openedAmong(
    addresses: readonly string[],
    pid: number,
    options: TreeOptions,
  ): Promise<SeenTree | "opening" | undefined>
  /** Distinguishes a process from an earlier one with the same pid. undefined: no process has this pid. */
  processStart(pid: number): Promise<string | undefined>
  /**
   * Finds the element of a stored entry by one route, and reads it live and unverified. undefined: the element is
   * certainly gone. A failed or late read throws instead. `hint`: from the entry's map.
   */
  open(entry: RefEntry, route: "address" | "path", hint?: BusHint): Promise<Seen | undefined>
  /**
   * The addresses of elements that open a popover of this window, if only the popover reports that. Example: GTK 3's
   * menu buttons.
   */
  popoverOpeners(window: SeenWindow): Promise<readonly string[]>
  /** Reads an element again. undefined: it is gone. */
  read(handle: Handle): Promise<Seen | undefined>
  /** The table, list or tree that the element is, or else the nearest one around it. undefined: there is none. */
  tableAround(handle: Handle): Promise<Seen | undefined>
  /** A table, list or tree by row and column. Its methods read it live. */
  grid(handle: Handle): Promise<Grid<Handle>>
  /** The interface of the platform that an element lacks if it is not a table, or cannot be written; for error messages. */
  interfaceFor(what: "table" | "writing"): Promise<string>
  /** The text of an element by character offsets. Never of a secure field. */
  text(handle: Handle): Promise<TextAccess | NoText>
  /** Selects a range of an element's text, or places the caret if the range is empty. Sends at most one call. */
  selectText(handle: Handle, range: TextRange): Promise<Performed>
  /**
   * Waits until the window's app has handled its input. False: it did not in time. True if the platform cannot say.
   * `ofPage`: also waits for the app's processes that draw its pages.
   */
  caughtUp(window: SeenWindow, ofPage?: boolean): Promise<boolean>
  /** The reason why a user cannot reach an element that still answers. undefined: no reason is known. */
  absence(seen: Seen, entry: RefEntry): Promise<Absence | undefined>
  /** The modal dialog that blocks the window of an entry. undefined: there is none. `hint`: from the entry's map. */
  dialogOver(entry: RefEntry, hint?: BusHint): Promise<Pick<WindowInfo, "id"> | undefined>
  /** Tests if a click at this point of the screen would hit the element. */
  hit(handle: Handle, point: Point, care?: HitCare): Promise<Hit>
  /**
   * The reason why the element may show something other than it reports. undefined: there is no such reason. Throws if
   * the screen does show something else, unless the pointer is going to find out.
   */
  doubt(handle: Handle, byPointer: boolean): Promise<Doubt | undefined>
  /** The process whose window or popup a click at this point would reach. undefined: unknown. */
  ownerAt(point: Point): Promise<number | undefined>

  /**
   * Delivers the action through the accessibility interface, at most once, by one route.
   * `not_delivered`: the element has no such route, and nothing was sent.
   * Once something may have been sent, a failure carries a disposition that says so.
   * With `auto` it also leaves to the pointer an action that the app's own code would not notice.
   */
  perform(handle: Handle, action: Action, policy?: InputPolicy): Promise<Performed>
  /**
   * Asks the app to focus the element within its window, with the caret after its text. Never raises the window: if the
   * app would do that, and the window is not in front, nothing is sent. Throws if the app does not answer.
   */
  keepFocus(handle: Handle): Promise<KeptFocus>
  /**
   * The element that gets the keys in this window, which has the focus. undefined if unknown: the app does not report
   * it, has a menu open, or is too slow to ask.
   */
  focused(window: SeenWindow): Promise<Seen | undefined>
  /**
   * The editor that has opened in the place of a cell, and has the focus. undefined: there is none so far. A watch must
   * have been open since before the cell was put into edit mode.
   */
  editorOver(cell: Handle): Promise<Seen | undefined>
  /** True if Enter in this dialog would press the default button and that button is disabled. */
  isEnterBlocked(window: SeenWindow): Promise<boolean>
  /**
   * Waits until no other command holds the pointer and the keyboard, then holds them until `close`. The desktop may
   * have changed in the meantime. Throws TIMEOUT if the turn does not come in time.
   */
  takeTurn(): Promise<void>
  /** Synthesises pointer and keyboard input, in this command's turn. Releases everything it holds down, even if it fails. */
  input(event: InputEvent): Promise<void>

  /** Returns the window as observed after the operation. */
  window(id: string, op: WindowOp): Promise<SeenWindow>
  /** Starts the program and returns at once; the core waits for its window. */
  launch(app: string, args: readonly string[]): Promise<Launched>
  /** Asks the process to end (`force`: ends it) and returns at once; the core waits until it is gone. */
  quit(app: SeenApp, force: boolean): Promise<{ readonly method: string }>

  clipboard(op: ClipboardOp): Promise<string | undefined>
  screenshot(target: ScreenshotTarget): Promise<Picture>
  /** Follows the pixels of the screen. undefined: the platform does not report when they change. */
  watchScreen(): Promise<ScreenWatch | undefined>
  notifications(): Promise<readonly SeenNotification[]>
  /** The number of notifications that the daemon counts but does not describe. */
  unlistedNotifications(): Promise<number>
  notification(target: SeenNotification, op: NotificationOp): Promise<void>
  desktops(op: DesktopOp): Promise<readonly DesktopInfo[]>

  /** Follows a process from now on, to report later whether and how it ended. */
  life(pid: number): Promise<Life>
  /** A signal that these processes, or all, have changed; see Watch. */
  watch(pids?: readonly number[], options?: WatchOptions): Promise<Watch>
  /** Releases everything this command took; a shared connection stays open. */
  close(): Promise<void>
}

/**
 * Windows that a caller wants: one id, "focused", or those of one app, by pid or by any of its names. `orApp`: on
 * platforms where apps work without windows, an app without one counts as a window with the id `app-PID`. That id keeps
 * meaning the app. No list of windows contains it.
 */
export type WindowFilter =
  | string
  | { readonly pid: number; readonly orApp?: boolean }
  | { readonly app: string; readonly orApp?: boolean }

declare const inside: unique symbol

/** A live element. Only the adapter that made it knows what is inside. */
export interface Handle {
  readonly [inside]: never
}

/** One element as it was read. `states` holds positive evidence only; a secure field has no value. */
export interface Seen {
  readonly handle: Handle
  readonly role: Role
  readonly name?: string
  /**
   * The text of a label beside or above an element without a name. It says what the element is for; it does not
   * identify it.
   */
  readonly inferredName?: string
  /** Names a field that has no label beside it: the title of the frame around it, or its tool tip. */
  readonly weakName?: string
  /** True for a box that is named by a text in it, which has no object of its own. */
  readonly holdsText?: true
  readonly value?: string
  /** The length of the value in characters, if it was cut. */
  readonly valueLength?: number
  readonly description?: string
  readonly hint?: string
  readonly states: readonly State[]
  /** Screen pixels. Absent if the platform does not report them. */
  readonly bounds?: Rect
  /** True if it has room in its window, but the position of the window on the screen is unknown. */
  readonly isPlaceless?: boolean
  /** Looks like a nameless button, and is a field that drops a list down. */
  readonly isDropDown?: true
  /** True for a combobox if the position of the list that it opens will be unknown. */
  readonly listIsPlaceless?: boolean
  /** The point that a click must hit, if not the middle. */
  readonly clickPoint?: Point
  /** How to open or close it, if not by a click in its middle: a click at another point, or the arrow keys. */
  readonly disclosure?: Point | "arrow keys"
  /** The actions it supports. Absent if they were not read. */
  readonly actions?: readonly ActionName[]
  /** The platform's address of the object: bus name and object path on Linux. */
  readonly address?: string
  /**
   * True if the toolkit recreates such objects for the same content, or reuses them for other content, as for list
   * rows.
   */
  readonly isRecycled?: boolean
  /** How many milliseconds its facts may be out of date. Browsers report a change in a page late. */
  readonly tellsLate?: number
  /** True if it may show text that the app has not accepted, or not show text that the app has. */
  readonly echoes?: boolean
  /**
   * True for a sheet cell. It takes text from the keyboard only; the text replaces the content once Enter or Tab is
   * pressed. Until then the cell reports the old content.
   */
  readonly isTypedOver?: boolean
  /**
   * Set for a cell that may have an editor. It opens with F2 in the current cell, or with a click on a cell of the row
   * that has the cursor. Whether the cell has one shows only then.
   */
  readonly editedBy?: "F2" | "click"
  /** The parts of a date or time field, in the order of its layout, if keys can fill them in. */
  readonly date?: {
    readonly kind: DateKind
    readonly parts: readonly {
      readonly part: DatePart
      readonly handle: Handle
      /** As shown: in a 12-hour field, the hour counts to 12, and the half is 1 or 2. Absent: the part is empty. */
      readonly shown?: number
    }[]
  }
  /** True for a menu item whose app misbehaves if the item is pressed while its menu is closed. */
  readonly needsOpenMenu?: boolean
  /** The application's own id for the element: accessible-id, AXIdentifier. */
  readonly identifier?: string
  /** True if part of it could not be read: a missing state proves nothing. */
  readonly isPartial?: boolean
  /** Position among its parent's children, hidden ones included. */
  readonly index?: number
}

export interface SeenNode extends Seen {
  readonly children: readonly SeenNode[]
  /** The number of children, if not all were read. */
  readonly children_count?: number
  /** The number of elements inside that are scrolled out of view and were only counted. */
  readonly offscreen?: Beyond
  /** The surface id of a popup that is shown with its window. No path leads to it. */
  readonly surfaceId?: string
}

export interface SeenTree {
  readonly root: SeenNode
  /** The window or surface it came from: `w-…`, or `menu-1` for a menu. */
  readonly window: { readonly id: string; readonly title: string }
  readonly app: string
  readonly pid: number
  /** false: the deadline or a limit cut it, and the cut nodes carry `children_count`. */
  readonly complete: boolean
  /** Child indexes from the object that `window.id` names down to the root, for `open`; undefined if unknown. */
  readonly rootPath?: readonly number[]
  /** For the map of refs to this tree. */
  readonly reachedBy?: BusHint
  /** The reason why part of it may differ from the screen. undefined: there is no such reason. */
  doubt?(): Promise<string | undefined>
}

export type TreeTarget =
  | { readonly kind: "surface"; readonly window: SeenWindow; readonly surface: Surface }
  /** `above`: reads the ancestor this many levels up instead. */
  | {
      readonly kind: "element"
      readonly handle: Handle
      readonly window?: SeenWindow
      readonly above?: number
    }

export interface TreeOptions {
  readonly maxDepth: number
  /** Bounds of every node, or only of nodes that get a ref, which need them as evidence. */
  readonly bounds: "all" | "interactive"
  readonly includeHidden: boolean
  /**
   * Elements that are scrolled out of view: read them, or count them if that is quick. Absent: they may be left out, or
   * be here with the state `offscreen` if they had to be read anyway.
   */
  readonly offscreen?: "read" | "count"
  /** Leaves out the cells of sheets, which have thousands in view; `children_count` says how many there are. */
  readonly skipsSheets?: boolean
  /**
   * The caller drops nodes without a ref, so their values, descriptions and hints may be left unread. Their roles and
   * names are still evidence for where an element is.
   */
  readonly interactiveOnly: boolean
}

/** Limits of a tree: nodes, and levels. Levels include wrappers, which do not count as depth. */
export const MAX_LEVELS = 50
export const MAX_NODES = 50_000

/** Everything in an element or a window, in view or not, except what is hidden. */
export const WHOLE_TREE: TreeOptions = {
  maxDepth: MAX_LEVELS,
  bounds: "interactive",
  includeHidden: false,
  offscreen: "read",
  interactiveOnly: false,
}

/** `aliases`: every other name that an agent may use for the app. */
export interface SeenApp extends AppInfo {
  readonly aliases: readonly string[]
}

export interface SeenWindow extends WindowInfo {
  readonly aliases: readonly string[]
  readonly minimized?: boolean
  /** False: the window exposes no accessible content; `reason` says why, if known. */
  readonly accessible?: boolean
  readonly reason?: string
  /** True if restarting the app would not change that. */
  readonly cannotShow?: boolean
  /** True if its process has just started, so that content may appear in a moment. */
  readonly starting?: boolean
  /** True for a splash screen. */
  readonly isSplash?: boolean
}

/**
 * `removed`: the element has left its window, and only the app still holds it. `not shown`: its page or panel is not
 * shown. Elements scrolled out of view, and items of closed menus and lists, are not absent.
 */
export type Absence = "removed" | "not shown"

/** A quick test takes the first answer, which may be a guess: a browser corrects itself a moment later. */
export type HitCare = "quick" | "sure"

export type Hit =
  | { readonly kind: "hit" }
  /** `name`: of the element that is there instead, if it is an element of the same app. */
  | { readonly kind: "occluded"; readonly by: string; readonly isOtherApp?: boolean; readonly name?: string }
  | { readonly kind: "unknown" }

export interface Doubt {
  /** The reason, and the next step. */
  readonly reason: string
  /** True once input to the element has proved what it shows. */
  isSettled(): boolean
}

/** The element that input is meant for. */
export interface InputTarget {
  readonly pid: number
  readonly handle: Handle
}

/**
 * Proves that input still reaches its target; throws otherwise. An adapter calls it after the app has had the chance to
 * react to the pointer or the focus, and presses only after it. `isQuiet`: the adapter has seen the app finish its
 * reaction, so one look is enough. `at`: the point, if the adapter chose another one than the event's.
 */
export type Proof = (isQuiet?: boolean, at?: Point) => Promise<void>

/** `target`: absent if the caller named a screen point or the keyboard focus, not an element. */
export type InputEvent =
  | {
      readonly kind: "key"
      readonly combo: Combo
      readonly phase: "press" | "down" | "up"
      readonly target?: InputTarget
      readonly prove?: Proof
      /** The window that must have the focus, unless `asSent` is set. */
      readonly window?: Pick<SeenWindow, "id" | "pid">
      /**
       * Called when the keys go out, with whether they go to `window` or to another app. If it throws, nothing is sent.
       */
      readonly asSent?: (isInWindow: boolean, isOtherApp: boolean) => void
      /** Returns only when the app has handled the keys, or after a reasonable time. */
      readonly settle?: boolean
    }
  | {
      readonly kind: "text"
      readonly text: string
      readonly secret?: boolean
      readonly target?: InputTarget
      readonly prove?: Proof
      /** The window that must have the focus. */
      readonly window?: Pick<SeenWindow, "id" | "pid">
    }
  | { readonly kind: "move"; readonly at: Point; readonly target?: InputTarget }
  | {
      readonly kind: "click"
      readonly at: Point
      readonly target?: InputTarget
      readonly prove?: Proof
      readonly button: Button
      readonly count: number
      /** Held for the click only. */
      readonly modifiers?: readonly Modifier[]
      /** True if the point is in a list, which may have moved or scrolled since the last click. */
      readonly inList?: boolean
      /** The bounds of the element, if any proven point in it is as good as `at`. */
      readonly room?: Rect
      /** True if the press opens a list or menu. A release that comes late would choose in it. */
      readonly opens?: boolean
      /** Called while the button is down. If it fails, the button comes up far away, where most controls ignore it. */
      readonly proveRelease?: Proof
    }
  | { readonly kind: "button"; readonly at: Point; readonly button: Button; readonly phase: "down" | "up" }
  | {
      readonly kind: "wheel"
      readonly at: Point
      readonly target?: InputTarget
      readonly prove?: Proof
      readonly dx: number
      readonly dy: number
    }
  | {
      readonly kind: "drag"
      readonly from: Point
      readonly to: Point
      readonly fromTarget?: InputTarget
      readonly toTarget?: InputTarget
      /** For the dragged element. */
      readonly prove?: Proof
      /** For the drop target, before the drop. If it fails, the drag is undone. */
      readonly proveDrop?: Proof
      readonly durationMs: number
      /** Held for the drag only. */
      readonly modifiers?: readonly Modifier[]
    }

export type WindowOp =
  | { readonly kind: "focus" | "minimize" | "maximize" | "restore" }
  | { readonly kind: "move"; readonly x: number; readonly y: number }
  | { readonly kind: "resize"; readonly width: number; readonly height: number }

export type ScreenshotTarget =
  | { readonly kind: "screen"; readonly index?: number }
  | { readonly kind: "window"; readonly window: SeenWindow }

/** One desktop. Its connections are opened when first needed and shared by all its adapters. */
export interface Platform {
  readonly name: string
  adapter(deadline: Deadline): Adapter
  /** Names of this desktop. Two processes that share one use the same desktop. */
  places(): readonly string[]
  /**
   * `forGood`: no other process continues from here, so apps are also asked to stop what they do for accessibility
   * clients.
   */
  close(how?: Closing): Promise<void>
}

export interface Closing {
  readonly forGood?: boolean
}

/** The environment variables of a process. */
export type Env = Readonly<Record<string, string | undefined>>

export interface PlatformOptions {
  readonly env: Env
  /** The directory of our own state: desktops that we started, frames of maximized windows, held keys. */
  readonly root: string
  /** Name of an isolated desktop; without it, the user's own session. */
  readonly desktop?: string
}
