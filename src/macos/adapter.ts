import type {
  Adapter,
  Platform,
  PlatformOptions,
  Seen,
  SeenApp,
  SeenTree,
  SeenWindow,
  TreeOptions,
  TreeTarget,
  WindowFilter,
} from "../adapter.ts"
import { Deadline, readingTime } from "../deadline.ts"
import { AppError, parentNotFound, plainWord, windowNotFound } from "../errors.ts"
import { isList, type WindowInfo } from "../node.ts"
import type { RefEntry } from "../refmap.ts"
import { Turn } from "../turn.ts"
import { appsLike, bundleOf, processStart } from "./apps.ts"
import { FRAME } from "./attributes.ts"
import { Ax, whenUp } from "./ax.ts"
import { Connection } from "./connection.ts"
import { elementOf } from "./describe.ts"
import { Failure } from "./failure.ts"
import { perform } from "./perform.ts"
import {
  type FoundSurface,
  findSurface,
  listSurfaces,
  STATUS_ITEMS,
  statusItemsOf,
  surfaceById,
} from "./surfaces.ts"
import { asElement, asElements, asFlag, asText, type Element, frameOf } from "./value.ts"
import { childAt, walkElement, walkTree } from "./walk.ts"
import { watchProcesses } from "./watch.ts"
import { stopPosing, wakeWebContents } from "./web-contents.ts"
import {
  appAsWindow,
  elementsOfWindows,
  listWindows,
  pidOf,
  showingProcesses,
  windowIdOf,
  windowsInFront,
} from "./windows.ts"

/** Connects to the macOS desktop: the accessibility API for elements, Core Graphics for windows and input. */
export function connectMacos(options: PlatformOptions): Platform {
  const connection = new Connection()
  return {
    name: "macos",
    adapter: (deadline) => macosAdapter(new Ax(connection, deadline), options),
    places: () => ["macos"],
    close: async ({ forGood = false } = {}) => {
      if (forGood && connection.posedTo.size > 0) stopPosing(new Ax(connection, Deadline.in(CLOSE_MS)))
      connection.close()
    },
  }
}

/** Time reserved for releasing everything when the platform closes. */
const CLOSE_MS = 1000

