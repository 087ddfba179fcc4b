import type { Adapter, SeenWindow } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Point } from "../node.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import { actingOn } from "./acting.ts"
import { Atspi } from "./atspi.ts"
import { desktopEnv } from "./desktop.ts"
import { Element } from "./element.ts"
import { type Inventory, type Shown, seenApps, seenWindow, takeInventory, windowId } from "./inventory.ts"
import { hitElement, openAddress, openPath, readElement } from "./locate.ts"
import { processStart } from "./processes.ts"
import { Session } from "./session.ts"
import { answering, placeOf, readTree } from "./trees.ts"
import { watchEvents } from "./watch.ts"
import { windowAt } from "./x11-windows.ts"

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
  const find = async (window: SeenWindow): Promise<Shown> => {
    const isIt = ({ window: { id } }: Shown): boolean => windowId(id) === window.id
    const shown = last?.shown.find(isIt) ?? (await inventory()).shown.find(isIt)
    if (shown) return shown
    throw new AppError("WINDOW_NOT_FOUND", `Window '${window.id}' not found`, {
      suggestion: "Use 'list-windows' to see available windows",
    })
  }
  const windows = async (): Promise<readonly SeenWindow[]> =>
    (await inventory()).shown.map((shown) => seenWindow(shown, session.env))
  const findFrame = async (id: string): Promise<Element | undefined> => {
    const isIt = ({ window }: Shown): boolean => windowId(window.id) === id
    const shown = last?.shown.find(isIt) ?? (await inventory()).shown.find(isIt)
    if (!shown?.frame) return undefined
    return new Element(shown.frame.ref, placeOf(shown.window, shown.frame), undefined, shown.frame.index)
  }
  const atspi = async (): Promise<Atspi> => new Atspi(await session.a11y(deadline), deadline)
  return {
    ...actingOn(session, options, deadline, windows),
    permissions: notYet,
    diagnose: notYet,
    apps: async () => seenApps(await inventory(), session.env),
    windows,
    surfaces: notYet,
    tree: (target, treeOptions) => readTree(session, deadline, target, treeOptions, find),
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => {
      const open = route === "address" ? openAddress : openPath
      return answering({ app: entry.source_app ?? `pid ${entry.pid}` }, open(await atspi(), entry, findFrame))
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
