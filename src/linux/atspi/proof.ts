import type { ActionName } from "../../node.ts"
import { has, STATE, type StateSet, withStates } from "./bits.ts"
import { actionsOf } from "./capabilities.ts"
import type { Answers, Reading } from "./reading.ts"
import { DOCUMENTS, type Kind, ROLE } from "./roles.ts"

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

/** An editable panel is a time field if its answers say so. An empty panel that takes the focus is a canvas. */
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

/** True for such a panel that takes the focus, as the icons of Thunar do: nothing in it is accessible. */
export const mayBeCanvas = (reading: Reading): boolean =>
  mayBeDrawn(reading) && has(reading.facts.states, STATE.FOCUSABLE)
