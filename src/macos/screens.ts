import { coreGraphics, displayBounds } from "../../ffi/core-graphics.ts"
import { AutoreleasePool, appKitClass, send } from "../../ffi/objc.ts"
import { AppError } from "../errors.ts"
import type { DisplayInfo, Rect } from "../node.ts"
import { itemsOf, newString } from "./cf.ts"

const MOST_DISPLAYS = 32

/** The displays in the order of macOS, the primary one first. */
export function listDisplays(): DisplayInfo[] {
  const cg = coreGraphics()
  const ids = new Uint32Array(MOST_DISPLAYS)
  const count = new Uint32Array(1)
  const error = cg.CGGetActiveDisplayList(MOST_DISPLAYS, ids, count)
  if (error !== 0) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", "macOS lists no displays", {
      suggestion: "Run it as the user who is logged in at the screen",
      platformDetail: `CGError ${error}`,
    })
  }
  const main = cg.CGMainDisplayID()
  return Array.from(ids.subarray(0, count[0]), (id) => {
    return { id: String(id), bounds: boundsOf(id), is_primary: id === main, scale: scaleOf(id) }
  })
}

function boundsOf(display: number): Rect {
  try {
    const [x = 0, y = 0, width = 0, height = 0] = displayBounds(display)
    return { x, y, width, height }
  } catch (error) {
    // The engine throws when the one library is missing that can read such a result.
    if (!(error instanceof Error)) throw error
    throw new AppError("PLATFORM_NOT_SUPPORTED", "The bounds of the displays cannot be read on this system", {
      suggestion: "Run 'doctor --ffi' to see what is missing",
      platformDetail: error.message,
    })
  }
}

function scaleOf(display: number): number {
  const cg = coreGraphics()
  const mode = cg.CGDisplayCopyDisplayMode(display)
  if (!mode) return 1
  try {
    const points = Number(cg.CGDisplayModeGetWidth(mode))
    return points > 0 ? Number(cg.CGDisplayModeGetPixelWidth(mode)) / points : 1
  } finally {
    cg.CGDisplayModeRelease(mode)
  }
}

/** The part of the screen around a point that neither menu bar nor Dock takes. */
export function usableArea(at: Rect): Rect | undefined {
  using _pool = new AutoreleasePool()
  const screens = Array.from(itemsOf(send(appKitClass("NSScreen"), "screens")) ?? [], (screen) => ({
    frame: rectOf(screen, "frame"),
    usable: rectOf(screen, "visibleFrame"),
  }))
  const [primary] = screens
  if (!primary) return undefined
  // AppKit counts upwards from the bottom of the primary screen.
  const flip = (rect: Rect): Rect => ({ ...rect, y: primary.frame.height - rect.y - rect.height })
  const centre = { x: at.x + at.width / 2, y: at.y + at.height / 2 }
  return flip((screens.find(({ frame }) => contains(flip(frame), centre)) ?? primary).usable)
}

/** A struct cannot come back from a message, but it can be boxed by its key and copied out of the box. */
function rectOf(screen: bigint, key: "frame" | "visibleFrame"): Rect {
  using name = newString(key)
  const fields = new Float64Array(4)
  send(send(screen, "valueForKey:", name.ref), "getValue:size:", fields, BigInt(fields.byteLength))
  const [x = 0, y = 0, width = 0, height = 0] = fields
  return { x, y, width, height }
}

function contains(rect: Rect, { x, y }: { x: number; y: number }): boolean {
  return x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height
}
