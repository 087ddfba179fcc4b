import { dlopen, type Library, read } from "bun:ffi"

/**
 * One C type of bun:ffi. What we hold of macOS (CF objects, ids, selectors, addresses) is a `u64`, and so
 * always a bigint: `ptr` results are numbers or bigints by size, and CF hands out tagged pointers with
 * bit 63 set. `ptr` is for buffers of ours that a function reads or fills.
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
 * What one library must have. Every form is the same on arm64 and x86_64: CGPoint and CFRange are
 * flattened into their fields, BOOL is a `u8`, and no function is bound that is variadic, takes a
 * CGRect by value or gives a struct back (those go through libffi.ts).
 */
export interface Declaration<F extends Functions = Functions> {
  readonly library: string
  readonly functions: F
  /** Exported data, or functions of which only the address is needed. */
  readonly addresses: readonly string[]
  /** Private: its absence is no error. */
  readonly guarded?: boolean
}

export type Calls<F extends Functions> = Library<F>["symbols"]

/** The functions of a library, opened at the first call. */
export function lazily<F extends Functions>(declaration: Declaration<F>): () => Calls<F> {
  let opened: Calls<F> | undefined
  return () => {
    opened ??= dlopen(declaration.library, declaration.functions).symbols
    return opened
  }
}

/** The same where the library or one of the symbols may be missing. */
export function guardedly<F extends Functions>(declaration: Declaration<F>): () => Calls<F> | undefined {
  let opened: { readonly calls: Calls<F> | undefined } | undefined
  return () => {
    opened ??= { calls: attempt(() => dlopen(declaration.library, declaration.functions).symbols) }
    return opened.calls
  }
}

/** Where a library keeps a symbol; 0n when it has none of that name. */
export function addressOf(library: string, symbol: string): bigint {
  // Asked for as a function, since that is how bun:ffi looks up a symbol; it is never called.
  const found = attempt(() => dlopen(library, { [symbol]: { args: [], returns: "void" } }).symbols[symbol])
  const { ptr } = (found ?? {}) as { ptr?: number | bigint }
  return BigInt(ptr ?? 0)
}

/** The pointer that an exported variable holds. */
export function variable(library: string, symbol: string): bigint {
  const address = addressOf(library, symbol)
  return address && read.u64(address)
}

/** Every declared symbol that the running system lacks. */
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
