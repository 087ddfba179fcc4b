import type { Adapter, SeenApp, SeenWindow } from "./adapter.ts"
import { AppError } from "./errors.ts"
import { isNamed } from "./match.ts"
import type { AppInfo, WindowInfo } from "./node.ts"
import { finiteRect } from "./tree.ts"

export interface WindowChoice {
  readonly app?: string
  readonly window_id?: string
}

/** The window that an agent means: by id exactly, else the app's focused or first one, else the focused one. */
export async function chooseWindow(adapter: Adapter, choice: WindowChoice): Promise<SeenWindow> {
  const windows = await adapter.windows(
    choice.window_id ?? (choice.app === undefined ? "focused" : undefined),
  )
  if (choice.window_id !== undefined) return windowById(windows, choice.window_id, choice.app)
  if (choice.app !== undefined) return windowOfApp(windows, choice.app)
  const focused = windows.find((window) => window.is_focused)
  if (focused) return focused
  throw new AppError("WINDOW_NOT_FOUND", "No window has the focus", {
    suggestion: "Use 'list-windows' to see available windows, then pass --window-id",
  })
}

/**
 * The windows of the apps that are shown under this name; only where there is none, of those that it is another
 * name for. What somebody was shown is what they mean, and finding out all the other names takes its time.
 */
export function windowsOfApp(windows: readonly SeenWindow[], app: string): readonly SeenWindow[] {
  const shown = new Set(windows.filter((one) => isNamed(one.app_name, [], app)).map(({ pid }) => pid))
  if (shown.size > 0) return windows.filter(({ pid }) => shown.has(pid))
  return windows.filter((window) => isNamed(window.app_name, window.aliases, app))
}

export async function chooseApp(adapter: Adapter, app: string): Promise<SeenApp> {
  const running = await adapter.apps()
  const shown = running.filter((one) => isNamed(one.name, [], app))
  const apps = shown.length
    ? shown
    : running.filter((one) => isNamed(one.name, [...one.aliases, one.bundle_id ?? ""], app))
  const [only, ...others] = apps
  if (!only) throw appNotFound(app)
  if (others.length > 0) {
    throw new AppError("AMBIGUOUS_TARGET", `${apps.length} running apps are named '${app}'`, {
      suggestion: "Use 'list-apps' to see them, then name the one you mean by its bundle_id",
      details: { candidates: apps.map(publicApp) },
    })
  }
  return only
}

export function publicWindow(window: SeenWindow): WindowInfo {
  const { id, title, app_name, pid, bounds, is_focused } = window
  return { id, title, app_name, pid, bounds: bounds && finiteRect(bounds), is_focused }
}

export function publicApp(app: SeenApp): AppInfo {
  const { name, pid, bundle_id } = app
  return { name, pid, bundle_id }
}

export function windowNotFound(id: string): AppError {
  return new AppError("WINDOW_NOT_FOUND", `Window '${id}' not found`, {
    suggestion: "Use 'list-windows' to see available windows",
  })
}

function windowById(windows: readonly SeenWindow[], id: string, app?: string): SeenWindow {
  const found = windows.find((window) => window.id === id)
  if (!found) throw windowNotFound(id)
  if (app === undefined || isNamed(found.app_name, found.aliases, app)) return found
  throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' belongs to '${found.app_name}', not to '${app}'`, {
    suggestion: `Use 'list-windows --app ${JSON.stringify(app)}' to see its windows`,
  })
}

function windowOfApp(windows: readonly SeenWindow[], app: string): SeenWindow {
  const own = windowsOfApp(windows, app)
  const first = own[0]
  if (!first) throw appNotFound(app)
  const pids = new Set(own.map((window) => window.pid))
  if (pids.size > 1) {
    throw new AppError("AMBIGUOUS_TARGET", `${pids.size} running apps are named '${app}'`, {
      suggestion: `Pass one of the candidates' ids: agent-desktop snapshot --window-id ${first.id}`,
      details: { candidates: own.map(publicWindow) },
    })
  }
  return own.find((window) => window.is_focused) ?? first
}

function appNotFound(app: string): AppError {
  return new AppError("APP_NOT_FOUND", `No windows found for app '${app}'`, {
    suggestion: "Use 'list-apps' to see running apps, or 'launch' to start one",
  })
}
