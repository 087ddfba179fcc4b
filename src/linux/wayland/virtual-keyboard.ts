import { closeSync, writeSync } from "node:fs"
import { memoryFile } from "../../../ffi/descriptors.ts"
import type { Combo, Modifier } from "../../action.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { NamedKey } from "../../keys.ts"
import { keysymOf } from "../windowing/keysyms.ts"
import { socketPath, type Wayland } from "./connection.ts"
import type { Keyboard, Stroke } from "./devices.ts"
import { eventTime, seatWith } from "./seat.ts"
import { WaylandMessage } from "./wire.ts"

/** Our virtual keyboard on the compositor's seat, with our own keymap. It disappears with the connection. */
export class VirtualKeyboard implements Keyboard {
  readonly #wayland: Wayland
  readonly #object: number
  readonly #env: Env

  private constructor(wayland: Wayland, object: number, env: Env) {
    this.#wayland = wayland
    this.#object = object
    this.#env = env
  }

  /** undefined: the compositor does not support virtual keyboards. */
  static async open(wayland: Wayland, env: Env, deadline: Deadline): Promise<VirtualKeyboard | undefined> {
    const manager = wayland.bind("zwp_virtual_keyboard_manager_v1", 1)
    if (manager === undefined) return undefined
    return VirtualKeyboard.add(wayland, manager, await seatWith(wayland, "keyboard", deadline), env)
  }

  static add(wayland: Wayland, manager: number, seat: number, env: Env): VirtualKeyboard {
    const object = wayland.create()
    wayland.send(new WaylandMessage(manager, CREATE).u32(seat).u32(object))
    return new VirtualKeyboard(wayland, object, env)
  }

  async strokeOf({ key: name, modifiers }: Combo, deadline: Deadline): Promise<Stroke | undefined> {
    const key = keyOf(name)
    const isTyped = !key && [...name].length === 1
    if (!key && !isTyped) return undefined
    const spare = PRINTABLE[0]!
    await this.learn(isTyped ? new Map([[spare, keysymOf(name)]]) : new Map(), deadline)
    const held = new Set([...modifiers, ...(key?.with ?? [])].map((one) => MODIFIER_KEYS[one].code))
    return { code: key?.code ?? spare, held: [...held] }
  }

  async strokesOf(chars: readonly string[], deadline: Deadline): Promise<readonly Stroke[]> {
    const { run, codes } = takeRun(chars)
    await this.learn(new Map([...codes].map(([char, code]) => [code, keysymOf(char)])), deadline)
    return run.map((char) => ({
      code: char === "\n" ? RETURN : char === "\t" ? TAB : codes.get(char)!,
      held: [],
    }))
  }

  /** Gives keys their meanings: those of the US layout, with `keysyms` by keycode on top of it. */
  async learn(keysyms: ReadonlyMap<number, number>, deadline: Deadline): Promise<void> {
    const bytes = new TextEncoder().encode(`${keymapText(keysyms)}\0`)
    const file = memoryFile("agent-desktop-keymap")
    if (file === undefined)
      throw new AppError("PLATFORM_NOT_SUPPORTED", "The kernel could not allocate memory for a keymap", {
        disposition: NOTHING_DELIVERED,
      })
    try {
      writeSync(file, bytes)
      this.#wayland.send(new WaylandMessage(this.#object, KEYMAP).u32(TEXT_V1).fd(file).u32(bytes.length))
      await this.#wayland.sync(deadline)
    } finally {
      closeSync(file)
    }
  }

  async stroke({ code, held }: Stroke, deadline: Deadline): Promise<void> {
    let mask = 0
    for (const key of held) {
      this.#key(key, 1)
      mask |= bitOf(key)
      this.#modifiers(mask)
    }
    this.#key(code, 1)
    this.#key(code, 0)
    for (const key of held.toReversed()) {
      this.#key(key, 0)
      mask &= ~bitOf(key)
      this.#modifiers(mask)
    }
    await this.#wayland.sync(deadline)
  }

  async close(deadline: Deadline): Promise<void> {
    await handOver(this.#env, deadline)
  }

  /** The compositor treats the keyboard that last changed something as the current one. */
  async becomeCurrent(deadline: Deadline): Promise<void> {
    this.#modifiers(MODIFIER_KEYS.shift.bit)
    this.#modifiers(0)
    await this.#wayland.sync(deadline)
  }

  #key(code: number, state: 0 | 1): void {
    this.#wayland.send(new WaylandMessage(this.#object, KEY).u32(eventTime()).u32(code).u32(state))
  }

  #modifiers(mask: number): void {
    this.#wayland.send(new WaylandMessage(this.#object, MODIFIERS).u32(mask).u32(0).u32(0).u32(0))
  }
}

/** The longest prefix of the text for which the printable keys suffice, and their meanings. */
function takeRun(chars: readonly string[]): {
  readonly run: readonly string[]
  readonly codes: ReadonlyMap<string, number>
} {
  const codes = new Map<string, number>()
  let length = 0
  for (const char of chars) {
    const isKey = char === "\n" || char === "\t"
    if (!isKey && !codes.has(char)) {
      if (codes.size === PRINTABLE.length) break
      codes.set(char, PRINTABLE[codes.size]!)
    }
    length++
  }
  return { run: chars.slice(0, length), codes }
}

