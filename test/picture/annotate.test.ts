import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../src/errors.ts"
import type { Rect } from "../../src/node.ts"
import {
  annotate,
  GLYPH_HEIGHT,
  GLYPH_WIDTH,
  glyphOf,
  type Mark,
  placeLabels,
} from "../../src/picture/annotate.ts"
import { decodePng, encodePng, type Pixels } from "../../src/picture/png.ts"
import { desk } from "../support/fake-desk.ts"

const plain = (width: number, height: number, grey: number): Pixels => ({
  width,
  height,
  bgrx: new Uint8Array(width * height * 4).fill(grey),
})

const colourAt = ({ width, bgrx }: Pixels, x: number, y: number): number[] => {
  const at = (y * width + x) * 4
  return [bgrx[at + 2]!, bgrx[at + 1]!, bgrx[at]!]
}

const overlaps = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

async function convert(input: Uint8Array, ...args: string[]): Promise<Uint8Array> {
  const child = Bun.spawn(["convert", ...args], { stdin: input, stdout: "pipe", stderr: "pipe" })
  const [bytes, errors] = await Promise.all([child.stdout.bytes(), child.stderr.text()])
  expect(errors).toBe("")
  return bytes
}

describe("a decoded picture", () => {
  const noise: Pixels = { width: 61, height: 23, bgrx: new Uint8Array(61 * 23 * 4) }
  for (let i = 0; i < noise.bgrx.length; i++) noise.bgrx[i] = (i * 7919 + (i >> 3) * 31) & 255

  test("has the pixels that were encoded", () => {
    const sizes = fc.record({
      width: fc.integer({ min: 1, max: 40 }),
      height: fc.integer({ min: 1, max: 9 }),
    })
    fc.assert(
      fc.property(sizes, fc.nat(255), fc.nat(4), ({ width, height }, grey, busy) => {
        const pixels = plain(width, height, grey)
        for (let i = 0; i < pixels.bgrx.length; i++) pixels.bgrx[i]! += (i * busy * 53) & 255
        const read = decodePng(encodePng(pixels))
        for (let i = 0; i < width * height; i++)
          expect(colourAt(read, i % width, Math.floor(i / width))).toEqual(
            colourAt(pixels, i % width, Math.floor(i / width)),
          )
      }),
    )
  })

  test.each([0, 1, 2, 3, 4])(
    "may come from another encoder with filter %i, with or without transparency",
    async (filter) => {
      for (const format of ["png24:-", "png32:-"]) {
        const png = await convert(encodePng(noise), "png:-", "-quality", `7${filter}`, format)
        const wanted = await convert(png, "png:-", "-alpha", "off", "-depth", "8", "rgb:-")
        const read = decodePng(png)
        const rgb = Array.from({ length: 61 * 23 }, (_, i) =>
          colourAt(read, i % 61, Math.floor(i / 61)),
        ).flat()
        expect(Buffer.compare(new Uint8Array(rgb), wanted)).toBe(0)
      }
    },
  )

  test("must have a format that screenshots use", async () => {
    const odd = [
      new Uint8Array([137, 80, 78, 71]),
      await convert(encodePng(noise), "png:-", "-colorspace", "gray", "png8:-"),
      await convert(encodePng(noise), "png:-", "png48:-"),
      await convert(encodePng(noise), "png:-", "-interlace", "PNG", "png24:-"),
    ]
    for (const png of odd) expect(() => decodePng(png)).toThrow(AppError)
  })
})

test("every character of a ref has its own glyph", () => {
  const drawn = [..."@e0123456789"].map((one) => glyphOf(one))
  for (const rows of drawn) {
    expect(rows).toHaveLength(GLYPH_HEIGHT)
    for (const row of rows) expect(row).toBeLessThan(2 ** GLYPH_WIDTH)
  }
  expect(new Set(drawn.map(String)).size).toBe(12)
})

describe("labels", () => {
  const picture = { width: 400, height: 300 }
  const boxes = fc.record({
    x: fc.integer({ min: -20, max: 390 }),
    y: fc.integer({ min: -20, max: 290 }),
    width: fc.integer({ min: 1, max: 200 }),
    height: fc.integer({ min: 1, max: 120 }),
  })
  const someMarks = fc
    .array(boxes, { maxLength: 60 })
    .map((all) => all.map((box, i): Mark => ({ label: `@e${i * 7 + 1}`, box })))

  test("never overlap each other and never leave the picture", () => {
    fc.assert(
      fc.property(someMarks, fc.constantFrom(1, 2), (marks, scale) => {
        const placed = placeLabels(marks, picture, scale)
        for (const [i, { at }] of placed.entries()) {
          expect(at.x).toBeGreaterThanOrEqual(0)
          expect(at.y).toBeGreaterThanOrEqual(0)
          expect(at.x + at.width).toBeLessThanOrEqual(picture.width)
          expect(at.y + at.height).toBeLessThanOrEqual(picture.height)
          for (const other of placed.slice(i + 1)) expect(overlaps(at, other.at)).toBe(false)
        }
      }),
    )
  })

  test("all fit into a toolbar, a form and a grid of cells", () => {
    const grid = (columns: number, rows: number, width: number, height: number): Mark[] =>
      Array.from({ length: columns * rows }, (_, i) => ({
        label: `@e${i + 100}`,
        box: { x: (i % columns) * width, y: Math.floor(i / columns) * height, width, height },
      }))
    for (const marks of [grid(10, 1, 40, 30), grid(2, 10, 200, 28), grid(8, 12, 48, 24)])
      expect(placeLabels(marks, picture)).toHaveLength(marks.length)
  })

  test("are next to their element and do not cover another one", () => {
    const marks = [
      { label: "@e1", box: { x: 50, y: 100, width: 80, height: 30 } },
      { label: "@e2", box: { x: 50, y: 130, width: 80, height: 30 } },
    ]
    const [first, second] = placeLabels(marks, picture)
    expect(first?.at).toMatchObject({ x: 50, y: 100 - first!.at.height })
    expect(overlaps(second!.at, marks[0]!.box)).toBe(false)
  })

  test("are omitted for elements outside the picture", () => {
    const box = { x: 1000, y: 10, width: 50, height: 20 }
    expect(placeLabels([{ label: "@e1", box }], picture)).toEqual([])
  })
})

