import { oneLine } from "../look/outline.ts"
import { quoted } from "../shown-text.ts"

/** One line of a trace. */
export interface TraceEntry {
  readonly time: string
  readonly duration_ms: number
  readonly pid: number
  readonly door?: string
  readonly session?: string
  readonly desktop?: string
  readonly command: string
  readonly arguments?: unknown
  readonly snapshot_id?: string
  readonly ok: boolean
  readonly data?: unknown
  readonly error?: unknown
  /** Pictures, by their paths in the directory. */
  readonly before?: string
  readonly after?: string
}

export const TRACE_FILE = "trace.jsonl"

/** An entry on one line, for `--format text`. */
export function entryLine(entry: Omit<TraceEntry, "pid">): string {
  const { time, command, arguments: args, ok, error, duration_ms } = entry
  const given = typeof args === "object" && args !== null ? Object.entries(args) : []
  const words = given.map(([name, value]) => `${name}=${typeof value === "string" ? quoted(value) : value}`)
  const end = ok ? "ok" : `${stringAt(error, "code")} ${oneLine(stringAt(error, "message") ?? "")}`
  return [time, `${duration_ms} ms`, command, ...words, end].join(" ")
}

/** A text inside a member of an entry, which may have any shape. */
export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const [key, ...rest] = path
  if (key === undefined) return typeof value === "string" ? value : undefined
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  // The next step checks its type.
  return stringAt((value as Record<string, unknown>)[key], ...rest)
}
