import type { Absence, Seen } from "../../adapter.ts"
import type { Point, Rect } from "../../node.ts"
import { isEmpty, middle } from "../../rect.ts"
import { type Atspi, parseRefKey, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { type Element, unlessRefused } from "./element.ts"
import { LISTS, ROLE, WINDOW_ROLES } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** One object on the way up from an element to its window. */
interface Step {
  readonly ref: Ref
  readonly role: number
  readonly states: StateSet
}

/**
 * The reason why a user cannot reach an element that still answers: it has left its window, or its page or panel is not
 * shown. undefined for an element that shows, is scrolled out of view, or is in a closed menu or list, which commands
 * use without opening it; and if its toolkit does not report it.
 */
export async function absenceOf(
  atspi: Atspi,
  element: Element,
  seen: Seen,
  page: string | undefined,
): Promise<Absence | undefined> {
  const { traits } = element.origin
  if (await isBackground(atspi, page)) return "not shown"
  const isOut = seen.states.includes("hidden") || seen.states.includes("offscreen")
  if (!isOut && !(traits.lacksShowing && (await isUnmapped(atspi, element, seen)))) return undefined
  const { steps, end } = await stepsUp(atspi, element.ref)
  const top = steps.at(-1)
  if (!top || !(await isTopLevel(atspi, top, end))) return "removed"
  // A window that does not show is minimised or closed, which says nothing about its content.
  if (!has(top.states, STATE.SHOWING)) return undefined
  const way = steps.slice(openerOf(steps), -1)
  const [first] = way
  if (!first || (has(first.states, STATE.SHOWING) && first.ref !== element.ref)) return undefined
  if (traits.lacksShowing) return (await isUnmappedWay(atspi, way, element)) ? "not shown" : undefined
  return (await isUnshown(atspi, way, traits)) ? "not shown" : undefined
}

/** True if an element that does not show is only scrolled out of view. */
export async function isScrolledAway(atspi: Atspi, element: Element): Promise<boolean> {
  const { traits } = element.origin
  const { steps, end } = await stepsUp(atspi, element.ref)
  const top = steps.at(-1)
  if (!top || !has(top.states, STATE.SHOWING) || !(await isTopLevel(atspi, top, end))) return false
  if (openerOf(steps) > 0) return false
  const way = steps.slice(0, -1)
  switch (traits.outOfView) {
    case undefined:
      return false
    case "visible":
      return true
    case "visible in pages":
      return way.some(({ role, states }) => role === ROLE.DOCUMENT_WEB && has(states, STATE.SHOWING))
    case "visible in panes":
      return !(await isUnshown(atspi, way, traits))
    case "by place":
      // Its list shows, and the item does not.
      return way[1] !== undefined && has(way[1].states, STATE.SHOWING)
    default:
      return traits.outOfView satisfies never
  }
}

/**
 * True for a page in another tab, or one that the browser keeps for its Back button. Chromium removes it from its
 * window.
 */
async function isBackground(atspi: Atspi, page: string | undefined): Promise<boolean> {
  const ref = parseRefKey(page ?? "")
  if (!ref) return false
  const [states, parent] = await Promise.all([
    unlessRefused(atspi.states(ref)),
    unlessRefused(atspi.parent(ref).then((up) => up ?? "none")),
  ])
  return parent === "none" || (states !== undefined && !has(states, STATE.SHOWING))
}

/**
 * A GTK 4 hit test finds nothing at a widget that is not on the screen, not even the widget itself. Nor does it find
 * parts that are not accessible, such as the text of a field and the bar of a slider: then a nearby label is tested.
 */
async function isUnmapped(atspi: Atspi, { ref, origin }: Element, seen: Seen): Promise<boolean> {
  const { shift, traits } = origin
  // Nothing is found at a disabled element either.
  if (!seen.bounds || !shift || seen.states.includes("disabled")) return false
  const { x, y, width, height } = seen.bounds
  const extents = { x: x - shift.x, y: y - shift.y, width, height }
  if (!(await isNothingAt(atspi, ref, extents, traits))) return false
  // GTK 4 finds only children that were requested before.
  const children = await atspi.children(ref)
  const hasHiddenParts = children.length === 0 || seen.role === "combobox" || seen.role === "textfield"
  if (hasHiddenParts) return isLabelUnmapped(atspi, ref, traits)
  if (!(await isNothingAt(atspi, ref, extents, traits))) return false
  // The extents are those of its content. Around a picture, which is not accessible either, the button itself is found.
  const edges = [
    { ...extents, x: x - shift.x - PADDING, width: 0 },
    { ...extents, y: y - shift.y - PADDING, height: 0 },
  ]
  const isEmptyAt = await Promise.all(edges.map((edge) => isNothingAt(atspi, ref, edge, traits)))
  return !isEmptyAt.includes(false)
}

/** Less than the padding of a button in any of the usual themes. */
const PADDING = 3

/**
 * True if neither the nearest labels around an element nor their neighbours are on the screen. GTK 4 does not
 * list widgets that are hidden themselves.
 */
async function isLabelUnmapped(atspi: Atspi, from: Ref, traits: Traits): Promise<boolean> {
  let at = await atspi.parent(from)
  for (let level = 0; at && level < NEAR_LEVELS; level++) {
    const { beside, labels } = await enabledIn(atspi, at)
    const isFound = await Promise.all(
      [...beside, ...labels].map(async (ref) => {
        const extents = await unlessRefused(atspi.extents(ref, traits.coordinates))
        return extents !== undefined && !isEmpty(extents) && !(await isNothingAt(atspi, ref, extents, traits))
      }),
    )
    if (isFound.includes(true)) return false
    if (labels.length > 0) return true
    at = await atspi.parent(at)
  }
  return false
}

/**
 * The children of a container, and the labels among them and their children, such as the labels of buttons. Only enabled
 * ones: at a disabled widget GTK 4 finds nothing, although it shows.
 */
async function enabledIn(
  atspi: Atspi,
  container: Ref,
): Promise<{ readonly beside: readonly Ref[]; readonly labels: readonly Ref[] }> {
  const childrenOf = async (ref: Ref): Promise<readonly Ref[]> => {
    const children = ((await unlessRefused(atspi.children(ref))) ?? []).slice(0, MOST_BESIDE)
    const states = await Promise.all(children.map((child) => unlessRefused(atspi.states(child))))
    return children.filter((_, i) => has(states[i] ?? 0, STATE.SENSITIVE))
  }
  const beside = await childrenOf(container)
  const all = [...beside, ...(await Promise.all(beside.map(childrenOf))).flat()]
  const roles = await Promise.all(all.map((ref) => unlessRefused(atspi.role(ref))))
  return { beside, labels: all.filter((_, i) => roles[i] === ROLE.LABEL) }
}

const NEAR_LEVELS = 3
const MOST_BESIDE = 30

async function isNothingAt(atspi: Atspi, ref: Ref, extents: Rect, { coordinates }: Traits): Promise<boolean> {
  const { x, y } = middle(extents)
  const point = { x: Math.floor(x), y: Math.floor(y) }
  const found = await unlessRefused(atspi.at(ref, point, coordinates).then((at) => at ?? "nothing"))
  return found === "nothing"
}

/** Tests the list around a row instead of the row: a list unmaps rows that scroll out of view. */
async function isUnmappedWay(atspi: Atspi, way: readonly Step[], { ref, origin }: Element): Promise<boolean> {
  const list = way.findLast(({ role }) => LISTS.has(role))
  if (!list) return way[0]?.ref === ref
  const extents = await unlessRefused(atspi.extents(list.ref, origin.traits.coordinates))
  if (extents === undefined) return false
  if (isEmpty(extents)) return true
  if (!(await isNothingAt(atspi, list.ref, extents, origin.traits))) return false
  await askForRowAt(atspi, list.ref, middle(extents), origin.traits)
  return isNothingAt(atspi, list.ref, extents, origin.traits)
}

/** GTK 4 finds only objects that were requested before, and the row at this point may be new. */
async function askForRowAt(atspi: Atspi, list: Ref, point: Point, { coordinates }: Traits): Promise<void> {
  const rows = await atspi.children(list)
  const extents = await Promise.all(rows.map((row) => unlessRefused(atspi.extents(row, coordinates))))
  // Between two rows the point is in the padding of one of them.
  const distance = (rect: Rect): number =>
    Math.max(
      rect.x - point.x,
      point.x - rect.x - rect.width,
      rect.y - point.y,
      point.y - rect.y - rect.height,
    )
  const there = rows
    .flatMap((row, i) => (extents[i] && !isEmpty(extents[i]) ? [{ row, far: distance(extents[i]) }] : []))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, NEAREST)
    .map(({ row }) => row)
  const parts = await Promise.all(there.map((row) => unlessRefused(atspi.children(row))))
  await Promise.all(parts.flatMap((refs = []) => refs.map((ref) => unlessRefused(atspi.children(ref)))))
}

