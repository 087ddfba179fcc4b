import { ACTION_OF, notSupported } from "./actions.ts"
import type { Action, InputPolicy, Performed, Seen, Watch } from "./adapter.ts"
import type { Context } from "./command.ts"
import { AppError, type Delivery, type Disposition, NOTHING_DELIVERED, staleRef } from "./errors.ts"
import type { State } from "./node.ts"
import { physically } from "./physical.ts"
import { type RefChoice, resolve, type Target } from "./resolve.ts"
import { until, untilChanged } from "./until.ts"

export interface ActionResult {
  readonly action: string
  readonly ref_id: string
  readonly post_state?: { readonly role: string; readonly states?: readonly State[]; readonly value?: string }
  readonly method: string
  readonly disposition: Disposition
}

/** How long an effect that must show may take to show. It ends as soon as it does. */
const EFFECT_MS = 2000
/** How long to listen for any reaction to an action whose effect cannot be foreseen. */
const REACTION_MS = 100

/**
 * Resolves the ref, waits until the element can be acted on, acts once, and reports what was
 * observed afterwards. After a step that may have been delivered no other step is tried.
 */
export async function actOnRef(
  ctx: Context,
  choice: RefChoice & { readonly input?: InputPolicy },
  action: Action,
): Promise<ActionResult> {
  const target = await resolve(ctx, choice)
  const before = await actionable(ctx, target, action)
  if (isDone(action, before)) return report(choice.ref_id, action, { method: "none", delivery: "not_delivered" }, before)
  const watch = await ctx.adapter.watch([target.entry.pid])
  try {
    const performed = await deliver(ctx, { ...target, seen: before }, action, choice.input ?? "auto")
    const after = await observe(ctx, watch, before, action, performed)
    return report(choice.ref_id, action, judge(choice.ref_id, action, performed, before, after), before, after)
  } finally {
    await watch.close()
  }
}

/** The element as it is once it can take the action; why not, as an error, when the time is up. */
async function actionable(ctx: Context, target: Target, action: Action): Promise<Seen> {
  refuseUnsupported(target, action)
  let seen: Seen | undefined = target.seen
  let obstacle = obstacleTo(action, seen)
  if (!obstacle) return seen
  const ready = await until(
    ctx,
    async () => {
      seen = await ctx.adapter.read(target.seen.handle)
      if (!seen) throw staleRef(target.ref, "it went away while it was waited for")
      obstacle = obstacleTo(action, seen)
      return obstacle ? undefined : seen
    },
    { pids: [target.entry.pid] },
  )
  if (ready) return ready
  throw new AppError("ACTION_FAILED", `${target.ref} is ${obstacle}`, {
    suggestion: `Wait for it: agent-desktop wait --element ${target.ref} --predicate enabled`,
    details: { kind: "not_actionable", reason: obstacle },
    disposition: NOTHING_DELIVERED,
  })
}

function obstacleTo(action: Action, seen: Seen): string | undefined {
  if (action.kind === "scroll-to" || action.kind === "scroll") return undefined
  if (seen.states.includes("disabled")) return "disabled"
  if (seen.states.includes("busy")) return "busy"
  const writes = action.kind === "type" || action.kind === "set-value" || action.kind === "clear"
  return writes && seen.states.includes("readonly") ? "read-only" : undefined
}

const SETTABLE_STATES: Readonly<Record<string, readonly State[]>> = {
  toggle: ["checked", "unchecked", "indeterminate", "pressed"],
  check: ["checked", "unchecked", "indeterminate", "pressed"],
  uncheck: ["checked", "unchecked", "indeterminate", "pressed"],
  expand: ["expanded", "collapsed"],
  collapse: ["expanded", "collapsed"],
}

/** A state that the element does not have can be neither set nor verified. */
function refuseUnsupported({ ref, seen }: Target, action: Action): void {
  const states = SETTABLE_STATES[action.kind]
  if (!states || seen.actions?.includes(ACTION_OF[action.kind])) return
  if (!states.some((state) => seen.states.includes(state))) throw notSupported(ref, seen, action)
  if (action.kind === "uncheck" && seen.role === "radiobutton") throw notSupported(ref, seen, action)
}

async function deliver(ctx: Context, target: Target, action: Action, input: InputPolicy): Promise<Performed> {
  if (input !== "physical") {
    const performed = await ctx.adapter.perform(target.seen.handle, action)
    if (performed.delivery !== "not_delivered") return performed
    if (input === "semantic") throw notSupported(target.ref, target.seen, action)
  }
  return physically(ctx, target, action)
}

/** The element after its effect showed, or after a short bound; "gone" when it is not there any more. */
async function observe(
  ctx: Context,
  watch: Watch,
  before: Seen,
  action: Action,
  performed: Performed,
): Promise<Seen | "gone" | undefined> {
  const expected = expectation(action, before)
  if (!expected) {
    if (ctx.patient) await watch.changed(Math.min(REACTION_MS, ctx.deadline.remaining))
    return readAfter(ctx, before)
  }
  let last: Seen | "gone" | undefined
  await untilChanged(
    watch,
    async () => {
      last = await readAfter(ctx, before)
      return last === undefined || last === "gone" || expected(last) !== false ? true : undefined
    },
    ctx.deadline.slice(ctx.patient && performed.delivery !== "delivered_verified" ? EFFECT_MS : 0),
  )
  return last
}

