import type { Action, InputPolicy, Performed, Seen, Watch } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition, NOTHING_DELIVERED, staleRef } from "../errors.ts"
import type { ActChoice, ActionChanges } from "../look/changes.ts"
import { hasTrait, type Rect, type Role, type State } from "../node.ts"
import { changedEvidence } from "../refs/identity.ts"
import { lookUp, type RefChoice, resolveStored, type Target, windowOf } from "../refs/resolve.ts"
import { until, untilChanged } from "../until.ts"
import { perform } from "./deliver.ts"
import {
  ACTION_OF,
  dispositionOf,
  expectationOf,
  isDone,
  notSecure,
  notSupported,
  SETTABLE_STATES,
} from "./expect.ts"
import { physically } from "./physical.ts"

export interface ActionResult {
  readonly action: string
  readonly ref_id: string
  readonly post_state?: { readonly role: Role; readonly states?: readonly State[]; readonly value?: string }
  readonly method: string
  readonly disposition: Disposition
  readonly changes?: ActionChanges
}

/** How long an effect that must show may take to show. It ends as soon as it does. */
const EFFECT_MS = 2000
/** How long an effect must have been waited for before its absence means something. */
const SHOWING_MS = 250
/** How long to listen for any reaction to an action whose effect cannot be foreseen. */
const REACTION_MS = 100

/**
 * Resolves the ref, waits until the element can be acted on, acts once, and reports what was
 * observed afterwards. After a step that may have been delivered no other step is tried.
 */
