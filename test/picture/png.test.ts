import { expect, test } from "bun:test"
import { inflateSync } from "node:zlib"
import fc from "fast-check"
import { encodePng } from "../../src/picture/png.ts"

/** Pixels as on a screen, with noise in the unused byte. */
function picture(
  width: number,
  height: number,
  colour: (x: number, y: number) => readonly [number, number, number],
) {
  const bgrx = new Uint8Array(width * height * 4)
  const rgb = new Uint8Array(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [r, g, b] = colour(x, y)
      bgrx.set([b, g, r, (x * 7 + y) & 255], (y * width + x) * 4)
      rgb.set([r, g, b], (y * width + x) * 3)
    }
  }
  return { pixels: { width, height, bgrx }, rgb }
}

/** A decoder for the encoder's output: one IDAT, RGB, filters 0 to 2. */
function decode(png: Uint8Array): { width: number; height: number; rgb: Uint8Array } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  const width = view.getUint32(16)
  const height = view.getUint32(20)
  expect([...png.subarray(24, 29)]).toEqual([8, 2, 0, 0, 0])
  const idat = png.subarray(41, 41 + view.getUint32(33))
  const lines = inflateSync(idat)
  const stride = width * 3
  expect(lines.length).toBe((stride + 1) * height)
  const rgb = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (stride + 1)]
    for (let i = 0; i < stride; i++) {
      const left = i >= 3 ? rgb[y * stride + i - 3]! : 0
      const above = y > 0 ? rgb[(y - 1) * stride + i]! : 0
      rgb[y * stride + i] =
        lines[y * (stride + 1) + 1 + i]! + (filter === 1 ? left : filter === 2 ? above : 0)
    }
  }
  return { width, height, rgb }
}

const PICTURES = {
  plain: picture(640, 200, () => [12, 200, 99]),
  noise: picture(301, 97, (x, y) => [
    (x * 7919 + y * 104729) & 255,
    (x * y * 31) & 255,
    (x ^ (y * 17)) & 255,
  ]),
  gradient: picture(517, 64, (x, y) => [x & 255, (x + y) & 255, (255 - x) & 255]),
  stripes: picture(1921, 31, (x, y) => (y % 3 === 0 ? [255, 255, 255] : [x > 900 ? 255 : 0, 0, 0])),
  pixel: picture(1, 1, () => [1, 2, 3]),
}

test.each(Object.entries(PICTURES))(
  "ImageMagick decodes the %s picture to the same pixels",
  async (_, { pixels, rgb }) => {
    const convert = Bun.spawn(["convert", "png:-", "-depth", "8", "rgb:-"], {
      stdin: encodePng(pixels),
      stdout: "pipe",
      stderr: "pipe",
    })
    const [bytes, errors] = await Promise.all([convert.stdout.bytes(), convert.stderr.text()])
    expect(errors).toBe("")
    expect(Buffer.compare(bytes, rgb)).toBe(0)
  },
)

test("a picture of any width decodes to the same pixels", () => {
  const sizes = fc.record({ width: fc.integer({ min: 1, max: 70 }), height: fc.integer({ min: 1, max: 12 }) })
  const colours = fc.array(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(sizes, colours, fc.nat(5), ({ width, height }, palette, busy) => {
      const { pixels, rgb } = picture(
        width,
        height,
        (x, y) => palette[(x * busy + (y >> 1)) % palette.length]!,
      )
      expect(decode(encodePng(pixels))).toEqual({ width, height, rgb })
    }),
  )
})

test("plain areas are tiny, and photographs are smaller than their pixels", () => {
  expect(encodePng(PICTURES.plain.pixels).length).toBeLessThan(1500)
  expect(encodePng(PICTURES.gradient.pixels).length).toBeLessThan(PICTURES.gradient.rgb.length / 20)
})
