import type { Action, Button, Combo, KeptFocus, Modifier, Performed } from "./action.ts"
import type { DateKind, DatePart } from "./dates.ts"
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
  ScreenWatch,
  SeenNotification,
} from "./desktop.ts"
import type { Grid } from "./grid.ts"
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
import type { NoText, TextAccess, TextRange } from "./text.ts"

/**
 * The operations that the core needs from an operating system. One adapter serves one command: it is made for that
 * command's deadline, and every native call it makes is bounded by it. Waiting, retrying, matching
 * and pruning belong to the core; an adapter answers in contract words, never in refs or envelopes.
 * An operation that a platform lacks throws PLATFORM_NOT_SUPPORTED or ACTION_NOT_SUPPORTED.
 */
export interface Adapter {
  permissions(request: boolean): Promise<Permissions>
  /** Probes every link between us and an application. */
  /** `gnomeExtension`: installs or removes it first, where there is GNOME. */
  diagnose(options: { ffi: boolean; gnomeExtension?: "install" | "remove" }): Promise<readonly Check[]>

  apps(): Promise<readonly SeenApp[]>
  /** All top-level windows, the frontmost first if the platform knows the order. With `only`, others may be left out. */
  windows(only?: WindowFilter): Promise<readonly SeenWindow[]>
  displays(): Promise<readonly DisplayInfo[]>
  /** The surfaces that `--surface` can name for this process now. */
  surfaces(pid: number): Promise<readonly SurfaceInfo[]>

  /** The number of popups of this process that the display shows, with or without a tree; undefined if it cannot tell. */
  popups(pid: number): Promise<number | undefined>
  /** Follows the popups of the desktop from now on; undefined if the platform cannot. */
  watchPopups(): Promise<PopupWatch | undefined>

  /** Throws WINDOW_NOT_FOUND or ELEMENT_NOT_FOUND if there is no such surface. */
  tree(target: TreeTarget, options: TreeOptions): Promise<SeenTree>
  /** Distinguishes one life of a pid from the next; undefined if there is no such process. */
  processStart(pid: number): Promise<string | undefined>
  /**
   * The element that a stored entry points at by one route, read live and unverified.
   * undefined: certainly missing. A read that failed or timed out throws instead. `hint`: from the map of the entry.
   */
  open(entry: RefEntry, route: "address" | "path", hint?: BusHint): Promise<Seen | undefined>
  /** The addresses of elements that open a popover of this window, if only the popover says so: GTK 3's menu buttons. */
  popoverOpeners(window: SeenWindow): Promise<readonly string[]>
  /** Reads an element again. undefined: it is gone. */
  read(handle: Handle): Promise<Seen | undefined>
  /** The table, list or tree that an element is, or the nearest one that it is in; undefined if there is none. */
  tableAround(handle: Handle): Promise<Seen | undefined>
  /** A table, list or tree by row and column. Its methods read it live. */
  grid(handle: Handle): Promise<Grid<Handle>>
  /** The text of an element by characters. Never of a secure field. */
  text(handle: Handle): Promise<TextAccess | NoText>
  /** Selects a part of an element's text, or places the caret if the range is empty. Sends at most one call. */
  selectText(handle: Handle, range: TextRange): Promise<Performed>
  /**
   * Waits until the app of the window has handled the input that it was sent. false: it did not in time. true if the
   * platform cannot tell. `ofPage`: also the processes of the app that draw its pages.
   */
  caughtUp(window: SeenWindow, ofPage?: boolean): Promise<boolean>
  /** Why a user cannot get at an element that answers; undefined if nothing says so. */
  absence(seen: Seen, entry: RefEntry): Promise<Absence | undefined>
  /** The modal dialog that keeps a user from the window of an entry; undefined if there is none. `hint`: from its map. */
  dialogOver(entry: RefEntry, hint?: BusHint): Promise<Pick<WindowInfo, "id"> | undefined>
  /** Tests if a click at this point of the screen would hit the element. */
  hit(handle: Handle, point: Point, care?: HitCare): Promise<Hit>
  /**
   * Says why the element may show something else than it reports. undefined: there is no reason to doubt it. Throws if the
   * screen shows something else, unless the pointer will find that out.
   */
  doubt(handle: Handle, byPointer: boolean): Promise<Doubt | undefined>
  /** The process whose window a click at this point would reach, popups included; undefined if that is unknown. */
  ownerAt(point: Point): Promise<number | undefined>

