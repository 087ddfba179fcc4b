import type { Adapter } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import { actingOn } from "./acting.ts"
import { Desk } from "./desk.ts"
import { desktopEnv } from "./desktop.ts"
import { Element } from "./element.ts"
import { hitElement, hitInPopup, openAddress, openPath, readAnew } from "./locate.ts"
import { processStart } from "./processes.ts"
import { Session } from "./session.ts"
import { surfaceInfo } from "./surfaces.ts"
import { answering, readTree } from "./trees.ts"
import { watchEvents } from "./watch.ts"

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
  const desk = new Desk(session, deadline)
  return {
    ...actingOn(session, options, deadline, () => desk.windows()),
    permissions: async (request) => (await import("./diagnose.ts")).permissions(session, request, deadline),
    diagnose: async () => (await import("./diagnose.ts")).diagnose(session, deadline),
    apps: () => desk.apps(),
    windows: () => desk.windows(),
    surfaces: async (pid) => (await answering({ app: `pid ${pid}` }, desk.surfaces(pid))).map(surfaceInfo),
    tree: async (target, treeOptions) => readTree(await desk.atspi(), await desk.rootOf(target), treeOptions),
    processStart: async (pid) => processStart(pid),
    open: async (entry, route) => {
      const open = route === "address" ? openAddress : openPath
      const app = entry.source_app ?? `pid ${entry.pid}`
      return answering({ app }, open(await desk.atspi(), entry, desk.frameFor))
    },
    read: async (handle) => {
      const element = Element.of(handle)
      return answering(element.place, readAnew(await desk.atspi(), element))
    },
    hit: async (handle, point) => {
      const element = Element.of(handle)
      const top = await desk.topmost(element, point)
      if (typeof top === "object") return { kind: "occluded", by: top.by }
      const atspi = await desk.atspi()
      return answering(
        element.place,
        top === "own" ? hitElement(atspi, element, point) : hitInPopup(atspi, element, point),
      )
    },
    watch: async (pids) =>
      answering({ app: "any" }, watchEvents(await session.a11y(deadline), deadline, pids)),
    close: async () => {},
  }
}
