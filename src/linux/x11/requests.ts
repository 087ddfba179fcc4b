import type { Deadline } from "../../deadline.ts"
import type { Point, Rect } from "../../node.ts"
import type { X11 } from "./connection.ts"
import { decodeLatin1, Packet, Request, XError } from "./wire.ts"

export interface Property {
  readonly type: number
  readonly format: number
  readonly bytes: Uint8Array
  /** Bytes of the property beyond the requested ones. */
  readonly left: number
}

/** Reads a property; undefined if it is not set. */
export async function getProperty(
  x: X11,
  window: number,
  property: number,
  deadline: Deadline,
  options: { readonly remove?: boolean; readonly offset?: number; readonly maxBytes?: number } = {},
): Promise<Property | undefined> {
  const { remove = false, offset = 0, maxBytes = 65_536 } = options
  return propertyIn(await x.ask(propertyRequest(window, property, { remove, offset, maxBytes }), deadline))
}

export function propertyRequest(
  window: number,
  property: number,
  { remove = false, offset = 0, maxBytes = 65_536 } = {},
): Request {
  return new Request(20, remove ? 1 : 0)
    .u32(window)
    .u32(property)
    .u32(ANY_TYPE)
    .u32(offset / 4)
    .u32(Math.ceil(maxBytes / 4))
}

export function propertyIn(reply: Packet): Property | undefined {
  const type = reply.u32(8)
  if (type === 0) return undefined
  const format = reply.u8(1)
  return { type, format, left: reply.u32(12), bytes: reply.bytes(32, (reply.u32(16) * format) / 8) }
}

/** The 32-bit numbers of a property; empty if it is not set or has another format. */
export async function getNumbers(
  x: X11,
  window: number,
  property: number,
  deadline: Deadline,
): Promise<number[]> {
  return numbersOf(await getProperty(x, window, property, deadline))
}

export function numbersOf(value: Property | undefined): number[] {
  return value?.format === 32 ? new Packet(value.bytes).list32(0, value.bytes.length / 4) : []
}

export function propertyText(x: X11, value: Property | undefined): string | undefined {
  if (value?.format !== 8) return undefined
  const isUtf8 = x.isAtom(value.type, "UTF8_STRING")
  return (isUtf8 ? new TextDecoder().decode(value.bytes) : decodeText(value.bytes)).replace(/\0+$/, "")
}

// Text of type STRING is Latin-1 by ICCCM, yet many programs write UTF-8 into it, and COMPOUND_TEXT wraps
// UTF-8 in ESC % G … ESC % @. Bytes that form valid UTF-8 beyond ASCII are practically never Latin-1 prose.
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\x1b%[G@]/g, "")
  } catch {
    return decodeLatin1(bytes).replace(/\x1b-A/g, "")
  }
}

export function changeProperty(
  window: number,
  property: number,
  type: number,
  format: 8 | 32,
  bytes: Uint8Array,
  mode: "replace" | "append" = "replace",
): Request {
  return new Request(18, mode === "replace" ? 0 : 2, 24 + bytes.length + 3)
    .u32(window)
    .u32(property)
    .u32(type)
    .u8(format)
    .zeros(3)
    .u32(bytes.length / (format / 8))
    .bytes(bytes)
}

export function words(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  for (const [i, value] of values.entries()) view.setUint32(i * 4, value, true)
  return bytes
}

export interface Tree {
  readonly parent: number
  /** The children of a window, from the bottom of the stack to the top. */
  readonly children: readonly number[]
}

export async function queryTree(x: X11, window: number, deadline: Deadline): Promise<Tree> {
  const reply = await x.ask(new Request(15).u32(window), deadline)
  return { parent: reply.u32(12), children: reply.list32(32, reply.u16(16)) }
}

export interface Attributes {
  readonly inputOnly: boolean
  readonly viewable: boolean
  readonly mapped: boolean
  readonly overrideRedirect: boolean
}

export async function getAttributes(x: X11, window: number, deadline: Deadline): Promise<Attributes> {
  const reply = await x.ask(new Request(3).u32(window), deadline)
  return {
    inputOnly: reply.u16(12) === 2,
    mapped: reply.u8(26) !== 0,
    viewable: reply.u8(26) === 2,
    overrideRedirect: reply.u8(27) !== 0,
  }
}

/** Position (border included) relative to the parent, and inner size. */
export async function getGeometry(
  x: X11,
  window: number,
  deadline: Deadline,
): Promise<Rect & { readonly border: number }> {
  return geometryIn(await x.ask(geometryRequest(window), deadline))
}

export function geometryRequest(window: number): Request {
  return new Request(14).u32(window)
}

