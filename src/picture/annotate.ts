import type { Rect } from "../node.ts"
import { encloses, middle } from "../rect.ts"
import { decodePng, encodePng, type Pixels } from "./png.ts"

/** An element to mark, in the picture's own pixels. */
export interface Mark {
  /** The label's text, such as `@e3`. */
  readonly label: string
  readonly box: Rect
}

/** The position of a label. */
export interface Placed extends Mark {
  readonly at: Rect
}

/** Draws a box around each element and its label beside it. `scale` enlarges both for screens with small pixels. */
export function annotate(png: Uint8Array, marks: readonly Mark[], scale = 1): Uint8Array {
  const pixels = decodePng(png)
  const placed = placeLabels(marks, pixels, scale)
  // Boxes come first so that none covers a label.
  for (const [i, { box }] of placed.entries()) drawBox(pixels, clip(box, pixels), colourOf(i), scale)
  for (const [i, mark] of placed.entries()) drawLabel(pixels, mark, colourOf(i), scale)
  return encodePng(pixels)
}

/**
 * Finds a place for each label: near its element, covering as little of the others as possible, and never over another
 * label. A label without a place is left out.
 */
export function placeLabels(
  marks: readonly Mark[],
  picture: { readonly width: number; readonly height: number },
  scale = 1,
): readonly Placed[] {
  const visible = marks.filter(({ box }) => {
    const { width, height } = clip(box, picture)
    return width >= 3 && height >= 3
  })
  const taken: Rect[] = []
  return visible.flatMap((mark) => {
    const size = labelSize(mark.label, scale)
    const others = visible.filter((one) => one !== mark && !encloses(one.box, mark.box))
    const cost = (at: Rect, i: number): number =>
      others.reduce((sum, { box }) => sum + 3 * overlapArea(at, box), 0) + overlapArea(at, mark.box) / 2 + i
    const isFree = (at: Rect): boolean =>
      encloses({ x: 0, y: 0, ...picture }, at) && taken.every((one) => overlapArea(at, one) === 0)
    const near = spotsAround(clip(mark.box, picture), size)
      .map((at, i) => ({ at, cost: cost(at, i) }))
      .filter(({ at }) => isFree(at))
      .sort((a, b) => a.cost - b.cost)[0]?.at
    const at = near ?? farther(mark.box, size).find(isFree)
    if (!at) return []
    taken.push(at)
    return [{ ...mark, at }]
  })
}

const PADDING = 2

function labelSize(label: string, scale: number): { readonly width: number; readonly height: number } {
  return {
    width: (label.length * (GLYPH_WIDTH + 1) - 1 + 2 * PADDING) * scale,
    height: (GLYPH_HEIGHT + 2 * PADDING - 1) * scale,
  }
}

type Size = ReturnType<typeof labelSize>

/** Places at the corners of the box, best first. */
function spotsAround(box: Rect, { width, height }: Size): readonly Rect[] {
  const [left, top] = [Math.round(box.x), Math.round(box.y)]
  const [right, bottom] = [Math.round(box.x + box.width), Math.round(box.y + box.height)]
  const spots: readonly (readonly [number, number])[] = [
    [left, top - height],
    [left, top],
    [right - width, top - height],
    [left - width, top],
    [right, top],
    [right - width, top],
    [left, bottom],
    [right - width, bottom],
    [left, bottom - height],
    [right - width, bottom - height],
  ]
  return spots.map(([x, y]) => ({ x, y, width, height }))
}

/** Places in growing distance around the box. */
function farther(box: Rect, { width, height }: Size): readonly Rect[] {
  const [left, top] = [Math.round(box.x), Math.round(box.y)]
  const rings = Array.from({ length: RINGS }, (_, i) => i + 1)
  return rings.flatMap((ring) =>
    [
      [left, top - ring * height],
      [left, top + ring * height],
      [left - (ring * width) / 2, top],
      [left + (ring * width) / 2, top],
      [left + (ring * width) / 2, top - ring * height],
      [left - (ring * width) / 2, top - ring * height],
      [left + (ring * width) / 2, top + ring * height],
      [left - (ring * width) / 2, top + ring * height],
    ].map(([x = 0, y = 0]) => ({ x: Math.round(x), y, width, height })),
  )
}

const RINGS = 20

/** How many pixels two rectangles share. */
function overlapArea(a: Rect, b: Rect): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return width > 0 && height > 0 ? width * height : 0
}

function clip(box: Rect, { width, height }: { readonly width: number; readonly height: number }): Rect {
  const left = Math.max(0, Math.round(box.x))
  const top = Math.max(0, Math.round(box.y))
  const right = Math.min(width, Math.round(box.x + box.width))
  const bottom = Math.min(height, Math.round(box.y + box.height))
  return { x: left, y: top, width: right - left, height: bottom - top }
}

type Colour = readonly [red: number, green: number, blue: number]

const WHITE: Colour = [255, 255, 255]

/** Colours dark enough for white letters; neighbours differ. */
const COLOURS: readonly Colour[] = [
  [194, 24, 91],
  [21, 101, 192],
  [46, 125, 50],
  [106, 27, 154],
  [191, 54, 12],
  [0, 105, 92],
]

