/** A small, plain client of the frameworks, for the tests of the stand-in itself. */
import { dlopen, ptr } from "bun:ffi"
import { buildFake } from "./build.ts"

export const UTF8 = 0x08000100

const declared = {
  CFStringCreateWithCString: { args: ["ptr", "ptr", "u32"], returns: "u64" },
  CFStringCreateWithCharacters: { args: ["ptr", "ptr", "i64"], returns: "u64" },
  CFStringGetLength: { args: ["u64"], returns: "i64" },
  CFStringGetCharacters: { args: ["u64", "i64", "i64", "ptr"], returns: "void" },
  CFGetTypeID: { args: ["u64"], returns: "u64" },
  CFCopyTypeIDDescription: { args: ["u64"], returns: "u64" },
  CFRetain: { args: ["u64"], returns: "u64" },
  CFRelease: { args: ["u64"], returns: "void" },
  CFEqual: { args: ["u64", "u64"], returns: "u8" },
  CFHash: { args: ["u64"], returns: "u64" },
  CFArrayCreate: { args: ["ptr", "ptr", "i64", "u64"], returns: "u64" },
  CFArrayGetCount: { args: ["u64"], returns: "i64" },
  CFArrayGetValueAtIndex: { args: ["u64", "i64"], returns: "u64" },
  CFDictionaryGetCount: { args: ["u64"], returns: "i64" },
  CFDictionaryGetValue: { args: ["u64", "u64"], returns: "u64" },
  CFDictionaryGetKeysAndValues: { args: ["u64", "ptr", "ptr"], returns: "void" },
  CFNumberGetValue: { args: ["u64", "i64", "ptr"], returns: "u8" },
  CFNumberCreate: { args: ["ptr", "i64", "ptr"], returns: "u64" },
  CFBooleanGetValue: { args: ["u64"], returns: "u8" },
  CFAttributedStringGetString: { args: ["u64"], returns: "u64" },
  CFURLGetString: { args: ["u64"], returns: "u64" },
  CFDataGetBytePtr: { args: ["u64"], returns: "u64" },
  CFRunLoopGetCurrent: { args: [], returns: "u64" },
  CFRunLoopAddSource: { args: ["u64", "u64", "u64"], returns: "void" },
  CFRunLoopRemoveSource: { args: ["u64", "u64", "u64"], returns: "void" },
  CFRunLoopRunInMode: { args: ["u64", "f64", "u8"], returns: "i32" },
  AXIsProcessTrusted: { args: [], returns: "u8" },
  AXUIElementCreateApplication: { args: ["i32"], returns: "u64" },
  AXUIElementCreateSystemWide: { args: [], returns: "u64" },
  AXUIElementCopyAttributeValue: { args: ["u64", "u64", "ptr"], returns: "i32" },
  AXUIElementCopyAttributeValues: { args: ["u64", "u64", "i64", "i64", "ptr"], returns: "i32" },
  AXUIElementCopyMultipleAttributeValues: { args: ["u64", "u64", "u32", "ptr"], returns: "i32" },
  AXUIElementCopyActionNames: { args: ["u64", "ptr"], returns: "i32" },
  AXUIElementCopyAttributeNames: { args: ["u64", "ptr"], returns: "i32" },
  AXUIElementCopyElementAtPosition: { args: ["u64", "f32", "f32", "ptr"], returns: "i32" },
  AXUIElementIsAttributeSettable: { args: ["u64", "u64", "ptr"], returns: "i32" },
  AXUIElementPerformAction: { args: ["u64", "u64"], returns: "i32" },
  AXUIElementSetAttributeValue: { args: ["u64", "u64", "u64"], returns: "i32" },
  AXUIElementSetMessagingTimeout: { args: ["u64", "f32"], returns: "i32" },
  AXUIElementGetPid: { args: ["u64", "ptr"], returns: "i32" },
  _AXUIElementGetWindow: { args: ["u64", "ptr"], returns: "i32" },
  AXValueCreate: { args: ["u32", "ptr"], returns: "u64" },
  AXValueGetType: { args: ["u64"], returns: "u32" },
  AXValueGetValue: { args: ["u64", "u32", "ptr"], returns: "u8" },
  AXObserverCreate: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  AXObserverAddNotification: { args: ["u64", "u64", "u64", "u64"], returns: "i32" },
  AXObserverGetRunLoopSource: { args: ["u64"], returns: "u64" },
  CGWindowListCopyWindowInfo: { args: ["u32", "u32"], returns: "u64" },
  CGGetActiveDisplayList: { args: ["u32", "ptr", "ptr"], returns: "i32" },
  CGPreflightScreenCaptureAccess: { args: [], returns: "bool" },
  CGEventCreateMouseEvent: { args: ["u64", "u32", "f64", "f64", "u32"], returns: "u64" },
  CGEventCreateKeyboardEvent: { args: ["u64", "u16", "bool"], returns: "u64" },
  CGEventCreateScrollWheelEvent2: { args: ["u64", "u32", "u32", "i32", "i32", "i32"], returns: "u64" },
  CGEventSetIntegerValueField: { args: ["u64", "u32", "i64"], returns: "void" },
  CGEventSetFlags: { args: ["u64", "u64"], returns: "void" },
  CGEventSetLocation: { args: ["u64", "f64", "f64"], returns: "void" },
  CGEventKeyboardSetUnicodeString: { args: ["u64", "u64", "ptr"], returns: "void" },
  CGEventPost: { args: ["u32", "u64"], returns: "void" },
  CGEventPostToPid: { args: ["i32", "u64"], returns: "void" },
  TISCopyCurrentKeyboardInputSource: { args: [], returns: "u64" },
  TISCopyCurrentKeyboardLayoutInputSource: { args: [], returns: "u64" },
  TISGetInputSourceProperty: { args: ["u64", "u64"], returns: "u64" },
  UCKeyTranslate: {
    args: ["u64", "u16", "u16", "u32", "u32", "u32", "ptr", "u64", "ptr", "ptr"],
    returns: "i32",
  },
  objc_getClass: { args: ["ptr"], returns: "u64" },
  sel_registerName: { args: ["ptr"], returns: "u64" },
  objc_msgSend: { args: ["u64", "u64", "u64", "u64"], returns: "u64" },
  objc_autoreleasePoolPush: { args: [], returns: "u64" },
  objc_autoreleasePoolPop: { args: ["u64"], returns: "void" },
  proc_pidpath: { args: ["i32", "ptr", "u32"], returns: "i32" },
  proc_pidinfo: { args: ["i32", "i32", "u64", "ptr", "i32"], returns: "i32" },
  fakemac_address: { args: ["ptr"], returns: "u64" },
  fakemac_constant: { args: ["ptr"], returns: "u64" },
} as const

