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

/** A text inside of what a line holds, which may have any shape. */
export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const [key, ...rest] = path
  if (key === undefined) return typeof value === "string" ? value : undefined
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  // Whatever it is, the next step looks.
  return stringAt((value as Record<string, unknown>)[key], ...rest)
}
