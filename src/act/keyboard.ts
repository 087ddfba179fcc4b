import type { Action, Combo, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { hasTrait, type Role } from "../node.ts"
import { readSame, type Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { sendAction, sendInput } from "./deliver.ts"
import { notSupported } from "./expect.ts"
import { BEFORE_ACTING, bringToFront, clickElement, inputTarget } from "./pointer.ts"

/** How long the keyboard focus may take to arrive. */
const FOCUS_MS = 1500

export const TYPED: Performed = { method: "keyboard", delivery: "delivered_unverified" }

/**
 * True if a click only places the caret, and so is a safe way to focus it. That is also true in office documents and
 * editable pages, where keys do not always write text.
 */
export const placesCaret = ({ role }: Seen): boolean =>
  (hasTrait(role, "typable") && !isPairOfArrows(role)) || role === "document"

/** A macOS stepper has no text: a click would press one of its arrows. */
const isPairOfArrows = (role: Role): boolean => role === "incrementor" && process.platform === "darwin"

export async function typeText(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Performed> {
  const isMoved = await takeFocus(ctx, target, action)
  if (target.seen.isTypedOver)
    await (await import("./covered.ts")).refuseCovered(ctx, target, action, isMoved)
  // Tab and Enter would move among the selected cells only. No cell is being edited: the focus has just moved.
  if (isMoved && target.seen.isTypedOver) await selectOnly(ctx, target, action)
  // Some fields select their whole text when they get the focus, and typed text would replace it. In a row, End goes to
  // another row.
  if (isMoved && target.seen.value && !hasTrait(target.seen.role, "item"))
    await pressKey(ctx, target, toEnd(target), action)
  await sendText(ctx, target, action, text)
  return TYPED
}

/**
 * Deselects all cells of a sheet but the current one: a new focus does not change the selection. LibreOffice runs a
 * shortcut later than the keys that follow it at once, so this waits until the app is at rest.
 */
export async function selectOnly(ctx: Context, target: Target, action: Action): Promise<void> {
  const combo = { modifiers: ["shift"], key: "backspace" } as const
  const event = { kind: "key", combo, phase: "press", settle: true, target: inputTarget(target) } as const
  await sendInput(ctx, event, action)
}

export async function replaceText(
  ctx: Context,
  target: Target,
  action: Action,
  text: string,
): Promise<Performed> {
  const { ref, seen } = target
  if (!REPLACEABLE.has(seen.role)) throw notSupported(ref, seen, action)
  await takeFocus(ctx, target, action)
  await pressKey(ctx, target, selectAll(), action)
  if (text === "") await pressKey(ctx, target, { modifiers: [], key: "backspace" }, action)
  else await sendText(ctx, target, action, text)
  return TYPED
}

/** Roles whose whole text can be selected and typed over. */
const REPLACEABLE: ReadonlySet<Role> = new Set(["textfield", "combobox", "incrementor"])

/** Opens or closes an item with the arrow keys, once it has the focus. */
export async function discloseByKey(ctx: Context, target: Target, action: Action): Promise<Performed> {
  await takeFocus(ctx, target, action)
  await pressKey(ctx, target, { modifiers: [], key: action.kind === "expand" ? "right" : "left" }, action)
  return TYPED
}

/** Presses keys in the window of the element; fails with nothing delivered if another window has the focus. */
export async function pressKey(ctx: Context, target: Target, combo: Combo, action: Action): Promise<void> {
  await sendInput(ctx, { kind: "key", combo, phase: "press", target: inputTarget(target) }, action)
}

export async function sendText(ctx: Context, target: Target, action: Action, text: string): Promise<void> {
  const prove = () => proveFocus(ctx, target)
  const event = { kind: "text", text, secret: isSecret(target), target: inputTarget(target), prove } as const
  await sendInput(ctx, event, action)
}

/** Throws if the element does not have the focus any more. */
export async function proveFocus(ctx: Context, target: Target): Promise<void> {
  if (!(await isFocused(ctx, target))) throw notFocused(target, "it lost the keyboard focus")
}

const isFocused = async (ctx: Context, target: Target): Promise<boolean> =>
  (await readSame(ctx.adapter, target, BEFORE_ACTING)).states.includes("focused")

/**
 * Gives the element the keyboard focus, in the front window: keys must not reach another window by accident. Throws if
 * that fails, with nothing delivered. Returns true if the focus had to be moved.
 */
export async function takeFocus(ctx: Context, target: Target, action: Action): Promise<boolean> {
  const { ref, seen } = target
  await frontWindow(ctx, target)
  // If the row shows another row's text, the wrong one would be selected.
  await ctx.adapter.doubt(seen.handle, false)
  if (await isFocused(ctx, target)) return false
  const asked = await sendAction(ctx, seen.handle, FOCUS)
  if (asked.delivery === "not_delivered") {
    if (!placesCaret(seen)) throw notSupported(ref, seen, action)
    await clickElement(ctx, target, FOCUS)
  }
  if (!(await whenFocused(ctx, target))) throw notFocused(target, "it did not take the keyboard focus")
  return true
}

/** Brings the window of the element to the front. Throws if it does not get there. */
export async function frontWindow(ctx: Context, target: Target): Promise<void> {
  const window = await bringToFront(ctx, target)
  if (window && !window.is_focused) throw notFocused(target, `its window ${window.id} is not in front`)
}

const whenFocused = (ctx: Context, target: Target): Promise<true | undefined> =>
  until(ctx, async () => (await isFocused(ctx, target)) || undefined, {
    pids: [target.entry.pid],
    deadline: ctx.deadline.slice(FOCUS_MS),
  })

/** Clicks into a field of the front window, and puts the caret at the end of its text. */
export async function focusByPointer(ctx: Context, target: Target): Promise<void> {
  await clickElement(ctx, target, FOCUS)
  if (!(await whenFocused(ctx, target))) return
  await pressKey(ctx, target, toEnd(target), FOCUS)
}

const FOCUS = { kind: "focus" } as const

function notFocused({ ref }: Target, why: string): AppError {
  return new AppError("ACTION_FAILED", `${ref} cannot get keys: ${why}`, {
    suggestion: `Click it first: agent-desktop click ${ref} --input physical`,
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })
}

/** Text for a secure field is secret, even if the caller did not say so. */
const isSecret = ({ seen }: Target): boolean => seen.states.includes("secure")

function toEnd({ seen }: Target): Combo {
  const isLong = seen.states.includes("multiline")
  if (process.platform === "darwin") return { modifiers: ["cmd"], key: isLong ? "down" : "right" }
  return { modifiers: isLong ? ["ctrl"] : [], key: "end" }
}

const selectAll = (): Combo => ({
  modifiers: [process.platform === "darwin" ? "cmd" : "ctrl"],
  key: "a",
})
