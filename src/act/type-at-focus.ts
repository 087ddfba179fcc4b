import type { Action, InputPolicy } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { type FoundTarget, findTarget } from "../look/target.ts"
import type { WindowChoice } from "../look/windows.ts"
import { FOCUSED } from "../refmap.ts"
import { actOnRef, changing } from "./act.ts"
import { typeIntoWindow } from "./press.ts"

/**
 * Types at the keyboard focus: into the focused element or, if no element reports the focus, with keys into the focused
 * window. A secret goes only into an element that is known to be a secure field.
 */
export async function typeAtFocus(
  ctx: Context,
  choice: WindowChoice & { readonly input?: InputPolicy; readonly changes?: boolean },
  action: Extract<Action, { kind: "type" }>,
): Promise<object> {
  const found = await focusedElement(ctx, choice)
  if (found instanceof AppError) {
    if (choice.input === "semantic") throw found
    if (action.secret) throw unknownField(found)
    return changing(ctx, choice, () => typeIntoWindow(ctx, choice, action.text))
  }
  const { ref_id, window } = found
  const result = await actOnRef(ctx, { ...choice, ref_id }, action)
  return { ...result, window }
}

/** The element with the focus, or the reason why none is known. */
async function focusedElement(ctx: Context, choice: WindowChoice): Promise<FoundTarget | AppError> {
  try {
    return await findTarget(ctx, FOCUSED, choice)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isUnknown = error.code === "ELEMENT_NOT_FOUND" || error.code === "PLATFORM_NOT_SUPPORTED"
    if (isUnknown) return error
    throw error
  }
}

const unknownField = ({ message }: AppError): AppError =>
  new AppError("ACTION_NOT_SUPPORTED", `A secret needs a secure field, and none is known: ${message}`, {
    suggestion: "Find a secure one: agent-desktop find --state secure",
    details: { kind: "not_secure" },
    disposition: NOTHING_DELIVERED,
  })
