import type { Rect, Surface, SurfaceInfo } from "../node.ts"
import { isEmpty } from "../rect.ts"
import { FRAME } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { Failure, INVALID_ELEMENT, readFailed } from "./failure.ts"
import {
  type Attributes,
  asElement,
  asElements,
  asFlag,
  asText,
  asWords,
  type Element,
  frameOf,
} from "./value.ts"
import { windowAround, windowElement, windowIdOf } from "./windows.ts"

/** Most elements to look at while searching a window for a surface. */
const SEARCH_NODES = 2048

/** Most levels between a window and a surface in it. */
const MOST_LEVELS = 50

/** Ids of surfaces that are not windows. A process has at most one of each. */
const MENU_ID = "menu-1"
const MENUBAR_ID = "menubar-1"

/** The index in a path of the bar with an app's status items: it is not a child of the menu bar, but is shown as one. */
export const STATUS_ITEMS = 1 << 28

export interface FoundSurface {
  readonly element: Element
  /** Id of the window that it is or belongs to; a menu has its own id. */
  readonly id: string
  /** Child indexes from the element that the id names down to this one; undefined if there is no such path. */
  readonly path?: readonly number[]
  readonly title: string
  /** The bar with the app's status items, if it has one besides its menu bar. */
  readonly statusItems?: Element
  /** Nothing of it is visible outside this frame. */
  readonly area?: Rect
}

const LOOK = ["AXRole", "AXSubrole", "AXTitle", "AXChildren", "AXSelected", FRAME] as const
const ALERTS: ReadonlySet<string> = new Set([
  "AXDialog",
  "AXSystemDialog",
  "AXApplicationAlert",
  "AXApplicationAlertDialog",
])

/** Finds a surface of a process, starting from one of its windows; undefined if it is not open. */
export function findSurface(
  ax: Ax,
  pid: number,
  surface: Surface,
  windowId?: string,
): FoundSurface | undefined {
  const app = ax.connection.app(pid)
  const window = () => (windowId ? windowElement(ax, pid, windowId) : focusedWindow(ax, app))
  switch (surface) {
    case "window": {
      const found = describe(ax, window(), windowId ? { id: windowId, path: [] } : undefined)
      if (found?.element !== app) return found
      const extras = statusItemsOf(ax, pid)
      const isShown = !extras || asElements(ax.must(app, "AXChildren")).includes(extras)
      return isShown ? found : { ...found, statusItems: extras }
    }
    case "focused":
      return describe(ax, focusedTop(ax, app))
    case "menubar": {
      const bar = asElement(ax.must(app, "AXMenuBar"))
      const extras = statusItemsOf(ax, pid)
      const element = bar ?? extras
      if (!element) return undefined
      const title = asText(ax.get(app, "AXTitle")) ?? ""
      return { element, id: MENUBAR_ID, path: [], title, ...(bar && extras ? { statusItems: extras } : {}) }
    }
    case "menu":
      return openMenu(ax, app, () => below(ax, window(), INSIDE.menu))
    case "sheet":
    case "popover":
      return describe(ax, below(ax, window(), INSIDE[surface]))
    case "alert":
      return describe(ax, alertOf(ax, app) ?? below(ax, window(), INSIDE.alert))
    default:
      return surface satisfies never
  }
}

/** Lists the surfaces that `--surface` can name now. All that is inside the window is found in one search. */
export function listSurfaces(
  ax: Ax,
  pid: number,
  windows: readonly { id: string; title: string }[],
): SurfaceInfo[] {
  const app = ax.connection.app(pid)
  const inside = searchBelow(ax, focusedWindow(ax, app), INSIDE)
  const found: Partial<Record<Surface, FoundSurface>> = {
    focused: findSurface(ax, pid, "focused"),
    menubar: findSurface(ax, pid, "menubar"),
    menu: openMenu(ax, app, () => inside.menu),
    sheet: describe(ax, inside.sheet),
    popover: describe(ax, inside.popover),
    alert: describe(ax, alertOf(ax, app) ?? inside.alert),
  }
  const others = (["focused", "menubar", "menu", "sheet", "popover", "alert"] as const).flatMap((type) => {
    const surface = found[type]
    if (!surface) return []
    const { id, title, element } = surface
    const items =
      type === "menu" || type === "menubar" ? asElements(ax.get(element, "AXChildren")).length : undefined
    return [{ type, id, title, ...(items === undefined ? {} : { item_count: items }) }]
  })
  return [...windows.map(({ id, title }) => ({ type: "window" as const, id, title })), ...others]
}

/** The bar with the app's items on the right of the menu bar; undefined if it has none. */
export function statusItemsOf(ax: Ax, pid: number): Element | undefined {
  return asElement(ax.must(ax.connection.app(pid), "AXExtrasMenuBar"))
}

/** The window or menu that a stored id names. */
export function surfaceById(ax: Ax, pid: number, id: string): Element | undefined {
  if (id === MENU_ID) return findSurface(ax, pid, "menu")?.element
  if (id === MENUBAR_ID) return findSurface(ax, pid, "menubar")?.element
  return windowElement(ax, pid, id)
}

function describe(
  ax: Ax,
  element: Element | undefined,
  place?: { readonly id: string; readonly path: readonly number[] },
): FoundSurface | undefined {
  const read = element && ax.read(element, ["AXTitle", FRAME, "AXPosition", "AXSize"])
  if (!element || !read) return undefined
  if (read instanceof Failure) {
    if (read.code === INVALID_ELEMENT) return undefined
    throw readFailed("The surface", read.code)
  }
  return {
    element,
    title: asText(read.AXTitle) ?? "",
    area: frameOf(read),
    ...(place ?? placeOf(ax, element)),
  }
}

