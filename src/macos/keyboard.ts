import { carbon, coreServices, layoutProperty } from "../../ffi/carbon.ts"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { type Combo, MODIFIERS, type Modifier } from "../action.ts"
import type { InputEvent, Proof } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { pause } from "../until.ts"
import { bundleOf } from "./apps.ts"
import { kindOf, utf16 } from "./cf.ts"
import { eventSource, post } from "./input-events.ts"
import { deleteState, openState, readState, withState, writeState } from "./state-files.ts"

const FLAGS: Readonly<Record<Modifier, bigint>> = {
  shift: 0x2_0000n,
  ctrl: 0x4_0000n,
  alt: 0x8_0000n,
  cmd: 0x10_0000n,
}

const ALL_FLAGS = flagsOf(MODIFIERS)

/** macOS drops the text of an event beyond this many UTF-16 units. */
const UNITS_PER_EVENT = 20
/** Apps lose events that arrive faster than a very fast typist types. */
const PACE_MS = 5

export function pressKey(combo: Combo, phase: "press" | "down" | "up", others: HeldKeys): void {
  const { code, text, modifiers } = keystrokeOf(combo)
  if (phase === "up") others.release(modifiers)
  const before = flagsOf(others.modifiers)
  using source = eventSource()
  if (text !== undefined) {
    sendText(source.ref, text)
    return
  }
  const held: Modifier[] = phase === "up" ? [...modifiers] : []
  const send = (key: number, down: boolean) =>
    post(coreGraphics().CGEventCreateKeyboardEvent(source.ref, key, down), (event) => {
      // Arrow and function keys have flags of their own, which must stay.
      const own = coreGraphics().CGEventGetFlags(event) & ~ALL_FLAGS
      coreGraphics().CGEventSetFlags(event, own | before | flagsOf(held))
    })
  let holds = false
  try {
    for (const modifier of phase === "up" ? [] : modifiers) {
      held.push(modifier)
      send(MODIFIER_CODES[modifier], true)
    }
    if (phase !== "up" && code !== undefined) send(code, true)
    if (phase !== "down" && code !== undefined) send(code, false)
    if (phase === "down") others.hold(modifiers)
    holds = phase === "down"
  } finally {
    while (!holds && held.length > 0) {
      const modifier = held.pop()
      if (modifier) send(MODIFIER_CODES[modifier], false)
    }
  }
}

export function flagsOf(held: readonly Modifier[]): bigint {
  return held.reduce((flags, modifier) => flags | FLAGS[modifier], 0n)
}

/** The events for a combo: a key, only modifiers, or, for a character that the layout lacks, text. */
interface Stroke {
  readonly code?: number
  readonly text?: string
  readonly modifiers: readonly Modifier[]
}

function keystrokeOf({ key, modifiers }: Combo): Stroke {
  const modifier = MODIFIERS.find((name) => name === key)
  if (modifier) return { modifiers: [...modifiers, modifier] }
  const named = NAMED_CODES[key]
  if (named !== undefined) return { code: named, modifiers }
  const character = [...key].length === 1
  const found = character ? keystrokeFor(key, modifiers.includes("cmd")) : undefined
  if (found) return { code: found.code, modifiers: [...new Set([...modifiers, ...found.modifiers])] }
  if (character && modifiers.length === 0) return { text: key, modifiers }
  throw new AppError("ACTION_NOT_SUPPORTED", `This keyboard has no key '${key}'`, {
    suggestion: "Use 'type' to enter text",
    disposition: NOTHING_DELIVERED,
  })
}

/** Events between two checks of the focus, because keys follow it. A secret is typed in the smallest portions. */
const EVENTS_PER_LOOK = 10

/** Types text as key events that carry it, on any layout. Line ends and tabs are keys: apps ignore them as text. */
export async function typeText(
  { text, secret, target, prove }: Extract<InputEvent, { kind: "text" }>,
  deadline: Deadline,
  held: HeldKeys,
): Promise<void> {
  let done = 0
  const isRemote = target !== undefined && passesKeysOn(target.pid)
  using source = eventSource()
  for (const [i, part] of (isRemote ? partsOf(text, 1) : partsOf(text)).entries()) {
    if (deadline.expired) throw brokenOff(done, text.length)
    if (i === 0) await prove?.()
    else if (secret || i % EVENTS_PER_LOOK === 0) await proveAgain(prove, secret ? undefined : done)
    if (part === "\n") strike(source.ref, "return")
    else if (part === "\t") strike(source.ref, "tab")
    else if (isRemote) pressKey({ key: part, modifiers: [] }, "press", held)
    else sendText(source.ref, part)
    done += part.length
    if (done < text.length) await pause(PACE_MS, deadline)
  }
}

