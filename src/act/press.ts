import type { Combo } from "../action.ts"
import type { InputEvent, Seen, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { isGlobal } from "../keys.ts"
import type { ActionChanges } from "../look/fit-changes.ts"
import { chooseWindow, operate, type WindowChoice } from "../look/windows.ts"
import { hasTrait } from "../node.ts"
import { resolve, windowOf } from "../refs/resolve.ts"
import { until, untilChanged } from "../until.ts"
import type { Watch } from "../watch.ts"
import { proveFocus, takeFocus } from "./keyboard.ts"
import { inputTarget, ofPreparation } from "./pointer.ts"
import { type ActedOn, actedOn, hasOpened } from "./result.ts"

export interface PressChoice extends WindowChoice {
  /** The element that gets the keys. */
  readonly to?: string
}

export interface Pressed {
  readonly action: "press"
  readonly ref_id?: string
  /** The window that had the focus when the keys went out; absent if it is not a listed one. */
  readonly window?: Pick<SeenWindow, "id" | "title" | "app_name">
  /** The focused element in it, if its app reports one. */
  readonly element?: ActedOn
  /** True if the focus is back in the window that had it before. */
  readonly focus_returned?: boolean
  readonly disposition: Disposition
  /** A reason why the keys may have had no effect. */
  readonly doubt?: string
}

/** Presses combos in order: in an element, in a window, or in the window that has the focus. */
export async function pressKeys(
  ctx: Context,
  choice: PressChoice,
  combos: readonly Combo[],
): Promise<Pressed> {
  // From here on no other command of ours moves the focus.
  await ctx.adapter.takeTurn()
  const press: Press = { combos }
  if (choice.to !== undefined) return pressInElement(ctx, choice.to, press)
  if (choice.app === undefined && choice.window_id === undefined) return pressAnywhere(ctx, press)
  const window = await chooseWindow(ctx.adapter, choice, { orApp: true })
  return window.is_focused ? pressInWindow(ctx, window, press) : borrowFocus(ctx, window, press)
}

/** A window or menu that the app opened, or the end of the window that got the keys, proves that they had an effect. */
export function provenKeys<T extends Pressed & { readonly changes?: ActionChanges }>(result: T): T {
  const { changes, window, doubt } = result
  if (!changes || changes.settled === false || doubt) return result
  const hasClosed = changes.closed?.some((one) => "id" in one && one.id === window?.id)
  if (!hasClosed && !hasOpened(changes)) return result
  return { ...result, disposition: { ...result.disposition, delivery: "delivered_verified" } }
}

/** Types text into the focused window, whichever element has the focus. */
export async function typeIntoWindow(ctx: Context, choice: WindowChoice, text: string): Promise<TypedThere> {
  await ctx.adapter.takeTurn()
  const window = await chooseWindow(ctx.adapter, choice, { orApp: true })
  if (!window.is_focused) throw notInFront(window)
  await send(ctx, { kind: "text", text, window }, window.pid, undefined, window)
  return { ...pressed(window), action: "type", method: "keyboard" }
}

interface TypedThere extends Omit<Pressed, "action"> {
  readonly action: "type"
  readonly method: "keyboard"
}

const notInFront = ({ id }: SeenWindow): AppError =>
  new AppError("ACTION_FAILED", `Window '${id}' shows no element that has the focus, and is not in front`, {
    suggestion: `Bring it to the front, then retry: agent-desktop focus-window ${id}`,
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })

type KeyEvent = Extract<InputEvent, { kind: "key" }>
type TextEvent = Extract<InputEvent, { kind: "text" }>

/** Combos, and how each of them is sent. */
interface Press extends Omit<KeyEvent, "kind" | "combo" | "phase"> {
  readonly combos: readonly Combo[]
}

/** Gives the element the focus, and proves that it has it when the keys go out. */
async function pressInElement(ctx: Context, to: string, press: Press): Promise<Pressed> {
  const target = await resolve(ctx, { ref_id: to })
  if (target.seen.states.includes("disabled")) throw disabled(target.ref)
  await beforeKeys(takeFocus(ctx, target, { kind: "focus" }))
  const window = await beforeKeys(windowOf(ctx.adapter, target.entry))
  const prove = () => proveFocus(ctx, target)
  const unsure = await beforeKeys(ctx.adapter.doubt(target.seen.handle, true))
  const doubt = (window && (await untilEnterWorks(ctx, window, target.seen, press))) ?? unsure?.reason
  await send(ctx, { ...press, target: inputTarget(target), prove }, target.entry.pid, target.seen)
  return pressed(window, target.seen, { ref_id: target.ref, doubt })
}

/** The focus may have moved, but no key was sent. */
async function beforeKeys<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? ofPreparation(error) : error
  }
}

