import type { SeenWindow } from "../adapter.ts"
import type { Arguments } from "../cli/args.ts"
import type { Context, Left } from "../command.ts"
import type { RecordedStep } from "../door.ts"
import { AppError } from "../errors.ts"
import { untilQuiet } from "../look/changes.ts"
import { documentsIn, isHostile, isLastingTitle } from "../look/lasting-names.ts"
import { headingsIn } from "../look/naming.ts"
import { see } from "../look/reachable.ts"
import { type Expectation, holding, type Plan, stateOf } from "./plan.ts"
import { toArgv } from "./words.ts"

interface Written {
  /** The words of the line; undefined if the step does not matter to a flow. */
  readonly words?: readonly string[]
  /** The words of the lines that follow it. */
  readonly expected: readonly (readonly string[])[]
}

/** The line of a step that has succeeded, and lines for its visible effects. */
export async function expectedAfter(
  ctx: Context,
  { command, args }: RecordedStep,
  plan: Plan,
  data: object,
): Promise<Written> {
  const answer: Answer = data
  if (command.flow === "state") return { words: checkOf(plan, answer), expected: [] }
  const words = toArgv(command, plan.args)
  if (command.flow === "condition")
    return { words: args.ms === undefined ? ["expect", ...words.slice(1)] : words, expected: [] }
  if (plan.reason !== undefined || plan.pid === undefined || answer.app_ended === true)
    return { words, expected: [] }
  const expected = [
    ...stateAfter(command.leaves, args, plan, answer),
    ...(command.effect === "changes" ? await settled(ctx, plan, plan.pid) : []),
  ]
  return { words, expected: (await holding(ctx, expected)).map((one) => one.words) }
}

/** Waits until the app is quiet, and lists the windows that the action has opened and closed. */
async function settled(ctx: Context, plan: Plan, pid: number): Promise<readonly Expectation[]> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      await quiet(ctx, plan, pid)
      return await windowsAfter(ctx, plan, pid)
    } catch (error) {
      // A window that closes at this moment cannot be read.
      if (!(error instanceof AppError)) throw error
    }
  }
  return []
}

const MOST_TRIES = 3

/** The members of results that this file reads. */
interface Answer {
  readonly result?: unknown
  readonly applicable?: unknown
  readonly property?: unknown
  readonly already?: unknown
  readonly app_ended?: unknown
  readonly disposition?: { readonly delivery?: unknown }
  readonly post_state?: { readonly value?: unknown; readonly states?: unknown }
}

const OPPOSITES: Readonly<Record<string, string>> = {
  enabled: "disabled",
  checked: "unchecked",
  expanded: "collapsed",
  selected: "unselected",
}

/** `is` as a line. No line if the property does not apply to the element. */
function checkOf({ target, app }: Plan, { result, applicable, property }: Answer): Written["words"] {
  const state = result === true ? property : applicable === true ? OPPOSITES[String(property)] : undefined
  return target === undefined || typeof state !== "string" ? undefined : stateOf(target, state, app).words
}

async function quiet(ctx: Context, { before }: Plan, pid: number): Promise<void> {
  const watch = await ctx.adapter.watch([pid])
  try {
    const [window] = before.filter(({ is_focused }) => is_focused)
    if (window) await ctx.adapter.caughtUp(window)
    await untilQuiet(ctx, watch)
  } finally {
    await watch.close()
  }
}

/** The state that the answer has verified. */
function stateAfter(
  leaves: Left | undefined,
  args: Arguments,
  plan: Plan,
  answer: Answer,
): readonly Expectation[] {
  const { target, app, isSecure } = plan
  const isVerified = answer.already === true || answer.disposition?.delivery === "delivered_verified"
  if (leaves === undefined || target === undefined || !isVerified) return []
  const state = (word: string): readonly Expectation[] => [stateOf(target, word, app, DENIED[word])]
  if (leaves === "toggled") return state(hasStates(answer, "checked") ? "checked" : "unchecked")
  if (leaves !== "value") return state(leaves)
  const value = answer.post_state?.value ?? (answer.already === true ? args.value : undefined)
  if (isSecure || args.secret !== undefined || typeof value !== "string") return []
  return value.length > LONGEST_VALUE || isHostile(value) ? [] : [hasValue(target, value, app)]
}

const DENIED: Readonly<Record<string, string>> = { unchecked: "checked", collapsed: "expanded" }

const LONGEST_VALUE = 120

const hasStates = ({ post_state }: Answer, state: string): boolean =>
  Array.isArray(post_state?.states) && post_state.states.includes(state)

const hasValue = (target: string, value: string, app: string | undefined): Expectation =>
  waitOf({ element: target, predicate: "value", value, app })

/** Windows that have opened or closed, and pages that have changed. The next line must wait for them. */
async function windowsAfter(ctx: Context, plan: Plan, pid: number): Promise<readonly Expectation[]> {
  const { before, app, target } = plan
  const after = (await ctx.adapter.windows({ pid })).filter((one) => one.pid === pid)
  if (after.length === 0) return []
  const documents = documentsIn([...before, ...after].map(({ title }) => title))
  const has = (list: readonly SeenWindow[], id: string): boolean => list.some((one) => one.id === id)
  const opened = after.filter(({ id, title }) => !has(before, id) && isLastingTitle(title, documents))
  const closed = before.filter(({ id }) => !has(after, id))
  const named = closed.filter(({ title }) => isLastingTitle(title, documents))
  const lines = [
    ...opened.map(({ title }) => waitOf({ window: title, app })),
    ...named.map(({ title }) => waitOf({ window: title, gone: true, app })),
  ]
  if (closed.length > named.length && target !== undefined)
    return [...lines, waitOf({ element: target, gone: true, app })]
  return lines.length > 0 ? lines : pageAfter(ctx, plan)
}

/** The heading of the page that has replaced another one. */
async function pageAfter(
  ctx: Context,
  { app, target, headings = [] }: Plan,
): Promise<readonly Expectation[]> {
  if (app === undefined || target === undefined) return []
  const seen = await see(ctx, { app }, () => [])
  const now = seen ? headingsIn(seen.places) : []
  const heading = now.find((one) => !headings.includes(one) && one.length <= LONGEST_VALUE && !isHostile(one))
  const isOther = heading !== undefined && headings.some((one) => !now.includes(one))
  return isOther ? [waitOf({ text: heading, app })] : []
}

/** `expect` with the flags of `wait`. */
function waitOf(args: Arguments): Expectation {
  const flags = Object.entries(args).flatMap(([name, value]) => {
    if (value === undefined) return []
    return value === true
      ? [`--${name}`]
      : String(value).startsWith("-")
        ? [`--${name}=${value}`]
        : [`--${name}`, String(value)]
  })
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))
  return { words: ["expect", ...flags], command: "wait", args: given }
}
