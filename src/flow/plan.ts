import type { SeenWindow } from "../adapter.ts"
import type { Arguments } from "../cli/args.ts"
import type { Command, Context } from "../command.ts"
import type { RecordedStep } from "../door.ts"
import { typesCharacter } from "../keys.ts"
import { documentsIn, isLastingTitle } from "../look/lasting-names.ts"
import { type Naming, nameElement, nameFocused } from "../look/naming.ts"
import { chooseWindow } from "../look/windows.ts"
import { FOCUSED, REF_SYNTAX } from "../refmap.ts"
import { type Field, fieldsOf } from "../schema/fields.ts"
import { quoted } from "../shown-text.ts"
import { hasState } from "./replay.ts"

/** The line of a step. It is planned before the step, while the desktop still shows its element. */
export interface Plan {
  /** The arguments of the line, with descriptions in place of refs. */
  readonly args: Arguments
  /** The reason why the step can only be a comment. */
  readonly reason?: string
  /** The element in a few words, for a comment. */
  readonly about: string
  readonly isSecure: boolean
  /** Lines before it: conditions that must hold. */
  readonly guards: readonly Expectation[]
  /** The description of the element, and its app. */
  readonly target?: string
  readonly app?: string
  readonly pid?: number
  /** The windows of the app, and the headings of the one with the element. */
  readonly before: readonly SeenWindow[]
  readonly headings?: readonly string[]
}

/** A line that waits for something. */
export interface Expectation {
  readonly words: readonly string[]
  /** The command that it runs. */
  readonly command: "wait" | "is"
  readonly args: Arguments
  /** False: the line holds if the element does not have the state. */
  readonly isWanted?: boolean
}

export function isRecorded({ command, named }: RecordedStep): boolean {
  if (command.delegates || command.flow === "never") return false
  return command.effect !== "reads" || isCheck(command) || command.acts?.(named) === true
}

/** The line of the command says what must hold, and changes nothing. */
const isCheck = ({ flow }: Command): boolean => flow === "state" || flow === "condition"

export async function planOf(ctx: Context, step: RecordedStep): Promise<Plan> {
  const { command, named } = step
  const fields = fieldsOf(command.input)
  const given = givenOf(command, fields, step.args)
  const missing = unwritable(fields, named)
  if (missing !== undefined) return bare(given, missing)
  const namings = await namingsOf(ctx, fields, step)
  if (namings.length === 0) return planForWindow(ctx, fields, step, given)
  const [[, first]] = namings as readonly [readonly [Field, Naming]]
  const { app, pid, isSecure, headings } = first
  const names = Object.fromEntries(
    // The caller's own words for the element are better than none.
    namings.map(([{ name }, { target }]) => [name, target ?? ownWords(step.args[name])]),
  )
  const common = { ...(await appBefore(ctx, app, pid)), isSecure, headings, guards: [] }
  const about = namings.map(([, naming]) => naming.target ?? naming.about).join(" and ")
  const failed = namings.find(([{ name }]) => names[name] === undefined)
  const reason = failed?.[1].reason ?? (isSecure ? secretReason(step.args) : undefined)
  const { window_id: _, ...rest } = given
  const args = { ...rest, ...names, app: step.args.app ?? app }
  return { ...common, args, about, target: names[namings[0]![0].name], ...(reason ? { reason } : {}) }
}

const ownWords = (given: unknown): string | undefined =>
  typeof given === "string" && given !== FOCUSED && !REF_SYNTAX.test(given) ? given : undefined

const bare = (args: Arguments, reason?: string): Plan => ({
  args,
  about: "",
  isSecure: false,
  guards: [],
  before: [],
  ...(reason === undefined ? {} : { reason }),
})

/** The arguments that differ from their defaults and matter in a flow. */
function givenOf({ timeoutMs }: Command, fields: readonly Field[], args: Arguments): Arguments {
  const kept = fields.filter(({ name, kind, ...field }) => {
    const value = args[name]
    if (value === undefined || name === "changes" || name === "snapshot") return false
    // A longer time limit than the default may be needed. A shorter one suits an agent, not a flow.
    if (name === "timeout_ms") return Number(value) > timeoutMs
    if (kind === "list" && Array.isArray(value) && value.length === 0) return false
    return field.required || value !== field.default
  })
  return Object.fromEntries(kept.map(({ name }) => [name, args[name]]))
}

/** The reason why no line can express this command. */
function unwritable(fields: readonly Field[], args: Arguments): string | undefined {
  if (fields.some(({ name }) => /(?:^|_)xy$/.test(name) && args[name] !== undefined))
    return "a point of the screen means something else in the next run"
  if (fields.some(({ name }) => name === "index" && args[name] !== undefined))
    return "notifications have other numbers in the next run"
  return undefined
}

