import {
  alignmentOf,
  checkSignature,
  isVariant,
  MAX_ARRAY,
  MAX_MESSAGE,
  MAX_NESTING,
  typeEnd,
  type Value,
  WireError,
} from "./wire.ts"

/** The bytes of values with a signature; alignment counts from the first byte. */
export function marshal(signature: string, values: readonly Value[], little = true): Buffer {
  checkSignature(signature)
  const writer = new Writer(little)
  writeFields(signature, 0, signature.length, values, writer, 0)
  return writer.finish()
}

class Writer {
  readonly #little: boolean
  #bytes = Buffer.alloc(64)
  #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
  #at = 0

  constructor(little: boolean) {
    this.#little = little
  }

  get at(): number {
    return this.#at
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  align(size: number): void {
    this.#take(-this.#at & (size - 1))
  }

  /** A number of `size` bytes, aligned to its size. */
  number(size: 1 | 2 | 4, value: number): void {
    this.align(size)
    const at = this.#take(size)
    if (size === 1) this.#view.setUint8(at, value)
    else if (size === 2) this.#view.setUint16(at, value, this.#little)
    else this.#view.setUint32(at, value, this.#little)
  }

  big(value: bigint): void {
    this.align(8)
    const at = this.#take(8)
    this.#view.setBigUint64(at, BigInt.asUintN(64, value), this.#little)
  }

  float(value: number): void {
    this.align(8)
    const at = this.#take(8)
    this.#view.setFloat64(at, value, this.#little)
  }

  raw(bytes: Uint8Array): void {
    const at = this.#take(bytes.length)
    this.#bytes.set(bytes, at)
  }

  patch(at: number, value: number): void {
    this.#view.setUint32(at, value, this.#little)
  }

  /** May reallocate the buffer, so callers look up positions afterwards. */
  #take(size: number): number {
    const at = this.#at
    this.#at += size
    if (this.#at > MAX_MESSAGE) throw new WireError("message longer than 128 MiB")
    if (this.#at > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#at))
      grown.set(this.#bytes)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer, grown.byteOffset, grown.length)
    }
    return at
  }
}

function writeFields(
  signature: string,
  from: number,
  to: number,
  values: readonly Value[],
  writer: Writer,
  nesting: number,
): void {
  let at = from
  for (const value of values) {
    if (at >= to) throw new WireError(`more values than '${signature}' has types`)
    const end = typeEnd(signature, at, 0, 0)
    writeOne(signature, at, end, value, writer, nesting)
    at = end
  }
  if (at < to) throw new WireError(`fewer values than '${signature}' has types`)
}

function writeOne(
  signature: string,
  at: number,
  end: number,
  value: Value,
  writer: Writer,
  nesting: number,
): void {
  if (nesting > MAX_NESTING) throw new WireError("values nest too deeply")
  const code = signature[at]
  switch (code) {
    case "y":
      writer.number(1, integer(value, 0, 0xff))
      break
    case "b":
      if (typeof value !== "boolean") throw mismatch(code, value)
      writer.number(4, value ? 1 : 0)
      break
    case "n":
      writer.number(2, integer(value, -0x8000, 0x7fff))
      break
    case "q":
      writer.number(2, integer(value, 0, 0xffff))
      break
    case "i":
      writer.number(4, integer(value, -0x80000000, 0x7fffffff))
      break
    case "u":
      writer.number(4, integer(value, 0, 0xffffffff))
      break
    case "x":
    case "t":
      if (typeof value !== "bigint") throw mismatch(code, value)
      writer.big(value)
      break
    case "d":
      if (typeof value !== "number") throw mismatch(code, value)
      writer.float(value)
      break
    case "s":
    case "o":
    case "g":
      writeString(code, value, writer)
      break
    case "v":
      writeVariant(value, writer, nesting + 1)
      break
    case "(":
      if (!Array.isArray(value)) throw mismatch(code, value)
      writer.align(8)
      writeFields(signature, at + 1, end - 1, value, writer, nesting + 1)
      break
    default:
      writeArray(signature, at + 1, end, value, writer, nesting + 1)
      break
  }
}

function writeString(code: string, value: Value, writer: Writer): void {
  if (typeof value !== "string") throw mismatch(code, value)
  if (value.includes("\0")) throw new WireError("string with a zero character")
  const bytes = Buffer.from(value, "utf8")
  writer.number(code === "g" ? 1 : 4, bytes.length)
  writer.raw(bytes)
  writer.number(1, 0)
}

function writeVariant(value: Value, writer: Writer, nesting: number): void {
  if (!isVariant(value)) throw mismatch("v", value)
  checkSignature(value.signature)
  writeString("g", value.signature, writer)
  writeFields(value.signature, 0, value.signature.length, [value.value], writer, nesting)
}

function writeArray(
  signature: string,
  at: number,
  end: number,
  value: Value,
  writer: Writer,
  nesting: number,
): void {
  const code = signature[at]
  writer.number(4, 0)
  const lengthAt = writer.at - 4
  writer.align(alignmentOf(code))
  const from = writer.at
  if (code === "{") {
    if (!(value instanceof Map)) throw mismatch("a{", value)
    for (const entry of value) {
      writer.align(8)
      writeFields(signature, at + 1, end - 1, entry, writer, nesting)
    }
  } else if (code === "y") {
    if (!(value instanceof Uint8Array)) throw mismatch("ay", value)
    writer.raw(value)
  } else {
    if (!Array.isArray(value)) throw mismatch("a", value)
    for (const item of value) writeOne(signature, at, end, item, writer, nesting)
  }
  if (writer.at - from > MAX_ARRAY) throw new WireError("array longer than 64 MiB")
  writer.patch(lengthAt, writer.at - from)
}

function integer(value: Value, low: number, high: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= low && value <= high) return value
  throw new WireError(`${String(value)} is not an integer from ${low} to ${high}`)
}

function mismatch(code: string, value: Value): WireError {
  return new WireError(`a ${typeof value} does not fit type '${code}'`)
}
