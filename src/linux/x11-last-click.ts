import type { InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { Point } from "../node.ts"
import { pause } from "../until.ts"
import type { X11 } from "./x11.ts"
import { changeProperty, getNumbers, words } from "./x11-requests.ts"

/**
 * Applications take a press soon after another at the same place for the second of a double click,
 * whoever sent it. Each click leaves its time and place with the display, and the next one that could
 * be mistaken for its continuation waits.
 */
export async function awaitNewClick(
  x: X11,
  { at, count, inList = false }: Pick<Click, "at" | "count" | "inList">,
  deadline: Deadline,
): Promise<void> {
  await x.intern([NOTE], deadline)
  const [time, lastX, lastY] = await getNumbers(x, x.root, x.atom(NOTE), deadline)
  if (time === undefined || lastX === undefined || lastY === undefined) return
  const [isBeside, isBelow] = [Math.abs(at.x - lastX) > NEAR, Math.abs(at.y - lastY) > NEAR]
  // GTK counts by the place in a list, which may have moved or scrolled along one axis since.
  const isFar = inList ? isBeside && isBelow : isBeside || isBelow
  // GTK 3 loses count of a double click soon after a click anywhere else in the same list.
  if (isFar && count === 1) return
  const passed = (now() - time) >>> 0
  if (passed < DOUBLE_CLICK_MS) await pause(DOUBLE_CLICK_MS - passed, deadline)
}

/** To be called once the server has dealt with the click. */
export async function noteClick(x: X11, at: Point, deadline: Deadline): Promise<void> {
  const bytes = words(now(), Math.round(at.x), Math.round(at.y))
  x.send(changeProperty(x.root, x.atom(NOTE), CARDINAL, 32, bytes))
  await x.sync(deadline)
}

type Click = Extract<InputEvent, { kind: "click" }>

const NOTE = "_AGENT_DESKTOP_LAST_CLICK"
const CARDINAL = 6
/** The longest that a toolkit waits by default is half a second. */
const DOUBLE_CLICK_MS = 520
const NEAR = 16

/** Milliseconds, as many as fit into the property. */
const now = (): number => Date.now() >>> 0
