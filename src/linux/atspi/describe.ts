import type { Seen, SeenNode } from "../../adapter.ts"
import { formatDate } from "../../content/dates.ts"
import { type ActionName, hasTrait, isRole, type Rect, type Role, type State } from "../../node.ts"
import { isEmpty } from "../../rect.ts"
import { isInteractive } from "../../tree.ts"
import { INTERFACE, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { sheetCellOf, statesOf } from "./capabilities.ts"
import type { DateField } from "./dates.ts"
import { Element, type Origin } from "./element.ts"
import type { Facts } from "./facts.ts"
import { settle } from "./labels.ts"
import { cleanName, shortcutOf } from "./names.ts"
import { FRAMED } from "./questions.ts"
import {
  type Answers,
  actionsIn,
  mayBeDrawn,
  provenKind,
  provenStates,
  type Reading,
  wordsOf,
} from "./reading.ts"
import { type Kind, ROLE } from "./roles.ts"
import { isShowing, type Sight } from "./sight.ts"

/** Describes everything that was read of an object in contract words. `inside`: the nodes below it. */
export function describe(reading: Reading, inside: readonly SeenNode[]): Seen {
  const { element, facts, answers } = reading
  const { ref, origin } = element
  const { binding, tooltip, text, attributes } = answers
  const kind = provenKind(reading)
  const states = provenStates(reading)
  const weakName = weakNameOf(reading)
  const isTitle = weakName !== undefined && reading.name === weakName
  const { name, value } = nameAndValue(isTitle ? { ...reading, name: undefined } : reading)
  const sheetCell = sheetCellOf(origin.traits, kind, facts.states, facts.interfaces)
  const isDrawn = mayBeDrawn(reading) && inside.length === 0 && Boolean(answers.description)
  const { description, extents } = isDrawn || kind.role === "canvas" ? answers : withoutIdle(reading)
  const actions: readonly ActionName[] = [...actionsIn(reading), ...(isDrawn ? (["Click"] as const) : [])]
  const shownStates = statesOf(
    states,
    kind,
    isInteractive({ role: kind.role, actions }),
    sightIn(reading, inside),
    element,
  ).filter((state) => !isOldMark(reading, state))
  if (sheetCell === "locked") shownStates.push("readonly")
  // Built step by step: a spread for each rare member takes longer than all of the rest.
  const seen: { -readonly [Member in keyof Seen]: Seen[Member] } = {
    handle: element.handle,
    role: landmarkOf(kind, attributes) ?? colorWellOf(reading) ?? kind.role,
    name,
    weakName,
    value,
    description: description && !isDrawnValue(reading) ? wordsOf(origin, description) : undefined,
    hint: binding ? shortcutOf(binding) : undefined,
    states: shownStates,
    bounds: extents && onScreen(extents, origin),
    clickPoint: extents && clickPointOf(extents, origin, kind),
    disclosure: extents && disclosureOf(extents, reading),
    actions,
    address: refKey(ref),
    // Pages report it as an attribute, other toolkits hardly ever: it is not worth an extra question.
    identifier: attributes?.get("id") || undefined,
    index: element.index,
  }
  if (answers.valueLength !== undefined) seen.valueLength = answers.valueLength
  if (extents && !origin.shift && !isEmpty(extents)) seen.isPlaceless = true
  if (origin.isNative && kind.role === "combobox") seen.listIsPlaceless = true
  if (isDropDown(element, kind)) seen.isDropDown = true
  if (isRecycled(element, kind)) seen.isRecycled = true
  if (isTextBox(reading)) seen.holdsText = true
  if (sheetCell === "typed over") seen.isTypedOver = true
  const editor = editedBy(reading, name)
  if (editor) seen.editedBy = editor
  if (answers.date) seen.date = datePartsOf(element, facts, answers.date)
  if (origin.traits.itemsNeedOpenMenu && kind.role === "menuitem") seen.needsOpenMenu = true
  if (origin.traits.tellsLate) seen.tellsLate = origin.traits.tellsLate
  const placeholder = attributes?.get("placeholder-text") ?? attributes?.get("placeholder")
  return settle(seen, cleanName(tooltip ?? text ?? placeholder ?? ""), reading, inside)
}

/** A list of LibreOffice is in a box with a hidden field, a hidden combo box without items, and the button that shows. */
const isDropDown = ({ origin, parent }: Element, { native }: Kind): boolean =>
  origin.traits.dropDownsAreButtons === true &&
  native === ROLE.TOGGLE_BUTTON &&
  parent?.role === ROLE.FILLER &&
  parent.size === 3

/** True for a box on a page that is named by its text. */
const isTextBox = ({ element, kind, name, answers }: Reading): boolean =>
  element.origin.traits.structureHoldsText === true &&
  (kind.role === "group" || kind.role === "paragraph") &&
  name === undefined &&
  Boolean(answers.text)

/** A cell that is a check mark has no text to edit. */
function editedBy({ element, facts, kind }: Reading, name: string | undefined): Seen["editedBy"] {
  const { cellsAreEditedBy } = element.origin.traits
  if (!cellsAreEditedBy || !EDITED.has(kind.native) || !IN_VIEWS.has(element.parentRole)) return undefined
  const isMark = has(facts.states, STATE.CHECKABLE) && !name
  const isText = cellsAreEditedBy === "F2" || (facts.interfaces & INTERFACE.Text) !== 0
  return isText && !isMark ? cellsAreEditedBy : undefined
}

const EDITED: ReadonlySet<number> = new Set([ROLE.TABLE_CELL, ROLE.TREE_ITEM, ROLE.LIST_ITEM])

/** A check mark that was correct when the menu was last open. */
const isOldMark = ({ element, kind, facts }: Reading, state: State): boolean =>
  element.origin.traits.closedItemsKeepMarks === true &&
  kind.role === "menuitem" &&
  !has(facts.states, STATE.SHOWING) &&
  (state === "checked" || state === "unchecked")

/** Drops answers to questions that were asked only because the number of its parts was unknown. */
function withoutIdle(reading: Reading): Pick<Answers, "description" | "extents"> {
  const { facts, answers, options } = reading
  if (!mayBeDrawn(reading)) return answers
  const extents = options.bounds === "all" ? answers.extents : facts.extents
  return { description: facts.description, extents }
}

/** A number with its unit, such as "2.0 s", is not the name of a slider. A label beside it may be. */
function isDrawnValue({ element, kind, answers }: Reading): boolean {
  if (!element.origin.traits.slidersDescribeTheirValue || kind.role !== "slider") return false
  const drawn = Number.parseFloat(answers.description ?? "")
  return Math.abs(drawn - Number(answers.value)) < 1
}

function colorWellOf({ element, kind, answers }: Reading): Role | undefined {
  const { colorButton } = element.origin.traits
  return kind.role === "button" && colorButton !== undefined && answers.holder === colorButton
    ? "colorwell"
    : undefined
}

function datePartsOf(
  { ref, origin }: Element,
  { role, states }: Facts,
  { kind, parts }: DateField,
): Seen["date"] {
  const parent = { ref, role, states, size: -1 }
  return {
    kind,
    parts: parts.map(({ part, ref: own, shown }) => ({
      part,
      handle: new Element(own, origin, parent).handle,
      shown,
    })),
  }
}

/** An element that shows is not inside one that is scrolled out of view. */
function sightIn({ element, kind, facts, sight, answers }: Reading, inside: readonly SeenNode[]): Sight {
  const { origin } = element
  const { extents } = answers
  // For an element that is read alone, only the answers show that it has no room.
  if (origin.traits.lacksShowing)
    return isShowing(origin, { role: kind.native, states: facts.states, extents }) ? sight : "hidden"
  return sight === "offscreen" && inside.some(isInView) ? "shown" : sight
}

const isInView = ({ states }: SeenNode): boolean =>
  !states.includes("offscreen") && !states.includes("hidden")

/** The title of the frame around a field that has no other name, or its tool tip. */
function weakNameOf({ element, kind, name, answers }: Reading): string | undefined {
  const { holder, label, value, description } = answers
  if (!element.origin.traits.framesNameFields || !FRAMED.has(kind.role) || label !== undefined)
    return undefined
  const title = cleanName(holder ?? "")
  const tip = description === undefined ? undefined : wordsOf(element.origin, description)
  if (kind.role !== "combobox") return name === undefined ? tip : name === title ? title : undefined
  // Its name may be its choice, which no other answer has.
  return name !== title || value !== undefined ? (title ?? tip) : undefined
}

/** A combo box may report its value as its name; then its label names it. */
function nameAndValue({ element, kind, name, answers }: Reading): Pick<Seen, "name" | "value"> {
  const { label, text, date } = answers
  const held = date ? formatDate(date.kind, date.filled) : answers.value
  const isCombo = kind.role === "combobox"
  const isHeld = isCombo && element.origin.traits.comboNameIsValue && name !== label
  // The lines of a page are worth more than a name of one line.
  const page = kind.native === ROLE.PAGE ? text : undefined
  const beside =
    name !== undefined && kind.role !== "cell" && text && cleanName(text) !== name ? text : undefined
  // A page may name a cell by the title of its column. Then the text is the value, unless it only consists of parts.
  const isLabelled = kind.native === ROLE.TABLE_CELL && name !== undefined && cleanName(text ?? "") !== name
  const content = isLabelled ? cleanName(text ?? "") : undefined
  const value = held ?? page ?? content ?? (isHeld ? name : undefined) ?? beside
  if (page) return { name, value }
  const isNamedByValue = isCombo && name !== undefined && name === value
  return { name: isNamedByValue ? label : (name ?? label ?? cleanName(text ?? "")), value }
}

/** True for a row whose object the toolkit may replace, or give to another row. */
function isRecycled({ origin, parent }: Element, { role, native }: Kind): boolean {
  const { rowsAreRecycled } = origin.traits
  if (rowsAreRecycled === "always") return hasTrait(role, "item") || native === ROLE.LIST_ITEM
  if (!parent) return false
  if (rowsAreRecycled === "in item views") return ITEM_VIEWS.has(parent.role)
  // The rows of GTK 3's list box are widgets.
  return has(parent.states, STATE.MANAGES_DESCENDANTS) && parent.role !== ROLE.LIST_BOX
}

const ITEM_VIEWS: ReadonlySet<number> = new Set([ROLE.LIST, ROLE.TABLE, ROLE.TREE, ROLE.TREE_TABLE])

/** Roles that the parent of an edited cell may have. A cell with several parts is a cell around cells. */
const IN_VIEWS: ReadonlySet<number> = new Set([...ITEM_VIEWS, ROLE.TABLE_CELL])

/** Extents in pixels of the screen. undefined: the element is not on it. */
export function onScreen(extents: Rect, { shift }: Origin): Rect | undefined {
  // For an element without a place, GTK 3 reports the smallest integer, and Qt a negative size.
  if (!shift || extents.x <= -0x7ffffff0 || extents.width < 0 || extents.height < 0) return undefined
  return { x: extents.x + shift.x, y: extents.y + shift.y, width: extents.width, height: extents.height }
}

/** The point to click, if it is not the middle. */
function clickPointOf(extents: Rect, origin: Origin, { native }: Kind): Seen["clickPoint"] {
  if (!origin.traits.boxesHearTheirTextOnly || !BOXES.has(native)) return undefined
  const bounds = onScreen(extents, origin)
  if (!bounds) return undefined
  const { x, y, width, height } = bounds
  return { x: Math.floor(x + Math.min(width, height) / 2), y: Math.floor(y + height / 2) }
}

const BOXES: ReadonlySet<number> = new Set([ROLE.CHECK_BOX, ROLE.RADIO_BUTTON])

function disclosureOf(extents: Rect, { element, facts, kind }: Reading): Seen["disclosure"] {
  const { traits } = element.origin
  if (!has(facts.states, STATE.EXPANDABLE) || !traits.disclosure) return undefined
  const bounds = onScreen(extents, element.origin)
  if (!bounds) return undefined
  const y = Math.floor(bounds.y + bounds.height / 2)
  switch (traits.disclosure) {
    case "indentation":
      return kind.role === "treeitem" ? { x: bounds.x - ARROW, y } : undefined
    case "start of a toggle button":
      return kind.native === ROLE.TOGGLE_BUTTON ? { x: bounds.x + ARROW, y } : undefined
    case "arrow keys":
      return kind.role === "treeitem" || kind.role === "row" ? "arrow keys" : undefined
    default:
      return traits.disclosure satisfies never
  }
}

/** The distance from the edge at which a click hits the arrow in every style. */
const ARROW = 6

/** The kind of a page's landmark, in the page's own words. */
function landmarkOf(kind: Kind, attributes: Answers["attributes"]): Role | undefined {
  const word = kind.native === ROLE.LANDMARK ? attributes?.get("xml-roles") : undefined
  return word !== undefined && isRole(word) && !hasTrait(word, "interactive") ? word : undefined
}
