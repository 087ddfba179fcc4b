import { Reader, viewOf } from "./read.ts"
import { MAX_MESSAGE, type Value, WireError } from "./wire.ts"
import { marshal } from "./write.ts"

/** Calls, replies and signals as bytes: a header and a body of values. */

export const METHOD_CALL = 1
export const METHOD_RETURN = 2
export const ERROR = 3
export const SIGNAL = 4

const NO_REPLY_EXPECTED = 1
const NO_AUTO_START = 2

/**
 * The parts that all calls of one method share: header fields and, usually, arguments. Only the destination,
 * the object and the serial differ, so writing a call is two copies and two strings. The bytes are made on
 * first use, since programs name many methods and use few.
 */
export class Method {
  readonly interface: string
  readonly member: string
  readonly #signature: string
  readonly #args: readonly Value[]
  readonly #flags: number
  #head: Buffer | undefined
  #body: Buffer | undefined

  constructor(name: string, signature: string, args: readonly Value[], flags: number) {
    const dot = name.lastIndexOf(".")
    this.interface = name.slice(0, dot)
    this.member = name.slice(dot + 1)
    this.#signature = signature
    this.#args = args
    this.#flags = flags
  }

  get head(): Buffer {
    this.#head ??= this.#makeHead()
    return this.#head
  }

