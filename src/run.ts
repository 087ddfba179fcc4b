import * as v from "valibot"
import type { Adapter } from "./adapter.ts"
import {
  type Args,
  type Command,
  type Context,
  type Format,
  findCommand,
  type Item,
  type ItemResult,
} from "./command.ts"
import { Deadline } from "./deadline.ts"
import type { SeenNotification } from "./desktop.ts"
import { ActTracker } from "./door/act-tracker.ts"
import { adapterOnDemand } from "./door/on-demand.ts"
import { namedOnly, Secrets } from "./door/secret.ts"
import type { Door, Outcome, RecordedStep, Recording, Trace } from "./door.ts"
import { type Envelope, errorObject, failure, success } from "./envelope.ts"
import { AppError, failedOn } from "./errors.ts"
import { guard, readOnlyDenied, unlessHidden } from "./policy.ts"
import { REF_SYNTAX } from "./refmap.ts"
import { applyAliases, type Field, fieldsOf } from "./schema/fields.ts"
import { labelOf, UsageError, unknownCommand } from "./schema/usage-errors.ts"
import { hasViewers } from "./viewers.ts"

/** Runs a command by its name. Never throws. */
export function runCommand(door: Door, name: string, raw: unknown): Promise<Envelope> {
  return run(door, name, raw, () => loadCommand(door, name))
}

/** Runs a command that the door has already loaded. Never throws. */
export function runLoaded(door: Door, command: Command, raw: unknown): Promise<Envelope> {
  return run(door, command.name, raw, async () => command)
}

/** The path of every command, from every door. */
function run(door: Door, name: string, raw: unknown, command: () => Promise<Command>): Promise<Envelope> {
  return observed(door, name, raw, () => runUnobserved(door, name, raw, command))
}

/** Runs a command, records it in the trace, and reports it to the desktop's viewers. */
async function observed<T extends Outcome>(
  door: Door,
  name: string,
  args: unknown,
  run: () => Promise<T>,
): Promise<T> {
  const { trace } = door
  const traced = trace ? () => trace.around(door, name, args, run) : run
  return hasViewers()
    ? (await import("./door/report-to-viewers.ts")).report(door, name, args, traced)
    : traced()
}

async function runUnobserved(
  door: Door,
  name: string,
  raw: unknown,
  load: () => Promise<Command>,
): Promise<Envelope> {
  try {
    const command = await load()
    return success(name, await execute(door, command, await parseArgs(command, raw)))
  } catch (error) {
    const known = error instanceof UsageError ? error.command : name
    return failure(
      known,
      door.signal?.aborted ? (await import("./door/batch-items.ts")).interrupted(name, error) : error,
    )
  }
}

/** Fills in the defaults. Throws INVALID_ARGS if the arguments do not match the schema. */
export async function parseArgs(command: Command, raw: unknown): Promise<Args> {
  const fields = fieldsOf(command.input)
  const parsed = v.safeParse(command.input, applyAliases(command.input, raw))
  if (!parsed.success) {
    const { describeIssue } = await import("./schema/issues.ts")
    const [issue] = parsed.issues
    throw new AppError("INVALID_ARGS", describeIssue(issue, fields), {
      suggestion: seeHelp(command),
      details: { argument: String(issue.path?.[0]?.key ?? "") },
    })
  }
  try {
    const bad = fields.find(({ name }) => NOT_TEXT.test(String(parsed.output[name])))
    if (bad)
      throw new AppError("INVALID_ARGS", `${labelOf(bad)} contains U+0000 or a lone surrogate`, {
        details: { argument: bad.name },
      })
    command.check?.(parsed.output)
    const targets = await targetsOf(fields, parsed.output)
    targets?.checkTargets(fields, parsed.output)
  } catch (error) {
    throw error instanceof AppError ? error.with({ suggestion: seeHelp(command) }) : error
  }
  return parsed.output
}

/** JSON can hold such text, but no app can receive it. */
const NOT_TEXT = /[\0\p{Cs}]/u

const seeHelp = ({ name }: Command): string => `Run 'agent-desktop help ${name}' to see what it takes`

async function loadCommand({ commands, missing }: Door, name: string): Promise<Command> {
  const load = findCommand(commands, name)
  if (!load) throw missing?.(name) ?? unknownCommand(name, Object.keys(commands))
  return load()
}

/** The code for targets that are not refs, loaded only if these arguments have one. */
function targetsOf(
  fields: readonly Field[],
  args: Args,
): Promise<typeof import("./door/targets.ts")> | undefined {
  for (const { name, target, narrows } of fields) {
    const given = args[name]
    if (narrows ? given !== undefined : target && typeof given === "string" && !REF_SYNTAX.test(given))
      return import("./door/targets.ts")
  }
  return undefined
}

