import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { WindowInfo } from "../node.ts"
import type { StoredRef, Target } from "../refs/resolve.ts"

type Dialog = Pick<WindowInfo, "id"> | undefined

/**
 * Looks for a modal dialog over the window of a ref. It can run while the element is being found, which costs no time.
 * undefined if unknown: an unknown dialog blocks nothing.
 */
export async function dialogOver(ctx: Context, { entry, hint }: StoredRef): Promise<Dialog> {
  try {
    return await ctx.adapter.dialogOver(entry, hint)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/**
 * Refuses to act on an element that no user could reach: on a hidden page or panel, or behind a modal dialog. The
 * accessibility route would reach it, and the app would get an action that it is not ready for.
 */
export async function refuseUnreachable(
  ctx: Context,
  target: Target,
  dialog?: Promise<Dialog>,
): Promise<void> {
  const { ref, entry, seen, absence } = target
  if (absence && seen.isTypedOver)
    throw unreachable(`${ref} is in a row or column that is hidden or filtered out`, "not shown", {
      suggestion:
        "Show it first, e.g. agent-desktop press ctrl+a, then agent-desktop menu 'Format > Rows > Show'; or take the filter away",
    })
  if (absence) {
    throw unreachable(`${ref} is on a page or panel that is not shown`, "not shown", {
      suggestion: `Show its page first; what is shown now: agent-desktop snapshot -i --window-id ${entry.window_id ?? ""}`,
    })
  }
  // An entry written by another program may lack the window; the found element has it.
  const isKnown = dialog !== undefined && (entry.address !== undefined || seen.address === undefined)
  const over = await (isKnown
    ? dialog
    : dialogOver(ctx, { ...target, entry: { ...entry, address: entry.address ?? seen.address } }))
  if (!over) return
  const { id } = over
  throw unreachable(`${ref} is behind the modal dialog in window ${id}`, "behind a modal dialog", {
    suggestion: `Answer the dialog first: agent-desktop snapshot -i --window-id ${id}`,
    window_id: id,
  })
}

function unreachable(
  message: string,
  reason: string,
  { suggestion, ...more }: { readonly suggestion: string; readonly window_id?: string },
): AppError {
  return new AppError("ACTION_FAILED", message, {
    suggestion,
    details: { kind: "not_actionable", reason, ...more },
    disposition: NOTHING_DELIVERED,
  })
}
