import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { charOf, isCased, LEVEL3_KEYSYM, LEVEL5_KEYSYM, SHIFT_KEYSYM } from "../windowing/keysyms.ts"
import type { X11 } from "./connection.ts"
import { type Packet, Request } from "./wire.ts"

/** A key type: the level that each combination of modifiers selects, and the modifiers that still act afterwards. */
export interface KeyType {
  readonly mask: number
  readonly levels: readonly { readonly mods: number; readonly level: number; readonly preserved: number }[]
}

/** The symbols of one keycode: `width` for each of its groups (layouts). */
export interface Key {
  readonly types: readonly number[]
  readonly groupInfo: number
  readonly width: number
  readonly symbols: readonly number[]
}

export interface Keymap {
  readonly first: number
  readonly types: readonly KeyType[]
  /** Keys from keycode `first` on. */
  readonly keys: readonly Key[]
  /** The modifiers that a key sets while it is down. */
  readonly modifiers: ReadonlyMap<number, number>
}

export interface KeyboardState {
  /** Held or latched modifiers, which change the meaning of the next key. */
  readonly held: number
  readonly locked: number
  readonly group: number
  readonly lockedGroup: number
}

/** A way to enter a character: hold the shifters, press the key, in that group. */
export interface Position {
  readonly keycode: number
  readonly group: number
  readonly shifters: readonly number[]
}

