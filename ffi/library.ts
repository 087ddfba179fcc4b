import { dlopen, type Library, read } from "bun:ffi"

/**
 * One C type of bun:ffi. References to macOS objects (CF objects, ids, selectors, addresses) are `u64`, and so
 * always bigints: a `ptr` result is a number or a bigint depending on its size, and CF returns tagged pointers
 * with bit 63 set. `ptr` is for our own buffers that a function reads or fills.
 */
export type CType =
  | "void"
  | "bool"
  | "u8"
  | "u16"
  | "i32"
  | "u32"
  | "i64"
  | "u64"
  | "f32"
  | "f64"
  | "ptr"
  | "cstring"

export type Functions = Readonly<Record<string, { readonly args: readonly CType[]; readonly returns: CType }>>

/**
 * The symbols that we need of one library. Every signature works on both arm64 and x86_64: CGPoint and
 * CFRange are flattened into their fields, and BOOL is a `u8`. Variadic functions, and functions that take a
 * CGRect by value or return a struct, are not bound this way (core-graphics.ts calls one through libffi).
 */
export interface Declaration<F extends Functions = Functions> {
  readonly library: string
  readonly functions: F
  /** Exported data, and functions that we only need the address of. */
  readonly addresses: readonly string[]
  /** Private symbols, which may be missing. */
  readonly guarded?: boolean
}

export type Calls<F extends Functions> = Library<F>["symbols"]

/** The functions of a library, which is opened at the first call. */
export function lazily<F extends Functions>(declaration: Declaration<F>): () => Calls<F> {
  let opened: Calls<F> | undefined
  return () => {
    opened ??= dlopen(declaration.library, declaration.functions).symbols
    return opened
  }
}

/** The functions of a library; undefined if the library or one of the symbols is missing. */
export function guardedly<F extends Functions>(declaration: Declaration<F>): () => Calls<F> | undefined {
  let opened: { readonly calls: Calls<F> | undefined } | undefined
  return () => {
    opened ??= { calls: attempt(() => dlopen(declaration.library, declaration.functions).symbols) }
    return opened.calls
  }
}

/** The address of a symbol; 0n if the library does not have it. */
export function addressOf(library: string, symbol: string): bigint {
  // bun:ffi looks up symbols only as functions. This one is never called.
  const found = attempt(() => dlopen(library, { [symbol]: { args: [], returns: "void" } }).symbols[symbol])
  const { ptr } = (found ?? {}) as { ptr?: number | bigint }
  return BigInt(ptr ?? 0)
}

/** The pointer that an exported variable holds. */
export function variable(library: string, symbol: string): bigint {
  const address = addressOf(library, symbol)
  return address && read.u64(address)
}

/** The declared symbols that the running system lacks. */
export function missingSymbols({ library, functions, addresses }: Declaration): string[] {
  const names = [...Object.keys(functions), ...addresses]
  const all = Object.fromEntries(names.map((name) => [name, { args: [], returns: "void" } as const]))
  return attempt(() => dlopen(library, all)) ? [] : names.filter((name) => addressOf(library, name) === 0n)
}

/** bun:ffi throws for a missing library and for a missing symbol alike. */
function attempt<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}
