import { closeSync, rmdirSync, rmSync } from "node:fs"
import { openPrivateDirectory } from "../private-files.ts"
import {
  type Answer,
  type Begun,
  type Call,
  type Ended,
  socketNameFor,
  viewersDirectory,
} from "../viewers.ts"

/** A command of an agent, and its progress. */
export interface Entry extends Begun {
  /** `held`: it waits until a person resumes. `lost`: its process ended before the command did. */
  readonly state: "running" | "held" | "done" | "failed" | "lost"
  readonly duration_ms?: number
  readonly result?: unknown
}

/** Entries that a viewer keeps. */
const MOST_ENTRIES = 500
/** Most bytes in one line. A command sends less. */
const MOST_BYTES = 65_536

export interface AgentEvents {
  entryChanged(entry: Entry): void
  pauseChanged(): void
}

/** The commands of all processes that use a desktop. They connect to a socket, report there, and ask if they may act. */
export class Agents {
  readonly #events: AgentEvents
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Set<Caller>()
  readonly #acting = new Set<Caller>()
  readonly #path: string
  #isPaused = false
  #listener: { stop(isForced: boolean): void } | undefined

  constructor(places: readonly string[], events: AgentEvents) {
    this.#path = `${viewersDirectory()}/${socketNameFor(places)}`
    this.#events = events
  }

  listen(): void {
    // The last viewer removes the directory when it ends, perhaps between these two steps.
    for (let tries = 1; ; tries++) {
      closeSync(openPrivateDirectory(viewersDirectory(), "inner"))
      try {
        this.#listener = Bun.listen<{ caller?: Caller }>({
          unix: this.#path,
          socket: {
            open: (socket) => {
              socket.data = { caller: new Caller((answer) => void socket.write(`${answer}\n`)) }
            },
            data: (socket, chunk) => {
              const { caller } = socket.data
              if (!caller?.receive(chunk, (line) => this.#heard(caller, line))) socket.end()
            },
            close: (socket) => socket.data.caller && this.#left(socket.data.caller),
          },
        })
        return
      } catch (error) {
        if (tries === TRIES) throw error
      }
    }
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()]
  }

  /** `acting`: commands that were acting when the pause began, and are not done yet. */
  get pause(): { readonly paused: boolean; readonly acting: number; readonly waiting: number } {
    return { paused: this.#isPaused, acting: this.#acting.size, waiting: this.#waiting.size }
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (!isPaused)
      for (const caller of [...this.#waiting]) {
        this.#waiting.delete(caller)
        this.#change(caller.pid, "held", "running")
        caller.answer("go")
      }
    this.#events.pauseChanged()
  }

  close(): void {
    this.#listener?.stop(true)
    rmSync(this.#path, { force: true })
    try {
      rmdirSync(viewersDirectory())
    } catch {
      // Another viewer already has its socket there.
    }
  }

  #heard(caller: Caller, line: string): void {
    const message: Call | Ended = JSON.parse(line)
    if (!("kind" in message)) {
      if (caller.begun) this.#ended(caller.begun, message)
      return
    }
    if (message.kind === "report") {
      const { kind: _, ...begun } = message
      caller.begun = begun
      this.#keep({ ...begun, state: "running" })
      return
    }
    caller.pid = message.pid
    if (!this.#isPaused) {
      if (!message.wait) this.#acting.add(caller)
      caller.answer("go")
    } else {
      if (message.wait) {
        this.#waiting.add(caller)
        this.#change(caller.pid, "running", "held")
        this.#events.pauseChanged()
      }
      caller.answer("paused")
    }
  }

  #left(caller: Caller): void {
    const wasActing = this.#acting.delete(caller)
    const wasWaiting = this.#waiting.delete(caller)
    if (this.#isPaused && (wasActing || wasWaiting)) this.#events.pauseChanged()
    const entry = caller.begun && this.#entries.get(caller.begun.id)
    if (entry && (entry.state === "running" || entry.state === "held"))
      this.#keep({ ...entry, state: "lost" })
  }

  #ended({ id }: Begun, { ok, duration_ms, result }: Ended): void {
    const entry = this.#entries.get(id)
    if (entry) this.#keep({ ...entry, state: ok ? "done" : "failed", duration_ms, result })
  }

  /** Changes the state of the command that the process runs now. */
  #change(pid: number, from: Entry["state"], to: Entry["state"]): void {
    const entry = this.entries.findLast((one) => one.pid === pid && one.state === from)
    if (entry) this.#keep({ ...entry, state: to })
  }

  #keep(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST_ENTRIES && oldest !== undefined) this.#entries.delete(oldest)
    this.#events.entryChanged(entry)
  }
}

const TRIES = 5

/** One connection of a command. */
class Caller {
  pid = 0
  begun: Begun | undefined
  readonly answer: (answer: Answer) => void
  readonly #decoder = new TextDecoder()
  #received = ""

  constructor(answer: (answer: Answer) => void) {
    this.answer = answer
  }

  /** Calls back for every complete line. False if the bytes cannot come from a command. */
  receive(chunk: Uint8Array, heard: (line: string) => void): boolean {
    this.#received += this.#decoder.decode(chunk, { stream: true })
    const lines = this.#received.split("\n")
    this.#received = lines.pop() ?? ""
    try {
      for (const line of lines) heard(line)
      return this.#received.length < MOST_BYTES
    } catch {
      return false
    }
  }
}
