import { readFileSync, rmSync } from "node:fs"
import type { ScreenshotTarget } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import { method } from "../dbus/bus.ts"
import { windowOffScreen } from "../windowing/failures.ts"
import { askPortal, type Options, portalFailure, portalVersion, textOf } from "./portal.ts"
import type { BusAccess } from "./session-bus.ts"

/** The picture of all displays, by the desktop portal. The desktop asks the user the first time. */
export async function takePortalPicture(
  access: BusAccess,
  target: ScreenshotTarget,
  deadline: Deadline,
): Promise<Picture> {
  const png = await askForPicture(access, deadline)
  const { decodePng, encodePng } = await import("../../picture/png.ts")
  const whole = decodePng(png)
  const bounds = target.kind === "screen" ? undefined : target.window.bounds
  if (target.kind === "screen" && target.index !== undefined && target.index > 0)
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      "The desktop portal takes pictures of all displays together",
      {
        suggestion: "Leave --screen out",
      },
    )
  if (!bounds) return { png, width: whole.width, height: whole.height, origin: { x: 0, y: 0 } }
  const [left, top] = [Math.max(0, bounds.x), Math.max(0, bounds.y)]
  const width = Math.min(whole.width, bounds.x + bounds.width) - left
  const height = Math.min(whole.height, bounds.y + bounds.height) - top
  if (width <= 0 || height <= 0) throw windowOffScreen()
  const from = new Uint32Array(whole.bgrx.slice().buffer)
  const pixels = new Uint32Array(width * height)
  for (let y = 0; y < height; y++) {
    const start = (top + y) * whole.width + left
    pixels.set(from.subarray(start, start + width), y * width)
  }
  const part = encodePng({ width, height, bgrx: new Uint8Array(pixels.buffer) })
  return { png: part, width, height, origin: { x: left, y: top } }
}

async function askForPicture(access: BusAccess, deadline: Deadline): Promise<Uint8Array> {
  try {
    const bus = await access.bus(deadline)
    if ((await portalVersion(bus, SCREENSHOT, deadline)) === 0)
      throw new AppError("PLATFORM_NOT_SUPPORTED", "The desktop portal takes no pictures here", {
        suggestion: "Install the portal of this desktop, such as xdg-desktop-portal-gnome, and log in again",
      })
    const take = (options: Options) =>
      method(`${SCREENSHOT}.Screenshot`, "sa{sv}", [
        "",
        options.set("interactive", { signature: "b", value: false }),
      ])
    const uri = textOf((await askPortal(bus, take, deadline)).get("uri"))
    const path = decodeURIComponent(new URL(uri).pathname)
    try {
      return new Uint8Array(readFileSync(path))
    } finally {
      // The desktop leaves the file among the user's pictures.
      rmSync(path, { force: true })
    }
  } catch (error) {
    throw portalFailure(error)
  }
}

const SCREENSHOT = "org.freedesktop.portal.Screenshot"
