import type { Hit, HitCare } from "../../adapter.ts"
import type { Point, Rect } from "../../node.ts"
import { contains, isEmpty, isSameRect } from "../../rect.ts"
import { pause } from "../../until.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { type Element, LineElement, unlessRefused } from "./element.ts"
import { cleanName } from "./names.ts"
import { kindOf, ROLE, roleOf, WINDOW_ROLES } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** Hit tests: which object of an app is topmost at a screen point. */

/** True if the topmost object at a screen point is the element or a part of it. */
export async function hitElement(
  atspi: Atspi,
  element: Element,
  point: Point,
  care: HitCare = "sure",
): Promise<Hit> {
  const hit = await (care === "quick" ? hitByApp : hitSurely)(atspi, element, point)
  if (hit.kind === "occluded" || element.origin.traits.hitTestFindsTopmost) return hit
  const above = await findAbove(atspi, element, point)
  return above ? occludedBy(atspi, above) : hit
}

/** Repeats the test for an app whose first answer is a guess. */
async function hitSurely(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  const { repeat, afterMs } = element.origin.traits.hitTestGuesses ?? { repeat: 0, afterMs: 0 }
  let hit = await hitByApp(atspi, element, point)
  for (let asked = 0; asked < repeat && hit.kind !== "occluded"; asked++) {
    await pause(afterMs, atspi.deadline)
    hit = await hitByApp(atspi, element, point)
  }
  return hit
}

async function hitByApp(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  const { traits, shift } = element.origin
  if (!shift) return { kind: "unknown" }
  const local = { x: Math.round(point.x - shift.x), y: Math.round(point.y - shift.y) }
  const key = refKey(element.ref)
  // The object of a line is the whole page. An object in the page covers the line.
  const isLine = element instanceof LineElement
  const surface = await surfaceOf(atspi, element.ref)
  let top = surface
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const below = await unlessRefused(atspi.at(top, local, traits.coordinates))
    if (!below || refKey(below) === refKey(top)) break
    if (refKey(below) === key && !isLine) return { kind: "hit" }
    top = below
  }
  if (refKey(top) === key) return { kind: "hit" }
  if (await isWithin(atspi, top, element.ref)) return isLine ? occludedBy(atspi, top) : { kind: "hit" }
  if (await isOutOfView(atspi, element, local)) return { kind: "occluded", by: "the edge of its container" }
  // An app that stops at an ancestor of the element has not named the topmost object.
  if (refKey(top) === refKey(surface) || (await isWithin(atspi, element.ref, top))) {
    const isCut = await isCutOff(atspi, element, surface, local)
    return isCut ? { kind: "occluded", by: "the edge of its container" } : { kind: "unknown" }
  }
  if (traits.mixesCoordinates || (await isLike(atspi, top, element.ref))) return { kind: "unknown" }
  return occludedBy(atspi, top)
}

async function occludedBy(atspi: Atspi, ref: Ref): Promise<Hit> {
  const [given, role] = await Promise.all([atspi.name(ref), atspi.role(ref)])
  const name = cleanName(given)
  return { kind: "occluded", by: [roleOf(role), name].filter(Boolean).join(" "), name }
}

/** Finds a later sibling of the element, or of one of its ancestors, that shows at the same point. */
async function findAbove(atspi: Atspi, { ref, origin }: Element, point: Point): Promise<Ref | undefined> {
  const { traits, shift } = origin
  if (traits.mixesCoordinates || !shift) return undefined
  const local = { x: point.x - shift.x, y: point.y - shift.y }
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = await unlessRefused(atspi.parent(at))
    if (!parent) return undefined
    const count = await atspi.childCount(parent)
    const siblings = count > 1 && count <= MOST_SIBLINGS ? await atspi.children(parent) : []
    const later = siblings.slice((await indexOf(atspi, siblings, at)) + 1)
    const shown = await Promise.all(later.map((one) => showsAt(atspi, one, local, traits)))
    const above = later[shown.indexOf(true)]
    if (above || (await isSurface(atspi, parent))) return above
    at = parent
  }
  return undefined
}

const MOST_SIBLINGS = 100

/**
 * The index of an element among its siblings. An app may list it under another address: then the sibling with the same
 * role and extents counts, and without one the element is last.
 */
async function indexOf(atspi: Atspi, siblings: readonly Ref[], ref: Ref): Promise<number> {
  const index = siblings.findIndex((one) => refKey(one) === refKey(ref))
  if (index >= 0) return index
  const alike = (await Promise.all(siblings.map((one) => isLike(atspi, one, ref)))).indexOf(true)
  return alike >= 0 ? alike : siblings.length
}

const SOLID_ROLES: ReadonlySet<number> = new Set([
  ROLE.ALERT,
  ROLE.CHECK_BOX,
  ROLE.COMBO_BOX,
  ROLE.DIALOG,
  ROLE.ENTRY,
  ROLE.LIST_BOX,
  ROLE.MENU,
  ROLE.PUSH_BUTTON,
  ROLE.RADIO_BUTTON,
  ROLE.SLIDER,
  ROLE.TOGGLE_BUTTON,
])

