import { type Action, ALREADY, type InputPolicy } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { ActChoice, Acting } from "../look/changes.ts"
import type { ActionChanges } from "../look/fit-changes.ts"
import { lookUp, type RefChoice, resolveStored, type StoredRef } from "../refs/resolve.ts"
import { Attempt } from "./attempt.ts"
import { isDone, SETTABLE_STATES } from "./expect.ts"
import { followPopups, opens, withOpened } from "./opened-popup.ts"
import { refuseUnsupported, whenReady } from "./ready.ts"
import { type ActionResult, provenByChanges, resultOf } from "./result.ts"
import { dialogOver, refuseUnreachable } from "./unreachable.ts"

export interface ActRequest extends RefChoice {
  readonly input?: InputPolicy
  /** Adds what the action changed to the result. */
  readonly changes?: boolean
}

/**
 * Acts on the element that a ref names, in five steps: find the element, wait until it can take the action, deliver
 * the action, observe the element, judge the observation. The action is delivered once: after a step that may have
 * delivered it, nothing else is tried. An error says what was delivered.
 */
export async function actOnRef(ctx: Context, request: ActRequest, action: Action): Promise<ActionResult> {
  try {
    const result = await changing(ctx, request, (lookAgain) => act(ctx, request, action, lookAgain))
    return provenByChanges(result, action)
  } catch (error) {
    // A step that may have delivered something says so in its error, and `with` keeps that.
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

async function act(
  ctx: Context,
  request: ActRequest,
  action: Action,
  lookAgain?: () => Promise<void>,
): Promise<ActionResult> {
  const stored = await lookUp(ctx, request)
  // `--changes` shows what opened.
  const reportsOpened = opens(action) && !request.changes
  const { watching, living, covering, popping, close } = follow(ctx, stored, reportsOpened)
  try {
    const found = await resolveStored(ctx, stored)
    refuseUnsupported(found, action)
    await refuseUnreachable(ctx, found, covering)
    const target = await whenReady(ctx, found, action, lookAgain)
    // The element may be gone after the action. An action that has nothing to do must judge the visible element.
    const isSetting = action.kind in SETTABLE_STATES || action.kind === "focus"
    const doubt = await ctx.adapter.doubt(target.seen.handle, !isSetting)
    if (isDone(action, target.seen)) return resultOf(target, action, ALREADY)
    const [watch, life, popups] = await Promise.all([watching, living, popping])
    // Objects and popups that appeared before the action are not its effect.
    watch.appeared?.()
    popups?.forget()
    const attempt = new Attempt(ctx, target, action, { watch, life, doubt })
    const result = await attempt.run(request.input ?? "auto")
    return reportsOpened ? await withOpened(ctx, target, result, { popups, watch }) : result
  } finally {
    await close()
  }
}

/**
 * Follows the app from before the action. All of it opens while the element is being found, so it costs no time. A
 * failure to open is thrown where the promise is awaited.
 */
function follow(ctx: Context, stored: StoredRef, reportsOpened: boolean) {
  const { pid } = stored.entry
  const watching = ctx.adapter.watch([pid], { hint: stored.hint })
  const living = ctx.adapter.life(pid)
  const covering = dialogOver(ctx, stored)
  const popping = reportsOpened ? followPopups(ctx) : undefined
  // They may reject before they are awaited, or never be awaited.
  for (const begun of [watching, living, covering]) begun.catch(() => {})
  const close = async (): Promise<void> => {
    const popups = await popping
    popups?.[Symbol.dispose]()
    for (const opened of await Promise.allSettled([watching, living]))
      if (opened.status === "fulfilled") await opened.value.close()
  }
  return { watching, living, covering, popping, close }
}