/** Describes the elements that the arguments name. */
async function namingsOf(
  ctx: Context,
  fields: readonly Field[],
  { args, named }: RecordedStep,
): Promise<readonly (readonly [Field, Naming])[]> {
  const namings: (readonly [Field, Naming])[] = []
  for (const field of fields) {
    const value = field.target && named[field.name]
    if (typeof value !== "string") continue
    const snapshot = typeof args.snapshot === "string" ? args.snapshot : undefined
    const naming = REF_SYNTAX.test(value)
      ? await nameElement(ctx, { ref_id: value, snapshot })
      : value === FOCUSED
        ? ((await nameFocused(ctx, args)) ?? UNKNOWN_FOCUS)
        : undefined
    if (naming) namings.push([field, naming])
  }
  return namings
}

/** The focused element is unknown, so it may be a secure field. */
const UNKNOWN_FOCUS: Naming = {
  about: "at the focus",
  app: "",
  pid: 0,
  isSecure: true,
  headings: [],
  reason: "no element reports the keyboard focus, so the text may be a secret",
}

const secretReason = ({ text, value }: Arguments): string | undefined =>
  text === undefined && value === undefined
    ? undefined
    : "its text went into a secure field; write --secret env:NAME in its place"

async function appBefore(
  ctx: Context,
  app: string,
  pid: number,
): Promise<Pick<Plan, "app" | "pid" | "before">> {
  const windows = await ctx.adapter.windows({ pid })
  return { app, pid, before: windows.filter((one) => one.pid === pid) }
}

/** A command on a window, or on its focused element. */
async function planForWindow(
  ctx: Context,
  fields: readonly Field[],
  { command, args }: RecordedStep,
  given: Arguments,
): Promise<Plan> {
  const isOnWindow = fields.some(({ name, required }) => name === "app" && !required)
  const { window_id, ...rest } = given
  if (!isOnWindow || (isCheck(command) && window_id === undefined)) return bare(given)
  const window = await chooseWindow(ctx.adapter, args, { orApp: true })
  const app = typeof args.app === "string" ? args.app : window.app_name
  const about = `in a window of ${quoted(app)}`
  const common = { about, isSecure: false, guards: [], ...(await appBefore(ctx, app, window.pid)) }
  const titled = { ...rest, app, ...titleFor(fields, window, common.before) }
  if (window_id !== undefined && !("title" in titled)) {
    const chosen = await chooseWindow(ctx.adapter, { app }, { orApp: true })
    if (chosen.id !== window.id)
      return { ...common, args: titled, reason: "its app has another window in front, and ids change" }
  }
  return typeof args.combo === "string"
    ? planForKeys(ctx, args.combo, { ...common, args: titled })
    : { ...common, args: titled }
}

/** The title of the window, for a command that takes one, unless another window of the app has the same title. */
function titleFor(
  fields: readonly Field[],
  { title }: SeenWindow,
  windows: readonly SeenWindow[],
): { readonly title?: string } {
  const titles = windows.map((one) => one.title)
  const isDistinct = titles.length > 1 && titles.filter((one) => one === title).length === 1
  const isTaken = fields.some(({ name }) => name === "title")
  return isTaken && isDistinct && isLastingTitle(title, documentsIn(titles)) ? { title } : {}
}

/** Keys without ctrl, alt or cmd depend on the element that has the focus. */
async function planForKeys(ctx: Context, combo: string, plan: Plan): Promise<Plan> {
  const combos = combo.split(/\s+/)
  if (combos.every((one) => /^(?:.+\+)?(?:ctrl|control|alt|option|cmd|command|meta|super)\+./i.test(one)))
    return plan
  const focused = await nameFocused(ctx, { app: plan.app })
  if (combos.some(typesCharacter) && focused?.isSecure !== false)
    return { ...plan, reason: "its characters may be a secret: the focus is in a secure field, or unknown" }
  if (focused?.target === undefined) return plan
  return { ...plan, guards: await holding(ctx, [stateOf(focused.target, "focused", plan.app)]) }
}

/** `expect TARGET STATE`. */
export function stateOf(
  target: string,
  state: string,
  app: string | undefined,
  opposite?: string,
): Expectation {
  const scope = app === undefined ? {} : { app }
  return {
    words: ["expect", target, state, ...(app === undefined ? [] : ["--app", app])],
    command: "is",
    args: { ref_id: target, property: opposite ?? state, ...scope },
    isWanted: opposite === undefined,
  }
}

/** The expectations that hold now, checked as a replay checks them. */
export async function holding(
  ctx: Context,
  expectations: readonly Expectation[],
): Promise<readonly Expectation[]> {
  const held: Expectation[] = []
  for (const one of expectations) {
    const answer = await ctx.runItem(one.command, { ...one.args, timeout_ms: CHECK_MS })
    if (one.command === "is" ? hasState(answer, one.isWanted) : answer.ok) held.push(one)
  }
  return held
}

const CHECK_MS = 3000
