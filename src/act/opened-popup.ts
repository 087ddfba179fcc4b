import type { Action } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition } from "../errors.ts"
import { hasTrait } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import type { PopupWatch, Watch } from "../watch.ts"
import type { ActionResult } from "./result.ts"

/**
 * Menus, lists, dialogs and popovers that an action opens. The windows on the screen reveal popups, and the events of the
 * app reveal the rest, so that an action that opens nothing costs no time.
 */

/** Actions that may open something. */
const OPENING: ReadonlySet<Action["kind"]> = new Set(["click", "double-click", "toggle", "expand"])

export const opens = ({ kind }: Action): boolean => OPENING.has(kind)

/** Reports from before the action on. */
export interface Reports {
  /** undefined: the display does not report popups. */
  readonly popups: PopupWatch | undefined
  readonly watch: Watch
}

/** Follows popups from before the action. undefined: the display cannot report them. */
export async function followPopups(ctx: Context): Promise<PopupWatch | undefined> {
  try {
    return await ctx.adapter.watchPopups()
  } catch (error) {
    return unlessFailed(error)
  }
}

/** Adds the popup or dialog that an action has opened to its result. */
export async function withOpened(
  ctx: Context,
  target: Target,
  result: ActionResult,
  { popups, watch }: Reports,
): Promise<ActionResult> {
  const { role, states } = target.seen
  const { pid } = target.entry
  const isOpener = popups !== undefined && (hasTrait(role, "opensMenu") || states.includes("haspopup"))
  // A GTK 3 popover is part of its window, so the screen shows no popup. Its button stays down meanwhile.
  const isDown =
    popups !== undefined &&
    !states.includes("pressed") &&
    (result.post_state?.states?.includes("pressed") ?? false)
  try {
    const seen = isOpener ? undefined : await popups?.look(pid)
    const hasPopup = seen === "opened"
    const mayFollow = isOpener || seen === "window" || seen === "hidden window"
    const appeared = watch.appeared?.() ?? []
    if (!mayFollow && !hasPopup && !isDown && appeared.length === 0) return result
    const { openedBy } = await import("../look/popup.ts")
    const opened = await openedBy(ctx, target, { popups, watch, appeared, mayFollow, hasPopup, isDown })
    if (!opened) return result
    const isNews = result.disposition.delivery === "delivered_unverified" && result.doubt === undefined
    const disposition: Disposition =
      isNews && opened.isProof
        ? { ...result.disposition, delivery: "delivered_verified" }
        : result.disposition
    return { ...result, disposition, popup: opened.tree }
  } catch (error) {
    // The action was delivered, even if the popup cannot be read.
    return unlessFailed(error) ?? result
  }
}

function unlessFailed(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}