/**
 * The window that a surface belongs to, and the path to it from there. To the window server a sheet or a
 * popover is a window of its own. In the app's tree it is below another one, and refs are resolved from that.
 */
function placeOf(ax: Ax, element: Element): Pick<FoundSurface, "id" | "path"> {
  const way: number[] = []
  let at = element
  for (let level = 0; level < MOST_LEVELS; level++) {
    const read = ax.read(at, ["AXRole", "AXParent"])
    const parent =
      read instanceof Failure || read.AXRole === "AXWindow" ? undefined : asElement(read.AXParent)
    if (!parent || ax.get(parent, "AXRole") === "AXApplication") {
      const found = way.every((index) => index >= 0)
      return { id: windowIdOf(ax, at) ?? "", ...(found ? { path: way } : {}) }
    }
    way.unshift(asElements(ax.get(parent, "AXChildren")).indexOf(at))
    at = parent
  }
  return { id: windowIdOf(ax, element) ?? "" }
}

function focusedWindow(ax: Ax, app: Element): Element | undefined {
  const read = ax.read(app, ["AXFocusedWindow", "AXMainWindow", "AXWindows"])
  if (read instanceof Failure) throw readFailed("The app", read.code)
  const window =
    asElement(read.AXFocusedWindow) ?? asElement(read.AXMainWindow) ?? asElements(read.AXWindows)[0]
  return window && windowAround(ax, window)
}

/** The window, sheet or popover that has the keyboard. */
function focusedTop(ax: Ax, app: Element): Element | undefined {
  const focused = asElement(ax.must(app, "AXFocusedUIElement"))
  return (focused && asElement(ax.get(focused, "AXTopLevelUIElement"))) ?? focusedWindow(ax, app)
}

/** Finds an open menu: in the menu bar, below the app, below the focused element, or deep in a window. */
function openMenu(ax: Ax, app: Element, inside: () => Element | undefined): FoundSurface | undefined {
  const read = ax.read(app, ["AXMenuBar", "AXExtrasMenuBar", "AXChildren", "AXFocusedUIElement"])
  if (read instanceof Failure) throw readFailed("The app", read.code)
  const bars = [asElement(read.AXMenuBar), asElement(read.AXExtrasMenuBar)].filter((bar) => bar !== undefined)
  for (const item of bars.flatMap((bar) => asElements(ax.must(bar, "AXChildren")))) {
    const look = ax.read(item, LOOK)
    if (look instanceof Failure || !asFlag(look.AXSelected)) continue
    const menu = asElements(look.AXChildren)[0]
    if (menu) return { element: menu, id: MENU_ID, path: [], title: asText(look.AXTitle) ?? "" }
  }
  const focused = asElement(read.AXFocusedUIElement)
  const near = [...asElements(read.AXChildren), ...(focused ? asElements(ax.get(focused, "AXChildren")) : [])]
  const menu = near.find((element) => isOpenMenu(ax.read(element, LOOK))) ?? inside()
  return menu && { element: menu, id: MENU_ID, path: [], title: asText(ax.get(menu, "AXTitle")) ?? "" }
}

/** A closed menu has no frame on the screen. */
function isOpenMenu(look: Attributes | Failure): boolean {
  if (look instanceof Failure || look.AXRole !== "AXMenu") return false
  const frame = frameOf(look)
  return frame !== undefined && !isEmpty(frame)
}

function alertOf(ax: Ax, app: Element): Element | undefined {
  return asElements(ax.must(app, "AXWindows")).find((window) => isAlert(ax.read(window, LOOK)))
}

function isAlert(look: Attributes | Failure): boolean {
  return !(look instanceof Failure) && ALERTS.has(asWords(look.AXSubrole) ?? "")
}

type Fits = (look: Attributes) => boolean

/** Surfaces inside a window. */
const INSIDE = {
  menu: isOpenMenu,
  sheet: ({ AXRole }: Attributes) => AXRole === "AXSheet",
  popover: ({ AXRole }: Attributes) => AXRole === "AXPopover",
  alert: isAlert,
} as const

/** Finds the first element below a root that fits, level by level. Skips branches that cannot be read. */
export function below(ax: Ax, root: Element | undefined, fits: Fits): Element | undefined {
  return searchBelow(ax, root, { it: fits }).it
}

/** The same for several kinds of elements, in one search. */
function searchBelow<Kind extends string>(
  ax: Ax,
  root: Element | undefined,
  kinds: Readonly<Record<Kind, Fits>>,
): Partial<Record<Kind, Element>> {
  const found: Partial<Record<Kind, Element>> = {}
  const missing = new Map(Object.entries<Fits>(kinds))
  const queue = root ? [root] : []
  const known = new Set(queue)
  for (let at = 0; at < queue.length && at < SEARCH_NODES && missing.size > 0; at++) {
    const element = queue[at]!
    const look = ax.read(element, LOOK)
    if (look instanceof Failure) continue
    // A sheet that belongs to no window may be the root itself.
    const isPart = at > 0 || look.AXRole !== "AXWindow"
    for (const [kind, fits] of isPart ? missing : []) {
      if (!fits(look)) continue
      Object.assign(found, { [kind]: element })
      missing.delete(kind)
    }
    for (const child of asElements(look.AXChildren)) {
      if (known.has(child)) continue
      known.add(child)
      queue.push(child)
    }
  }
  return found
}
