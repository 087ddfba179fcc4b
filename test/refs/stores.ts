import { readdirSync, statSync } from "node:fs"
import { AppError } from "../../src/errors.ts"
import type { RefEntry, RefMap } from "../../src/refmap.ts"
import { temporaryForFile } from "../support/temporary.ts"

/** Names of state roots that do not exist yet; they are removed after the last test of the file. */
export function rootsForFile(): () => string {
  const directory = temporaryForFile()
  let roots = 0
  return () => `${directory}/root-${++roots}`
}

export const button = (name: string): RefEntry => ({
  pid: 7,
  role: "button",
  name,
  states: ["enabled"],
  available_actions: ["Click"],
  address: name,
})

export const namesOf = (map: RefMap) => [...map.inner].map(([ref, entry]) => `${ref} ${entry.name}`)

/** Files that are being written, or were when their process was killed. */
export const unfinished = (directory: string) =>
  readdirSync(directory).filter((name) => name.startsWith(".tmp-"))

export const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

/** The error of a call that must fail. */
export async function failure(run: () => unknown): Promise<AppError> {
  try {
    await run()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}
