import {
  accessibility,
  VALUE_ERROR,
  VALUE_POINT,
  VALUE_RANGE,
  VALUE_RECT,
  VALUE_SIZE,
} from "../../ffi/accessibility.ts"
import { coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { AppError } from "../errors.ts"
import type { Rect } from "../node.ts"
import { booleanOf, itemsOf, kindOf, numberOf, textOf } from "./cf.ts"
import { Failure } from "./failure.ts"

/** A live element, until it is released. There is one object for each element (see Connection.intern). */
export class Element {
  #ref: bigint

  /** Takes over a reference that the caller owns. */
  constructor(ref: bigint) {
    this.#ref = ref
  }

  /** Throws after the release: work that a command left behind must not reach freed memory. */
  get ref(): bigint {
    if (this.#ref) return this.#ref
    throw new AppError("TIMEOUT", "The command that this element was read for has ended")
  }

  release(): void {
    if (this.#ref) coreFoundation().CFRelease(this.#ref)
    this.#ref = 0n
  }
}

/** A point, a size or a rectangle. Members that a kind does not have are 0. */
class Geometry implements Rect {
  readonly type: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number

  constructor(type: number, x: number, y: number, width: number, height: number) {
    this.type = type
    this.x = finite(x)
    this.y = finite(y)
    this.width = finite(width)
    this.height = finite(height)
  }
}

/** A CFRange: characters of a text, in UTF-16 units. */
export class Stretch {
  readonly location: number
  readonly length: number

  constructor(location: number, length: number) {
    this.location = location
    this.length = length
  }
}

/** The value of an attribute. undefined: it has none, or one of a type that is never used. */
export type Value =
  | string
  | number
  | boolean
  | Geometry
  | Stretch
  | Element
  | Failure
  | readonly Value[]
  | undefined

export type Attributes = Readonly<Record<string, Value>>

/** Reads a borrowed CF object. */
export function decode(ref: bigint, intern: (ref: bigint) => Element): Value {
  const kind = kindOf(ref)
  switch (kind) {
    case "string":
    case "attributed":
    case "url":
      return textOf(ref, kind)
    case "boolean":
      return booleanOf(ref, kind)
    case "number":
      return numberOf(ref, kind)
    case "array":
      return Array.from(itemsOf(ref, kind) ?? [], (item) => decode(item, intern))
    case "element":
      return intern(ref)
    case "axvalue":
      return contentOf(ref)
    default:
      return undefined
  }
}

const four = new Float64Array(4)
const two = new BigInt64Array(2)
const code = new Int32Array(1)

/** The content of an AXValue. In a batch, an AXValue with an error stands for an attribute that failed. */
function contentOf(ref: bigint): Geometry | Stretch | Failure | undefined {
  const ax = accessibility()
  const type = ax.AXValueGetType(ref)
  if (type === VALUE_ERROR) return ax.AXValueGetValue(ref, type, code) ? new Failure(code[0]!) : undefined
  if (type === VALUE_RANGE)
    return ax.AXValueGetValue(ref, type, two) ? new Stretch(Number(two[0]), Number(two[1])) : undefined
  if (type !== VALUE_POINT && type !== VALUE_SIZE && type !== VALUE_RECT) return undefined
  if (!ax.AXValueGetValue(ref, type, four)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = four
  if (type === VALUE_RECT) return new Geometry(type, a, b, c, d)
  return type === VALUE_POINT ? new Geometry(type, a, b, 0, 0) : new Geometry(type, 0, 0, a, b)
}

export function newPoint(x: number, y: number): Owned {
  return new Owned(accessibility().AXValueCreate(VALUE_POINT, new Float64Array([x, y])))
}

export function newSize(width: number, height: number): Owned {
  return new Owned(accessibility().AXValueCreate(VALUE_SIZE, new Float64Array([width, height])))
}

export function newRange(location: number, length: number): Owned {
  const range = new BigInt64Array([BigInt(location), BigInt(length)])
  return new Owned(accessibility().AXValueCreate(VALUE_RANGE, range))
}

export function asText(value: Value): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** The text, unless it is blank. */
export function asWords(value: Value): string | undefined {
  const words = asText(value)?.trim()
  return words === "" ? undefined : words
}

/** A boolean, or a number, since many apps answer 0 and 1. */
export function asFlag(value: Value): boolean | undefined {
  if (typeof value === "number") return value !== 0
  return typeof value === "boolean" ? value : undefined
}

export function asElement(value: Value): Element | undefined {
  return value instanceof Element ? value : undefined
}

export function asElements(value: Value): readonly Element[] {
  return Array.isArray(value) ? value.filter((item) => item instanceof Element) : []
}

/** AXFrame, or AXPosition with AXSize. */
export function frameOf(attributes: Attributes): Rect | undefined {
  const { AXFrame: frame, AXPosition: position, AXSize: size } = attributes
  const found =
    frame instanceof Geometry && frame.type === VALUE_RECT
      ? frame
      : position instanceof Geometry && size instanceof Geometry
        ? { x: position.x, y: position.y, width: size.width, height: size.height }
        : undefined
  return found && { x: found.x, y: found.y, width: found.width, height: found.height }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0
}
