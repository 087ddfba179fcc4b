import {
  closeSync,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { errorCode } from "../../private-files.ts"
import { X11 } from "../x11/connection.ts"

/**
 * Display numbers. In a container, an X server may not see another server: then it replaces its socket and removes its
 * lock. So we choose the number and make the lock, and a desktop removes only the files that it made.
 */

/** A number that we hold by its lock. */
export interface NumberClaim {
  readonly number: number
  /** Writes the server's pid into the lock and returns the lock's identity. */
  handOver(pid: number): string
  /** Removes the lock, if it is still ours. */
  release(): void
}

/** Claims the first number from this one on that has no lock, socket or listener. */
export function claimNumber(first: number): NumberClaim {
  const listening = abstractSockets()
  for (let number = first; number < first + TRIES; number++) {
    const claim = isTaken(number, listening) ? undefined : lock(number)
    if (!claim) continue
    // A server without a lock may have come first.
    if (!exists(socketPath(number))) return claim
    claim.release()
  }
  throw new AppError(
    "ACTION_FAILED",
    `All display numbers from ${first} to ${first + TRIES - 1} are in use`,
    {
      suggestion: "Run 'list-desktops' and stop the desktops that are not needed",
    },
  )
}

/** Away from the numbers that other programs choose: they count from 0, 10 (ssh) or 99 (xvfb-run). */
export const randomNumber = (): number => 1000 + Math.floor(Math.random() * 19_000)

/**
 * The identity of the socket on which the server of this environment answers. undefined: another server has replaced
 * it. The cookie proves which server answers, since no other server knows it.
 */
export async function provenSocket(
  number: number,
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<string | undefined> {
  const path = socketPath(number)
  const before = fileIdentity(path)
  try {
    const x = await X11.connect({ ...env, DISPLAY: `unix:${path}` }, deadline)
    x.close()
  } catch (error) {
    if (error instanceof AppError && error.code === "TIMEOUT") throw error
    return undefined
  }
  return fileIdentity(path) === before ? before : undefined
}

/** Removes the files of a number that are still those which the desktop made. */
export function removeNumber(
  display: string,
  socket: string | undefined,
  lockFile: string | undefined,
): void {
  const number = Number(display.slice(1))
  if (socket && fileIdentity(socketPath(number)) === socket) rmSync(socketPath(number), { force: true })
  if (lockFile && fileIdentity(lockPath(number)) === lockFile) rmSync(lockPath(number), { force: true })
}

const TRIES = 500

const socketPath = (number: number): string => `/tmp/.X11-unix/X${number}`
const lockPath = (number: number): string => `/tmp/.X${number}-lock`

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Identifies a file, so that a later file in its place is recognized, even if it reuses the inode. */
function fileIdentity(path: string): string | undefined {
  const file = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev}:${file.ino}:${file.ctimeNs}`
}

function isTaken(number: number, listening: ReadonlySet<string>): boolean {
  return exists(lockPath(number)) || exists(socketPath(number)) || listening.has(`@${socketPath(number)}`)
}

/** Names without a file. A container with the host's network sees these, and no lock. */
function abstractSockets(): ReadonlySet<string> {
  try {
    return new Set(readFileSync("/proc/net/unix", "latin1").match(/@\S+/g) ?? [])
  } catch {
    // Xvfb fails on such a number, and the next one is tried.
    return new Set()
  }
}

/** Makes the lock as X servers do: complete before it gets its name. undefined: another server was faster. */
function lock(number: number): NumberClaim | undefined {
  const path = lockPath(number)
  const unfinished = `/tmp/.tX${number}-lock.${crypto.randomUUID()}`
  const fd = openSync(unfinished, "wx", 0o444)
  const identity = (): string => {
    const file = fstatSync(fd, { bigint: true })
    return `${file.dev}:${file.ino}:${file.ctimeNs}`
  }
  try {
    fchmodSync(fd, 0o444) // other users' servers must be able to read it, despite our umask
    writeSync(fd, pidLine(process.pid))
    linkSync(unfinished, path)
  } catch (error) {
    closeSync(fd)
    if (errorCode(error) === "EEXIST") return undefined
    throw error
  } finally {
    unlinkSync(unfinished)
  }
  return {
    number,
    handOver: (pid) => {
      writeSync(fd, pidLine(pid), 0)
      const ours = identity()
      closeSync(fd)
      return ours
    },
    release: () => {
      if (fileIdentity(path) === identity()) rmSync(path, { force: true })
      closeSync(fd)
    },
  }
}

/** X servers read exactly these 11 bytes. */
const pidLine = (pid: number): string => `${String(pid).padStart(10)}\n`
