import type { Modifier } from "../../action.ts"
import type { NamedKey } from "../../keys.ts"

/** Keys of the US layout, by their numbers in linux/input-event-codes.h. */

/** The key for this name or character, and the modifiers that it needs. undefined: the US layout has none. */
export function keyOf(
  key: string,
): { readonly code: number; readonly with: readonly Modifier[] } | undefined {
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
