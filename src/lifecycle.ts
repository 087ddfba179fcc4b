import type { Launched, SeenWindow } from "./adapter.ts"
import { chooseApp, windowsOfApp } from "./choose.ts"
import type { Context } from "./command.ts"
import { AppError } from "./errors.ts"
import { until } from "./until.ts"

/** How long a start that was handed over to a running instance may take to show in a new window. */
const HANDOVER_MS = 2000

/** Starts an app and waits for a window that was not there before; or for the one it handed over to. */
export async function firstWindow(ctx: Context, app: string, args: readonly string[]): Promise<SeenWindow> {
  const before = new Map((await ctx.adapter.windows()).map((window) => [window.id, window]))
  const started = await ctx.adapter.launch(app, args)
  const exit = exitOf(started)
  const named = (windows: readonly SeenWindow[]) =>
    started.names.flatMap((name) => windowsOfApp(windows, name))
  const found = await until(ctx, async () => {
    const windows = await ctx.adapter.windows()
    const fresh = windows.filter((window) => !before.has(window.id))
    const own = fresh.find((window) => window.pid === started.pid) ?? named(fresh)[0]
    if (own || exit.at === undefined) return own
    if (exit.code !== 0) throw exitedEarly(app, exit.code)
    // A second start of a single-instance app ends at once. It opens another window, or shows one that is there.
    const running = named(windows)
    const shown = running.find((window) => window.is_focused && !before.get(window.id)?.is_focused)
    if (shown || performance.now() - exit.at < HANDOVER_MS) return shown
    return running.find((window) => window.is_focused) ?? running[0]
  })
  if (found) return found
  throw new AppError(
    "TIMEOUT",
    `'${app}' was started (process ${started.pid}) but showed no window in time`,
    {
      suggestion: "Use 'list-windows' to see whether it has appeared, or retry with a longer --timeout",
      details: { kind: "window", pid: started.pid },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    },
  )
}

/** `closed` only when the process is gone. */
export async function closeApp(ctx: Context, name: string, force: boolean): Promise<object> {
  const app = await chooseApp(ctx.adapter, name)
  const start = await ctx.adapter.processStart(app.pid)
  const { method } = await ctx.adapter.quit(app, force)
  const gone = await until(ctx, async () => {
    const now = await ctx.adapter.processStart(app.pid)
    return now === undefined || now !== start ? true : undefined
  })
  if (gone) return { app: app.name, closed: true, method }
  const dialog = (await ctx.adapter.windows()).find((window) => window.pid === app.pid)
  return {
    app: app.name,
    closed: false,
    method,
    ...(dialog ? { window: dialog.id, title: dialog.title } : {}),
  }
}

/** Filled in when the started process ends. How it ended may remain unknown, and then it counts as running. */
function exitOf(started: Launched): { code?: number; at?: number } {
  const exit: { code?: number; at?: number } = {}
  started.exited.then(
    (code) => Object.assign(exit, { code, at: performance.now() }),
    () => {},
  )
  return exit
}

function exitedEarly(app: string, code: number | undefined): AppError {
  return new AppError("ACTION_FAILED", `'${app}' ended with exit code ${code} before it showed a window`, {
    suggestion: "Run the program in a terminal to see what it says",
    details: { kind: "exited", exit_code: code },
    disposition: { delivery: "delivered_verified", retry: "unknown" },
  })
}
