import type { InputEvent } from "../../adapter.ts"
import type { Point } from "../../node.ts"

/**
 * Apps treat a press soon after another at the same place as the second press of a double click, even if another
 * command sent it. A click that could be mistaken for that goes to another point of its element, or waits.
 */

type Click = Pick<Extract<InputEvent, { kind: "click" }>, "at" | "count" | "inList" | "room">

/** The last click of any command. */
export interface LastClick {
  readonly passedMs: number
  readonly at: Point
  /** The point, counted from the corner of its element; undefined if it was not a click on an element. */
  readonly inside?: Point
}

export interface NextClick {
  readonly at: Point
  /** The time after which a click at any point is a new one. */
  readonly waitMs: number
}

/** The point for a click that must not continue the last one, and the wait before it. */
export function nextClick(click: Click, last: LastClick | undefined): NextClick {
  const { at, count, room } = click
  const waitMs = last ? DOUBLE_CLICK_MS - last.passedMs : 0
  if (!last || waitMs <= 0) return { at, waitMs: 0 }
  // After a click elsewhere in the same list, GTK 3 soon miscounts a double click.
  if (count > 1) return { at, waitMs }
  if (isFar(click, at, last)) return { at, waitMs: 0 }
  const aside = { x: at.x + NEAR + 1, y: at.y }
  const hasRoom = room !== undefined && aside.x < room.x + room.width - MARGIN
  return hasRoom && isFar(click, aside, last) ? { at: aside, waitMs: 0 } : { at, waitMs }
}

function isFar({ inList = false, room }: Click, at: Point, last: LastClick): boolean {
  const [isBeside, isBelow] = [Math.abs(at.x - last.at.x) > NEAR, Math.abs(at.y - last.at.y) > NEAR]
  if (!inList) return isBeside || isBelow
  // GTK counts by the position in a list, which may have moved or scrolled along one axis since.
  const inside = room && insideOf(at, room)
  const isBesideInside = inside && last.inside && Math.abs(inside.x - last.inside.x) > NEAR
  return isBeside && (isBelow || isBesideInside === true)
}

/** The point, counted from the corner of its element. */
export const insideOf = (at: Point, corner: Point): Point => ({ x: at.x - corner.x, y: at.y - corner.y })

/** The longest default time of a toolkit is half a second. */
const DOUBLE_CLICK_MS = 520
/** Toolkits count presses at most five pixels apart, or ten at a scale of two. */
const NEAR = 10
/** The edge of an element may be a shadow or a round corner. */
const MARGIN = 2