const NEAREST = 4
const MAX_STEPS = 60

async function stepsUp(
  atspi: Atspi,
  from: Ref,
): Promise<{ readonly steps: readonly Step[]; readonly end: "application" | "nothing" }> {
  const steps: Step[] = []
  for (let at: Ref | undefined = from; at && steps.length < MAX_STEPS; ) {
    const [role, states, parent]: [number, StateSet, Ref | undefined] = await Promise.all([
      atspi.role(at),
      atspi.states(at),
      atspi.parent(at),
    ])
    if (role === ROLE.APPLICATION) return { steps, end: "application" }
    steps.push({ ref: at, role, states })
    at = parent
  }
  return { steps, end: "nothing" }
}

/** True if the ancestors of an element end in a window of the app, not in something that was removed from one. */
async function isTopLevel(atspi: Atspi, top: Step, end: "application" | "nothing"): Promise<boolean> {
  if (end === "nothing") return WINDOW_ROLES.has(top.role)
  const tops = await atspi.children({ bus: top.ref.bus, path: ROOT_PATH })
  return tops.some((one) => refKey(one) === refKey(top.ref))
}

/** The index of the first step that is not inside a menu, or in the list of a combo box. */
function openerOf(steps: readonly Step[]): number {
  const menu = steps.findLastIndex(({ role }) => MENUS.has(role)) + 1
  return Math.max(
    menu,
    steps.findLastIndex(({ role }) => role === ROLE.COMBO_BOX),
  )
}

