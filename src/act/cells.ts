import type { Action, Performed } from "../action.ts"
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
  if (UNTYPABLE.test(text)) throw notTypable(target)
  await takeFocus(ctx, target, action)
  // Ends an edit that was begun before: its text would stay.
  await pressKey(ctx, target, key("escape"), action)
  if (text === "") {
    await pressKey(ctx, target, key("forwarddelete"), action)
    return TYPED
  }
  const [first = "", ...more] = text.split("\n")
  await sendText(ctx, target, action, first)
  for (const line of more) {
    await pressKey(ctx, target, LINE_BREAK, action)
    if (line !== "") await sendText(ctx, target, action, line)
  }
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

/** Breaks the line in a cell that is edited. */
const LINE_BREAK = { modifiers: ["ctrl"], key: "return" } as const

/** A tab ends a cell. So does a line break at its start, which is not edited yet, and one in a formula. */
export const UNTYPABLE = /[\t\r]|^\n|^=.*\n/s

function notTypable({ ref }: Target): AppError {
  return new AppError(
    "ACTION_FAILED",
    `${ref} takes no tab, and no line break at its start or in a formula`,
    {
      suggestion: `To fill the cells below or beside it: agent-desktop type ${ref} TEXT, which goes on at each line break or tab`,
      details: { kind: "not_typable" },
      disposition: NOTHING_DELIVERED,
    },
  )
}
