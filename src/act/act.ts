import { type Action, ALREADY, type InputPolicy, type Performed } from "../action.ts"
import type { Doubt, Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Ending, Life } from "../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { ActChoice, Acting } from "../look/changes.ts"
import type { ActionChanges } from "../look/fit-changes.ts"
import { hasTrait } from "../node.ts"
import { lookUp, type RefChoice, readSame, resolveStored, type Target, windowOf } from "../refs/resolve.ts"
import { until, untilChanged } from "../until.ts"
import type { Watch } from "../watch.ts"
import { sendAction } from "./deliver.ts"
import {
  ACTION_OF,
  dispositionOf,
  type Expectation,
  expectationOf,
  isDone,
  notSecure,
  notSupported,
  SETTABLE_STATES,
} from "./expect.ts"
import { contradicted, endedBy, refused } from "./failures.ts"
import { followPopups, opens, withOpened } from "./opened-popup.ts"
import { actPhysically } from "./physical.ts"
import { type ActionResult, type Observation, provenByChanges, resultOf, sameState } from "./result.ts"
import { dialogOver, refuseUnreachable } from "./unreachable.ts"

/**
 * Acts on the element that a ref names, in five steps: find the element, wait until it can take the action, deliver
 * the action, observe the element, judge the observation. The action is delivered once: after a step that may have
 * delivered it, nothing else is tried. An error says what was delivered.
 */
