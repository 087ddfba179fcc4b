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

function shiftOf(extents: Rect, windows: readonly XWindow[], pid: number): Place["shift"] {
  const [only, ...others] = windows.filter(
    (window) =>
      window.pid === pid &&
      Math.abs(window.bounds.width - extents.width) <= 2 &&
      Math.abs(window.bounds.height - extents.height) <= 2,
  )
  if (!only || others.length > 0) return undefined
  return { x: only.bounds.x - extents.x, y: only.bounds.y - extents.y }
}
