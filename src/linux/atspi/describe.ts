import type { Seen } from "../../adapter.ts"
import { hasTrait, isRole, type Rect, type Role } from "../../node.ts"
import { isInteractive } from "../../tree.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { actionsOf, statesOf } from "./capabilities.ts"
import { type Element, type Parent, type Place, unlessRefused } from "./element.ts"
import type { Facts, Look, Maybe } from "./facts.ts"
import {
  cleanName,
  type Expect,
  hasValue,
  isClassName,
  plainText,
  readText,
  readValue,
  shortcutOf,
} from "./names.ts"
import { isBrowser, type Kind, kindOf, ROLE } from "./roles.ts"

/** An element in contract words; `fallback` is a name for when nothing else gives one. */
export interface Described {
  readonly seen: Seen
  readonly fallback?: string
}

/** What was asked beyond the facts. */
interface Details {
  offers?: readonly string[]
  value?: string
  label?: string
  description?: string
  extents?: Rect
  binding?: string
  around?: string
  text?: string
  attributes?: ReadonlyMap<string, string>
}

/** Reads what its kind calls for (text, number, bounds, label) and says all of it in contract words. */
export function describe(
  atspi: Atspi,
  element: Element,
  kind: Kind,
  facts: Facts,
  bounds: "all" | "interactive",
  expect: Expect = unlessRefused,
  /** Nobody wants more of what cannot be acted on than what it is and is called. */
  isLean = false,
): Maybe<Described> {
  const { ref, place } = element
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  const details: Details = { description: facts.description, extents: facts.extents }
  const asked: Promise<void>[] = []
  const ask = <K extends keyof Details>(what: K, answer: Promise<Details[K]>): void => {
    asked.push(
      expect(answer).then((value) => {
        details[what] = value
      }),
    )
  }
  const interactive = hasTrait(kind.role, "interactive")
  const mayAct = interactive || (can(INTERFACE.Action) && mayOffer(place, kind))
  const isWanted = mayAct || !isLean
  if (!interactive && mayAct) ask("offers", offersOf(atspi, ref, place))
  if (isWanted && hasValue(kind, facts)) ask("value", readValue(atspi, ref, kind, facts, expect))
  const name = nameOf(place, kind, facts)
  if (LABELLED_ROLES.has(kind.role) && (name === undefined || kind.role === "combobox")) {
    ask("label", labelledBy(atspi, ref, expect))
  }
  if (name === undefined && isTextOfPage(place, kind) && can(INTERFACE.Text) && !hasValue(kind, facts)) {
    ask("text", readText(atspi, ref))
  }
  const mayDescribe = interactive ? name === undefined || !hasTrait(kind.role, "item") : kind.role === "image"
  if (isWanted && facts.description === undefined && mayDescribe) {
    ask("description", atspi.description(ref))
  }
  if (!facts.extents && can(INTERFACE.Component) && (interactive || bounds === "all")) {
    ask("extents", atspi.extents(ref, place.toolkit))
  }
  const isItem = kind.role === "menuitem" && kind.native !== ROLE.MENU
  if (isItem && can(INTERFACE.Action) && place.toolkit === "gtk") {
    ask("binding", atspi.keyBinding(ref, 0))
  }
  if (isGridCell(place, kind, facts)) ask("text", readText(atspi, ref))
  if (name === undefined && isToolItem(element, kind)) ask("around", atspi.description(element.parent.ref))
  if (kind.native === ROLE.LANDMARK || (kind.role === "textfield" && name === undefined)) {
    ask("attributes", atspi.attributes(ref))
  }
  if (asked.length === 0) return conclude(element, kind, facts, name, details)
  return Promise.all(asked).then(async () => {
    // That it can be acted on may be news, and then it needs bounds as evidence.
    if (!details.extents && details.offers && can(INTERFACE.Component)) {
      const { actions } = conclude(element, kind, facts, name, details).seen
      if (isInteractive({ role: kind.role, actions })) {
        details.extents = await expect(atspi.extents(ref, place.toolkit))
      }
    }
    return conclude(element, kind, facts, name, details)
  })
}

