import type { Hit } from "../adapter.ts"
import type { Point } from "../node.ts"
import { pause } from "../until.ts"
import { ancestors } from "./ancestors.ts"
import type { Ax } from "./ax.ts"
import { Failure, isUnread } from "./failure.ts"
import { labelText } from "./names.ts"
import { roleOf } from "./roles.ts"
import { asElements, asText, type Element } from "./value.ts"

/** Chromium answers at once with the page as a whole, and finds the element in it in the background. */
const AGAIN_MS = 30

/** Finds the element that a click at this point would reach, by the system's own hit test. */
export async function hitTest(ax: Ax, element: Element, point: Point): Promise<Hit> {
  const first = judge(ax, element, ax.elementAt(point))
  if (first !== "container") return first
  await pause(AGAIN_MS, ax.deadline)
  // The app is in front at this point, so it may be asked itself: it knows more than the system.
  const again = judge(ax, element, ax.elementAt(point, ax.connection.app(ax.pid(element))))
  // The element inside a container may still get the click.
  return again === "container" ? UNKNOWN : again
}

const UNKNOWN: Hit = { kind: "unknown" }

function judge(ax: Ax, element: Element, hit: Element | undefined): Hit | "container" {
  if (!hit) return UNKNOWN
  const isInside = hit === element || isAbove(ax, element, hit)
  if (isInside) return { kind: "hit" }
  const isContainer = isAbove(ax, hit, element)
  if (isContainer) return "container"
  // The ancestors could not be read completely: it may be the same place. A leaf has nothing inside it.
  if (isContainer === undefined || (isInside === undefined && !isLeaf(ax, element))) return UNKNOWN
  return { kind: "occluded", by: describe(ax, hit) }
}

/** True if `upper` contains `lower`. undefined: that could not be read. */
function isAbove(ax: Ax, upper: Element, lower: Element): boolean | undefined {
  for (const above of ancestors(ax, lower)) {
    if (above === "unread") return undefined
    if (above === upper) return true
  }
  return false
}

function isLeaf(ax: Ax, element: Element): boolean {
  const children = ax.get(element, "AXChildren")
  return !isUnread(children) && asElements(children).length === 0
}

function describe(ax: Ax, element: Element): string {
  const read = ax.read(element, ["AXRole", "AXSubrole", "AXTitle", "AXDescription"])
  if (read instanceof Failure) return "another element"
  const name = labelText(read)
  const role = roleOf(asText(read.AXRole), asText(read.AXSubrole))
  return name ? `${role} '${name}'` : role
}
