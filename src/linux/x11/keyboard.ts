import type { Combo, Modifier } from "../../action.ts"
import type { InputEvent } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { comboText, isNamedKey } from "../../keys.ts"
import { caseOf, keysymOf, keysymOfNamed } from "../windowing/keysyms.ts"
import type { X11 } from "./connection.ts"
import { findKeyTarget, focusElsewhere, hasKeys, sendKeys } from "./key-target.ts"
import {
  findKey,
  groupCount,
  type KeyboardState,
  type Keymap,
  LOCK,
  lockGroup,
  openXkb,
  positionsOf,
  readKeyboardState,
  readKeymap,
} from "./keymap.ts"
import { atomically, focusedPid, type Owner } from "./last-look.ts"
import { getInputFocus, unlessGone } from "./requests.ts"
import { bindSpareKeys, planSpareKeys, readSpareKeys } from "./spare-keys.ts"
import { caughtUp, settled } from "./wait-for-reader.ts"
import { Request } from "./wire.ts"
import { openXtest, type Xtest } from "./xtest.ts"

/**
 * Presses a combo, or holds it down until a later command releases it. With an owner, the keys go to its window, or
 * nothing is sent; without, or with `asSent`, to the window that has the focus.
 */
export async function pressKeys(x: X11, event: KeyEvent, deadline: Deadline, owner?: Owner): Promise<void> {
  const xtest = await openXtest(x, deadline)
  const keyboard = await readKeyboard(x, deadline)
  const strokes = await findStrokes(x, keyboard, event.combo, deadline)
  const send = () => {
    if (strokes.group !== keyboard.state.group) switchGroup(xtest, keyboard, strokes.group)
    if (event.phase !== "up") for (const keycode of strokes.keycodes) xtest.keyDown(keycode)
    if (event.phase !== "down") for (const keycode of strokes.keycodes.toReversed()) xtest.keyUp(keycode)
    if (strokes.group !== keyboard.state.group) restoreGroup(xtest, keyboard)
  }
  await xtest.during(async () => {
    await sendTo(x, event, deadline, owner, send)
    const down = await readDownKeys(x, deadline)
    if (event.phase === "down") {
      if (!strokes.keycodes.every((keycode) => down.has(keycode))) throw notPressed(event.combo)
      xtest.keep()
    }
  })
}

async function sendTo(
  x: X11,
  { asSent, prove, settle }: KeyEvent,
  deadline: Deadline,
  owner: Owner | undefined,
  send: () => void,
): Promise<void> {
  const window = settle ? await getInputFocus(x, deadline) : undefined
  if (!owner) send()
  else if (asSent)
    await atomically(x, async () => {
      const [isIn, pid] = await Promise.all([hasKeys(x, owner, deadline), focusedPid(x, deadline)])
      asSent(isIn, pid !== undefined && pid !== owner.pid)
      send()
    })
  else {
    const target = await findKeyTarget(x, owner, deadline)
    await prove?.()
    await sendKeys(x, target, deadline, send, focusElsewhere)
  }
  // A client that has ended counts as having handled them.
  if (window !== undefined) await unlessGone(settled(x, window, deadline.slice(SETTLE_MS)))
}

type KeyEvent = Extract<InputEvent, { kind: "key" }>

export interface Keyboard {
  readonly xkb: number
  readonly keymap: Keymap
  readonly state: KeyboardState
}

export async function readKeyboard(x: X11, deadline: Deadline): Promise<Keyboard> {
  const xkb = await openXkb(x, deadline)
  const [keymap, state] = await Promise.all([
    readKeymap(x, xkb, deadline),
    readKeyboardState(x, xkb, deadline),
  ])
  return { xkb, keymap, state }
}

/** Every key that is down, whether we pressed it or not. */
export async function readDownKeys(x: X11, deadline: Deadline): Promise<Set<number>> {
  const bits = (await x.ask(new Request(QUERY_KEYMAP), deadline)).bytes(8, 32)
  return new Set(
    Array.from({ length: 256 }, (_, key) => key).filter((key) => bits[key >> 3]! & (1 << (key & 7))),
  )
}

/** Switches the layout for the following keys. It is restored when the operation ends, or earlier. */
export function switchGroup(xtest: Xtest, { xkb, state }: Keyboard, group: number): void {
  xtest.hold("layout", [lockGroup(xkb, group)], [lockGroup(xkb, state.lockedGroup)])
}

