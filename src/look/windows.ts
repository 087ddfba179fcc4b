import type { Adapter, SeenApp, SeenWindow, WindowOp } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, plainWord, windowNotFound } from "../errors.ts"
import { isNamed } from "../match.ts"
import type { AppInfo, WindowInfo } from "../node.ts"
import { finiteRect } from "../rect.ts"
import { optionalText } from "../schema/inputs.ts"
import { until } from "../until.ts"

export interface WindowChoice {
  readonly app?: string
  readonly window_id?: string
}

/**
 * The window with the id; otherwise the focused or first window of the app; without an app, the focused window.
 * `orApp`: also accepts an app without windows.
 */
export async function chooseWindow(
  adapter: Adapter,
  choice: WindowChoice,
  { orApp = false } = {},
): Promise<SeenWindow> {
  const windows = await adapter.windows(
    choice.window_id ?? (choice.app === undefined ? "focused" : { app: choice.app, orApp }),
  )
  if (choice.window_id !== undefined) return windowById(windows, choice.window_id, choice.app)
  if (choice.app !== undefined) return windowOfApp(windows, choice.app)
  const focused = windows.find((window) => window.is_focused)
  if (focused) return focused
  throw noWindowHasFocus()
}

export const noWindowHasFocus = (facts: Pick<AppError, "disposition"> = {}): AppError =>
  new AppError("WINDOW_NOT_FOUND", "No window has the focus", {
    suggestion: "Use 'list-windows' to see available windows, then pass --app or --window-id",
    ...facts,
  })

/**
 * The same for a look. Between two windows, and right after one opens, no window has the focus for a moment: the look
 * waits for that.
 */
export async function windowInFront(ctx: Context, choice: WindowChoice): Promise<SeenWindow> {
  const choose = (): Promise<SeenWindow> => chooseWindow(ctx.adapter, choice, { orApp: true })
  const unlessNone = (error: unknown): undefined => {
    const isNamed = choice.app !== undefined || choice.window_id !== undefined
    if (isNamed || !(error instanceof AppError && error.code === "WINDOW_NOT_FOUND")) throw error
  }
  const tryOnce = (): Promise<SeenWindow | undefined> => choose().catch(unlessNone)
  return (
    (await tryOnce()) ?? (await until(ctx, tryOnce, { deadline: ctx.deadline.slice(FOCUS_MS) })) ?? choose()
  )
}

/** How long a window manager may take to give a new window the focus. */
const FOCUS_MS = 500

/**
 * The windows of the apps listed under this name. Aliases count only if there are none: a caller means the name that a
 * list has shown.
 */
export function windowsOfApp(windows: readonly SeenWindow[], app: string): readonly SeenWindow[] {
  const shown = new Set(windows.filter((one) => isNamed(one.app_name, [], app)).map(({ pid }) => pid))
  if (shown.size > 0) return windows.filter(({ pid }) => shown.has(pid))
  return windows.filter((window) => isNamed(window.app_name, window.aliases, app))
}

