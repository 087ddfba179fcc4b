import { linkSymbols } from "bun:ffi"
import { addressOf, type Calls, type CType, type Declaration, lazily } from "./library.ts"

const LIBRARY = "/usr/lib/libobjc.A.dylib"

export const OBJC = {
  library: LIBRARY,
  functions: {
    objc_getClass: { args: ["cstring"], returns: "u64" },
    sel_registerName: { args: ["cstring"], returns: "u64" },
    objc_autoreleasePoolPush: { args: [], returns: "u64" },
    objc_autoreleasePoolPop: { args: ["u64"], returns: "void" },
  } as const,
  addresses: ["objc_msgSend"],
} satisfies Declaration

/** The messages that we send, by selector. Each is a call of objc_msgSend with the C signature of that method. */
export const MESSAGES = {
  "respondsToSelector:": message("u8", "u64"),
  sharedWorkspace: message("u64"),
  runningApplications: message("u64"),
  "runningApplicationWithProcessIdentifier:": message("u64", "i32"),
  processIdentifier: message("i32"),
  localizedName: message("u64"),
  bundleIdentifier: message("u64"),
  activationPolicy: message("i64"),
  terminate: message("u8"),
  forceTerminate: message("u8"),
  generalPasteboard: message("u64"),
  clearContents: message("i64"),
  "setString:forType:": message("u8", "u64", "u64"),
  accessBehavior: message("i64"),
  screens: message("u64"),
  "valueForKey:": message("u64", "u64"),
  "getValue:size:": message("void", "ptr", "u64"),
} as const

type Messages = typeof MESSAGES

/** AppKit. Opening it registers the classes that objc_getClass finds. */
export const APPKIT = {
  library: "/System/Library/Frameworks/AppKit.framework/AppKit",
  functions: { NSApplicationLoad: { args: [], returns: "u8" } } as const,
  addresses: [],
} satisfies Declaration

const objc = lazily(OBJC)
const appKit = lazily(APPKIT)
const selectors = new Map<string, bigint>()
let messages: Calls<Messages> | undefined

/** Sends a message. Pass only valid arguments: an Objective-C exception would end the process. */
export function send<S extends keyof Messages>(
  receiver: bigint,
  selector: S,
  ...args: Parameters<Calls<Messages>[S]> extends [unknown, unknown, ...infer Rest] ? Rest : never
): ReturnType<Calls<Messages>[S]> {
  messages ??= linkMessages()
  const call = messages[selector] as unknown as (...all: unknown[]) => ReturnType<Calls<Messages>[S]>
  return call(receiver, selectorOf(selector), ...args)
}

export function respondsTo(receiver: bigint, selector: keyof Messages): boolean {
  return send(receiver, "respondsToSelector:", selectorOf(selector)) !== 0
}

/** A class of AppKit or Foundation; 0n if there is none of this name. Loads both on first use. */
export function appKitClass(name: string): bigint {
  appKit()
  return objc().objc_getClass(name)
}

/**
 * Frees the objects that macOS autoreleases, at the end of the `using` block. Pools are a stack: in a block with an await,
 * another one could end first. Only the one around whole commands (src/macos/connection.ts) may last longer.
 */
export class AutoreleasePool {
  readonly #pool = objc().objc_autoreleasePoolPush();

  [Symbol.dispose](): void {
    objc().objc_autoreleasePoolPop(this.#pool)
  }
}

function selectorOf(name: string): bigint {
  const known = selectors.get(name)
  if (known !== undefined) return known
  const selector = objc().sel_registerName(name)
  selectors.set(name, selector)
  return selector
}

function linkMessages(): Calls<Messages> {
  const ptr = addressOf(LIBRARY, "objc_msgSend")
  const linked = Object.entries(MESSAGES).map(([selector, form]) => [selector, { ...form, ptr }])
  return linkSymbols(Object.fromEntries(linked) as Messages).symbols
}

/** The receiver and the selector come first in every message. */
function message<R extends CType, const A extends readonly CType[]>(returns: R, ...args: A) {
  return { args: ["u64", "u64", ...args] as const, returns } as const
}
