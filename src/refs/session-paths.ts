import { AppError } from "../errors.ts"
import { errorCode } from "../private-files.ts"

/** The paths of a session's files. */
export interface SessionPaths {
  readonly root: string
  /** The directories above the session's own, from the root down. */
  readonly parents: readonly string[]
  readonly directory: string
  readonly snapshots: string
  readonly trees: string
  readonly current: string
  /** Holds the highest number that was given as a stable ref. */
  readonly highest: string
  /** Holds a key for each notification that was listed last. */
  readonly notifications: string
}

export function sessionPaths(root: string, session: string | undefined): SessionPaths {
  if (session !== undefined && !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(session))
    throw new AppError("INVALID_ARGS", `Invalid session name '${session.slice(0, 80)}'`, {
      suggestion: "Use 1 to 64 letters, digits, '.', '_' or '-', not starting with a dot",
    })
  const directory = session === undefined ? root : `${sessionsIn(root)}/${session}`
  return {
    root,
    parents: session === undefined ? [] : [root, sessionsIn(root)],
    directory,
    snapshots: `${directory}/snapshots`,
    trees: `${directory}/trees`,
    current: `${directory}/last_refmap.json`,
    highest: `${directory}/last_ref`,
    notifications: `${directory}/last_notifications`,
  }
}

export const sessionsIn = (root: string): string => `${root}/sessions`

/** Differs in every process. The ids need not be secret. */
export const randomLetters = (): string =>
  Array.from({ length: 8 }, () => "abcdefghijklmnopqrstuvwxyz234567"[Math.floor(Math.random() * 32)]).join("")

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) !== "ESRCH"
  }
}