let opened: ReturnType<typeof open> | undefined

function open() {
  return dlopen(buildFake().library, declared).symbols
}

/** The functions. All references are bigints. */
export function mac(): ReturnType<typeof open> {
  opened ??= open()
  return opened
}

export function cstring(text: string): ReturnType<typeof ptr> {
  return ptr(Buffer.from(`${text}\0`))
}

/** The value of an exported pointer variable such as kCFRunLoopDefaultMode. */
export function constant(name: string): bigint {
  return mac().fakemac_constant(cstring(name))
}

/** An array that retains its items. */
export function makeArray(refs: readonly bigint[]): bigint {
  const callbacks = mac().fakemac_address(cstring("kCFTypeArrayCallBacks"))
  return mac().CFArrayCreate(null, ptr(BigUint64Array.from(refs)), BigInt(refs.length), callbacks)
}

export function makeString(text: string): bigint {
  return mac().CFStringCreateWithCString(null, cstring(text), UTF8)
}

/** Calls a function with a string that is released afterwards. */
export function withString<T>(text: string, use: (string: bigint) => T): T {
  const string = makeString(text)
  try {
    return use(string)
  } finally {
    mac().CFRelease(string)
  }
}

export interface Answer {
  readonly error: number
  readonly value?: unknown
}

export function application(pid: number): bigint {
  return mac().AXUIElementCreateApplication(pid)
}

export function copy(element: bigint, attribute: string): { error: number; ref: bigint } {
  const out = new BigUint64Array(1)
  const error = withString(attribute, (name) => mac().AXUIElementCopyAttributeValue(element, name, ptr(out)))
  return { error, ref: out[0] ?? 0n }
}

/** An attribute as a plain value. Elements stay references, and the caller releases them. */
export function read(element: bigint, attribute: string): Answer {
  const { error, ref } = copy(element, attribute)
  if (ref === 0n) return { error }
  const value = plain(ref)
  if (typeof value !== "bigint") mac().CFRelease(ref)
  return { error, value }
}

/** The first element below, depth first, with this title, description or value. The caller releases it. */
export function find(root: bigint, name: string, depth = 30): bigint | undefined {
  for (const attribute of ["AXTitle", "AXDescription", "AXValue"]) {
    if (read(root, attribute).value === name) return mac().CFRetain(root)
  }
  // Some scenes contain cycles.
  const { ref } = depth > 0 ? copy(root, "AXChildren") : { ref: 0n }
  if (ref === 0n) return undefined
  try {
    if (typeName(ref) !== "CFArray") return undefined
    for (const child of items(ref)) {
      if (typeName(child) !== "AXUIElement") continue
      const found = find(child, name, depth - 1)
      if (found) return found
    }
    return undefined
  } finally {
    mac().CFRelease(ref)
  }
}

