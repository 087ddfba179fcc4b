import type { Action, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type CellPlace, nameOfPlace, placeNamed } from "../content/grid.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { resolveStored, type Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { refuseCovered } from "./covered.ts"
import { afterSending, sendAction } from "./deliver.ts"
import { isLate } from "./failures.ts"
import { pressKey, selectOnly, sendText, TYPED, takeFocus } from "./keyboard.ts"
import { dialogOver } from "./unreachable.ts"

/**
 * Replaces the content of a sheet cell as a user does: goes to the cell, types, presses Enter. Then returns to the
 * cell, which Enter has left.
 */
export async function fillCell(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Performed> {
  // Ignores the error of a slow app, which has received the keys. The next look shows what they did.
  await typeIntoCell(ctx, target, action, text, { isChecked: false, again: () => foundAgain(ctx, target) })
  return TYPED
}

async function foundAgain(ctx: Context, target: Target): Promise<Seen | undefined> {
  try {
    return (await resolveStored(ctx, target)).seen
  } catch (error) {
    if (error instanceof AppError && !isLate(error)) return undefined
    throw error
  }
}

/**
 * The same for a cell of a block, which is known not to be covered. Returns an error if it is not known whether the app
 * has left the cell: then no other cell may get keys.
 */
export const fillCellOf = (
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
  again: Again,
): Promise<AppError | undefined> => typeIntoCell(ctx, target, action, text, { isChecked: true, again })

/**
 * Finds the cell if its object is gone. LibreOffice makes new objects for all cells when it scrolls to the end of a text
 * that is typed.
 */
type Again = () => Promise<Seen | undefined>

async function typeIntoCell(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
  { isChecked, again }: { readonly isChecked: boolean; readonly again: Again },
): Promise<AppError | undefined> {
  if (UNTYPABLE.test(text)) throw notTypable(target)
  if (isSlowToType(text)) throw slowToType(...addressOf(target))
  // Delete would empty all selected cells. An edit that ends without a text empties this one.
  const [first = "", ...more] = text === "" ? [" "] : text.split("\n")
  await unlessFocusMoves(async () => {
    await focusCell(ctx, target, action)
    await selectOnly(ctx, target, action)
    if (!isChecked) await refuseCovered(ctx, target, action, true)
    await sendText(ctx, target, action, first)
  })
  return afterSending(action, async () => {
    for (const line of more) {
      await pressKey(ctx, target, LINE_BREAK, action)
      if (line !== "") await sendText(ctx, target, action, line)
    }
    // Removes the rest of a longer text if the app has autocompleted it.
    await pressKey(ctx, target, key(text === "" ? "backspace" : "forwarddelete"), action)
    await pressKey(ctx, target, key("return"), action)
    return goBack(ctx, target, again)
  })
}

/** Gives a cell of a sheet the focus, and cancels an edit that was started before, so that its text does not stay. */
export async function focusCell(ctx: Context, target: Target, action: Action): Promise<void> {
  await takeFocus(ctx, target, action)
  await pressKey(ctx, target, key("escape"), action)
}

/**
 * Starts again, once, if another window takes the focus before any text is sent. A window that opens does so, such as
 * LibreOffice's tip of the day. The keys before the text do no harm if they are pressed twice.
 */
export async function unlessFocusMoves(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!hasLostFocus(error)) throw error
    await work()
  }
}

const hasLostFocus = (error: unknown): boolean =>
  error instanceof AppError &&
  error.details?.kind === "not_focused" &&
  error.disposition?.delivery === "not_delivered"

/** Another element of the same window as the target of an action. */
export function targetAt(target: Target, seen: Seen): Target {
  const { role, name, identifier, address } = seen
  const entry = { ...target.entry, role, name, identifier, address, path: undefined, context: undefined }
  return { ...target, entry, seen }
}

/** How long Enter may take to move to the next cell, or to open a dialog. */
const LEAVING_MS = 3000
/** If a cell has its text and keeps the focus this long, the app is set to stay in the cell. */
const STAYING_MS = 500