export async function actOnRef(
  ctx: Context,
  choice: RefChoice & { readonly input?: InputPolicy; readonly changes?: boolean },
  action: Action,
): Promise<ActionResult> {
  try {
    return await changing(ctx, choice, () => actOnce(ctx, choice, action))
  } catch (error) {
    // Whatever may have sent something has said so.
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

/** The watch opens while the element is looked for: it must be open before the action, and nobody waits for it. */
async function actOnce(
  ctx: Context,
  choice: RefChoice & { readonly input?: InputPolicy },
  action: Action,
): Promise<ActionResult> {
  const known = await lookUp(ctx, choice)
  const opening = ctx.adapter.watch([known.entry.pid])
  // It may fail before anybody asks for it.
  opening.catch(() => {})
  try {
    const target = await resolveStored(ctx, known)
    refuseUnsupported(target, action)
    const first = await withoutIdleFocus(ctx, target, action, target.seen)
    const before = isDone(action, first) ? first : await actionable(ctx, { ...target, seen: first }, action)
    if (isDone(action, before)) return report(target.ref, action, NOTHING_TO_DO, before)
    return await act(ctx, await opening, { ...target, seen: before }, action, choice.input ?? "auto")
  } finally {
    await opening.then(
      (watch) => watch.close(),
      // Whoever needed it has heard of it.
      () => {},
    )
  }
}

/** The focus in a window that does not have it gets no keys, whatever the element says of itself. */
async function withoutIdleFocus(
  ctx: Context,
  { entry }: Pick<Target, "entry">,
  action: Action,
  seen: Seen,
): Promise<Seen> {
  if (action.kind !== "focus" || !seen.states.includes("focused")) return seen
  const window = await windowOf(ctx.adapter, entry)
  return !window || window.is_focused ? seen : withoutFocus(seen)
}

const NOTHING_TO_DO: Performed = { method: "none", delivery: "not_delivered" }

/** The watch is open before the action, so that no reaction is missed. */
async function act(
  ctx: Context,
  watch: Watch,
  target: Target,
  action: Action,
  policy: InputPolicy,
): Promise<ActionResult> {
  const { ref, seen: before } = target
  // What happened up to now is no reaction.
  await watch.changed(0)
  const performed = await deliver(ctx, target, action, policy).catch((error: unknown) =>
    doneAllTheSame(ctx, watch, target, action, error),
  )
  if (performed.already) return report(ref, action, NOTHING_TO_DO, before)
  const since = performance.now()
  const after = await observe(ctx, watch, target, action, performed)
  const judged = judge(target, action, performed, after, performance.now() - since)
  return report(ref, action, judged, before, after)
}

/** The element as it is once it can take the action; why not, as an error, when the time is up. */
async function actionable(ctx: Context, { ref, entry, seen: first }: Target, action: Action): Promise<Seen> {
  let obstacle = obstacleTo(action, first)
  if (!obstacle) return first
  const ready = await until(
    ctx,
    async () => {
      const seen = await ctx.adapter.read(first.handle)
      if (!seen) throw staleRef(ref, "it went away while it was waited for")
      const changed = changedEvidence(entry, seen)
      if (changed) throw staleRef(ref, `${changed}, which happened while it was waited for`)
      obstacle = obstacleTo(action, seen)
      return obstacle ? undefined : seen
    },
    { pids: [entry.pid] },
  )
  if (ready) return ready
  throw new AppError("ACTION_FAILED", `${ref} is ${obstacle}`, {
    suggestion:
      obstacle === READ_ONLY
        ? `Look for what makes it editable: agent-desktop snapshot -i; its text: agent-desktop get ${ref} value`
        : `Wait for it: agent-desktop wait --element ${ref} --predicate actionable`,
    details: { kind: "not_actionable", reason: obstacle },
    disposition: NOTHING_DELIVERED,
  })
}

function obstacleTo(action: Action, seen: Seen): string | undefined {
  if (action.kind === "scroll-to" || action.kind === "scroll") return undefined
  if (seen.states.includes("disabled")) return "disabled"
  if (seen.states.includes("busy")) return "busy"
  const writes = action.kind === "type" || action.kind === "set-value" || action.kind === "clear"
  return writes && seen.states.includes("readonly") ? READ_ONLY : undefined
}

const READ_ONLY = "read-only"

/** A state that the element does not have can be neither set nor verified. */
function refuseUnsupported({ ref, seen }: Target, action: Action): void {
  if ("secret" in action && action.secret && !seen.states.includes("secure")) throw notSecure(ref, seen)
  const states = SETTABLE_STATES[action.kind]
  if (!states || seen.actions?.includes(ACTION_OF[action.kind])) return
  if (!states.some((state) => seen.states.includes(state))) throw notSupported(ref, seen, action)
  if (action.kind === "uncheck" && seen.role === "radiobutton") throw notSupported(ref, seen, action)
}

async function deliver(
  ctx: Context,
  target: Target,
  action: Action,
  policy: InputPolicy,
): Promise<Performed> {
  if (policy === "physical") return physically(ctx, target, action)
  const performed = await perform(ctx, target.seen.handle, action)
  if (performed.delivery !== "not_delivered" || performed.already) return performed
  if (policy === "semantic") throw notSupported(target.ref, target.seen, action)
  return physically(ctx, target, action)
}

/** Platforms report errors for what they have done; only what is seen afterwards can tell. */
async function doneAllTheSame(
  ctx: Context,
  watch: Watch,
  target: Target,
  action: Action,
  error: unknown,
): Promise<Performed> {
  if (!(error instanceof AppError) || error.disposition?.delivery === "not_delivered") throw error
  const { seen: before } = target
  const after = await observe(ctx, watch, target, action, { method: "", delivery: "delivery_uncertain" })
  const expected = expectationOf(action, before)
  const isNews = expected !== undefined && expected.met(before) !== true
  if (!isNews || after === undefined || after === "gone" || expected.met(after) !== true) throw error
  return { method: "unknown", delivery: "delivered_verified" }
}

/** The element after its effect showed, or after a short bound; "gone" when it is not there any more. */
async function observe(
  ctx: Context,
  watch: Watch,
  target: Target,
  action: Action,
  performed: Performed,
): Promise<Seen | "gone" | undefined> {
  const { seen: before } = target
  const expected = expectationOf(action, before)
  const isOpen = ctx.patient && performed.delivery !== "delivered_verified"
  let last: Seen | "gone" | undefined
  try {
    if (performed.method === "keyboard" && before.states.includes("secure")) await untilQuiet(ctx, watch)
    else if (!expected && isOpen) await watch.changed(Math.min(REACTION_MS, ctx.deadline.remaining))
    let sightings = 0
    await untilChanged(
      watch,
      async () => {
        const now = await ctx.adapter.read(before.handle)
        last = now ? await withoutIdleFocus(ctx, target, action, now) : "gone"
        const met = last === "gone" ? undefined : expected?.met(last)
        if (met !== true) return met === false ? undefined : true
        // What is typed may be taken back at once by the field, or show before that is known.
        return ++sightings >= (performed.method === "keyboard" ? 2 : 1) ? true : undefined
      },
      ctx.deadline.slice(expected && isOpen ? EFFECT_MS : 0),
    )
    return last
  } catch (error) {
    // A read that fails after the action says nothing about the action.
    if (error instanceof AppError) return undefined
    throw error
  }
}

/**
 * What a secure field holds does not show, but the app says that it changes. Keys may still be on their way, and
 * Chromium with at-spi2 2.46 crashes when the last who listens leaves while they arrive.
 */
async function untilQuiet(ctx: Context, watch: Watch): Promise<void> {
  const bound = ctx.deadline.slice(EFFECT_MS)
  while (!bound.expired && (await watch.changed(Math.min(REACTION_MS, bound.remaining))));
}

function judge(
  { ref, seen: before, entry }: Target,
  action: Action,
  performed: Performed,
  after: Seen | "gone" | undefined,
  watchedMs: number,
): Performed {
  if (after === undefined || performed.delivery === "delivered_verified") return performed
  const expected = expectationOf(action, before)
  if (!expected) {
    // Whatever else changes in a field, it is no proof of the text in it.
    const reacted =
      action.kind !== "type" &&
      (after === "gone" ? isTaken(before, performed) : hasReacted(before, after, action))
    return reacted ? { ...performed, delivery: "delivered_verified" } : performed
  }
  // That it went away is a reaction, but not the state that was asked for.
  if (after === "gone") return performed
  const met = expected.met(after)
  if (met === true) return { ...performed, delivery: "delivered_verified" }
  if (met === undefined || !expected.decides(after) || mayTellLate(before, after, performed)) return performed
  // What had no time to show is not known.
  if (watchedMs < SHOWING_MS) return performed
  throw new AppError("ACTION_FAILED", `${action.kind} was delivered to ${ref}, but its effect did not show`, {
    suggestion:
      action.kind === "focus" && entry.window_id?.startsWith("w-")
        ? `Its window may be in the back: agent-desktop focus-window ${entry.window_id}`
        : `Use 'get ${ref} states' or 'snapshot' to see how it is now before trying anything else`,
    platformDetail: `delivered by ${performed.method}`,
    details: { kind: "contradicted", observed: stateOf(after) },
    disposition: dispositionOf(action, performed.delivery),
  })
}

/**
 * That an element goes within the observation is an effect where the app took the action for this very element,
 * which was there then. What is told late may have been gone before; a pointer meets whatever is at the point, which
 * somebody else may have closed a moment before.
 */
const isTaken = ({ tellsLate }: Seen, { method, delivery }: Performed): boolean =>
  !tellsLate && delivery === "delivered_unverified" && !INPUT_METHODS.has(method)

const INPUT_METHODS: ReadonlySet<string> = new Set(["pointer", "keyboard", "wheel"])

/** Chromium tells the first text that is typed into a field with suggestions only when the next change comes. */
const mayTellLate = (before: Seen, after: Seen, { method }: Performed): boolean =>
  method === "keyboard" && before.role === "combobox" && after.value === before.value

function report(
  ref: string,
  action: Action,
  performed: Performed,
  before: Seen,
  after?: Seen | "gone",
): ActionResult {
  const shown =
    after !== undefined && after !== "gone" && !sameState(before, after) ? stateOf(after) : undefined
  return {
    action: action.kind,
    ref_id: ref,
    ...(shown ? { post_state: shown } : {}),
    method: performed.method,
    disposition: dispositionOf(action, performed.delivery),
  }
}

function stateOf(seen: Seen): NonNullable<ActionResult["post_state"]> {
  return {
    role: seen.role,
    ...(seen.states.length ? { states: seen.states } : {}),
    ...(seen.value !== undefined && !seen.states.includes("secure") ? { value: seen.value } : {}),
  }
}

/** The focus may come with the window, or with a click that does nothing else; in a field it is the effect. */
function hasReacted(before: Seen, after: Seen, action: Action): boolean {
  // What is scrolled is somewhere else then.
  if (action.kind === "scroll" && before.bounds && after.bounds && !samePlace(before.bounds, after.bounds))
    return true
  if (hasTrait(after.role, "typable") || after.role === "combobox") return !sameState(before, after)
  return !sameState(withoutFocus(before), withoutFocus(after))
}

const withoutFocus = (seen: Seen): Seen => ({
  ...seen,
  states: seen.states.filter((state) => state !== "focused"),
})

const samePlace = (a: Rect, b: Rect): boolean => a.x === b.x && a.y === b.y

function sameState(a: Seen, b: Seen): boolean {
  return a.role === b.role && a.value === b.value && a.states.join() === b.states.join()
}

/** Acts, and with `--changes` adds what became different; who does not ask for it does not pay for it. */
export async function changing<T extends object>(
  ctx: Context,
  choice: ActChoice & { readonly changes?: boolean },
  act: () => Promise<T>,
): Promise<T & { readonly changes?: ActionChanges }> {
  if (!choice.changes) return act()
  const { withChanges } = await import("../look/changes.ts")
  return withChanges(ctx, choice, act)
}
