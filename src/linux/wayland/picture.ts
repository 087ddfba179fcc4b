import { closeSync, ftruncateSync, readSync } from "node:fs"
import { memoryFile } from "../../../ffi/descriptors.ts"
import type { ScreenshotTarget } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import type { Rect } from "../../node.ts"
import { overlaps } from "../../rect.ts"
import { windowOffScreen } from "../windowing/failures.ts"
import type { Wayland } from "./connection.ts"
import { layoutOf, type Output, readOutputs } from "./displays.ts"
import { WaylandMessage } from "./wire.ts"

/** The picture of a display, of all displays, or of the area of a window, with everything on top of it. */
export async function takePicture(
  wayland: Wayland,
  target: ScreenshotTarget,
  deadline: Deadline,
): Promise<Picture> {
  const manager = wayland.bind("zwlr_screencopy_manager_v1", 1)
  const shm = wayland.bind("wl_shm", 1)
  if (manager === undefined || shm === undefined)
    throw new AppError("PLATFORM_NOT_SUPPORTED", "This compositor does not let programs take pictures", {
      suggestion: "Use 'snapshot' to see what the window shows",
    })
  const outputs = await readOutputs(wayland, deadline)
  const area = areaOf(target, outputs)
  const canvas = new Uint32Array(area.width * area.height)
  for (const output of outputs.filter(({ info }) => overlaps(info.bounds, area))) {
    const shot = await capture(wayland, manager, shm, output, deadline)
    draw(canvas, area, shot, output.info.bounds)
  }
  const { encodePng } = await import("../../picture/png.ts")
  const bgrx = new Uint8Array(canvas.buffer)
  const png = encodePng({ width: area.width, height: area.height, bgrx })
  return { png, width: area.width, height: area.height, origin: { x: area.x, y: area.y } }
}

function areaOf(target: ScreenshotTarget, outputs: readonly Output[]): Rect {
  const whole = layoutOf(outputs)
  if (target.kind === "screen") {
    const display = target.index === undefined ? whole : outputs[target.index]?.info.bounds
    if (display) return display
    throw new AppError(
      "INVALID_ARGS",
      `Display ${target.index} does not exist; the number of displays is ${outputs.length}`,
      { suggestion: "Use 'list-displays' to see them; the first is 0" },
    )
  }
  const bounds = target.window.bounds ?? whole
  const [left, top] = [Math.max(whole.x, bounds.x), Math.max(whole.y, bounds.y)]
  const right = Math.min(whole.x + whole.width, bounds.x + bounds.width)
  const bottom = Math.min(whole.y + whole.height, bounds.y + bounds.height)
  if (right > left && bottom > top) return { x: left, y: top, width: right - left, height: bottom - top }
  throw windowOffScreen()
}

interface Shot {
  readonly width: number
  readonly height: number
  readonly pixels: Uint32Array
}

async function capture(
  wayland: Wayland,
  manager: number,
  shm: number,
  output: Output,
  deadline: Deadline,
): Promise<Shot> {
  let offered: Layout | undefined
  let end: "ready" | "failed" | undefined
  let isFlipped = false
  const frame = wayland.create((event) => {
    if (event.opcode === BUFFER)
      offered = { format: event.u32(), width: event.u32(), height: event.u32(), stride: event.u32() }
    if (event.opcode === FLAGS) isFlipped = (event.u32() & Y_INVERT) !== 0
    if (event.opcode === READY) end = "ready"
    if (event.opcode === FAILED) end = "failed"
  })
  wayland.send(new WaylandMessage(manager, CAPTURE_OUTPUT).u32(frame).i32(0).u32(output.object))
  await wayland.wait(() => offered !== undefined || end !== undefined, deadline)
  const file = offered && memoryFile("agent-desktop-picture")
  if (!offered || file === undefined) throw failed()
  try {
    const { format, width, height, stride } = offered
    ftruncateSync(file, stride * height)
    const pool = wayland.create()
    wayland.send(
      new WaylandMessage(shm, CREATE_POOL)
        .u32(pool)
        .fd(file)
        .i32(stride * height),
    )
    const buffer = wayland.create()
    const layout = new WaylandMessage(pool, CREATE_BUFFER).u32(buffer).i32(0).i32(width).i32(height)
    wayland.send(layout.i32(stride).u32(format))
    wayland.send(new WaylandMessage(frame, COPY).u32(buffer))
    await wayland.wait(() => end !== undefined, deadline)
    if (end === "failed") throw failed()
    const bytes = new Uint8Array(stride * height)
    readSync(file, bytes, 0, bytes.length, 0)
    return { width, height, pixels: asBgrx(bytes, { format, width, height, stride, isFlipped }) }
  } finally {
    closeSync(file)
  }
}

/** The layout of a buffer that the compositor copies into. */
export interface Layout {
  readonly format: number
  readonly width: number
  readonly height: number
  /** Bytes a row. */
  readonly stride: number
}

/** Rows from the top, without gaps, blue first. */
export function asBgrx(
  bytes: Uint8Array,
  { format, width, height, stride, isFlipped }: Layout & { readonly isFlipped: boolean },
): Uint32Array {
  const all = new Uint32Array(bytes.buffer)
  const pixels = new Uint32Array(width * height)
  for (let y = 0; y < height; y++) {
    const from = ((isFlipped ? height - 1 - y : y) * stride) / 4
    pixels.set(all.subarray(from, from + width), y * width)
  }
  if (format !== ABGR && format !== XBGR) return pixels
  return pixels.map((p) => (p & 0xff00ff00) | ((p & 0xff) << 16) | ((p >>> 16) & 0xff))
}

/** Draws the output's pixels into the picture, which has one pixel per unit of the layout. */
function draw(canvas: Uint32Array, area: Rect, { width, height, pixels }: Shot, bounds: Rect): void {
  for (let y = 0; y < area.height; y++) {
    const row = Math.floor(((area.y + y - bounds.y) * height) / bounds.height)
    if (row < 0 || row >= height) continue
    for (let x = 0; x < area.width; x++) {
      const column = Math.floor(((area.x + x - bounds.x) * width) / bounds.width)
      if (column >= 0 && column < width) canvas[y * area.width + x] = pixels[row * width + column]!
    }
  }
}

const failed = (): AppError => new AppError("ACTION_FAILED", "The compositor could not copy the screen")

export const CAPTURE_OUTPUT = 0
export const COPY = 0
export const BUFFER = 0
export const FLAGS = 1
export const READY = 2
export const FAILED = 3
export const Y_INVERT = 1
export const CREATE_POOL = 0
export const CREATE_BUFFER = 0
const ABGR = 0x34324241
const XBGR = 0x34324258