/**
 * Keys that produce characters on every keyboard, by their numbers in linux/input-event-codes.h. Chromium reads others,
 * such as 14, as on a PC keyboard, regardless of the keymap.
 */
const PRINTABLE: readonly number[] = [
  ...range(2, 13),
  ...range(16, 27),
  ...range(30, 41),
  43,
  ...range(44, 53),
]

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** Names of the printable keys in xkeyboard-config, in the same order. */
const XKB_NAMES: readonly string[] = [
  ..."AE01 AE02 AE03 AE04 AE05 AE06 AE07 AE08 AE09 AE10 AE11 AE12".split(" "),
  ..."AD01 AD02 AD03 AD04 AD05 AD06 AD07 AD08 AD09 AD10 AD11 AD12".split(" "),
  ..."AC01 AC02 AC03 AC04 AC05 AC06 AC07 AC08 AC09 AC10 AC11 TLDE".split(" "),
  "BKSL",
  ..."AB01 AB02 AB03 AB04 AB05 AB06 AB07 AB08 AB09 AB10".split(" "),
]

function keymapText(keysyms: ReadonlyMap<number, number>): string {
  const keys = [...keysyms].map(([code, keysym]) => {
    const sym = `0x${keysym.toString(16)}`
    return `replace key <${XKB_NAMES[PRINTABLE.indexOf(code)]}> { type = "TWO_LEVEL", [ ${sym}, ${sym} ] };`
  })
  return `xkb_keymap {
xkb_keycodes { include "evdev+aliases(qwerty)" };
xkb_types { include "complete" };
xkb_compatibility { include "complete" };
xkb_symbols { include "pc+us+inet(evdev)"
${keys.join("\n")}
};
};
`
}

const MODIFIER_KEYS: Readonly<Record<Modifier, { readonly code: number; readonly bit: number }>> = {
  shift: { code: 42, bit: 1 },
  ctrl: { code: 29, bit: 4 },
  alt: { code: 56, bit: 8 },
  cmd: { code: 125, bit: 64 },
}

const bitOf = (code: number): number =>
  Object.values(MODIFIER_KEYS).find((one) => one.code === code)?.bit ?? 0

const RETURN = 28
const TAB = 15
const CREATE = 0
const KEYMAP = 0
const KEY = 1
const MODIFIERS = 2
const TEXT_V1 = 1

/**
 * The key for this name or character, by its number in linux/input-event-codes.h, and the modifiers that it needs.
 * undefined: the US layout has none.
 */
function keyOf(key: string): { readonly code: number; readonly with: readonly Modifier[] } | undefined {
  const named = NAMED.get(key)
  if (named !== undefined) return { code: named, with: [] }
  for (const [text, withShift] of ROWS) {
    for (const [first, chars] of text) {
      const at = [...chars].indexOf(key)
      if (at >= 0) return { code: first + at, with: withShift ? ["shift"] : [] }
    }
  }
  return undefined
}

const ROWS: readonly (readonly [readonly (readonly [number, string])[], boolean])[] = [
  [
    [
      [2, "1234567890-="],
      [16, "qwertyuiop[]"],
      [30, "asdfghjkl;'`"],
      [43, "\\"],
      [44, "zxcvbnm,./"],
      [57, " "],
    ],
    false,
  ],
  [
    [
      [2, "!@#$%^&*()_+"],
      [16, "QWERTYUIOP{}"],
      [30, 'ASDFGHJKL:"~'],
      [43, "|"],
      [44, "ZXCVBNM<>?"],
    ],
    true,
  ],
]

const NAMED: ReadonlyMap<string, number> = new Map<NamedKey, number>([
  ["escape", 1],
  ["backspace", 14],
  ["tab", 15],
  ["return", 28],
  ["space", 57],
  ["home", 102],
  ["up", 103],
  ["pageup", 104],
  ["left", 105],
  ["right", 106],
  ["end", 107],
  ["down", 108],
  ["pagedown", 109],
  ["insert", 110],
  ["forwarddelete", 111],
  ["menu", 127],
  ["printscreen", 99],
  ["shift", 42],
  ["ctrl", 29],
  ["alt", 56],
  ["cmd", 125],
  ...Array.from({ length: 10 }, (_, i): [NamedKey, number] => [`f${i + 1}` as NamedKey, 59 + i]),
  ["f11", 87],
  ["f12", 88],
  ...Array.from({ length: 12 }, (_, i): [NamedKey, number] => [`f${i + 13}` as NamedKey, 183 + i]),
])

/** The abstract socket of the process that holds a compositor's pointer and keyboard; see input-holder.ts. */
export const holderSocket = (env: Env): string =>
  `\0agent-desktop-holder-${Bun.hash(socketPath(env)).toString(36)}`

/**
 * Makes the held keyboard the seat's current one again before ours disappears: a seat that has lost its current
 * keyboard has no keymap, and Chromium crashes if it starts then. Without a holder, the next key on a real keyboard
 * does the same.
 */
async function handOver(env: Env, deadline: Deadline): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(ANSWER_MS, deadline.remaining))
  const done = () => resolve()
  const socket = await Bun.connect({
    unix: holderSocket(env),
    socket: { data: done, close: done, error: done },
  }).catch(() => undefined)
  if (socket) {
    socket.write("again\n")
    await promise
    socket.terminate()
  }
  clearTimeout(timer)
}

const ANSWER_MS = 1000
