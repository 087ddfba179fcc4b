import { readdirSync, rmdirSync, unlinkSync } from "node:fs"
import { findCommand, type Registry } from "../command.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { hasPrivateDirectory } from "../private-files.ts"
import { type Answer, type Begun, type Call, type Ended, isSocketFor, viewersDirectory } from "../viewers.ts"

/**
 * Reports commands to the viewers (desktop-view) of their desktop, and lets no command act while a person has paused
 * the agents in one of them. Loaded only if there are viewers.
 */

/** The parts of a door that this file uses. */
interface Watched {
  readonly name?: string
  readonly commands: Registry
  readonly session?: string
  places?(): Promise<readonly string[]>
}

type Outcome = { readonly ok: true; readonly data: object } | { readonly ok: false; readonly error: object }

/** Runs a command and reports its start and end. A failed report never changes what the command does. */
export async function report<T extends Outcome>(
  door: Watched,
  name: string,
  args: unknown,
  run: () => Promise<T>,
): Promise<T> {
  const end = await begin(door, name, args).catch(() => undefined)
  const start = performance.now()
  const outcome = await run()
  end?.(outcome, performance.now() - start)
  return outcome
}

/** Texts that were typed through this process: later results must not repeat them. */
const texts = new Set<string>()
let reports = 0

async function begin(
  door: Watched,
  name: string,
  args: unknown,
): Promise<((outcome: Outcome, ms: number) => void) | undefined> {
  const command = await findCommand(door.commands, name)?.()
  // The items of a batch report themselves.
  if (!command || command.trace === "nothing" || command.delegates) return undefined
  const places = await placesOf(door)
  const lines = places.length > 0 ? await connect(places) : []
  if (lines.length === 0) return undefined
  const { fieldsFor, hiddenTexts, shownArguments, shownResult } = await import("../trace/redact.ts")
  const fields = await fieldsFor(door.commands, name, args)
  for (const text of hiddenTexts(name, args, fields)) texts.add(text)
  const begun: Begun = {
    id: `${process.pid}-${++reports}`,
    time: new Date().toISOString(),
    pid: process.pid,
    command: name,
    arguments: shownArguments(args, fields(name)),
    door: door.name,
    session: door.session,
  }
  for (const line of lines) line.send({ kind: "report", ...begun })
  return (outcome, ms) => {
    const result = shownResult(summaryOf(outcome), texts, fields(name))
    const ended: Ended = { ok: outcome.ok, duration_ms: Math.round(ms * 10) / 10, result }
    for (const line of lines) {
      line.send(ended)
      line.close()
    }
  }
}

/** The members of a result that viewers list. */
function summaryOf(outcome: Outcome): object {
  const all: object = outcome.ok ? outcome.data : outcome.error
  return Object.fromEntries(Object.entries(all).filter(([key]) => SHOWN.has(key)))
}

const SHOWN: ReadonlySet<string> = new Set([
  "code",
  "message",
  "ref_id",
  "element",
  "method",
  "disposition",
  "window",
  "already",
])

/**
 * Waits until no person has paused the agents. Throws POLICY_DENIED when the time is up, or at once if the command does
 * not wait for anything.
 */
export async function untilGo(door: Watched, deadline: Deadline, isPatient: boolean): Promise<void> {
  const lines = await ask(door, isPatient)
  try {
    for (const line of lines) await line.go(deadline, isPatient, NOTHING_DELIVERED)
  } finally {
    for (const line of lines) line.close()
  }
}

/**
 * Acts, unless a person has paused the agents: then it throws POLICY_DENIED, since everything the command has seen may
 * be outdated after the pause. Viewers know that it is acting until it is done.
 */
export async function act<T>(
  door: Watched,
  deadline: Deadline,
  hasActed: boolean,
  call: () => Promise<T>,
): Promise<T> {
  const lines = await ask(door, false)
  try {
    // After an earlier act, the tracker knows better what was delivered.
    for (const line of lines) await line.go(deadline, false, hasActed ? undefined : NOTHING_DELIVERED)
    return await call()
  } finally {
    for (const line of lines) line.close()
  }
}

