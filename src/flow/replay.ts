import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import * as v from "valibot"
import { parseArgv } from "../cli/args.ts"
import type { Command, Context, ItemResult, Registry } from "../command.ts"
import { type ErrorObject, toJson } from "../envelope.ts"
import { AppError, type ErrorCode, NOTHING_DELIVERED } from "../errors.ts"
import { untilQuiet } from "../look/changes.ts"
import { REF_SYNTAX } from "../refmap.ts"
import { fieldsOf } from "../schema/fields.ts"
import { until } from "../until.ts"
import { type Done, junitReport } from "./junit.ts"
import { atLine, type FlowLine } from "./read.ts"

/** A line of a flow as a command with its arguments. */
export interface Step {
  readonly line: FlowLine
  readonly command: string
  readonly args: Readonly<Record<string, unknown>>
  /** The state that `expect TARGET STATE` waits for. The command is `is` then. */
  readonly state?: string
  /** False for a state that `is` only knows as the opposite: "unchecked". */
  readonly isWanted?: boolean
  /** True if the line reads standard input. Only one line can. */
  readonly readsInput?: boolean
}

/** The global flags belong to the whole run. A line cannot have them. */
const NO_GLOBALS = v.strictObject({})

/**
 * Reads every line with words as a command. Throws INVALID_ARGS for the first line that is not a command. Nothing has
 * run then.
 */
export async function planFlow(lines: readonly FlowLine[], registry: Registry): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const line of lines.filter(({ words }) => words.length > 0)) {
    try {
      steps.push(await stepOf(line, registry))
    } catch (error) {
      throw error instanceof AppError ? atLine(line.number, error) : error
    }
  }
  return steps
}

async function stepOf(line: FlowLine, registry: Registry): Promise<Step> {
  const [first = "", second, ...rest] = line.words
  if (first !== "expect") return { line, ...(await commandOf(line.words, registry)) }
  if (second === undefined)
    throw new AppError("INVALID_ARGS", "expect needs something to expect", {
      suggestion: `Write expect --text Saved, or expect 'button "Save"' enabled`,
    })
  const words = [second, ...rest]
  if (!second.startsWith("-")) return { line, ...(await checkOf(words, registry)) }
  try {
    return { line, ...(await commandOf(["wait", ...words], registry)) }
  } catch (error) {
    // Flags may come before the target.
    const check = await checkOf(words, registry).catch(() => undefined)
    if (check) return { line, ...check }
    throw error
  }
}

/** `expect TARGET STATE`, with the flags of `is` anywhere. */
async function checkOf(words: readonly string[], registry: Registry): Promise<Omit<Step, "line">> {
  const at = words.findIndex((word, i) => OPPOSITES[word] !== undefined && !isValueOfFlag(words[i - 1]))
  const state = at < 0 ? undefined : words[at]
  const asked = OPPOSITES[state ?? ""]
  try {
    const { command, args } = await commandOf(
      ["is", ...(asked === undefined ? words : words.with(at, asked))],
      registry,
    )
    return { command, args, state: state ?? String(args.property), isWanted: asked === undefined }
  } catch (error) {
    const choices = error instanceof AppError && error.details?.choices
    if (!Array.isArray(choices)) throw error
    const states = [...choices, ...Object.keys(OPPOSITES)]
    throw new AppError("INVALID_ARGS", `expect takes a state: ${states.join(", ")}`, {
      suggestion: `Write expect 'button "Save"' enabled, or the flags of wait: expect --text Saved`,
      details: { kind: "bad_value", argument: "state", choices: states },
    })
  }
}

/** True if the word after this one is the value of a flag, and not a state. */
const isValueOfFlag = (word = ""): boolean => /^--[^=]+$/.test(word) && word !== "--property"

/** States that `is` does not have, and the words for their opposites. */
const OPPOSITES: Readonly<Record<string, string | undefined>> = {
  disabled: "enabled",
  unchecked: "checked",
  collapsed: "expanded",
  unselected: "selected",
}

async function commandOf(
  words: readonly string[],
  registry: Registry,
): Promise<Pick<Step, "command" | "args" | "readsInput">> {
  const parsed = await parseArgv(words, registry, NO_GLOBALS)
  // A command that runs other commands would be a flow inside a flow.
  if (parsed.kind !== "run" || parsed.command.delegates || parsed.command.flow === "never")
    throw new AppError("INVALID_ARGS", `${words[0]} cannot be a line of a flow`, {
      suggestion: "Remove the line. Choose the desktop with flags of replay: --desktop NAME, or --isolated",
    })
  refuseFleeting(parsed.command, parsed.args)
  return {
    command: parsed.command.name,
    args: withTime(parsed.command, parsed.args),
    readsInput: readsInput(parsed.command, parsed.args),
  }
}

