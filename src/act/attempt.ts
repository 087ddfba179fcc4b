import { type Action, ALREADY, type InputPolicy, type Performed } from "../action.ts"
import type { Doubt, Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Ending, Life } from "../desktop.ts"
import { AppError } from "../errors.ts"
import { hasTrait } from "../node.ts"
import { type Target, windowOf } from "../refs/resolve.ts"
import { untilChanged } from "../until.ts"
import type { Watch } from "../watch.ts"
import { sendAction } from "./deliver.ts"
import { dispositionOf, type Expectation, expectationOf, notSupported } from "./expect.ts"
import { contradicted, endedBy, refused } from "./failures.ts"
import { actPhysically } from "./physical.ts"
import { withoutFocus, withoutIdleFocus } from "./ready.ts"
import { type ActionResult, type Observation, resultOf, sameState } from "./result.ts"

/** Reports about the app and the element from before the action on. */
interface Reports {
  readonly watch: Watch
  readonly life: Life
  /** The reason why the element may show something other than it reports. */
  readonly doubt: Doubt | undefined
}

/** One attempt to act on an element that is ready for it. `target.seen` is the element before the action. */
export class Attempt {
  readonly #ctx: Context
  readonly #target: Target
  readonly #action: Action
  readonly #reactions: Reactions
  readonly #life: Life
  readonly #doubt: Doubt | undefined
  /** The effect that must show; undefined if it is not known in advance. */
  #expected: Expectation | undefined

  constructor(ctx: Context, target: Target, action: Action, { watch, life, doubt }: Reports) {
    this.#ctx = ctx
    this.#target = target
    this.#action = action
    this.#reactions = new Reactions(watch)
    this.#life = life
    this.#doubt = doubt
    this.#expected = this.#isEcho ? undefined : expectationOf(action, target.seen)
  }

