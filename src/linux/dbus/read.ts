import {
  alignmentOf,
  checkSignature,
  MAX_ARRAY,
  MAX_NESTING,
  typeEnd,
  type Value,
  type Variant,
  WireError,
} from "./wire.ts"

/**
 * Reads one value after another. Alignment counts from `start`: the first byte of a message or of its
 * body, which is the same modulo 8.
 */
export class Reader {
  readonly bytes: Buffer
  readonly end: number
  readonly little: boolean
  at: number
  readonly #start: number
  readonly #view: DataView

  /** `view` covers all of `bytes`; pass an existing one to save making another. */
  constructor(bytes: Buffer, little: boolean, start = 0, end = bytes.length, view = viewOf(bytes)) {
    this.bytes = bytes
    this.little = little
    this.end = end
    this.at = start
    this.#start = start
    this.#view = view
  }

  align(size: number): void {
    this.at += -(this.at - this.#start) & (size - 1)
    if (this.at > this.end) throw new WireError("message ends within padding")
  }

  /** Steps over `size` bytes and returns their offset. */
  take(size: number): number {
    const at = this.at
    if (size > this.end - at) throw new WireError(`message ends ${size - (this.end - at)} bytes too early`)
    this.at = at + size
    return at
  }

  u8(): number {
    return this.#view.getUint8(this.take(1))
  }

  u16(): number {
    this.align(2)
    return this.#view.getUint16(this.take(2), this.little)
  }

  i16(): number {
    this.align(2)
    return this.#view.getInt16(this.take(2), this.little)
  }

  u32(): number {
    this.align(4)
    return this.#view.getUint32(this.take(4), this.little)
  }

  i32(): number {
    this.align(4)
    return this.#view.getInt32(this.take(4), this.little)
  }

  u64(): bigint {
    this.align(8)
    return this.#view.getBigUint64(this.take(8), this.little)
  }

  i64(): bigint {
    this.align(8)
    return this.#view.getBigInt64(this.take(8), this.little)
  }

  f64(): number {
    this.align(8)
    return this.#view.getFloat64(this.take(8), this.little)
  }

  bool(): boolean {
    const word = this.u32()
    if (word > 1) throw new WireError(`boolean with the value ${word}`)
    return word === 1
  }

  /** A string or an object path. */
  string(): string {
    const length = this.u32()
    const at = this.take(length + 1)
    if (this.bytes[at + length] !== 0) throw new WireError("string without terminating zero")
    return this.bytes.utf8Slice(at, at + length)
  }

  /** Steps over a string without decoding it. */
  skipString(): void {
    this.take(this.u32() + 1)
  }

  signature(): string {
    const length = this.u8()
    const at = this.take(length + 1)
    if (this.bytes[at + length] !== 0) throw new WireError("signature without terminating zero")
    return this.bytes.latin1Slice(at, at + length)
  }

  /** Enters an array: returns its end, with the reader at its first element. */
  arrayEnd(elementAlignment: number): number {
    const length = this.u32()
    if (length > MAX_ARRAY) throw new WireError(`array of ${length} bytes`)
    this.align(elementAlignment)
    if (length > this.end - this.at) throw new WireError("array is longer than its message")
    return this.at + length
  }

  array<T>(elementAlignment: number, read: (reader: Reader) => T): T[] {
    const end = this.arrayEnd(elementAlignment)
    const items: T[] = []
    while (this.at < end) items.push(read(this))
    if (this.at !== end) throw new WireError("array element crosses the end of its array")
    return items
  }
}

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Reads the values of a whole signature. */
export function unmarshal(signature: string, reader: Reader): Value[] {
  checkSignature(signature)
  return readFields(signature, 0, signature.length, reader, 0)
}

declare global {
  /** Buffer's own method, which skips the option parsing of toString and write. */
  interface Buffer {
    utf8Slice(start: number, end: number): string
    latin1Slice(start: number, end: number): string
  }
}

function readFields(signature: string, from: number, to: number, reader: Reader, nesting: number): Value[] {
  const values: Value[] = []
  for (let at = from; at < to; ) {
    const end = typeEnd(signature, at, 0, 0)
    values.push(readOne(signature, at, end, reader, nesting))
    at = end
  }
  return values
}

function readOne(signature: string, at: number, end: number, reader: Reader, nesting: number): Value {
  switch (signature[at]) {
    case "y":
      return reader.u8()
    case "b":
      return reader.bool()
    case "n":
      return reader.i16()
    case "q":
      return reader.u16()
    case "i":
      return reader.i32()
    case "u":
      return reader.u32()
    case "x":
      return reader.i64()
    case "t":
      return reader.u64()
    case "d":
      return reader.f64()
    case "s":
    case "o":
      return reader.string()
    case "g":
      return reader.signature()
  }
  if (nesting >= MAX_NESTING) throw new WireError("values nest too deeply")
  switch (signature[at]) {
    case "v":
      return readVariant(reader, nesting + 1)
    case "(":
      reader.align(8)
      return readFields(signature, at + 1, end - 1, reader, nesting + 1)
    default:
      return readArray(signature, at + 1, end, reader, nesting + 1)
  }
}

function readVariant(reader: Reader, nesting: number): Variant {
  const signature = reader.signature()
  checkSignature(signature)
  if (signature === "" || typeEnd(signature, 0, 0, 0) !== signature.length) {
    throw new WireError("variant does not hold exactly one type")
  }
  return { signature, value: readOne(signature, 0, signature.length, reader, nesting) }
}

function readArray(signature: string, at: number, end: number, reader: Reader, nesting: number): Value {
  const code = signature[at]
  if (code === "y") {
    const stop = reader.arrayEnd(1)
    const at = reader.take(stop - reader.at)
    return Uint8Array.prototype.slice.call(reader.bytes, at, stop)
  }
  if (code !== "{") return reader.array(alignmentOf(code), (r) => readOne(signature, at, end, r, nesting))
  const valueEnd = end - 1
  return new Map(
    reader.array(8, (r): [Value, Value] => {
      r.align(8)
      return [
        readOne(signature, at + 1, at + 2, r, nesting),
        readOne(signature, at + 2, valueEnd, r, nesting),
      ]
    }),
  )
}
