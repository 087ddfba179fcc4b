import { expect, test } from "bun:test"
import { DECLARATIONS } from "../../ffi/declarations.ts"
import type { CType, Functions } from "../../ffi/library.ts"
import { MESSAGES } from "../../ffi/objc.ts"

/**
 * Declarations cannot be compiled against Apple's headers here. So each is compared with a table of prototypes from the
 * headers, by the calling convention of both architectures.
 */
const ARCHITECTURES = ["arm64", "x86_64"] as const
type Architecture = (typeof ARCHITECTURES)[number]

const rows = (await Bun.file(new URL("signatures.tsv", import.meta.url)).text())
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t") as [library: string, symbol: string, prototype: string])

const prototypes = new Map(rows.map(([library, symbol, prototype]) => [`${library}\t${symbol}`, prototype]))

/** How C types are passed. A list: a struct that is passed as its fields. */
const SCALARS: Readonly<Record<string, CType | readonly CType[]>> = {
  void: "void",
  Boolean: "u8",
  UInt8: "u8",
  // signed char on x86_64 and _Bool on arm64: only 0 and 1 occur, which a u8 holds on both.
  BOOL: "u8",
  _Bool: "bool",
  UInt16: "u16",
  CGKeyCode: "u16",
  int: "i32",
  // A register holds it, extended to 32 bits.
  short: "i32",
  int32_t: "i32",
  pid_t: "i32",
  AXError: "i32",
  CGError: "i32",
  OSStatus: "i32",
  CFRunLoopRunResult: "i32",
  CGEventSourceStateID: "i32",
  unsigned: "u32",
  uint32_t: "u32",
  UInt32: "u32",
  OptionBits: "u32",
  ffi_abi: "u32",
  ffi_status: "u32",
  AXValueType: "u32",
  AXCopyMultipleAttributeOptions: "u32",
  CGWindowListOption: "u32",
  CGWindowID: "u32",
  CGDirectDisplayID: "u32",
  CGEventType: "u32",
  CGMouseButton: "u32",
  CGScrollEventUnit: "u32",
  CGEventField: "u32",
  CGEventTapLocation: "u32",
  int64_t: "i64",
  CFIndex: "i64",
  CFNumberType: "i64",
  NSInteger: "i64",
  uint64_t: "u64",
  size_t: "u64",
  NSUInteger: "u64",
  UniCharCount: "u64",
  CFTypeID: "u64",
  CFHashCode: "u64",
  CGEventFlags: "u64",
  float: "f32",
  double: "f64",
  CFTimeInterval: "f64",
  CGPoint: ["f64", "f64"],
  CFRange: ["i64", "i64"],
}

/** A CGRect is passed in four registers on arm64 but in memory on x86_64, and bun:ffi cannot return structs. */
const UNBINDABLE: ReadonlySet<string> = new Set(["CGRect", "CGAffineTransform"])

const OBJECTS = /^(id|SEL|CFRunLoopMode|AXObserverCallback|\w+Ref)$/

/** The declarations that fit a C type; several if the calling convention makes no difference. */
function accepted(
  type: string,
  arch: Architecture,
  place: "result" | "argument",
): readonly (readonly CType[])[] {
  if (UNBINDABLE.has(type))
    throw new Error(`${type} as ${place} has no form that fits ${arch} and its sibling`)
  if (type === "char*") return [["cstring"]]
  if (type.endsWith("*")) return place === "result" ? [["u64"]] : [["ptr"], ["u64"]]
  if (OBJECTS.test(type)) return type === "AXObserverCallback" ? [["ptr"]] : [["u64"]]
  const scalar = SCALARS[type]
  if (scalar === undefined) throw new Error(`${type} is not in the table`)
  if (Array.isArray(scalar) && place === "result") throw new Error(`${type} as a result cannot be read whole`)
  return [typeof scalar === "string" ? [scalar] : scalar]
}

/** The problem with a declaration; undefined if it is right. */
function faultOf(
  form: { readonly args: readonly CType[]; readonly returns: CType },
  prototype: string | undefined,
  arch: Architecture,
): string | undefined {
  const [, result, list] = prototype?.match(/^(\S+) \((.*)\)$/) ?? []
  if (!result || list === undefined) return `no prototype: ${prototype}`
  if (list.includes("...")) return "variadic: its arguments go to the stack on arm64"
  const types = list === "void" ? [] : list.split(", ")
  if (!accepted(result, arch, "result").some(([type]) => type === form.returns))
    return `returns ${form.returns}, not ${result}`
  let at = 0
  for (const type of types) {
    const fitting = accepted(type, arch, "argument").find((slots) =>
      slots.every((slot, i) => form.args[at + i] === slot),
    )
    if (!fitting) return `argument ${at} is ${form.args[at]}, not ${type}`
    at += fitting.length
  }
  return at === form.args.length ? undefined : `${form.args.length} arguments instead of ${at}`
}