  /** Delivers, observes and judges. */
  async run(policy: InputPolicy): Promise<ActionResult> {
    if (this.#action.kind === "scroll" || this.#action.kind === "scroll-to") return this.#scroll(policy)
    await this.#reactions.forget()
    const keepsFocus = FOCUSING.has(this.#action.kind) && policy !== "semantic"
    // Starts to wait for the turn while the text is delivered, to save time. `keepFocus` reports a failure.
    if (keepsFocus) this.#ctx.adapter.takeTurn().catch(() => {})
    const delivered = await this.#deliver(policy).catch((error: unknown) => this.#unlessItHappened(error))
    if (delivered.already) return this.#result(ALREADY)
    // The caller may have given only the start of the name.
    if (this.#action.kind === "select" && delivered.chosen !== undefined)
      this.#expected = expectationOf({ ...this.#action, value: delivered.chosen }, this.#target.seen)
    const focus = keepsFocus ? await this.#keepFocus(delivered) : undefined
    const since = performance.now()
    const after = await this.#observe(delivered, focus)
    const ending = isMissing(after) ? await this.#life.end() : undefined
    if (ending) return this.#judgeEnd(delivered, ending)
    const judged = this.#judge(delivered, after, performance.now() - since)
    return this.#withDoubt(judged, after, focus?.report(after))
  }

  /** Scrolls, and waits until the view shows it, so that the next look does not see the old view. */
  async #scroll(policy: InputPolicy): Promise<ActionResult> {
    const { isInView, NOTHING_MOVED, untilScrolled, viewOf } = await import("./scrolling.ts")
    const { seen } = this.#target
    const before = await viewOf(this.#ctx, seen.handle)
    await this.#reactions.forget()
    const delivered = await this.#deliver(policy)
    if (delivered.already) return this.#result(ALREADY)
    const mayStay = this.#action.kind === "scroll-to" && isInView(seen)
    const hasMoved =
      before !== undefined && (await untilScrolled(this.#ctx, this.#reactions, seen, before, mayStay))
    const after = await this.#observe({ ...delivered, delivery: "delivered_verified" })
    const ending = isMissing(after) ? await this.#life.end() : undefined
    if (ending) return this.#judgeEnd(delivered, ending)
    const isThere = this.#action.kind === "scroll" ? hasMoved : isInView(after)
    if ((isThere && !mayStay) || delivered.delivery === "delivered_verified")
      return this.#result({ ...delivered, delivery: "delivered_verified" }, after)
    // An element that was in view and stays in view proves nothing, and needs no `doubt`.
    const result = this.#result(delivered, after)
    return isThere ? result : { ...result, doubt: NOTHING_MOVED }
  }

  /** Delivers by the accessibility route; by pointer and keyboard only if that route certainly sent nothing. */
  async #deliver(policy: InputPolicy): Promise<Performed> {
    const { ref, seen } = this.#target
    // The accessibility interface knows no modifiers.
    const needsPointer = "modifiers" in this.#action && (this.#action.modifiers?.length ?? 0) > 0
    if (policy === "physical" || needsPointer)
      return actPhysically(this.#ctx, this.#target, this.#action, policy)
    const sent = await sendAction(this.#ctx, seen.handle, this.#action, policy)
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

  /** Makes later keys go to the field. Typed text has already focused it; `--input semantic` leaves the focus alone. */
  async #keepFocus({ method, delivery }: Performed): Promise<GivenFocus | undefined> {
    // The Return key that ended an edit in place has given the focus back to the table.
    if (delivery === "delivery_uncertain" || this.#target.seen.editedBy) return undefined
    const { keepFocus, reportFocus } = await import("./keep-focus.ts")
    const focus =
      method === "keyboard" ? typedInto(this.#target.seen) : await keepFocus(this.#ctx, this.#target)
    return { isExpected: focus.isExpected, report: (after) => reportFocus(focus, after) }
  }

  /** Reads the element until the expected effect shows, or until the time for that is up. */
  async #observe(delivered: Performed, focus?: GivenFocus): Promise<Observation> {
    const { patient, deadline } = this.#ctx
    // A proved effect needs no wait.
    const isOpen = patient && delivered.delivery !== "delivered_verified"
    const isTyped = delivered.method === "keyboard"
    const isHandled = isOpen && isTyped && this.#expected?.isOptional ? this.#whenHandled() : undefined
    const awaitsFocus = patient && focus?.isExpected === true
    let focusBound = awaitsFocus ? undefined : deadline.slice(0)
    let last: Observation
    const isEnough = async (): Promise<true | undefined> => {
      last = await this.#look()
      // A field may show typed text and then remove it: it must stay for a while.
      if (isOpen && isTyped && this.#isMet(last)) {
        await this.#rest(LASTING_MS)
        last = await this.#look()
      }
      // Without evidence either way there is nothing to wait for.
      if (this.#isMet(last) === false && !isHandled?.()) return undefined
      focusBound ??= deadline.slice(FOCUS_MS)
      const isFocused = last === "gone" || last.states.includes("focused")
      return isFocused || focusBound.expired ? true : undefined
    }
    try {
      if (isTyped && this.#target.seen.states.includes("secure")) await this.#untilQuiet()
      else if (!this.#expected && isOpen)
        await this.#untilReaction(delivered.refusal === undefined ? REACTION_MS : REFUSAL_MS)
      const ms = this.#expected && isOpen ? this.#patience : awaitsFocus ? FOCUS_MS : 0
      await untilChanged(this.#reactions, isEnough, deadline.slice(ms))
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
    while (!end.expired) await this.#reactions.changed(end.remaining)
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
    return () => performance.now() - Math.max(handledAt, this.#reactions.lastAt) >= REACTION_MS
  }

  /**
   * Waits until a secure field stops reporting changes. Its text cannot be read, and keys may still be on their way.
   */
  async #untilQuiet(): Promise<void> {
    const bound = this.#ctx.deadline.slice(EFFECT_MS)
    while (!bound.expired && (await this.#untilReaction(Math.min(REACTION_MS, bound.remaining))));
  }

  #untilReaction(maxMs: number): Promise<boolean> {
    return this.#reactions.changed(Math.min(maxMs, this.#ctx.deadline.remaining))
  }

  get #patience(): number {
    return this.#expected?.isOptional ? OPTIONAL_MS : EFFECT_MS
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
    return this.#result(judged, "ended")
  }

  /** The result. An effect proves nothing if it may be another element's. */
  #withDoubt(
    judged: Performed,
    after: Observation,
    focus: Pick<ActionResult, "focused" | "focus_reason"> | undefined,
  ): ActionResult {
    if (!this.#doubt || this.#doubt.isSettled()) return { ...this.#result(judged, after), ...focus }
    const isProof = judged.delivery === "delivered_verified"
    const unsure: Performed = isProof ? { ...judged, delivery: "delivered_unverified" } : judged
    return { ...this.#result(unsure, after), ...focus, doubt: this.#doubt.reason }
  }

  #result(performed: Performed, after?: Observation | "ended"): ActionResult {
    return resultOf(this.#target, this.#action, performed, after)
  }

  /** True if the element may merely show what was sent to it. */
  get #isEcho(): boolean {
    return this.#target.seen.echoes === true && WRITES.has(this.#action.kind)
  }

  #isProof(delivered: Performed, after: Seen | "gone"): boolean {
    if (!this.#expected) return !delivered.isSelection && this.#hasReacted(delivered, after)
    return after !== "gone" && this.#expected.met(after) === true
  }

  /** True if neither the element nor anything else in the app has reacted. */
  #isUntouched(after: Seen | "gone"): boolean {
    return after !== "gone" && !this.#reactions.hasAny && sameState(this.#target.seen, after)
  }

  /** True if the element shows any reaction. In a text field, no other change proves that the text arrived. */
  #hasReacted(delivered: Performed, after: Seen | "gone"): boolean {
    const { seen: before } = this.#target
    if (this.#action.kind === "type" || this.#isEcho) return false
    if (before.isPartial || (after !== "gone" && after.isPartial)) return false
    return after === "gone" ? goneCountsAsEffect(before, delivered) : hasChanged(before, after)
  }
}

/** The changes that an app reports after an action. */
class Reactions implements Watch {
  /** True once the app has reported any change since the action was sent. */
  hasAny = false
  lastAt = 0
  readonly #watch: Watch

  constructor(watch: Watch) {
    this.#watch = watch
  }

  /** Takes the events up to now, which are not reactions. */
  async forget(): Promise<void> {
    await this.#watch.changed(0)
    this.hasAny = false
  }

  async changed(maxMs: number): Promise<boolean> {
    const hasChanged = await this.#watch.changed(maxMs)
    this.hasAny ||= hasChanged
    if (hasChanged) this.lastAt = performance.now()
    return hasChanged
  }

  close(): Promise<void> {
    return this.#watch.close()
  }
}

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
  report(after: Observation): Pick<ActionResult, "focused" | "focus_reason">
}

/** Keys were typed into the field, so it had the focus. They may have moved it elsewhere. */
const typedInto = ({ date }: Seen) => ({ isExpected: false, isInside: date !== undefined })

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