/** Apps that pass keys on to another machine, by bundle id in lower case. The text of an event is lost on the way. */
const REMOTE: ReadonlySet<string> = new Set([
  "com.apple.screensharing",
  "com.carriez.rustdesk",
  "com.citrix.receiver.icaviewer.mac",
  "com.microsoft.rdc.macos",
  "com.parallels.desktop.console",
  "com.realvnc.vncviewer",
  "com.utmapp.utm",
  "com.vmware.fusion",
  "org.virtualbox.app.virtualboxvm",
])

const passesKeysOn = (pid: number): boolean => REMOTE.has(bundleOf(pid)?.id?.toLowerCase() ?? "")

/** Presses a key without modifiers, even if some are held. */
function strike(source: bigint, key: "return" | "tab"): void {
  for (const down of [true, false]) {
    post(coreGraphics().CGEventCreateKeyboardEvent(source, NAMED_CODES[key] ?? 0, down), (event) =>
      coreGraphics().CGEventSetFlags(event, 0n),
    )
  }
}

function sendText(source: bigint, text: string): void {
  const units = utf16(text)
  for (const down of [true, false]) {
    post(coreGraphics().CGEventCreateKeyboardEvent(source, 0, down), (event) => {
      coreGraphics().CGEventSetFlags(event, 0n)
      coreGraphics().CGEventKeyboardSetUnicodeString(event, BigInt(text.length), units)
    })
  }
}

/** Splits text into parts of one event each. Never splits a character or a CR LF pair. */
export function partsOf(text: string, most = UNITS_PER_EVENT): string[] {
  const parts: string[] = []
  let part = ""
  for (const character of text.replaceAll(/\r\n?/g, "\n")) {
    const key = character === "\n" || character === "\t"
    if (part && (key || part.length + character.length > most)) {
      parts.push(part)
      part = ""
    }
    if (key) parts.push(character)
    else part += character
  }
  return part ? [...parts, part] : parts
}

/** Proves that the rest of the text still reaches its element. Part of the text has been typed. */
async function proveAgain(prove: Proof | undefined, typed: number | undefined): Promise<void> {
  try {
    await prove?.()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, suggestion, platformDetail } = error
    throw new AppError(code, `${message} while the text was typed`, {
      suggestion,
      platformDetail,
      details: { kind: "typing", ...(typed === undefined ? {} : { typed }) },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    })
  }
}

function brokenOff(done: number, all: number): AppError {
  return new AppError("TIMEOUT", `The time ran out after ${done} of ${all} characters`, {
    suggestion: "Look at what was typed before typing the rest; use a longer --timeout-ms",
    details: { kind: "typing", typed: done },
    disposition: { delivery: "delivered_unverified", retry: "unsafe" },
  })
}

const FILE = "held.json"
const WHAT = "The list of held keys"
/** A modifier held for longer counts as forgotten: it must not change a click an hour later. */
const LONGEST_MS = 60_000

/**
 * The modifiers that `key-down` holds. macOS releases them when the process that pressed them ends, and
 * takes the modifiers of every event from its flags. So they are stored for the commands that follow.
 */
export class HeldKeys {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  get modifiers(): readonly Modifier[] {
    return withState(WHAT, () => modifiersIn(readState(this.#path)))
  }

  hold(modifiers: readonly Modifier[]): void {
    if (modifiers.length > 0) this.#write([...this.modifiers, ...modifiers])
  }

  release(modifiers: readonly Modifier[]): void {
    const held = this.modifiers
    const left = held.filter((name) => !modifiers.includes(name))
    if (left.length < held.length) this.#write(left)
  }

  get #path(): string {
    return `${this.#root}/${FILE}`
  }

  #write(modifiers: readonly Modifier[]): void {
    withState(WHAT, () => {
      if (modifiers.length === 0) return deleteState(this.#path)
      openState(this.#root)
      writeState(this.#path, { modifiers: [...new Set(modifiers)], at: Date.now() })
    })
  }
}

function modifiersIn(held: unknown): readonly Modifier[] {
  if (typeof held !== "object" || held === null || !("modifiers" in held) || !("at" in held)) return []
  const { modifiers, at } = held
  const age = typeof at === "number" ? Date.now() - at : LONGEST_MS
  if (!Array.isArray(modifiers) || age < 0 || age >= LONGEST_MS) return []
  return MODIFIERS.filter((name) => modifiers.includes(name))
}

const MODIFIER_CODES: Readonly<Record<Modifier, number>> = { cmd: 55, shift: 56, alt: 58, ctrl: 59 }

/** Named keys have the same code on every layout. */
const NAMED_CODES: Readonly<Record<string, number>> = {
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
function keystrokeFor(character: string, withCommand: boolean): Keystroke | undefined {
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
