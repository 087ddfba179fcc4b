import type { TreeOptions } from "../../adapter.ts"
import { type ActionName, hasTrait, type Rect } from "../../node.ts"
import { INTERFACE } from "./atspi.ts"
import { has, STATE, type StateSet, withStates } from "./bits.ts"
import { actionsOf, isCopyOfCell } from "./capabilities.ts"
import type { DateField } from "./dates.ts"
import type { Element, Origin } from "./element.ts"
import type { Facts } from "./facts.ts"
import { cleanName, isClassName, plainText } from "./names.ts"
import { DOCUMENTS, type Kind, kindOf, ROLE } from "./roles.ts"
import type { Sight } from "./sight.ts"

/** One object while it is read: its facts, its kind, and the answers to further questions. */
export interface Reading {
  readonly element: Element
  readonly facts: Facts
  readonly kind: Kind
  readonly sight: Sight
  /** Its accessible name, if it has a real one. */
  readonly name: string | undefined
  /** By its role alone. */
  readonly isInteractive: boolean
  readonly options: Pick<TreeOptions, "bounds" | "interactiveOnly">
  /** Filled in as the answers come; see questions.ts. */
  readonly answers: Answers
}

/** The answers beyond the facts. Absent: not asked, or not answered. */
export interface Answers {
  /** The names of its actions. */
  offers?: readonly string[]
  value?: string
  /** The names of the objects that label it. */
  label?: string
  description?: string
  extents?: Rect
  /** The key binding of its first action. */
  binding?: string
  /** The description of its parent. */
  tooltip?: string
  text?: string
  /** The length of a value or text that was cut. */
  valueLength?: number
  attributes?: ReadonlyMap<string, string>
  date?: DateField
  /** True if its list shows. */
  isOpen?: boolean
  /** The name of its parent. */
  holder?: string
  /** The number of its children, if its facts do not have it. */
  parts?: number
}

export function readingOf(
  element: Element,
  facts: Facts,
  kind: Kind,
  sight: Sight,
  options: Reading["options"],
): Reading {
  const { description, extents } = facts
  return {
    element,
    facts,
    kind,
    sight,
    name: nameOf(element.origin, kind, facts),
    isInteractive: hasTrait(kind.role, "interactive"),
    options,
    answers: { description, extents },
  }
}

export function kindIn(facts: Facts, element: Element): Kind {
  const { role, states, interfaces, childCount, name } = facts
  const holdsSelection = (interfaces & INTERFACE.Selection) !== 0
  const { origin, parentRole } = element
  return kindOf(role, states, holdsSelection, parentRole, {
    traits: origin.traits,
    interfaces,
    childCount,
    name,
    isCopy: isCopyOfCell(element),
  })
}

/** The accessible name, unless the toolkit invented it. */
export function nameOf(origin: Origin, kind: Kind, facts: Pick<Facts, "name">): string | undefined {
  if (isGridCell(origin, kind, facts)) return undefined
  const endsInMemory = kind.role === "tab" && origin.traits.tabsTellMemory
  const name = wordsOf(origin, endsInMemory ? facts.name.replace(MEMORY, "") : facts.name)
  if (name === undefined || !origin.traits.namesFallBackToClass) return name
  const isMadeUp = kind.native === ROLE.FILLER || isClassName(name) || (kind.role === "tab" && name === "Tab")
  return isMadeUp ? undefined : name
}

/** `Shop - Memory usage - 64.4 MB`, in any language. */
const MEMORY = / - [^\d-]+ - [\d.,]+\s[KMG]B$/

/** A name or description as one line of plain text. */
export const wordsOf = ({ traits }: Origin, text: string): string | undefined =>
  cleanName(traits.textMayBeMarkup && text.includes("<") ? plainText(text) : text)

/** True for a cell whose name says only its column, e.g. "Size , ". Its text is its content. */
export function isGridCell({ traits }: Origin, { native }: Kind, { name }: Pick<Facts, "name">): boolean {
  return traits.gridCellsAreNamedByColumn === true && native === ROLE.TABLE_CELL && name.endsWith(" , ")
}

/** The kind, states and actions that the answers of an object prove. */

/** The actions that are known so far. */
export function actionsIn(reading: Reading): readonly ActionName[] {
  const { element, facts, answers } = reading
  const { traits } = element.origin
  const known = actionsOf(
    traits,
    provenKind(reading),
    provenStates(reading),
    facts.interfaces,
    answers.offers,
  )
  return [
    ...(isShape(reading) && !known.includes("Click") ? CLICKABLE : []),
    ...known,
    ...(answers.date ? FILLABLE : []),
    ...(reading.kind.role === "group" && isDraggable(answers.attributes) ? DRAGGABLE : []),
  ]
}

/** True for a shape in a document, which a click selects. */
export function isShape({ element, facts }: Reading): boolean {
  if (!element.origin.traits.shapesAreSelectable || !DOCUMENTS.has(element.parentRole)) return false
  return has(facts.states, STATE.SELECTABLE)
}

const CLICKABLE: readonly ActionName[] = ["Click"]
const FILLABLE: readonly ActionName[] = ["SetValue", "Clear"]
const DRAGGABLE: readonly ActionName[] = ["Drag"]

/** An editable panel is a time field if its answers say so. An empty panel or calendar that takes the focus is a canvas. */
export function provenKind(reading: Reading): Kind {
  const { kind, facts, answers } = reading
  if (mayBeCanvas(reading) && (answers.parts ?? facts.childCount) === 0) return { ...kind, role: "canvas" }
  const isUnproven = kind.native === ROLE.PANEL && kind.role === "datefield" && !answers.date
  return isUnproven ? { ...kind, role: "group" } : kind
}

/** The states, plus those that answers prove and the toolkit does not report. */
export function provenStates({ kind, facts, answers }: Reading): StateSet {
  if (kind.role === "cell" && answers.offers?.includes("toggle"))
    return withStates(facts.states, STATE.CHECKABLE)
  if (answers.isOpen === undefined) return facts.states
  return withStates(facts.states, STATE.EXPANDABLE, ...(answers.isOpen ? [STATE.EXPANDED] : []))
}

/** True for a plain page element without a role: it is a panel because it can be dragged. */
const isDraggable = (attributes: Answers["attributes"]): boolean =>
  attributes !== undefined && BOX_TAGS.has(attributes.get("tag") ?? "") && !attributes.has("xml-roles")

const BOX_TAGS: ReadonlySet<string> = new Set(["div", "span", "li", "article", "section", "p", "td"])

/** True for an empty panel, which may be a control that the app draws itself. Then its tool tip describes it. */
export const mayBeDrawn = ({ element, kind, facts, name }: Reading): boolean =>
  element.origin.traits.drawnControlsArePanels === true &&
  kind.native === ROLE.PANEL &&
  kind.role === "group" &&
  name === undefined &&
  facts.childCount <= 0

/** True for such a panel or calendar that takes the focus, as the icons of Thunar do: nothing in it is accessible. */
export const mayBeCanvas = (reading: Reading): boolean =>
  (mayBeDrawn(reading) || mayBeDrawnCalendar(reading)) && has(reading.facts.states, STATE.FOCUSABLE)

/** GtkCalendar has no objects for its days. */
const mayBeDrawnCalendar = ({ element, kind, facts }: Reading): boolean =>
  element.origin.traits.drawnControlsArePanels === true &&
  kind.native === ROLE.CALENDAR &&
  facts.childCount <= 0
