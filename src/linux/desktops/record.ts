import {
  appendFileSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs"
import type { DesktopKind } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import {
  errorCode,
  hasPrivateDirectory,
  inWords,
  isHomeState,
  openPrivateDirectory,
  readPrivateFile,
  writePrivateFile,
} from "../../private-files.ts"
import { identify, type ProcessIdentity } from "../host/processes.ts"

/** The record of a desktop on disk: enough to use it, and to remove every trace of it. */
export interface DesktopRecord {
  /** A unique id that every process of the desktop carries in its environment. */
  readonly id: string
  readonly name: string
  readonly width: number
  readonly height: number
  /** The private XDG_RUNTIME_DIR: sockets, cookie. */
  readonly runtime: string
  /** The process that starts the desktop; after `ready`, the one that started it. */
  readonly starter: ProcessIdentity
  readonly ready: boolean
  /** The X server's. */
  readonly display?: string
  /** Absent: "x11". */
  readonly kind?: DesktopKind
  /** The identities of our server's socket file and of the lock on its number. */
  readonly socket?: string
  readonly lock?: string
  readonly parts: readonly DesktopPart[]
  readonly env: Readonly<Record<string, string>>
}

export interface DesktopPart extends ProcessIdentity {
  readonly program: string
}

/** Every process of a desktop carries its id under this name. */
export const MARKER = "AGENT_DESKTOP_DESKTOP_ID"

export const desktopDirectory = (root: string, name: string): string => `${root}/desktops/${name}`

/** Claims the name (or the first free one of d1, d2 …) by making its directory, which only one process can. */
export function claimDesktop(
  root: string,
  name: string | undefined,
  describe: (name: string) => DesktopRecord,
): DesktopRecord {
  if (name !== undefined) checkName(name)
  openHome(root)
  for (let number = 1; ; number++) {
    const candidate = name ?? `d${number}`
    if (!recordElsewhere(root, candidate) && makeDesktop(root, candidate)) {
      const record = describe(candidate)
      try {
        saveRecord(root, record)
      } catch (error) {
        rmSync(desktopDirectory(root, candidate), { recursive: true, force: true })
        throw cannotStart(candidate, error)
      }
      return record
    }
    if (name !== undefined)
      throw new AppError("INVALID_ARGS", `Desktop '${name}' already exists`, {
        suggestion: `Use it with --desktop ${name}, or run 'desktop-stop ${name}' first`,
      })
  }
}

/** Turns a file system error, such as a full disk, into one for an agent. */
export const cannotStart = (name: string, error: unknown): unknown =>
  inWords(error, `Desktop '${name}' could not be started`)

function openHome(root: string): void {
  try {
    closeSync(openPrivateDirectory(root, "root"))
    closeSync(openPrivateDirectory(`${root}/desktops`, "inner"))
  } catch (error) {
    throw inWords(error, `'${root}/desktops' cannot be used`)
  }
}

/** False if the name is taken. */
function makeDesktop(root: string, name: string): boolean {
  try {
    mkdirSync(desktopDirectory(root, name), { mode: 0o700 })
    return true
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false
    throw cannotStart(name, error)
  }
}

export function saveRecord(root: string, record: DesktopRecord): void {
  const path = recordPath(root, record.name)
  const unfinished = `${path}.${record.id}`
  writePrivateFile(unfinished, new TextEncoder().encode(JSON.stringify(record)))
  renameSync(unfinished, path)
}

/**
 * Remembers a program that was started on a desktop. Most programs carry the id in their environment, but some
 * (Chromium) erase it.
 */
export function noteApp(env: Readonly<Record<string, string | undefined>>, pid: number): void {
  const app = env[MARKER] && existsSync(env.XDG_RUNTIME_DIR ?? "") ? identify(pid) : undefined
  if (app) appendFileSync(`${env.XDG_RUNTIME_DIR}/${APPS}`, `${JSON.stringify(app)}\n`, { mode: 0o600 })
}

export function notedApps({ runtime }: DesktopRecord): readonly ProcessIdentity[] {
  try {
    const lines = ownDirectory(runtime) ? readPrivateFile(`${runtime}/${APPS}`, MOST_BYTES)?.split("\n") : []
    return (lines ?? []).flatMap((line): ProcessIdentity[] => (line ? [JSON.parse(line)] : []))
  } catch {
    // No program was started, or the last line is incomplete.
    return []
  }
}

/** True for a real directory of this user: another user may have made one in its place. */
export function ownDirectory(path: string): boolean {
  const found = path ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

/** A record and the state root that it is in. */
export interface FoundRecord {
  readonly root: string
  readonly record: DesktopRecord
}

/** Finds a desktop of this state root, or of another home of this user. */
export function findRecord(root: string, name: string): FoundRecord | undefined {
  const record = loadRecord(root, name)
  return record ? { root, record } : recordElsewhere(root, name)
}

/** Finds all desktops, those of other homes of this user last. */
export function allRecords(root: string): readonly FoundRecord[] {
  const own = ownRecords(root)
  const names = new Set(own.map(({ record }) => record.name))
  return [...own, ...otherHomes(root).filter(({ record }) => !names.has(record.name))]
}

export function ownRecords(root: string): readonly FoundRecord[] {
  return desktopNames(root).flatMap((name) => {
    const record = loadRecord(root, name)
    return record ? { root, record } : []
  })
}

/** A state directory that was chosen with AGENT_DESKTOP_HOME is separate on purpose. */
function recordElsewhere(root: string, name: string): FoundRecord | undefined {
  return otherHomes(root).find(({ record }) => record.name === name)
}

const otherHomes = (root: string): readonly FoundRecord[] =>
  isHomeState(root) ? recordsOutside(root).filter((one) => isHomeState(one.root)) : []

/** The desktops of this user in other state roots. Their runtime directories name them. */
export function recordsOutside(root: string): readonly FoundRecord[] {
  return readdirSync("/tmp").flatMap((entry): readonly FoundRecord[] => {
    const runtime = `/tmp/${entry}`
    if (!RUNTIME.test(runtime) || !ownDirectory(runtime)) return []
    try {
      const note: unknown = JSON.parse(readPrivateFile(`${runtime}/${ADDRESS}`, MOST_BYTES) ?? "[]")
      const [home, name] = Array.isArray(note) ? note : []
      if (typeof home !== "string" || typeof name !== "string" || home === root) return []
      const record = loadRecord(home, name)
      return record?.runtime === runtime ? [{ root: home, record }] : []
    } catch {
      // It is being made or removed, or its state is not private.
      return []
    }
  })
}

/** Names the state root and the desktop in the runtime directory, for callers with another HOME. */
export function noteAddress(root: string, { runtime, name }: DesktopRecord): void {
  writePrivateFile(`${runtime}/${ADDRESS}`, new TextEncoder().encode(JSON.stringify([root, name])))
}

/**
 * Reads a record; undefined if the desktop does not exist. A directory without a record gives an empty one. Throws if
 * another user could have written it: a record names programs to run and processes to end.
 */
function loadRecord(root: string, name: string): DesktopRecord | undefined {
  checkName(name)
  if (!hasPrivateDirectory(root, "root") || !hasPrivateDirectory(`${root}/desktops`, "inner"))
    return undefined
  if (!hasPrivateDirectory(desktopDirectory(root, name), "inner")) return undefined
  const text = readPrivateFile(recordPath(root, name), MOST_BYTES)
  try {
    const record: DesktopRecord = JSON.parse(text ?? "")
    if (record.name === name && RUNTIME.test(record.runtime)) return record
  } catch {
    // Interrupted before the record was written: nothing runs there yet.
  }
  const starter = { pid: 0, start: "" }
  return {
    id: crypto.randomUUID(),
    name,
    width: 0,
    height: 0,
    runtime: "",
    starter,
    ready: false,
    parts: [],
    env: {},
  }
}

export function desktopNames(root: string): readonly string[] {
  try {
    return readdirSync(`${root}/desktops`)
      .filter((name) => NAME.test(name))
      .sort(new Intl.Collator("en", { numeric: true }).compare)
  } catch {
    // No desktop has been started under this root.
    return []
  }
}

const recordPath = (root: string, name: string): string => `${desktopDirectory(root, name)}/desktop.json`

const APPS = "apps"
const ADDRESS = "desktop"
const MOST_BYTES = 1_000_000

/** Directories that may be removed recursively. */
const RUNTIME = /^\/tmp\/agent-desktop-[0-9a-f]{12}$/

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

function checkName(name: string): void {
  if (NAME.test(name)) return
  throw new AppError("INVALID_ARGS", `'${name}' is not a valid desktop name`, {
    suggestion: "Use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, a digit or _",
  })
}