/** Throws for a line that reads standard input if something else has read it. */
export function refuseInput(steps: readonly Step[], isFlowInput: boolean): void {
  const [first, second] = steps.filter((step) => step.readsInput)
  const step = isFlowInput ? first : second
  if (!step) return
  const why = isFlowInput ? "The flow itself is standard input" : `Line ${first?.line.number} reads it before`
  throw atLine(
    step.line.number,
    new AppError("INVALID_ARGS", `${step.command} cannot read standard input here. ${why}`, {
      suggestion: "Pass a secret as env:NAME, and other texts as arguments",
    }),
  )
}

/** True if one of the arguments stands for standard input. */
const readsInput = ({ input }: Command, args: Step["args"]): boolean =>
  fieldsOf(input).some(({ name, stdin }) => stdin !== undefined && args[name] === stdin)

/** Throws for a ref or an id: in the next run it may belong to another element. */
function refuseFleeting({ input }: Command, args: Step["args"]): void {
  for (const { name, target } of fieldsOf(input)) {
    const value = args[name]
    const kind = target ? "element" : FLEETING[name]
    if (typeof value !== "string" || !kind || (target && !REF_SYNTAX.test(value))) continue
    throw new AppError("INVALID_ARGS", `${value} means another ${kind} in the next run`, {
      suggestion: `Describe the element, as in click 'button "Save"', and name the app with --app`,
      details: { argument: name },
    })
  }
}

const FLEETING: Readonly<Record<string, string | undefined>> = { window_id: "window", snapshot: "snapshot" }

/** Default time limit of a line. No model waits for it, and a test machine may be slow. */
const LINE_MS = 30_000

const withTime = ({ timeoutMs }: Command, args: Step["args"]): Step["args"] =>
  args.timeout_ms === undefined && timeoutMs < LINE_MS ? { ...args, timeout_ms: LINE_MS } : args

interface Reports {
  readonly file: string
  readonly junit?: string
  readonly report?: string
}

/** Runs the steps, then writes the reports on all lines. Throws the failure of the line that failed. */
export async function replayIn(
  ctx: Context,
  steps: readonly Step[],
  lines: readonly FlowLine[],
  reports: Reports,
): Promise<void> {
  await ctx.rememberNotifications(steps)
  const done = await runSteps(ctx, steps)
  const last = done.at(-1)
  const unwritten = await writeJunit(ctx, reports, lines, done)
  if (!last?.error) {
    if (unwritten) throw unwritten
    return
  }
  const error = failureAt(last.line, last.error)
  const report = isInterrupted(ctx) ? undefined : await keepEvidence(ctx, error, reports.report)
  const { code, message, platform_detail, ...rest } = error
  throw new AppError(code as ErrorCode, message, {
    ...rest,
    platformDetail: platform_detail,
    details: {
      ...error.details,
      ...(report === undefined ? {} : { report }),
      ...(unwritten === undefined ? {} : { junit: unwritten.message }),
    },
  })
}