const colourOf = (index: number): Colour => COLOURS[index % COLOURS.length] ?? WHITE

/** A coloured line with a white one inside it: one of the two is visible on any background. */
function drawBox(pixels: Pixels, box: Rect, colour: Colour, scale: number): void {
  frame(pixels, box, colour, scale)
  const { x, y, width, height } = box
  if (Math.min(width, height) <= 6 * scale) return
  frame(
    pixels,
    { x: x + scale, y: y + scale, width: width - 2 * scale, height: height - 2 * scale },
    WHITE,
    scale,
  )
}

function frame(pixels: Pixels, { x, y, width, height }: Rect, colour: Colour, line: number): void {
  fill(pixels, { x, y, width, height: line }, colour)
  fill(pixels, { x, y: y + height - line, width, height: line }, colour)
  fill(pixels, { x, y, width: line, height }, colour)
  fill(pixels, { x: x + width - line, y, width: line, height }, colour)
}

function drawLabel(pixels: Pixels, { label, at, box }: Placed, colour: Colour, scale: number): void {
  if (overlapArea(grown(at, scale), box) === 0) drawLeader(pixels, at, box, colour, scale)
  fill(pixels, at, WHITE)
  fill(pixels, inset(at, scale), colour)
  for (const [i, character] of [...label].entries()) {
    const left = at.x + (PADDING + i * (GLYPH_WIDTH + 1)) * scale
    const top = at.y + (PADDING - 1) * scale
    for (const [row, bits] of glyphOf(character).entries()) {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if ((bits >> (GLYPH_WIDTH - 1 - column)) & 1)
          fill(pixels, { x: left + column * scale, y: top + row * scale, width: scale, height: scale }, WHITE)
      }
    }
  }
}

/** A line from a label to its element, if the label is not next to it. */
function drawLeader(pixels: Pixels, at: Rect, box: Rect, colour: Colour, scale: number): void {
  const from = middle(at)
  const to = {
    x: Math.min(Math.max(from.x, box.x), box.x + box.width - 1),
    y: Math.min(Math.max(from.y, box.y), box.y + box.height - 1),
  }
  const steps = Math.max(1, Math.round(Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y))))
  for (let i = 0; i <= steps; i++) {
    const x = Math.round(from.x + ((to.x - from.x) * i) / steps)
    const y = Math.round(from.y + ((to.y - from.y) * i) / steps)
    fill(pixels, { x, y, width: scale, height: scale }, colour)
  }
}

const inset = ({ x, y, width, height }: Rect, by: number): Rect => ({
  x: x + by,
  y: y + by,
  width: width - 2 * by,
  height: height - 2 * by,
})

const grown = (rect: Rect, by: number): Rect => inset(rect, -by)

function fill(pixels: Pixels, rect: Rect, [red, green, blue]: Colour): void {
  const { x, y, width, height } = clip(rect, pixels)
  for (let row = y; row < y + height; row++) {
    for (let at = (row * pixels.width + x) * 4, left = width; left > 0; left--, at += 4) {
      pixels.bgrx[at] = blue
      pixels.bgrx[at + 1] = green
      pixels.bgrx[at + 2] = red
    }
  }
}

/** The characters of refs as pixels, for the labels. */

export const GLYPH_WIDTH = 6
export const GLYPH_HEIGHT = 9

/** Rows from top to bottom; the highest of the six bits is the leftmost pixel. */
export function glyphOf(character: string): readonly number[] {
  const drawn = GLYPHS[character] ?? []
  return drawn.map((row) => Number.parseInt(row.replaceAll("#", "1").replaceAll(".", "0"), 2))
}

const GLYPHS: Readonly<Record<string, readonly string[]>> = {
  "@": ["......", ".###..", "#...#.", "#.###.", "#.#.#.", "#.####", "#.....", "#...#.", ".###.."],
  e: ["......", "......", "......", ".###..", "#...#.", "#####.", "#.....", "#...#.", ".###.."],
  "0": ["......", ".###..", "#...#.", "#..##.", "#.#.#.", "##..#.", "#...#.", "#...#.", ".###.."],
  "1": ["......", "..#...", ".##...", "#.#...", "..#...", "..#...", "..#...", "..#...", "#####."],
  "2": ["......", ".###..", "#...#.", "....#.", "...#..", "..#...", ".#....", "#.....", "#####."],
  "3": ["......", ".###..", "#...#.", "....#.", "..##..", "....#.", "....#.", "#...#.", ".###.."],
  "4": ["......", "...##.", "..#.#.", "..#.#.", ".#..#.", "#...#.", "######", "....#.", "....#."],
  "5": ["......", "#####.", "#.....", "#.....", "####..", "....#.", "....#.", "#...#.", ".###.."],
  "6": ["......", "..##..", ".#....", "#.....", "####..", "#...#.", "#...#.", "#...#.", ".###.."],
  "7": ["......", "#####.", "....#.", "....#.", "...#..", "...#..", "..#...", "..#...", "..#..."],
  "8": ["......", ".###..", "#...#.", "#...#.", ".###..", "#...#.", "#...#.", "#...#.", ".###.."],
  "9": ["......", ".###..", "#...#.", "#...#.", "#...#.", ".####.", "....#.", "...#..", ".##..."],
}
