import type { ScreenshotTarget } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import type { Point, Rect } from "../../node.ts"
import type { Pixels } from "../../picture/png.ts"
import { overlaps, partOnScreen } from "../../rect.ts"
import { windowOffScreen } from "../windowing/failures.ts"
import type { Uncovered } from "../windowing/system.ts"
import { windowNumber } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import { listDisplays } from "./displays.ts"
import { geometryIn, geometryRequest, getGeometry, queryTree, unlessGone } from "./requests.ts"
import { caughtUp } from "./wait-for-reader.ts"
import { Packet, Request, XError } from "./wire.ts"

/** The picture of a window, including its covered parts if the server can provide them. */
export async function takeWindow(x: X11, id: number, area: Rect, deadline: Deadline): Promise<Picture> {
  const top = await topLevelOf(x, id, deadline)
  if (top === undefined || !(await isCovered(x, top, area, deadline)))
    return takeScreenshot(x, area, deadline)
  const own = await withOwnPixels(x, id, top, deadline, async ({ drawable, bounds }) => {
    const local = { ...area, x: area.x - bounds.x, y: area.y - bounds.y }
    const part = partOnScreen(local, bounds)
    return part && pictureOf(x, drawable, part, { x: part.x + bounds.x, y: part.y + bounds.y }, deadline)
  })
  return own ?? takeScreenshot(x, area, deadline)
}

/** The part of an area that the screen shows, and its pixels. undefined: it shows none, or a window covers it. */
export async function uncoveredPixels(
  x: X11,
  window: string,
  area: Rect,
  deadline: Deadline,
): Promise<Uncovered | undefined> {
  const visible = partOnScreen(area, x.setup.screen)
  const id = windowNumber(window)
  const top = visible && id !== undefined ? await topLevelOf(x, id, deadline) : undefined
  if (!visible || top === undefined) return undefined
  const [isHidden, pixels] = await Promise.all([
    isCovered(x, top, visible, deadline),
    readPixels(x, x.root, visible, deadline),
  ])
  return isHidden ? undefined : { area: visible, pixels }
}

/** The screen's pixels inside the rectangle, cut at the screen's edges, including windows on top. */
export async function takeScreenshot(x: X11, area: Rect, deadline: Deadline): Promise<Picture> {
  const visible = partOnScreen(area, x.setup.screen)
  if (!visible) throw windowOffScreen()
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
    import("../../picture/png.ts"),
  ])
  return { png: encodePng(pixels), width: area.width, height: area.height, origin }
}

// One request captures one moment. Only areas larger than the largest reply are read in strips.
export async function readPixels(x: X11, drawable: number, area: Rect, deadline: Deadline): Promise<Pixels> {
  const { depth } = x.setup.screen
  if (x.setup.formats.get(depth) !== 32 || !x.setup.imageLittleEndian || depth < 24) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", `Screens with ${depth} bits per pixel cannot be read`, {
      suggestion: "Use a display with 24 bits per pixel",
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

// A small reply may be a view into the middle of a socket's chunk.
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
}

const GET_IMAGE = 73
const Z_PIXMAP = 2
const ALL_PLANES = 0xffffffff
const MAX_STRIP_BYTES = 128 * 1024 * 1024

/** A window's own pixels, without the windows on top of it. */
export interface OwnPixels {
  /** The drawable to read with GetImage. */
  readonly drawable: number
  /** The position of its top left corner on the screen. */
  readonly bounds: Rect
}

/** The top-level window that the window manager moves: the client's window or the frame around it. */
export async function topLevelOf(x: X11, id: number, deadline: Deadline): Promise<number | undefined> {
  let window = id
  for (;;) {
    const tree = await unlessGone(queryTree(x, window, deadline))
    if (!tree || tree.parent === 0) return undefined
    if (tree.parent === x.root) return window
    window = tree.parent
  }
}

/** True if another window covers part of the area, or part of it is off the screen. */
export async function isCovered(x: X11, top: number, area: Rect, deadline: Deadline): Promise<boolean> {
  const { width, height } = x.setup.screen
  const isWithin =
    area.x >= 0 && area.y >= 0 && area.x + area.width <= width && area.y + area.height <= height
  if (!isWithin) return true
  const { children } = await queryTree(x, x.root, deadline)
  const above = children.slice(children.indexOf(top) + 1)
  const replies = await x.askAll(
    above.flatMap((id) => [geometryRequest(id), new Request(GET_ATTRIBUTES).u32(id)]),
    deadline,
  )
  return above.some((_, i) => {
    const [geometry, attributes] = [replies[i * 2], replies[i * 2 + 1]]
    if (!(geometry instanceof Packet) || !(attributes instanceof Packet)) return false
    return (
      attributes.u8(26) === VIEWABLE &&
      attributes.u16(12) !== INPUT_ONLY &&
      overlaps(geometryIn(geometry), area)
    )
  })
}

