import type { Picture } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Point, Rect } from "../node.ts"
import type { Pixels } from "../png.ts"
import type { X11 } from "./x11.ts"
import { isCovered, topLevelOf, withOwnPixels } from "./x11-composite.ts"
import { Request } from "./x11-wire.ts"

/** The picture of a window, also of what of it is covered, as far as the server can tell. */
export async function takeWindow(x: X11, id: number, area: Rect, deadline: Deadline): Promise<Picture> {
  const top = await topLevelOf(x, id, deadline)
  if (top === undefined || !(await isCovered(x, top, area, deadline)))
    return takeScreenshot(x, area, deadline)
  const own = await withOwnPixels(x, id, top, deadline, async ({ drawable, bounds }) => {
    const local = { ...area, x: area.x - bounds.x, y: area.y - bounds.y }
    const part = clip(local, bounds)
    return part && pictureOf(x, drawable, part, { x: part.x + bounds.x, y: part.y + bounds.y }, deadline)
  })
  return own ?? takeScreenshot(x, area, deadline)
}

/** The pixels of the screen inside the rectangle, as far as it is on the screen, with all that covers it. */
export async function takeScreenshot(x: X11, area: Rect, deadline: Deadline): Promise<Picture> {
  const visible = clip(area, x.setup.screen)
  if (!visible) {
    throw new AppError("ACTION_FAILED", "Nothing of it is on the screen", {
      suggestion: "Use 'focus-window' or 'move-window' to bring it into view",
    })
  }
  return pictureOf(x, x.root, visible, { x: visible.x, y: visible.y }, deadline)
}

async function pictureOf(
  x: X11,
  drawable: number,
  area: Rect,
  origin: Point,
  deadline: Deadline,
): Promise<Picture> {
  const [pixels, { encodePng }] = await Promise.all([
    readPixels(x, drawable, area, deadline),
    import("../png.ts"),
  ])
  return { png: encodePng(pixels), width: area.width, height: area.height, origin }
}

function clip(area: Rect, screen: { readonly width: number; readonly height: number }): Rect | undefined {
  const left = Math.max(0, Math.floor(area.x))
  const top = Math.max(0, Math.floor(area.y))
  const right = Math.min(screen.width, Math.ceil(area.x + area.width))
  const bottom = Math.min(screen.height, Math.ceil(area.y + area.height))
  if (right <= left || bottom <= top) return undefined
  return { x: left, y: top, width: right - left, height: bottom - top }
}

// One request is one moment; only what is larger than a reply may be is read in strips.
async function readPixels(x: X11, drawable: number, area: Rect, deadline: Deadline): Promise<Pixels> {
  const { depth } = x.setup.screen
  if (x.setup.formats.get(depth) !== 32 || !x.setup.imageLittleEndian || depth < 24) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", `Screens with ${depth} bits a pixel cannot be read`, {
      suggestion: "Use a display with 24 bits a pixel",
    })
  }
  const rows = Math.max(1, Math.floor(MAX_STRIP_BYTES / (area.width * 4)))
  const strips = Array.from({ length: Math.ceil(area.height / rows) }, (_, i) => {
    const top = i * rows
    const height = Math.min(rows, area.height - top)
    return x
      .ask(
        new Request(GET_IMAGE, Z_PIXMAP)
          .u32(drawable)
          .i16(area.x)
          .i16(area.y + top)
          .u16(area.width)
          .u16(height)
          .u32(ALL_PLANES),
        deadline,
      )
      .then((reply) => reply.bytes(32, area.width * height * 4))
  })
  const parts = await Promise.all(strips)
  const bgrx = parts.length === 1 && parts[0] ? aligned(parts[0]) : new Uint8Array(Buffer.concat(parts))
  return { width: area.width, height: area.height, bgrx }
}

// A small reply may be a view into the middle of what the socket delivered.
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
}

const GET_IMAGE = 73
const Z_PIXMAP = 2
const ALL_PLANES = 0xffffffff
const MAX_STRIP_BYTES = 128 * 1024 * 1024
