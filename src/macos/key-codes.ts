import { carbon, coreServices, layoutProperty } from "../../ffi/carbon.ts"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import type { Modifier } from "../action.ts"
import { kindOf } from "./cf.ts"

export const MODIFIER_CODES: Readonly<Record<Modifier, number>> = { cmd: 55, shift: 56, alt: 58, ctrl: 59 }

/** Named keys have the same code on every layout. */
export const NAMED_CODES: Readonly<Record<string, number>> = {
  ...MODIFIER_CODES,
  return: 36,
  tab: 48,
  space: 49,
  backspace: 51,
  escape: 53,
  menu: 110,
  insert: 114,
  home: 115,
  pageup: 116,
  forwarddelete: 117,
  end: 119,
  pagedown: 121,
  left: 123,
  right: 124,
  down: 125,
  up: 126,
  ...Object.fromEntries(
    [122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111, 105, 107, 113, 106, 64, 79, 80, 90].map(
      (code, i) => [`f${i + 1}`, code],
    ),
  ),
}

interface Keystroke {
  readonly code: number
  readonly modifiers: readonly Modifier[]
}

/** The key and modifiers that produce a character on the user's layout; undefined if no key does. */
export function keystrokeFor(character: string, withCommand: boolean): Keystroke | undefined {
  const { TISCopyCurrentKeyboardLayoutInputSource, TISCopyCurrentASCIICapableKeyboardLayoutInputSource } =
    carbon()
  return (
    onLayout(TISCopyCurrentKeyboardLayoutInputSource(), character, withCommand) ??
    // With command many layouts ignore shift, and so have no key for a shifted character.
    (withCommand ? onLayout(TISCopyCurrentKeyboardLayoutInputSource(), character, false) : undefined) ??
    // On a layout without Latin letters, macOS takes shortcuts from its ASCII-capable companion.
    onLayout(TISCopyCurrentASCIICapableKeyboardLayoutInputSource(), character, withCommand) ??
    onUsLayout(character)
  )
}

/** Bits of UCKeyTranslate's modifier state. */
const COMMAND = 1
const HELD: readonly (readonly [bits: number, modifiers: readonly Modifier[]])[] = [
  [0, []],
  [2, ["shift"]],
  [8, ["alt"]],
  [10, ["alt", "shift"]],
]
/** The keys of the main block. The keypad repeats some of their characters. */
const MAIN_KEYS = [...Array.from({ length: 51 }, (_, code) => code), 93, 94]
const DISPLAY = 3
const NO_DEAD_KEYS = 1

function onLayout(inputSource: bigint, character: string, withCommand: boolean): Keystroke | undefined {
  using source = new Owned(inputSource)
  const data = source.ref && carbon().TISGetInputSourceProperty(source.ref, layoutProperty())
  if (kindOf(data) !== "data") return undefined
  const layout = coreFoundation().CFDataGetBytePtr(data)
  for (const [bits, modifiers] of HELD) {
    const state = bits | (withCommand ? COMMAND : 0)
    const code = MAIN_KEYS.find((key) => translate(layout, key, state) === character)
    if (code !== undefined) return { code, modifiers }
  }
  return undefined
}

const dead = new Uint32Array(1)
const length = new BigUint64Array(1)
const characters = new Uint16Array(8)

function translate(layout: bigint, code: number, modifiers: number): string | undefined {
  dead[0] = 0
  length[0] = 0n
  const keyboard = carbon().LMGetKbdType()
  const status = coreServices().UCKeyTranslate(
    layout,
    code,
    DISPLAY,
    modifiers,
    keyboard,
    NO_DEAD_KEYS,
    dead,
    BigInt(characters.length),
    length,
    characters,
  )
  return status === 0 ? String.fromCharCode(...characters.subarray(0, Number(length[0]))) : undefined
}

/** The characters of a US keyboard by key code, plain and with shift. A blank is a key without a character. */
const US_PLAIN = "asdfhgzxcv bqweryt123465=97-80]ou[ip lj'k;\\,/nm.  `"
const US_SHIFT = 'ASDFHGZXCV BQWERYT!@#$^%+(&_*)}OU{IP LJ"K:|<?NM>  ~'

function onUsLayout(character: string): Keystroke | undefined {
  const plain = US_PLAIN.indexOf(character)
  if (plain >= 0 && character !== " ") return { code: plain, modifiers: [] }
  const shifted = US_SHIFT.indexOf(character)
  return shifted >= 0 && character !== " " ? { code: shifted, modifiers: ["shift"] } : undefined
}
