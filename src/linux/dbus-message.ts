import { Reader, unmarshal } from "./dbus-read.ts"
import { MAX_MESSAGE, type Value, WireError } from "./dbus-wire.ts"
import { marshal } from "./dbus-write.ts"

/** Calls, replies and signals as bytes: the header around a body of values. */

export const METHOD_CALL = 1
export const METHOD_RETURN = 2
export const ERROR = 3
export const SIGNAL = 4

const NO_REPLY_EXPECTED = 1
const NO_AUTO_START = 2

/**
 * What stays the same between calls of one method: its header fields and, usually, its arguments.
 * Only the destination, the object and the serial differ, so a call is two copies and two strings.
 */
export interface Method {
  readonly interface: string
  readonly member: string
  readonly head: Uint8Array
  readonly body: Uint8Array
}

export function method(name: string, signature = "", args: readonly Value[] = [], start = false): Method {
  const dot = name.lastIndexOf(".")
  const iface = name.slice(0, dot)
  const member = name.slice(dot + 1)
  const head = header(METHOD_CALL, start ? 0 : NO_AUTO_START, [
    [INTERFACE, "s", iface],
    [MEMBER, "s", member],
    ...(signature ? [signatureField(signature)] : []),
  ])
  return { interface: iface, member, head, body: marshal(signature, args) }
}

/** Writes a call into `out` at `at` and returns where it ends; see callSize for the room it needs. */
export function writeCall(
  out: Buffer,
  at: number,
  call: Method,
  destination: string,
  path: string,
  serial: number,
): number {
  out.set(call.head, at)
  let end = at + call.head.length
  end = writeField(out, at, end, PATH, O, path)
  end = writeField(out, at, end, DESTINATION, S, destination)
  out.writeUInt32LE(call.body.length, at + 4)
  out.writeUInt32LE(serial, at + 8)
  out.writeUInt32LE(end - at - 16, at + 12)
  end = pad(out, at, end)
  out.set(call.body, end)
  return end + call.body.length
}

/** An upper bound of what writeCall writes. */
export function callSize(call: Method, destination: string, path: string): number {
  return call.head.length + call.body.length + 3 * (destination.length + path.length) + 64
}

/** A reply or a signal, for whoever serves objects. */
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
  /** Stands on the first value of the body. */
  readonly body: Reader
}

/** How long the whole message is whose first 16 bytes stand at `at`. */
export function messageLength(bytes: Buffer, at: number): number {
  const endian = bytes[at]
  if (endian !== LITTLE && endian !== BIG) throw new WireError(`message begins with byte ${endian}`)
  if (bytes[at + 3] !== 1) throw new WireError(`protocol version ${bytes[at + 3]}`)
  const little = endian === LITTLE
  const body = little ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)
  const fields = little ? bytes.readUInt32LE(at + 12) : bytes.readUInt32BE(at + 12)
  const total = 16 + fields + (-fields & 7) + body
  if (total > MAX_MESSAGE) throw new WireError(`message of ${total} bytes`)
  return total
}

/** Reads the header of a whole message. */
export function parseMessage(bytes: Buffer, start: number, end: number): Message {
  const reader = new Reader(bytes, bytes[start] === LITTLE, start, end)
  const type = bytes[start + 1] ?? 0
  const flags = bytes[start + 2] ?? 0
  reader.at = start + 4
  const bodyLength = reader.u32()
  const serial = reader.u32()
  const fieldsEnd = reader.arrayEnd(8)
  let replySerial = 0
  let path = ""
  let iface = ""
  let member = ""
  let errorName = ""
  let sender = ""
  let signature = ""
  while (reader.at < fieldsEnd) {
    reader.align(8)
    const code = reader.u8()
    const kind = reader.signature()
    if (kind !== (FIELD_TYPES[code] ?? kind)) throw new WireError(`header field ${code} of type '${kind}'`)
    if (code === REPLY_SERIAL) replySerial = reader.u32()
    else if (code === SIGNATURE) signature = reader.signature()
    else if (code === ERROR_NAME) errorName = reader.string()
    else if (code === SENDER && type !== METHOD_RETURN) sender = reader.string()
    else if (code === PATH) path = reader.string()
    else if (code === INTERFACE) iface = reader.string()
    else if (code === MEMBER) member = reader.string()
    else if (kind === "s" || kind === "o") reader.skipString()
    else unmarshal(kind, reader)
  }
  if (reader.at !== fieldsEnd) throw new WireError("header field crosses the end of the header")
  if (serial === 0) throw new WireError("message with serial 0")
  const bodyStart = end - bodyLength
  const body = new Reader(bytes, reader.little, bodyStart, end)
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
const FIELD_TYPES = [undefined, "o", "s", "s", "s", "u", "s", "s", "g", "u"]

const O = 0x6f
const S = 0x73

type Field = readonly [code: number, type: string, value: string | number]

const signatureField = (signature: string): Field => [SIGNATURE, "g", signature]

/** Fixed part and header fields, padded to where the next field or the body begins. */
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
  out.writeUInt32LE(length, at + 4)
  out[at + 8 + length] = 0
  return at + 9 + length
}

function pad(out: Buffer, start: number, from: number): number {
  let at = from
  while (((at - start) & 7) !== 0) out[at++] = 0
  return at
}
