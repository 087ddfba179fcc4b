import { inflateSync } from "node:zlib"
import { AppError } from "../errors.ts"

export interface Pixels {
  readonly width: number
  readonly height: number
  /** Pixels of four bytes: blue, green, red, unused. Rows have no gaps; the offset in the buffer is a multiple of four. */
  readonly bgrx: Uint8Array
}

/** Encodes the picture as an RGB PNG. Tuned for screens: many equal rows and large plain areas. */
export function encodePng({ width, height, bgrx }: Pixels): Uint8Array {
  const scanlines = filterRows(width, height, bgrx)
  const header = new Uint8Array(13)
  const view = new DataView(header.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  header.set([8, RGB, 0, 0, 0], 8)
  return joinChunks([
    ["IHDR", [header]],
    ["IDAT", compress(scanlines)],
    ["IEND", []],
  ])
}

export const RGB = 2
const NONE = 0
const SUB = 1
const UP = 2

function filterRows(width: number, height: number, bgrx: Uint8Array): Uint8Array<ArrayBuffer> {
  const pixels = new Uint32Array(bgrx.buffer, bgrx.byteOffset, width * height)
  const bytes = Buffer.from(bgrx.buffer, bgrx.byteOffset, bgrx.byteLength)
  const packed = new Uint32Array(Math.ceil(width / 4) * 3)
  const row = new Uint8Array(packed.buffer, 0, width * 3)
  const stride = width * 3 + 1
  const out = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const [at, end] = [y * width * 4, (y + 1) * width * 4]
    if (y > 0 && bytes.compare(bytes, at - width * 4, at, at, end) === 0) {
      // The row equals the one above: all differences are zero, like the buffer already.
      out[y * stride] = UP
      continue
    }
    packRow(pixels, y * width, packed)
    const filter = isBusy(pixels, y * width, width) ? SUB : NONE
    if (filter === SUB) subtractLeft(row)
    out[y * stride] = filter
    out.set(row, y * stride + 1)
  }
  return out
}

// Four pixels become three words: a third of the stores of a byte-wise loop, twice as fast in a cold process.
function packRow(pixels: Uint32Array, from: number, packed: Uint32Array): void {
  let at = from
  for (let i = 0; i < packed.length; i += 3, at += 4) {
    const a = pixels[at] ?? 0
    const b = pixels[at + 1] ?? 0
    const c = pixels[at + 2] ?? 0
    const d = pixels[at + 3] ?? 0
    packed[i] = ((a >>> 16) & 0xff) | (a & 0xff00) | ((a & 0xff) << 16) | ((b & 0xff0000) << 8)
    packed[i + 1] = ((b >>> 8) & 0xff) | ((b & 0xff) << 8) | (c & 0xff0000) | ((c & 0xff00) << 16)
    packed[i + 2] = (c & 0xff) | ((d >>> 8) & 0xff00) | ((d & 0xff00) << 8) | ((d & 0xff) << 24)
  }
}

// Photographs compress better as differences, plain areas and text better unchanged.
function isBusy(pixels: Uint32Array, from: number, width: number): boolean {
  let changes = 0
  for (let x = 8; x < width; x += 8) if (pixels[from + x] !== pixels[from + x - 1]) changes++
  return changes * 16 > width
}

function subtractLeft(row: Uint8Array): void {
  for (let i = row.length - 1; i >= 3; i--) row[i] = row[i]! - row[i - 3]!
}

/** A zlib stream: header, deflated bytes, checksum. */
function compress(bytes: Uint8Array<ArrayBuffer>): Uint8Array[] {
  const checksum = new Uint8Array(4)
  new DataView(checksum.buffer).setUint32(0, Bun.hash.adler32(bytes))
  return [Uint8Array.of(0x78, 0x5e), Bun.deflateSync(bytes, { level: 2, library: "zlib" }), checksum]
}