/** A read that fails after the action says nothing about the action. */
async function readAfter(ctx: Context, before: Seen): Promise<Seen | "gone" | undefined> {
  try {
    return (await ctx.adapter.read(before.handle)) ?? "gone"
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function judge(
  ref: string,
  action: Action,
  performed: Performed,
  before: Seen,
  after: Seen | "gone" | undefined,
): Performed {
  if (after === undefined) return performed
  if (after === "gone") return { ...performed, delivery: "delivered_verified" }
  const met = expectation(action, before)?.(after)
  if (met === true) return { ...performed, delivery: "delivered_verified" }
  if (met === false && performed.delivery !== "delivered_verified") {
    throw new AppError("ACTION_FAILED", `${action.kind} was delivered to ${ref}, but its effect did not show`, {
      suggestion: `Use 'get ${ref} states' or 'snapshot' to see how it is now before trying anything else`,
      platformDetail: `delivered by ${performed.method}`,
      details: { kind: "contradicted", observed: stateOf(after) },
      disposition: { delivery: "delivered_unverified", retry: retryOf(action, "delivered_unverified") },
    })
  }
  const changed = action.kind !== "type" && !sameState(before, after)
  return changed && performed.delivery === "delivered_unverified"
    ? { ...performed, delivery: "delivered_verified" }
    : performed
}

type Expectation = (now: Seen) => boolean | undefined

/** What must be seen afterwards: true met, false contradicted, undefined no evidence either way. */
function expectation(action: Action, before: Seen): Expectation | undefined {
  switch (action.kind) {
    case "check":
    case "uncheck":
    case "expand":
    case "collapse":
    case "focus":
      return (now) => isDone(action, now)
    case "toggle":
      return (now) => isOn(now) !== isOn(before) || now.states.includes("indeterminate") !== before.states.includes("indeterminate")
    case "set-value":
      return (now) => (now.value === undefined ? undefined : sameValue(now.value, action.value))
    case "clear":
      return (now) => (now.value === undefined ? undefined : now.value === "")
    case "select":
      return (now) => (now.value === undefined ? undefined : now.value === action.value || (now.value === before.value ? false : undefined))
    case "type":
      return typed(action.text, before)
    default:
      return undefined
  }
}

function typed(text: string, before: Seen): Expectation | undefined {
  if (before.value === undefined || text === "") return undefined
  const already = before.value.includes(text)
  return (now) => {
    if (now.value === undefined) return undefined
    if (now.value === before.value) return false
    return now.value.includes(text) && !already ? true : undefined
  }
}

const sameValue = (have: string, want: string): boolean =>
  have === want ||
  (have.trim() !== "" && want.trim() !== "" && Math.abs(Number(have) - Number(want)) <= 1e-6 * Math.max(1, Math.abs(Number(want))))

const isOn = (seen: Seen): boolean => seen.states.includes("checked") || seen.states.includes("pressed")

/** Already as asked: an idempotent action then delivers nothing. */
function isDone(action: Action, seen: Seen): boolean {
  switch (action.kind) {
    case "check":
      return isOn(seen)
    case "uncheck":
      return !isOn(seen) && !seen.states.includes("indeterminate")
    case "expand":
      return seen.states.includes("expanded")
    case "collapse":
      return seen.states.includes("collapsed")
    case "focus":
      return seen.states.includes("focused")
    case "select":
      return seen.role === "combobox" && seen.value !== undefined && seen.value === action.value
    default:
      return false
  }
}

const IDEMPOTENT: ReadonlySet<Action["kind"]> = new Set([
  "check", "uncheck", "expand", "collapse", "focus", "select", "set-value", "clear", "scroll-to",
])

function retryOf(action: Action, delivery: Delivery): Disposition["retry"] {
  if (delivery === "not_delivered" || IDEMPOTENT.has(action.kind)) return "safe"
  return delivery === "delivery_uncertain" ? "unknown" : "unsafe"
}

function report(
  ref: string,
  action: Action,
  performed: Performed,
  before: Seen,
  after?: Seen | "gone",
): ActionResult {
  const shown = after !== undefined && after !== "gone" && !sameState(before, after) ? stateOf(after) : undefined
  return {
    action: action.kind,
    ref_id: ref,
    ...(shown ? { post_state: shown } : {}),
    method: performed.method,
    disposition: { delivery: performed.delivery, retry: retryOf(action, performed.delivery) },
  }
}

function stateOf(seen: Seen): NonNullable<ActionResult["post_state"]> {
  return {
    role: seen.role,
    ...(seen.states.length ? { states: seen.states } : {}),
    ...(seen.value !== undefined && !seen.states.includes("secure") ? { value: seen.value } : {}),
  }
}

function sameState(a: Seen, b: Seen): boolean {
  return a.role === b.role && a.value === b.value && a.states.join() === b.states.join()
}
