import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  writeSync,
} from "node:fs"
import { resolve } from "node:path"
import { findCommand } from "../command.ts"
import { Deadline } from "../deadline.ts"
import type { Door, Outcome, Trace } from "../door.ts"
import { toJson } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { guard } from "../policy.ts"
import { parseRef } from "../refmap.ts"
import { TRACE_FILE, type TraceEntry } from "./entry.ts"
import { type FieldsOf, fieldsFor, hiddenTexts, shownArguments, shownResult } from "./redact.ts"

export interface TraceOptions {
  readonly directory: string
  /** Keep pictures of the screen as well: before and after commands that act, after those that look. */
  readonly screenshots: boolean
  /** Called once, when an entry cannot be written. */
  onFailure(message: string): void
}

/** Time limit of one picture. */
const PICTURE_MS = 2000

/** Appends one line for each command to a private file. A failed write never changes what a command does. */
export function openTrace({ directory, screenshots, onFailure }: TraceOptions): Trace {
  const place = resolve(directory)
  const texts = new Set<string>()
  let spentMs = 0
  let isFailureReported = false
  const report = (error: unknown): undefined => {
    if (!isFailureReported) onFailure(`The trace in ${place} is not complete: ${messageOf(error)}`)
    isFailureReported = true
  }
  const photograph = async (door: Door): Promise<string | undefined> => {
    try {
      const png = door.signal?.aborted ? undefined : await screenOf(door)
      return png && keepPicture(place, png)
    } catch (error) {
      return report(error)
    }
  }
  const record = (facts: EntryFacts, args: unknown, outcome: Outcome, fieldsOf: FieldsOf): void => {
    try {
      for (const text of hiddenTexts(facts.command, args, fieldsOf)) texts.add(text)
      const { before, after, ...head } = facts
      const result = shownResult(outcome.ok ? outcome.data : outcome.error, texts, fieldsOf(facts.command))
      const entry: TraceEntry = {
        ...head,
        arguments: shownArguments(args, fieldsOf(facts.command)),
        ok: outcome.ok,
        ...(outcome.ok ? { data: result } : { error: result }),
        before,
        after,
      }
      append(place, `${toJson(entry)}\n`)
    } catch (error) {
      report(error)
    }
  }
  return {
    get spentMs() {
      return spentMs
    },
    async around<T extends Outcome>(
      door: Door,
      name: string,
      args: unknown,
      run: () => Promise<T>,
    ): Promise<T> {
      const called = performance.now()
      const command = await findCommand(door.commands, name)?.()
      if (command?.trace === "nothing") return run()
      const isSeen = screenshots && command?.trace === "pictures"
      const before = isSeen && command.effect !== "reads" ? await photograph(door) : undefined
      const start = performance.now()
      const time = new Date().toISOString()
      spentMs += start - called
      const outcome = await run()
      const end = performance.now()
      const after = isSeen ? await photograph(door) : undefined
      const { name: through, session, desktop } = door
      const duration_ms = Math.round((end - start) * 10) / 10
      const facts = { time, duration_ms, pid: process.pid, door: through, session, desktop, command: name }
      const snapshot_id = await snapshotOf(door, args, outcome)
      const fields = await fieldsFor(door.commands, name, args)
      record({ ...facts, snapshot_id, before, after }, args, outcome, fields)
      spentMs += performance.now() - end
      return outcome
    },
    refused(command, argv, error) {
      const facts = { time: new Date().toISOString(), duration_ms: 0, pid: process.pid, door: "cli", command }
      const words = argv.filter((word) => !word.startsWith("-") && word !== command)
      record(facts, { argv: words }, { ok: false, error }, () => undefined)
    },
  }
}

type EntryFacts = Omit<TraceEntry, "arguments" | "ok" | "data" | "error">

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * The screen. With a list of allowed apps, only the focused window, if it belongs to one of them and nothing covers it.
 */
async function screenOf(door: Door): Promise<Uint8Array | undefined> {
  const native = (await door.platform()).adapter(Deadline.in(PICTURE_MS, door.signal))
  try {
    if (!door.apps) return (await native.screenshot({ kind: "screen" })).png
    const adapter = await guard(native, door)
    const window = (await adapter.windows("focused")).find((one) => one.is_focused)
    return window && (await adapter.screenshot({ kind: "window", window })).png
  } catch (error) {
    if (error instanceof AppError && error.code === "POLICY_DENIED") return undefined
    throw error
  } finally {
    await native.close()
  }
}

/** The id of the snapshot that is the result, or that the ref comes from. */
async function snapshotOf(door: Door, args: unknown, outcome: Outcome): Promise<string | undefined> {
  const given = typeof args === "object" && args !== null ? args : {}
  const result: object = outcome.ok ? outcome.data : {}
  if ("snapshot_id" in result && typeof result.snapshot_id === "string") return result.snapshot_id
  if ("snapshot" in given && typeof given.snapshot === "string") return given.snapshot
  const ref = "ref_id" in given ? given.ref_id : "element" in given ? given.element : undefined
  if (typeof ref !== "string") return undefined
  try {
    return parseRef(ref).snapshotId ?? (await door.refs.load()).snapshot_id
  } catch {
    // The command has reported the error already.
    return undefined
  }
}

/** Pictures are named by a hash of their bytes: the same picture twice is one file. */
function keepPicture(place: string, png: Uint8Array): string {
  const folder = `${place}/pictures`
  const name = `pictures/${new Bun.CryptoHasher("sha256").update(png).digest("hex").slice(0, 24)}.png`
  makeDirectory(place)
  makeDirectory(folder)
  const path = `${place}/${name}`
  if (lstatSync(path, { throwIfNoEntry: false })) return name
  write(openSync(path, WRITE | constants.O_CREAT | constants.O_EXCL, 0o600), png)
  return name
}

function append(place: string, line: string): void {
  makeDirectory(place)
  const fd = openSync(`${place}/${TRACE_FILE}`, WRITE | constants.O_CREAT | constants.O_APPEND, 0o600)
  // One write: lines of several processes do not mix.
  write(fd, Buffer.from(line))
}

// Follows no link, and does not wait for a reader of a pipe.
const WRITE = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

function write(fd: number, bytes: Uint8Array): void {
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.uid !== process.geteuid?.()) throw new Error("a file in it is not ours")
    if ((stat.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600)
    const written = writeSync(fd, bytes)
    if (written < bytes.length) throw new Error("the disk is full")
  } finally {
    closeSync(fd)
  }
}

/** Creates a private directory; one that exists keeps its mode. */
function makeDirectory(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700)
}