describe.each([
  ["light", 250],
  ["dark", 20],
])("on a %s background", (_, grey) => {
  const box = { x: 40, y: 40, width: 60, height: 30 }
  const drawn = decodePng(annotate(encodePng(plain(200, 120, grey)), [{ label: "@e8", box }]))

  test("the box is a coloured line and a white line, and its inside is unchanged", () => {
    expect(colourAt(drawn, 45, 69)).toEqual([194, 24, 91])
    expect(colourAt(drawn, 45, 68)).toEqual([255, 255, 255])
    expect(colourAt(drawn, 70, 55)).toEqual([grey, grey, grey])
    expect(colourAt(drawn, 39, 55)).toEqual([grey, grey, grey])
  })

  test("the label can be read back pixel by pixel", () => {
    const at: Rect = placeLabels([{ label: "@e8", box }], drawn)[0]!.at
    const text = [0, 1, 2].map((i) =>
      Array.from({ length: GLYPH_HEIGHT }, (_, row) =>
        Array.from({ length: GLYPH_WIDTH }, (_, column) => {
          const colour = colourAt(drawn, at.x + 2 + i * (GLYPH_WIDTH + 1) + column, at.y + 1 + row)
          return colour.every((channel) => channel === 255) ? "1" : "0"
        }).join(""),
      ).map((bits) => Number.parseInt(bits, 2)),
    )
    expect(text).toEqual([..."@e8"].map((character) => [...glyphOf(character)]))
  })
})

describe("screenshot --annotate", () => {
  function shop() {
    const it = desk()
    const app = it.world.app("Shop", { pid: 10 })
    app.window(
      "Order",
      [
        { role: "button", name: "Save", bounds: { x: 120, y: 90, width: 60, height: 30 } },
        {
          role: "button",
          name: "Hidden",
          bounds: { x: 190, y: 90, width: 60, height: 30 },
          states: ["offscreen"],
        },
        { role: "button", name: "Open", bounds: { x: 220, y: 200, width: 60, height: 30 } },
      ],
      { id: "w-1", bounds: { x: 100, y: 50, width: 300, height: 250 } },
    )
    it.world.picture = (width, height) => encodePng(plain(width, height, 240))
    return it
  }
  const pixelsOf = (data: { base64: string }): Pixels => decodePng(Uint8Array.fromBase64(data.base64))

  test("draws the refs of the current snapshot at the elements' current positions", async () => {
    const { ok, world, refs } = shop()
    const { snapshot_id } = await ok("snapshot")
    world.at("Open").set({ bounds: { x: 300, y: 250, width: 60, height: 30 } })
    const before = (await refs.load()).inner.size
    const data = await ok("screenshot", { annotate: true })
    expect(data).toMatchObject({ format: "png", width: 300, height: 250, snapshot_id })
    const pixels = pixelsOf(data)
    expect(colourAt(pixels, 50, 40 + 29)).toEqual([194, 24, 91])
    expect(colourAt(pixels, 250, 200 + 29)).toEqual([21, 101, 192])
    expect(colourAt(pixels, 150, 150 + 29)).toEqual([240, 240, 240])
    expect(colourAt(pixels, 120, 40 + 29)).toEqual([240, 240, 240])
    expect((await refs.load()).inner.size).toBe(before)
  })

  test("gives refs to elements without one, and keeps the others", async () => {
    const { ok, ref, world } = shop()
    await ok("screenshot", { annotate: true, app: "Shop" })
    await ok("click", { ref_id: await ref("Open") })
    expect(world.sent("Open")).toEqual(["semantic click"])
  })

  test("needs a window, and a picture that can be decoded", async () => {
    const { error, world } = shop()
    expect((await error("screenshot", { annotate: true, screen: 0 })).code).toBe("INVALID_ARGS")
    world.picture = undefined
    expect((await error("screenshot", { annotate: true })).code).toBe("PLATFORM_NOT_SUPPORTED")
  })
})
