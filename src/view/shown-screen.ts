import type { Rect } from "../node.ts"
import { encodePng } from "../picture/png.ts"
import { intersection } from "../rect.ts"
import type { ScreenPart } from "../watch.ts"

/** Two copies of the screen: the real one, and the shown one with covers over everything that must not be seen. */
export class ShownScreen {
  width = 0
  height = 0
  #real = new Uint32Array(0)
  #shown = new Uint32Array(0)

  /** Takes parts of the screen without showing them. Returns the areas whose pixels have changed. */
  take(size: Size, parts: readonly ScreenPart[]): readonly Rect[] {
    if (size.width !== this.width || size.height !== this.height) this.#resize(size)
    return parts.flatMap((part) => this.#takePart(part))
  }

  /** Shows the last taken pixels of these areas, with the covers on top. */
  show(areas: readonly Rect[], covers: readonly Rect[]): void {
    for (const area of areas) {
      this.#copy(area)
      for (const cover of covers) this.#cover(intersection(area, cover))
    }
  }

  /** A part of the shown picture. */
  png(area: Rect): Uint8Array {
    const { x, y, width, height } = area
    const pixels = new Uint32Array(width * height)
    for (let row = 0; row < height; row++) {
      const from = (y + row) * this.width + x
      pixels.set(this.#shown.subarray(from, from + width), row * width)
    }
    return encodePng({ width, height, bgrx: new Uint8Array(pixels.buffer) })
  }

  #resize({ width, height }: Size): void {
    this.width = width
    this.height = height
    this.#real = new Uint32Array(width * height)
    this.#shown = new Uint32Array(width * height)
  }

  #takePart({ x, y, width, height, bgrx }: ScreenPart): readonly Rect[] {
    const pixels = new Uint32Array(bgrx.buffer, bgrx.byteOffset, width * height)
    let [top, bottom, left, right] = [height, -1, width, -1]
    for (let row = 0; row < height; row++) {
      const to = (y + row) * this.width + x
      const [first, last] = difference(pixels, row * width, this.#real, to, width)
      if (first < 0) continue
      top = Math.min(top, row)
      bottom = row
      left = Math.min(left, first)
      right = Math.max(right, last)
      this.#real.set(pixels.subarray(row * width + first, row * width + last + 1), to + first)
    }
    if (bottom < 0) return []
    return [{ x: x + left, y: y + top, width: right - left + 1, height: bottom - top + 1 }]
  }

  #copy({ x, y, width, height }: Rect): void {
    for (let row = y; row < y + height; row++) {
      const at = row * this.width + x
      this.#shown.set(this.#real.subarray(at, at + width), at)
    }
  }

  /** Stripes, so that a cover does not look like part of the app. */
  #cover({ x, y, width, height }: Rect): void {
    for (let row = y; row < y + height; row++) {
      for (let column = x; column < x + width; column++)
        this.#shown[row * this.width + column] = (column + row) % STRIPE < STRIPE / 2 ? DARK : LIGHT
    }
  }
}

interface Size {
  readonly width: number
  readonly height: number
}

/** The first and the last pixel in which two rows differ; -1 if they are equal. */
function difference(
  a: Uint32Array,
  from: number,
  b: Uint32Array,
  at: number,
  width: number,
): readonly [number, number] {
  let first = 0
  while (first < width && ((a[from + first]! ^ b[at + first]!) & COLOUR) === 0) first++
  if (first === width) return [-1, -1]
  let last = width - 1
  while (((a[from + last]! ^ b[at + last]!) & COLOUR) === 0) last--
  return [first, last]
}

/** The fourth byte of a pixel has no meaning. */
const COLOUR = 0xffffff
const STRIPE = 12
const DARK = 0x4a515c
const LIGHT = 0x545c68
