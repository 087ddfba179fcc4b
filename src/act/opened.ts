import type { Action } from "../action.ts"
import type { PopupWatch } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition } from "../errors.ts"
import { hasTrait } from "../node.ts"
import type { Target } from "../refs/resolve.ts"
import type { ActionResult } from "./result.ts"

/** Popups that an action opens. The windows of the screen tell, so that an action that opens none takes no longer. */

/** Actions that may open a menu or a list. */
const OPENING: ReadonlySet<Action["kind"]> = new Set(["click", "double-click", "toggle", "expand"])

/** Follows popups from before the action. undefined: the display cannot tell, or the action opens none. */
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
  try {
    if (!isExpected && (await watch.look(target.entry.pid)) !== "opened") return result
    const { openedPopup } = await import("../look/popup.ts")
    const popup = await openedPopup(ctx, target, watch, isExpected)
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
