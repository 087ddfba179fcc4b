import type { Action, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition, NOTHING_DELIVERED, withDisposition } from "../errors.ts"
import { withArticle } from "../node.ts"
import { type Target, windowOf } from "../refs/resolve.ts"
import { untilChanged } from "../until.ts"
import type { Watch } from "../watch.ts"
import { asksInstead, targetAt } from "./cells.ts"
import { afterSending, mayHaveArrived, sendAction, sendInput } from "./deliver.ts"
import { dispositionOf, numberIn } from "./expect.ts"
import { contradicted } from "./failures.ts"
import { pressKey, proveFocus, replaceText, TYPED, takeFocus } from "./keyboard.ts"
import { clickElement, inputTarget, ofPreparation } from "./pointer.ts"
import { dialogOver } from "./unreachable.ts"

/**
 * Writes a cell that users edit in place: opens its editor, proves that it is the one of this cell, sets its text, and
 * ends it with Return. No cell reports that it has an editor, so a cell without one is found out by trying, which
 * selects it and writes nothing. After Return nothing is tried again.
 */
export async function editInPlace(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Performed> {
  const after = await fillInPlace(ctx, target, action, text)
  if (!after) return TYPED
  const shows = textOf(after)
  if (isExactly(shows, text)) return { ...TYPED, delivery: "delivered_verified" }
  const isOld = isSameText(shows, textOf(target.seen)) && !isSameText(shows, text)
  if (isOld) throw contradicted(target, action, TYPED, after)
  return TYPED
}

/** Returns the cell once its editor is closed. undefined: the cell cannot be read any more. */
export async function fillInPlace(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Seen | undefined> {
  return watching(ctx, target, async (watch) => {
    const editor = await openEditor(ctx, target, action, watch)
    await setEditor(ctx, target, editor, text, watch)
    await commit(ctx, editor, action)
    return afterSending(action, () => closed(ctx, target, text, watch))
  })
}

/** Opens the editor of a cell and closes it again. Throws if the cell has none. Writes nothing. */
export async function proveEditable(ctx: Context, target: Target, action: Action): Promise<void> {
  await watching(ctx, target, async (watch) => {
    const editor = await openEditor(ctx, target, action, watch)
    if (!(await cancel(ctx, editor, watch))) throw notClosed(target)
  })
}

/** The watch must be open before the editor is: only its focus event leads to it. */
async function watching<T>(ctx: Context, { entry }: Target, work: (watch: Watch) => Promise<T>): Promise<T> {
  const watch = await ctx.adapter.watch([entry.pid])
  try {
    return await work(watch)
  } finally {
    await watch.close()
  }
}

/** The text of a cell, which is its name in most toolkits. */
export const textOf = ({ value, name }: Seen): string => value ?? name ?? ""

/** Compares texts as names show them: without blanks at the ends, and with one blank in place of several. */
export const isSameText = (a: string, b: string): boolean => plain(a) === plain(b)

/** True if a cell that shows one text surely has the other. The name of a cell hides blanks that the text may have. */
export const isExactly = (shows: string, text: string): boolean =>
  shows === text || (plain(text) === text && plain(shows) === text)

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

async function openEditor(ctx: Context, target: Target, action: Action, watch: Watch): Promise<Target> {
  const { seen } = target
  const windows = await windowsOf(ctx, target)
  const quiet = await select(ctx, target, action, watch, windows)
  const look = () => ctx.adapter.editorOver(seen.handle)
  const found = await afterSending(CLICK, async () => {
    await caughtUp(ctx, target)
    return untilChanged(quiet, look, ctx.deadline.slice(OPENING_MS))
  })
  if (!found) {
    await refuseOpened(ctx, target, windows)
    if (!(await afterSending(CLICK, () => ctx.adapter.read(seen.handle)))) throw gone(target)
    throw notEditable(target, quiet.hasStirred)
  }
  const editor = targetAt(target, found)
  if (EDITORS.has(found.role) && showsTextOf(found, seen)) return editor
  if (!(await cancel(ctx, editor, watch))) throw notClosed(target)
  throw EDITORS.has(found.role) ? otherText(target) : otherEditor(target, found)
}

/** The input that opens an editor is a click or a key, which does other things in some apps. */
const CLICK = { kind: "click" } as const

async function caughtUp(ctx: Context, { entry }: Target): Promise<void> {
  const window = await windowOf(ctx.adapter, entry)
  if (window) await ctx.adapter.caughtUp(window)
}

/** The windows of the app. */
async function windowsOf(ctx: Context, { entry }: Target): Promise<readonly string[]> {
  const windows = await ctx.adapter.windows({ pid: entry.pid })
  return windows.flatMap(({ id, pid }) => (pid === entry.pid ? [id] : []))
}

/** Throws if the app has opened a dialog or another window instead of an editor. */
async function refuseOpened(ctx: Context, target: Target, before: readonly string[]): Promise<void> {
  const dialog = await dialogOver(ctx, target)
  const now = await afterSending(CLICK, () => windowsOf(ctx, target))
  const id = dialog?.id ?? now.find((one) => !before.includes(one))
  if (id !== undefined) throw openedInstead(target, id)
}

/** How long the editor may take to open, once the app has handled the input. */
const OPENING_MS = 700

const EDITORS: ReadonlySet<Seen["role"]> = new Set(["textfield", "incrementor"])

const showsTextOf = (editor: Seen, cell: Seen): boolean =>
  editor.role === "incrementor"
    ? isSameNumber(textOf(editor), textOf(cell))
    : isSameText(textOf(editor), textOf(cell))

/** The number may have a unit or separators in the cell only. A cell without a number proves nothing. */
function isSameNumber(editor: string, cell: string): boolean {
  const numbers = [cell, cell.replaceAll(GROUPING, "")].map(numberIn)
  if (cell.trim() === "" || numbers.every(Number.isNaN)) return true
  return numbers.some((number) => number === numberIn(editor))
}

/** A separator before three digits, as in 1,234. */
const GROUPING = /(?<=\d)[.,'’\s](?=\d{3}(?!\d))/g

/** A watch that remembers whether the app has reported any change. */
interface Noting extends Watch {
  readonly hasStirred: boolean
}

function noting(watch: Watch): Noting {
  let hasStirred = false
  return {
    get hasStirred() {
      return hasStirred
    },
    changed: async (maxMs) => {
      const hasChanged = await watch.changed(maxMs)
      hasStirred ||= hasChanged
      return hasChanged
    },
    close: () => watch.close(),
  }
}

/**
 * Makes the cell the current one, and sends the input that opens its editor. Returns a watch that has consumed the
 * changes before that input, such as the selection of the cell.
 */
async function select(
  ctx: Context,
  target: Target,
  action: Action,
  watch: Watch,
  windows: readonly string[],
): Promise<Noting> {
  const { seen } = target
  const click = () => clickElement(ctx, target, CLICK)
  try {
    if (seen.editedBy === "click") await takeFocus(ctx, target, action)
    else await click()
    const quiet = await afterSending(CLICK, async () => {
      await caughtUp(ctx, target)
      // The app sends its answer after the events of the selection.
      await ctx.adapter.read(seen.handle)
      await watch.changed(0)
      return noting(watch)
    })
    if (seen.editedBy === "click") await click()
    else {
      // Some apps open a row at the first click.
      await refuseOpened(ctx, target, windows)
      await pressKey(ctx, target, { modifiers: [], key: "f2" }, CLICK)
    }
    return quiet
  } catch (error) {
    throw error instanceof AppError && !mayHaveArrived(error) ? ofPreparation(error) : error
  }
}

/** Sets the text of the editor. If the editor does not take it, closes the editor and throws: the cell is unchanged. */
async function setEditor(
  ctx: Context,
  target: Target,
  editor: Target,
  text: string,
  watch: Watch,
): Promise<void> {
  const action = { kind: "set-value", value: text } as const
  // A spin box shows any text, and drops it at Return.
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text))
  if (editor.seen.role === "incrementor" && !isNumber)
    throw notTaken(target, await cancel(ctx, editor, watch))
  const isThere = async (): Promise<true | undefined> => {
    const now = await ctx.adapter.read(editor.seen.handle)
    return now && holds(now, text) ? true : undefined
  }
  try {
    const sent = await sendAction(ctx, editor.seen.handle, action)
    if (sent.delivery === "not_delivered" && !sent.already) {
      if (ENDS_AN_EDIT.test(text)) throw notTaken(target, true)
      await replaceText(ctx, editor, action, text)
    }
    if (await untilChanged(watch, isThere, ctx.deadline.slice(TAKING_MS))) return
  } catch (error) {
    const isUndone = await cancel(ctx, editor, watch)
    if (!(error instanceof AppError)) throw error
    // An editor that stays open, or has lost the focus, may keep the text.
    throw isUndone
      ? ofPreparation(error)
      : withDisposition(error, dispositionOf(action, "delivery_uncertain"))
  }
  throw notTaken(target, await cancel(ctx, editor, watch))
}

/** Characters that end the edit if they are typed: the rest of the text would go elsewhere. */
const ENDS_AN_EDIT = /[\n\r\t]/

/** How long the editor may take to show its text. */
const TAKING_MS = 1500

const holds = (editor: Seen, text: string): boolean =>
  textOf(editor) === text ||
  (editor.role === "incrementor" && text.trim() !== "" && numberIn(textOf(editor)) === Number(text))

/** An editor that loses the focus may keep its text or drop it, so a failure leaves that open. */
async function commit(ctx: Context, editor: Target, action: Action): Promise<void> {
  try {
    await pressIn(ctx, editor, "return", action)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, suggestion, platformDetail, details } = error
    throw new AppError(code, `Return did not end the editor of ${editor.ref}: ${message}`, {
      suggestion: suggestion ?? "See what the cell shows with 'table' before trying anything else",
      platformDetail,
      details,
      disposition: dispositionOf(action, "delivery_uncertain"),
    })
  }
}

