import { coreGraphics } from "../../ffi/core-graphics.ts"
import type { Picture, ScreenshotTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Point } from "../node.ts"
import { outOfTime } from "./failure.ts"
import { run } from "./run.ts"
import { listDisplays } from "./screens.ts"

const PROGRAM = "/usr/sbin/screencapture"

/** A picture by the system's own program. Without the permission it would show the wallpaper and no error. */
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
    suggestion: "Open System Settings > Privacy & Security > Screen Recording and add your terminal",
  })
}

function aim(target: ScreenshotTarget): { readonly flags: readonly string[]; readonly origin: Point } {
  if (target.kind === "window") {
    const { id, bounds } = target.window
    // -o leaves the shadow out, so that the picture is the window's frame.
    return { flags: ["-o", "-l", id.replace(/^w-/, "")], origin: { x: bounds?.x ?? 0, y: bounds?.y ?? 0 } }
  }
  const { index } = target
  // The primary display is the first, and its corner is where everything is measured from.
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

/** From the header, which is always the first chunk. */
function sizeOf(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  if (png.length < 24 || view.getUint32(0) !== 0x89504e47) {
    throw new AppError("ACTION_FAILED", "The screenshot is no PNG picture")
  }
  return { width: view.getUint32(16), height: view.getUint32(20) }
}