export function restoreGroup(xtest: Xtest, { xkb, state }: Keyboard): void {
  xtest.drop("layout", [lockGroup(xkb, state.lockedGroup)])
}

interface Strokes {
  /** The keys of a combo, in the order in which they go down. */
  readonly keycodes: readonly number[]
  readonly group: number
}

async function findStrokes(x: X11, keyboard: Keyboard, combo: Combo, deadline: Deadline): Promise<Strokes> {
  const { keymap, state } = keyboard
  const modifiers = combo.modifiers.map((modifier) => findModifier(keymap, modifier, state.group))
  const found = findCombo(keyboard, combo.key) ?? (await bindKey(x, keyboard, combo.key, deadline))
  return { keycodes: [...new Set([...modifiers, ...found.keycodes])], group: found.group }
}

// The current layout comes first, then the others. Caps Lock does not change the key of a shortcut.
function findCombo({ keymap, state }: Keyboard, key: string): Strokes | undefined {
  const others = Array.from({ length: groupCount(keymap) }, (_, group) => group).filter(
    (one) => one !== state.group,
  )
  for (const group of [state.group, ...others]) {
    if (isNamedKey(key)) {
      const keycode = isModifier(key)
        ? findModifier(keymap, key, group)
        : findKey(keymap, keysymOfNamed(key), group)
      if (keycode !== undefined) return { keycodes: [keycode], group }
      continue
    }
    const position = positionsOf(keymap, group, state.locked & ~LOCK).get(key)
    if (position) return { keycodes: [...position.shifters, position.keycode], group }
  }
  return undefined
}

// A symbol without a key gets a spare keycode; a letter gets its capital beside it.
async function bindKey(x: X11, keyboard: Keyboard, key: string, deadline: Deadline): Promise<Strokes> {
  const { xkb, keymap, state } = keyboard
  const [low, high] = isNamedKey(key) ? [key, key] : caseOf(key)
  const pair = [symbolOf(low), symbolOf(high)] as const
  const plan = planSpareKeys(await readSpareKeys(x, keymap, deadline), [pair])
  const changed = await bindSpareKeys(x, xkb, keymap, plan, deadline)
  // A client that reads the new keymap while keys arrive may misread them, so it reads first. A silent client is skipped.
  if (plan.changes.size > 0) await caughtUp(x, await getInputFocus(x, deadline), deadline.slice(READER_MS))
  const keycode = findKey(changed, pair[0], state.group)
  if (keycode === undefined) throw notPressed({ modifiers: [], key })
  return { keycodes: [keycode], group: state.group }
}

function findModifier(keymap: Keymap, modifier: Modifier, group: number): number {
  const left = keysymOfNamed(modifier)
  for (const keysym of [left, left + 1]) {
    const keycode = findKey(keymap, keysym, group)
    if (keycode !== undefined) return keycode
  }
  throw new AppError("ACTION_NOT_SUPPORTED", `This keyboard layout has no ${modifier} key`, {
    suggestion: "Use another combination, or enter text with 'type': agent-desktop help press",
    disposition: NOTHING_DELIVERED,
  })
}

/** The keys of modifiers that are not down yet; the others stay as they are. */
export async function modifierKeys(
  x: X11,
  modifiers: readonly Modifier[],
  deadline: Deadline,
): Promise<readonly number[]> {
  if (modifiers.length === 0) return []
  const [{ keymap, state }, down] = await Promise.all([readKeyboard(x, deadline), readDownKeys(x, deadline)])
  return modifiers.map((one) => findModifier(keymap, one, state.group)).filter((key) => !down.has(key))
}

function symbolOf(key: string): number {
  return isNamedKey(key) ? keysymOfNamed(key) : keysymOf(key)
}

function isModifier(key: string): key is Modifier {
  return key === "cmd" || key === "ctrl" || key === "alt" || key === "shift"
}

function notPressed(combo: Combo): AppError {
  return new AppError("ACTION_FAILED", `'${comboText(combo)}' could not be pressed`, {
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
  })
}

const QUERY_KEYMAP = 44
const READER_MS = 1000
/** How long an app may spend on keys before its reaction counts as finished. */
const SETTLE_MS = 1000
