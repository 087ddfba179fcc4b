import type { InputEvent, Proof } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { caseOf, isCased, keysymOf, SHIFT_KEYSYM } from "../windowing/keysyms.ts"
import type { X11 } from "./connection.ts"
import { findKeyTarget, focusElsewhere, isFocused, type KeyTarget, sendKeys } from "./key-target.ts"
import { type Keyboard, readDownKeys, readKeyboard, restoreGroup, switchGroup } from "./keyboard.ts"
import { findKey, groupCount, type Keymap, type Position, positionsOf, readKeyboardState } from "./keymap.ts"
import type { Owner } from "./last-look.ts"
import { getInputFocus } from "./requests.ts"
import {
  bindSpareKeys,
  capacityOf,
  freeSpareKeys,
  noSpareKeys,
  planSpareKeys,
  readSpareKeys,
  type SpareKeys,
  withoutSpareKeys,
} from "./spare-keys.ts"
import { hasRead } from "./wait-for-reader.ts"
import { openXtest, type Xtest } from "./xtest.ts"

/**
 * Types the text exactly into the window of the owner, which must have the keyboard focus: in any layout, with Caps Lock
 * on or off. Before every portion and after the last one, it checks that the window still has the focus; for a secret,
 * also that the field has it. Without an owner, the window is the one that has the focus now. Characters without a key
 * get spare keys, a few at a time. After a secret the spare keys are cleared, and no error reveals its length.
 */
export async function typeText(
  x: X11,
  { text, secret = false, prove }: Extract<InputEvent, { kind: "text" }>,
  deadline: Deadline,
  owner?: Owner,
): Promise<void> {
  const chars = splitText(text, secret)
  if (chars.length === 0) return
  const xtest = await openXtest(x, deadline)
  const target = await findKeyTarget(x, owner, deadline, secret)
  const [focus, keyboard] = await Promise.all([getInputFocus(x, deadline), readKeyboard(x, deadline)])
  await xtest.during(async () => {
    await freeModifiers(x, xtest, keyboard, deadline)
    const typist = { x, xtest, keyboard, focus, target, prove, deadline, total: chars.length, secret }
    await typeRuns(typist, chars)
    await checkEnd(typist, chars)
  })
}