export function perform(element: bigint, action: string): number {
  return withString(action, (name) => mac().AXUIElementPerformAction(element, name))
}

export function write(element: bigint, attribute: string, value: bigint): number {
  return withString(attribute, (name) => mac().AXUIElementSetAttributeValue(element, name, value))
}

export function items(array: bigint): bigint[] {
  const count = Number(mac().CFArrayGetCount(array))
  return Array.from({ length: count }, (_, index) => mac().CFArrayGetValueAtIndex(array, BigInt(index)))
}

const typeNames = new Map<bigint, string>()

export function typeName(ref: bigint): string {
  const type = mac().CFGetTypeID(ref)
  const known = typeNames.get(type)
  if (known) return known
  const name = mac().CFCopyTypeIDDescription(type)
  const text = stringValue(name)
  mac().CFRelease(name)
  typeNames.set(type, text)
  return text
}

export function stringValue(ref: bigint): string {
  const length = Number(mac().CFStringGetLength(ref))
  if (length === 0) return ""
  const units = new Uint16Array(length)
  mac().CFStringGetCharacters(ref, 0n, BigInt(length), ptr(units))
  return Array.from(units, (unit) => String.fromCharCode(unit)).join("")
}

/** The value of a reference. Ownership does not change. */
export function plain(ref: bigint): unknown {
  switch (typeName(ref)) {
    case "CFString":
      return stringValue(ref)
    case "CFBoolean":
      return mac().CFBooleanGetValue(ref) !== 0
    case "CFNull":
      return null
    case "CFNumber": {
      const number = new Float64Array(1)
      mac().CFNumberGetValue(ref, 13n, ptr(number))
      return number[0]
    }
    case "CFArray":
      return items(ref).map((item) => (typeName(item) === "AXUIElement" ? "element" : plain(item)))
    case "CFDictionary":
      return Object.fromEntries(entries(ref).map(([key, value]) => [plain(key), plain(value)]))
    case "CFAttributedString":
      return { attributed: stringValue(mac().CFAttributedStringGetString(ref)) }
    case "CFURL":
      return { url: stringValue(mac().CFURLGetString(ref)) }
    case "AXValue":
      return axValue(ref)
    default:
      return ref
  }
}

function axValue(ref: bigint): unknown {
  const type = mac().AXValueGetType(ref)
  if (type === 5) {
    const error = new Int32Array(1)
    mac().AXValueGetValue(ref, type, ptr(error))
    return { error: error[0] }
  }
  if (type === 4) {
    const range = new BigInt64Array(2)
    mac().AXValueGetValue(ref, type, ptr(range))
    return { range: [...range].map(Number) }
  }
  const numbers = new Float64Array(4)
  mac().AXValueGetValue(ref, type, ptr(numbers))
  return [...numbers.slice(0, type === 3 ? 4 : 2)]
}

export function entries(dictionary: bigint): [bigint, bigint][] {
  const count = Number(mac().CFDictionaryGetCount(dictionary))
  if (count === 0) return []
  const keys = new BigUint64Array(count)
  const values = new BigUint64Array(count)
  mac().CFDictionaryGetKeysAndValues(dictionary, ptr(keys), ptr(values))
  return Array.from({ length: count }, (_, index) => [keys[index] ?? 0n, values[index] ?? 0n])
}

/** One message with up to two arguments. */
export function send(receiver: bigint, selector: string, first = 0n, second = 0n): bigint {
  return mac().objc_msgSend(receiver, mac().sel_registerName(cstring(selector)), first, second)
}

export function classNamed(name: string): bigint {
  return mac().objc_getClass(cstring(name))
}

/** Posts an event and releases it. */
export function post(event: bigint, pid?: number): void {
  if (pid === undefined) mac().CGEventPost(0, event)
  else mac().CGEventPostToPid(pid, event)
  mac().CFRelease(event)
}

export function click(x: number, y: number, clicks = 1): void {
  for (const type of [1, 2]) {
    const event = mac().CGEventCreateMouseEvent(0n, type, x, y, 0)
    mac().CGEventSetIntegerValueField(event, 1, BigInt(clicks))
    post(event)
  }
}

export function key(code: number, flags = 0n, text?: string, pid?: number): void {
  for (const down of [true, false]) {
    const event = mac().CGEventCreateKeyboardEvent(0n, code, down)
    mac().CGEventSetFlags(event, flags)
    if (text !== undefined) {
      const units = Uint16Array.from(text, () => 0)
      for (let i = 0; i < units.length; i++) units[i] = text.charCodeAt(i)
      mac().CGEventKeyboardSetUnicodeString(event, BigInt(units.length), ptr(units))
    }
    post(event, pid)
  }
}
