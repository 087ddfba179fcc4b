import type { Rect } from "../node.ts"
import type { Place } from "./element.ts"
import type { Facts } from "./facts.ts"
import { type Maybe, then } from "./maybe.ts"
import type { Kind } from "./roles.ts"
import type { XWindow } from "./x11-windows.ts"

/**
 * The place of a popover and what is in it. GTK 4 gives it a window of its own but counts from the
 * widget that it belongs to; the window of the same size and process says where it really is.
 */
export function popupPlace(place: Place, kind: Kind, { extents }: Pick<Facts, "extents">): Maybe<Place> {
  const isPopup = kind.role === "menu" || kind.role === "popover"
  if (!isPopup || place.toolkit !== "GTK" || !place.popups) return place
  if (!extents) return { ...place, shift: undefined }
  return then(place.popups(), (windows) => ({ ...place, shift: shiftOf(extents, windows, place.pid) }))
}

/** A popover's margin is part of its window, but not of what it says of itself. */
const MOST_MARGIN = 16

function shiftOf(extents: Rect, windows: readonly XWindow[], pid: number): Place["shift"] {
  const margins = windows
    .filter((window) => window.pid === pid)
    .map(({ bounds }) => ({
      bounds,
      x: bounds.width - extents.width,
      y: bounds.height - extents.height,
    }))
    .filter(({ x, y }) => x >= -2 && y >= -2 && x <= MOST_MARGIN && y <= MOST_MARGIN)
  const [only, ...others] = margins
  if (!only || others.length > 0) return undefined
  const { bounds, x, y } = only
  return { x: bounds.x + Math.trunc(x / 2) - extents.x, y: bounds.y + Math.trunc(y / 2) - extents.y }
}