async function ask(door: Watched, wait: boolean): Promise<readonly Line[]> {
  const places = await placesOf(door)
  const lines = places.length > 0 ? await connect(places) : []
  for (const line of lines) line.send({ kind: "ask", wait, pid: process.pid })
  return lines
}

/** Empty if the desktop does not exist: the command fails for that reason. */
async function placesOf(door: Watched): Promise<readonly string[]> {
  try {
    return (await door.places?.()) ?? []
  } catch {
    return []
  }
}

/** Opens a line to every viewer of these places that belongs to this user. Removes sockets of killed viewers. */
async function connect(places: readonly string[]): Promise<readonly Line[]> {
  const directory = viewersDirectory()
  try {
    if (!hasPrivateDirectory(directory, "inner")) return []
    const all = readdirSync(directory)
    const names = all.filter((name) => isSocketFor(name, places))
    const lines = await Promise.all(names.map((name) => Line.open(`${directory}/${name}`)))
    const open = lines.filter((line) => line !== undefined)
    const left = all.filter((name) => !names.includes(name) && hasEnded(name))
    await Promise.all(left.map(async (name) => (await Line.open(`${directory}/${name}`))?.close()))
    if (open.length === 0 && readdirSync(directory).length === 0) rmdirSync(directory)
    return open
  } catch {
    // The socket belongs to another user, or the last viewer has just ended.
    return []
  }
}

/** True if the process in the name of a socket does not exist. Else, only a refused connection proves the end. */
function hasEnded(name: string): boolean {
  try {
    process.kill(Number.parseInt(name, 10), 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

/** One connection to a viewer. Lines of text go both ways. */
class Line {
  #socket: Bun.Socket | undefined
  #received = ""
  #isClosed = false
  #wake: (() => void) | undefined

  /** undefined: no viewer listens on the socket. */
  static async open(path: string): Promise<Line | undefined> {
    const line = new Line()
    try {
      line.#socket = await Bun.connect({
        unix: path,
        socket: {
          data: (_, chunk) => {
            line.#received += chunk.toString()
            line.#wake?.()
          },
          close: () => line.#end(),
          error: () => line.#end(),
        },
      })
      return line
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      if (code === "ECONNREFUSED") unlinkSync(path)
      return undefined
    }
  }

  send(message: Call | Ended): void {
    this.#socket?.write(`${JSON.stringify(message)}\n`)
  }

  close(): void {
    this.#socket?.end()
  }

  /** Resolves when the viewer lets the command continue, or has ended. */
  async go(deadline: Deadline, isPatient: boolean, disposition: Disposition | undefined): Promise<void> {
    for (;;) {
      const answers = this.#received.split("\n").slice(0, -1)
      const last = answers.at(-1) as Answer | undefined
      if (this.#isClosed || last === "go") return
      if (last === "paused" && !isPatient) throw paused(disposition)
      if (deadline.expired) throw last === "paused" ? paused(disposition) : silent(disposition)
      await this.#change(deadline)
    }
  }

  async #change(deadline: Deadline): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, Math.ceil(deadline.remaining))
    const stop = (): void => resolve()
    deadline.signal?.addEventListener("abort", stop, { once: true })
    await promise
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", stop)
  }

  #end(): void {
    this.#isClosed = true
    this.#wake?.()
  }
}

const paused = (disposition: Disposition | undefined): AppError =>
  new AppError("POLICY_DENIED", "The agents on this desktop are paused by a person who watches it", {
    suggestion:
      "Wait until the person resumes, then retry; 'snapshot' and other commands that read still work",
    details: { reason: "paused by a person" },
    disposition,
  })

const silent = (disposition: Disposition | undefined): AppError =>
  new AppError(
    "POLICY_DENIED",
    "A viewer of this desktop does not answer whether a person has paused the agents",
    {
      suggestion: "Retry, or ask the person who runs 'agent-desktop desktop-view' to end it",
      details: { reason: "a viewer does not answer" },
      disposition,
    },
  )
