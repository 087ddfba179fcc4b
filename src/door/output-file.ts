import { closeSync, constants, fstatSync, ftruncateSync, openSync, unlinkSync, writeSync } from "node:fs"
import { AppError } from "../errors.ts"
import { existsAlready } from "../policy.ts"
import { errorCode } from "../private-files.ts"

/**
 * Writes a file that the caller named. A symbolic link is never followed: the caller may not know where it leads.
 * `onlyNew`: fails if the file exists.
 */
export async function writeOutput(path: string, bytes: Uint8Array, onlyNew: boolean): Promise<void> {
  try {
    write(path, bytes, onlyNew)
  } catch (error) {
    if (onlyNew && errorCode(error) === "EEXIST") throw existsAlready(path)
    if (error instanceof AppError) throw error
    throw unwritable(path, error instanceof Error ? error.message : String(error))
  }
}

function write(path: string, bytes: Uint8Array, onlyNew: boolean): void {
  // Non-blocking: opening a pipe at this path would wait for its reader.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const fd = openSync(path, onlyNew ? flags | constants.O_EXCL : flags, 0o666)
  try {
    if (!fstatSync(fd).isFile()) throw unwritable(path, "it is not a regular file")
    ftruncateSync(fd)
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
  } catch (error) {
    if (onlyNew) unlinkSync(path)
    throw error
  } finally {
    closeSync(fd)
  }
}

const unwritable = (path: string, why: string): AppError =>
  new AppError("ACTION_FAILED", `Cannot write '${path}'`, {
    suggestion: "Name a file, not a link, in an existing directory that you may write to",
    platformDetail: why,
  })
