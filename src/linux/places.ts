import type { Atspi } from "./atspi.ts"
import type { Element, Place } from "./element.ts"
import type { Facts } from "./facts.ts"
import { ROLE } from "./roles.ts"
import { has, STATE } from "./states.ts"
import type { Expect } from "./values.ts"

/** Where LibreOffice's own widgets say they are, and where they are. */

/** A place whose elements are drawn by the application itself, within a native window. */
export interface DrawnPlace extends Place {
  readonly native: Place
}

/**
 * The place of an element's children. LibreOffice computes the coordinates of everything below its
 * root pane as if there were no native menu bar above it; native widgets inside are right again.
 */
export async function placeBelow(
  atspi: Atspi,
  element: Element,
  facts: Facts,
  expect: Expect,
): Promise<Place> {
  const { place, parent } = element
  if (isDrawn(place)) return isNativeBox(facts) ? place.native : place
  if (facts.role !== ROLE.ROOT_PANE || place.toolkit !== "gtk" || !parent || !place.shift) return place
  const [own, around] = await Promise.all([
    expect(atspi.extents(element.ref)),
    expect(atspi.extents(parent.ref)),
  ])
  const dy = own && around ? around.y - own.y : 0
  if (dy <= 0 || dy > 200) return place
  const drawn: DrawnPlace = { ...place, shift: { x: place.shift.x, y: place.shift.y + dy }, native: place }
  return drawn
}

function isDrawn(place: Place): place is DrawnPlace {
  return "native" in place
}

/** A box of the toolkit has a direction; LibreOffice's own panels have none. */
function isNativeBox({ role, states }: Facts): boolean {
  const isBox = role === ROLE.PANEL || role === ROLE.FILLER
  return isBox && (has(states, STATE.HORIZONTAL) || has(states, STATE.VERTICAL))
}
