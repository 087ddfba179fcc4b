import { AutoreleasePool, appKitClass, send } from "../../ffi/objc.ts"
import type { Launched, SeenApp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import { drainRunLoop, itemsOf, textOf } from "./cf.ts"
import { outOfTime } from "./failure.ts"
import { bundleOf, processStart } from "./processes.ts"
import { run } from "./run.ts"

const OPEN = "/usr/bin/open"
/** NSApplicationActivationPolicyRegular: in the Dock, with a menu bar of its own. */
const REGULAR = 0
const BUNDLE_ID = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i

/** Apps as a user sees them, and any other process that shows a window. */
export function listApps(showing: ReadonlySet<number>): SeenApp[] {
  return runningApps().flatMap(({ regular, ...app }) => (regular || showing.has(app.pid) ? [app] : []))
}

function runningApps(): (SeenApp & { readonly regular: boolean })[] {
  // What AppKit knows of other apps is brought up to date only while the run loop turns.
  drainRunLoop()
  using _pool = new AutoreleasePool()
  const workspace = send(appKitClass("NSWorkspace"), "sharedWorkspace")
  return Array.from(itemsOf(send(workspace, "runningApplications")) ?? [], (app) => {
    const pid = send(app, "processIdentifier")
    const bundle = bundleOf(pid)
    const name = textOf(send(app, "localizedName")) ?? bundle?.name ?? ""
    const id = textOf(send(app, "bundleIdentifier"))
    return {
      name,
      pid,
      ...(id ? { bundle_id: id } : {}),
      aliases: [id, bundle?.name].filter((alias) => alias !== undefined).filter((alias) => alias !== name),
      regular: Number(send(app, "activationPolicy")) === REGULAR,
    }
  }).filter(({ pid }) => pid > 0)
}

/** Starts an app by its name, bundle id or path; one that runs already is brought to the front. */
export async function launchApp(app: string, args: readonly string[], deadline: Deadline): Promise<Launched> {
  const ways = app.includes("/")
    ? [[app]]
    : BUNDLE_ID.test(app)
      ? [
          ["-b", app],
          ["-a", app],
        ]
      : [["-a", app]]
  let detail = ""
  for (const way of ways) {
    const finished = await run([OPEN, ...way, ...(args.length > 0 ? ["--args", ...args] : [])], deadline)
    if (finished === "late") throw outOfTime()
    if (finished !== "missing" && finished.exitCode === 0) return launched(app)
    detail = finished === "missing" ? `${OPEN} is missing` : finished.stderr.trim()
  }
  throw new AppError("APP_NOT_FOUND", `There is no app '${app}'`, {
    suggestion: "Use the name of the app as Finder shows it, its bundle id, or the path of its bundle",
    platformDetail: detail || undefined,
  })
}

function launched(app: string): Launched {
  const wanted = (app.includes("/") ? app.replace(/\/+$/, "").replace(/^.*\//, "") : app).replace(
    /\.app$/,
    "",
  )
  const fits = (name: string) => name.toLowerCase() === wanted.toLowerCase()
  const found = runningApps().find(({ name, aliases }) => [name, ...aliases].some(fits))
  return {
    pid: found?.pid ?? 0,
    names: [...new Set([wanted, ...(found ? [found.name, ...found.aliases] : [])])],
    // What was started here has ended: the app is a child of launchd, or ran before.
    exited: Promise.resolve(0),
  }
}

export function quitApp({ pid, name }: SeenApp, force: boolean): { readonly method: string } {
  using _pool = new AutoreleasePool()
  const method = force ? "forceTerminate" : "terminate"
  const running = processStart(pid) !== undefined
  const app =
    running && send(appKitClass("NSRunningApplication"), "runningApplicationWithProcessIdentifier:", pid)
  if (!app) {
    throw new AppError("APP_NOT_FOUND", `'${name}' is not running`, {
      suggestion: "Use 'list-apps' to see running apps",
    })
  }
  if (send(app, method) === 0) {
    throw new AppError("ACTION_FAILED", `'${name}' could not be asked to end`, {
      suggestion: force
        ? "Use 'list-apps' to see whether it still runs"
        : `Run: agent-desktop close-app ${JSON.stringify(name)} --force`,
    })
  }
  return { method }
}
