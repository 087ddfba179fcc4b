import type { SeenApp, SeenWindow } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { type AppHints, aliasesOf, desktopEntryOf } from "./app-names.ts"
import { Atspi } from "./atspi.ts"
import { type Frame, matchFrames, readFrames } from "./frames.ts"
import { readProcess } from "./processes.ts"
import { type A11yApp, listA11yApps } from "./registry.ts"
import type { Session } from "./session.ts"
import { listWindows, type XWindow } from "./x11-windows.ts"

/** A window of the screen, and the accessible frame that was proved to be the same. */
export interface Shown {
  readonly window: XWindow
  readonly frame: Frame | undefined
  readonly app: A11yApp | undefined
}

/** Everything that runs and shows, at one moment. */
export interface Inventory {
  readonly apps: readonly A11yApp[]
  readonly frames: readonly Frame[]
  readonly shown: readonly Shown[]
}

export async function takeInventory(session: Session, deadline: Deadline): Promise<Inventory> {
  const [windows, { apps, frames }] = await Promise.all([
    session.x11(deadline).then((x) => listWindows(x, deadline)),
    session.a11y(deadline).then((bus) => readAll(new Atspi(bus, deadline))),
  ])
  const matches = matchFrames(windows, frames)
  const shown = windows.map((window) => {
    const frame = matches.get(window.id)
    return { window, frame, app: frame?.app ?? bestApp(apps, window.pid) }
  })
  return { apps, frames, shown }
}

export function seenWindow({ window, frame, app }: Shown, env: Session["env"]): SeenWindow {
  const pid = window.pid ?? app?.pid ?? 0
  const hints = hintsOf(app, window)
  return {
    id: windowId(window.id),
    title: window.title,
    app_name: appName(pid, app, window),
    pid,
    bounds: window.frame,
    is_focused: window.focused,
    // Names cost file reads, and most commands need none.
    get aliases() {
      return aliasesOf(pid, hints, env)
    },
    minimized: window.minimized || undefined,
    ...(frame ? {} : { accessible: false, reason: reasonOf(app, window) }),
  }
}

export function seenApps({ apps, shown }: Inventory, env: Session["env"]): readonly SeenApp[] {
  const pids = new Set([...apps.map((app) => app.pid), ...shown.map(({ window }) => window.pid ?? 0)])
  pids.delete(0)
  return [...pids].map((pid) => {
    const window = shown.find((one) => one.window.pid === pid)?.window
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

export function windowId(id: number): string {
  return `w-${id}`
}

/** A process may register several applications, some of them empty. */
function bestApp(apps: readonly A11yApp[], pid: number | undefined): A11yApp | undefined {
  const own = apps.filter((app) => app.pid === pid)
  return own.find((app) => app.children.length > 0) ?? own.find((app) => app.name !== "") ?? own[0]
}

function hintsOf(app: A11yApp | undefined, window: XWindow | undefined): AppHints {
  return {
    accessibleName: app?.name || undefined,
    desktopFile: window?.desktopFile,
    wmClass: window?.wmClass && [window.wmClass.instance, window.wmClass.className],
  }
}

function appName(pid: number, app: A11yApp | undefined, window: XWindow | undefined): string {
  return app?.name || readProcess(pid)?.name || window?.wmClass?.className || window?.title || `pid ${pid}`
}

function reasonOf(app: A11yApp | undefined, window: XWindow): string {
  if (!app) return "its process is not on the accessibility bus"
  if (!app.responsive) return "its process does not answer"
  if (app.children.length === 0) return "its process shows no accessible window"
  return `no accessible window of its process is provably '${window.title}'`
}

async function readAll(atspi: Atspi): Promise<{ apps: readonly A11yApp[]; frames: readonly Frame[] }> {
  const apps = await listA11yApps(atspi)
  const frames = await Promise.all(apps.map((app) => readFrames(atspi, app)))
  return { apps, frames: frames.flat() }
}