function conclude(
  element: Element,
  kind: Kind,
  facts: Facts,
  name: string | undefined,
  { offers, value: held, label, description, extents, binding, around, text, attributes }: Details,
): Described {
  const { ref, place } = element
  const actions = actionsOf(kind, facts.states, facts.interfaces, offers)
  const worthRef = isInteractive({ role: kind.role, actions })
  // Qt's combo boxes call themselves by what they hold.
  const value =
    held ?? (kind.role === "combobox" && place.toolkit === "Qt" && name !== label ? name : undefined)
  const isNamedByValue = kind.role === "combobox" && name !== undefined && name === value
  return {
    fallback: cleanName(
      around ?? text ?? attributes?.get("placeholder-text") ?? attributes?.get("placeholder") ?? "",
    ),
    seen: {
      handle: element.handle,
      role: landmarkOf(kind, attributes) ?? kind.role,
      name: isNamedByValue ? label : (name ?? label ?? cleanName(text ?? "")),
      value,
      description: description ? wordsOf(place, description) : undefined,
      hint: binding ? shortcutOf(binding) : undefined,
      states: statesOf(
        facts.states,
        kind,
        worthRef,
        isShowing(place, { role: kind.native, states: facts.states, extents }),
        element,
      ),
      bounds: extents && onScreen(extents, place),
      clickPoint: extents && clickPointOf(extents, place, kind),
      disclosure: extents && disclosureOf(extents, place, kind, facts.states),
      actions,
      address: refKey(ref),
      // Where it is there without a question of its own: pages give it as an attribute, other toolkits hardly ever.
      identifier: attributes?.get("id") || undefined,
      index: element.index,
      ...(isFleeting(element, kind) ? { isRecycled: true } : {}),
      ...(isBrowser(place.toolkit) ? { tellsLate: true } : {}),
    },
  }
}

/**
 * Rows of a model are objects only while somebody looks: a model that is sorted or filled anew has new ones for
 * the same rows. GTK 4 makes new ones for what its lists take out and put back, pages for what they hide and show.
 */
function isFleeting({ place, parent }: Element, { role, native }: Kind): boolean {
  if (place.toolkit === "GTK" || isBrowser(place.toolkit))
    return hasTrait(role, "item") || native === ROLE.LIST_ITEM
  if (!parent) return false
  if (place.toolkit === "Qt") return ITEM_VIEWS.has(parent.role)
  // GTK 3 says so of its list box, too, whose rows are widgets.
  return has(parent.states, STATE.MANAGES_DESCENDANTS) && parent.role !== ROLE.LIST_BOX
}

const ITEM_VIEWS: ReadonlySet<number> = new Set([ROLE.LIST, ROLE.TABLE, ROLE.TREE, ROLE.TREE_TABLE])

export function kindIn(facts: Facts, place: Place, parentRole: number): Kind {
  const holdsSelection = (facts.interfaces & INTERFACE.Selection) !== 0
  return kindOf(facts.role, facts.states, holdsSelection, parentRole, {
    toolkit: place.toolkit,
    interfaces: facts.interfaces,
    childCount: facts.childCount,
    name: facts.name,
  })
}

/** A name or description as one line; what an application of Qt wrote as markup, as text. */
const wordsOf = ({ toolkit }: Place, text: string): string | undefined =>
  cleanName(toolkit === "Qt" && text.includes("<") ? plainText(text) : text)

/** The accessible name, unless it is none. */
export function nameOf(place: Place, kind: Kind, facts: Pick<Facts, "name">): string | undefined {
  if (isGridCell(place, kind, facts)) return undefined
  const name = wordsOf(place, facts.name)
  if (name === undefined || place.toolkit !== "GTK") return name
  // GTK 4 falls back to the class of the widget, and calls every tab "Tab".
  const isNone = kind.native === ROLE.FILLER || isClassName(name) || (kind.role === "tab" && name === "Tab")
  return isNone ? undefined : name
}

/** LibreOffice names the cells of its grids by their column and a row that has no name; what is in them is their text. */
function isGridCell({ app }: Place, { native }: Kind, { name }: Pick<Facts, "name">): boolean {
  return app === "soffice" && native === ROLE.TABLE_CELL && name.endsWith(" , ")
}

/**
 * GTK 4 before 4.10 has no SHOWING; there, only what was never given any room is known to be hidden. The items of
 * LibreOffice's own trees have none either, and are VISIBLE as long as nothing around them is collapsed.
 */
export function isShowing(
  place: Pick<Place, "toolkit" | "app">,
  facts: Pick<Look, "role" | "states"> & Pick<Facts, "extents">,
): boolean {
  if (has(facts.states, STATE.SHOWING)) return true
  if (!has(facts.states, STATE.VISIBLE)) return false
  if (place.toolkit !== "GTK") return place.app === "soffice" && facts.role === ROLE.TREE_ITEM
  return !facts.extents || facts.extents.width > 0 || facts.extents.height > 0
}

export function onScreen(extents: Rect, { shift }: Pick<Place, "shift">): Rect | undefined {
  // What is not on the screen: GTK 3 answers with the smallest integer, Qt with nothing at all.
  if (!shift || extents.x <= -0x7ffffff0 || extents.width < 0 || extents.height < 0) return undefined
  return { x: extents.x + shift.x, y: extents.y + shift.y, width: extents.width, height: extents.height }
}

