import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs"
import { AppError } from "../../errors.ts"
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
  readonly display?: string
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
  mkdirSync(`${root}/desktops`, { recursive: true, mode: 0o700 })
  const home = lstatSync(`${root}/desktops`)
  if (!home.isDirectory() || home.uid !== process.getuid?.())
    throw new AppError("PERM_DENIED", `'${root}/desktops' is not a directory of this user`)
  for (let number = 1; ; number++) {
    const candidate = name ?? `d${number}`
    try {
      mkdirSync(desktopDirectory(root, candidate), { mode: 0o700 })
    } catch (error) {
      if (!isExisting(error)) throw error
      if (name === undefined) continue
      throw new AppError("INVALID_ARGS", `Desktop '${name}' already exists`, {
        suggestion: `Use it with --desktop ${name}, or run 'desktop-stop ${name}' first`,
      })
    }
    const record = describe(candidate)
    saveRecord(root, record)
    return record
  }
}

export function saveRecord(root: string, record: DesktopRecord): void {
  const path = `${desktopDirectory(root, record.name)}/desktop.json`
  const unfinished = `${path}.${record.id}`
  writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 })
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
    const lines = readFileSync(`${runtime}/${APPS}`, "utf8").split("\n")
    return lines.flatMap((line): ProcessIdentity[] => (line ? [JSON.parse(line)] : []))
  } catch {
    // No program was started, or the last line is incomplete.
    return []
  }
}

/** Reads a record; undefined if the desktop does not exist. An unreadable directory gives an empty record. */
export function loadRecord(root: string, name: string): DesktopRecord | undefined {
  checkName(name)
  const directory = desktopDirectory(root, name)
  try {
    lstatSync(directory)
  } catch {
    return undefined
  }
  try {
    const record: DesktopRecord = JSON.parse(readFileSync(`${directory}/desktop.json`, "utf8"))
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

const APPS = "apps"

/** Directories that may be removed recursively. */
const RUNTIME = /^\/tmp\/agent-desktop-[0-9a-f]{12}$/

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

function checkName(name: string): void {
  if (NAME.test(name)) return
  throw new AppError("INVALID_ARGS", `'${name}' is not a valid desktop name`, {
    suggestion: "Use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, a digit or _",
  })
}

const isExisting = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST"
