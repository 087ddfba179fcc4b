import type { Handle, Seen } from "../adapter.ts"
import type { Rect, Role } from "../node.ts"
import { overlaps } from "../rect.ts"
import {
  contextAttribute,
  detailsOf,
  FRAME,
  mayBeActedOn,
  natureOf,
  STRUCTURE,
  WEB_STRUCTURE,
} from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { Failure, INVALID_ELEMENT, isUnread, readFailed } from "./failure.ts"
import type { Habits } from "./habits.ts"
import { hintOf, isNameless, LABELS, labelText, nameOf, valueText } from "./names.ts"
import { actionNames, type Offers, statesOf } from "./states.ts"
import { type Attributes, asElement, asElements, asFlag, asWords, type Element, frameOf } from "./value.ts"

/** What was read of one element, before it is put into contract words. */
export interface Facts {
  readonly element: Element
  readonly role: Role
  readonly secure: boolean
  readonly attributes: Attributes
  /** Absent for a node that only gives context. */
  readonly offers?: Offers
  readonly bounds?: Rect
  /** Something of it could not be read. */
  readonly partial: boolean
}

/** A text that may name what it stands in. */
export interface Labelled {
  readonly role: Role
  readonly attributes: Attributes
  readonly children: readonly Labelled[]
}

interface Wanted {
  /** Inside a web page, where any named group may be a button. */
  readonly web: boolean
  readonly bounds: "all" | "interactive"
  /** Values of nodes that only give context. */
  readonly values: boolean
  /** What the like of it offered so far, where a whole tree is read. */
  readonly habits?: Habits
}

/** A handle is the element itself; the core never looks inside. */
function handleOf(element: Element): Handle {
  return element as unknown as Handle
}

export function elementOf(handle: Handle): Element {
  return handle as unknown as Element
}

/** Reads what the structure leaves open: details and offers of what can be acted on, values of texts. */
export function inspect(ax: Ax, element: Element, structure: Attributes, wanted: Wanted): Facts {
  const nature = natureOf(structure)
  const { axRole, role, named } = nature
  const { web, habits } = wanted
  const may = mayBeActedOn(role, web, named !== undefined)
  const ask = () => ax.actions(element)
  const asked =
    may === "no" ? undefined : may === "yes" && habits ? habits.actionsOf(structure, web, ask) : ask()
  const actions = asked instanceof Failure ? NO_ACTIONS : asked
  if (!actions || (may === "ask" && !actions.has("AXPress"))) {
    const more = contextAttribute(role, wanted.values)
    const value = more && (more in structure ? structure[more] : ax.get(element, more))
    const attributes = more ? { ...structure, [more]: value } : structure
    const partial = asked instanceof Failure || isUnread(value)
    const bounds = wanted.bounds === "all" ? boundsOf(ax, element, structure) : undefined
    return { element, role, secure: nature.secure, attributes, bounds, partial }
  }
  const names = detailsOf(nature, web, (name) => name in structure)
  const details = names.length > 0 ? ax.read(element, names) : {}
  const attributes = details instanceof Failure ? structure : { ...structure, ...details }
  const canSet = () => ax.isSettable(element, "AXValue")
  const writable = WRITABLE.has(axRole ?? "")
  const settable = writable ? (habits ? habits.settable(structure, web, canSet) : canSet()) : undefined
  const offers = { actions, settable: settable instanceof Failure ? undefined : settable }
  const bounds = boundsOf(ax, element, attributes)
  const partial = asked instanceof Failure || details instanceof Failure || isUnread(settable)
  return { element, role, secure: natureOf(attributes).secure, attributes, offers, bounds, partial }
}

const NO_ACTIONS: ReadonlySet<string> = new Set()

/** Roles whose AXValue a user changes. */
const WRITABLE: ReadonlySet<string> = new Set([
  "AXTextField",
  "AXTextArea",
  "AXSearchField",
  "AXSecureTextField",
  "AXComboBox",
  "AXSlider",
  "AXIncrementor",
  "AXStepper",
])

/** AXFrame where it was asked for; some apps have only its two halves. */
function boundsOf(ax: Ax, element: Element, attributes: Attributes): Rect | undefined {
  if (!(FRAME in attributes)) return undefined
  const frame = frameOf(attributes)
  if (frame) return frame
  const halves = ax.read(element, ["AXPosition", "AXSize"])
  return halves instanceof Failure ? undefined : frameOf(halves)
}