async function pressIn(ctx: Context, editor: Target, key: string, action: Action): Promise<void> {
  const prove = () => proveFocus(ctx, editor)
  const combo = { modifiers: [], key }
  const event = {
    kind: "key",
    combo,
    phase: "press",
    target: inputTarget(editor),
    prove,
    settle: true,
  } as const
  await sendInput(ctx, event, action)
}

/** Closes the editor and drops its text. False if it stays open, or had lost the focus: the cell may have the text. */
async function cancel(ctx: Context, editor: Target, watch: Watch): Promise<boolean> {
  const isClosed = async (): Promise<true | undefined> =>
    (await ctx.adapter.read(editor.seen.handle))?.states.includes("focused") ? undefined : true
  try {
    await pressIn(ctx, editor, "escape", CLICK)
    return (await untilChanged(watch, isClosed, ctx.deadline.slice(SHOWING_MS))) === true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** Waits until the cell shows the text. Throws if the app asks about it, or keeps the editor open. */
async function closed(ctx: Context, target: Target, text: string, watch: Watch): Promise<Seen | undefined> {
  let after: Seen | undefined
  const isDone = async (): Promise<true | undefined> => {
    after = await ctx.adapter.read(target.seen.handle)
    if (!after || !isSameText(textOf(after), text)) return undefined
    return (await ctx.adapter.editorOver(target.seen.handle)) ? undefined : true
  }
  if (!(await untilChanged(watch, isDone, ctx.deadline.slice(SHOWING_MS)))) {
    const dialog = await dialogOver(ctx, target)
    if (dialog) throw asksInstead(target, dialog.id)
    if (await ctx.adapter.editorOver(target.seen.handle)) throw stillOpen(target)
  }
  return after
}

/** How long the cell may take to show its text after Return. */
const SHOWING_MS = 2000

/** `hasStirred`: the app has reported a change since the input. A click may also select the cell, as in GTK 3. */
function notEditable({ ref, seen }: Target, hasStirred: boolean): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `${ref} opened no editor: its text cannot be edited in place`, {
    suggestion: `Nothing was written; the cell was ${inputOf(seen)}${hasStirred ? ", and the app reported changes, maybe only of the selection: see them with 'screenshot'" : ""}. If the app edits it by a double click: agent-desktop double-click ${ref}, then type @focused TEXT, then press return`,
    details: { kind: "not_editable" },
    disposition: hasStirred ? { ...NOTHING_DELIVERED, retry: "unknown" } : NOTHING_DELIVERED,
  })
}

