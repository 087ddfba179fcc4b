import type { SeenApp, SeenWindow } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { cut } from "../../shown-text.ts"
import { pause } from "../../until.ts"
import { DBusError, DBusTimeout } from "../dbus/bus.ts"
import { type AppHints, aliasesOf, desktopEntryOf, wrapperOf } from "../host/app-names.ts"
import { mutenessOf } from "../host/mute.ts"
import { endOf, isYoung, readProcess } from "../host/processes.ts"
import { type Session, silentBus } from "../host/session.ts"
import type { TopWindow } from "../windowing/window.ts"
import { Atspi } from "./atspi.ts"
import { type A11yApp, findA11yApps, listA11yApps } from "./registry.ts"

/** Apps and windows at one moment. Without an accessibility bus there are windows, but no apps. */
export interface Inventory {
  /** Set if the inventory covers only this process. */
  readonly pid?: number
  readonly apps: readonly A11yApp[]
  readonly windows: readonly TopWindow[]
  readonly bus: "there" | "missing" | "silent"
}

/** How long callers that can do without it wait for a silent accessibility bus. */
const BUS_MS = 5000

export async function takeInventory(session: Session, deadline: Deadline): Promise<Inventory> {
  const [windows, apps] = await Promise.all([
    session.windowing(deadline).then((system) => system.windows(deadline)),
    listApps(session, deadline).catch(unlessNoBus),
  ])
  if (typeof apps === "string") return { windows, apps: [], bus: apps }
  const there = await withoutEnded(session, windows, apps, deadline)
  return { windows: await withFrames(session, there, apps, deadline), apps, bus: "there" }
}

/** Adds the windows of apps that the window system does not know. */
async function withFrames(
  session: Session,
  windows: readonly TopWindow[],
  apps: readonly A11yApp[],
  deadline: Deadline,
): Promise<readonly TopWindow[]> {
  const system = await session.windowing(deadline)
  if (system.listsAll) return windows
  const { frameWindows } = await import("./frame-windows.ts")
  const known = new Set(windows.map(({ pid }) => pid))
  const others = apps.filter(({ pid }) => !known.has(pid))
  const frames = await onBus(session, deadline, (atspi) => frameWindows(atspi, others))
  return [...windows, ...((await system.recognize?.(frames, deadline)) ?? frames)]
}

/**
 * Drops windows of a process that has ended: the window system closes them a moment after the bus forgets the process.
 * Other windows without an app stay: a process in a sandbox has another pid here, or none.
 */
async function withoutEnded(
  session: Session,
  windows: readonly TopWindow[],
  apps: readonly A11yApp[],
  deadline: Deadline,
): Promise<readonly TopWindow[]> {
  const onBus = new Set(apps.map((app) => app.pid))
  const orphans = windows.filter(({ pid = 0 }) => pid > 0 && !onBus.has(pid) && endOf(pid))
  if (orphans.length === 0) return windows
  const system = await session.windowing(deadline)
  const ids = orphans.map(({ id }) => id)
  const enough = deadline.slice(Math.min(ENDING_MS, deadline.remaining / 2))
  let left: ReadonlySet<string> = new Set(ids)
  // Once the process is gone completely, the window system knows, and closes its windows within its next answers.
  for (let look = 0; look < LOOKS || (isAnyEnding(orphans, left) && !enough.expired); look++) {
    if (look >= LOOKS) await pause(LOOK_AGAIN_MS, enough)
    left = await system.existing(ids, deadline)
    if (left.size === 0) break
  }
  return windows.filter(({ id }) => left.has(id) || !ids.includes(id))
}

const isAnyEnding = (windows: readonly TopWindow[], left: ReadonlySet<string>): boolean =>
  windows.some(({ id, pid = 0 }) => left.has(id) && endOf(pid) === "ending")

const ENDING_MS = 1000
const LOOKS = 3
const LOOK_AGAIN_MS = 20

/**
 * The inventory of one window's process (or the focused window's). undefined: the window is not managed, or its process
 * is not on the bus by the same pid.
 */
export async function takeInventoryOf(
  session: Session,
  window: string,
  deadline: Deadline,
): Promise<Inventory | undefined> {
  const finding = session.windowing(deadline).then((system) => system.mates(window, deadline))
  const owner = finding.then(([first]) => first?.pid)
  // `finding` below reports the same failure.
  owner.catch(() => {})
  const [windows, apps] = await Promise.all([
    finding,
    onBus(session, deadline, (atspi) => findA11yApps(atspi, owner)).catch(unlessNoBus),
  ])
  // A full inventory would not get an answer either.
  if (apps === "silent" && windows[0]) return { pid: windows[0].pid, windows, apps: [], bus: apps }
  if (typeof apps === "string") return undefined
  return apps[0] && { pid: apps[0].pid, windows, apps, bus: "there" }
}

/** The inventory for a question about apps, which a desktop without a window system can answer too. */
export async function takeAppInventory(session: Session, deadline: Deadline): Promise<Inventory> {
  const [windows, apps] = await Promise.all([
    session
      .windowing(deadline)
      .then((system) => system.windows(deadline))
      .catch((error: unknown) => (isUnsupported(error) ? [] : Promise.reject(error))),
    listApps(session, deadline),
  ])
  const all = session.hasWindows ? await withFrames(session, windows, apps, deadline) : windows
  return { windows: all, apps, bus: "there" }
}

