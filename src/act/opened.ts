import type { Action } from "../action.ts"
import type { PopupWatch } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition } from "../errors.ts"
import { hasTrait } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import type { ActionResult } from "./result.ts"

/**
 * Popups that an action opens. The windows on the screen reveal them, so that an action that opens none costs no time.
 */

/** Actions that may open a menu or a list. */
const OPENING: ReadonlySet<Action["kind"]> = new Set(["click", "double-click", "toggle", "expand"])

/** How long the popover of a pressed button may take to be listed. Most buttons that stay down have none. */
const DOWN_MS = 0

/** Follows popups from before the action. undefined: the display cannot report them, or the action opens none. */
export async function followPopups(ctx: Context, { kind }: Action): Promise<PopupWatch | undefined> {
  if (!OPENING.has(kind)) return undefined
  try {
    return await ctx.adapter.watchPopups()
  } catch (error) {
    return unlessFailed(error)
  }
}

/** Adds the popup that an action has opened to its result. */
export async function withPopup(
  ctx: Context,
  target: Target,
  result: ActionResult,
  watch: PopupWatch,
): Promise<ActionResult> {
  const { role, states } = target.seen
  const isExpected = hasTrait(role, "opensMenu") || states.includes("haspopup")
  // A GTK 3 popover is part of its window, so the screen shows no popup. Its button stays down meanwhile.
  const isDown = !states.includes("pressed") && (result.post_state?.states?.includes("pressed") ?? false)
  try {
    const isOpen = isExpected || (await watch.look(target.entry.pid)) === "opened"
    if (!isOpen && !isDown) return result
    const { openedPopup, shownPopup } = await import("../look/popup.ts")
    const popup = isOpen
      ? await openedPopup(ctx, target, watch, isExpected)
      : await shownPopup(ctx, target, DOWN_MS)
    if (!popup) return result
    const isNews = result.disposition.delivery === "delivered_unverified" && result.doubt === undefined
    const disposition: Disposition = isNews
      ? { ...result.disposition, delivery: "delivered_verified" }
      : result.disposition
    return { ...result, disposition, popup }
  } catch (error) {
    // The action was delivered, even if the popup cannot be read.
    return unlessFailed(error) ?? result
  }
}

function unlessFailed(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}
