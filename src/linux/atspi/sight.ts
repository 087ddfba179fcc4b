import type { TreeOptions } from "../../adapter.ts"
import type { Rect } from "../../node.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { has, STATE, type StateSet, withStates } from "./bits.ts"
import type { Element, Origin } from "./element.ts"
import type { Facts, Look, Source } from "./facts.ts"
import { MENU_ROLES, ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** An object is visible, scrolled out of view, or hidden. */
export type Sight = "shown" | "offscreen" | "hidden"

/** The facts of a parent that explain why a child does not show. */
export interface Around {
  readonly sight: Sight
  readonly role: number
  readonly states: StateSet
  /** True if its content may be scrolled out of view. */
  readonly scrolls: boolean
}

type Looked = Pick<Look, "role" | "states"> & Pick<Facts, "extents">

/** `around` is absent for an object that is read without its parent. */
export function sightOf(origin: Pick<Origin, "traits">, look: Looked, around: Around | undefined): Sight {
  if (isShowing(origin, look)) return "shown"
  const { outOfView } = origin.traits
  const isVisible = has(look.states, STATE.VISIBLE)
  if (!around) return isVisible && outOfView === "visible" ? "offscreen" : "hidden"
  if (around.sight === "hidden" || look.role === ROLE.SCROLL_BAR) return "hidden"
  switch (outOfView) {
    case undefined:
      return "hidden"
    case "visible":
      return isVisible ? "offscreen" : "hidden"
    case "visible in pages":
      return isVisible && around.scrolls && !isOpener(around) ? "offscreen" : "hidden"
    case "visible in panes":
      return isVisible && around.scrolls && !isOpener(around) && !isClosed(around) ? "offscreen" : "hidden"
    case "by place":
      return has(around.states, STATE.MANAGES_DESCENDANTS) && !isOpener(around) ? "offscreen" : "hidden"
    default:
      return outOfView satisfies never
  }
}

/** True if the object shows, according to its toolkit. */
export function isShowing(
  { traits }: Pick<Origin, "traits">,
  { states, role, extents }: Pick<Look, "role" | "states"> & { readonly extents?: Rect },
): boolean {
  const isVisible = has(states, STATE.VISIBLE)
  if (has(states, STATE.SHOWING)) return isVisible || !(traits.closedMenusKeepShowing && role === ROLE.MENU)
  if (!isVisible) return false
  if (!traits.lacksShowing) return traits.treeItemsLackShowing === true && role === ROLE.TREE_ITEM
  return !extents || extents.width > 0 || extents.height > 0
}

/** True if the content of an object may be scrolled out of view, by its own role or states. */
export function isScroller({ outOfView }: Traits, role: number, states: StateSet, sight: Sight): boolean {
  switch (outOfView) {
    case "visible in pages":
      return role === ROLE.DOCUMENT_WEB && sight === "shown"
    case "visible in panes":
      return PANES.has(role) || has(states, STATE.MANAGES_DESCENDANTS)
    default:
      return outOfView !== undefined
  }
}

const PANES: ReadonlySet<number> = new Set([ROLE.SCROLL_PANE, ROLE.VIEWPORT])

/** True for an object whose content is in a menu or list that opens. */
export const isOpener = ({ role }: Pick<Around, "role">): boolean =>
  MENU_ROLES.has(role) || role === ROLE.COMBO_BOX

/** True for the page of a tab that is not chosen, and for an expander that is closed. */
export function isClosed({ role, states }: Pick<Around, "role" | "states">): boolean {
  if (role === ROLE.PAGE_TAB) return !has(states, STATE.SELECTED)
  return role === ROLE.TOGGLE_BUTTON && has(states, STATE.EXPANDABLE) && !has(states, STATE.EXPANDED)
}

/** True for a box that is not SHOWING and may hold something that is, since it claims another place than it has. */
export function mayClaimNoPlace(
  { origin }: Pick<Element, "origin">,
  look: Look,
  around: Around | undefined,
): boolean {
  if (!origin.traits.boxesMayClaimNoPlace || !isBox(look)) return false
  return around?.sight === "shown" && !isOpener(around) && !isClosed(around)
}

/** True for a VISIBLE object that only holds others. */
export const isBox = ({ role, states }: Look): boolean =>
  (role === ROLE.FILLER || role === ROLE.PANEL) && has(states, STATE.VISIBLE)

/** The sight of the root of a tree. A caller that asks for elements out of view expects the root to be out of view. */
export function sightOfRoot(root: Element, facts: Facts, { offscreen }: TreeOptions): Sight {
  const sight = sightOf(root.origin, facts, undefined)
  return sight === "hidden" && offscreen === "read" && mayBeOutOfView(root, facts) ? "offscreen" : sight
}

/** For an object without its parent, its ancestors have to be asked. */
export async function sightAlone(atspi: Atspi, element: Element, looked: Look): Promise<Sight> {
  const sight = sightOf(element.origin, looked, undefined)
  if (sight === "offscreen" || !mayBeOutOfView(element, looked)) return sight
  const { isScrolledAway } = await import("./absence.ts")
  return (await isScrolledAway(atspi, element)) ? "offscreen" : "hidden"
}

/** True if, by its states, an object may be scrolled out of view. */
function mayBeOutOfView({ origin, parent }: Element, { states }: Look): boolean {
  const { outOfView } = origin.traits
  if (outOfView === undefined || !parent) return false
  return has(outOfView === "by place" ? parent.states : states, OUT_OF_VIEW[outOfView])
}

const OUT_OF_VIEW = {
  visible: STATE.VISIBLE,
  "visible in pages": STATE.VISIBLE,
  "visible in panes": STATE.VISIBLE,
  "by place": STATE.MANAGES_DESCENDANTS,
} as const

/**
 * True for an object that may be SHOWING without any size: LibreOffice keeps a second menu bar, without any height,
 * under the native one, and in Qt 5 the list of a closed combo box is SHOWING.
 */
export function mayBeCollapsed({ cellsMayBeUndrawn }: Traits, role: number, parent: number): boolean {
  if (role === ROLE.TABLE_CELL) return cellsMayBeUndrawn === true && parent === ROLE.TABLE_CELL
  return (
    (role === ROLE.MENU_BAR && parent === ROLE.ROOT_PANE) || (role === ROLE.LIST && parent === ROLE.COMBO_BOX)
  )
}

/**
 * True for a field that is drawn into a native area and only claims to be DEFUNCT. No other defunct object is asked
 * anything: LibreOffice has crashed over one.
 */
export const isDrawnField = (
  { origin, parentRole }: Pick<Element, "origin" | "parentRole">,
  { role, states }: Look,
): boolean =>
  has(states, STATE.DEFUNCT) &&
  origin.traits.drawnFieldsLookDefunct === true &&
  role === ROLE.PANEL &&
  parentRole === ROLE.FILLER

/** The facts of a field that only claims to be DEFUNCT. It shows, and its paragraphs are its text. */
export const asDrawnField = (facts: Facts): Facts => ({
  ...facts,
  states: withStates(facts.states, STATE.VISIBLE, STATE.SHOWING, STATE.ENABLED, STATE.SENSITIVE),
  childCount: 0,
})

/**
 * True if something shows in a box that is not SHOWING. A box on a page that is not shown is one as well, so the search
 * is short: a few boxes, a few levels down.
 */
export async function holdsShown(source: Source, box: Ref, levels = MOST_LEVELS): Promise<boolean> {
  const children = (await source.children(box, false)).slice(0, MOST_CHILDREN)
  const looks = await Promise.all(children.map(({ ref }) => source.look(ref, false)))
  if (looks.some(({ states }) => has(states, STATE.SHOWING))) return true
  if (levels === 1) return false
  const boxes = children.filter((_, i) => isBox(looks[i]!)).slice(0, MOST_BOXES)
  for (const { ref } of boxes) if (await holdsShown(source, ref, levels - 1)) return true
  return false
}

const MOST_LEVELS = 3
const MOST_CHILDREN = 20
const MOST_BOXES = 4
