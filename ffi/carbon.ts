import { type Declaration, lazily, variable } from "./library.ts"

const LIBRARY = "/System/Library/Frameworks/Carbon.framework/Carbon"

export const CARBON = {
  library: LIBRARY,
  functions: {
    TISCopyCurrentKeyboardLayoutInputSource: { args: [], returns: "u64" },
    TISCopyCurrentASCIICapableKeyboardLayoutInputSource: { args: [], returns: "u64" },
    TISGetInputSourceProperty: { args: ["u64", "u64"], returns: "u64" },
    LMGetKbdType: { args: [], returns: "u8" },
  } as const,
  addresses: ["kTISPropertyUnicodeKeyLayoutData"],
} satisfies Declaration

export const CORE_SERVICES = {
  library: "/System/Library/Frameworks/CoreServices.framework/CoreServices",
  functions: {
    UCKeyTranslate: {
      args: ["u64", "u16", "u16", "u32", "u32", "u32", "ptr", "u64", "ptr", "ptr"],
      returns: "i32",
    },
  } as const,
  addresses: [],
} satisfies Declaration

export const carbon = lazily(CARBON)
export const coreServices = lazily(CORE_SERVICES)

/** The property key of an input source's keyboard layout. */
export function layoutProperty(): bigint {
  return variable(LIBRARY, "kTISPropertyUnicodeKeyLayoutData")
}
