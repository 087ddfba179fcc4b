import { ptr, read } from "bun:ffi"
import { addressOf, type Declaration, lazily } from "./library.ts"

const LIBRARY = "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics"

const functions = {
  CGWindowListCopyWindowInfo: { args: ["u32", "u32"], returns: "u64" },
  CGRectMakeWithDictionaryRepresentation: { args: ["u64", "ptr"], returns: "bool" },
  CGSessionCopyCurrentDictionary: { args: [], returns: "u64" },

  CGColorGetTypeID: { args: [], returns: "u64" },
  CGColorGetColorSpace: { args: ["u64"], returns: "u64" },
  CGColorSpaceGetModel: { args: ["u64"], returns: "i32" },
  CGColorGetNumberOfComponents: { args: ["u64"], returns: "u64" },
  CGColorGetComponents: { args: ["u64"], returns: "u64" },

  CGMainDisplayID: { args: [], returns: "u32" },
  CGGetActiveDisplayList: { args: ["u32", "ptr", "ptr"], returns: "i32" },
  CGDisplayCopyDisplayMode: { args: ["u32"], returns: "u64" },
  CGDisplayModeGetWidth: { args: ["u64"], returns: "u64" },
  CGDisplayModeGetPixelWidth: { args: ["u64"], returns: "u64" },
  CGDisplayModeRelease: { args: ["u64"], returns: "void" },

  CGPreflightScreenCaptureAccess: { args: [], returns: "bool" },
  CGRequestScreenCaptureAccess: { args: [], returns: "bool" },
  CGPreflightPostEventAccess: { args: [], returns: "bool" },
  CGRequestPostEventAccess: { args: [], returns: "bool" },

  CGEventSourceCreate: { args: ["i32"], returns: "u64" },
  CGEventSourceCounterForEventType: { args: ["i32", "u32"], returns: "u32" },
  CGEventSourceSetLocalEventsSuppressionInterval: { args: ["u64", "f64"], returns: "void" },
  CGEventCreateKeyboardEvent: { args: ["u64", "u16", "bool"], returns: "u64" },
  CGEventKeyboardSetUnicodeString: { args: ["u64", "u64", "ptr"], returns: "void" },
  CGEventCreateMouseEvent: { args: ["u64", "u32", "f64", "f64", "u32"], returns: "u64" },
  CGEventCreateScrollWheelEvent2: { args: ["u64", "u32", "u32", "i32", "i32", "i32"], returns: "u64" },
  CGEventGetType: { args: ["u64"], returns: "u32" },
  CGEventGetFlags: { args: ["u64"], returns: "u64" },
  CGEventSetFlags: { args: ["u64", "u64"], returns: "void" },
  CGEventSetIntegerValueField: { args: ["u64", "u32", "i64"], returns: "void" },
  CGEventPost: { args: ["u32", "u64"], returns: "void" },
} as const

export const CORE_GRAPHICS = {
  library: LIBRARY,
  functions,
  addresses: ["CGDisplayBounds"],
} satisfies Declaration

export const coreGraphics = lazily(CORE_GRAPHICS)

/** CGColorSpaceModel */
export const MODEL_GREY = 0
export const MODEL_RGB = 1

/** A copy of the components of a colour, alpha last: the colour owns the array. */
export function colorComponents(color: bigint): readonly number[] {
  const cg = coreGraphics()
  const address = cg.CGColorGetComponents(color)
  const count = address ? Number(cg.CGColorGetNumberOfComponents(color)) : 0
  return Array.from({ length: count }, (_, at) => read.f64(address, at * 8))
}

/** x, y, width and height of a display. CGDisplayBounds returns a struct, which bun:ffi cannot read. */
export function displayBounds(display: number): Float64Array {
  return callForRect(addressOf(LIBRARY, "CGDisplayBounds"), display)
}

const ffiFunctions = {
  ffi_prep_cif: { args: ["ptr", "u32", "u32", "ptr", "ptr"], returns: "u32" },
  ffi_call: { args: ["ptr", "u64", "ptr", "ptr"], returns: "void" },
} as const

export const LIBFFI = {
  library: "/usr/lib/libffi.dylib",
  functions: ffiFunctions,
  addresses: [],
} satisfies Declaration

const libffi = lazily(LIBFFI)

/** FFI_DEFAULT_ABI of <ffi/ffi.h>: FFI_UNIX64 on x86_64, FFI_SYSV on arm64. */
const DEFAULT_ABI = process.arch === "x64" ? 2 : 1
const TYPE_DOUBLE = 3
const TYPE_UINT32 = 9
const TYPE_STRUCT = 13

/** Calls `CGRect function(uint32_t)`. It returns four doubles in registers that only libffi can read. */
export function callForRect(fn: bigint, argument: number): Float64Array {
  frame ??= prepare()
  frame.argument[0] = argument
  libffi().ffi_call(frame.cif, fn, frame.result, frame.arguments)
  return frame.result.slice()
}

/** Never freed: C holds addresses inside these buffers, which the garbage collector does not see. */
let frame: ReturnType<typeof prepare> | undefined

function prepare() {
  const double = type(8, TYPE_DOUBLE)
  const uint32 = type(4, TYPE_UINT32)
  const fields = new BigUint64Array([address(double), address(double), address(double), address(double), 0n])
  // ffi_prep_cif fills in the size and alignment of the struct.
  const rect = type(0, TYPE_STRUCT, address(fields))
  const cif = new Uint8Array(64)
  const types = new BigUint64Array([address(uint32)])
  const status = libffi().ffi_prep_cif(cif, DEFAULT_ABI, 1, rect, types)
  if (status !== 0) throw new Error(`ffi_prep_cif returned ${status}`)
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