function macosAdapter(ax: Ax, { env, root }: PlatformOptions): Adapter {
  const { deadline } = ax
  ax.connection.enter()
  let isOpen = true
  const turn = new Turn(async () => (await import("./input.ts")).openInputLock(env), deadline)
  // Modules that neither a snapshot nor a click needs are loaded on first use.
  return {
    permissions: async (request) => (await import("./diagnose.ts")).readPermissions(request),
    diagnose: async ({ ffi }) => (await import("./diagnose.ts")).diagnose(ax, ffi),
    apps: async () => (await import("./apps.ts")).listApps(showingProcesses(ax)),
    windows: async (only) => {
      const windows = listWindows(ax, only)
      const apps = only === undefined ? [] : appsFor(only, windows)
      return [...windows, ...apps.map((app) => appAsWindow(ax, app))]
    },
    displays: async () => (await import("./screenshot.ts")).listDisplays(),
    surfaces: (pid) => whenUp(ax, () => listSurfaces(ax, pid, listWindows(ax, { pid }))),
    tree: (target, treeOptions) => {
      const reading = new Ax(ax.connection, readingTime(deadline))
      return whenUp(reading, () => readTree(reading, target, treeOptions))
    },
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => (route === "path" ? whenUp(ax, () => openPath(ax, entry)) : undefined),
    read: async (handle) => walkElement(ax, elementOf(handle)),
    tableAround: async (handle) => tableAround(ax, elementOf(handle)),
    grid: async (handle) => (await import("./table.ts")).openTable(ax, elementOf(handle)),
    text: async (handle) => (await import("./text.ts")).openText(ax, elementOf(handle)),
    selectText: async (handle, range) => {
      await turn.take()
      return (await import("./text.ts")).selectText(ax, elementOf(handle), range)
    },
    doubt: async () => undefined,
    // Refs are resolved by path. An element that has left its window, or is on a hidden tab, has no path.
    absence: async () => undefined,
    dialogOver: async (entry) => dialogOver(ax, entry),
    hit: async (handle, point) => (await import("./hit.ts")).hitTest(ax, elementOf(handle), point),
    perform: (handle, action) => perform(ax, elementOf(handle), action),
    keepFocus: async (handle) => {
      await turn.take()
      return (await import("./focus.ts")).keepFocus(ax, elementOf(handle))
    },
    interfaceFor: async (what) => (what === "table" ? "AXRows" : "AXValue"),
    // A cell that can be edited contains a field.
    editorOver: async () => undefined,
    focused: async (window) => (await import("./focus.ts")).focusedElement(ax, window),
    popoverOpeners: async () => [],
    isEnterBlocked: async () => false,
    takeTurn: () => turn.take(),
    input: async (event) => {
      await turn.take()
      return (await import("./input.ts")).sendInput(event, deadline, root)
    },
    window: async (id, op) => {
      await turn.take()
      return (await import("./window-ops.ts")).operateWindow(ax, id, op, root)
    },
    launch: async (app, args) => (await import("./apps.ts")).launchApp(app, args, deadline),
    quit: async (app, force) => (await import("./apps.ts")).quitApp(app, force),
    clipboard: async (op) => (await import("./clipboard.ts")).useClipboard(op, deadline),
    screenshot: async (target) => (await import("./screenshot.ts")).takeScreenshot(target, deadline),
    watchScreen: async () => undefined,
    notifications: async () => (await import("./notifications.ts")).listNotifications(ax),
    // macOS does not report which events an app has handled.
    caughtUp: async () => true,
    // The list of windows does not have menus and popups.
    ownerAt: async () => undefined,
    popups: async () => undefined,
    watchPopups: async () => undefined,
    openedAmong: async () => undefined,
    unlistedNotifications: async () => 0,
    notification: async (target, op) =>
      (await import("./notifications.ts")).actOnNotification(ax, target, op),
    desktops: async () => {
      throw new AppError("PLATFORM_NOT_SUPPORTED", "Isolated desktops are not available on macOS", {
        suggestion: "Use the desktop of the logged-in user, or run on Linux",
      })
    },
    // Only the parent of a process learns how it ended.
    life: async (pid) => ({
      end: async () => (processStart(pid) === undefined ? {} : undefined),
      close: () => {},
    }),
    watch: async (pids) => watchProcesses(ax, pids),
    close: async () => {
      await turn.release()
      if (isOpen) ax.connection.leave()
      isOpen = false
    },
  }
}

/** The running apps that the filter also accepts as windows. */
function appsFor(only: WindowFilter, windows: readonly SeenWindow[]): readonly SeenApp[] {
  if (typeof only === "string") {
    const pid = pidOf(only)
    return pid === undefined ? [] : appsLike({ pid })
  }
  return only.orApp && windows.length === 0 ? appsLike(only) : []
}

async function readTree(ax: Ax, target: TreeTarget, options: TreeOptions): Promise<SeenTree> {
  if (target.kind === "element") {
    const element = above(ax, elementOf(target.handle), target.above ?? 0)
    if (element) return readSubtree(ax, element, options)
    throw parentNotFound()
  }
  const { window, surface } = target
  const found = findSurface(ax, window.pid, surface, window.id)
  if (!found) {
    if (surface === "window") throw windowNotFound(window.id)
    throw new AppError("ELEMENT_NOT_FOUND", `'${window.app_name}' shows no ${surface} now`, {
      suggestion: `Use 'list-surfaces --app ${plainWord(window.app_name)}' to see what it shows`,
    })
  }
  const isApp = pidOf(found.id) !== undefined
  if (!isApp && surface !== "menu" && surface !== "menubar")
    await wakeWebContents(ax, window.pid, found.element)
  const { root, complete } = await walkSurface(ax, found, options)
  const { id, title, path: rootPath } = found
  // A menu is named after the item that opened it.
  const name = root.name ?? (title || undefined)
  const { app_name: app, pid } = window
  return { root: { ...root, name }, window: { id, title }, app, pid, complete, rootPath }
}

