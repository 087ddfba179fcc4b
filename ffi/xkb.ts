import { ptr, read } from "bun:ffi"
import { guardedly } from "./library.ts"

/** Keymaps in the text format of XKB, read by the library that compositors read them with. */

const xkb = guardedly({
  library: "libxkbcommon.so.0",
  functions: {
    xkb_context_new: { args: ["i32"], returns: "u64" },
    xkb_context_unref: { args: ["u64"], returns: "void" },
    xkb_keymap_new_from_string: { args: ["u64", "ptr", "i32", "i32"], returns: "u64" },
    xkb_keymap_unref: { args: ["u64"], returns: "void" },
    xkb_keymap_min_keycode: { args: ["u64"], returns: "u32" },
    xkb_keymap_max_keycode: { args: ["u64"], returns: "u32" },
    xkb_keymap_num_layouts: { args: ["u64"], returns: "u32" },
    xkb_keymap_num_levels_for_key: { args: ["u64", "u32", "u32"], returns: "u32" },
    xkb_keymap_key_get_syms_by_level: { args: ["u64", "u32", "u32", "u32", "ptr"], returns: "i32" },
    xkb_keymap_key_get_mods_for_level: {
      args: ["u64", "u32", "u32", "u32", "ptr", "u64"],
      returns: "u64",
    },
  },
  addresses: [],
})

const NO_DEFAULT_INCLUDES = 1
const TEXT_V1 = 1
const MAX_MASKS = 8

/** A symbol on a key: its keycode in XKB (8 more than the kernel's), and the masks of real modifiers that lead to it. */
export interface KeySymbol {
  readonly keycode: number
  readonly layout: number
  readonly keysym: number
  readonly masks: readonly number[]
}

/** All symbols of a keymap. undefined: the library is missing, or does not understand the keymap. */
export function readKeymap(
  text: Uint8Array,
): { readonly layouts: number; readonly symbols: readonly KeySymbol[] } | undefined {
  const lib = xkb()
  if (!lib) return undefined
  const context = lib.xkb_context_new(NO_DEFAULT_INCLUDES)
  if (!context) return undefined
  try {
    const terminated = Buffer.concat([text, Buffer.alloc(1)])
    const keymap = lib.xkb_keymap_new_from_string(context, ptr(terminated), TEXT_V1, 0)
    if (!keymap) return undefined
    try {
      const layouts = lib.xkb_keymap_num_layouts(keymap)
      return { layouts, symbols: readSymbols(lib, keymap, layouts) }
    } finally {
      lib.xkb_keymap_unref(keymap)
    }
  } finally {
    lib.xkb_context_unref(context)
  }
}

function readSymbols(lib: NonNullable<ReturnType<typeof xkb>>, keymap: bigint, layouts: number): KeySymbol[] {
  const symbols: KeySymbol[] = []
  const address = new BigUint64Array(1)
  const masks = new Uint32Array(MAX_MASKS)
  const last = lib.xkb_keymap_max_keycode(keymap)
  for (let keycode = lib.xkb_keymap_min_keycode(keymap); keycode <= last; keycode++) {
    for (let layout = 0; layout < layouts; layout++) {
      const levels = lib.xkb_keymap_num_levels_for_key(keymap, keycode, layout)
      for (let level = 0; level < levels; level++) {
        const count = lib.xkb_keymap_key_get_syms_by_level(keymap, keycode, layout, level, ptr(address))
        if (count !== 1) continue
        const keysym = read.u32(address[0] ?? 0n)
        const found = lib.xkb_keymap_key_get_mods_for_level(
          keymap,
          keycode,
          layout,
          level,
          ptr(masks),
          BigInt(MAX_MASKS),
        )
        symbols.push({ keycode, layout, keysym, masks: [...masks.subarray(0, Number(found))] })
      }
    }
  }
  return symbols
}
