import { MAX_LABELS, NAMED_INSIDE } from "../describe/draft.ts"
import type { Rect, Role } from "../node.ts"
import {
  contextAttribute,
  detailsOf,
  FRAME,
  isActive,
  isUndetermined,
  mayBeActedOn,
  natureOf,
  STRUCTURE,
} from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { Failure, INVALID_ELEMENT, isUnread, isVague } from "./failure.ts"
import type { Habits } from "./habits.ts"
import { isNameless } from "./names.ts"
import { type Attributes, asElement, asElements, asWords, type Element, frameOf } from "./value.ts"

/** The answers of one element, before they are put into contract words. */
export interface Facts {
  readonly element: Element
  readonly role: Role
  readonly secure: boolean
  readonly attributes: Attributes
  /** Absent for an element that only gives context. */
  readonly offers?: Offers
  readonly bounds?: Rect
  /** Part of the element could not be read. */
  readonly partial: boolean
}

export interface Offers {
  readonly actions: ReadonlySet<string>
  /** True if AXValue can be written. undefined: not asked. */
  readonly settable?: boolean
  /** True if text can be typed at its caret although its value as a whole cannot be written: a terminal. */
  readonly typable?: boolean
}

/** All that the description of one element needs. */
export interface Reading {
  readonly facts: Facts
  /** The frame of the window, clipped by the scroll areas around it: nothing is visible outside it. */
  readonly area?: Rect
  readonly index?: number
  /** It is part of a web page. */
  readonly isInPage?: boolean
  /** The element that labels it. */
  readonly label?: Labelled
  /** The elements inside it, if texts among them may name it. */
  readonly inside: readonly Labelled[]
}

/** An element whose text may name another one. */
export interface Labelled {
  readonly role: Role
  readonly attributes: Attributes
  readonly children: readonly Labelled[]
}

interface Wanted {
  /** Inside a web page, where any named group may be a button. */
  readonly web: boolean
  readonly bounds: "all" | "interactive"
  /** Values of elements that only give context. */
  readonly values: boolean
  /** The actions that elements of the same kind offered, if a whole tree is read. */
  readonly habits?: Habits
}

/**
 * Reads role and subrole again if the first answer was vague, because they decide whether the value is a secret. After
 * a second vague answer the element has neither.
 */
function settled(ax: Ax, element: Element, structure: Attributes): Attributes {
  if (!isUndetermined(structure)) return structure
  const AXRole = ax.get(element, "AXRole")
  const AXSubrole = ax.get(element, "AXSubrole")
  return {
    ...structure,
    AXRole: isVague(AXRole) ? undefined : AXRole,
    AXSubrole: isVague(AXSubrole) ? undefined : AXSubrole,
  }
}

/**
 * Asks for the rest: details and actions of an element that can be acted on, the value of a text. A Failure if the element
 * goes away meanwhile.
 */
export function inspect(ax: Ax, element: Element, read: Attributes, wanted: Wanted): Facts | Failure {
  const structure = settled(ax, element, read)
  const nature = natureOf(structure)
  const { axRole, role, named } = nature
  const { web, habits } = wanted
  const may = mayBeActedOn(role, web, named !== undefined)
  const ask = () => ax.actions(element)
  const asked = may === "no" ? undefined : actionsBy(may, structure, wanted, ask)
  const actions = asked instanceof Failure ? NO_ACTIONS : asked
  if (!actions || (may !== "yes" && !isActive(role, actions))) {
    const more = contextAttribute(role, wanted.values)
    const value = more && (more in structure ? structure[more] : ax.get(element, more))
    const attributes = more ? { ...structure, [more]: value } : structure
    if (isGone(ax, element, asked, value)) return new Failure(INVALID_ELEMENT)
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
  const typable =
    role === "textfield" && settable === false && ax.isSettable(element, "AXSelectedText") === true
  if (isGone(ax, element, asked, details, settable)) return new Failure(INVALID_ELEMENT)
  const offers = { actions, typable, settable: settable instanceof Failure ? undefined : settable }
  const bounds = boundsOf(ax, element, attributes)
  const partial = asked instanceof Failure || details instanceof Failure || isUnread(settable)
  return { element, role, secure: natureOf(attributes).secure, attributes, offers, bounds, partial }
}

const NO_ACTIONS: ReadonlySet<string> = new Set()

/** True if one of the answers says that the element is gone, and a second question confirms it. */
function isGone(ax: Ax, element: Element, ...answers: readonly unknown[]): boolean {
  const isReported = answers.some((answer) => isInvalid(answer))
  return isReported && isInvalid(ax.get(element, "AXRole"))
}

const isInvalid = (answer: unknown): boolean => answer instanceof Failure && answer.code === INVALID_ELEMENT

/** The actions of an element, or those of similar ones if a whole tree is read. */
function actionsBy(
  may: "yes" | "ask" | "sample",
  structure: Attributes,
  { web, habits }: Wanted,
  ask: () => ReadonlySet<string> | Failure,
): ReadonlySet<string> | Failure {
  if (!habits || may === "ask") return ask()
  return may === "yes" ? habits.actionsOf(structure, web, ask) : habits.rareActionsOf(structure, web, ask)
}

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

/** AXFrame, if it was asked for. Some apps report only AXPosition and AXSize. */
function boundsOf(ax: Ax, element: Element, attributes: Attributes): Rect | undefined {
  if (!(FRAME in attributes)) return undefined
  const frame = frameOf(attributes)
  if (frame) return frame
  const halves = ax.read(element, ["AXPosition", "AXSize"])
  return halves instanceof Failure ? undefined : frameOf(halves)
}

/** The place of an element that was read without its bounds. */
export function placeOf(ax: Ax, element: Element): Rect | undefined {
  const read = ax.read(element, [FRAME])
  return read instanceof Failure ? undefined : boundsOf(ax, element, read)
}

/** True if the texts inside the element are its name. */
export function isNamedInside({ offers, role, attributes }: Facts): boolean {
  return offers !== undefined && NAMED_INSIDE.has(role) && isNameless(attributes)
}

/** True for an element that may stand between a control and the texts that name it. */
export const isSeeThrough = (role: Role): boolean => role === "cell" || role === "group"

/** The element that labels this one, which has no title of its own. */
export function labelOf({ attributes }: Facts): Element | undefined {
  return asWords(attributes.AXTitle) ? undefined : asElement(attributes.AXTitleUIElement)
}

/** Reads the first elements inside. Looks through wrappers. */
export function readLabels(ax: Ax, children: readonly Element[], deeper = 1): readonly Labelled[] {
  return children.slice(0, MAX_LABELS).flatMap((child) => {
    const label = readLabel(ax, child)
    if (!label) return []
    const below = deeper > 0 && isSeeThrough(label.role) ? asElements(label.attributes.AXChildren) : []
    return [{ ...label, children: readLabels(ax, below, deeper - 1) }]
  })
}

/** A static text is asked for its value, and so is a field that is certainly not a secure one. */
export function readLabel(ax: Ax, element: Element): Labelled | undefined {
  const read = ax.read(element, STRUCTURE)
  if (read instanceof Failure) return undefined
  const structure = settled(ax, element, read)
  const { role, hides } = natureOf(structure)
  const hasText = role === "statictext" || (role === "textfield" && !hides)
  const attributes = hasText ? { ...structure, AXValue: ax.get(element, "AXValue") } : structure
  return { role, attributes, children: [] }
}
