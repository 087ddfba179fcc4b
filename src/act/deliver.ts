import { type Action, type Handle, type InputEvent, NOT_DELIVERED, type Performed } from "../adapter.ts"
import type { Context } from "../command.ts"
import { unexpected } from "../envelope.ts"
import { AppError } from "../errors.ts"
import { dispositionOf } from "./expect.ts"

/** Each of these sends at most once. A failure says whether it may have been sent all the same. */

/** By the accessibility route. `not_delivered`: the element offers none, or it provably did nothing. */
export async function perform(ctx: Context, handle: Handle, action: Action): Promise<Performed> {
  try {
    return await ctx.adapter.perform(handle, action)
  } catch (error) {
    if (isRefusal(error)) return NOT_DELIVERED
    throw possiblySent(error, action)
  }
}

/** By synthesised input, as a part of this action. */
export async function input(ctx: Context, event: InputEvent, action: Action): Promise<void> {
  try {
    await ctx.adapter.input(event)
  } catch (error) {
    throw possiblySent(error, action)
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== "ACTION_NOT_SUPPORTED") return false
  return error.disposition === undefined || error.disposition.delivery === "not_delivered"
}

function possiblySent(error: unknown, action: Action): AppError {
  const known = error instanceof AppError ? error : unexpected(error)
  return known.with({ disposition: dispositionOf(action, "delivery_uncertain") })
}