/** The element in contract words. `area`: the window's frame, outside of which nothing shows. */
export function seenOf(
  facts: Facts,
  found: { readonly label?: string; readonly inside?: string },
  place: { readonly area?: Rect; readonly index?: number },
): Seen {
  const { secure, attributes, bounds } = facts
  const name = nameOf(attributes, found)
  // The lines between the items of a menu are items themselves, to macOS.
  const line = facts.role === "menuitem" && !name && asFlag(attributes.AXEnabled) === false
  const role = line ? "separator" : facts.role
  const offers = line ? undefined : facts.offers
  const states = statesOf(role, attributes, { secure, interactive: offers !== undefined })
  if (role === "textfield" && offers?.settable === false) states.push("readonly")
  if (offers && bounds && place.area && !overlaps(bounds, place.area)) states.push("offscreen")
  const description = asWords(attributes.AXDescription)
  return {
    handle: handleOf(facts.element),
    role,
    name,
    value: secure ? undefined : valueText(role, attributes.AXValue),
    description: description === name ? undefined : description,
    hint: hintOf(attributes, name),
    states,
    bounds,
    actions: offers && actionNames(role, states, attributes, offers),
    identifier: asWords(attributes.AXIdentifier) ?? asWords(attributes.AXDOMIdentifier),
    index: place.index,
  }
}

/** Reads one element anew, by the same rules as a whole tree; undefined when it is gone. */
export function readSeen(ax: Ax, element: Element, index?: number): Seen | undefined {
  const structure = ax.read(element, [...WEB_STRUCTURE, "AXTopLevelUIElement"])
  if (structure instanceof Failure) {
    if (structure.code === INVALID_ELEMENT) return undefined
    throw readFailed("The element", structure.code)
  }
  const window = asElement(structure.AXTopLevelUIElement)
  const frame = window && ax.read(window, [FRAME])
  const facts = inspect(ax, element, structure, { web: true, bounds: "all", values: true })
  const found = {
    label: labelBeside(facts, (label) => readLabel(ax, label)),
    inside: labelInside(facts, () => readLabels(ax, asElements(structure.AXChildren), 1)),
  }
  return seenOf(facts, found, { area: frame instanceof Failure ? undefined : frame && frameOf(frame), index })
}

/** The text of the element that labels this one, where it has no title of its own. */
export function labelBeside(
  facts: Facts,
  read: (label: Element) => Labelled | undefined,
): string | undefined {
  const label = asWords(facts.attributes.AXTitle) ? undefined : asElement(facts.attributes.AXTitleUIElement)
  const labelled = label && read(label)
  return labelled && labelText(labelled.attributes)
}

/** Controls that show their name as text inside; in a text field such a text is what was typed. */
const NAMED_INSIDE: ReadonlySet<Role> = new Set([
  "button",
  "cell",
  "checkbox",
  "link",
  "menubutton",
  "menuitem",
  "option",
  "radiobutton",
  "tab",
  "treeitem",
])

/** Whether the texts inside it are its name. */
export function isNamedInside({ offers, role, attributes }: Facts): boolean {
  return offers !== undefined && NAMED_INSIDE.has(role) && isNameless(attributes)
}

/** Whether it stands between a control and the texts that name it. */
export function isSeeThrough({ role }: Facts): boolean {
  return THROUGH.has(role)
}

export function labelInside(facts: Facts, read: () => readonly Labelled[]): string | undefined {
  if (!isNamedInside(facts)) return undefined
  const item = ITEMS.has(facts.role)
  const texts = read()
    .slice(0, LABELS)
    .flatMap((child) => (THROUGH.has(child.role) ? child.children.slice(0, LABELS) : [child]))
    .filter(({ role }) => role === "statictext" || (item && role === "textfield"))
    .flatMap(({ attributes }) => labelText(attributes) ?? [])
  // A row is about what it begins with; the rest are columns.
  const used = facts.role === "treeitem" ? texts.slice(0, 1) : texts.slice(0, LABELS)
  return used.length > 0 ? used.join(" ") : undefined
}

/** What shows its name in a field where it can be changed, like a file. */
const ITEMS: ReadonlySet<Role> = new Set(["cell", "treeitem"])

/** Wrappers that a label may stand behind. */
const THROUGH: ReadonlySet<Role> = new Set(["cell", "group"])

/** The first children, and through wrappers theirs. */
export function readLabels(ax: Ax, children: readonly Element[], deeper: number): Labelled[] {
  return children.slice(0, LABELS).flatMap((child) => {
    const label = readLabel(ax, child)
    if (!label) return []
    const below = deeper > 0 && THROUGH.has(label.role) ? asElements(label.attributes.AXChildren) : []
    return [{ ...label, children: readLabels(ax, below, deeper - 1) }]
  })
}

/** A static text is asked for its value, and a field that certainly is no secure one. */
export function readLabel(ax: Ax, element: Element): Labelled | undefined {
  const structure = ax.read(element, STRUCTURE)
  if (structure instanceof Failure) return undefined
  const { role, hides } = natureOf(structure)
  const tells = role === "statictext" || (role === "textfield" && !hides)
  const attributes = tells ? { ...structure, AXValue: ax.get(element, "AXValue") } : structure
  return { role, attributes, children: [] }
}