function disabled(ref: string): AppError {
  return new AppError("ACTION_FAILED", `${ref} is disabled and cannot get keys`, {
    suggestion: `Wait for it: agent-desktop wait --element ${ref} --predicate actionable`,
    details: { kind: "not_actionable", reason: "disabled" },
    disposition: NOTHING_DELIVERED,
  })
}

/** Keys without a target. The result says where they went. */
async function pressAnywhere(ctx: Context, press: Press): Promise<Pressed> {
  const window = (await ctx.adapter.windows("focused")).find(({ is_focused }) => is_focused)
  if (!window) {
    await pressInOrder(ctx, press)
    return pressed(undefined, undefined, { doubt: NO_WINDOW })
  }
  const element = await ctx.adapter.focused(window)
  const doubt = await untilEnterWorks(ctx, window, element, press)
  // Only the first combo is checked: later ones go to the window that it may have opened.
  let isInWindow: boolean | undefined
  const asSent: KeyEvent["asSent"] = (isIn) => {
    isInWindow ??= isIn
  }
  await send(ctx, { ...press, window, asSent }, window.pid, element, window)
  return isInWindow
    ? pressed(window, element, { doubt })
    : pressed(undefined, undefined, { doubt: NO_WINDOW })
}

const NO_WINDOW =
  "No listed window had the focus: only a desktop shortcut or an unlisted window can have received the keys"

/** `raised`: for a window that has just come to the front. */
async function pressInWindow(
  ctx: Context,
  window: SeenWindow,
  press: Press,
  raised?: Watch,
): Promise<Pressed> {
  const focused = await ctx.adapter.focused(window)
  const element = raised && focused ? await insidePage(ctx, window, focused, raised) : focused
  const doubt = await untilEnterWorks(ctx, window, element, press)
  await send(ctx, { ...press, window }, window.pid, element, window)
  return pressed(window, element, { doubt })
}

/**
 * The focused element once a page that has just come to the front has reported it. Until then the page itself has the
 * focus, as in a page without a focused element.
 */
async function insidePage(
  ctx: Context,
  window: SeenWindow,
  focused: Seen,
  watch: Watch,
): Promise<Seen | undefined> {
  if (focused.role !== "webarea" || !focused.tellsLate) return focused
  const inside = async (): Promise<Seen | undefined> => {
    const now = await ctx.adapter.focused(window)
    return now?.role === "webarea" ? undefined : now
  }
  return (await untilChanged(watch, inside, ctx.deadline.slice(focused.tellsLate))) ?? focused
}

/**
 * Waits while Enter in a dialog's field would press a button that is still disabled. GTK 3's file dialog enables its
 * button half a second after the name was set, and ignores Enter until then. Returns a warning if the button stays
 * disabled.
 */
async function untilEnterWorks(
  ctx: Context,
  window: SeenWindow,
  element: Seen | undefined,
  { combos: [combo] }: Press,
): Promise<string | undefined> {
  const isEnter = combo?.key === "return" && combo.modifiers.length === 0
  const isLine = element && hasTrait(element.role, "typable") && !element.states.includes("multiline")
  if (!isEnter || !isLine || element.tellsLate) return undefined
  const works = async () => !(await beforeKeys(ctx.adapter.isEnterBlocked(window))) || undefined
  if (await works()) return undefined
  const deadline = ctx.deadline.slice(ENABLED_MS)
  return (await beforeKeys(until(ctx, works, { pids: [window.pid], deadline })))
    ? undefined
    : DISABLED_DEFAULT
}

/** How long an app may take to enable the default button after a change of its text. */
const ENABLED_MS = 1000
const DISABLED_DEFAULT = "The default button of the dialog is disabled, so Enter may have done nothing"

/**
 * Sends the keys. Listens to a browser until it is quiet: Chromium may crash if the last accessibility client leaves
 * while keys arrive. An app with an unknown focus may be a browser.
 */
async function send(
  ctx: Context,
  press: Press | TextEvent,
  pid: number,
  element: Seen | undefined,
  window?: SeenWindow,
): Promise<void> {
  const isBrowser = element ? element.tellsLate : window?.accessible !== false
  const input = (): Promise<void> => ("combos" in press ? pressInOrder(ctx, press) : ctx.adapter.input(press))
  if (!isBrowser) return input()
  const watch = await beforeKeys(ctx.adapter.watch([pid]))
  try {
    await input()
    await untilQuiet(ctx, watch)
  } finally {
    await watch.close()
  }
}

/**
 * Sends the combos in order, each once the app has handled the one before: it may have opened a dialog, which gets the
 * next one. Only the first is proved to reach its element, since it may move the focus. None goes to another app: if a
 * combo closes its window, the next one must not reach the window behind it.
 */
