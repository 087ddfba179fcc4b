import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { focusByPointer, placesCaret } from "./keyboard.ts"

/** The focus that a field got along with its text. */
export interface FieldFocus {
  /** True if the field should show the focus in a moment. */
  readonly isExpected: boolean
  /** True if a field inside it has the focus. */
  readonly isInside?: boolean
  /** The reason why it does not get the keys. */
  readonly reason?: string
}

/**
 * Focuses a field within its window after its text has been delivered, without raising the window. Tries once. The text
 * is delivered in any case, so a failure is a reason in the result, not an error.
 */
export async function keepFocus(ctx: Context, target: Target): Promise<FieldFocus> {
  const { seen, entry, ref } = target
  try {
    // The focus decides where the keys of every command go.
    await ctx.adapter.takeTurn()
    const { kind, isInFront } = await ctx.adapter.keepFocus(seen.handle)
    if (!isInFront) {
      const window = entry.window_id?.startsWith("w-") ? `window ${entry.window_id}` : "window"
      return missed(`its ${window} is not in front; 'press KEYS --to ${ref}' brings it there`)
    }
    if (kind === "inside") return { isExpected: false, isInside: true }
    if (kind === "asked") return { isExpected: true }
    if (!placesCaret(seen)) return missed("its app has no way to give it the focus")
    await focusByPointer(ctx, target)
    return { isExpected: true }
  } catch (error) {
    if (error instanceof AppError) return missed(error.message)
    throw error
  }
}

const missed = (reason: string): FieldFocus => ({ isExpected: false, reason })

/** Members of the result. `focused` is left out if the field could not be read, since unknown is not false. */
export interface FocusReport {
  readonly focused?: boolean
  readonly focus_reason?: string
}

/** Says whether keys go to the field now, and if not, why. */
export function reportFocus(
  { reason, isInside = false }: FieldFocus,
  after: Seen | "gone" | undefined,
): FocusReport {
  if (reason !== undefined) return { focused: false, focus_reason: reason }
  if (after === undefined) return { focus_reason: "the field could not be read afterwards" }
  if (after === "gone") return { focused: false, focus_reason: "the field is gone" }
  if (isInside || after.states.includes("focused")) return { focused: true }
  return {
    focused: false,
    focus_reason: "the field does not have the focus; 'is REF focused' shows whether it gets it later",
  }
}