/**
 * Calls `read` while the server keeps the window's pixels separately from the screen. With a compositor it always does.
 * Otherwise it starts to, and the application must first draw the covered parts. Returns undefined if the server cannot
 * do it or the application does not draw.
 */
export async function withOwnPixels<T>(
  x: X11,
  client: number,
  top: number,
  deadline: Deadline,
  read: (pixels: OwnPixels) => Promise<T>,
): Promise<T | undefined> {
  const composite = await x.extension("Composite", deadline)
  if (!composite) return undefined
  await x.ask(new Request(composite.opcode, QUERY_VERSION).u32(0).u32(4), deadline)
  const drawable = x.newId()
  const name = () =>
    isDone(x, new Request(composite.opcode, NAME_WINDOW_PIXMAP).u32(top).u32(drawable), deadline)
  const redirect = (operation: number) =>
    new Request(composite.opcode, operation).u32(top).u8(AUTOMATIC).zeros(3)
  const isComposited = await name()
  try {
    if (!isComposited) {
      const isDrawn = await drawn(x, client, top, redirect(REDIRECT_WINDOW), deadline)
      if (!isDrawn || !(await name())) return undefined
    }
    const { border, ...inner } = await getGeometry(x, top, deadline)
    const bounds = { ...inner, width: inner.width + 2 * border, height: inner.height + 2 * border }
    return await read({ drawable, bounds })
  } catch (error) {
    if (error instanceof XError) return undefined
    throw error
  } finally {
    if (!x.closed) {
      x.send(new Request(FREE_PIXMAP).u32(drawable))
      if (!isComposited) x.send(redirect(UNREDIRECT_WINDOW))
    }
  }
}

/** Makes the server keep the window's pixels, and waits until the application has drawn the covered ones. */
async function drawn(
  x: X11,
  client: number,
  top: number,
  redirect: Request,
  deadline: Deadline,
): Promise<boolean> {
  const damage = await x.extension("DAMAGE", deadline)
  if (!damage) return false
  await x.ask(new Request(damage.opcode, QUERY_VERSION).u32(1).u32(1), deadline)
  const id = x.newId()
  using events = x.listen(({ code, packet }) => code === damage.firstEvent && packet.u32(8) === id)
  const create = new Request(damage.opcode, DAMAGE_CREATE).u32(id).u32(top).u8(RAW_RECTANGLES).zeros(3)
  if (!(await isDone(x, create, deadline)) || !(await isDone(x, redirect, deadline))) return false
  try {
    const patience = deadline.slice(DRAWING_MS)
    if (!(await caughtUp(x, client, patience))) return false
    // The application has received the exposure; it draws once or several times.
    while (await events.next(patience.slice(QUIET_MS)));
    return !deadline.expired
  } finally {
    if (!x.closed) x.send(new Request(damage.opcode, DAMAGE_DESTROY).u32(id))
  }
}

async function isDone(x: X11, request: Request, deadline: Deadline): Promise<boolean> {
  try {
    await x.check([request], deadline)
    return true
  } catch (error) {
    if (error instanceof XError) return false
    throw error
  }
}

const GET_ATTRIBUTES = 3
const FREE_PIXMAP = 54
const VIEWABLE = 2
const INPUT_ONLY = 2

const QUERY_VERSION = 0
const REDIRECT_WINDOW = 1
const UNREDIRECT_WINDOW = 3
const NAME_WINDOW_PIXMAP = 6
const AUTOMATIC = 0
const DAMAGE_CREATE = 1
const DAMAGE_DESTROY = 2
const RAW_RECTANGLES = 0

/** The time that an application has to draw its window. */
const DRAWING_MS = 1000
/** Drawing counts as finished if nothing changes for this long. */
const QUIET_MS = 50

/** The picture of a screen or of a window. */
export async function takePicture(x: X11, target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
  const area = await areaOf(x, target, deadline)
  const id = target.kind === "window" && !target.window.minimized ? windowNumber(target.window.id) : undefined
  return id === undefined ? takeScreenshot(x, area, deadline) : takeWindow(x, id, area, deadline)
}

async function areaOf(x: X11, target: ScreenshotTarget, deadline: Deadline): Promise<Rect> {
  const { width, height } = x.setup.screen
  const whole = { x: 0, y: 0, width, height }
  if (target.kind === "window") return target.window.bounds ?? whole
  if (target.index === undefined) return whole
  const displays = await listDisplays(x, deadline)
  const display = displays[target.index]
  if (display) return display.bounds
  throw new AppError(
    "INVALID_ARGS",
    `Display ${target.index} does not exist; the number of displays is ${displays.length}`,
    {
      suggestion: "Use 'list-displays' to see them; the first is 0",
    },
  )
}
