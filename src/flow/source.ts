import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { pause } from "../until.ts"
import { MOST_CHARACTERS, tooLong } from "./read.ts"

/** How often a pipe is asked for more. */
const POLL_MS = 10
/** How long the program that writes into a named pipe may take to open it. */
const WRITER_MS = 5000

/**
 * The text of a flow. It may come through a pipe, as from `<(…)` in a shell, so opening it does not wait for a writer, and
 * reading ends with the deadline. Throws INVALID_ARGS if the file cannot be read or is too long, and TIMEOUT if it does
 * not end.
 */
export async function readSource(file: string, deadline: Deadline): Promise<string> {
  let fd: number | undefined
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    return new TextDecoder().decode(await bytesOf(fd, deadline))
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError("INVALID_ARGS", `The flow '${file}' cannot be read`, {
      suggestion: "Name a file of command lines, or - for standard input",
      platformDetail: error instanceof Error ? error.message : String(error),
      details: { argument: "file" },
    })
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

async function bytesOf(fd: number, deadline: Deadline): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const writer = fstatSync(fd).isFIFO() ? deadline.slice(WRITER_MS) : undefined
  for (;;) {
    const chunk = readNow(fd)
    const isEnd = chunk?.length === 0
    // A pipe without a writer looks like one at its end. The writer may still come.
    if (isEnd && writer && length === 0 && !writer.expired) {
      await pause(POLL_MS, deadline)
      continue
    }
    if (isEnd) return Buffer.concat(chunks)
    length += chunk?.length ?? 0
    // No character takes more than four bytes.
    if (length > 4 * MOST_CHARACTERS) throw tooLong()
    if (chunk) chunks.push(chunk)
    else if (deadline.expired) throw notEnded()
    else await pause(POLL_MS, deadline)
  }
}

const notEnded = (): AppError =>
  new AppError("TIMEOUT", "The flow did not end in time", {
    suggestion: "Check the program that writes it; it must close the pipe",
    details: { kind: "stdin" },
    disposition: NOTHING_DELIVERED,
  })

/** The next bytes, none at the end; undefined if a pipe is empty now. */
function readNow(fd: number): Uint8Array | undefined {
  const buffer = new Uint8Array(65_536)
  try {
    return buffer.subarray(0, readSync(fd, buffer))
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined
    throw error
  }
}
