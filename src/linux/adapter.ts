import type { Adapter, Platform, PlatformOptions } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { lazily } from "../lazy.ts"
import type { actingOn } from "./acting.ts"
import { Element } from "./atspi/element.ts"
import { readTree, translatingErrors } from "./atspi/read-tree.ts"
import { Desk } from "./desktop-view.ts"
import { processStart } from "./host/processes.ts"
import { Session } from "./host/session.ts"
import type { InputLease } from "./x11/input.ts"

/** The Linux desktop: AT-SPI for what applications show, X11 for windows and input. */
export async function connectLinux(options: PlatformOptions): Promise<Platform> {
  const { desktop, root, env, way } = options
  const desktops = desktop ? await import("./desktops/desktop.ts") : undefined
  // A desktop is looked up when it is needed: starting one must work before it is there.
  const readEnv = () => (desktop && desktops?.desktopEnv(root, desktop, env)) || env
  const session = new Session(readEnv, way)
  return {
    name: "linux",
    adapter: (deadline) => linuxAdapter(session, options, deadline),
    close: () => session.close(),
  }
}

/** undefined where there is no display: whoever waits looks again after a pause all the same. */
const windowsOf =
  (session: Session, deadline: Deadline) =>
  async (changed: () => void): Promise<Disposable | undefined> => {
    try {
      const [x, { watchWindows }] = await Promise.all([session.x11(deadline), import("./x11/windows.ts")])
      return await watchWindows(x, deadline, changed)
    } catch {
      return undefined
    }
  }

function linuxAdapter(session: Session, options: PlatformOptions, deadline: Deadline): Adapter {
  const desk = new Desk(session, deadline)
  // What only some commands need is loaded for those.
  let lease: Promise<InputLease> | undefined
  const openLease = async (): Promise<InputLease> => {
    const { InputLease } = await import("./x11/input.ts")
    return new InputLease(() => session.env, deadline)
  }
  const takeTurn = async (): Promise<void> => {
    lease ??= openLease()
    await (await lease).take()
  }
  const acting = lazily<ReturnType<typeof actingOn>>(async () => {
    const { actingOn } = await import("./acting.ts")
    return actingOn(session, options, deadline, () => desk.windows(), takeTurn)
  })
  const opening = () => import("./atspi/open.ts")
  return {
    perform: acting.perform,
    takeTurn,
    input: acting.input,
    window: acting.window,
    launch: acting.launch,
    quit: acting.quit,
    clipboard: acting.clipboard,
    displays: acting.displays,
    screenshot: acting.screenshot,
    notifications: acting.notifications,
    unlistedNotifications: acting.unlistedNotifications,
    notification: acting.notification,
    desktops: acting.desktops,
    permissions: async (request) => (await import("./diagnose.ts")).permissions(session, request, deadline),
    diagnose: async () => (await import("./diagnose.ts")).diagnose(session, deadline),
    apps: () => desk.apps(),
    windows: (only) => desk.windows(only),
    surfaces: async (pid) => {
      const { surfaceInfo } = await import("./atspi/surfaces.ts")
      return (await translatingErrors({ app: `pid ${pid}` }, desk.surfaces(pid))).map(surfaceInfo)
    },
    tree: async (target, treeOptions) => readTree(await desk.atspi(), await desk.rootOf(target), treeOptions),
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => {
      const { openAddress, openPath } = await opening()
      const open = route === "address" ? openAddress : openPath
      const app = entry.source_app ?? `pid ${entry.pid}`
      return translatingErrors({ app }, open(await desk.atspi(), entry, desk.frameFor))
    },
    read: async (handle) => {
      const element = Element.of(handle)
      const { readAgain } = await opening()
      return translatingErrors(element.origin, readAgain(await desk.atspi(), element))
    },
    hit: async (handle, point) => {
      const element = Element.of(handle)
      const top = await desk.topmost(element, point)
      if (typeof top === "object") return { kind: "occluded", by: top.by }
      const [atspi, { hitElement, hitInPopup }] = await Promise.all([desk.atspi(), import("./atspi/hit.ts")])
      return translatingErrors(
        element.origin,
        top === "own" ? hitElement(atspi, element, point) : hitInPopup(atspi, element, point),
      )
    },
    watch: async (pids) => {
      const { watchEvents } = await import("./atspi/watch.ts")
      // What an application shows, it tells; that windows come and go, the display tells, also of those that do not.
      const windows = pids ? undefined : windowsOf(session, deadline)
      return translatingErrors(
        { app: "any" },
        watchEvents(await session.a11y(deadline), deadline, pids, windows),
      )
    },
    close: async () => (await lease)?.release(),
  }
}