/** LibreOffice's boxes hear clicks on themselves and their text, however wide they are. */
function clickPointOf(extents: Rect, place: Place, { native }: Kind): Seen["clickPoint"] {
  if (place.app !== "soffice" || !BOXES.has(native)) return undefined
  const bounds = onScreen(extents, place)
  if (!bounds) return undefined
  const { x, y, width, height } = bounds
  return { x: Math.floor(x + Math.min(width, height) / 2), y: Math.floor(y + height / 2) }
}

const BOXES: ReadonlySet<number> = new Set([ROLE.CHECK_BOX, ROLE.RADIO_BUTTON])

function disclosureOf(extents: Rect, place: Place, kind: Kind, states: StateSet): Seen["disclosure"] {
  if (!has(states, STATE.EXPANDABLE)) return undefined
  const bounds = onScreen(extents, place)
  if (!bounds) return undefined
  const y = Math.floor(bounds.y + bounds.height / 2)
  // Qt takes a click on the indentation before an item for one on its arrow, and offers no action for it.
  if (place.toolkit === "Qt") return kind.role === "treeitem" ? { x: bounds.x - ARROW, y } : undefined
  // GTK 3's expander is as wide as there is room, and hears clicks where its arrow and label are.
  if (place.toolkit === "gtk")
    return kind.native === ROLE.TOGGLE_BUTTON ? { x: bounds.x + ARROW, y } : undefined
  return isBrowser(place.toolkit) && kind.role === "treeitem" ? "arrow keys" : undefined
}

/** How far from the edge a click still meets the arrow in every style. */
const ARROW = 6

/** Which landmark of a page it is, in the page's own word. */
function landmarkOf(kind: Kind, attributes: ReadonlyMap<string, string> | undefined): Role | undefined {
  const word = kind.native === ROLE.LANDMARK ? attributes?.get("xml-roles") : undefined
  return word !== undefined && isRole(word) && !hasTrait(word, "interactive") ? word : undefined
}

/** Firefox has no objects for the texts of a page: what they are in holds them, and is not named by them. */
const isTextOfPage = ({ toolkit }: Place, { native, role }: Kind): boolean =>
  toolkit === "Gecko" && native !== ROLE.PASSWORD_TEXT && role !== "webarea"

/** GTK 3 puts a tool button alone into an item that carries its tooltip. */
function isToolItem(element: Element, kind: Kind): element is Element & { parent: Parent } {
  const { parent, place } = element
  const isButton = kind.role === "button" || kind.role === "menubutton"
  return isButton && place.toolkit === "gtk" && parent?.role === ROLE.PANEL && parent.size === 1
}

const LABELLED_BY = 2

const LABELLED_ROLES: ReadonlySet<Role> = new Set([
  "button",
  "checkbox",
  "colorwell",
  "combobox",
  "incrementor",
  "listbox",
  "menubutton",
  "radiobutton",
  "slider",
  "switch",
  "textfield",
])

async function labelledBy(atspi: Atspi, ref: Ref, expect: Expect): Promise<string | undefined> {
  const relations = await expect(atspi.relations(ref))
  const labels = relations?.find(({ type }) => type === LABELLED_BY)?.targets ?? []
  const names = await Promise.all(labels.slice(0, 5).map((label) => expect(atspi.name(label))))
  return cleanName(names.filter((name) => name && !isClassName(name)).join(" "))
}

/**
 * Whether an element that is not interactive by its role is asked for its actions. GTK 4, Qt and
 * Chromium give the interface to everything, and so it says nothing about mere structure.
 */
function mayOffer({ toolkit }: Place, { native, role }: Kind): boolean {
  if (role === "separator" || role === "scrollbar" || role === "window" || role === "application")
    return false
  if (toolkit === "GTK") return false
  if (toolkit === "Qt") return native === ROLE.LABEL || native === ROLE.IMAGE || role === "columnheader"
  if (isBrowser(toolkit)) return CLICKABLE_WEB.has(role)
  return true
}

/** Every node of a web page has a first action, and it alone tells whether a click does something. */
function offersOf(atspi: Atspi, ref: Ref, { toolkit }: Place): Promise<readonly string[]> {
  return isBrowser(toolkit) ? atspi.actionName(ref, 0).then((name) => [name]) : atspi.actionNames(ref)
}

/** What web pages attach click handlers to; text itself only passes clicks on. */
const CLICKABLE_WEB: ReadonlySet<Role> = new Set([
  "group",
  "datefield",
  "image",
  "row",
  "columnheader",
  "heading",
  "paragraph",
])
