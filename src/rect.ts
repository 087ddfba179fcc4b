import type { Point, Rect } from "./node.ts"

/** True if the point lies in the rectangle. Its right and bottom edges are outside. */
export function contains({ x, y, width, height }: Rect, point: Point): boolean {
  return point.x >= x && point.y >= y && point.x < x + width && point.y < y + height
}

/** True if all of `inner` lies in `outer`. */
export function encloses(outer: Rect, inner: Rect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  )
}

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** The part that two rectangles share. Its size is not positive if they share nothing. */
export function intersection(a: Rect, b: Rect): Rect {
  const x = Math.max(a.x, b.x)
  const y = Math.max(a.y, b.y)
  return {
    x,
    y,
    width: Math.min(a.x + a.width, b.x + b.width) - x,
    height: Math.min(a.y + a.height, b.y + b.height) - y,
  }
}

/** The rectangle around all of these, of which there is at least one. */
export function around(rects: readonly Rect[]): Rect {
  const x = Math.min(...rects.map((rect) => rect.x))
  const y = Math.min(...rects.map((rect) => rect.y))
  return {
    x,
    y,
    width: Math.max(...rects.map((rect) => rect.x + rect.width)) - x,
    height: Math.max(...rects.map((rect) => rect.y + rect.height)) - y,
  }
}

/** The part of an area that is on a screen of this size, in whole pixels; undefined if none is. */
export function partOnScreen(area: Rect, screen: Pick<Rect, "width" | "height">): Rect | undefined {
  const x = Math.max(0, Math.floor(area.x))
  const y = Math.max(0, Math.floor(area.y))
  const right = Math.min(screen.width, Math.ceil(area.x + area.width))
  const bottom = Math.min(screen.height, Math.ceil(area.y + area.height))
  const part = { x, y, width: right - x, height: bottom - y }
  return isEmpty(part) ? undefined : part
}

/** True for the same place and size; also if both are unknown. */
export function isSameRect(a: Rect | undefined, b: Rect | undefined): boolean {
  return a?.x === b?.x && a?.y === b?.y && a?.width === b?.width && a?.height === b?.height
}

/** The center, which may lie between two pixels. */
export function middle({ x, y, width, height }: Rect): Point {
  return { x: x + width / 2, y: y + height / 2 }
}

/** True if it has no area, or its size is unknown. Toolkits report such rectangles for elements that are not shown. */
export function isEmpty({ width, height }: Rect): boolean {
  return !(width > 0 && height > 0)
}

/** Replaces NaN, which platforms report for unknown values and JSON cannot hold. */
export function finiteRect({ x, y, width, height }: Rect): Rect {
  const finite = (length: number): number => (Number.isFinite(length) ? length : 0)
  return { x: finite(x), y: finite(y), width: finite(width), height: finite(height) }
}
