import type { Picture, ScreenshotTarget } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Rect } from "../node.ts"
import { windowNumber } from "./window-ids.ts"
import type { X11 } from "./x11.ts"
import { listDisplays } from "./x11-displays.ts"
import { takeScreenshot, takeWindow } from "./x11-screenshot.ts"

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
  throw new AppError("INVALID_ARGS", `There is no display ${target.index}; there are ${displays.length}`, {
    suggestion: "Use 'list-displays' to see them; the first is 0",
  })
}
