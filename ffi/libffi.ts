import { ptr } from "bun:ffi"
import { type Declaration, lazily } from "./library.ts"

const functions = {
  ffi_prep_cif: { args: ["ptr", "u32", "u32", "ptr", "ptr"], returns: "u32" },
  ffi_call: { args: ["ptr", "u64", "ptr", "ptr"], returns: "void" },
} as const

export const LIBFFI = {
  library: "/usr/lib/libffi.dylib",
  functions,
  addresses: [],
} satisfies Declaration

const libffi = lazily(LIBFFI)

/** FFI_DEFAULT_ABI of <ffi/ffi.h>: FFI_UNIX64 on x86_64, FFI_SYSV on arm64. */
const DEFAULT_ABI = process.arch === "x64" ? 2 : 1
const TYPE_DOUBLE = 3
const TYPE_UINT32 = 9
const TYPE_STRUCT = 13

/** Calls `CGRect function(uint32_t)`: four doubles come back in registers that only libffi can read. */
export function callForRect(fn: bigint, argument: number): Float64Array {
  frame ??= prepare()
  frame.argument[0] = argument
  libffi().ffi_call(frame.cif, fn, frame.result, frame.arguments)
  return frame.result.slice()
}

/** Kept for good: C holds addresses inside these buffers, which the garbage collector does not see. */
let frame: ReturnType<typeof prepare> | undefined

function prepare() {
  const double = type(8, TYPE_DOUBLE)
  const uint32 = type(4, TYPE_UINT32)
  const fields = new BigUint64Array([address(double), address(double), address(double), address(double), 0n])
  // Size and alignment of a struct are for ffi_prep_cif to fill in.
  const rect = type(0, TYPE_STRUCT, address(fields))
  const cif = new Uint8Array(64)
  const types = new BigUint64Array([address(uint32)])
  const status = libffi().ffi_prep_cif(cif, DEFAULT_ABI, 1, rect, types)
  if (status !== 0) throw new Error(`ffi_prep_cif gave ${status}`)
  const argument = new Uint32Array(1)
  const pointers = new BigUint64Array([address(argument)])
  return {
    cif,
    argument,
    arguments: pointers,
    result: new Float64Array(4),
    kept: [double, uint32, fields, rect, types],
  }
}

/** struct ffi_type { size_t size; unsigned short alignment, type; struct ffi_type **elements; } */
function type(size: number, kind: number, elements = 0n): BigUint64Array {
  return new BigUint64Array([BigInt(size), BigInt(size) | (BigInt(kind) << 16n), elements])
}

function address(buffer: NodeJS.TypedArray): bigint {
  return BigInt(ptr(buffer))
}
