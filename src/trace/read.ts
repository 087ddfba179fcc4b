import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs"
import { AppError } from "../errors.ts"
import { errorCode } from "../private-files.ts"
import { TRACE_FILE, type TraceEntry } from "./entry.ts"

export interface ReadTrace {
  readonly entries: readonly TraceEntry[]
  /** Number of lines that are not entries: cut off by a full disk, or written by another program. */
  readonly unreadable: number
}

/** Only the end of a longer file is read. */
const MOST_BYTES = 64 * 1024 * 1024

export function readTrace(directory: string): ReadTrace {
  const found = linesOf(directory).map(entryOf)
  // A line is written when its command ends, so a batch follows its items. They may start in the same millisecond.
  const entries = found
    .filter((one) => one !== undefined)
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time) || Number(isItem(a)) - Number(isItem(b)))
  return { entries, unreadable: found.length - entries.length }
}

const isItem = ({ door }: TraceEntry): boolean => door === "batch"

/** The picture that an entry names; undefined if it is missing or not a PNG. */
export function readPicture(directory: string, name: string): Uint8Array | undefined {
  if (!/^pictures\/[0-9a-f]+\.png$/.test(name)) return undefined
  try {
    const bytes = readFileSync(`${directory}/${name}`)
    return bytes.subarray(0, 4).equals(PNG) ? bytes : undefined
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

function linesOf(directory: string): readonly string[] {
  try {
    const fd = openSync(`${directory}/${TRACE_FILE}`, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) throw notThere(directory, "it is not a file")
      const bytes = Buffer.alloc(Math.min(stat.size, MOST_BYTES))
      const read = readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length)
      const lines = bytes.toString("utf8", 0, read).split("\n")
      return lines.slice(stat.size > bytes.length ? 1 : 0).filter((line) => line !== "")
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (errorCode(error) === undefined || error instanceof AppError) throw error
    throw notThere(directory, String(error))
  }
}

const notThere = (directory: string, why: string): AppError =>
  new AppError("INVALID_ARGS", `There is no trace in '${directory}'`, {
    suggestion:
      "Name the directory that was given as --trace or AGENT_DESKTOP_TRACE: agent-desktop trace-show DIRECTORY",
    platformDetail: why,
    details: { argument: "directory" },
  })

/** Parses the entry in a line. The rest of a truncated entry may come before it. */
function entryOf(line: string): TraceEntry | undefined {
  return parsed(line) ?? parsed(line.slice(line.lastIndexOf('{"time":')))
}

function parsed(line: string): TraceEntry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isEntry(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isEntry(value: unknown): value is TraceEntry {
  if (typeof value !== "object" || value === null) return false
  // Any member of an object may be read; the types are checked below.
  const { time, duration_ms, command, ok } = value as Partial<Record<keyof TraceEntry, unknown>>
  return (
    typeof time === "string" &&
    Number.isFinite(Date.parse(time)) &&
    typeof duration_ms === "number" &&
    typeof command === "string" &&
    typeof ok === "boolean"
  )
}
