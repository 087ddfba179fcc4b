import type { Adapter, Seen, SeenWindow } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Platform, PlatformOptions } from "../platform.ts"
import { desktopEnv } from "./desktop.ts"
import { type Inventory, type Shown, seenApps, seenWindow, takeInventory, windowId } from "./inventory.ts"
import { processStart } from "./processes.ts"
import { Session } from "./session.ts"
import { readTree } from "./trees.ts"

/** The Linux desktop: AT-SPI for what applications show, X11 for windows and input. */
export function connectLinux(options: PlatformOptions): Platform {
  const env = options.desktop ? desktopEnv(options.root, options.desktop, options.env) : options.env
  const session = new Session(env)
  return {
    name: "linux",
    adapter: (deadline) => linuxAdapter(session, deadline),
    close: () => session.close(),
  }
}

function linuxAdapter(session: Session, deadline: Deadline): Adapter {
  const { env } = session
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
  return {
    ...ACTING,
    permissions: notYet,
    diagnose: notYet,
    apps: async () => seenApps(await inventory(), env),
    windows: async () => (await inventory()).shown.map((shown) => seenWindow(shown, env)),
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

/** What changes the desktop. */
const ACTING = {
  perform: notYet,
  input: notYet,
  window: notYet,
  launch: notYet,
  quit: notYet,
  clipboard: notYet,
  screenshot: notYet,
  notifications: notYet,
  notification: notYet,
  desktops: notYet,
} satisfies Partial<Adapter>