  /** The same method with other arguments, of the same signature. */
  with(...args: readonly Value[]): Method {
    const other = new Method(`${this.interface}.${this.member}`, this.#signature, args, this.#flags)
    other.#head = this.head
    return other
  }

  get body(): Buffer {
    this.#body ??= this.#signature === "" ? NO_BODY : marshal(this.#signature, this.#args)
    return this.#body
  }

  #makeHead(): Buffer {
    const out = Buffer.alloc(64 + 3 * (this.interface.length + this.member.length) + this.#signature.length)
    const view = new DataView(out.buffer, out.byteOffset, out.length)
    out[0] = LITTLE
    out[1] = METHOD_CALL
    out[2] = this.#flags
    out[3] = 1
    let end = writeField(out, view, 0, FIXED, INTERFACE, S, this.interface)
    end = writeField(out, view, 0, end, MEMBER, S, this.member)
    if (this.#signature !== "") {
      end = pad(out, 0, end)
      out[end] = SIGNATURE
      out[end + 1] = 1
      out[end + 2] = G
      out[end + 4] = out.utf8Write(this.#signature, end + 5)
      end += 6 + this.#signature.length
    }
    return out.subarray(0, pad(out, 0, end))
  }
}

const NO_BODY = Buffer.alloc(0)

/** `start` lets the bus start a service that is not running. */
export function method(name: string, signature = "", args: readonly Value[] = [], start = false): Method {
  return new Method(name, signature, args, start ? 0 : NO_AUTO_START)
}

/** Writes a call into `out` at `at` and returns its end. callSize gives the room it needs. */
export function writeCall(
  out: Buffer,
  view: DataView,
  at: number,
  { head, body }: Method,
  destination: string,
  path: string,
  serial: number,
): number {
  out.set(head, at)
  let end = at + head.length
  end = writeField(out, view, at, end, PATH, O, path)
  end = writeField(out, view, at, end, DESTINATION, S, destination)
  view.setUint32(at + 4, body.length, true)
  view.setUint32(at + 8, serial, true)
  view.setUint32(at + 12, end - at - FIXED, true)
  end = pad(out, at, end)
  if (body.length === 0) return end
  out.set(body, end)
  return end + body.length
}

/** An upper bound for the bytes that writeCall writes. */
export function callSize(call: Method, destination: string, path: string): number {
  return call.head.length + call.body.length + 3 * (destination.length + path.length) + 64
}

/** A reply or a signal, for processes that serve objects. */
export function message(
  type: number,
  serial: number,
  fields: {
    readonly destination?: string
    readonly replySerial?: number
    readonly errorName?: string
    readonly path?: string
    readonly interface?: string
    readonly member?: string
  },
  signature = "",
  args: readonly Value[] = [],
  little = true,
): Buffer {
  const list: Field[] = []
  if (fields.path !== undefined) list.push([PATH, "o", fields.path])
  if (fields.interface !== undefined) list.push([INTERFACE, "s", fields.interface])
  if (fields.member !== undefined) list.push([MEMBER, "s", fields.member])
  if (fields.errorName !== undefined) list.push([ERROR_NAME, "s", fields.errorName])
  if (fields.replySerial !== undefined) list.push([REPLY_SERIAL, "u", fields.replySerial])
  if (fields.destination !== undefined) list.push([DESTINATION, "s", fields.destination])
  if (signature) list.push(signatureField(signature))
  const body = marshal(signature, args, little)
  const head = header(type, type === SIGNAL ? NO_REPLY_EXPECTED : 0, list, little, body.length, serial)
  return Buffer.concat([head, body])
}

export interface Message {
  readonly type: number
  readonly flags: number
  readonly serial: number
  readonly replySerial: number
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly errorName: string
  readonly sender: string
  readonly signature: string
  /** A reader at the first value of the body. */
  readonly body: Reader
}

/** Size of the fixed part of a header, which contains the length of the message. */
export const FIXED = 16

/** The length of the whole message whose first 16 bytes are at `at`. */
export function messageLength(bytes: Buffer, view: DataView, at: number): number {
  const endian = bytes[at]
  if (endian !== LITTLE && endian !== BIG) throw new WireError(`message begins with byte ${endian}`)
  if (bytes[at + 3] !== 1) throw new WireError(`protocol version ${bytes[at + 3]}`)
  const body = view.getUint32(at + 4, endian === LITTLE)
  const fields = view.getUint32(at + 12, endian === LITTLE)
  const total = FIXED + fields + (-fields & 7) + body
  if (total > MAX_MESSAGE) throw new WireError(`message of ${total} bytes`)
  return total
}

/** Reads the header of a whole message. It avoids a Reader for speed, since it runs for every reply. */
export function parseMessage(bytes: Buffer, view: DataView, start: number, end: number): Message {
  const little = bytes[start] === LITTLE
  const type = bytes[start + 1] ?? 0
  const bodyStart = end - view.getUint32(start + 4, little)
  const serial = view.getUint32(start + 8, little)
  const fieldsEnd = start + FIXED + view.getUint32(start + 12, little)
  // For a reply, only the serial of its call and the signature of its body matter.
  const isReply = type === METHOD_RETURN
  let replySerial = 0
  let path = ""
  let iface = ""
  let member = ""
  let errorName = ""
  let sender = ""
  let signature = ""
  let at = start + FIXED
  while (at < fieldsEnd) {
    at += -(at - start) & 7
    const code = bytes[at] ?? 0
    const kind = bytes[at + 2] ?? 0
    if (bytes[at + 1] !== 1 || (FIELD_TYPES[code] ?? kind) !== kind) {
      throw new WireError(`header field ${code} has an unexpected type`)
    }
    at += 4
    if (kind === U) {
      if (at + 4 > fieldsEnd) throw new WireError("header field crosses the end of the header")
      if (code === REPLY_SERIAL) replySerial = view.getUint32(at, little)
      at += 4
      continue
    }
    if (kind !== S && kind !== O && kind !== G) throw new WireError(`header field of type ${kind}`)
    const length = kind === G ? (bytes[at] ?? 0) : view.getUint32(at, little)
    const from = at + (kind === G ? 1 : 4)
    at = from + length + 1
    if (at > fieldsEnd || bytes[at - 1] !== 0)
      throw new WireError("header field crosses the end of the header")
    if (code === SIGNATURE) signature = bytes.latin1Slice(from, from + length)
    else if (isReply) continue
    else if (code === PATH) path = bytes.utf8Slice(from, from + length)
    else if (code === INTERFACE) iface = bytes.utf8Slice(from, from + length)
    else if (code === MEMBER) member = bytes.utf8Slice(from, from + length)
    else if (code === ERROR_NAME) errorName = bytes.utf8Slice(from, from + length)
    else if (code === SENDER) sender = bytes.utf8Slice(from, from + length)
  }
  if (serial === 0) throw new WireError("message with serial 0")
  const flags = bytes[start + 2] ?? 0
  const body = new Reader(bytes, little, bodyStart, end, view)
  return {
    type,
    flags,
    serial,
    replySerial,
    path,
    interface: iface,
    member,
    errorName,
    sender,
    signature,
    body,
  }
}

export function expectsReply(call: Message): boolean {
  return (call.flags & NO_REPLY_EXPECTED) === 0
}

declare global {
  interface Buffer {
    utf8Write(text: string, offset: number): number
  }
}

const LITTLE = 0x6c
const BIG = 0x42

const PATH = 1
const INTERFACE = 2
const MEMBER = 3
const ERROR_NAME = 4
const REPLY_SERIAL = 5
const DESTINATION = 6
const SENDER = 7
const SIGNATURE = 8

const O = 0x6f
const S = 0x73
const U = 0x75
const G = 0x67
const FIELD_TYPES = [undefined, O, S, S, S, U, S, S, G, U]

type Field = readonly [code: number, type: string, value: string | number]

const signatureField = (signature: string): Field => [SIGNATURE, "g", signature]

/** The fixed part and the header fields, padded to the start of the next field or the body. */
function header(
  type: number,
  flags: number,
  fields: readonly Field[],
  little = true,
  bodyLength = 0,
  serial = 1,
): Buffer {
  const values = fields.map(([code, signature, value]) => [code, { signature, value }])
  const bytes = marshal(
    "yyyyuua(yv)",
    [little ? LITTLE : BIG, type, flags, 1, bodyLength, serial, values],
    little,
  )
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)])
}