/** The app with this name or id, or else with this process id: two apps may have the same name. */
export async function chooseApp(adapter: Adapter, app: string): Promise<SeenApp> {
  const running = await adapter.apps()
  const shown = running.filter((one) => isNamed(one.name, [], app))
  const named = shown.length
    ? shown
    : running.filter((one) => isNamed(one.name, [...one.aliases, one.bundle_id ?? ""], app))
  const apps = named.length ? named : running.filter(({ pid }) => String(pid) === app)
  const [only, ...others] = apps
  if (!only) throw appNotFound(app)
  if (others.length > 0) {
    throw new AppError("AMBIGUOUS_TARGET", `${apps.length} running apps are named '${app}'`, {
      suggestion: "Use 'list-apps' to see them, then pass the pid of the one you mean instead of its name",
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

function windowById(windows: readonly SeenWindow[], id: string, app?: string): SeenWindow {
  const found = windows.find((window) => window.id === id)
  if (!found) throw windowNotFound(id)
  if (app === undefined || isNamed(found.app_name, found.aliases, app)) return found
  throw new AppError("WINDOW_NOT_FOUND", `Window '${id}' belongs to '${found.app_name}', not to '${app}'`, {
    suggestion: `Use 'list-windows --app ${plainWord(app)}' to see its windows`,
  })
}

function windowOfApp(windows: readonly SeenWindow[], app: string): SeenWindow {
  const own = windowsOfApp(windows, app)
  const first = own[0]
  if (!first) throw appNotFound(app, nameless(windows))
  const pids = new Set(own.map((window) => window.pid))
  if (pids.size > 1) {
    throw new AppError("AMBIGUOUS_TARGET", `${pids.size} running apps are named '${app}'`, {
      suggestion: `Pass one of the candidates' ids: agent-desktop snapshot --window-id ${first.id}`,
      details: { candidates: own.map(publicWindow) },
    })
  }
  return own.find((window) => window.is_focused) ?? own.find((window) => !window.isSplash) ?? first
}

/** The windows of apps that are too busy to report their names. */
export const nameless = (windows: readonly SeenWindow[]): readonly SeenWindow[] =>
  windows.filter(({ accessible, reason }) => accessible !== false && reason !== undefined)

/** `unsure`: windows that may belong to the app. */
function appNotFound(app: string, unsure: readonly SeenWindow[] = []): AppError {
  const [first] = unsure
  if (!first)
    return new AppError("APP_NOT_FOUND", `No windows found for app '${app}'`, {
      suggestion: "Use 'list-apps' to see running apps, or 'launch' to start one",
    })
  return new AppError("APP_NOT_FOUND", `No windows found for app '${app}', but some apps do not answer`, {
    suggestion: `Retry when they do, or name the window: agent-desktop snapshot --window-id ${first.id}`,
    details: { certain: false, unanswered: unsure.map(publicWindow) },
  })
}

export const targetWindow = optionalText("Window by id, from list-windows", {
  position: 0,
  value: "ID",
  aliases: ["id"],
  traced: true,
})

interface Wanted {
  readonly window_id?: string
  readonly app?: string
  readonly title?: string
}

/** Operates on the window that the arguments name. Returns the window as it was afterwards. */
export async function operate(ctx: Context, wanted: Wanted, op: WindowOp): Promise<WindowInfo> {
  const window = await windowTarget(ctx, wanted)
  const after = await ctx.adapter.window(window.id, op)
  if (op.kind === "focus" && !after.is_focused) {
    throw new AppError("ACTION_FAILED", `Window '${window.id}' did not get the focus`, {
      suggestion: "Use 'list-windows' to see which window has it; a dialog may hold it",
      details: { kind: "contradicted", observed: publicWindow(after) },
      disposition: { delivery: "delivered_unverified", retry: "safe" },
    })
  }
  return publicWindow(after)
}

/** Fails without an id, an app or a title: the focused window would be a guess. */
export function needsWindow(wanted: Wanted): void {
  if (wanted.window_id !== undefined || wanted.app !== undefined || wanted.title !== undefined) return
  throw new AppError("INVALID_ARGS", "Which window? An id, --app or --title is needed", {
    suggestion: "Use 'list-windows' to see available windows",
    details: { argument: "window_id" },
  })
}

async function windowTarget(ctx: Context, wanted: Wanted): Promise<SeenWindow> {
  if (wanted.title === undefined) return chooseWindow(ctx.adapter, wanted)
  const windows = await ctx.adapter.windows(wanted.app === undefined ? undefined : { app: wanted.app })
  const own = wanted.app === undefined ? windows : windowsOfApp(windows, wanted.app)
  const titled = own.filter(
    (window) =>
      window.title === wanted.title && (wanted.window_id === undefined || window.id === wanted.window_id),
  )
  const [only, ...others] = titled
  if (only && others.length === 0) return only
  throw only
    ? new AppError("AMBIGUOUS_TARGET", `${titled.length} windows have the title '${wanted.title}'`, {
        suggestion: `Pass one of the candidates' ids, such as --window-id ${titled[0]?.id}; 'list-windows' shows them`,
        details: { candidates: titled.map(publicWindow) },
      })
    : new AppError("WINDOW_NOT_FOUND", `No window has the title '${wanted.title}'`, {
        suggestion: "Use 'list-windows' to see available windows",
      })
}

/** Ends an app and waits for it. `closed` is true only if the process is gone. */
export async function closeApp(ctx: Context, name: string, force: boolean): Promise<object> {
  const app = await chooseApp(ctx.adapter, name)
  const start = await ctx.adapter.processStart(app.pid)
  const { method } = await ctx.adapter.quit(app, force)
  const gone = await until(ctx, async () => {
    const now = await ctx.adapter.processStart(app.pid)
    return now === undefined || now !== start ? true : undefined
  })
  if (gone) return { app: app.name, closed: true, method }
  const dialog = (await ctx.adapter.windows({ pid: app.pid })).find((window) => window.pid === app.pid)
  return {
    app: app.name,
    closed: false,
    method,
    ...(dialog ? { window: dialog.id, title: dialog.title } : {}),
  }
}
