import type { Hit } from "../adapter.ts"
import type { Point } from "../node.ts"
import type { Ax } from "./ax.ts"
import { Failure } from "./failure.ts"
import { labelText } from "./names.ts"
import { ancestors } from "./perform.ts"
import { roleOf } from "./roles.ts"
import { asText, type Element } from "./value.ts"

/** What a click at this point would reach, by the system's own hit test. */
export function hitTest(ax: Ax, element: Element, point: Point): Hit {
  const hit = ax.elementAt(point)
  if (!hit) return { kind: "unknown" }
  if (hit === element || isAbove(ax, element, hit)) return { kind: "hit" }
  // Many apps answer with a container: what is inside may still get the click.
  return isAbove(ax, hit, element) ? { kind: "unknown" } : { kind: "occluded", by: describe(ax, hit) }
}

function isAbove(ax: Ax, upper: Element, lower: Element): boolean {
  for (const above of ancestors(ax, lower)) if (above === upper) return true
  return false
}

function describe(ax: Ax, element: Element): string {
  const read = ax.read(element, ["AXRole", "AXSubrole", "AXTitle", "AXDescription"])
  if (read instanceof Failure) return "another element"
  const name = labelText(read)
  const role = roleOf(asText(read.AXRole), asText(read.AXSubrole))
  return name ? `${role} '${name}'` : role
}
