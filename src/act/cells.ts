import type { Action, Performed } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { sendAction } from "./deliver.ts"
import { pressKey, sendText, TYPED, takeFocus } from "./keyboard.ts"

/**
 * Replaces the content of a cell of a sheet as a user does: goes to the cell, types, and presses Enter. Then it goes
 * back to the cell, which Enter has left.
 */
export async function fillCell(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Performed> {
  if (/[\n\r\t]/.test(text)) throw notOneLine(target)
  await takeFocus(ctx, target, action)
  // Ends an edit that was begun before: its text would stay.
  await pressKey(ctx, target, key("escape"), action)
  if (text === "") {
    await pressKey(ctx, target, key("forwarddelete"), action)
    return TYPED
  }
  await sendText(ctx, target, action, text)
  // Removes the rest of a longer text that the app has completed it to.
  await pressKey(ctx, target, key("forwarddelete"), action)
  await pressKey(ctx, target, key("return"), action)
  await goBack(ctx, target)
  return TYPED
}

/** How long Enter may take to go on to the next cell. */
const LEAVING_MS = 500

/** Not before Enter has left the cell: a request may overtake a key. An app can be set to stay in the cell. */
async function goBack(ctx: Context, target: Target): Promise<void> {
  const { entry, seen } = target
  const hasLeft = async () => !(await ctx.adapter.read(seen.handle))?.states.includes("focused") || undefined
  await until(ctx, hasLeft, { pids: [entry.pid], deadline: ctx.deadline.slice(LEAVING_MS) })
  await sendAction(ctx, seen.handle, { kind: "focus" })
}

const key = (name: string) => ({ modifiers: [], key: name })

function notOneLine({ ref }: Target): AppError {
  return new AppError("ACTION_FAILED", `${ref} takes one line: a line break or tab would end it`, {
    suggestion: `To fill the cells below or beside it: agent-desktop type ${ref} TEXT, which goes on at each line break or tab`,
    details: { kind: "not_one_line" },
    disposition: NOTHING_DELIVERED,
  })
}
