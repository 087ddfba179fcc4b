import { pause } from "../until.ts"
import type { Atspi } from "./atspi.ts"
import type { Element } from "./element.ts"
import { processStart } from "./processes.ts"
import { ROLE } from "./roles.ts"
import { has, STATE, type StateSet } from "./states.ts"

/**
 * Qt and GTK 4 hold a button down for a while when they press it for somebody. What it does it does when it comes up,
 * and another press until then is lost. Qt says that it is down, GTK 4 does not.
 */

/** The states of the element once it can be pressed; one that stays down is held by somebody else. */
export async function whenUp(atspi: Atspi, { ref, place }: Pressed, first?: StateSet): Promise<StateSet> {
  const patience = atspi.deadline.slice(QT_HOLDS_MS * 3)
  let states = first ?? (await atspi.states(ref))
  while (place.toolkit === "Qt" && has(states, STATE.PRESSED) && !patience.expired) {
    await pause(LOOK_AGAIN_MS, patience)
    states = await atspi.states(ref)
  }
  return states
}

/**
 * Waits until the element has done what it does when it is pressed. That it cannot be read then says nothing.
 * false: its process ended before that, so that it did nothing.
 */
export async function whenPressed(atspi: Atspi, element: Pressed, role: number): Promise<boolean> {
  const { toolkit, pid } = element.place
  if (toolkit === "GTK" && GTK4_BUTTONS.has(role)) {
    await pause(GTK4_HOLDS_MS - LAST_MS, atspi.deadline)
    const isThere = processStart(pid) !== undefined
    await pause(LAST_MS, atspi.deadline)
    return isThere
  }
  if (toolkit !== "Qt") return true
  const soon = atspi.within(atspi.deadline.slice(QT_HOLDS_MS * 3))
  await whenUp(soon, element).catch(() => undefined)
  return true
}

type Pressed = Pick<Element, "ref" | "place">

/** The toolkits' own constants. GTK 4 begins to count before it answers. */
const GTK4_HOLDS_MS = 250
const QT_HOLDS_MS = 100
/** The application may count a little faster than we do. */
const LAST_MS = 30
const LOOK_AGAIN_MS = 10

const GTK4_BUTTONS: ReadonlySet<number> = new Set([ROLE.PUSH_BUTTON, ROLE.TOGGLE_BUTTON])
