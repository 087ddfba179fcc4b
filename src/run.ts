import * as v from "valibot"
import type { Adapter, SeenNotification } from "./adapter.ts"
import {
  type Command,
  type Context,
  type Format,
  findCommand,
  type Item,
  type ItemResult,
  type RefStore,
  type Registry,
  type ServeOptions,
} from "./command.ts"
import { Deadline } from "./deadline.ts"
import { type Envelope, errorObject, failure, success } from "./envelope.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "./errors.ts"
import { applyAliases, fieldsOf } from "./fields.ts"
import { lazily } from "./lazy.ts"
import { guarded, type Policy, readOnlyDenied, unlessHidden } from "./policy.ts"
import { Secrets } from "./secret.ts"
import { describeIssue, UsageError, unknownCommand } from "./usage-errors.ts"

/** What a door (command line, batch, MCP) gives to the commands that come through it. */
export interface Door extends Policy {
  /** What a trace calls it. */
  readonly name?: "cli" | "batch" | "mcp" | "library"
  readonly commands: Registry
  platform(): Promise<{ adapter(deadline: Deadline): Adapter }>
  readonly refs: RefStore
  readonly session?: string
  readonly desktop?: string
  readonly format?: Format
  /** Ends the command early. */
  readonly signal?: AbortSignal
  readonly trace?: Trace
  readonly serve?: (options: ServeOptions) => Promise<void>
  stdin(): Promise<string>
  /** A variable of the caller's environment, for secrets. */
  env?(name: string): string | undefined
  writeFile(path: string, bytes: Uint8Array): Promise<void>
}

/** Writes down what runs and what comes of it; it never throws, and nothing that runs depends on it. */
export interface Trace {
  around<T extends Outcome>(door: Door, command: string, args: unknown, run: () => Promise<T>): Promise<T>
  /** A command line that was not understood: nothing ran. */
  refused(command: string, argv: readonly string[], error: object): void
  /** What it has taken so far, in milliseconds: no part of any command's time. */
  readonly spentMs: number
}

export type Outcome =
  | { readonly ok: true; readonly data: object }
  | { readonly ok: false; readonly error: object }

/** `--timeout-ms 0` looks once; even one look must end. */
const ONE_LOOK_MS = 2000
/** A last look that began in time may end a little later: at most this long, and this part of the whole. */
const GRACE_MS = 200
const GRACE = 0.05

/** The one path to every command, whatever the door. Never throws. */
export function runCommand(door: Door, name: string, raw: unknown): Promise<Envelope> {
  const run = (): Promise<Envelope> => runUntraced(door, name, raw)
  return door.trace ? door.trace.around(door, name, raw, run) : run()
}

async function runUntraced(door: Door, name: string, raw: unknown): Promise<Envelope> {
  try {
    const command = await loadCommand(door.commands, name)
    return success(name, await execute(door, command, parseArgs(command, raw)))
  } catch (error) {
    const known = error instanceof UsageError ? error.command : name
    return failure(known, door.signal?.aborted ? interrupted(name, error) : error)
  }
}

/** Throws INVALID_ARGS for what `raw` gets wrong; otherwise the arguments with their defaults. */
export function parseArgs(command: Command, raw: unknown): Parameters<Command["handle"]>[0] {
  const fields = fieldsOf(command.input)
  const parsed = v.safeParse(command.input, applyAliases(command.input, raw))
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw new AppError("INVALID_ARGS", describeIssue(issue, fields), {
      suggestion: seeHelp(command),
      details: { argument: String(issue.path?.[0]?.key ?? "") },
    })
  }
  try {
    command.check?.(parsed.output)
  } catch (error) {
    throw error instanceof AppError ? error.with({ suggestion: seeHelp(command) }) : error
  }
  return parsed.output
}

const seeHelp = ({ name }: Command): string => `Run 'agent-desktop help ${name}' to see what it takes`

async function loadCommand(commands: Registry, name: string): Promise<Command> {
  const load = findCommand(commands, name)
  if (!load) throw unknownCommand(name, Object.keys(commands))
  return load()
}

/** What a batch hands on to its items. */
interface Batch {
  readonly deadline: Deadline
  readonly baseline?: readonly SeenNotification[]
}

async function execute(
  door: Door,
  command: Command,
  args: Parameters<Command["handle"]>[0],
  batch?: Batch,
): Promise<object> {
  // A batch does nothing itself; each of its items is judged.
  const isReading = command.effect === "reads"
  if (door.readOnly && command.name !== "batch" && (!isReading || command.acts?.(args)))
    throw readOnlyDenied(command.name)
  const timeout = Number(args.timeout_ms)
  const own = Deadline.in(timeout || ONE_LOOK_MS, door.signal)
  const deadline = batch && batch.deadline.at < own.at ? batch.deadline : own
  const grace = Math.min(GRACE_MS, deadline.remaining * GRACE)
  const sent = new Sent()
  let opened: Adapter | undefined
  const adapter = lazily<Adapter>(async () => {
    const platform = await door.platform()
    opened = platform.adapter(new Deadline(deadline.at + grace, door.signal))
    return guarded(sent.watch(opened), door)
  })
  // A batch prints what its items found, and always as JSON.
  const format = batch ? undefined : door.format
  const secrets = new Secrets()
  const ctx = contextFor(door, secrets, {
    adapter,
    deadline,
    patient: timeout > 0,
    baseline: batch?.baseline,
    format,
  })
  try {
    return secrets.hide(await command.handle(args, ctx))
  } catch (error) {
    const told = unlessHidden(error, door)
    throw secrets.hideIn(isReading || command.name === "batch" ? told : sent.explain(told))
  } finally {
    await opened?.close()
  }
}