function openedInstead({ ref, seen }: Target, id: string): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `${ref} opened window ${id} instead of an editor`, {
    suggestion: `Nothing was written; the cell was ${inputOf(seen)}. See what opened: agent-desktop snapshot -i --window-id ${id}`,
    details: { kind: "not_editable", window_id: id },
    disposition: UNKNOWN,
  })
}

const UNKNOWN: Disposition = { delivery: "delivered_unverified", retry: "unknown" }

const inputOf = ({ editedBy }: Seen): string =>
  editedBy === "F2" ? "clicked and F2 was pressed" : "selected and clicked"

const gone = ({ ref, seen }: Target): AppError =>
  new AppError("ACTION_FAILED", `${ref} is gone, after it was ${inputOf(seen)}`, {
    suggestion: "See what is there now: agent-desktop list-windows",
    details: { kind: "not_there" },
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
  })

function otherEditor({ ref }: Target, { role }: Seen): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", `The editor of ${ref} is ${withArticle(role)}, not a text`, {
    suggestion: `Nothing was written. Open it and choose: agent-desktop double-click ${ref}, then press the keys that choose, then press return`,
    details: { kind: "not_editable", editor: role },
    disposition: NOTHING_DELIVERED,
  })
}

function otherText({ ref }: Target): AppError {
  return new AppError("ACTION_FAILED", `The editor of ${ref} shows another text than the cell`, {
    suggestion:
      "Nothing was written. See the rows with 'screenshot': the app may have sorted them, or show the text in another format. To edit it anyway: 'double-click' it, then type @focused TEXT, then press return",
    details: { kind: "not_there" },
    disposition: NOTHING_DELIVERED,
  })
}

