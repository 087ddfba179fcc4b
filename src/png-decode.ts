import { inflateSync } from "node:zlib"
import { AppError } from "./errors.ts"
import type { Pixels } from "./png.ts"

/** The pixels of a PNG as screens give it: 8 bits a channel, RGB or RGBA, not interlaced. */
export function decodePng(png: Uint8Array): Pixels {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  if (png.length < 33 || view.getUint32(0) !== 0x89504e47) throw unreadable("it is no PNG")
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

const RGB = 2
const RGBA = 6
const MOST_PIXELS = 100_000_000

const unreadable = (why: string): AppError =>
  new AppError("PLATFORM_NOT_SUPPORTED", `The picture cannot be drawn into: ${why}`, {
    suggestion: "Take it without --annotate",
  })

/** All IDAT chunks in one. */
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

/** Takes back what each row was written as the difference to: PNG's five filters. */
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
    // What a window lets through is black, as if nothing were behind it.
    const opaque = channels === 4 ? bytes[from + 3]! / 255 : 1
    bgrx[to] = bytes[from + 2]! * opaque
    bgrx[to + 1] = bytes[from + 1]! * opaque
    bgrx[to + 2] = bytes[from]! * opaque
  }
  return bgrx
}
