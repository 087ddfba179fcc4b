import { closeSync, readSync } from "node:fs"
import { connectTo, receiveWith, sendWith } from "../../../ffi/descriptors.ts"
import { type KeySymbol, readKeymap } from "../../../ffi/xkb.ts"
import type { Combo } from "../../action.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { isNamedKey } from "../../keys.ts"
import { pause } from "../../until.ts"
import { charOf, keysymOfNamed, LEVEL3_KEYSYM, SHIFT_KEYSYM } from "../windowing/keysyms.ts"
import { socketPath } from "./connection.ts"
import type { Stroke } from "./devices.ts"
import { EventReader, WaylandMessage } from "./wire.ts"

/** The keyboard layout of a compositor's seat: which keys produce which characters. */
export class Layout {
  readonly #chars: ReadonlyMap<string, Stroke>
  readonly #keys: ReadonlyMap<number, Stroke>

  private constructor(chars: ReadonlyMap<string, Stroke>, keys: ReadonlyMap<number, Stroke>) {
    this.#chars = chars
    this.#keys = keys
  }

  /** Reads the layout that the compositor gives to apps. */
  static async read(env: Env, deadline: Deadline): Promise<Layout> {
    const text = await readKeymapText(env, deadline)
    const keymap = text && readKeymap(text)
    if (keymap) return Layout.of(keymap.symbols, keymap.layouts)
    throw new AppError("PLATFORM_NOT_SUPPORTED", "The keyboard layout of this session cannot be read", {
      suggestion: "Use 'type' or 'set-value' on a ref; they work by accessibility if the app offers it",
      disposition: NOTHING_DELIVERED,
    })
  }

  /**
   * A compositor does not report which of several layouts is active. A key counts only if it produces the same in all
   * of them.
   */
  static of(symbols: readonly KeySymbol[], layouts: number): Layout {
    const each = Array.from({ length: layouts }, (_, layout) =>
      tablesOf(symbols.filter((one) => one.layout === layout)),
    )
    const [first, ...others] = each
    if (!first) return new Layout(new Map(), new Map())
    return new Layout(
      shared(
        first.chars,
        others.map(({ chars }) => chars),
      ),
      shared(
        first.keys,
        others.map(({ keys }) => keys),
      ),
    )
  }

