import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { X11 } from "./connection.ts"
import { ALPHABETIC, changeKeys, type Key, type Keymap, keyAt, NO_KEY, withKeys } from "./keymap.ts"
import { changeProperty, getNumbers, words } from "./requests.ts"

/**
 * Unused keycodes, borrowed for characters that no key has: two symbols each, selected by Shift. Bindings stay,
 * because changing the keymap back while an application still has keys to read would change their meaning. A
 * property of the root window records which keys are ours.
 */
export interface SpareKeys {
  readonly keycodes: readonly number[]
  /** The symbols that our keys have now. */
  readonly bound: ReadonlyMap<number, readonly [number, number]>
}

/** The number of characters that fit at the same time. */
export function capacityOf(spare: SpareKeys): number {
  return spare.keycodes.length * 2
}

export async function readSpareKeys(x: X11, keymap: Keymap, deadline: Deadline): Promise<SpareKeys> {
  await x.intern([PROPERTY, "CARDINAL"], deadline)
  const noted = await getNumbers(x, x.root, x.atom(PROPERTY), deadline)
  const bound = new Map<number, readonly [number, number]>()
  for (let i = 0; i + 2 < noted.length; i += 3) {
    const [keycode = 0, low = 0, high = 0] = noted.slice(i, i + 3)
    // A new layout may have given the key another meaning since.
    if (isBoundTo(keyAt(keymap, keycode), low, high)) bound.set(keycode, [low, high])
  }
  const free = keymap.keys.flatMap((key, i) => {
    const keycode = keymap.first + i
    const isFree = key.symbols.every((symbol) => symbol === 0) && !keymap.modifiers.get(keycode)
    return isFree || bound.has(keycode) ? [keycode] : []
  })
  return { keycodes: closest(free, MAX_KEYS), bound }
}

/** The keymap of the user's layout, without our bindings. */
export function withoutSpareKeys(keymap: Keymap, spare: SpareKeys): Keymap {
  return withKeys(keymap, new Map([...spare.bound.keys()].map((keycode) => [keycode, NO_KEY])))
}

/**
 * Plans a keymap with these symbol pairs on spare keys. Bound pairs stay where they are. `overwrites` is true if a
 * key loses another meaning, so clients must first read the keys that were sent with it.
 */
export function planSpareKeys(
  spare: SpareKeys,
  pairs: readonly (readonly [number, number])[],
): { readonly next: SpareKeys; readonly changes: ReadonlyMap<number, Key>; readonly overwrites: boolean } {
  const kept = new Map<number, readonly [number, number]>()
  const missing = pairs.filter((pair) => {
    const there = [...spare.bound].find(([keycode, bound]) => !kept.has(keycode) && isSame(bound, pair))
    if (there && spare.keycodes.includes(there[0])) kept.set(...there)
    return !there
  })
  const room = spare.keycodes
    .filter((keycode) => !kept.has(keycode))
    .toSorted((a, b) => Number(spare.bound.has(a)) - Number(spare.bound.has(b)))
  if (room.length < missing.length) throw noSpareKeys()
  const fresh = new Map(missing.map((pair, i) => [room[i] ?? 0, pair] as const))
  const changes = new Map([...fresh].map(([keycode, pair]) => [keycode, keyFor(pair)] as const))
  return {
    next: { keycodes: spare.keycodes, bound: new Map([...spare.bound, ...fresh]) },
    changes,
    overwrites: [...fresh.keys()].some((keycode) => spare.bound.has(keycode)),
  }
}

/** Carries out a plan: one change for all keys, recorded on the root window. */
export async function bindSpareKeys(
  x: X11,
  xkb: number,
  keymap: Keymap,
  plan: ReturnType<typeof planSpareKeys>,
  deadline: Deadline,
): Promise<Keymap> {
  if (plan.changes.size === 0) return keymap
  const note = words(...[...plan.next.bound].flatMap(([keycode, pair]) => [keycode, ...pair]))
  await x.check(
    [
      changeProperty(x.root, x.atom(PROPERTY), x.atom("CARDINAL"), 32, note),
      changeKeys(x, xkb, keymap, plan.changes),
    ],
    deadline,
  )
  return withKeys(keymap, plan.changes)
}

/** Clears every spare key, so that none reveals the typed text. */
export async function freeSpareKeys(
  x: X11,
  xkb: number,
  keymap: Keymap,
  spare: SpareKeys,
  deadline: Deadline,
): Promise<void> {
  const changes = new Map([...spare.bound.keys()].map((keycode) => [keycode, NO_KEY] as const))
  const next = { keycodes: spare.keycodes, bound: new Map() }
  await bindSpareKeys(x, xkb, keymap, { next, changes, overwrites: true }, deadline)
}

export function noSpareKeys(): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    "The keyboard layout has no key for this character, and no spare key",
    {
      suggestion: "Use 'set-value', or 'clipboard-set' and the app's shortcut for paste",
      disposition: NOTHING_DELIVERED,
    },
  )
}

// One group serves all layouts. A key type that knows Caps Lock keeps it from capitalising.
function keyFor(symbols: readonly [number, number]): Key {
  return { types: [ALPHABETIC, 0, 0, 0], groupInfo: 1, width: 2, symbols }
}

function isBoundTo(key: Key, low: number, high: number): boolean {
  return (
    (key.groupInfo & 15) === 1 &&
    key.symbols.length === 2 &&
    isSame([key.symbols[0]!, key.symbols[1]!], [low, high])
  )
}

function isSame(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

// Neighbouring keys keep the request small; the rest is left to other programs.
function closest(free: readonly number[], count: number): readonly number[] {
  if (free.length <= count) return free
  const spans = free.slice(count - 1).map((last, i) => ({ from: i, span: last - (free[i] ?? 0) }))
  const best = spans.reduce((least, one) => (one.span < least.span ? one : least))
  return free.slice(best.from, best.from + count)
}

const PROPERTY = "_AGENT_DESKTOP_SPARE_KEYS"
const MAX_KEYS = 10
