import { describe, expect, test } from "bun:test"
import { readKeymap } from "../../../ffi/xkb.ts"
import { Layout } from "../../../src/linux/wayland/layout.ts"

/** Layouts as compositors give them to apps. xkbcomp makes the expected keymaps from the same rules. */

async function layoutOf(symbols: string): Promise<Layout> {
  const source = `xkb_keymap {
xkb_keycodes { include "evdev+aliases(qwerty)" };
xkb_types { include "complete" };
xkb_compat { include "complete" };
xkb_symbols { include "pc+${symbols}+inet(evdev)" };
};`
  const made = Bun.$`xkbcomp -w0 -I/usr/share/X11/xkb -xkb - - < ${new Response(source)}`
  const keymap = readKeymap(new Uint8Array(await made.quiet().arrayBuffer()))
  if (!keymap) throw new Error(`no keymap for ${symbols}`)
  return Layout.of(keymap.symbols, keymap.layouts)
}

const SHIFT = 42
const ALT_GR = 100

describe("the keys of a layout", () => {
  test("are the keys that type the characters in that layout", async () => {
    const german = await layoutOf("de")
    expect(german.charStroke("z")).toEqual({ code: 21, held: [] })
    expect(german.charStroke("Z")).toEqual({ code: 21, held: [SHIFT] })
    expect(german.charStroke("ü")).toEqual({ code: 26, held: [] })
    expect(german.charStroke("@")).toEqual({ code: 16, held: [ALT_GR] })
    expect(german.charStroke("\n")?.code).toBe(28)
    expect(german.strokeOf({ key: "z", modifiers: ["ctrl"] })).toEqual({ code: 21, held: [29] })
    expect(german.strokeOf({ key: "escape", modifiers: [] })?.code).toBe(1)
  })

  test("do not include other characters", async () => {
    const american = await layoutOf("us")
    for (const char of ["ü", "日", "😀", "€"])
      expect([char, american.charStroke(char)]).toEqual([char, undefined])
    // The layout also defines a separate key for "$", which not all apps accept.
    expect(american.charStroke("$")).toEqual({ code: 5, held: [SHIFT] })
  })

  test("count only if they type the same character in every layout of the session", async () => {
    const both = await layoutOf("us+de:2")
    expect(both.charStroke("a")).toEqual({ code: 30, held: [] })
    for (const char of ["z", "y", "ü", "@"]) expect([char, both.charStroke(char)]).toEqual([char, undefined])
  })
})