/** Shared by the items of a batch. */
interface Batch {
  readonly deadline: Deadline
  readonly baseline?: readonly SeenNotification[]
}

/**
 * Runs a command with its arguments: descriptions become refs, the command does its work, and secrets leave the answer.
 * A failure says whether anything was delivered.
 */
async function execute(door: Door, command: Command, args: Args, batch?: Batch): Promise<object> {
  // A batch does not act itself; the policy judges each of its items.
  const isReading = command.effect === "reads"
  const isActing = !command.delegates && (!isReading || command.acts?.(args) === true)
  if (door.readOnly && isActing) throw readOnlyDenied(command.name)
  const { endAfter, ...times } = timesOf(door, command, args, batch)
  const { deadline, patient } = times
  // Before anything is read: a person may change the desktop during a pause.
  if (isActing && !command.aside && hasViewers())
    await (await import("./door/report-to-viewers.ts")).untilGo(door, deadline, patient)
  const tracker = new ActTracker(door, deadline)
  const adapter = openAdapter(door, endAfter(0), tracker)
  const secrets = new Secrets()
  const parts: Parts = { ...times, adapter, baseline: batch?.baseline, format: door.format }
  const ctx = contextFor(door, secrets, parts)
  // Described elements become refs.
  let named = args
  try {
    const fields = fieldsOf(command.input)
    const targets = await targetsOf(fields, args)
    const found = await targets?.findTargets(fields, args, ctx, !isReading)
    named = found?.args ?? args
    const recorded = await recordBefore({ command, args, named }, door, secrets, parts)
    const work = (given: Context): Promise<object> => command.handle(named, given)
    const data = recorded?.spentMs
      ? await workIn(door, secrets, { ...parts, deadline: endAfter(recorded.spentMs) }, work, tracker)
      : await work(ctx)
    const answer = secrets.hide(found ? withPlace(data, found.place) : data)
    await recorded?.after?.(answer)
    return answer
  } catch (error) {
    const visible = unlessHidden(error, door)
    throw secrets.hideIn(
      isReading || command.delegates ? visible : tracker.addDisposition(failed(visible, command, named)),
    )
  } finally {
    await adapter.close()
  }
}

interface Times extends Pick<Parts, "deadline" | "patient" | "isTimed"> {
  /** The end of native calls, if a recording has taken this long. */
  endAfter(recordedMs: number): Deadline
}

/** The time that a command has. An item of a batch ends with its batch. */
function timesOf({ signal }: Door, { timeoutMs }: Command, args: Args, batch: Batch | undefined): Times {
  const timeout = Number(args.timeout_ms)
  const own = Deadline.in(timeout || ONE_LOOK_MS, signal)
  const deadline = batch && batch.deadline.at < own.at ? batch.deadline : own
  const grace = Math.min(GRACE_MS, deadline.remaining * GRACE)
  return {
    deadline,
    patient: timeout > 0,
    isTimed: timeout !== timeoutMs,
    endAfter: (ms) => new Deadline(deadline.at + ms + grace, signal),
  }
}

/** `--timeout-ms 0` looks once, and even one look must end. */
const ONE_LOOK_MS = 2000
/** A last look that starts in time may end this much later, at most this fraction of the whole time. */
const GRACE_MS = 200
const GRACE = 0.05

interface Recorded {
  readonly spentMs: number
  after?(answer: object): Promise<void>
}

/** Lets a recording look at the elements of a command before it runs. undefined: nothing is recorded. */
async function recordBefore(
  step: Pick<RecordedStep, "command" | "args" | "named">,
  door: Door,
  secrets: Secrets,
  parts: Parts,
): Promise<Recorded | undefined> {
  const { record } = door
  if (!record) return undefined
  const unseen = { ...door, record: undefined, trace: undefined, places: undefined }
  const before = record.spentMs
  const after = await record.before({
    ...step,
    look: (ms, work) =>
      workIn(unseen, secrets, { ...parts, deadline: Deadline.in(ms, door.signal), patient: true }, work),
    hide: (text) => secrets.hide(text),
  })
  return { spentMs: record.spentMs - before, after }
}

const spentOn = (work: Pick<Trace | Recording, "spentMs"> | undefined): number => work?.spentMs ?? 0

/** Adds the place of described elements to a result, unless it has one. The result keeps its class. */
const withPlace = (data: object, place: object): object =>
  Object.assign(Object.create(Object.getPrototypeOf(data)), data, place, data)