function notTaken({ ref }: Target, isUndone: boolean): AppError {
  return new AppError("ACTION_FAILED", `The editor of ${ref} does not take this text`, {
    suggestion: isUndone
      ? "Nothing was written. It may take numbers, one line, or a limited length only"
      : "It may take numbers, one line, or a limited length only; see what the cell shows with 'table'",
    details: { kind: "not_taken" },
    disposition: isUndone ? NOTHING_DELIVERED : { delivery: "delivery_uncertain", retry: "safe" },
  })
}

function stillOpen({ ref }: Target): AppError {
  return new AppError(
    "ACTION_FAILED",
    `The editor of ${ref} is still open: the app did not accept its text`,
    {
      suggestion:
        "See it with 'screenshot', then correct it with 'type @focused', or close it with 'press escape'",
      details: { kind: "still_open" },
      disposition: dispositionOf({ kind: "set-value", value: "" }, "delivered_unverified"),
    },
  )
}

/** The editor has its old text, or has lost the focus. */
function notClosed({ ref }: Target): AppError {
  return new AppError("ACTION_FAILED", `The editor of ${ref} did not close with Escape`, {
    suggestion: "Nothing was written. See it with 'screenshot', and close it with 'press escape'",
    details: { kind: "still_open" },
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
  })
}
