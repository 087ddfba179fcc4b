import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import type { SeenApp, SeenWindow, WindowFilter } from "../adapter.ts"
import { AppError } from "../errors.ts"
import { isNamed } from "../match.ts"
import type { Rect } from "../node.ts"
import { overlaps } from "../rect.ts"
import { ancestors } from "./ancestors.ts"
import { ageOf, bundleOf, YOUNG_MS } from "./apps.ts"
import { FRAME } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { itemsOf, kindOf } from "./cf.ts"
import { Failure, isUnread, readFailed } from "./failure.ts"
import { asElement, asElements, asFlag, asText, decode, type Element, frameOf, type Value } from "./value.ts"

const ON_SCREEN_ONLY = 1
const EXCLUDE_DESKTOP = 16
/** Time limit per app, so that a slow app does not hide the windows of the others. */
const APP_MS = 300
/** A smaller window without accessible content is not a window to a user. */
const SMALLEST = 40
const SMALLEST_ELSEWHERE = 100
/** The layer of the Dock. Dialogs are below, menus and the menu bar above. */
const DOCK_LAYER = 20

/** A window as the window server reports it. */
interface ServerWindow {
  readonly number: number
  readonly pid: number
  readonly owner: string
  readonly title?: string
  readonly bounds?: Rect
  readonly layer: number
  readonly shown: boolean
  readonly onScreen: boolean
}

/** The same window as the app reports it. */
interface AppWindow {
  readonly element: Element
  readonly title?: string
  readonly frame?: Rect
  readonly minimized?: boolean
}

/**
 * Lists windows, the frontmost first. Apps report titles without Screen Recording; the window server does not. Only
 * the apps that `only` means are asked: one that hangs must not hold up the work with others.
 */
export function listWindows(ax: Ax, only?: WindowFilter): SeenWindow[] {
  const all = allServerWindows(ax)
  const front = frontProcess(ax, all)
  const wanted = only === undefined ? undefined : processesOf(only, all, front)
  const onServer = wanted ? all.filter(({ pid }) => wanted.has(pid)) : all
  const pids = new Set(onServer.filter(({ layer }) => layer === 0).map(({ pid }) => pid))
  const byApp = new Map([...pids].map((pid) => [pid, windowsByNumber(ax, pid, onServer)]))
  const focused = front !== undefined && pids.has(front) ? focusedNumber(ax, front, all) : undefined
  const aliases = new Map<number, readonly string[]>()
  return onServer.flatMap((server) => {
    const known = byApp.get(server.pid)
    const own = known?.get(server.number)
    const mute = own ? {} : unmatched(server, known)
    if (!mute) return []
    const { number, pid, owner } = server
    return [
      {
        id: idOf(server),
        title: own?.title ?? server.title ?? "",
        app_name: owner,
        pid,
        bounds: own?.frame ?? server.bounds,
        is_focused: number === focused,
        // Lazy: only needed if the name of the app does not fit, and it has to read the bundle.
        get aliases() {
          const known = aliases.get(pid) ?? aliasesOf(pid, owner)
          aliases.set(pid, known)
          return known
        },
        ...(own?.minimized ? { minimized: true } : {}),
        ...mute,
      },
    ]
  })
}

/** Presents a running app as a window, for its parts outside of windows: menu bar, status items, items of the Dock. */
export function appAsWindow(ax: Ax, { pid, name, aliases }: SeenApp): SeenWindow {
  // If one of its windows has the focus, the keys go to that window.
  const is_focused =
    frontProcess(ax, []) === pid && !listWindows(ax, { pid }).some((window) => window.is_focused)
  return { id: `${APP_ID}${pid}`, title: "", app_name: name, pid, is_focused, aliases }
}

const APP_ID = "app-"

/** The pid in the id of an app that counts as a window; undefined for the id of a window. */
export function pidOf(id: string): number | undefined {
  return id.startsWith(APP_ID) ? Number(id.slice(APP_ID.length)) : undefined
}

function processesOf(
  only: WindowFilter,
  all: readonly ServerWindow[],
  front: number | undefined,
): ReadonlySet<number> {
  if (typeof only === "object" && "pid" in only) return new Set([only.pid])
  if (only === "focused") return new Set(front === undefined ? [] : [front])
  if (typeof only === "string") return new Set(all.filter((one) => idOf(one) === only).map(({ pid }) => pid))
  const named = all.filter(({ owner }) => isNamed(owner, [], only.app))
  const found = named.length > 0 ? named : all.filter((one) => isAlias(one, only.app))
  return new Set(found.map(({ pid }) => pid))
}

const idOf = ({ number }: ServerWindow): string => `w-${number}`

const isAlias = ({ pid, owner }: ServerWindow, app: string): boolean =>
  isNamed(owner, aliasesOf(pid, owner), app)

function aliasesOf(pid: number, owner: string): readonly string[] {
  const bundle = bundleOf(pid)
  return [bundle?.id, bundle?.name].filter((name) => name !== undefined).filter((name) => name !== owner)
}

