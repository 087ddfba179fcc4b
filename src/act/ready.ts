import type { Action } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { readSame, type Target, windowOf } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { ACTION_OF, isDone, notSecure, notSupported, SETTABLE_STATES } from "./expect.ts"

/** Refuses an action that an element can never take, and waits for one that it cannot take yet. */

/** Refuses to set a state that the element does not have: it could be neither set nor verified. */
export function refuseUnsupported({ ref, seen }: Target, action: Action): void {
  if ("secret" in action && action.secret && !seen.states.includes("secure")) throw notSecure(ref, seen)
  const states = SETTABLE_STATES[action.kind]
  if (!states || seen.actions?.includes(ACTION_OF[action.kind])) return
  if (!states.some((state) => seen.states.includes(state))) throw notSupported(ref, seen, action)
  if (action.kind === "uncheck" && seen.role === "radiobutton") throw notSupported(ref, seen, action)
}

/** Waits until the element can take the action, or is already as requested. Throws when the time is up. */
export async function whenReady(
  ctx: Context,
  target: Target,
  action: Action,
  lookAgain?: () => Promise<void>,
): Promise<Target> {
  const { ref, entry } = target
  const first = await withoutIdleFocus(ctx, target, action, target.seen)
  let obstacle = isDone(action, first) ? undefined : obstacleTo(action, first)
  if (!obstacle) return { ...target, seen: first }
  // Waiting does not unlock a cell, and a sheet may drop its object.
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
export async function withoutIdleFocus(
  ctx: Context,
  { entry }: Target,
  action: Action,
  seen: Seen,
): Promise<Seen> {
  if (action.kind !== "focus" || !seen.states.includes("focused")) return seen
  const window = await windowOf(ctx.adapter, entry)
  return !window || window.is_focused ? seen : withoutFocus(seen)
}

export const withoutFocus = (seen: Seen): Seen => ({
  ...seen,
  states: seen.states.filter((state) => state !== "focused"),
})
