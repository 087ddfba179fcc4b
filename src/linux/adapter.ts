import type { Adapter, Seen, SeenWindow } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import { actingOn } from "./acting.ts"
import { desktopEnv } from "./desktop.ts"
import { type Inventory, type Shown, seenApps, seenWindow, takeInventory, windowId } from "./inventory.ts"
import { processStart } from "./processes.ts"
import { Session } from "./session.ts"
import { readTree } from "./trees.ts"

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
  return {
    ...actingOn(session, options, deadline, windows),
    permissions: notYet,
    diagnose: notYet,
    apps: async () => seenApps(await inventory(), session.env),
    windows,
    displays: notYet,
    surfaces: notYet,
    tree: (target, treeOptions) => readTree(session, deadline, target, treeOptions, find),
    processStart: async (pid) => processStart(pid),
    open: async (): Promise<Seen | undefined> => notYet(),
    read: async (): Promise<Seen | undefined> => notYet(),
    hit: notYet,
    watch: notYet,
    close: async () => {},
  }
}

async function notYet(): Promise<never> {
  throw new AppError("PLATFORM_NOT_SUPPORTED", "This is not available on Linux yet")
}