  /**
   * Delivers the action through the accessibility interface, at most once, by one route.
   * `not_delivered`: the element has no such route, and nothing was sent.
   * Once something may have been sent, a failure carries a disposition that says so.
   */
  perform(handle: Handle, action: Action): Promise<Performed>
  /**
   * Asks the app to make the element the focus of its window, with the caret behind its text. Never raises the window: if
   * the app would, and the window is not in front, nothing is sent. Throws if the app does not answer.
   */
  keepFocus(handle: Handle): Promise<KeptFocus>
  /**
   * The element that gets the keys in this window, which has the focus. undefined if that is not known: the app does not
   * tell, or has a menu open, or takes long to ask.
   */
  focused(window: SeenWindow): Promise<Seen | undefined>
  /** True if Enter in this dialog would press its default button, and that is disabled now. */
  isEnterBlocked(window: SeenWindow): Promise<boolean>
  /**
   * Waits until no other command has the pointer and the keyboard, and keeps them for this one until
   * `close`. The desktop may have changed meanwhile. Throws TIMEOUT if the turn does not come in time.
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
  /** Follows the pixels of the screen; undefined if the platform cannot tell when they change. */
  watchScreen(): Promise<ScreenWatch | undefined>
  notifications(): Promise<readonly SeenNotification[]>
  /** The number of notifications that the daemon counts but does not describe. */
  unlistedNotifications(): Promise<number>
  notification(target: SeenNotification, op: NotificationOp): Promise<void>
  desktops(op: DesktopOp): Promise<readonly DesktopInfo[]>

  /** Follows a process from now on, to tell later if and how it has ended. */
  life(pid: number): Promise<Life>
  /** A change signal for these processes, or for all; see Watch. */
  watch(pids?: readonly number[], options?: WatchOptions): Promise<Watch>
  /** Releases everything this command took; a shared connection stays open. */
  close(): Promise<void>
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
  /** `opened`: a popup of the process has opened since, and still shows. `closed`: only others have closed since. */
  look(pid: number): Promise<"opened" | "closed" | undefined>
}

/**
 * Windows that a caller wants: an id, "focused", or those of one app, by its process or by any of its names. `orApp`: where
 * apps can be used without windows, an app that has none counts as one, with the id `app-` and its pid. That id means the
 * app also later. No list of windows shows it.
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
  /** The text of a label beside or above it, if it has no name. Says what it is for, and is not evidence of who it is. */
  readonly inferredName?: string
  readonly value?: string
  /** The length of the value in characters, if it was cut. */
  readonly valueLength?: number
  readonly description?: string
  readonly hint?: string
  readonly states: readonly State[]
  /** Screen pixels. Absent if the platform does not report them. */
  readonly bounds?: Rect
  /** True if it has room in its window, but nobody knows where the window is on the screen. */
  readonly isPlaceless?: boolean
  /** True for a combobox if nobody will know where the list that it opens is on the screen. */
  readonly listIsPlaceless?: boolean
  /** The point that a click must hit, if not the middle. */
  readonly clickPoint?: Point
  /** The way to open or close it, if not a click in its middle: a click at another point, or the arrow keys. */
  readonly disclosure?: Point | "arrow keys"
  /** The actions it supports. Absent if they were not read. */
  readonly actions?: readonly ActionName[]
  /** The platform's address of the object: bus name and object path on Linux. */
  readonly address?: string
  /** True if the toolkit makes such objects again for the same content, or reuses them for other content: list rows. */
  readonly isRecycled?: boolean
  /** How many milliseconds its facts may be out of date: a browser reports a change of a page after it happened. */
  readonly tellsLate?: number
  /** True if it may show a text that was written to it although the app has not taken it, or the reverse. */
  readonly echoes?: boolean
  /**
   * True for a cell of a sheet: it takes text from the keyboard only, which replaces its content once Enter or Tab ends
   * it. Until then it shows the old content.
   */
  readonly isTypedOver?: boolean
  /** The parts of a field for a date or a time, in the order that they are laid out in, if keys can fill them in. */
  readonly date?: {
    readonly kind: DateKind
    readonly parts: readonly {
      readonly part: DatePart
      readonly handle: Handle
      /** As it shows: an hour of half a day counts to 12, and its half is 1 or 2. Absent: the part is empty. */
      readonly shown?: number
    }[]
  }
  /** True for a menu item that upsets its app if it is pressed while its menu is closed. */
  readonly needsOpenMenu?: boolean
  /** The application's own id for the element: accessible-id, AXIdentifier. */
  readonly identifier?: string
  /** True if something of it could not be read now: a state that is missing proves nothing. */
  readonly isPartial?: boolean
  /** Position among its parent's children, hidden ones included. */
  readonly index?: number
}

export interface SeenNode extends Seen {
  readonly children: readonly SeenNode[]
  /** The number of children, if not all were read. */
  readonly children_count?: number
  /** Elements in it that are scrolled out of view, and were only counted. */
  readonly offscreen?: Beyond
  /** The id of the surface that it is, if it is a popup that is shown with its window. No path leads there. */
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
  /** Says why a part of it may not be as the screen shows it. undefined: nothing speaks for that. */
  doubt?(): Promise<string | undefined>
}

