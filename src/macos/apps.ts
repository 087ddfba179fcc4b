import { readdirSync } from "node:fs"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { BSD_INFO, libsystem, PATH_SIZE } from "../../ffi/libsystem.ts"
import { AutoreleasePool, appKitClass, send } from "../../ffi/objc.ts"
import type { SeenApp } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Launched } from "../desktop.ts"
import { AppError, plainWord } from "../errors.ts"
import { isNamed } from "../match.ts"
import { drainRunLoop, itemsOf, textOf } from "./cf.ts"
import { outOfTime } from "./failure.ts"

const OPEN = "/usr/bin/open"
/** NSApplicationActivationPolicyRegular: the app is in the Dock and has a menu bar. */
const REGULAR = 0
const BUNDLE_ID = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i

/** Lists the apps in the Dock, and any other process that shows a window. */
export function listApps(showing: ReadonlySet<number>): SeenApp[] {
  return runningApps().flatMap(({ regular, ...app }) => (regular || showing.has(app.pid) ? [app] : []))
}

/** Running apps by name or by pid, with or without a place in the Dock. */
export function appsLike(wanted: { readonly app: string } | { readonly pid: number }): SeenApp[] {
  const running = runningApps()
  if ("pid" in wanted) return running.filter(({ pid }) => pid === wanted.pid)
  const named = running.filter(({ name }) => isNamed(name, [], wanted.app))
  return named.length > 0 ? named : running.filter((one) => isNamed(one.name, one.aliases, wanted.app))
}

function runningApps(): (SeenApp & { readonly regular: boolean })[] {
  // AppKit updates its list of running apps only while the run loop runs.
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

/** Starts an app by its name, bundle id or path. An app that already runs is brought to the front. */
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
    // `open` has ended: the app is a child of launchd, or was already running.
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
    throw new AppError("ACTION_FAILED", `'${name}' could not be asked to quit`, {
      suggestion: force
        ? "Use 'list-apps' to see whether it is still running"
        : `Run: agent-desktop close-app ${plainWord(name)} --force`,
    })
  }
  return { method }
}

/** Start time of a process, which distinguishes two processes with the same pid; undefined if there is none. */
export function processStart(pid: number): string | undefined {
  const info = bsdInfo(pid)
  if (info)
    return `${info.getBigUint64(BSD_INFO.startSeconds, true)}.${info.getBigUint64(BSD_INFO.startMicroseconds, true)}`
  // macOS does not report the start time of another user's process, only that it exists.
  return exists(pid) ? "unknown" : undefined
}

/** The age up to which a process counts as just started. */
export const YOUNG_MS = 30_000

/** Milliseconds since a process started; undefined if that is not known. */
export function ageOf(pid: number): number | undefined {
  const info = bsdInfo(pid)
  if (!info) return undefined
  const micros = Number(info.getBigUint64(BSD_INFO.startMicroseconds, true))
  return Date.now() - Number(info.getBigUint64(BSD_INFO.startSeconds, true)) * 1000 - micros / 1000
}

export function parentOf(pid: number): number | undefined {
  return bsdInfo(pid)?.getUint32(BSD_INFO.parent, true)
}

/** Path of the executable of a process. */
export function executableOf(pid: number): string | undefined {
  const path = new Uint8Array(PATH_SIZE)
  const length = libsystem().proc_pidpath(pid, path, PATH_SIZE)
  return length > 0 ? new TextDecoder().decode(path.subarray(0, length)) : undefined
}

interface Bundle {
  /** The bundle's file name without `.app`. */
  readonly name: string
  readonly id?: string
}

/** Path and name of the app bundle that a process runs from. */
export function bundlePlace(pid: number): { readonly path: string; readonly name: string } | undefined {
  const [path, name] = executableOf(pid)?.match(/^.*?\/([^/]+)\.app(?=\/)/) ?? []
  return path && name ? { path, name } : undefined
}

/** True if the bundle of the app contains a framework whose name fits. */
export function hasFramework(pid: number, name: RegExp): boolean {
  const place = bundlePlace(pid)
  if (!place) return false
  try {
    return readdirSync(`${place.path}/Contents/Frameworks`).some((entry) => name.test(entry))
  } catch (error) {
    // Most apps contain no frameworks, and some cannot be read.
    if (error instanceof Error && "code" in error) return false
    throw error
  }
}

/** The app bundle that a process runs from. Does not use AppKit, which is slow to load. */
export function bundleOf(pid: number): Bundle | undefined {
  const place = bundlePlace(pid)
  if (!place) return undefined
  const { path, name } = place
  const bytes = new TextEncoder().encode(path)
  const cf = coreFoundation()
  using url = new Owned(cf.CFURLCreateFromFileSystemRepresentation(0n, bytes, bytes.length, 1))
  using bundle = new Owned(url.ref && cf.CFBundleCreate(0n, url.ref))
  return { name, id: bundle.ref ? textOf(cf.CFBundleGetIdentifier(bundle.ref)) : undefined }
}

/** The pid of the process that runs from a bundle of this file name; undefined if there is none. */
export function processOf(bundle: string): number | undefined {
  const pids = new Int32Array(8192)
  const count = libsystem().proc_listallpids(pids, pids.byteLength)
  return Array.from(pids.subarray(0, count)).find((pid) => executableOf(pid)?.includes(`/${bundle}.app/`))
}

function bsdInfo(pid: number): DataView | undefined {
  const info = new Uint8Array(BSD_INFO.size)
  const size = libsystem().proc_pidinfo(pid, BSD_INFO.flavor, 0n, info, BSD_INFO.size)
  return size === BSD_INFO.size ? new DataView(info.buffer) : undefined
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

interface Finished {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: string
}

/** Runs a system program until it ends. "late": the deadline killed it. "missing": it is not installed. */
export async function run(
  command: readonly string[],
  deadline: Deadline,
  env: Readonly<Record<string, string>> = {},
): Promise<Finished | "late" | "missing"> {
  const child = start(command, { ...process.env, ...env })
  if (!child) return "missing"
  const timer = setTimeout(() => child.kill("SIGKILL"), deadline.remaining)
  const cancel = () => child.kill("SIGKILL")
  deadline.signal?.addEventListener("abort", cancel)
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      child.stdout.bytes(),
      child.stderr.text(),
      child.exited,
    ])
    return child.signalCode ? "late" : { exitCode, stdout, stderr }
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", cancel)
  }
}

function start(command: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  try {
    return Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}
