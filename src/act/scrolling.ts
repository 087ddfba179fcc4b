import type { Handle, Seen, SeenNode } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { untilChanged } from "../until.ts"
import type { Watch } from "../watch.ts"

/**
 * An element and its parts as text: their content and positions. It differs after a scroll, because either the element
 * has moved, or it is the view and its parts have. undefined: it could not be read.
 */
export async function viewOf(ctx: Context, handle: Handle): Promise<string | undefined> {
  try {
    const options = { maxDepth: DEPTH, bounds: "all", includeHidden: false, interactiveOnly: false } as const
    const { root } = await ctx.adapter.tree({ kind: "element", handle }, options)
    return linesOf(root).join("\n")
  } catch (error) {
    // A failed read says nothing about the action.
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Wrappers do not count. Deeper parts move with these. */
const DEPTH = 3

function linesOf({ role, name = "", bounds, states, children }: SeenNode): string[] {
  const at = bounds ? `${bounds.x},${bounds.y}` : ""
  return [`${role} ${name} ${at} ${states.includes("offscreen")}`, ...children.flatMap(linesOf)]
}

/**
 * Waits until the element shows another view than `before`, unless it `mayStay`, and then until that view stays. False:
 * it still shows the old one. Browsers report positions some time after things have moved.
 */
export async function untilScrolled(
  ctx: Context,
  watch: Watch,
  { handle, tellsLate = 0 }: Seen,
  before: string,
  mayStay: boolean,
): Promise<boolean> {
  const began = performance.now()
  let last = await viewOf(ctx, handle)
  let since = performance.now()
  await untilChanged(
    watch,
    async () => {
      const now = await viewOf(ctx, handle)
      if (now !== last) since = performance.now()
      last = now
      const isQuiet = performance.now() - since >= Math.max(QUIET_MS, tellsLate)
      if ((mayStay || now !== before) && isQuiet) return true
      const hasNotBegun = now === before && performance.now() - began >= SCROLL_MS + tellsLate
      return hasNotBegun ? false : undefined
    },
    ctx.deadline.slice(ctx.patient ? MOVING_MS : 0),
  )
  return last !== undefined && last !== before
}

/** How long a view may take to begin to scroll. */
const SCROLL_MS = 1500
/** How long it may take in all, with its animation on a busy machine. The wait ends as soon as the view stays the same. */
const MOVING_MS = 3500
/** How long a view must stay the same. */
const QUIET_MS = 100

export const isInView = (seen: Seen | "gone" | undefined): boolean =>
  typeof seen === "object" && !seen.states.includes("offscreen") && !seen.states.includes("hidden")

export const NOTHING_MOVED =
  "Nothing was seen to move: it may be at its end, or not scroll in this direction. A 'snapshot' shows what is in view"
