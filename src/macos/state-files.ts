import { closeSync, renameSync, rmSync } from "node:fs"
import { inWords, openPrivateDirectory, readPrivateFile, writePrivateFile } from "../private-files.ts"

/** Small JSON files in our own directory, for facts that macOS forgets between two commands. */

const MAX_BYTES = 4096

/** The contents of a file; undefined if it is missing, damaged or not ours. */
export function readState(path: string): unknown {
  const text = readPrivateFile(path, MAX_BYTES)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

/** Replaces a file at once, so that other commands read it whole or not at all. */
export function writeState(path: string, state: object): void {
  const fresh = `${path}.${crypto.randomUUID()}`
  writePrivateFile(fresh, new TextEncoder().encode(JSON.stringify(state)))
  renameSync(fresh, path)
}

export function deleteState(path: string): void {
  rmSync(path, { force: true })
}

/** Makes the directory of our own state, and one inside it. */
export function openState(root: string, folder?: string): void {
  closeSync(openPrivateDirectory(root, "root"))
  if (folder !== undefined) closeSync(openPrivateDirectory(`${root}/${folder}`, "inner"))
}

/** Uses such files, and translates an error of the file system. */
export function withState<T>(what: string, use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw inWords(error, `${what} could not be read or written`)
  }
}