function writeField(
  out: Buffer,
  view: DataView,
  start: number,
  from: number,
  code: number,
  type: number,
  value: string,
): number {
  const at = pad(out, start, from)
  out[at] = code
  out[at + 1] = 1
  out[at + 2] = type
  out[at + 3] = 0
  const length = out.utf8Write(value, at + 8)
  view.setUint32(at + 4, length, true)
  out[at + 8 + length] = 0
  return at + 9 + length
}

function pad(out: Buffer, start: number, from: number): number {
  let at = from
  while (((at - start) & 7) !== 0) out[at++] = 0
  return at
}

export type Take = (bytes: Buffer, view: DataView, start: number, end: number) => void

/**
 * Cuts a stream of chunks into whole messages. A message within one chunk is not copied. A longer one is
 * collected in a buffer of its own size.
 */
export class MessageStream {
  #partial: Buffer | undefined
  #filled = 0

  push(chunk: Buffer, take: Take): void {
    let at = 0
    while (this.#partial) {
      at += this.#fill(this.#partial, chunk, at)
      if (this.#filled < this.#partial.length) return
      const whole = this.#partial
      const view = viewOf(whole)
      const length = messageLength(whole, view, 0)
      this.#partial = undefined
      if (length > whole.length) this.#begin(length, whole, 0)
      else take(whole, view, 0, length)
    }
    const view = viewOf(chunk)
    while (chunk.length - at >= FIXED) {
      const length = messageLength(chunk, view, at)
      if (length > chunk.length - at) {
        this.#begin(length, chunk, at)
        return
      }
      take(chunk, view, at, at + length)
      at += length
    }
    if (at < chunk.length) this.#begin(FIXED, chunk, at)
  }

  #begin(length: number, chunk: Buffer, at: number): void {
    this.#partial = Buffer.allocUnsafeSlow(length)
    this.#filled = 0
    this.#fill(this.#partial, chunk, at)
  }

  #fill(partial: Buffer, chunk: Buffer, at: number): number {
    const size = Math.min(partial.length - this.#filled, chunk.length - at)
    partial.set(chunk.subarray(at, at + size), this.#filled)
    this.#filled += size
    return size
  }
}