/**
 * Waits until Enter has left the cell, since a request may overtake a key. An app can be set to stay in the cell.
 * Throws if the app asks something instead, e.g. about a mistake in a formula. Returns the error of an app that does not
 * answer in time, e.g. because it draws a long text.
 */
async function goBack(ctx: Context, target: Target, again: Again): Promise<AppError | undefined> {
  try {
    await leave(ctx, target, again)
    return undefined
  } catch (error) {
    if (isLate(error)) return error
    throw error
  }
}

async function leave(ctx: Context, target: Target, again: Again): Promise<void> {
  const { entry, seen } = target
  const since = performance.now()
  let now: Seen | undefined = seen
  const isDone = async (): Promise<true | undefined> => {
    now = (await ctx.adapter.read((now ?? seen).handle)) ?? (await again())
    if (!now?.states.includes("focused") || (await dialogOver(ctx, target))) return true
    // The app commits the text first, and then leaves the cell.
    const isCommitted = (now.value ?? "") !== (seen.value ?? "")
    return isCommitted && performance.now() - since > STAYING_MS ? true : undefined
  }
  await until(ctx, isDone, { pids: [entry.pid], deadline: ctx.deadline.slice(LEAVING_MS) })
  const dialog = await dialogOver(ctx, target)
  if (dialog) throw asksInstead(target, dialog.id)
  if (now) await sendAction(ctx, now.handle, { kind: "focus" })
}

const key = (name: string) => ({ modifiers: [], key: name })

/** Breaks the line in a cell that is edited. */
const LINE_BREAK = { modifiers: ["ctrl"], key: "return" } as const

/** A tab ends a cell. So does a line break in a formula, or before any text. */
export const UNTYPABLE = /[\t\r]|^\n|^=.*\n/s

/**
 * True for a long text in a script that the keyboard lacks. A few of its letters at a time get keys; each time the app
 * reads the new keys, and draws the whole text again. That takes minutes, and the screen cannot be used meanwhile.
 */
export function isSlowToType(text: string): boolean {
  let times = 0
  let letters = new Set<string>()
  for (const char of text) {
    if (char < "\u0080" || letters.has(char)) continue
    if (letters.size === LETTERS_AT_A_TIME) {
      times++
      letters = new Set()
    }
    letters.add(char)
  }
  return times > MOST_TIMES
}

/** How many letters can get keys at a time. */
const LETTERS_AT_A_TIME = 20
/** About 900 letters of Arabic, or 600 of Chinese. */
const MOST_TIMES = 30

/** The cell for a person, and for a command line. An app may choose the names of its cells, but not an address. */
function addressOf({ ref, seen }: Target): readonly [subject: string, ref: string] {
  const place = placeNamed(seen.name ?? "")
  return place ? [nameOfPlace(place), cellNamed(place)] : [ref, ref]
}

/** An address as an argument of a command line. */
export const cellNamed = (place: CellPlace): string => `'cell "${nameOfPlace(place)}"'`

export function slowToType(subject: string, ref: string): AppError {
  return new AppError(
    "ACTION_FAILED",
    `The text for ${subject} is too long to be typed in its script: that would take minutes`,
    {
      suggestion: `Nothing was written. Paste it: agent-desktop clipboard-set TEXT, then agent-desktop focus ${ref}, then agent-desktop press 'f2 ctrl+a ctrl+v return'`,
      details: { kind: "not_typable", cells: [subject] },
      disposition: NOTHING_DELIVERED,
    },
  )
}

export function asksInstead({ ref }: Target, id: string): AppError {
  return new AppError(
    "ACTION_FAILED",
    `The app did not accept the text for ${ref}, and asks about it in window ${id}`,
    {
      suggestion: `Answer it first: agent-desktop snapshot -i --window-id ${id}`,
      details: { kind: "asked", window_id: id },
      disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    },
  )
}

function notTypable({ ref }: Target): AppError {
  return new AppError(
    "ACTION_FAILED",
    `${ref} takes no tab, and no line break at its start or in a formula`,
    {
      suggestion: `To fill the cells below or beside it: agent-desktop type ${ref} TEXT, which moves on at each line break or tab`,
      details: { kind: "not_typable" },
      disposition: NOTHING_DELIVERED,
    },
  )
}