/** The opcode of XKB after its handshake. Every current X server has it. */
export async function openXkb(x: X11, deadline: Deadline): Promise<number> {
  const extension = await x.extension("XKEYBOARD", deadline)
  const version =
    extension && (await x.ask(new Request(extension.opcode, USE_EXTENSION).u16(1).u16(0), deadline))
  if (extension && version?.u8(1)) return extension.opcode
  throw new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The X display '${x.name}' does not report its keyboard layout`,
    {
      suggestion:
        "Start the X server with its XKEYBOARD extension, or use an isolated desktop ('desktop-start')",
      disposition: NOTHING_DELIVERED,
    },
  )
}

export async function readKeymap(x: X11, xkb: number, deadline: Deadline): Promise<Keymap> {
  const request = new Request(xkb, GET_MAP)
    .u16(CORE_KEYBOARD)
    .u16(TYPES | SYMBOLS | MODIFIERS)
    .zeros(20)
  return parseKeymap(await x.ask(request, deadline))
}

export async function readKeyboardState(x: X11, xkb: number, deadline: Deadline): Promise<KeyboardState> {
  const reply = await x.ask(new Request(xkb, GET_STATE).u16(CORE_KEYBOARD).u16(0), deadline)
  return {
    held: (reply.u8(9) | reply.u8(10)) & ~LOCK,
    locked: reply.u8(11),
    group: reply.u8(12),
    lockedGroup: reply.u8(13),
  }
}

export function lockGroup(xkb: number, group: number): Request {
  return new Request(xkb, LATCH_LOCK_STATE).u16(CORE_KEYBOARD).u8(0).u8(0).u8(1).u8(group).zeros(6)
}

/** Gives keys new symbols in one request; keys between them are sent unchanged. */
export function changeKeys(x: X11, xkb: number, keymap: Keymap, changes: ReadonlyMap<number, Key>): Request {
  const first = Math.min(...changes.keys())
  const last = Math.max(...changes.keys())
  const keys = Array.from(
    { length: last - first + 1 },
    (_, i) => changes.get(first + i) ?? keyAt(keymap, first + i),
  )
  const total = keys.reduce((sum, key) => sum + key.symbols.length, 0)
  const request = new Request(xkb, SET_MAP, 64 + keys.length * 8 + total * 4)
    .u16(CORE_KEYBOARD)
    .u16(SYMBOLS)
    .u16(0)
    .u8(x.setup.minKeycode)
    .u8(x.setup.maxKeycode)
    .zeros(2)
    .u8(first)
    .u8(keys.length)
    .u16(total)
    .zeros(18)
  for (const key of keys) {
    for (let group = 0; group < 4; group++) request.u8(key.types[group] ?? 0)
    request.u8(key.groupInfo).u8(key.width).u16(key.symbols.length)
    for (const symbol of key.symbols) request.u32(symbol)
  }
  return request
}

export function withKeys(keymap: Keymap, changes: ReadonlyMap<number, Key>): Keymap {
  return { ...keymap, keys: keymap.keys.map((key, i) => changes.get(keymap.first + i) ?? key) }
}

export function keyAt(keymap: Keymap, keycode: number): Key {
  return keymap.keys[keycode - keymap.first] ?? NO_KEY
}

/** The symbol of a key in this group with these modifiers down. */
export function symbolAt(keymap: Keymap, keycode: number, group: number, mods: number): number {
  return lookUp(keymap, keycode, group, mods).symbol
}

/** A key that has this symbol without any modifier. */
export function findKey(keymap: Keymap, keysym: number, group: number): number | undefined {
  return keycodes(keymap).find((keycode) => symbolAt(keymap, keycode, group, 0) === keysym)
}

/**
 * Every character that this group's keys enter while these modifiers are locked, with the easiest way to enter it.
 * Letters whose key type ignores Caps Lock are left out, since Caps Lock capitalises them.
 */
export function positionsOf(keymap: Keymap, group: number, locked: number): Map<string, Position> {
  const combinations = shiftersOf(keymap, group)
  const found = new Map<string, Position>()
  for (const [from, to] of [
    [keymap.first, MAIN_BLOCK_END],
    [MAIN_BLOCK_END, keymap.first + keymap.keys.length],
  ] as const) {
    for (const { shifters, mods } of combinations) {
      for (let keycode = from; keycode < to; keycode++) {
        if (keymap.modifiers.get(keycode)) continue
        const char = charAt(keymap, keycode, group, mods | locked)
        if (char !== undefined && !found.has(char)) found.set(char, { keycode, group, shifters })
      }
    }
  }
  return found
}

export function groupCount(keymap: Keymap): number {
  return Math.max(1, ...keymap.keys.map((key) => key.groupInfo & 15))
}

function charAt(keymap: Keymap, keycode: number, group: number, mods: number): string | undefined {
  const { symbol, left } = lookUp(keymap, keycode, group, mods)
  if (symbol === RETURN) return "\n"
  if (symbol === TAB) return "\t"
  const char = charOf(symbol)
  return char !== undefined && (left & LOCK) !== 0 && isCased(char) ? undefined : char
}

/** A key's symbol, and the modifiers that did not select it. */
function lookUp(
  keymap: Keymap,
  keycode: number,
  group: number,
  mods: number,
): { symbol: number; left: number } {
  const key = keyAt(keymap, keycode)
  const within = groupOf(key, group)
  const type = within === undefined ? undefined : keymap.types[key.types[within] ?? 0]
  if (within === undefined || !type) return { symbol: 0, left: mods }
  const chosen = type.levels.find((entry) => entry.mods === (mods & type.mask))
  const symbol = key.symbols[within * key.width + (chosen?.level ?? 0)] ?? 0
  return { symbol, left: mods & ~(type.mask & ~(chosen?.preserved ?? 0)) }
}

/** All combinations of the keys that select further levels, smallest first. */
function shiftersOf(keymap: Keymap, group: number): { shifters: number[]; mods: number }[] {
  const keys = [SHIFT_KEYSYM, LEVEL3_KEYSYM, LEVEL5_KEYSYM].flatMap((keysym) => {
    const all = keycodes(keymap).filter((keycode) => keymap.modifiers.get(keycode))
    const keycode = all.find((one) => symbolAt(keymap, one, group, 0) === keysym)
    return keycode === undefined ? [] : [keycode]
  })
  const subsets = Array.from({ length: 1 << keys.length }, (_, bits) =>
    keys.filter((_, i) => bits & (1 << i)),
  )
  return subsets
    .toSorted((a, b) => a.length - b.length)
    .map((shifters) => ({
      shifters,
      // If pressing Shift twice means Caps Lock, one key is listed for both; alone it is Shift.
      mods: shifters.reduce((mods, key) => mods | (keymap.modifiers.get(key) ?? 0), 0) & ~LOCK,
    }))
}

function keycodes(keymap: Keymap): number[] {
  return keymap.keys.map((_, i) => keymap.first + i)
}

// A key with fewer groups than layouts defines a rule for the others.
function groupOf(key: Key, group: number): number | undefined {
  const count = key.groupInfo & 15
  if (count === 0) return undefined
  if (group < count) return group
  switch (key.groupInfo & 0xc0) {
    case 0x40:
      return count - 1
    case 0x80:
      return Math.min((key.groupInfo >> 4) & 3, count - 1)
    default:
      return group % count
  }
}

function parseKeymap(packet: Packet): Keymap {
  let at = 40
  const types: KeyType[] = []
  for (let i = 0; i < packet.u8(15); i++) {
    const entries = packet.u8(at + 5)
    const hasPreserved = packet.u8(at + 6) !== 0
    const levels = Array.from({ length: entries }, (_, entry) => ({
      isActive: packet.u8(at + 8 + entry * 8) !== 0,
      mods: packet.u8(at + 9 + entry * 8),
      level: packet.u8(at + 10 + entry * 8),
      preserved: hasPreserved ? packet.u8(at + 8 + entries * 8 + entry * 4) : 0,
    }))
    types.push({ mask: packet.u8(at), levels: levels.filter((entry) => entry.isActive) })
    at += 8 + entries * (hasPreserved ? 12 : 8)
  }
  const keys: Key[] = []
  for (let i = 0; i < packet.u8(20); i++) {
    const count = packet.u16(at + 6)
    keys.push({
      types: [...packet.bytes(at, 4)],
      groupInfo: packet.u8(at + 4),
      width: packet.u8(at + 5),
      symbols: packet.list32(at + 8, count),
    })
    at += 8 + count * 4
  }
  const modifiers = new Map<number, number>()
  for (let i = 0; i < packet.u8(33); i++) modifiers.set(packet.u8(at + i * 2), packet.u8(at + i * 2 + 1))
  return { first: packet.u8(17), types, keys, modifiers }
}

/** The modifier that Caps Lock locks. */
export const LOCK = 2
/** Two levels, selected by Shift or Caps Lock: the third of the types at the start of every keymap. */
export const ALPHABETIC = 2

export const NO_KEY: Key = { types: [0, 0, 0, 0], groupInfo: 0, width: 0, symbols: [] }
/** Letters, digits and punctuation have lower keycodes; keys of remote controls and telephones higher ones. */
const MAIN_BLOCK_END = 95
const RETURN = 0xff0d
const TAB = 0xff09

const CORE_KEYBOARD = 0x100
const USE_EXTENSION = 0
const GET_STATE = 4
const LATCH_LOCK_STATE = 5
const GET_MAP = 8
const SET_MAP = 9
const TYPES = 1
const SYMBOLS = 2
const MODIFIERS = 4