/** The status items of an app are one more child of its menu bar. */
async function walkSurface(ax: Ax, { element, area, statusItems }: FoundSurface, options: TreeOptions) {
  const walked = await walkTree(ax, element, area, options)
  if (!statusItems) return walked
  const more = await walkTree(ax, statusItems, undefined, options)
  const children = [...walked.root.children, { ...more.root, index: STATUS_ITEMS }]
  return { root: { ...walked.root, children }, complete: walked.complete && more.complete }
}

function above(ax: Ax, element: Element, levels: number): Element | undefined {
  let at: Element | undefined = element
  for (let level = 0; at && level < levels; level++) at = asElement(ax.get(at, "AXParent"))
  return at
}

function tableAround(ax: Ax, element: Element): Seen | undefined {
  for (let level = 0, at: Element | undefined = element; at && level < MOST_LEVELS; level++) {
    const seen = walkElement(ax, at)
    if (seen && isList(seen)) return seen
    at = above(ax, at, 1)
  }
  return undefined
}

/** Most levels between a part of a cell and its table. */
const MOST_LEVELS = 12

async function readSubtree(ax: Ax, element: Element, options: TreeOptions): Promise<SeenTree> {
  const pid = ax.pid(element)
  const top = asElement(ax.get(element, "AXTopLevelUIElement")) ?? asElement(ax.get(element, "AXWindow"))
  const window = top && ax.read(top, ["AXTitle", FRAME])
  const known = window instanceof Failure ? undefined : window
  const { root, complete } = await walkTree(ax, element, known && frameOf(known), options)
  return {
    root,
    complete,
    window: { id: (top && windowIdOf(ax, top)) ?? "", title: asText(known?.AXTitle) ?? "" },
    app: asText(ax.get(ax.connection.app(pid), "AXTitle")) ?? bundleOf(pid)?.name ?? "",
    pid,
  }
}

/** Follows the stored child indexes, one call per level. AX elements have no address that works in another process. */
function openPath(ax: Ax, { pid, window_id, path }: RefEntry): Seen | undefined {
  if (!window_id || !path) return undefined
  const isStatusItem = path[0] === STATUS_ITEMS
  let element = isStatusItem ? statusItemsOf(ax, pid) : surfaceById(ax, pid, window_id)
  for (const index of isStatusItem ? path.slice(1) : path) {
    if (!element) return undefined
    element = childAt(ax, element, index)
  }
  return element && walkElement(ax, element, path.at(-1))
}

/**
 * The modal dialog that blocks an element: a modal window in front, which blocks the whole app, or a sheet of the
 * element's own window. A sheet is part of its window, and has the window's id. The app is asked only if the window
 * server shows something in front of the window.
 */
function dialogOver(ax: Ax, entry: RefEntry): Pick<WindowInfo, "id"> | undefined {
  const { pid, window_id: own, path } = entry
  const inFront = own === undefined ? [] : windowsInFront(ax, pid, own)
  if (own === undefined || inFront.length === 0) return undefined
  const elements = elementsOfWindows(ax, pid)
  const dialog = inFront.find((id) => isModal(ax, elements.get(id)))
  if (dialog !== undefined) return { id: dialog }
  const window = elements.get(own)
  return window && isBehindSheet(ax, window, path ?? []) ? { id: own } : undefined
}

const isModal = (ax: Ax, window: Element | undefined): boolean =>
  window !== undefined && asFlag(ax.get(window, "AXModal")) === true

/** True if the path from the window does not lead into its sheet. A sheet may have a sheet, too. */
function isBehindSheet(ax: Ax, window: Element, path: readonly number[]): boolean {
  let at = window
  for (const index of path) {
    const sheet = asElements(ax.get(at, "AXChildren")).find((child) => ax.get(child, "AXRole") === "AXSheet")
    if (!sheet) return false
    if (childAt(ax, at, index) !== sheet) return true
    at = sheet
  }
  return false
}