function joinChunks(chunks: readonly (readonly [string, readonly Uint8Array[]])[]): Uint8Array {
  const size = (parts: readonly Uint8Array[]) => parts.reduce((sum, part) => sum + part.length, 0)
  const total = chunks.reduce((sum, [, parts]) => sum + 12 + size(parts), SIGNATURE.length)
  const png = new Uint8Array(total)
  const view = new DataView(png.buffer)
  png.set(SIGNATURE)
  let at = SIGNATURE.length
  for (const [name, parts] of chunks) {
    view.setUint32(at, size(parts))
    const start = at + 4
    at = start
    for (const part of [new TextEncoder().encode(name), ...parts]) {
      png.set(part, at)
      at += part.length
    }
    view.setUint32(at, Bun.hash.crc32(png.subarray(start, at)))
    at += 4
  }
  return png
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

/** Decodes the PNGs that screens produce: 8 bits per channel, RGB or RGBA, not interlaced. */
export function decodePng(png: Uint8Array): Pixels {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  if (png.length < 33 || view.getUint32(0) !== 0x89504e47) throw unreadable("it is not a PNG")
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  const [depth, colour, , , interlace] = png.subarray(24, 29)
  const channels = colour === RGB ? 3 : colour === RGBA ? 4 : 0
  if (depth !== 8 || channels === 0 || interlace !== 0)
    throw unreadable(`it has ${depth} bits a channel, colour type ${colour}, interlace ${interlace}`)
  if (width * height > MOST_PIXELS) throw unreadable(`it has ${width}x${height} pixels`)
  const lines = inflateSync(joinData(png, view), { maxOutputLength: (width * channels + 1) * height })
  if (lines.length !== (width * channels + 1) * height) throw unreadable("it ends early")
  return { width, height, bgrx: toBgrx(unfilter(lines, width * channels, height, channels), channels) }
}

const RGBA = 6
const MOST_PIXELS = 100_000_000

const unreadable = (why: string): AppError =>
  new AppError("PLATFORM_NOT_SUPPORTED", `The picture cannot be annotated: ${why}`, {
    suggestion: "Take it without --annotate",
  })

/** The contents of all IDAT chunks, joined. */
function joinData(png: Uint8Array, view: DataView): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 8; at + 12 <= png.length; ) {
    const length = view.getUint32(at)
    if (view.getUint32(at + 4) === IDAT) parts.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

const IDAT = 0x49444154

/** Undoes PNG's five row filters. */
function unfilter(lines: Uint8Array, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const from = y * (stride + 1)
    const row = y * stride
    const filter = lines[from]
    out.set(lines.subarray(from + 1, from + 1 + stride), row)
    for (let i = filter === 0 ? stride : 0; i < stride; i++) {
      const left = i >= channels ? out[row + i - channels]! : 0
      const above = y > 0 ? out[row + i - stride]! : 0
      const corner = i >= channels && y > 0 ? out[row + i - stride - channels]! : 0
      out[row + i]! += predicted(filter, left, above, corner)
    }
  }
  return out
}

function predicted(filter: number | undefined, left: number, above: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  if (filter !== 4) throw unreadable(`it has a filter ${filter}`)
  const [toLeft, toAbove, toCorner] = [
    Math.abs(above - corner),
    Math.abs(left - corner),
    Math.abs(left + above - 2 * corner),
  ]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

function toBgrx(bytes: Uint8Array, channels: number): Uint8Array {
  const bgrx = new Uint8Array((bytes.length / channels) * 4)
  for (let from = 0, to = 0; from < bytes.length; from += channels, to += 4) {
    // Transparent parts of a window become black.
    const opaque = channels === 4 ? bytes[from + 3]! / 255 : 1
    bgrx[to] = bytes[from + 2]! * opaque
    bgrx[to + 1] = bytes[from + 1]! * opaque
    bgrx[to + 2] = bytes[from]! * opaque
  }
  return bgrx
}