async function pressInOrder(ctx: Context, { combos, prove, settle, asSent, ...press }: Press): Promise<void> {
  for (const [i, combo] of combos.entries()) {
    const mayLeave = i === 0 || combos.slice(0, i).some(changesWindow)
    const isLast = i === combos.length - 1
    const event: KeyEvent = {
      kind: "key",
      combo,
      phase: "press",
      ...press,
      prove: i === 0 ? prove : undefined,
      asSent:
        asSent &&
        ((isInWindow, isOtherApp) => {
          if (isOtherApp && !mayLeave) throw inAnotherApp()
          asSent(isInWindow, isOtherApp)
        }),
      settle: settle || !isLast,
    }
    await ctx.adapter.input(event).catch((error: unknown) => {
      throw i === 0 ? error : afterSome(error, i, combos.length)
    })
  }
}

/** True for a desktop combo that may be meant to reach another app, such as Alt+Tab. Alt+F4 only closes. */
const changesWindow = (combo: Combo): boolean => isGlobal(combo) && combo.key !== "f4"

const inAnotherApp = (): AppError =>
  new AppError("ACTION_FAILED", "The keyboard focus is in another app now", {
    suggestion: "See which window has it ('list-windows'), then press the rest there with --window-id",
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })

/** The error for a later key: the earlier keys were sent. */
function afterSome(error: unknown, sent: number, all: number): unknown {
  if (!(error instanceof AppError)) return error
  const { code, message, suggestion, platformDetail, details } = error
  return new AppError(code, `${message}, after ${sent} of ${all} combinations`, {
    suggestion,
    platformDetail,
    details: { ...details, pressed: sent },
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })
}

/** Brings the window to the front for the keys. Afterwards the previous window gets the focus back. */
async function borrowFocus(ctx: Context, window: SeenWindow, press: Press): Promise<Pressed> {
  const before = (await ctx.adapter.windows("focused")).find(({ is_focused }) => is_focused)
  await beforeKeys(operate(ctx, { window_id: window.id }, { kind: "focus" }))
  const watch = await beforeKeys(ctx.adapter.watch([window.pid]))
  try {
    const result = await pressInWindow(ctx, window, { ...press, settle: true }, watch)
    if (!before) return result
    return { ...result, focus_returned: await giveBack(ctx, window, before, watch) }
  } catch (error) {
    const isUnsent = error instanceof AppError && error.disposition?.delivery === "not_delivered"
    if (before && isUnsent) await giveBack(ctx, window, before)
    throw error
  } finally {
    await watch.close()
  }
}

/**
 * Returns the focus, unless the keys have moved it: to a dialog that they opened, or elsewhere because they closed the
 * window. The app gets time to do so first. The keys were sent in any case, so a failure is only reported.
 */
async function giveBack(
  ctx: Context,
  window: SeenWindow,
  before: SeenWindow,
  watch?: Watch,
): Promise<boolean> {
  try {
    if (watch) await untilQuiet(ctx, watch)
    const now = await ctx.adapter.windows(window.id)
    if (!isFocused(now, window)) return isFocused(await ctx.adapter.windows(), before)
    return (await ctx.adapter.window(before.id, { kind: "focus" })).is_focused
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

const isFocused = (windows: readonly SeenWindow[], { id }: SeenWindow): boolean =>
  windows.some((one) => one.id === id && one.is_focused)

async function untilQuiet(ctx: Context, watch: Watch): Promise<void> {
  const limit = ctx.deadline.slice(RESTLESS_MS)
  while (!limit.expired && (await watch.changed(Math.min(QUIET_MS, limit.remaining))));
}

/** An app has finished reacting to keys if it reports nothing for this long. The wait for that is limited, too. */
const QUIET_MS = 100
const RESTLESS_MS = 1000

/** An app that does not answer gets the keys when it resumes. */
const unanswered = ({ accessible, reason }: SeenWindow): string | undefined =>
  reason && accessible !== false ? `The keys were sent, but ${reason}` : undefined

function pressed(
  window?: SeenWindow,
  element?: Seen,
  { ref_id, doubt = window && unanswered(window) }: Pick<Pressed, "ref_id" | "doubt"> = {},
): Pressed {
  return {
    action: "press",
    ...(ref_id ? { ref_id } : {}),
    ...(window ? { window: { id: window.id, title: window.title, app_name: window.app_name } } : {}),
    ...(element ? { element: actedOn(element) } : {}),
    disposition: { delivery: "delivered_unverified", retry: "unsafe" },
    ...(doubt ? { doubt } : {}),
  }
}
