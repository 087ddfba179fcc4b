import { coreGraphics, displayBounds } from "../../ffi/core-graphics.ts"
import { AutoreleasePool, appKitClass, send } from "../../ffi/objc.ts"
import type { ScreenshotTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Picture } from "../desktop.ts"
import { AppError } from "../errors.ts"
import type { DisplayInfo, Point, Rect } from "../node.ts"
import { contains, middle } from "../rect.ts"
import { run } from "./apps.ts"
import { itemsOf, newString } from "./cf.ts"
import { outOfTime } from "./failure.ts"

const PROGRAM = "/usr/sbin/screencapture"

/** Takes a screenshot with screencapture, which without the permission shows the wallpaper instead of an error. */
export async function takeScreenshot(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
  if (!coreGraphics().CGPreflightScreenCaptureAccess()) throw recordingDenied()
  const { flags, origin } = aim(target)
  const file = Bun.file(`${process.env.TMPDIR ?? "/tmp"}/agent-desktop-${crypto.randomUUID()}.png`)
  try {
    const finished = await run([PROGRAM, "-x", "-t", "png", ...flags, file.name ?? ""], deadline)
    if (finished === "late") throw outOfTime()
    if (finished === "missing" || finished.exitCode !== 0 || !(await file.exists())) {
      throw new AppError("ACTION_FAILED", "The screenshot could not be taken", {
        suggestion: "Use 'list-windows' to see whether the window is still there",
        platformDetail:
          finished === "missing"
            ? `${PROGRAM} is missing`
            : finished.stderr.trim() || `exit code ${finished.exitCode}`,
      })
    }
    const png = await file.bytes()
    return { png, ...sizeOf(png), origin }
  } finally {
    if (await file.exists()) await file.delete()
  }
}

function recordingDenied(): AppError {
  return new AppError("PERM_DENIED", "Screen Recording permission not granted", {
    suggestion:
      "Open System Settings > Privacy & Security > Screen Recording and add the program that 'agent-desktop permissions' names",
  })
}

function aim(target: ScreenshotTarget): { readonly flags: readonly string[]; readonly origin: Point } {
  if (target.kind === "window") {
    const { id, bounds } = target.window
    // -o leaves the shadow out, so that the picture has the size of the window.
    return { flags: ["-o", "-l", id.replace(/^w-/, "")], origin: { x: bounds?.x ?? 0, y: bounds?.y ?? 0 } }
  }
  const { index } = target
  // The primary display is the first one, and its corner is the origin of all coordinates.
  if (index === undefined) return { flags: ["-D", "1"], origin: { x: 0, y: 0 } }
  const displays = listDisplays()
  const display = displays[index]
  if (!display) {
    throw new AppError("INVALID_ARGS", `There is no screen ${index}`, {
      suggestion: `Screens are numbered 0 to ${displays.length - 1}; see 'list-displays'`,
    })
  }
  return { flags: ["-D", String(index + 1)], origin: { x: display.bounds.x, y: display.bounds.y } }
}

/** Reads the size from the PNG header, which is always the first chunk. */
function sizeOf(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  if (png.length < 24 || view.getUint32(0) !== 0x89504e47) {
    throw new AppError("ACTION_FAILED", "The screenshot is not a PNG picture")
  }
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

const MOST_DISPLAYS = 32

/** Lists the displays in macOS's order, the primary one first. */
export function listDisplays(): DisplayInfo[] {
  const cg = coreGraphics()
  const ids = new Uint32Array(MOST_DISPLAYS)
  const count = new Uint32Array(1)
  const error = cg.CGGetActiveDisplayList(MOST_DISPLAYS, ids, count)
  if (error !== 0) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", "macOS reports no displays", {
      suggestion: "Run agent-desktop as the user who is logged in at the screen",
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
    // Bun throws if libffi is missing, the only library that can read such a result.
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

/** The screen around a window without the menu bar and the Dock. */
export function usableArea(at: Rect): Rect | undefined {
  using _pool = new AutoreleasePool()
  const screens = Array.from(itemsOf(send(appKitClass("NSScreen"), "screens")) ?? [], (screen) => ({
    frame: rectOf(screen, "frame"),
    usable: rectOf(screen, "visibleFrame"),
  }))
  const [primary] = screens
  if (!primary) return undefined
  // AppKit measures upwards from the bottom of the primary screen.
  const flip = (rect: Rect): Rect => ({ ...rect, y: primary.frame.height - rect.y - rect.height })
  return flip((screens.find(({ frame }) => contains(flip(frame), middle(at))) ?? primary).usable)
}

/** Reads a struct through key-value coding, which boxes it: Bun cannot return a struct from a C call. */
function rectOf(screen: bigint, key: "frame" | "visibleFrame"): Rect {
  using name = newString(key)
  const fields = new Float64Array(4)
  send(send(screen, "valueForKey:", name.ref), "getValue:size:", fields, BigInt(fields.byteLength))
  const [x = 0, y = 0, width = 0, height = 0] = fields
  return { x, y, width, height }
}