async function showsAt(atspi: Atspi, ref: Ref, point: Point, { textBoxesOverlap }: Traits): Promise<boolean> {
  const [states, role] = await Promise.all([unlessRefused(atspi.states(ref)), unlessRefused(atspi.role(ref))])
  if (states === undefined || role === undefined || !has(states, STATE.SHOWING)) return false
  if (textBoxesOverlap && !SOLID_ROLES.has(role)) return false
  const extents = await unlessRefused(atspi.extents(ref))
  return extents !== undefined && contains(extents, point)
}

/** The same hit test at a point where a popup of the app is above its window. */
export async function hitInPopup(
  atspi: Atspi,
  element: Element,
  point: Point,
  care: HitCare = "sure",
): Promise<Hit> {
  if (!(await isInPopup(atspi, element))) return { kind: "occluded", by: "a popup of the same app" }
  const hit = await hitElement(atspi, element, point, care)
  // Most apps answer with the object below the popup.
  return hit.kind === "occluded" ? { kind: "unknown" } : hit
}

async function isInPopup(atspi: Atspi, { ref, origin }: Element): Promise<boolean> {
  const { traits } = origin
  if (traits.popupsAreDetached) return true
  let at = await unlessRefused(atspi.parent(ref))
  for (let depth = 0; at && depth < MAX_DEPTH; depth++) {
    const [role, states, name, above]: [number, number, string, Ref | undefined] = await Promise.all([
      atspi.role(at),
      atspi.states(at),
      atspi.name(at),
      atspi.parent(at),
    ])
    if (POPUP_ROLES.has(role)) return true
    if (kindOf(role, states, false, ROLE.INVALID, { traits, name }).role === "popover") return true
    at = above
  }
  return false
}

/** Roles that show in a separate window, or have their list in one. */
const POPUP_ROLES: ReadonlySet<number> = new Set([ROLE.MENU, ROLE.POPUP_MENU, ROLE.WINDOW, ROLE.COMBO_BOX])

/** True for a row that reports coordinates outside its list. */
async function isOutOfView(atspi: Atspi, { ref, origin }: Element, point: Point): Promise<boolean> {
  if (!origin.traits.scrolledRowsKeepCoordinates) return false
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH && ROWS.has(await atspi.role(at)); depth++) {
    const above = await unlessRefused(atspi.parent(at))
    if (!above) return false
    at = above
  }
  const extents = refKey(at) === refKey(ref) ? undefined : await unlessRefused(atspi.extents(at))
  return extents !== undefined && extents.width > 0 && !contains(extents, point)
}

const ROWS: ReadonlySet<number> = new Set([ROLE.TREE_ITEM, ROLE.LIST_ITEM])

/** True if an ancestor of the element, such as the pane it scrolls in, ends before the point. */
async function isCutOff(
  atspi: Atspi,
  { ref, origin }: Element,
  surface: Ref,
  point: Point,
): Promise<boolean> {
  const { mixesCoordinates, coordinates, boxesMayClaimNoPlace } = origin.traits
  if (mixesCoordinates) return false
  let at = await unlessRefused(atspi.parent(ref))
  for (let depth = 0; at && refKey(at) !== refKey(surface) && depth < MAX_DEPTH; depth++) {
    const [extents, above, role]: [Rect | undefined, Ref | undefined, number] = await Promise.all([
      unlessRefused(atspi.extents(at, coordinates)),
      unlessRefused(atspi.parent(at)),
      atspi.role(at),
    ])
    // The item of a menu bar that opened the menu does not contain it.
    if (POPUP_ROLES.has(role)) return false
    // A tab has the place of its label. The page in it is elsewhere.
    const mayLie = role === ROLE.PAGE_TAB || (boxesMayClaimNoPlace && role === ROLE.FILLER)
    const hasRoom = extents && !isEmpty(extents) && extents.x > -0x7ffffff0 && !mayLie
    if (hasRoom && !contains(extents, point)) return true
    at = above
  }
  return false
}

/** True for the same role and extents. Qt creates a new object for a row on every request. */
async function isLike(atspi: Atspi, one: Ref, other: Ref): Promise<boolean> {
  const read = (ref: Ref) => Promise.all([atspi.role(ref), unlessRefused(atspi.extents(ref))])
  const [[role, a], [otherRole, b]] = await Promise.all([read(one), read(other)])
  return role === otherRole && isSameRect(a, b)
}

const MAX_DEPTH = 50

/** The window, dialog or menu that an element is in. */
async function surfaceOf(atspi: Atspi, ref: Ref): Promise<Ref> {
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = await unlessRefused(atspi.parent(at))
    if (!parent || (await atspi.role(parent)) === ROLE.APPLICATION) return at
    at = parent
    if (await isSurface(atspi, at)) return at
  }
  return at
}

async function isSurface(atspi: Atspi, ref: Ref): Promise<boolean> {
  const role = await atspi.role(ref)
  if (role !== ROLE.FRAME) return WINDOW_ROLES.has(role) || role === ROLE.POPUP_MENU
  // Qt calls any widget with a line around it a frame, too.
  const parent = await unlessRefused(atspi.parent(ref))
  return !parent || (await atspi.role(parent)) === ROLE.APPLICATION
}

async function isWithin(atspi: Atspi, inner: Ref, outer: Ref): Promise<boolean> {
  let at: Ref | undefined = inner
  for (let depth = 0; at && depth < MAX_DEPTH; depth++) {
    if (refKey(at) === refKey(outer)) return true
    at = await atspi.parent(at).catch(() => undefined)
  }
  return false
}