const MENUS: ReadonlySet<number> = new Set([
  ROLE.MENU,
  ROLE.POPUP_MENU,
  ROLE.MENU_ITEM,
  ROLE.CHECK_MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
])

/** True if an ancestor hides the element. Otherwise it is scrolled out of view. */
async function isUnshown(atspi: Atspi, way: readonly Step[], traits: Traits): Promise<boolean> {
  if (way.some(({ states }) => !has(states, STATE.VISIBLE) && !has(states, STATE.SHOWING))) return true
  if (!traits.ancestorsTellPages) return false
  const above = way.slice(1)
  if (above.some((tab, i) => tab.role === ROLE.PAGE_TAB && !showsPage(tab, way[i]!, traits))) return true
  if (above.some(isCollapsed) || !above.some(mayScroll)) return true
  const listed = await Promise.all(above.map((parent, i) => lists(atspi, parent, way[i]!)))
  return listed.includes(false)
}

const showsPage = (tab: Step, page: Step, { tabsLackSelected }: Traits): boolean =>
  tabsLackSelected ? has(page.states, STATE.SHOWING) : has(tab.states, STATE.SELECTED)

const isCollapsed = ({ role, states }: Step): boolean =>
  role === ROLE.TOGGLE_BUTTON && has(states, STATE.EXPANDABLE) && !has(states, STATE.EXPANDED)

const mayScroll = ({ role, states }: Step): boolean =>
  role === ROLE.SCROLL_PANE || role === ROLE.VIEWPORT || has(states, STATE.MANAGES_DESCENDANTS)

/** False if the parent has another child in that place: a stack lists only the page that it shows. */
async function lists(atspi: Atspi, parent: Step, { ref }: Step): Promise<boolean> {
  if (has(parent.states, STATE.MANAGES_DESCENDANTS)) return true
  const index = await atspi.indexInParent(ref)
  const child = index < 0 ? undefined : await unlessRefused(atspi.childAt(parent.ref, index))
  return child !== undefined && refKey(child) === refKey(ref)
}