/** Pids of the processes that show a window. Does not ask the processes themselves. */
export function showingProcesses(ax: Ax): ReadonlySet<number> {
  const onScreen = readServerWindows(ax, ON_SCREEN_ONLY | EXCLUDE_DESKTOP)
  return new Set(onScreen.filter(({ layer }) => layer === 0).map(({ pid }) => pid))
}

/** Facts about a window that its app does not list; undefined if it is not a window to a user. */
function unmatched(
  { pid, bounds, layer, shown, onScreen, title }: ServerWindow,
  known: ReadonlyMap<number, AppWindow> | undefined,
): Pick<SeenWindow, "accessible" | "reason"> | undefined {
  const { width = 0, height = 0 } = bounds ?? {}
  if (layer !== 0 || !shown || width < SMALLEST || height < SMALLEST) return undefined
  // The app did not answer, so it is not known whether it lists the window.
  if (!known) return onScreen ? {} : undefined
  if (known.size === 0 && onScreen)
    return { accessible: false, reason: "the app lists no accessible windows" }
  // Sheets, popovers and panels that an app keeps ready are windows to the window server only. Hidden ones look like
  // windows on another Space, unless they lack a title, are small, or the app has just started.
  const isPanel = !title || width < SMALLEST_ELSEWHERE || height < SMALLEST_ELSEWHERE
  if (onScreen || isPanel || (ageOf(pid) ?? YOUNG_MS) < YOUNG_MS) return undefined
  return { accessible: false, reason: "it is on another Space" }
}

/** The element of a window of this process, or of the app itself; undefined if the app does not list it. */
export function windowElement(ax: Ax, pid: number, id: string): Element | undefined {
  if (pidOf(id) !== undefined) return pidOf(id) === pid ? ax.connection.app(pid) : undefined
  const number = Number(id.replace(/^w-/, ""))
  return windowsByNumber(ax, pid, undefined, number)?.get(number)?.element
}

/** The elements of the windows that the app lists, by id. */
export function elementsOfWindows(ax: Ax, pid: number): ReadonlyMap<string, Element> {
  const windows = windowsByNumber(ax, pid, undefined) ?? new Map<number, AppWindow>()
  return new Map([...windows].map(([number, { element }]) => [`w-${number}`, element]))
}

/**
 * Ids of the windows that may be dialogs over this one: those of its process in front of it, and others that cover a part
 * of it, since a sheet may be drawn by another process. Does not ask the app.
 */
export function windowsInFront(ax: Ax, pid: number, id: string): readonly string[] {
  const onScreen = readServerWindows(ax, ON_SCREEN_ONLY | EXCLUDE_DESKTOP)
  const at = onScreen.findIndex((server) => idOf(server) === id)
  const bounds = onScreen[at]?.bounds
  return onScreen
    .slice(0, Math.max(0, at))
    .filter(({ layer, shown }) => shown && layer >= 0 && layer < DOCK_LAYER)
    .filter((server) => server.pid === pid || (bounds && server.bounds && overlaps(bounds, server.bounds)))
    .map(idOf)
}

/** The id (`w-…`) of the window that contains an element. */
export function windowIdOf(ax: Ax, element: Element): string | undefined {
  const number = ax.windowNumber(element)
  return number === undefined ? undefined : `w-${number}`
}

/**
 * The accessible windows of an app by window number. With `onServer`, for a list of all windows, the app has
 * little time, and undefined means that it did not answer; without it, that throws.
 */
function windowsByNumber(
  ax: Ax,
  pid: number,
  onServer: readonly ServerWindow[] | undefined,
  only?: number,
): Map<number, AppWindow> | undefined {
  const quick = onServer ? ax.within(APP_MS) : ax
  try {
    const found = new Map<number, AppWindow>()
    const windows = appWindows(quick, pid)
    if (windows instanceof Failure) {
      if (!isUnread(windows)) return found
      if (onServer) return undefined
      throw readFailed("The list of windows", windows.code)
    }
    for (const element of windows) {
      const bridged = quick.windowNumber(element)
      if (only !== undefined && bridged !== undefined && bridged !== only) continue
      const own = describe(quick, element)
      const number = bridged ?? numberByEvidence(own, pid, onServer ?? allServerWindows(ax))
      if (number !== undefined) found.set(number, own)
    }
    return found
  } catch (error) {
    if (!onServer || ax.deadline.expired || !isSilence(error)) throw error
    return undefined
  }
}

function appWindows(ax: Ax, pid: number): ReadonlySet<Element> | Failure {
  const app = ax.read(ax.connection.app(pid), ["AXWindows", "AXFocusedWindow", "AXMainWindow"])
  if (app instanceof Failure) return app
  if (isUnread(app.AXWindows)) return app.AXWindows
  const listed = new Set(asElements(app.AXWindows))
  // The list may lack the focused window, for example one in full screen.
  for (const other of [asElement(app.AXFocusedWindow), asElement(app.AXMainWindow)])
    if (other && !listed.has(other)) listed.add(windowAround(ax, other))
  return listed
}

