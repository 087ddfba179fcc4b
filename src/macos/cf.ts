import { accessibility } from "../../ffi/accessibility.ts"
import {
  coreConstants,
  coreFoundation,
  NUMBER_FLOAT64,
  NUMBER_SINT64,
  Owned,
} from "../../ffi/core-foundation.ts"
import { colorComponents, coreGraphics, MODEL_GREY, MODEL_RGB } from "../../ffi/core-graphics.ts"

/** Longer strings are cut: a log view may hold megabytes. */
export const MAX_TEXT = 65_536
const CHUNK = 8192
const units = new Uint16Array(MAX_TEXT)
const double = new Float64Array(1)

type ValueKind =
  | "string"
  | "attributed"
  | "boolean"
  | "number"
  | "array"
  | "dictionary"
  | "data"
  | "url"
  | "element"
  | "axvalue"

let kinds: ReadonlyMap<bigint, ValueKind> | undefined

/** The type of an object; undefined for NULL and types that we do not use. Every use of an object checks it first. */
export function kindOf(ref: bigint): ValueKind | undefined {
  const cf = coreFoundation()
  kinds ??= new Map<bigint, ValueKind>([
    [cf.CFStringGetTypeID(), "string"],
    [cf.CFAttributedStringGetTypeID(), "attributed"],
    [cf.CFBooleanGetTypeID(), "boolean"],
    [cf.CFNumberGetTypeID(), "number"],
    [cf.CFArrayGetTypeID(), "array"],
    [cf.CFDictionaryGetTypeID(), "dictionary"],
    [cf.CFDataGetTypeID(), "data"],
    [cf.CFURLGetTypeID(), "url"],
    [accessibility().AXUIElementGetTypeID(), "element"],
    [accessibility().AXValueGetTypeID(), "axvalue"],
  ])
  return ref ? kinds.get(cf.CFGetTypeID(ref)) : undefined
}

/** The text of a string, an attributed string or a URL; undefined for anything else. */
export function textOf(ref: bigint, kind = kindOf(ref)): string | undefined {
  if (kind === "attributed") return textOf(coreFoundation().CFAttributedStringGetString(ref))
  if (kind === "url") return textOf(coreFoundation().CFURLGetString(ref))
  if (kind !== "string") return undefined
  const cf = coreFoundation()
  const length = Math.min(Number(cf.CFStringGetLength(ref)), MAX_TEXT)
  if (length === 0) return ""
  cf.CFStringGetCharacters(ref, 0, length, units)
  let text = ""
  for (let at = 0; at < length; at += CHUNK) {
    text += String.fromCharCode(...units.subarray(at, Math.min(at + CHUNK, length)))
  }
  return text
}

export function numberOf(ref: bigint, kind = kindOf(ref)): number | undefined {
  if (kind !== "number") return undefined
  coreFoundation().CFNumberGetValue(ref, NUMBER_FLOAT64, double)
  return double[0]
}

export function booleanOf(ref: bigint, kind = kindOf(ref)): boolean | undefined {
  return kind === "boolean" ? coreFoundation().CFBooleanGetValue(ref) !== 0 : undefined
}

/** `#rrggbb`; undefined for anything but a grey or RGB colour. */
export function colorOf(ref: bigint): string | undefined {
  const cg = coreGraphics()
  if (!ref || coreFoundation().CFGetTypeID(ref) !== cg.CGColorGetTypeID()) return undefined
  const space = cg.CGColorGetColorSpace(ref)
  const model = space ? cg.CGColorSpaceGetModel(space) : undefined
  const [a = 0, b = 0, c = 0] = colorComponents(ref)
  if (model === MODEL_GREY) return hex([a, a, a])
  return model === MODEL_RGB ? hex([a, b, c]) : undefined
}

/** Wide colours have components below 0 and above 1. */
const hex = (parts: readonly number[]): string =>
  `#${parts
    .map((part) =>
      Math.round(Math.min(1, Math.max(0, part)) * 255)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`

/** A value of a dictionary, which still owns it; 0n if there is none, or if the object is not a dictionary. */
export function entryOf(dictionary: bigint, key: bigint): bigint {
  return kindOf(dictionary) === "dictionary" ? coreFoundation().CFDictionaryGetValue(dictionary, key) : 0n
}

/** The items of an array, which still owns them; undefined if the object is not an array. */
export function itemsOf(ref: bigint, kind = kindOf(ref)): BigUint64Array | undefined {
  if (kind !== "array") return undefined
  const cf = coreFoundation()
  const count = Number(cf.CFArrayGetCount(ref))
  const items = new BigUint64Array(count)
  if (count > 0) cf.CFArrayGetValues(ref, 0, count, items)
  return items
}

export function newString(text: string): Owned {
  return new Owned(coreFoundation().CFStringCreateWithCharacters(0n, utf16(text), text.length))
}

/** The text as UniChars. Never an empty buffer, which has no address. */
export function utf16(text: string): Uint16Array {
  const chars = new Uint16Array(Math.max(text.length, 1))
  for (let i = 0; i < text.length; i++) chars[i] = text.charCodeAt(i)
  return chars
}

export function newNumber(value: number): Owned {
  const whole = Number.isSafeInteger(value)
  return new Owned(
    whole
      ? coreFoundation().CFNumberCreate(0n, NUMBER_SINT64, new BigInt64Array([BigInt(value)]))
      : coreFoundation().CFNumberCreate(0n, NUMBER_FLOAT64, new Float64Array([value])),
  )
}

/** Makes an array, which retains its items. */
export function newArray(refs: readonly bigint[]): Owned {
  const items = new BigUint64Array(refs.length > 0 ? refs : [0n])
  return new Owned(coreFoundation().CFArrayCreate(0n, items, refs.length, coreConstants().arrayCallBacks))
}

export function newDictionary(entries: readonly (readonly [key: bigint, value: bigint])[]): Owned {
  const keys = new BigUint64Array(entries.map(([key]) => key))
  const values = new BigUint64Array(entries.map(([, value]) => value))
  const { keyCallBacks, valueCallBacks } = coreConstants()
  return new Owned(
    coreFoundation().CFDictionaryCreate(0n, keys, values, entries.length, keyCallBacks, valueCallBacks),
  )
}

/** kCFBooleanTrue or kCFBooleanFalse, which are never released. */
export function cfBoolean(value: boolean): bigint {
  return value ? coreConstants().yes : coreConstants().no
}

/** Runs the run loop until the first delivery, for at most `seconds`. True if something was delivered. */
export function turnRunLoop(seconds: number): boolean {
  return coreFoundation().CFRunLoopRunInMode(coreConstants().defaultMode, seconds, 1) === HANDLED_SOURCE
}

/** Delivers everything that is pending, without waiting for more. */
export function drainRunLoop(): void {
  for (let turns = 0; turns < MOST_TURNS && turnRunLoop(0); turns++);
}

/** kCFRunLoopRunHandledSource */
const HANDLED_SOURCE = 4
const MOST_TURNS = 100