interface Parts {
  readonly adapter: Adapter
  readonly deadline: Deadline
  readonly patient: boolean
  readonly baseline?: readonly SeenNotification[]
  readonly format?: Format
}

function contextFor(door: Door, secrets: Secrets, parts: Parts): Context {
  let known = parts.baseline
  const stdin = once(() => readInTime(door.stdin(), parts.deadline))
  const tracedBefore = door.trace?.spentMs ?? 0
  const runItem = async (name: string, args: unknown): Promise<ItemResult> => {
    try {
      const traced = (door.trace?.spentMs ?? 0) - tracedBefore
      const deadline = traced ? new Deadline(parts.deadline.at + traced, door.signal) : parts.deadline
      if (deadline.expired) throw notStarted(name)
      const command = await loadCommand(door.commands, name)
      const batch = { deadline, baseline: known }
      // A batch gives its answer when all are done: nothing in it may talk to others meanwhile.
      const alone = { ...door, serve: undefined, stdin }
      return { command: name, ok: true, data: await execute(alone, command, parseArgs(command, args), batch) }
    } catch (error) {
      return { command: name, ok: false, error: errorObject(error) }
    }
  }
  return {
    ...parts,
    refs: door.refs,
    commands: door.commands,
    serve: door.serve,
    session: door.session,
    desktop: door.desktop,
    stdin,
    secret: (source) => secrets.read(source, (name) => door.env?.(name), stdin),
    writeFile: (path, bytes) => door.writeFile(path, bytes),
    async validateItems(items) {
      await validate(door.commands, items)
      if (items.some((item) => item.command === "wait" && item.args.notification === true)) {
        known = await parts.adapter.notifications()
      }
    },
    runItem(name, args) {
      const run = (): Promise<ItemResult> => runItem(name, args)
      return door.trace ? door.trace.around({ ...door, name: "batch" }, name, args, run) : run()
    },
  }
}

async function validate(commands: Registry, items: readonly Item[]): Promise<void> {
  for (const [index, item] of items.entries()) {
    try {
      if (item.command === "batch") throw new AppError("INVALID_ARGS", "A batch cannot hold a batch")
      parseArgs(await loadCommand(commands, item.command), item.args)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw new AppError(error.code, `Item ${index} (${item.command}): ${error.message}`, {
        suggestion: error.suggestion,
        details: { ...error.details, index },
      })
    }
  }
}

function notStarted(name: string): AppError {
  return new AppError("TIMEOUT", `The batch's time was up before ${name} began`, {
    suggestion: "Run what is left in another batch, or pass a longer --timeout-ms",
    details: { kind: "not_started" },
    disposition: NOTHING_DELIVERED,
  })
}

/** What was read from standard input is gone: a batch and its items, or two of them, cannot share it. */
function once(read: () => Promise<string>): () => Promise<string> {
  let isTaken = false
  return async () => {
    if (isTaken)
      throw new AppError("INVALID_ARGS", "Standard input has been read already", {
        suggestion: "Pass a secret as env:NAME",
        disposition: NOTHING_DELIVERED,
      })
    isTaken = true
    return read()
  }
}

/** Whoever should write to standard input may never close it. */
async function readInTime(text: Promise<string>, deadline: Deadline): Promise<string> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(inputNotEnded()), deadline.remaining)
  try {
    return await Promise.race([text, promise])
  } finally {
    clearTimeout(timer)
  }
}

const inputNotEnded = (): AppError =>
  new AppError("TIMEOUT", "Standard input did not end in time", {
    suggestion: "Close standard input after the text, or pass the text as an argument",
    details: { kind: "stdin" },
    disposition: NOTHING_DELIVERED,
  })

function interrupted(name: string, error: unknown): AppError {
  const disposition = error instanceof AppError ? error.disposition : undefined
  return new AppError("TIMEOUT", `${name} was interrupted`, {
    suggestion: "Run 'snapshot' to see how far it came",
    details: { kind: "interrupted" },
    disposition,
  })
}

/** Whether a command has asked its platform for anything that may change something. */
export class Sent {
  #begun = false

  /** The same adapter, watched. */
  watch(adapter: Adapter): Adapter {
    return {
      ...adapter,
      perform: (handle, action) => this.#begin(() => adapter.perform(handle, action)),
      input: (event) => this.#begin(() => adapter.input(event)),
      window: (id, op) => this.#begin(() => adapter.window(id, op)),
      launch: (app, args) => this.#begin(() => adapter.launch(app, args)),
      quit: (app, force) => this.#begin(() => adapter.quit(app, force)),
      clipboard: (op) => this.#begin(() => adapter.clipboard(op), op.kind !== "get"),
      notification: (target, op) => this.#begin(() => adapter.notification(target, op)),
      desktops: (op) => this.#begin(() => adapter.desktops(op), op.kind !== "list"),
      permissions: (request) => this.#begin(() => adapter.permissions(request), request),
    }
  }

  /** A failure that does not say itself whether something was delivered, with what is known about it. */
  explain(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code === "INVALID_ARGS") return error
    return error.with({ disposition: this.#begun ? UNCERTAIN : NOTHING_DELIVERED })
  }

  async #begin<T>(call: () => Promise<T>, acts = true): Promise<T> {
    if (!acts) return call()
    const before = this.#begun
    this.#begun = true
    try {
      return await call()
    } catch (error) {
      // It says that it came to nothing.
      if (error instanceof AppError && error.disposition?.delivery === "not_delivered") this.#begun = before
      throw error
    }
  }
}

const UNCERTAIN: Disposition = { delivery: "delivery_uncertain", retry: "unknown" }