export function seenWindow(window: TopWindow, inventory: Inventory, env: Session["env"]): SeenWindow {
  const app = appOf(inventory, window)
  const pid = window.pid ?? 0
  return {
    id: window.id,
    title: window.title,
    app_name: appName(pid, app, window),
    pid,
    bounds: window.frame,
    is_focused: window.focused,
    // Names cost file reads, and most commands need none.
    get aliases() {
      return aliasesOf(pid, hintsOf(app, window), env)
    },
    minimized: window.minimized || undefined,
    isSplash: window.types[0] === "splash" || undefined,
    ...muteness(app, inventory, window.pid),
  }
}

export function seenApps(inventory: Inventory, env: Session["env"]): readonly SeenApp[] {
  const { apps, windows } = inventory
  const pids = new Set([...apps.map((app) => app.pid), ...windows.map((window) => window.pid ?? 0)])
  pids.delete(0)
  return [...pids].map((pid) => {
    const window = windows.find((one) => one.pid === pid)
    const app = bestApp(apps, pid)
    const hints = hintsOf(app, window)
    return {
      name: appName(pid, app, window),
      pid,
      bundle_id: desktopEntryOf(pid, hints, env)?.id,
      get aliases() {
        return aliasesOf(pid, hints, env)
      },
    }
  })
}

/** True if the accessibility bus or the window system knows that this process has an app or a window. */
export function isVouchedFor({ apps, windows }: Inventory, pid: number): boolean {
  return (
    apps.some((app) => app.pid === pid) ||
    windows.some((window) => window.pid === pid && !window.isPidClaimed)
  )
}

export function appOf(inventory: Inventory, window: TopWindow): A11yApp | undefined {
  return bestApp(inventory.apps, window.pid)
}

function listApps(session: Session, deadline: Deadline): Promise<readonly A11yApp[]> {
  return onBus(session, deadline, listA11yApps)
}

async function onBus<T>(
  session: Session,
  deadline: Deadline,
  read: (atspi: Atspi) => Promise<T>,
): Promise<T> {
  const bus = await session.a11y(deadline.slice(Math.min(BUS_MS, deadline.remaining / 2)))
  try {
    return await read(new Atspi(bus, deadline))
  } catch (error) {
    if (error instanceof AppError) throw error
    if (error instanceof DBusTimeout) throw silentBus(error.message)
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      "The accessibility registry of this session does not answer",
      {
        suggestion: "Run 'doctor' to see what is missing, then retry",
        platformDetail: error instanceof DBusError ? `${error.code}: ${error.message}` : String(error),
      },
    )
  }
}

function unlessNoBus(error: unknown): "missing" | "silent" {
  if (isUnsupported(error)) return "missing"
  if (error instanceof AppError && error.code === "TIMEOUT") return "silent"
  throw error
}

function isUnsupported(error: unknown): boolean {
  return error instanceof AppError && error.code === "PLATFORM_NOT_SUPPORTED"
}

/** A process may register several applications, some of them without a name. */
function bestApp(apps: readonly A11yApp[], pid: number | undefined): A11yApp | undefined {
  const own = apps.filter((app) => app.pid === pid)
  return own.find((app) => app.name !== "") ?? own[0]
}

function hintsOf(app: A11yApp | undefined, window: TopWindow | undefined): AppHints {
  return {
    accessibleName: app?.name || undefined,
    desktopFile: window?.desktopFile,
    wmClass: window?.wmClass && [window.wmClass.instance, window.wmClass.className],
  }
}

function appName(pid: number, app: A11yApp | undefined, window: TopWindow | undefined): string {
  // Toolkits use the class instance for the accessible name too. The kernel cuts a process's name at 15 bytes.
  const own = app?.name && cut(app.name)
  // An app that is busy or has just started has not reported its name yet; the name must be the same as later.
  return (
    own ||
    wrapperOf(pid) ||
    window?.wmClass?.instance ||
    readProcess(pid)?.name ||
    window?.title ||
    `pid ${pid}`
  )
}

/** Reasons for a window to have no tree, without asking its app. A window without a pid may still have a frame. */
function muteness(
  app: A11yApp | undefined,
  { apps, bus, windows }: Inventory,
  owner: number | undefined,
): Pick<SeenWindow, "accessible" | "cannotShow" | "reason" | "starting"> {
  if (bus === "missing") return { accessible: false, reason: "the accessibility bus cannot be used" }
  if (bus === "silent") return { reason: "the accessibility bus does not answer" }
  if (app) return app.responsive ? {} : { reason: "its process does not answer" }
  const isSpare = apps.some(({ pid }) => !windows.some((window) => window.pid === pid))
  if (isSpare) return {}
  const starting = owner !== undefined && isYoung(owner)
  const why = owner === undefined ? undefined : mutenessOf(owner, starting)
  return {
    accessible: false,
    reason: why?.reason ?? "its process is not on the accessibility bus",
    ...(why?.isFinal ? { cannotShow: true } : {}),
    starting,
  }
}