/** The adapter of one command, opened by its first use, within the limits of the policy. */
function openAdapter(door: Door, deadline: Deadline, tracker: ActTracker): Adapter {
  return adapterOnDemand(async () => {
    const platform = await door.platform()
    return guard(tracker.track(platform.adapter(deadline)), door)
  })
}

/** Puts the action and its element at the start of a failure's message. */
function failed(error: unknown, { name }: Command, args: Args): unknown {
  const ref = args.ref_id ?? args.from
  return typeof ref === "string" ? failedOn(ref, name, error) : error
}

interface Parts {
  readonly adapter: Adapter
  readonly deadline: Deadline
  readonly patient: boolean
  readonly isTimed: boolean
  readonly baseline?: readonly SeenNotification[]
  readonly format?: Format
}

function contextFor(door: Door, secrets: Secrets, parts: Parts): Context {
  let known = parts.baseline
  const stdin = readableOnce((end) => door.stdin(end), parts.deadline)
  const spent = (): number => spentOn(door.trace) + spentOn(door.record)
  const spentBefore = spent()
  const runItem = async (name: string, args: unknown): Promise<ItemResult> => {
    const late = spent() - spentBefore
    const deadline = late ? new Deadline(parts.deadline.at + late, door.signal) : parts.deadline
    // A batch answers when all items are done, so no item may serve other programs meanwhile.
    const alone = { ...door, serve: undefined, view: undefined, stdin }
    return itemResult(alone, name, args, { deadline, baseline: known })
  }
  return {
    ...parts,
    refs: door.refs,
    readOnly: door.readOnly,
    isFlow: door.isFlow,
    commands: door.commands,
    serve: door.serve,
    view: door.view,
    session: door.session,
    desktop: door.desktop,
    stdin,
    secret: (source) =>
      secrets.read(
        source,
        namedOnly((name) => door.env?.(name), door.secrets),
        stdin,
      ),
    writeFile: (path, bytes) => door.writeFile(path, bytes, door.readOnly),
    variable: (name) => door.env?.(name),
    apart: async ({ isolated }, work) =>
      (await import("./door/separate-run.ts")).runApart({ ...door, stdin }, isolated, (other) =>
        workIn(other, secrets, parts, work),
      ),
    async validateItems(items, at) {
      const { validate } = await import("./door/batch-items.ts")
      const check = async ({ command: name, args }: Item): Promise<boolean> => {
        const command = await loadCommand(door, name)
        if (!command.delegates) await parseArgs(command, args)
        return !command.delegates
      }
      await validate(items, check, at)
    },
    async rememberNotifications(items) {
      for (const { command: name, args } of items) {
        const command = await loadCommand(door, name)
        if (known || !command.awaitsNotification?.(args)) continue
        known = await parts.adapter.notifications()
      }
    },
    runItem: (name, args) => observed({ ...door, name: "batch" }, name, args, () => runItem(name, args)),
  }
}

/** Runs an item of a batch. Never throws. */
async function itemResult(door: Door, name: string, args: unknown, batch: Batch): Promise<ItemResult> {
  try {
    if (batch.deadline.expired) throw (await import("./door/batch-items.ts")).notStarted(name)
    const command = await loadCommand(door, name)
    const data = await execute(door, command, await parseArgs(command, args), batch)
    return { command: name, ok: true, data }
  } catch (error) {
    return { command: name, ok: false, error: errorObject(error) }
  }
}

/** Works with another door's context, which has a separate adapter. */
async function workIn<T>(
  door: Door,
  secrets: Secrets,
  parts: Parts,
  work: (ctx: Context) => Promise<T>,
  tracker = new ActTracker(door, parts.deadline),
): Promise<T> {
  const adapter = openAdapter(door, parts.deadline, tracker)
  try {
    return await work(contextFor(door, secrets, { ...parts, adapter }))
  } finally {
    await adapter.close()
  }
}

/** Standard input can be read once: a batch and its items, or two of its items, cannot share it. */
function readableOnce(
  read: (end: AbortSignal) => Promise<string>,
  deadline: Deadline,
): (end?: AbortSignal) => Promise<string> {
  let isTaken = false
  return async (outer) => {
    const { readAlready, readInTime } = await import("./door/standard-input.ts")
    if (isTaken) throw readAlready()
    isTaken = true
    // An item may have less time than its batch.
    return readInTime((end) => read(outer ? AbortSignal.any([end, outer]) : end), deadline)
  }
}
