import type { SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Launched } from "../desktop.ts"
import { AppError } from "../errors.ts"
import { cut } from "../refmap.ts"
import { until } from "../until.ts"
import { isStarting } from "./surface.ts"
import { windowsOfApp } from "./windows.ts"

/** How long an app that already runs may take to open a new window, after a second start handed over to it. */
const HANDOVER_MS = 2000

/** How long an app may take to say its name after it has shown its window. Some never do. */
const NAMED_MS = 1000

/**
 * Starts an app and waits for its new window, or for a window of the running app that the start handed over to. A splash
 * screen is not waited for: it is gone when the app can be used.
 */
export async function firstWindow(ctx: Context, app: string, args: readonly string[]): Promise<SeenWindow> {
  const before = new Map((await ctx.adapter.windows()).map((window) => [window.id, window]))
  const started = await ctx.adapter.launch(app, args)
  try {
    return await windowOf(ctx, app, started, before)
  } finally {
    started.leave?.()
  }
}

async function windowOf(
  ctx: Context,
  app: string,
  started: Launched,
  before: ReadonlyMap<string, SeenWindow>,
): Promise<SeenWindow> {
  const exit = exitOf(started)
  const named = (windows: readonly SeenWindow[]) =>
    started.names.flatMap((name) => windowsOfApp(windows, name))
  let splash: SeenWindow | undefined
  let foundAt: number | undefined
  const found = await until(ctx, async () => {
    const windows = await ctx.adapter.windows()
    // The X server gives the id of a window that has closed to another one.
    const fresh = windows.filter(({ id, pid }) => before.get(id)?.pid !== pid)
    const own = fresh.filter(({ pid }) => pid === started.pid || started.isOwn?.(pid))
    const candidates = [...own, ...named(fresh)]
    splash = candidates.find(({ isSplash }) => isSplash)
    const window = candidates.find(({ isSplash }) => !isSplash)
    if (window) foundAt ??= performance.now()
    const waits = foundAt === undefined ? 0 : performance.now() - foundAt
    if (window && isStarting(window) && waits < NAMED_MS) return undefined
    // The started process may have handed over to one that it started, and ended.
    if (window || exit.at === undefined || started.isRunning?.()) return window
    if (exit.code !== 0) throw exitedEarly(app, exit.code, started.lastWords?.())
    // A second start of a single-instance app ends at once: the running app opens a window, or shows one it has.
    const running = named(windows).filter(({ isSplash }) => !isSplash)
    const shown = running.find((window) => window.is_focused && !before.get(window.id)?.is_focused)
    if (shown || performance.now() - exit.at < HANDOVER_MS) return shown
    return running.find((window) => window.is_focused) ?? running[0]
  })
  if (found) return found
  throw showedNothing(app, started, exit.code, splash)
}

function showedNothing(
  app: string,
  started: Launched,
  exitCode: number | undefined,
  splash: SeenWindow | undefined,
): AppError {
  const { stderr } = started.lastWords?.() ?? {}
  const ended = exitCode === undefined ? "" : `; it ended with exit code ${exitCode}`
  const shown = splash ? "only its splash screen" : "no window"
  return new AppError(
    "TIMEOUT",
    `'${app}' was started (process ${started.pid}) but showed ${shown} in time${ended}${wrote(stderr)}`,
    {
      suggestion: "Use 'list-windows' to see whether it has appeared, or retry with a longer --timeout",
      details: {
        kind: "window",
        pid: started.pid,
        ...(exitCode === undefined ? {} : { exit_code: exitCode }),
        ...(splash ? { splash: splash.id } : {}),
        ...(stderr ? { stderr } : {}),
      },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    },
  )
}

/** Filled in when the started process ends. If its end cannot be observed, it counts as running. */
function exitOf(started: Launched): { code?: number; at?: number } {
  const exit: { code?: number; at?: number } = {}
  started.exited.then(
    (code) => Object.assign(exit, { code, at: performance.now() }),
    () => {},
  )
  return exit
}

function exitedEarly(
  app: string,
  code: number | undefined,
  { signal, stderr }: { readonly signal?: string; readonly stderr?: string } = {},
): AppError {
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`
  return new AppError("ACTION_FAILED", `'${app}' ${how} before it showed a window${wrote(stderr)}`, {
    suggestion: stderr
      ? "Read details.stderr, then launch it again with other arguments (--arg)"
      : "Run the program in a terminal to see what it says",
    details: {
      kind: "exited",
      exit_code: code,
      ...(signal ? { signal } : {}),
      ...(stderr ? { stderr } : {}),
    },
    // It has run for a while. Only its end was observed.
    disposition: { delivery: "delivered_unverified", retry: "unknown" },
  })
}

/** The last line of a program's standard error, as its own words. */
function wrote(stderr: string | undefined): string {
  const line = stderr?.trimEnd().split("\n").at(-1)?.trim()
  return line ? `; it wrote '${cut(line, 200)}'` : ""
}