export function geometryIn(reply: Packet): Rect & { readonly border: number } {
  return {
    x: reply.i16(12),
    y: reply.i16(14),
    width: reply.u16(16),
    height: reply.u16(18),
    border: reply.u16(20),
  }
}

/** The position of the window's top left corner on the root window. */
export function originRequest(x: X11, window: number): Request {
  return new Request(40).u32(window).u32(x.root).i16(0).i16(0)
}

export function originIn(reply: Packet): Point {
  return { x: reply.i16(12), y: reply.i16(14) }
}

export interface PointerState {
  readonly at: Point
  readonly mask: number
  /** The child of the asked window that the pointer is in; 0 for none. Of the root window: the top-level window. */
  readonly child: number
}

export async function queryPointer(x: X11, deadline: Deadline, window = x.root): Promise<PointerState> {
  const reply = await x.ask(new Request(38).u32(window), deadline)
  return { at: { x: reply.i16(16), y: reply.i16(18) }, mask: reply.u16(24), child: reply.u32(12) }
}

/** The focused window; 0 for none, 1 for the window under the pointer. */
export async function getInputFocus(x: X11, deadline: Deadline): Promise<number> {
  return (await x.ask(new Request(43), deadline)).u32(8)
}

/** Selects the events of a window that this connection receives. */
export function selectEvents(window: number, mask: number): Request {
  return new Request(2).u32(window).u32(EVENT_MASK_ATTRIBUTE).u32(mask)
}

/** Sends a message to a client or, with the root as `to`, to the window manager. */
export function clientMessage(
  to: number,
  mask: number,
  window: number,
  type: number,
  values: readonly number[],
): Request {
  const request = new Request(25, 0).u32(to).u32(mask).u8(CLIENT_MESSAGE).u8(32).u16(0).u32(window).u32(type)
  for (let i = 0; i < 5; i++) request.u32(values[i] ?? 0)
  return request
}

/** Tells the requestor of a selection that the content is in the property; 0 if the format is not available. */
export function selectionNotify(answer: {
  readonly time: number
  readonly requestor: number
  readonly selection: number
  readonly target: number
  readonly property: number
}): Request {
  return new Request(25, 0)
    .u32(answer.requestor)
    .u32(0)
    .u8(EVENT.selectionNotify)
    .zeros(3)
    .u32(answer.time)
    .u32(answer.requestor)
    .u32(answer.selection)
    .u32(answer.target)
    .u32(answer.property)
    .zeros(8)
}

/** Creates an unmapped window of our own, to hold properties and receive events. */
export function createHiddenWindow(
  x: X11,
  eventMask: number,
): { readonly window: number; readonly request: Request } {
  const window = x.newId()
  const request = new Request(1, 0)
    .u32(window)
    .u32(x.root)
    .i16(-1)
    .i16(-1)
    .u16(1)
    .u16(1)
    .u16(0)
    .u16(2)
    .u32(0)
    .u32(EVENT_MASK_ATTRIBUTE)
    .u32(eventMask)
  return { window, request }
}

export interface Placement {
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
  readonly stackMode?: number
}

/** ConfigureWindow with only the given values. */
export function changeWindow(window: number, place: Placement): Request {
  const values = [place.x, place.y, place.width, place.height, undefined, undefined, place.stackMode]
  const mask = values.reduce<number>((bits, value, i) => (value === undefined ? bits : bits | (1 << i)), 0)
  const request = new Request(12).u32(window).u16(mask).u16(0)
  for (const value of values) if (value !== undefined) request.u32(value)
  return request
}

export function setInputFocus(window: number): Request {
  return new Request(42, REVERT_TO_PARENT).u32(window).u32(0)
}

export function destroyWindow(window: number): Request {
  return new Request(4).u32(window)
}

/** Returns undefined if the window is gone; rethrows every other failure. */
export async function unlessGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof XError && error.isGone) return undefined
    throw error
  }
}

export const EVENT = {
  keyPress: 2,
  keyRelease: 3,
  focusIn: 9,
  createNotify: 16,
  destroyNotify: 17,
  unmapNotify: 18,
  mapNotify: 19,
  reparentNotify: 21,
  configureNotify: 22,
  propertyNotify: 28,
  selectionClear: 29,
  selectionRequest: 30,
  selectionNotify: 31,
  clientMessage: 33,
  mappingNotify: 34,
} as const

export const MASK = {
  structure: 1 << 17,
  substructure: 1 << 19,
  substructureRedirect: 1 << 20,
  focus: 1 << 21,
  property: 1 << 22,
} as const

const CLIENT_MESSAGE = 33
const EVENT_MASK_ATTRIBUTE = 1 << 11
const ANY_TYPE = 0
const REVERT_TO_PARENT = 2
