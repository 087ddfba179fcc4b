import type { Rect } from "../../node.ts"
import { isSameRect } from "../../rect.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { unlessRefused } from "./element.ts"
import { ROLE } from "./roles.ts"

/** Popups that no window and no other object lists, and the buttons that open popovers. */

/** The kind of a popup that is open and in no tree. undefined: it is closed, in a tree, or not a popup. */
export async function looseType(atspi: Atspi, ref: Ref): Promise<"menu" | "popover" | undefined> {
  const [role, states] = await Promise.all([unlessRefused(atspi.role(ref)), unlessRefused(atspi.states(ref))])
  if (role === undefined || states === undefined || !has(states, STATE.SHOWING)) return undefined
  if (role === ROLE.POPUP_MENU) return "menu"
  // The list of suggestions for a field of Qt has no parent. A menu of GTK 3 may have one that does not list it.
  if (role === ROLE.LIST) return (await unlessRefused(atspi.parent(ref))) ? undefined : "popover"
  return role === ROLE.MENU && (await isUnlisted(atspi, ref)) ? "menu" : undefined
}

async function isUnlisted(atspi: Atspi, ref: Ref): Promise<boolean> {
  const parent = await unlessRefused(atspi.parent(ref))
  if (!parent) return false
  const listed = (await unlessRefused(atspi.children(parent))) ?? []
  return !listed.some((child) => refKey(child) === refKey(ref))
}

/** Finds the objects of an app that have exactly the places of its popups. Objects have numbers from `first` on. */
export async function searchLoose(
  atspi: Atspi,
  { bus, first }: { readonly bus: string; readonly first: number },
  places: readonly Rect[],
): Promise<readonly Ref[]> {
  if (places.length === 0) return []
  const found: Ref[] = []
  for (let next = first, empty = 0; next < first + MOST && empty < MOST_EMPTY; next += AT_ONCE) {
    const refs = Array.from({ length: AT_ONCE }, (_, i) => ({ bus, path: `${PATH}${next + i}` }))
    const extents = await Promise.all(refs.map((ref) => unlessRefused(atspi.extents(ref))))
    empty = extents.every((one) => one === undefined) ? empty + 1 : 0
    found.push(...refs.filter((_, i) => places.some((place) => isSameRect(place, extents[i]))))
  }
  return found
}

const PATH = "/org/a11y/atspi/accessible/"
const AT_ONCE = 256
const MOST = 8192
/** Numbers of objects that are gone are not used again. */
const MOST_EMPTY = 3

/**
 * The addresses of the elements that open a popover of a window. In GTK 3 a menu button is a plain toggle button on the
 * bus; only the popover, which is a child of the window even while it is closed, names the button that it belongs to.
 */
export async function openersOf(atspi: Atspi, window: Ref): Promise<readonly string[]> {
  const children = (await unlessRefused(atspi.children(window))) ?? []
  const relations = await Promise.all(
    children.slice(0, MOST_CHILDREN).map((child) => unlessRefused(atspi.relations(child))),
  )
  return relations
    .flatMap((list) => list ?? [])
    .filter(({ type }) => type === POPUP_FOR)
    .flatMap(({ targets }) => targets.map(refKey))
}

/** ATSPI_RELATION_POPUP_FOR */
const POPUP_FOR = 15

/** A window has a dozen: its content, its title bar and its popovers. */
const MOST_CHILDREN = 100
