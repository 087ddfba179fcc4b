/** The D-Bus wire format: its values, limits, signatures and alignments. */

export interface Variant {
  readonly signature: string
  readonly value: Value
}

/** `ay` is a Uint8Array, `a{…}` a Map, a struct and any other array an Array; 64-bit integers are bigint. */
export type Value =
  | number
  | bigint
  | boolean
  | string
  | Uint8Array
  | Variant
  | readonly Value[]
  | ReadonlyMap<Value, Value>

export const MAX_MESSAGE = 128 * 1024 * 1024
export const MAX_ARRAY = 64 * 1024 * 1024
/** 32 arrays within 32 structs; variants count towards the same sum. */
export const MAX_NESTING = 64

/** Bytes or values that break the format. It ends the connection on which it happens. */
export class WireError extends Error {
  override readonly name = "WireError"
}

/** Throws unless this is a sequence of complete types within the nesting limits. */
export function checkSignature(signature: string): void {
  if (signature.length > 255) throw new WireError("signature longer than 255 bytes")
  for (let at = 0; at < signature.length; ) at = typeEnd(signature, at, 0, 0)
}

export function isVariant(value: Value): value is Variant {
  return typeof value === "object" && "signature" in value
}

/** The end of the complete type that starts at `at`. */
export function typeEnd(signature: string, at: number, arrays: number, structs: number): number {
  if (arrays > 32 || structs > 32) throw new WireError("signature nests too deeply")
  const code = signature[at]
  if (code === undefined) throw new WireError(`signature '${signature}' is incomplete`)
  if (code === "v" || BASIC.includes(code)) return at + 1
  if (code === "a") {
    return signature[at + 1] === "{"
      ? dictEnd(signature, at + 1, arrays + 1, structs)
      : typeEnd(signature, at + 1, arrays + 1, structs)
  }
  if (code !== "(" || signature[at + 1] === ")") throw new WireError(`signature '${signature}' is malformed`)
  let next = at + 1
  while (signature[next] !== ")") next = typeEnd(signature, next, arrays, structs + 1)
  return next + 1
}

function dictEnd(signature: string, at: number, arrays: number, structs: number): number {
  if (!BASIC.includes(signature[at + 1] ?? "?")) throw new WireError("dictionary key is not a basic type")
  const end = typeEnd(signature, at + 2, arrays, structs + 1)
  if (signature[end] !== "}") throw new WireError("dictionary entry needs exactly two types")
  return end + 1
}

const BASIC = "ybnqiuxtdsog"

export function alignmentOf(code: string | undefined): number {
  switch (code) {
    case "y":
    case "g":
    case "v":
      return 1
    case "n":
    case "q":
      return 2
    case "x":
    case "t":
    case "d":
    case "(":
    case "{":
      return 8
    default:
      return 4
  }
}
