import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs"
import { basename, resolve } from "node:path"
import type { Env } from "./adapter.ts"
import { AppError } from "./errors.ts"

/** The directory of all our state: `AGENT_DESKTOP_HOME`, or `.agent-desktop` in the user's home. */
export function stateRoot(env: Env): string {
  const chosen = env.AGENT_DESKTOP_HOME
  if (chosen) {
    if (chosen.startsWith("/") && resolve(chosen) !== "/") return resolve(chosen)
    throw new AppError(
      "INVALID_ARGS",
      `AGENT_DESKTOP_HOME is '${chosen}', which is not a usable absolute path`,
      {
        suggestion: "Set AGENT_DESKTOP_HOME to the absolute path of a separate directory, or unset it",
      },
    )
  }
  const home = env.HOME?.startsWith("/") ? env.HOME : homeByUser()
  if (home?.startsWith("/")) return resolve(home, NAME)
  throw new AppError("INVALID_ARGS", "There is no home directory to keep refs in", {
    suggestion: "Set AGENT_DESKTOP_HOME to the absolute path of a separate directory",
  })
}

/** undefined: the user has no entry in the user database, e.g. the random uid of a container. */
function homeByUser(): string | undefined {
  try {
    // node:os costs start-up time, and almost everyone has a HOME.
    return process.getBuiltinModule("node:os").homedir()
  } catch {
    return undefined
  }
}

/** True if our state is in the user's home; false if AGENT_DESKTOP_HOME names another directory. */
export const isHomeState = (root: string): boolean => basename(root) === NAME

const NAME = ".agent-desktop"

/**
 * Opens a directory of ours, and creates it if it is missing. It must belong to this user, must not be a symbolic link,
 * and gets mode 0700. The caller closes it. `kind`: the user chose the path (root), or we did (inner).
 */
export function openPrivateDirectory(path: string, kind: "root" | "inner"): number {
  return checkDirectory(openDirectory(path) ?? makeDirectory(path, kind), path, kind)
}

/** Checks a directory as openPrivateDirectory does. False if it does not exist. */
export function hasPrivateDirectory(path: string, kind: "root" | "inner"): boolean {
  const fd = openDirectory(path)
  if (fd === undefined) return false
  closeSync(checkDirectory(fd, path, kind))
  return true
}

/** Reads a file of ours without blocking. undefined: there is no such file. */
export function readPrivateFile(path: string, maxBytes: number): string | undefined {
  const fd = openFile(path, constants.O_RDONLY)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    refuseUnlessOwnFile(stat, path)
    if (stat.mode & 0o022) throw refusal(`${path} can be written by other users`, `Remove ${path}`)
    if (stat.size > maxBytes)
      throw refusal(`${path} has ${stat.size} bytes, more than ${maxBytes}`, `Remove ${path}`)
    return readFileSync(fd, "utf8")
  } finally {
    closeSync(fd)
  }
}

/**
 * Creates a file of ours. Fails if it exists. The file is not synced to disk: after a power cut, the apps that it
 * describes are gone, too.
 */
export function writePrivateFile(path: string, bytes: Uint8Array): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    fchmodSync(fd, 0o600) // a umask may have taken even the owner's bits
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Throws if the path exists and is not a regular file of this user. */
export function refuseUnlessOwn(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat !== undefined) refuseUnlessOwnFile(stat, path)
}

/** Opens the permanent lock file, and creates it if it is missing. */
export function openLockFile(path: string): number {
  const fd = openFile(path, constants.O_RDWR | constants.O_CREAT)
  if (fd === undefined) throw refusal(`${path} could not be made`, WRITABLE)
  try {
    const stat = fstatSync(fd)
    refuseUnlessOwnFile(stat, path)
    if ((stat.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Turns a file system error into one for an agent; any other error stays as it is. */
export function inWords(error: unknown, message: string): unknown {
  if (error instanceof AppError || errorCode(error) === undefined) return error
  return new AppError("INTERNAL", message, { suggestion: WRITABLE, platformDetail: String(error) })
}

/** `ENOENT`, for example. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

const WRITABLE =
  "Make the directory writable and see that its disk has room, or set AGENT_DESKTOP_HOME to another one"

const refusal = (what: string, suggestion: string) => new AppError("INTERNAL", what, { suggestion })

function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return undefined
    if (code !== "ELOOP" && code !== "ENOTDIR") throw error
    throw refusal(
      `${path} is a symbolic link or not a directory`,
      `Remove ${path}, or set AGENT_DESKTOP_HOME to a real directory`,
    )
  }
}

/** Returns the descriptor, or closes it and throws. */
function checkDirectory(fd: number, path: string, kind: "root" | "inner"): number {
  try {
    const stat = fstatSync(fd)
    refuseForeign(stat, path)
    if ((stat.mode & 0o777) !== 0o700) {
      if (kind === "root" && !isOurs(path, stat))
        throw refusal(
          `${path} is open to other users and holds more than our files`,
          "Set AGENT_DESKTOP_HOME to a directory of its own",
        )
      fchmodSync(fd, 0o700)
    }
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function makeDirectory(path: string, kind: "root" | "inner"): number {
  try {
    mkdirSync(path, { mode: 0o700, recursive: kind === "root" })
    chmodSync(path, 0o700) // a umask may have taken even the owner's bits
  } catch (error) {
    // Another process was first.
    if (errorCode(error) !== "EEXIST") throw error
  }
  const fd = openDirectory(path)
  if (fd === undefined) throw refusal(`${path} could not be made`, WRITABLE)
  return fd
}

// Tightening a directory that other users share (for root: /tmp) would lock them out.
function isOurs(path: string, stat: Stats): boolean {
  if (stat.mode & 0o1000) return false
  const names = readdirSync(path)
  return (
    basename(path) === NAME || names.includes("last_refmap.json") || names.every((name) => OUR_OWN.has(name))
  )
}

const OUR_OWN = new Set(["sessions", "desktops", "frames", "held.json"])

function openFile(path: string, flags: number): number | undefined {
  try {
    // Non-blocking: opening a pipe at this path would wait for its other end.
    return openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return undefined
    throw code === "ELOOP" ? refusal(`${path} is a symbolic link`, `Remove ${path}`) : error
  }
}

function refuseUnlessOwnFile(stat: Stats, path: string): void {
  if (!stat.isFile()) throw refusal(`${path} is not a regular file`, `Remove ${path}`)
  refuseForeign(stat, path)
}

function refuseForeign(stat: Stats, path: string): void {
  if (stat.uid !== process.geteuid?.())
    throw refusal(`${path} belongs to another user`, "Set AGENT_DESKTOP_HOME to a directory of your own")
}