/** Returns the reason if the report cannot be written. It does not throw, because a failed line matters more. */
async function writeJunit(
  ctx: Context,
  { junit, file }: Reports,
  lines: readonly FlowLine[],
  done: readonly Done[],
): Promise<AppError | undefined> {
  if (junit === undefined) return undefined
  try {
    const suite = file === "-" ? "standard input" : basename(file)
    await ctx.writeFile(junit, Buffer.from(junitReport(suite, lines, done)))
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** The failure of a line, as the failure of the whole run. */
const failureAt = ({ number, text }: FlowLine, error: ErrorObject): ErrorObject => ({
  ...error,
  message: `Line ${number} failed: ${text}: ${error.message}`,
  details: { ...error.details, line: number },
})

/** Runs the steps in order, up to the first failure. Returns the lines that ran. */
async function runSteps(ctx: Context, steps: readonly Step[]): Promise<readonly Done[]> {
  const done: Done[] = []
  let isSettled = true
  for (const step of steps) {
    const start = performance.now()
    const isActing = (await ctx.commands[step.command]?.())?.effect !== "reads"
    if (isActing && !isSettled) await settle(ctx)
    isSettled = !isActing && isSettled
    const result =
      step.state === undefined ? await runLine(ctx, step) : await expectState(ctx, step, step.state)
    const ms = performance.now() - start
    // The error of an item is the object that an envelope would hold.
    const error = result.ok ? undefined : (result.error as ErrorObject)
    done.push({ line: step.line, ms, error: error && isInterrupted(ctx) ? interrupted(error) : error })
    if (!result.ok) break
  }
  return done
}

const isInterrupted = ({ deadline }: Context): boolean => deadline.signal?.aborted === true

/** The failure of a line that a signal has ended. It says nothing about the app. */
const interrupted = ({ code, disposition }: ErrorObject): ErrorObject => ({
  code,
  message: "A signal has ended the run here",
  details: { kind: "interrupted" },
  ...(disposition ? { disposition } : {}),
})

/** Longest wait for the app in front to be quiet. */
const SETTLE_MS = 1500

/**
 * Waits until the app in front is quiet. A dialog that has just opened may still fill its fields, and overwrite a text
 * that comes too early. An agent takes seconds between two commands, a flow does not.
 */
async function settle(ctx: Context): Promise<void> {
  const window = (await ctx.adapter.windows("focused")).find(({ is_focused }) => is_focused)
  if (!window) return
  const watch = await ctx.adapter.watch([window.pid])
  try {
    await untilQuiet(ctx, watch, SETTLE_MS)
  } finally {
    await watch.close()
  }
}

/**
 * Runs a line. Waits for the app or window that it names, as commands wait for elements. Waits for the focus, too,
 * which a browser does not give while it loads.
 */
async function runLine(ctx: Context, { command, args }: Step): Promise<ItemResult> {
  const first = await ctx.runItem(command, args)
  // An app that `launch` does not find is not installed.
  if (command === "launch" || typeof args.timeout_ms !== "number") return first
  const deadline = ctx.deadline.slice(args.timeout_ms)
  let last = first
  while (isEarly(last) && !deadline.expired) {
    const windows = await titlesIn(ctx)
    const next = await ctx.runItem(command, { ...args, timeout_ms: Math.ceil(deadline.remaining) })
    // This reason says more than the timeout of the last attempt.
    if (deadline.expired && isUndone(next, ({ code }) => code === "TIMEOUT")) break
    last = next
    if (!isMissing(last)) continue
    await until(ctx, async () => ((await titlesIn(ctx)) === windows ? undefined : true), { deadline })
  }
  return last
}

/** True if the line did nothing because there is no such app or window. */
const isMissing = (result: ItemResult): boolean =>
  isUndone(result, ({ code }) => code === "APP_NOT_FOUND" || code === "WINDOW_NOT_FOUND")

/** True if the line did nothing because the desktop is not ready for it. */
const isEarly = (result: ItemResult): boolean =>
  isMissing(result) || isUndone(result, ({ details }) => details?.kind === "not_focused")

function isUndone(result: ItemResult, isWanted: (error: ErrorObject) => boolean): boolean {
  if (result.ok) return false
  const error = result.error as ErrorObject
  const { delivery, retry } = error.disposition ?? {}
  return delivery === "not_delivered" && retry === "safe" && isWanted(error)
}

const titlesIn = async (ctx: Context): Promise<string> =>
  JSON.stringify((await ctx.adapter.windows()).map(({ id, title }) => [id, title]))

/** Asks for the state until the element has it. */
async function expectState(
  ctx: Context,
  { command, args, isWanted }: Step,
  state: string,
): Promise<ItemResult> {
  const ms = typeof args.timeout_ms === "number" ? args.timeout_ms : LINE_MS
  const deadline = ctx.deadline.slice(ms)
  let last: ItemResult | undefined
  await until(
    ctx,
    async () => {
      last = await ctx.runItem(command, { ...args, timeout_ms: Math.ceil(deadline.remaining) })
      return hasState(last, isWanted) ? last : undefined
    },
    { deadline },
  )
  if (!last?.ok) return last ?? { command, ok: false, error: notSeen(args, state, ms) }
  return hasState(last, isWanted) ? last : { command, ok: false, error: notSeen(args, state, ms) }
}

/** True if `is` answers with the wanted state. An element without this state is neither checked nor unchecked. */
export function hasState(answer: ItemResult, isWanted = true): boolean {
  if (!answer.ok || !("result" in answer.data)) return false
  const { result, applicable }: { result?: unknown; applicable?: unknown } = answer.data
  return result === isWanted && (isWanted || applicable === true)
}

const notSeen = ({ ref_id }: Step["args"], state: string, ms: number): ErrorObject => ({
  code: "TIMEOUT" satisfies ErrorCode,
  message: `${ref_id} is not ${state} after ${ms} ms`,
  suggestion: "Look at the picture and the snapshot of this moment, or give the line a longer --timeout-ms",
  details: { kind: "state" },
  disposition: NOTHING_DELIVERED,
})

/**
 * Writes the error, the screen and the snapshot of this moment into a directory, and returns its path. Without a name,
 * the directory is a new one, unless only reading is allowed: then nothing is written.
 */
async function keepEvidence(
  ctx: Context,
  error: ErrorObject,
  directory: string | undefined,
): Promise<string | undefined> {
  if (directory === undefined && ctx.readOnly) return undefined
  try {
    if (directory !== undefined) mkdirSync(directory, { recursive: true })
    const folder = directory ?? mkdtempSync(join(tmpdir(), "agent-desktop-replay-"))
    await ctx.writeFile(join(folder, "error.json"), Buffer.from(`${toJson(error)}\n`))
    await ctx.runItem("screenshot", { path: join(folder, "screen.png") })
    const seen = await ctx.runItem("snapshot", {})
    const print = (await ctx.commands.snapshot?.())?.print
    const outline =
      seen.ok && typeof print === "function" ? await print(seen.data as never, ctx.commands) : undefined
    if (outline !== undefined) await ctx.writeFile(join(folder, "snapshot.txt"), Buffer.from(outline))
    return folder
  } catch (failure) {
    // The failure of the flow matters more than a failure to write.
    if (failure instanceof Error) return undefined
    throw failure
  }
}