function libraryName(path: string): string {
  return path.replace(/^.*\//, "").replace(/\.dylib$/, "")
}

function each(visit: (library: string, symbol: string, form: Functions[string]) => void): void {
  for (const { library, functions } of DECLARATIONS) {
    for (const [symbol, form] of Object.entries(functions)) visit(libraryName(library), symbol, form)
  }
  for (const [selector, form] of Object.entries(MESSAGES)) visit("objc_msgSend", selector, form)
}

for (const arch of ARCHITECTURES) {
  test(`every declared function has the right signature on ${arch}`, () => {
    const faults: string[] = []
    each((library, symbol, form) => {
      const fault = faultOf(form, prototypes.get(`${library}\t${symbol}`), arch)
      if (fault) faults.push(`${symbol}: ${fault}`)
    })
    expect(faults).toEqual([])
  })

  test(`a wrong type or number of arguments is found on ${arch}`, () => {
    const others: readonly CType[] = ["void", "bool", "u8", "u16", "i32", "u32", "i64", "f32", "f64"]
    each((library, symbol, form) => {
      const prototype = prototypes.get(`${library}\t${symbol}`)
      const variants = [
        ...others.filter((type) => type !== form.returns).map((returns) => ({ ...form, returns })),
        ...form.args.flatMap((arg, i) =>
          others.filter((type) => type !== arg).map((type) => ({ ...form, args: form.args.with(i, type) })),
        ),
        { ...form, args: [...form.args, "u64" as const] },
        ...(form.args.length ? [{ ...form, args: form.args.slice(1) }] : []),
      ]
      for (const variant of variants)
        expect([symbol, variant, faultOf(variant, prototype, arch)]).not.toEqual([symbol, variant, undefined])
    })
  })
}

test("every symbol whose address is looked up exists", () => {
  for (const { library, addresses } of DECLARATIONS) {
    for (const symbol of addresses) {
      expect([symbol, prototypes.get(`${libraryName(library)}\t${symbol}`)?.split(" ")[0]]).toEqual([
        symbol,
        expect.stringMatching(/^(data|address)$/),
      ])
    }
  }
})

test("the table has no unused row", () => {
  const used = new Set<string>()
  each((library, symbol) => used.add(`${library}\t${symbol}`))
  for (const { library, addresses } of DECLARATIONS)
    for (const symbol of addresses) used.add(`${libraryName(library)}\t${symbol}`)
  expect([...prototypes.keys()].filter((key) => !used.has(key))).toEqual([])
})

test("a struct by value or a variadic function is rejected", () => {
  expect(() => faultOf({ args: ["u32"], returns: "f64" }, "CGRect (CGDirectDisplayID)", "arm64")).toThrow(
    "CGRect",
  )
  expect(() => faultOf({ args: ["u64"], returns: "f64" }, "CGPoint (CGEventRef)", "x86_64")).toThrow(
    "CGPoint",
  )
  expect(
    faultOf(
      { args: ["u64", "u32", "u32", "i32"], returns: "u64" },
      "CGEventRef (CGEventSourceRef, ...)",
      "arm64",
    ),
  ).toMatch("variadic")
})

test("every module of ffi/ that declares a library is in the list", async () => {
  const declared = new Set<unknown>(DECLARATIONS)
  for (const file of new Bun.Glob("*.ts").scanSync(new URL("../../ffi", import.meta.url).pathname)) {
    const exported: Record<string, unknown> = await import(`../../ffi/${file}`)
    for (const [name, value] of Object.entries(exported)) {
      if (isDeclaration(value)) expect([file, name, declared.has(value)]).toEqual([file, name, true])
    }
  }
})

test("nothing outside ffi/ binds a native function", async () => {
  const root = new URL("../..", import.meta.url).pathname
  for (const file of new Bun.Glob("src/**/*.ts").scanSync(root)) {
    expect([file, (await Bun.file(`${root}/${file}`).text()).includes("bun:ffi")]).toEqual([file, false])
  }
})

function isDeclaration(value: unknown): boolean {
  return typeof value === "object" && value !== null && "library" in value && "functions" in value
}
