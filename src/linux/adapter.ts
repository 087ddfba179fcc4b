import type { Adapter, SeenWindow } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Point } from "../node.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import { actingOn } from "./acting.ts"
import { Atspi } from "./atspi.ts"
import { desktopEnv } from "./desktop.ts"
import { Element } from "./element.ts"
import { findFrame } from "./frames.ts"
import {
  type Inventory,
  seenApps,
  seenWindow,
  takeAppInventory,
  takeInventory,
  windowId,
} from "./inventory.ts"
import { hitElement, openAddress, openPath, readElement } from "./locate.ts"
import { processStart } from "./processes.ts"
import { Session } from "./session.ts"
import { answering, frameElement, noFrame, readTree } from "./trees.ts"
import { watchEvents } from "./watch.ts"
import { windowAt, type XWindow } from "./x11-windows.ts"

/** The Linux desktop: AT-SPI for what applications show, X11 for windows and input. */
export function connectLinux(options: PlatformOptions): Platform {
  // A desktop is looked up when it is needed: starting one must work before it is there.
  const session = new Session(() =>
    options.desktop ? desktopEnv(options.root, options.desktop, options.env) : options.env,
  )
  return {
    name: "linux",
    adapter: (deadline) => linuxAdapter(session, options, deadline),
    close: () => session.close(),
  }
}

function linuxAdapter(session: Session, options: PlatformOptions, deadline: Deadline): Adapter {
  let last: Inventory | undefined
  const inventory = async (): Promise<Inventory> => {
    last = await takeInventory(session, deadline)
    return last
  }
  const windows = async (): Promise<readonly SeenWindow[]> => {
    const now = await inventory()
    return now.windows.map((window) => seenWindow(window, now, session.env))
  }
  const atspi = async (): Promise<Atspi> => new Atspi(await session.a11y(deadline), deadline)
  const findWindow = (id: string, now: Inventory | undefined): XWindow | undefined =>
    now?.windows.find((window) => windowId(window.id) === id)
  /** undefined: there is no such window, or none of its process's frames is provably it. */
  const findElement = async (id: string): Promise<Element | undefined> => {
    const window = findWindow(id, last) ?? findWindow(id, await inventory())
    const frame = window && last && (await findFrame(await atspi(), window, last))
    return frame && frameElement(window, frame)
  }
  const elementOf = async ({ id, app_name }: SeenWindow): Promise<Element> => {
    const element = await answering({ app: app_name }, findElement(id))
    if (element) return element
    if (findWindow(id, last)) throw noFrame(id, app_name)
    throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' not found`, {
      suggestion: "Use 'list-windows' to see available windows",
    })
  }
  return {
    ...actingOn(session, options, deadline, windows),
    permissions: async (request) =>
      (await import("./diagnose.ts")).permissions(session, request, deadline),
    diagnose: async () => (await import("./diagnose.ts")).diagnose(session, deadline),
    apps: async () => seenApps(await takeAppInventory(session, deadline), session.env),
    windows,
    surfaces: notYet,
    tree: (target, treeOptions) => readTree(session, deadline, target, treeOptions, elementOf),
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => {
      const open = route === "address" ? openAddress : openPath
      const app = entry.source_app ?? `pid ${entry.pid}`
      return answering({ app }, open(await atspi(), entry, findElement))
    },
    read: async (handle) => {
      const element = Element.of(handle)
      return answering(element.place, readElement(await atspi(), element))
    },
    hit: async (handle, point) => {
      const element = Element.of(handle)
      const covering = await coveringWindow(session, deadline, element, point)
      if (covering) return { kind: "occluded", by: covering }
      return answering(element.place, hitElement(await atspi(), element, point))
    },
    watch: async (pids) => watchEvents(await session.a11y(deadline), deadline, pids),
    close: async () => {},
  }
}

/** The name of the window that is above the element at this point, if there is one. */
async function coveringWindow(
  session: Session,
  deadline: Deadline,
  { place }: Element,
  point: Point,
): Promise<string | undefined> {
  const window = await windowAt(await session.x11(deadline), point, deadline)
  if (!window) return "the desktop"
  if (window.id === place.window) return undefined
  // An element found by its address alone does not say which of its app's windows it is in; the app does.
  if (place.window === undefined && window.pid === place.pid) return undefined
  // A popup of the same process may be the element's own surface; the application knows.
  if (window.pid === place.pid && !window.types.some((type) => type === "normal" || type === "dialog"))
    return undefined
  return `window '${window.title || window.wmClass?.className || windowId(window.id)}'`
}

async function notYet(): Promise<never> {
  throw new AppError("PLATFORM_NOT_SUPPORTED", "This is not available on Linux yet")
}
