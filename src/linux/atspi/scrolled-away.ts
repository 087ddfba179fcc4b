import type { SeenNode } from "../../adapter.ts"
import type { Rect } from "../../node.ts"
import { intersection, isEmpty, overlaps } from "../../rect.ts"
import type { Reading } from "./reading.ts"
import { ROLE } from "./roles.ts"

/** For toolkits that report everything as visible, however far it is scrolled away: the position decides. */

interface Placed {
  readonly reading: Reading | undefined
  readonly children: readonly Placed[]
}

/** The objects inside panes with scroll bars whose positions have not been read. */
export function placeless<D extends Placed & { readonly children: readonly D[] }>(root: D): readonly D[] {
  const found: D[] = []
  const visit = (draft: D, isScrolled: boolean): boolean => {
    const role = draft.reading?.facts.role
    const bars = draft.children.filter((child) => holdsBar(child))
    const isInside = isScrolled || bars.length > 0
    if (isInside && draft.reading && !draft.reading.answers.extents && role !== ROLE.SCROLL_BAR)
      found.push(draft)
    for (const child of draft.children) if (!bars.includes(child)) visit(child, isInside)
    return isInside
  }
  visit(root, false)
  return found
}

/** A bar, or Qt's box around one. */
function holdsBar({ reading, children }: Placed): boolean {
  if (!reading) return false
  if (reading.facts.role === ROLE.SCROLL_BAR) return true
  const [only, ...others] = children
  return (
    reading.facts.role === ROLE.FILLER && others.length === 0 && only?.reading?.facts.role === ROLE.SCROLL_BAR
  )
}

/** Adds the state `offscreen` to everything that lies outside the panes around it. */
export function markByPlace(root: SeenNode): SeenNode {
  return mark(root, undefined)
}

function mark(node: SeenNode, view: Rect | undefined): SeenNode {
  const isOverlay = node.role === "popover" || node.role === "menu"
  const around = isOverlay ? undefined : view
  const inner = viewBelow(node, around)
  const children = inner
    ? node.children.map((child) => mark(child, inner))
    : node.children.map((child) => mark(child, undefined))
  const isOut =
    around !== undefined &&
    node.bounds !== undefined &&
    !isEmpty(node.bounds) &&
    !overlaps(node.bounds, around)
  const marked = isOut && !node.states.includes("hidden") && !node.states.includes("offscreen")
  return {
    ...node,
    children,
    ...(marked && children.every(isOutOfView) ? { states: [...node.states, "offscreen" as const] } : {}),
  }
}

const isOutOfView = ({ states }: SeenNode): boolean =>
  states.includes("offscreen") || states.includes("hidden")

/** The part of the screen in which the content of a node can show. */
function viewBelow(node: SeenNode, view: Rect | undefined): Rect | undefined {
  const isPane = node.role === "scrollarea" || node.children.some(holdsShownBar)
  if (!isPane || !node.bounds || isEmpty(node.bounds)) return view
  return view ? intersection(node.bounds, view) : node.bounds
}

function holdsShownBar({ role, states, children }: SeenNode): boolean {
  if (states.includes("hidden")) return false
  if (role === "scrollbar") return true
  const [only, ...others] = children
  return (
    role === "group" && others.length === 0 && only?.role === "scrollbar" && !only.states.includes("hidden")
  )
}