/**
 * The window that a sheet, popover or drawer hangs on: to AppKit these have the keyboard, and not their window.
 * Anything else is a window of its own.
 */
export function windowAround(ax: Ax, top: Element): Element {
  if (!OVERLAYS.has(asText(ax.get(top, "AXRole")) ?? "")) return top
  for (const above of ancestors(ax, top))
    if (above !== "unread" && ax.get(above, "AXRole") === "AXWindow") return above
  return top
}

const OVERLAYS: ReadonlySet<string> = new Set(["AXDrawer", "AXPopover", "AXSheet"])

function describe(ax: Ax, element: Element): AppWindow {
  const read = ax.read(element, ["AXTitle", "AXMinimized", FRAME, "AXPosition", "AXSize"])
  if (read instanceof Failure) return { element }
  return { element, title: asText(read.AXTitle), frame: frameOf(read), minimized: asFlag(read.AXMinimized) }
}

/** Without the bridge: the one window of the process with this frame, and this title if both sides have one. */
function numberByEvidence(
  { frame, title }: AppWindow,
  pid: number,
  onServer: readonly ServerWindow[],
): number | undefined {
  const fits = onServer.filter(
    (server) =>
      server.pid === pid &&
      frame &&
      server.bounds &&
      isNear(frame, server.bounds) &&
      (!title || !server.title || title === server.title),
  )
  return fits.length === 1 ? fits[0]?.number : undefined
}

/** True for the same frame, allowing for rounding by apps and the window server. */
export function isNear(a: Rect, b: Rect): boolean {
  return (["x", "y", "width", "height"] as const).every((side) => Math.abs(a[side] - b[side]) <= 1)
}

/** The process that has the keyboard; if macOS does not report it, that of the frontmost window. */
function frontProcess(ax: Ax, onServer: readonly ServerWindow[]): number | undefined {
  const active = asElement(ax.within(APP_MS).get(ax.connection.system, "AXFocusedApplication"))
  return (active && ax.pid(active)) || frontWindow(onServer)?.pid
}

const frontWindow = (onServer: readonly ServerWindow[]): ServerWindow | undefined =>
  onServer.find(({ layer, onScreen }) => layer === 0 && onScreen)

/** The number of the window of this process that has the keyboard; if it does not report it, the frontmost window. */
function focusedNumber(ax: Ax, pid: number, onServer: readonly ServerWindow[]): number | undefined {
  const front = frontWindow(onServer)
  try {
    const quick = ax.within(APP_MS)
    const window = asElement(quick.get(ax.connection.app(pid), "AXFocusedWindow"))
    const number = window && quick.windowNumber(windowAround(quick, window))
    return number ?? (pid === front?.pid ? front.number : undefined)
  } catch (error) {
    if (ax.deadline.expired || !isSilence(error)) throw error
    return front?.number
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof AppError && (error.code === "APP_UNRESPONSIVE" || error.code === "TIMEOUT")
}

/** All windows. Those on the screen come first, because only their list is in front-to-back order. */
function allServerWindows(ax: Ax): ServerWindow[] {
  const front = readServerWindows(ax, ON_SCREEN_ONLY | EXCLUDE_DESKTOP)
  const known = new Set(front.map(({ number }) => number))
  return [...front, ...readServerWindows(ax, EXCLUDE_DESKTOP).filter(({ number }) => !known.has(number))]
}

function readServerWindows(ax: Ax, option: number): ServerWindow[] {
  using list = new Owned(coreGraphics().CGWindowListCopyWindowInfo(option, 0))
  if (!list.ref) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", "This process has no graphical session", {
      suggestion: "Run agent-desktop as the user who is logged in at the screen",
    })
  }
  return Array.from(itemsOf(list.ref) ?? [])
    .filter((item) => kindOf(item) === "dictionary")
    .map((item) => serverWindowOf(ax, item))
    .filter((server) => server.number > 0)
}

function serverWindowOf(ax: Ax, window: bigint): ServerWindow {
  const cf = coreFoundation()
  const at = (key: string) => cf.CFDictionaryGetValue(window, ax.connection.name(key))
  const value = (key: string): Value => decode(at(key), (ref) => ax.connection.intern(ref))
  const number = (key: string) => Number(value(key) ?? 0)
  const bounds = at("kCGWindowBounds")
  const rect = new Float64Array(4)
  const placed =
    kindOf(bounds) === "dictionary" && coreGraphics().CGRectMakeWithDictionaryRepresentation(bounds, rect)
  const [x = 0, y = 0, width = 0, height = 0] = rect
  return {
    number: number("kCGWindowNumber"),
    pid: number("kCGWindowOwnerPID"),
    owner: asText(value("kCGWindowOwnerName")) ?? "",
    title: asText(value("kCGWindowName")) || undefined,
    bounds: placed ? { x, y, width, height } : undefined,
    layer: number("kCGWindowLayer"),
    shown: value("kCGWindowAlpha") !== 0,
    onScreen: asFlag(value("kCGWindowIsOnscreen")) ?? false,
  }
}
