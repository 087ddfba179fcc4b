import { lstatSync, readdirSync, rmSync } from "node:fs"
import { errorCode } from "../private-files.ts"
import { isRunning, randomLetters, sessionsIn } from "./session-paths.ts"

/** The session of one server process. Its directory is made by the first snapshot. */
export interface OwnSession {
  readonly name: string
  remove(): void
}

/** Invents a session name that no other process has, and removes the sessions of ended servers. */
export function openOwnSession(root: string): OwnSession {
  const sessions = sessionsIn(root)
  removeAbandoned(sessions)
  const name = `mcp-${process.pid}-${randomLetters()}`
  return { name, remove: () => removeTree(`${sessions}/${name}`) }
}

/**
 * The pid of a server in another container means nothing here, so a server counts as ended only after a day without a
 * new snapshot.
 */
const ABANDONED_MS = 86_400_000

function removeAbandoned(sessions: string): void {
  for (const name of namesIn(sessions)) {
    const pid = /^mcp-(\d+)-[a-z2-7]{8}$/.exec(name)?.[1]
    const path = `${sessions}/${name}`
    // Each snapshot renames a file into the directory.
    const used = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (pid && !isRunning(Number(pid)) && Date.now() - used > ABANDONED_MS) removeTree(path)
  }
}

function namesIn(sessions: string): readonly string[] {
  try {
    return readdirSync(sessions)
  } catch (error) {
    // Without sessions there is nothing to remove. The first snapshot reports an unreadable directory.
    if (errorCode(error) === undefined) throw error
    return []
  }
}

function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    // A leftover does no harm: no other server uses its name.
    if (errorCode(error) === undefined) throw error
  }
}
