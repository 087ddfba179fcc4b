import { addressOf, type Declaration, lazily, variable } from "./library.ts"

const LIBRARY = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"

const functions = {
  CFRetain: { args: ["u64"], returns: "u64" },
  CFRelease: { args: ["u64"], returns: "void" },
  CFGetTypeID: { args: ["u64"], returns: "u64" },
  CFHash: { args: ["u64"], returns: "u64" },
  CFEqual: { args: ["u64", "u64"], returns: "u8" },

  CFStringGetTypeID: { args: [], returns: "u64" },
  CFStringCreateWithCharacters: { args: ["u64", "ptr", "i64"], returns: "u64" },
  CFStringGetLength: { args: ["u64"], returns: "i64" },
  CFStringGetCharacters: { args: ["u64", "i64", "i64", "ptr"], returns: "void" },
  CFAttributedStringGetTypeID: { args: [], returns: "u64" },
  CFAttributedStringGetString: { args: ["u64"], returns: "u64" },
  CFAttributedStringGetLength: { args: ["u64"], returns: "i64" },
  CFAttributedStringGetAttributes: { args: ["u64", "i64", "ptr"], returns: "u64" },

  CFBooleanGetTypeID: { args: [], returns: "u64" },
  CFBooleanGetValue: { args: ["u64"], returns: "u8" },
  CFNumberGetTypeID: { args: [], returns: "u64" },
  CFNumberGetValue: { args: ["u64", "i64", "ptr"], returns: "u8" },
  CFNumberCreate: { args: ["u64", "i64", "ptr"], returns: "u64" },

  CFArrayGetTypeID: { args: [], returns: "u64" },
  CFArrayCreate: { args: ["u64", "ptr", "i64", "u64"], returns: "u64" },
  CFArrayGetCount: { args: ["u64"], returns: "i64" },
  CFArrayGetValues: { args: ["u64", "i64", "i64", "ptr"], returns: "void" },
  CFDictionaryGetTypeID: { args: [], returns: "u64" },
  CFDictionaryCreate: { args: ["u64", "ptr", "ptr", "i64", "u64", "u64"], returns: "u64" },
  CFDictionaryGetValue: { args: ["u64", "u64"], returns: "u64" },
  CFDataGetTypeID: { args: [], returns: "u64" },
  CFDataGetBytePtr: { args: ["u64"], returns: "u64" },

  CFURLGetTypeID: { args: [], returns: "u64" },
  CFURLGetString: { args: ["u64"], returns: "u64" },
  CFURLCreateFromFileSystemRepresentation: { args: ["u64", "ptr", "i64", "u8"], returns: "u64" },
  CFBundleCreate: { args: ["u64", "u64"], returns: "u64" },
  CFBundleGetIdentifier: { args: ["u64"], returns: "u64" },

  CFRunLoopGetCurrent: { args: [], returns: "u64" },
  CFRunLoopAddSource: { args: ["u64", "u64", "u64"], returns: "void" },
  CFRunLoopRemoveSource: { args: ["u64", "u64", "u64"], returns: "void" },
  CFRunLoopRunInMode: { args: ["u64", "f64", "u8"], returns: "i32" },
} as const

export const CORE_FOUNDATION = {
  library: LIBRARY,
  functions,
  addresses: [
    "kCFTypeArrayCallBacks",
    "kCFTypeDictionaryKeyCallBacks",
    "kCFTypeDictionaryValueCallBacks",
    "kCFBooleanTrue",
    "kCFBooleanFalse",
    "kCFRunLoopDefaultMode",
  ],
} satisfies Declaration

export const coreFoundation = lazily(CORE_FOUNDATION)

/** CFNumberType: the widest integer and the widest float, which hold every number. */
export const NUMBER_SINT64 = 4
export const NUMBER_FLOAT64 = 6

interface CoreConstants {
  readonly arrayCallBacks: bigint
  readonly keyCallBacks: bigint
  readonly valueCallBacks: bigint
  readonly yes: bigint
  readonly no: bigint
  readonly defaultMode: bigint
}

let constants: CoreConstants | undefined

/** Exported data of CoreFoundation. The callback structs are passed by address; the others are objects. */
export function coreConstants(): CoreConstants {
  constants ??= {
    arrayCallBacks: addressOf(LIBRARY, "kCFTypeArrayCallBacks"),
    keyCallBacks: addressOf(LIBRARY, "kCFTypeDictionaryKeyCallBacks"),
    valueCallBacks: addressOf(LIBRARY, "kCFTypeDictionaryValueCallBacks"),
    yes: variable(LIBRARY, "kCFBooleanTrue"),
    no: variable(LIBRARY, "kCFBooleanFalse"),
    defaultMode: variable(LIBRARY, "kCFRunLoopDefaultMode"),
  }
  return constants
}

/** A CF object that we own. `using` releases it at the end of the block. NULL is allowed. */
export class Owned {
  readonly ref: bigint

  constructor(ref: bigint) {
    this.ref = ref
  }

  [Symbol.dispose](): void {
    if (this.ref) coreFoundation().CFRelease(this.ref)
  }
}