/** The characters to type. Line breaks and tabs are keys; other control characters cannot be typed. */
function splitText(text: string, secret: boolean): string[] {
  const chars = [...text.replace(/\r\n?/g, "\n")]
  const bad = chars.find((char) => /[\p{Cc}\p{Cs}]/u.test(char) && char !== "\n" && char !== "\t")
  if (bad === undefined) return chars
  const code = (bad.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
  const what = secret ? "a character" : `U+${code}`
  throw new AppError("INVALID_ARGS", `The text contains ${what}, which no keyboard can type`, {
    suggestion: "Leave it out; 'press' sends single keys such as escape or delete",
    disposition: NOTHING_DELIVERED,
  })
}

interface Typist {
  readonly x: X11
  readonly xtest: Xtest
  readonly keyboard: Keyboard
  /** The window inside the target that has the focus. */
  readonly focus: number
  readonly target: KeyTarget
  readonly prove?: Proof
  readonly deadline: Deadline
  readonly total: number
  readonly secret: boolean
}

async function typeRuns(typist: Typist, chars: readonly string[]): Promise<void> {
  const { x, keyboard, deadline, secret } = typist
  const lent = { keymap: keyboard.keymap, spare: await readSpareKeys(x, keyboard.keymap, deadline) }
  try {
    await typeLending(typist, chars, lent)
  } finally {
    if (secret && lent.spare.bound.size > 0)
      await freeSpareKeys(x, keyboard.xkb, lent.keymap, lent.spare, deadline)
  }
}

/** The current meaning of the keys. */
interface Lent {
  keymap: Keymap
  spare: SpareKeys
}

async function typeLending(typist: Typist, chars: readonly string[], lent: Lent): Promise<void> {
  const { x, keyboard, deadline } = typist
  // Spare keys may be reassigned, so only the layout itself is reliable.
  const own = layoutsOf(keyboard, withoutSpareKeys(lent.keymap, lent.spare))
  const isThere = (char: string) => own.some((layout) => layout.has(char))
  const needsSpare = chars.some((char) => !isThere(char))
  let done = 0
  while (done < chars.length) {
    const run = takeRun(chars.slice(done), isThere, capacityOf(lent.spare))
    const plan = planSpareKeys(lent.spare, pairsOf(run.missing, lent.spare))
    if (plan.overwrites) await waitForReader(typist, done)
    lent.keymap = await bindSpareKeys(x, keyboard.xkb, lent.keymap, plan, deadline)
    lent.spare = plan.next
    if (plan.changes.size > 0) {
      // A client that is reading a new keymap has an uncertain keyboard state, so no keys are sent meanwhile.
      await waitForReader(typist, done)
      remindOfLocks(typist)
    }
    const layouts = needsSpare ? layoutsOf(keyboard, lent.keymap) : own
    if (!run.chars.every((char) => layouts.some((layout) => layout.has(char)))) throw noSpareKeys()
    await typeRun(typist, run.chars, layouts, done)
    done += run.chars.length
  }
  // The client must have read the keys before the spare keys change again.
  if (needsSpare) await waitForReader(typist, done)
}

/** The characters of each group, the current one first. */
function layoutsOf({ state }: Keyboard, keymap: Keymap): ReadonlyMap<string, Position>[] {
  const groups = Array.from({ length: groupCount(keymap) }, (_, group) => group)
  return [state.group, ...groups.filter((group) => group !== state.group)].map((group) =>
    positionsOf(keymap, group, state.locked),
  )
}

/** The longest part of the text for which the spare keys suffice. */
function takeRun(
  chars: readonly string[],
  isThere: (char: string) => boolean,
  room: number,
): { readonly chars: readonly string[]; readonly missing: readonly string[] } {
  const missing = new Set<string>()
  for (const [i, char] of chars.entries()) {
    if (isThere(char) || missing.has(char)) continue
    if (missing.size === room) {
      if (i === 0) throw noSpareKeys()
      return { chars: chars.slice(0, i), missing: [...missing] }
    }
    missing.add(char)
  }
  return { chars, missing: [...missing] }
}

/** Two characters per key. Existing bindings stay as long as there is room. */
function pairsOf(missing: readonly string[], spare: SpareKeys): (readonly [number, number])[] {
  const isKept = (pair: readonly number[]) => missing.some((char) => pair.includes(keysymOf(char)))
  const kept = [...spare.bound.values()].filter(isKept)
  const rest = missing.filter((char) => !kept.some((pair) => pair.includes(keysymOf(char))))
  const pairs = [...kept, ...pairUp(rest)]
  return pairs.length <= spare.keycodes.length ? pairs : pairUp(missing)
}

function pairUp(chars: readonly string[]): (readonly [number, number])[] {
  return Array.from({ length: Math.ceil(chars.length / 2) }, (_, i) => {
    const first = chars[i * 2] ?? " "
    const [low, high] = chars.length > i * 2 + 1 ? [first, chars[i * 2 + 1] ?? " "] : caseOf(first)
    // With Caps Lock, GTK capitalises a letter that is on both levels of a key.
    return [keysymOf(low), keysymOf(low === high && isCased(low) ? " " : high)] as const
  })
}

async function typeRun(
  typist: Typist,
  chars: readonly string[],
  layouts: readonly ReadonlyMap<string, Position>[],
  before: number,
): Promise<void> {
  const { x, xtest, keyboard, target, deadline, secret, total } = typist
  let down: readonly number[] = []
  let group = keyboard.state.group
  // A password goes letter by letter. A long secret, such as a key, has to be typed in time as well.
  const portion = secret ? Math.ceil(total / MOST_PROOFS) : PORTION
  const shift = (shifters: readonly number[]) => {
    for (const key of down) if (!shifters.includes(key)) xtest.keyUp(key)
    for (const key of shifters) if (!down.includes(key)) xtest.keyDown(key)
    down = shifters
  }
  const press = (char: string) => {
    // Staying in a layout is cheaper than returning to the user's for every space.
    const candidates = layouts.flatMap((layout) => layout.get(char) ?? [])
    const position = candidates.find((one) => one.group === group) ?? candidates[0]
    if (!position) return
    if (position.group !== group) {
      shift([])
      group = position.group
      switchGroup(xtest, keyboard, group)
    }
    shift(position.shifters)
    xtest.keyDown(position.keycode)
    xtest.keyUp(position.keycode)
  }
  for (let at = 0; at < chars.length; at += portion) {
    if (before + at === 0) await typist.prove?.()
    else if (secret) await proveStill(typist, before + at)
    const part = chars.slice(at, at + portion)
    await sendKeys(
      x,
      target,
      deadline,
      () => part.forEach(press),
      () => lostFocus(typist, before + at),
    )
    await x.sync(deadline)
  }
  shift([])
  if (group !== keyboard.state.group) restoreGroup(xtest, keyboard)
  await x.sync(deadline)
}

/** A window that has taken the focus may have received the end of the text. */
async function checkEnd(typist: Typist, chars: readonly string[]): Promise<void> {
  const { x, target, secret, deadline } = typist
  // Enter may close the window or open the next one, and Tab moves to the next field.
  const movesOn = chars.some((char) => char === "\n" || char === "\t")
  if (movesOn && !secret) return
  if (!(await isFocused(x, target, deadline))) throw lostFocus(typist, chars.length)
  if (secret && !movesOn) await proveStill(typist, chars.length)
}

/**
 * Throws if the field has lost the focus after the app has read the typed text: the app may move to another field of
 * the same window, which would show the rest.
 */
async function proveStill(typist: Typist, typed: number): Promise<void> {
  const { prove } = typist
  if (!prove) return
  await waitForReader(typist, typed)
  await prove().catch((error: unknown) => {
    throw error instanceof AppError ? lostFocus(typist, typed) : error
  })
}

/** The rest of the text must not go to another window that took the focus. */
function lostFocus(typist: Typist, typed: number): AppError {
  if (typed === 0) return focusElsewhere()
  return new AppError("ACTION_FAILED", `The keyboard focus moved away${progress(typist, typed, " after ")}`, {
    suggestion: "Run 'snapshot' to see where the text ended",
    details: { kind: "focus_lost", ...(typist.secret ? {} : { typed }) },
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })
}

async function waitForReader(typist: Typist, typed: number): Promise<void> {
  const { x, focus, deadline } = typist
  if (await hasRead(x, focus, deadline)) return
  throw new AppError(
    "APP_UNRESPONSIVE",
    `The application has not read the typed text${progress(typist, typed, ", ")}`,
    {
      suggestion:
        "Wait until it answers again, then check its text before you type more: agent-desktop snapshot -i",
      ...(typist.secret ? {} : { details: { typed } }),
      disposition: typed === 0 ? NOTHING_DELIVERED : { delivery: "delivery_uncertain", retry: "unsafe" },
    },
  )
}

const progress = ({ secret, total }: Typist, typed: number, before: string): string =>
  secret ? "" : `${before}${typed} of ${total} characters`

// After a new keymap, Qt 5 forgets Caps Lock and the layout until the next change of state, so Shift is tapped.
function remindOfLocks({ xtest, keyboard: { keymap, state } }: Typist): void {
  const shift = findKey(keymap, SHIFT_KEYSYM, state.group)
  if (shift === undefined || (state.locked === 0 && state.lockedGroup === 0)) return
  xtest.keyDown(shift)
  xtest.keyUp(shift)
}

/** Releases modifiers that an earlier command holds until the text is typed. Keys held by a person stay down. */
async function freeModifiers(x: X11, xtest: Xtest, keyboard: Keyboard, deadline: Deadline): Promise<void> {
  if (keyboard.state.held === 0) return
  const down = await readDownKeys(x, deadline)
  const holding = [...down].filter(
    (key) => ((keyboard.keymap.modifiers.get(key) ?? 0) & keyboard.state.held) !== 0,
  )
  xtest.liftKeys(holding)
  const { held } = await readKeyboardState(x, keyboard.xkb, deadline)
  if (held === 0) return
  throw new AppError("ACTION_FAILED", "A modifier key is held down on the keyboard", {
    suggestion: "Release it; if a command holds it: agent-desktop key-up shift (or ctrl, alt, cmd)",
    disposition: NOTHING_DELIVERED,
  })
}

/** Characters between two looks at the focus. A look at the window costs a fraction of a millisecond. */
const PORTION = 200
/** How often a secret asks its app if the field still has the focus, which costs some milliseconds. */
const MOST_PROOFS = 64
