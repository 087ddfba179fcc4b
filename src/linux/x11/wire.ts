import { AppError } from "../../errors.ts"

/** A request under construction: little-endian and padded; `encode` fills in its length. */
export class Request {
  #buffer: Uint8Array
  #view: DataView
  #at = 4

  constructor(opcode: number, detail = 0, capacity = 64) {
    this.#buffer = new Uint8Array(capacity)
    this.#view = new DataView(this.#buffer.buffer)
    this.#buffer[0] = opcode
    this.#buffer[1] = detail
  }

  u8(value: number): this {
    const at = this.#take(1)
    this.#view.setUint8(at, value)
    return this
  }

  u16(value: number): this {
    const at = this.#take(2)
    this.#view.setUint16(at, value, true)
    return this
  }

  u32(value: number): this {
    const at = this.#take(4)
    this.#view.setUint32(at, value, true)
    return this
  }

  /** Signed 16 bits. Coordinates are clamped, so that they do not wrap to the other side of the screen. */
  i16(value: number): this {
    const at = this.#take(2)
    this.#view.setInt16(at, Math.max(-32768, Math.min(32767, Math.round(value))), true)
    return this
  }

  bytes(value: Uint8Array): this {
    const at = this.#take(value.length)
    this.#buffer.set(value, at)
    return this
  }

  zeros(count: number): this {
    this.#take(count)
    return this
  }

  pad(): this {
    return this.zeros(-this.#at & 3)
  }

  /** The bytes on the wire. Beyond 65535 words, the length moves into an extra field (BIG-REQUESTS). */
  encode(maxWords: number, big: boolean): Uint8Array {
    this.pad()
    const words = this.#at / 4
    if (words <= 65535 && words <= maxWords) {
      this.#view.setUint16(2, words, true)
      return this.#buffer.subarray(0, this.#at)
    }
    if (!big || words + 1 > maxWords) {
      throw new AppError(
        "INTERNAL",
        `An X request of ${words} words exceeds the server's limit of ${maxWords}`,
      )
    }
    const wide = new Uint8Array(this.#at + 4)
    wide.set(this.#buffer.subarray(0, 4))
    wide.set(this.#buffer.subarray(4, this.#at), 8)
    new DataView(wide.buffer).setUint32(4, words + 1, true)
    return wide
  }

  #take(count: number): number {
    const at = this.#at
    this.#at += count
    if (this.#at > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(this.#at, this.#buffer.length * 2))
      grown.set(this.#buffer)
      this.#buffer = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }
}

/** A reply, event or setup answer, read by the byte offsets of the protocol's tables. */
export class Packet {
  readonly raw: Uint8Array
  readonly #view: DataView

  constructor(raw: Uint8Array) {
    this.raw = raw
    this.#view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  }

  get length(): number {
    return this.raw.length
  }

  u8(at: number): number {
    return this.#view.getUint8(this.#within(at, 1))
  }

  u16(at: number): number {
    return this.#view.getUint16(this.#within(at, 2), true)
  }

  u32(at: number): number {
    return this.#view.getUint32(this.#within(at, 4), true)
  }

  i16(at: number): number {
    return this.#view.getInt16(this.#within(at, 2), true)
  }

  i32(at: number): number {
    return this.#view.getInt32(this.#within(at, 4), true)
  }

  bytes(at: number, count: number): Uint8Array {
    this.#within(at, count)
    return this.raw.subarray(at, at + count)
  }

  /** `count` 32-bit numbers: windows, atoms, keysyms. */
  list32(at: number, count: number): number[] {
    this.#within(at, count * 4)
    return Array.from({ length: count }, (_, i) => this.#view.getUint32(at + i * 4, true))
  }

  latin1(at: number, count: number): string {
    return decodeLatin1(this.bytes(at, count))
  }

  #within(at: number, count: number): number {
    if (count < 0 || at + count > this.raw.length)
      throw brokenProtocol(`${count} bytes at ${at} of ${this.raw.length}`)
    return at
  }
}

// TextDecoder's "latin1" is windows-1252, which moves 0x80–0x9f.
export function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
}

export function encodeLatin1(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replace(/[^\x00-\xff]/gu, "?"), "latin1"))
}

export function brokenProtocol(detail: string): AppError {
  return new AppError("INTERNAL", "The X server sent bytes that are not X11", { platformDetail: detail })
}

/** An error that the server reported for one request. The connection stays open. */
export class XError extends AppError {
  readonly xcode: number
  readonly resource: number

  constructor(packet: Packet) {
    const xcode = packet.u8(1)
    const resource = packet.u32(4)
    const name = ERROR_NAMES[xcode] ?? `extension error ${xcode}`
    super("ACTION_FAILED", `The X server refused the request: ${name}`, {
      platformDetail: `X error ${xcode} (${name}), request ${packet.u8(10)}.${packet.u16(8)}, value 0x${resource.toString(16)}`,
    })
    this.xcode = xcode
    this.resource = resource
  }

  /** True if the window, pixmap or client that the request named is gone. */
  get isGone(): boolean {
    return this.xcode === BAD_WINDOW || this.xcode === BAD_DRAWABLE
  }
}

const BAD_WINDOW = 3
const BAD_DRAWABLE = 9

const ERROR_NAMES = [
  "Success",
  "BadRequest",
  "BadValue",
  "BadWindow",
  "BadPixmap",
  "BadAtom",
  "BadCursor",
  "BadFont",
  "BadMatch",
  "BadDrawable",
  "BadAccess",
  "BadAlloc",
  "BadColor",
  "BadGC",
  "BadIDChoice",
  "BadName",
  "BadLength",
  "BadImplementation",
]

/**
 * Cuts the byte stream into packets. A packet that arrives in one piece is not copied. A long one (an image, a
 * clipboard) is collected in a buffer of its final size.
 */
export class Splitter {
  readonly #size: (head: Uint8Array) => number
  readonly #head: number
  #partial: Uint8Array | undefined
  #filled = 0

  /** `size` reads a packet's whole length from its first `head` bytes. */
  constructor(head: number, size: (head: Uint8Array) => number) {
    this.#head = head
    this.#size = size
  }

  /** The whole packets in this piece, together with the rest of earlier pieces. */
  *push(piece: Uint8Array): Generator<Uint8Array> {
    let rest = piece
    while (rest.length > 0) {
      if (!this.#partial) {
        const need = rest.length >= this.#head ? this.#size(rest) : this.#head
        if (rest.length >= this.#head && rest.length >= need) {
          yield rest.subarray(0, need)
          rest = rest.subarray(need)
          continue
        }
        this.#partial = new Uint8Array(need)
        this.#filled = 0
      }
      const count = Math.min(this.#partial.length - this.#filled, rest.length)
      this.#partial.set(rest.subarray(0, count), this.#filled)
      this.#filled += count
      rest = rest.subarray(count)
      if (this.#filled < this.#partial.length) return
      const need = this.#size(this.#partial)
      if (need > this.#partial.length) {
        const grown = new Uint8Array(need)
        grown.set(this.#partial)
        this.#partial = grown
        continue
      }
      const whole = this.#partial
      this.#partial = undefined
      yield whole
    }
  }
}
