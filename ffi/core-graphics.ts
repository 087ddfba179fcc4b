import { callForRect } from "./libffi.ts"
import { addressOf, type Declaration, lazily } from "./library.ts"

const LIBRARY = "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics"

const functions = {
  CGWindowListCopyWindowInfo: { args: ["u32", "u32"], returns: "u64" },
  CGRectMakeWithDictionaryRepresentation: { args: ["u64", "ptr"], returns: "bool" },
  CGSessionCopyCurrentDictionary: { args: [], returns: "u64" },

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

/** x, y, width and height of a display. CGDisplayBounds gives a struct back, which bun:ffi cannot read. */
export function displayBounds(display: number): Float64Array {
  return callForRect(addressOf(LIBRARY, "CGDisplayBounds"), display)
}