export type TreeTarget =
  | { readonly kind: "surface"; readonly window: SeenWindow; readonly surface: Surface }
  /** `above`: reads the ancestor so many levels up instead. */
  | {
      readonly kind: "element"
      readonly handle: Handle
      readonly window?: SeenWindow
      readonly above?: number
    }

export interface TreeOptions {
  readonly maxDepth: number
  /** Bounds of every node, or only of those that get a ref (they need them as evidence). */
  readonly bounds: "all" | "interactive"
  readonly includeHidden: boolean
  /**
   * Elements that are scrolled out of view: read, or counted if that is quick. Absent: they may be left out, or be here
   * with the state `offscreen` if they had to be read to know it.
   */
  readonly offscreen?: "read" | "count"
  /** Leaves out the cells of sheets, which have thousands in view; `children_count` says how many there are. */
  readonly skipsSheets?: boolean
  /**
   * The caller will drop nodes without a ref: their values, descriptions and hints may be left unread.
   * Their roles and names are still evidence for the place of an element.
   */
  readonly interactiveOnly: boolean
}

/** Limits of a tree: levels, including wrappers, which do not count as depth, and nodes. */
export const MAX_LEVELS = 50
export const MAX_NODES = 50_000

/** `aliases`: every other name the contract lets an agent use for the app. */
export interface SeenApp extends AppInfo {
  readonly aliases: readonly string[]
}

export interface SeenWindow extends WindowInfo {
  readonly aliases: readonly string[]
  readonly minimized?: boolean
  /** false: the window shows no accessible content; `reason` says why, if known. */
  readonly accessible?: boolean
  readonly reason?: string
  /** True if it shows none however its app is started. */
  readonly cannotShow?: boolean
  /** True if its process has just started, so that its content may show in a moment. */
  readonly starting?: boolean
  /** True for a picture that shows only until the app's window is ready. */
  readonly isSplash?: boolean
}

/**
 * removed: the element has left its window, and only the app still holds it. not shown: the page or panel that it is on
 * is not shown. Elements that are scrolled out of view, and items of closed menus and lists, are not absent.
 */
export type Absence = "removed" | "not shown"

/** A quick test takes the first answer, which may be a guess: a browser knows better a moment later. */
export type HitCare = "quick" | "sure"

export type Hit =
  | { readonly kind: "hit" }
  | { readonly kind: "occluded"; readonly by: string; readonly isOtherApp?: boolean }
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
 * Proves that input still reaches the element that it is meant for; throws if it does not. An adapter calls it when
 * the app has had the chance to react to the pointer, which is there by then, or to the focus, and presses only after it.
 * `isQuiet`: the adapter has seen that the app is done with its reaction, so one look is enough. `at`: the point, if the
 * adapter has chosen another one than the event's.
 */
export type Proof = (isQuiet?: boolean, at?: Point) => Promise<void>

/** `target`: absent if the caller named a point of the screen, or the keyboard focus, and not an element. */
export type InputEvent =
  | {
      readonly kind: "key"
      readonly combo: Combo
      readonly phase: "press" | "down" | "up"
      readonly target?: InputTarget
      readonly prove?: Proof
      /** The window that must have the focus; with `asSent` it need not have it. */
      readonly window?: Pick<SeenWindow, "id" | "pid">
      /** Called when the keys go out, with whether they go to `window` or to another app. Nothing is sent if it throws. */
      readonly asSent?: (isInWindow: boolean, isOtherApp: boolean) => void
      /** Returns only when the app has handled the keys, or does not in reasonable time. */
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
      /** The place of the element, if any point of it that is proved is as good as `at`. */
      readonly room?: Rect
      /** True if the press opens a list or menu. A release that comes late would choose in it. */
      readonly opens?: boolean
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
      /** Of the element that is dragged. */
      readonly prove?: Proof
      /** Of the element that it is dropped on, before the drop. If it fails, the drag is undone. */
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

/**
 * `changed` resolves with true as soon as something has happened since the last call, and with
 * false when `maxMs` have passed: an event means "look again", never "this is what changed".
 */
export interface Watch {
  changed(maxMs: number): Promise<boolean>
  close(): Promise<void>
}

/** One desktop. Its connections are opened when first needed and shared by all its adapters. */
export interface Platform {
  readonly name: string
  adapter(deadline: Deadline): Adapter
  /** Names of this desktop. Two processes that share one use the same desktop. */
  places(): readonly string[]
  /** `forGood`: no other process goes on from here, so what apps were asked to do for their readers ends as well. */
  close(how?: Closing): Promise<void>
}

export interface Closing {
  readonly forGood?: boolean
}

/** The environment variables of a process. */
export type Env = Readonly<Record<string, string | undefined>>

export interface PlatformOptions {
  readonly env: Env
  /** Directory of our own state: desktops that we started, frames of windows that we maximised, keys that we hold. */
  readonly root: string
  /** Name of an isolated desktop; without it, the user's own session. */
  readonly desktop?: string
}