  /** undefined: the layout has no such key. */
  strokeOf({ key, modifiers }: Combo): Stroke | undefined {
    const stroke = isNamedKey(key) ? this.#keys.get(keysymOfNamed(key)) : this.charStroke(key)
    const held = modifiers.map((one) => this.#keys.get(keysymOfNamed(one))?.code)
    if (!stroke || held.includes(undefined)) return undefined
    const all = [...held.flatMap((code) => code ?? []), ...stroke.held]
    return { code: stroke.code, held: [...new Set(all)] }
  }

  /** undefined: no key produces the character. */
  charStroke(char: string): Stroke | undefined {
    const name = char === "\n" ? "return" : char === "\t" ? "tab" : undefined
    return name ? this.#keys.get(keysymOfNamed(name)) : this.#chars.get(char)
  }
}

interface Tables {
  readonly chars: ReadonlyMap<string, Stroke>
  readonly keys: ReadonlyMap<number, Stroke>
}

/** The keys for each symbol, with as few held keys as possible. */
function tablesOf(symbols: readonly KeySymbol[]): Tables {
  const codeOf = (keysym: number): number | undefined => {
    const plain = symbols.filter((one) => one.keysym === keysym && one.masks.includes(0))
    const codes = plain.map(({ keycode }) => keycode - EVDEV)
    // Layouts define modifier keys that no keyboard has.
    return codes.find((code) => code !== NO_KEY) ?? codes[0]
  }
  const [shift, level3] = [codeOf(SHIFT_KEYSYM), codeOf(LEVEL3_KEYSYM)]
  const ways: readonly (readonly [mask: number, held: readonly (number | undefined)[]])[] = [
    [0, []],
    [SHIFT, [shift]],
    [MOD5, [level3]],
    [SHIFT | MOD5, [shift, level3]],
  ]
  const chars = new Map<string, Stroke>()
  const keys = new Map<number, Stroke>()
  for (const [mask, keysHeld] of ways) {
    const held = keysHeld.flatMap((code) => code ?? [])
    if (held.length < keysHeld.length) continue
    for (const { keycode, keysym, masks } of symbols) {
      if (!masks.includes(mask)) continue
      const stroke = { code: keycode - EVDEV, held }
      if (!keys.has(keysym)) keys.set(keysym, stroke)
      const char = isPrintable(stroke.code) ? charOf(keysym) : undefined
      if (char !== undefined && !chars.has(char)) chars.set(char, stroke)
    }
  }
  return { chars, keys }
}

/**
 * True for the keys that produce characters on every keyboard. Layouts define others, such as one for `$` alone, and
 * Chromium ignores some of those.
 */
const isPrintable = (code: number): boolean =>
  (code > 1 && code < 54 && code !== 29 && code !== 42) || MORE.has(code)
/** Space, the key beside the left Shift, and those of Japanese and Brazilian keyboards. */
const MORE: ReadonlySet<number> = new Set([57, 86, 89, 124])

function shared<K>(
  first: ReadonlyMap<K, Stroke>,
  others: readonly ReadonlyMap<K, Stroke>[],
): ReadonlyMap<K, Stroke> {
  const isSame = (one: Stroke, other: Stroke | undefined): boolean =>
    one.code === other?.code && one.held.join() === other.held.join()
  return new Map([...first].filter(([key, stroke]) => others.every((map) => isSame(stroke, map.get(key)))))
}

/**
 * Requests the seat's keyboard on a separate socket: the keymap comes as a file descriptor, which Bun's sockets drop.
 * undefined: the seat has no keyboard.
 */
async function readKeymapText(env: Env, deadline: Deadline): Promise<Uint8Array | undefined> {
  const socket = connectTo(socketPath(env))
  if (socket === undefined) return undefined
  const send = (message: WaylandMessage) => sendWith(socket, message.bytes(), [])
  const reader = new EventReader()
  const fds: number[] = []
  let seat: number | undefined
  try {
    send(new WaylandMessage(DISPLAY, GET_REGISTRY).u32(REGISTRY))
    send(new WaylandMessage(DISPLAY, SYNC).u32(GLOBALS))
    while (!deadline.expired) {
      const { bytes, fds: received } = receiveWith(socket, false)
      fds.push(...received)
      if (bytes.length === 0) {
        await pause(LOOK_MS, deadline)
        continue
      }
      for (const event of reader.read(bytes)) {
        if (event.object === DISPLAY && event.opcode === ERROR) return undefined
        if (event.object === REGISTRY && event.opcode === GLOBAL) {
          const name = event.u32()
          if (event.text() === "wl_seat") seat ??= name
        } else if (event.object === GLOBALS) {
          if (seat === undefined) return undefined
          send(new WaylandMessage(REGISTRY, BIND).u32(seat).text("wl_seat").u32(1).u32(SEAT))
        } else if (event.object === SEAT && event.opcode === CAPABILITIES) {
          if ((event.u32() & HAS_KEYBOARD) === 0) return undefined
          send(new WaylandMessage(SEAT, GET_KEYBOARD).u32(KEYBOARD))
        } else if (event.object === KEYBOARD && event.opcode === KEYMAP) {
          const [format, size, fd] = [event.u32(), event.u32(), fds[0]]
          return format === TEXT_V1 && fd !== undefined ? readFile(fd, size) : undefined
        }
      }
    }
    return undefined
  } finally {
    for (const fd of [...fds, socket]) closeSync(fd)
  }
}

/** The text ends with a zero byte. */
function readFile(fd: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  const length = readSync(fd, bytes, 0, size, 0)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end < 0 ? length : end)
}

/** XKB's keycodes are 8 higher than the kernel's. */
const EVDEV = 8
/** Named <LVL3> in layouts. */
const NO_KEY = 84
/** Real modifiers: Shift, and the one that selects the third level. */
const SHIFT = 0x01
const MOD5 = 0x80

const DISPLAY = 1
const REGISTRY = 2
const GLOBALS = 3
const SEAT = 4
const KEYBOARD = 5
const SYNC = 0
const GET_REGISTRY = 1
const ERROR = 0
const GLOBAL = 0
const BIND = 0
const CAPABILITIES = 0
const HAS_KEYBOARD = 2
const GET_KEYBOARD = 1
const KEYMAP = 0
const TEXT_V1 = 1
const LOOK_MS = 1
