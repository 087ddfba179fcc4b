import { type Action, type InputPolicy, NOT_DELIVERED, type Performed } from "../action.ts"
import type { Handle, InputEvent } from "../adapter.ts"
import type { Context } from "../command.ts"
import { unexpected } from "../envelope.ts"
import { AppError, withDisposition } from "../errors.ts"
import { dispositionOf } from "./expect.ts"

/** The two routes to an app. Each sends at most once; an error says whether something may have been sent. */

/** Sends an action by the accessibility route. `not_delivered`: the element has no such route, and nothing was sent. */
export async function sendAction(
  ctx: Context,
  handle: Handle,
  action: Action,
  policy?: InputPolicy,
): Promise<Performed> {
  try {
    return await ctx.adapter.perform(handle, action, policy)
  } catch (error) {
    if (isRefusal(error)) return NOT_DELIVERED
    throw possiblySent(error, action)
  }
}

/** Sends pointer or keyboard input, as a part of this action. */
export async function sendInput(ctx: Context, event: InputEvent, action: Action): Promise<void> {
  try {
    await ctx.adapter.input(event)
  } catch (error) {
    throw possiblySent(error, action)
  }
}

/**
 * Runs the steps after something was sent. If one of them fails, e.g. because the app does not answer, the error does not
 * say that nothing was delivered.
 */
export async function afterSending<T>(action: Action, steps: () => Promise<T>): Promise<T> {
  try {
    return await steps()
  } catch (error) {
    throw error instanceof AppError && !mayHaveArrived(error)
      ? withDisposition(error, dispositionOf(action, "delivery_uncertain"))
      : error
  }
}

export const mayHaveArrived = ({ disposition }: AppError): boolean =>
  disposition !== undefined && disposition.delivery !== "not_delivered"

function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== "ACTION_NOT_SUPPORTED") return false
  return error.disposition === undefined || error.disposition.delivery === "not_delivered"
}

/** Marks an error that says nothing about the delivery: the app may have received something before it. */
function possiblySent(error: unknown, action: Action): AppError {
  const known = error instanceof AppError ? error : unexpected(error)
  return known.with({ disposition: dispositionOf(action, "delivery_uncertain") })
}