export async function actOnRef(
  ctx: Context,
  choice: RefChoice & { readonly input?: InputPolicy; readonly changes?: boolean },
  action: Action,
): Promise<ActionResult> {
  try {
    const result = await changing(ctx, choice, (lookAgain) => attempt(ctx, choice, action, lookAgain))
    return provenByChanges(result, action)
  } catch (error) {
    // Each step that may have delivered something says so in its error. That stays unchanged.
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

/** Runs an action and, with `--changes`, adds what it changed. Loads the code for that only if it is asked for. */
export async function changing<T extends object>(
  ctx: Context,
  choice: ActChoice & { readonly changes?: boolean },
  act: Acting<T>,
): Promise<T & { readonly changes?: ActionChanges }> {
  if (!choice.changes) return act()
  const { withChanges } = await import("../look/changes.ts")
  return withChanges(ctx, choice, act)
}

async function attempt(
  ctx: Context,
  choice: RefChoice & { readonly input?: InputPolicy; readonly changes?: boolean },
  action: Action,
  lookAgain?: () => Promise<void>,
): Promise<ActionResult> {
  const stored = await lookUp(ctx, choice)
  // The watch must be open before the action. It opens while the element is being found, so it costs no time.
  const opening = ctx.adapter.watch([stored.entry.pid], { hint: stored.hint })
  const following = ctx.adapter.life(stored.entry.pid)
  const dialog = dialogOver(ctx, stored)
  // `--changes` shows what opened.
  const mayOpen = opens(action)
  const followed = mayOpen && !choice.changes ? followPopups(ctx) : undefined
  // They may reject before they are awaited, or never be awaited.
  for (const begun of [opening, following, dialog]) begun.catch(() => {})
  try {
    const found = await resolveStored(ctx, stored)
    refuseUnsupported(found, action)
    await refuseUnreachable(ctx, found, dialog)
    const target = await whenReady(ctx, found, action, lookAgain)
    // The element may be gone after the action. An action that has nothing to do must judge the visible element.
    const doubt = await ctx.adapter.doubt(
      target.seen.handle,
      !(action.kind in SETTABLE_STATES) && action.kind !== "focus",
    )
    if (isDone(action, target.seen)) return resultOf(target, action, ALREADY)
    const [watch, life, popups] = await Promise.all([opening, following, followed])
    // Objects and popups that appeared before the action are not its effect.
    watch.appeared?.()
    popups?.forget()
    const result = await new Attempt(ctx, target, action, watch, life, doubt).run(choice.input ?? "auto")
    return mayOpen && !choice.changes ? await withOpened(ctx, target, result, { popups, watch }) : result
  } finally {
    const popups = await followed
    popups?.[Symbol.dispose]()
    // A failure to open has been reported where it was awaited.
    for (const opened of await Promise.allSettled([opening, following]))
      if (opened.status === "fulfilled") await opened.value.close()
  }
}

/** Refuses to set a state that the element does not have: it could be neither set nor verified. */
function refuseUnsupported({ ref, seen }: Target, action: Action): void {
  if ("secret" in action && action.secret && !seen.states.includes("secure")) throw notSecure(ref, seen)
  const states = SETTABLE_STATES[action.kind]
  if (!states || seen.actions?.includes(ACTION_OF[action.kind])) return
  if (!states.some((state) => seen.states.includes(state))) throw notSupported(ref, seen, action)
  if (action.kind === "uncheck" && seen.role === "radiobutton") throw notSupported(ref, seen, action)
}

/** Waits until the element can take the action, or is already as requested. Throws when the time is up. */
async function whenReady(
  ctx: Context,
  target: Target,
  action: Action,
  lookAgain?: () => Promise<void>,
): Promise<Target> {
  const { ref, entry } = target
  const first = await withoutIdleFocus(ctx, target, action, target.seen)
  let obstacle = isDone(action, first) ? undefined : obstacleTo(action, first)
  if (!obstacle) return { ...target, seen: first }
  // Nobody unlocks a cell meanwhile, and a sheet may drop the object of a cell.
  const isFinal = obstacle === READ_ONLY && first.role === "cell"
  const ready = isFinal
    ? undefined
    : await until(
        ctx,
        async () => {
          const seen = await readSame(ctx.adapter, target, "while it was waited for")
          obstacle = obstacleTo(action, seen)
          return obstacle ? undefined : seen
        },
        { pids: [entry.pid], deadline: ctx.isTimed ? ctx.deadline : ctx.deadline.slice(READY_MS) },
      )
  if (ready && !lookAgain) return { ...target, seen: ready }
  if (ready) {
    // The window changed while this waited for the element.
    await lookAgain?.()
    return { ...target, seen: await readSame(ctx.adapter, target, "while its window was read") }
  }
  throw new AppError("ACTION_FAILED", `${ref} is ${obstacle}`, {
    suggestion:
      obstacle === READ_ONLY
        ? `Look for what makes it editable: agent-desktop snapshot -i; its text: agent-desktop get ${ref} value`
        : `Wait for it: agent-desktop wait --element ${ref} --predicate actionable`,
    details: { kind: "not_actionable", reason: obstacle },
    disposition: NOTHING_DELIVERED,
  })
}

/** How long an element may take to be ready if the caller sets no time: most never are. */
const READY_MS = 700

function obstacleTo(action: Action, seen: Seen): string | undefined {
  if (action.kind === "scroll-to" || action.kind === "scroll") return undefined
  if (seen.states.includes("disabled")) return "disabled"
  if (seen.states.includes("busy")) return "busy"
  const writes = action.kind === "type" || action.kind === "set-value" || action.kind === "clear"
  return writes && seen.states.includes("readonly") ? READ_ONLY : undefined
}

const READ_ONLY = "read-only"

/** Drops the focus of an element whose window is not in front: such an element gets no keys. */
async function withoutIdleFocus(ctx: Context, { entry }: Target, action: Action, seen: Seen): Promise<Seen> {
  if (action.kind !== "focus" || !seen.states.includes("focused")) return seen
  const window = await windowOf(ctx.adapter, entry)
  return !window || window.is_focused ? seen : withoutFocus(seen)
}

const withoutFocus = (seen: Seen): Seen => ({
  ...seen,
  states: seen.states.filter((state) => state !== "focused"),
})

/** How long a required effect may take to show. The wait ends as soon as it shows. */
const EFFECT_MS = 2000
/** The same for an effect that may never show. */
const OPTIONAL_MS = 500
/** How long typed text must stay visible. */
const LASTING_MS = 60
/** How long an effect must have been waited for before its absence counts as a contradiction. */
const SHOWING_MS = 250
/** How long to listen for any reaction if the effect of the action is not known in advance. */
const REACTION_MS = 100
/** The same if the app says that it refused the action. Some apps say so although they did it. */
const REFUSAL_MS = 1000
/** How long a requested focus may take to show. */
const FOCUS_MS = 500

/** Actions that leave the focus in their field. */
const FOCUSING: ReadonlySet<Action["kind"]> = new Set(["type", "set-value"])

/** The focus that came with the action; see keep-focus.ts. */
interface GivenFocus {
  readonly isExpected: boolean
  tell(after: Observation): Pick<ActionResult, "focused" | "focus_reason">
}

/** Keys were typed into the field, so it had the focus. They may have moved it elsewhere. */
const typedInto = ({ date }: Seen) => ({ isExpected: false, isInside: date !== undefined })

/** One attempt to act on an element that is ready for it. `target.seen` is the element before the action. */
class Attempt {
  readonly #ctx: Context
  readonly #target: Target
  readonly #action: Action
  readonly #watch: Watch
  readonly #life: Life
  /** The reason why the element may show something other than it reports. */
  readonly #doubt: Doubt | undefined
  /** True once the app has reported any change since the action was sent. */
  #hasStirred = false
  #stirredAt = 0
  /** The effect that must show; undefined if it is not known in advance. */
  #expected: Expectation | undefined

  constructor(
    ctx: Context,
    target: Target,
    action: Action,
    watch: Watch,
    life: Life,
    doubt: Doubt | undefined,
  ) {
    this.#ctx = ctx
    this.#target = target
    this.#action = action
    this.#watch = {
      changed: async (maxMs) => {
        const hasChanged = await watch.changed(maxMs)
        this.#hasStirred ||= hasChanged
        if (hasChanged) this.#stirredAt = performance.now()
        return hasChanged
      },
      close: () => watch.close(),
    }
    this.#life = life
    this.#doubt = doubt
    this.#expected = this.#isEcho ? undefined : expectationOf(action, target.seen)
  }

  async run(policy: InputPolicy): Promise<ActionResult> {
    if (this.#action.kind === "scroll" || this.#action.kind === "scroll-to") return this.#scroll(policy)
    // Consumes the events up to now: they are not reactions.
    await this.#watch.changed(0)
    this.#hasStirred = false
    const keepsFocus = FOCUSING.has(this.#action.kind) && policy !== "semantic"
    // The turn is taken while the text is delivered, so it costs no time. A failure shows when the focus is given.
    if (keepsFocus) this.#ctx.adapter.takeTurn().catch(() => {})
    const delivered = await this.#deliver(policy).catch((error: unknown) => this.#unlessItHappened(error))
    if (delivered.already) return resultOf(this.#target, this.#action, ALREADY)
    // The caller may have given only the start of the name.
    if (this.#action.kind === "select" && delivered.chosen !== undefined)
      this.#expected = expectationOf({ ...this.#action, value: delivered.chosen }, this.#target.seen)
    const focus = keepsFocus ? await this.#keepFocus(delivered) : undefined
    const since = performance.now()
    const after = await this.#observe(delivered, focus)
    const ending = isMissing(after) ? await this.#life.end() : undefined
    if (ending) return this.#judgeEnd(delivered, ending)
    const judged = this.#judge(delivered, after, performance.now() - since)
    if (!this.#doubt || this.#doubt.isSettled())
      return { ...resultOf(this.#target, this.#action, judged, after), ...focus?.tell(after) }
    // An effect proves nothing if it may be another element's.
    const isUnsure = judged.delivery === "delivered_verified"
    const unsure: Performed = isUnsure ? { ...judged, delivery: "delivered_unverified" } : judged
    const result = resultOf(this.#target, this.#action, unsure, after)
    return { ...result, ...focus?.tell(after), doubt: this.#doubt.reason }
  }

  /** Scrolls, and waits until the view shows it, so that the next look does not see the old view. */
  async #scroll(policy: InputPolicy): Promise<ActionResult> {
    const { isInView, NOTHING_MOVED, untilScrolled, viewOf } = await import("./scrolling.ts")
    const { seen } = this.#target
    const before = await viewOf(this.#ctx, seen.handle)
    await this.#watch.changed(0)
    const delivered = await this.#deliver(policy)
    if (delivered.already) return resultOf(this.#target, this.#action, ALREADY)
    const mayStay = this.#action.kind === "scroll-to" && isInView(seen)
    const hasMoved =
      before !== undefined && (await untilScrolled(this.#ctx, this.#watch, seen, before, mayStay))
    const after = await this.#observe({ ...delivered, delivery: "delivered_verified" })
    const ending = isMissing(after) ? await this.#life.end() : undefined
    if (ending) return this.#judgeEnd(delivered, ending)
    const isThere = this.#action.kind === "scroll" ? hasMoved : isInView(after)
    if ((isThere && !mayStay) || delivered.delivery === "delivered_verified")
      return resultOf(this.#target, this.#action, { ...delivered, delivery: "delivered_verified" }, after)
    // An element that was in view and still is proves nothing, but gives no reason for doubt either.
    if (isThere) return resultOf(this.#target, this.#action, delivered, after)
    return { ...resultOf(this.#target, this.#action, delivered, after), doubt: NOTHING_MOVED }
  }

  /** Makes later keys go to the field. Typed text has already focused it; `--input semantic` leaves the focus alone. */
  async #keepFocus({ method, delivery }: Performed): Promise<GivenFocus | undefined> {
    // Return has given the focus back to the table.
    if (delivery === "delivery_uncertain" || this.#target.seen.editedBy) return undefined
    const { keepFocus, tellFocus } = await import("./keep-focus.ts")
    const focus =
      method === "keyboard" ? typedInto(this.#target.seen) : await keepFocus(this.#ctx, this.#target)
    return { isExpected: focus.isExpected, tell: (after) => tellFocus(focus, after) }
  }

  /**
   * Judges an action after which the app has ended. A click may be meant to end it, so an exit code of 0 is an effect
   * like any other. A signal or another code is a failure. If it is not known how the app ended, its answer decides:
   * an app that took the action has not contradicted it.
   */
  #judgeEnd(delivered: Performed, ending: Ending): ActionResult {
    const isDoubtful = ending.code === undefined && delivered.delivery === "delivery_uncertain"
    if (ending.signal !== undefined || ending.code || isDoubtful) throw endedBy(this.#target, ending)
    const isEffect = ending.code === 0 && this.#hasReacted(delivered, "gone")
    const judged: Performed = isEffect ? { ...delivered, delivery: "delivered_verified" } : delivered
    return resultOf(this.#target, this.#action, judged, "ended")
  }

  /** Delivers by the accessibility route; by pointer and keyboard only if that route certainly sent nothing. */
  async #deliver(policy: InputPolicy): Promise<Performed> {
    const { ref, seen } = this.#target
    // The accessibility interface knows no modifiers.
    const needsPointer = "modifiers" in this.#action && (this.#action.modifiers?.length ?? 0) > 0
    if (policy === "physical" || needsPointer)
      return actPhysically(this.#ctx, this.#target, this.#action, policy)
    const sent = await sendAction(this.#ctx, seen.handle, this.#action)
    if (sent.delivery !== "not_delivered" || sent.already) return sent
    if (policy === "semantic") throw notSupported(ref, seen, this.#action)
    return actPhysically(this.#ctx, this.#target, this.#action, policy)
  }

  /**
   * Decides whether a failed action was done nevertheless. Some platforms report an error for an action that they did.
   * Only the expected effect, if it was not there before, proves that. Otherwise this throws the error.
   */
  async #unlessItHappened(error: unknown): Promise<Performed> {
    if (!(error instanceof AppError) || error.disposition?.delivery === "not_delivered") throw error
    const after = await this.#observe({ method: "", delivery: "delivery_uncertain" })
    const isNew = this.#expected !== undefined && this.#expected.met(this.#target.seen) !== true
    if (isNew && !isMissing(after) && this.#expected?.met(after) === true)
      return { method: "unknown", delivery: "delivered_verified" }
    if (isMissing(after) && (await this.#life.end()))
      return { method: "unknown", delivery: "delivery_uncertain" }
    throw error
  }

  /** Reads the element until the expected effect shows, or until the time for that is up. */
  async #observe({ method, delivery, refusal }: Performed, focus?: GivenFocus): Promise<Observation> {
    const { seen: before } = this.#target
    const isOpen = this.#ctx.patient && delivery !== "delivered_verified"
    const { isOptional = false } = this.#expected ?? {}
    const isHandled = isOpen && isOptional && method === "keyboard" ? this.#whenHandled() : undefined
    let last: Observation
    const awaitsFocus = this.#ctx.patient && focus?.isExpected === true
    let focusBound = awaitsFocus ? undefined : this.#ctx.deadline.slice(0)
    try {
      if (method === "keyboard" && before.states.includes("secure")) await this.#untilQuiet()
      else if (!this.#expected && isOpen)
        await this.#untilReaction(
          this.#ctx.deadline.remaining,
          refusal === undefined ? REACTION_MS : REFUSAL_MS,
        )
      await untilChanged(
        this.#watch,
        async () => {
          last = await this.#look()
          // A field may show typed text and then remove it: it must stay for a while.
          if (isOpen && method === "keyboard" && this.#isMet(last)) {
            await this.#rest(LASTING_MS)
            last = await this.#look()
          }
          // Without evidence either way there is nothing to wait for.
          if (this.#isMet(last) === false && !isHandled?.()) return undefined
          focusBound ??= this.#ctx.deadline.slice(FOCUS_MS)
          const isFocused = last === "gone" || last.states.includes("focused")
          return isFocused || focusBound.expired ? true : undefined
        },
        this.#ctx.deadline.slice(this.#expected && isOpen ? this.#patience : awaitsFocus ? FOCUS_MS : 0),
      )
      return last
    } catch (error) {
      // A failed read says nothing about the action.
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  async #look(): Promise<Seen | "gone"> {
    const now = await this.#ctx.adapter.read(this.#target.seen.handle)
    return now ? withoutIdleFocus(this.#ctx, this.#target, this.#action, now) : "gone"
  }

  /** undefined: nothing shows whether it had its effect. */
  #isMet(now: Seen | "gone"): boolean | undefined {
    return now === "gone" ? undefined : this.#expected?.met(now)
  }

  async #rest(ms: number): Promise<void> {
    const end = this.#ctx.deadline.slice(ms)
    while (!end.expired) await this.#watch.changed(end.remaining)
  }

  /**
   * True if the app has handled the keys and has been quiet since. Then an effect that may never show is not worth more
   * time.
   */
  #whenHandled(): () => boolean {
    let handledAt = Number.POSITIVE_INFINITY
    const { adapter } = this.#ctx
    void windowOf(adapter, this.#target.entry)
      .then(async (window) => {
        if (window && (await adapter.caughtUp(window))) handledAt = performance.now()
      })
      // Without an answer, the time limit ends the wait.
      .catch(() => {})
    return () => performance.now() - Math.max(handledAt, this.#stirredAt) >= REACTION_MS
  }

  /**
   * Waits until a secure field stops reporting changes. Its text cannot be read, and keys may still be on their way:
   * Chromium with at-spi2 2.46 crashes if the last listener leaves while they arrive.
   */
  async #untilQuiet(): Promise<void> {
    const bound = this.#ctx.deadline.slice(EFFECT_MS)
    while (!bound.expired && (await this.#untilReaction(bound.remaining)));
  }

  #untilReaction(remaining: number, patienceMs = REACTION_MS): Promise<boolean> {
    return this.#watch.changed(Math.min(patienceMs, remaining))
  }

  /** Decides whether the observation proves the action, leaves it unverified, or contradicts it (then it throws). */
  #judge(delivered: Performed, after: Observation, watchedMs: number): Performed {
    const { seen: before } = this.#target
    if (after === undefined || delivered.delivery === "delivered_verified") return delivered
    if (this.#isProof(delivered, after)) return { ...delivered, delivery: "delivered_verified" }
    if (delivered.refusal !== undefined && this.#isUntouched(after)) {
      // Rounded: a timer may fire a moment early.
      const delivery = Math.ceil(watchedMs / 10) * 10 < REFUSAL_MS ? "delivery_uncertain" : "not_delivered"
      throw refused(delivered.refusal, dispositionOf(this.#action, delivery))
    }
    // The disappearance of the element is a reaction, but not the requested state.
    if (!this.#expected || after === "gone") return delivered
    if (this.#expected.met(after) === undefined || !this.#expected.decides(after)) return delivered
    if (mayTellLate(before, after, delivered)) return delivered
    // An effect that had no time to show is unknown, not absent.
    if (watchedMs < SHOWING_MS) return delivered
    throw contradicted(this.#target, this.#action, delivered, after)
  }

  /** True if the element may merely show what was sent to it. */
  get #isEcho(): boolean {
    return this.#target.seen.echoes === true && WRITES.has(this.#action.kind)
  }

  #isProof(delivered: Performed, after: Seen | "gone"): boolean {
    if (!this.#expected) return !delivered.isSelection && this.#hasReacted(delivered, after)
    return after !== "gone" && this.#expected.met(after) === true
  }

  get #patience(): number {
    return this.#expected?.isOptional ? OPTIONAL_MS : EFFECT_MS
  }

  /** True if neither the element nor anything else in the app has reacted. */
  #isUntouched(after: Seen | "gone"): boolean {
    return after !== "gone" && !this.#hasStirred && sameState(this.#target.seen, after)
  }

  /** True if the element shows any reaction. In a text field, no other change proves that the text arrived. */
  #hasReacted(delivered: Performed, after: Seen | "gone"): boolean {
    const { seen: before } = this.#target
    if (this.#action.kind === "type" || this.#isEcho) return false
    if (before.isPartial || (after !== "gone" && after.isPartial)) return false
    return after === "gone" ? goneCountsAsEffect(before, delivered) : hasChanged(before, after)
  }
}

const isMissing = (after: Observation): after is "gone" | undefined => after === undefined || after === "gone"

/**
 * True if the loss of the element is an effect of the action: the app accepted the action for this very element. An app
 * that reports changes late may have lost it before. Pointer and keys hit whatever is there, and the element may have
 * closed a moment before.
 */
const goneCountsAsEffect = ({ tellsLate }: Seen, { method, delivery }: Performed): boolean =>
  !tellsLate && delivery === "delivered_unverified" && !INPUT_METHODS.has(method)

const WRITES: ReadonlySet<Action["kind"]> = new Set(["type", "set-value", "clear"])

const INPUT_METHODS: ReadonlySet<string> = new Set(["pointer", "keyboard", "wheel"])

/** Chromium reports the first text typed into a field with suggestions only together with the next change. */
const mayTellLate = (before: Seen, after: Seen, { method }: Performed): boolean =>
  method === "keyboard" && before.role === "combobox" && after.value === before.value

/** Gaining the focus is an effect in a field. Elsewhere the focus may come with the window, or with any click. */
function hasChanged(before: Seen, after: Seen): boolean {
  if (hasTrait(after.role, "typable") || after.role === "combobox") return !sameState(before, after)
  return !sameState(withoutFocus(before), withoutFocus(after))
}
