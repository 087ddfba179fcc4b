import { wantsDetails } from "../../describe/draft.ts"
import { hasTrait, type Role } from "../../node.ts"
import { isCut } from "../../shown-text.ts"
import { isInteractive } from "../../tree.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { ClassFacts } from "./class-facts.ts"
import type { Element, Parent } from "./element.ts"
import { cleanName, type Expect, hasValue, isClassName, mayHaveValue, readText, readValue } from "./names.ts"
import {
  type Answers,
  actionsIn,
  isGridCell,
  isShape,
  mayBeCanvas,
  mayBeDrawn,
  type Reading,
} from "./reading.ts"
import { type Kind, ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** A question to one object beyond its facts. Most objects are asked none. */
interface Question<Key extends keyof Answers> {
  readonly key: Key
  /** The roles that the question makes sense for. Absent: all. */
  of?(role: Role): boolean
  when(reading: Reading): boolean
  ask(atspi: Atspi, reading: Reading, expect: Expect): Promise<Answers[Key]>
}

type AnyQuestion = { [Key in keyof Answers]-?: Question<Key> }[keyof Answers]

/**
 * Asks everything that the kind of the object calls for, all at once, and puts the answers into the reading.
 * undefined: there is nothing to ask.
 */
export function askAll(atspi: Atspi, reading: Reading, expect: Expect): Promise<unknown> | undefined {
  const asked: Promise<void>[] = []
  for (const question of questionsOf(reading.kind.role))
    if (question.when(reading)) asked.push(put(question, atspi, reading, expect))
  if (asked.length === 0) return undefined
  return Promise.all(asked).then(() =>
    Promise.all([
      LAST.when(reading) ? put(LAST, atspi, reading, expect) : undefined,
      LENGTH.when(reading) ? put(LENGTH, atspi, reading, expect) : undefined,
    ]),
  )
}

function put<Key extends keyof Answers>(
  question: Question<Key>,
  atspi: Atspi,
  reading: Reading,
  expect: Expect,
): Promise<void> {
  return expect(question.ask(atspi, reading, expect)).then((answer) => {
    reading.answers[question.key] = answer
  })
}

/** A tree has thousands of objects and a dozen roles. */
const byRole = new Map<Role, readonly AnyQuestion[]>()

function questionsOf(role: Role): readonly AnyQuestion[] {
  const known = byRole.get(role)
  if (known) return known
  const questions = QUESTIONS.filter((question) => question.of?.(role) ?? true)
  byRole.set(role, questions)
  return questions
}

const isInteractiveRole = (role: Role): boolean => hasTrait(role, "interactive")

const QUESTIONS: readonly AnyQuestion[] = [
  {
    key: "offers",
    of: (role) => !isInteractiveRole(role) || role === "cell",
    when: (reading) => (reading.kind.role === "cell" ? mayBeCheckCell(reading) : mayAct(reading)),
    ask: (atspi, { element, kind }) =>
      kind.role === "cell" ? offersOfCell(atspi, element) : offersOf(atspi, element),
  },
  {
    key: "value",
    of: mayHaveValue,
    when: (reading) => hasValue(reading.kind, reading.facts) && isDetailed(reading),
    ask: (atspi, { element, kind, facts }, expect) =>
      readValue(atspi, element.ref, kind, facts, expect, element.origin.traits.editableTextIsIgnored),
  },
  {
    key: "value",
    of: (role) => role === "textfield",
    when: ({ facts }) => has(facts.states, STATE.DEFUNCT),
    ask: async (atspi, { element }) => {
      const paragraphs = await atspi.children(element.ref)
      return (await Promise.all(paragraphs.map((ref) => readText(atspi, ref)))).join("\n")
    },
  },
  {
    key: "label",
    of: (role) => LABELLED.has(role),
    when: ({ kind, name }) => name === undefined || kind.role === "combobox",
    ask: (atspi, { element }, expect) => labelOf(atspi, element, expect),
  },
  {
    key: "description",
    of: (role) => isInteractiveRole(role) || role === "image" || role === "group",
    when: (reading) => {
      if (reading.facts.description !== undefined) return false
      return (
        mayBeDrawn(reading) || (reading.kind.role !== "group" && mayDescribe(reading) && isDetailed(reading))
      )
    },
    ask: (atspi, { element }) => atspi.description(element.ref),
  },
  {
    key: "extents",
    when: (reading) =>
      !reading.facts.extents &&
      (reading.isInteractive ||
        mayBeDrawn(reading) ||
        mayBeCanvas(reading) ||
        isShape(reading) ||
        reading.options.bounds === "all") &&
      can(reading, INTERFACE.Component),
    ask: askExtents,
  },
  {
    key: "binding",
    of: (role) => role === "menuitem",
    when: hasShortcut,
    ask: (atspi, { element }) => atspi.keyBinding(element.ref, 0),
  },
  {
    key: "text",
    when: (reading) =>
      holdsText(reading) ||
      isNamelessText(reading) ||
      isGridCell(reading.element.origin, reading.kind, reading.facts),
    ask: (atspi, { element }) => readText(atspi, element.ref),
  },
  {
    key: "tooltip",
    of: (role) => role === "button" || role === "menubutton",
    when: (reading) => reading.name === undefined && toolItemOf(reading) !== undefined,
    ask: async (atspi, reading) => {
      const item = toolItemOf(reading)
      return item && atspi.description(item.ref)
    },
  },
  {
    key: "attributes",
    of: (role) => role === "region" || role === "textfield" || role === "group",
    when: (reading) => {
      const { kind, name } = reading
      if (kind.role === "group") return mayBeDraggable(reading)
      return kind.native === ROLE.LANDMARK || (kind.role === "textfield" && name === undefined)
    },
    ask: (atspi, { element }) => atspi.attributes(element.ref),
  },
  {
    key: "date",
    of: (role) => role === "datefield",
    when: (reading) => can(reading, INTERFACE.Text),
    ask: async (atspi, { element }, expect) => {
      const { readDate } = await import("./dates.ts")
      return readDate(atspi, element.ref, expect)
    },
  },
  {
    key: "isOpen",
    of: (role) => role === "combobox",
    when: ({ element, facts }) =>
      element.origin.traits.comboListTells === true && !has(facts.states, STATE.EXPANDABLE),
    ask: (atspi, { element }, expect) => isListShown(atspi, element.ref, expect),
  },
  {
    key: "holder",
    of: (role) => role === "button" || FRAMED.has(role),
    when: ({ element, kind, name }) => {
      const { traits } = element.origin
      if (FRAMED.has(kind.role)) return traits.framesNameFields === true && element.parentRole === ROLE.PANEL
      return name === undefined && traits.colorButton !== undefined && element.parent?.size === 1
    },
    ask: async (atspi, { element: { parent } }) => parent && atspi.name(parent.ref),
  },
  {
    key: "parts",
    of: (role) => role === "group" || role === "grid",
    when: (reading) => reading.facts.childCount < 0 && mayBeCanvas(reading),
    ask: (atspi, { element }) => atspi.childCount(element.ref),
  },
]

/** The answer that makes an object interactive comes late, and only then are its bounds needed as evidence. */
const LAST: Question<"extents"> = {
  key: "extents",
  when: (reading) => {
    const { kind, answers } = reading
    if ((!answers.offers && !answers.attributes) || answers.extents || !can(reading, INTERFACE.Component))
      return false
    return isInteractive({ role: kind.role, actions: actionsIn(reading) })
  },
  ask: askExtents,
}

/** The length of a text that was cut. */
const LENGTH: Question<"valueLength"> = {
  key: "valueLength",
  when: (reading) =>
    isCut(reading.answers.value ?? reading.answers.text ?? "") && can(reading, INTERFACE.Text),
  ask: (atspi, { element }) => atspi.characterCount(element.ref),
}

/** True for a cell that holds neither text nor a picture: its first action shows whether it holds a check mark. */
const mayBeCheckCell = (reading: Reading): boolean =>
  reading.element.origin.traits.checkCellsToggle === true &&
  reading.kind.native === ROLE.TABLE_CELL &&
  can(reading, INTERFACE.Action) &&
  !can(reading, INTERFACE.Text) &&
  !can(reading, INTERFACE.Image)

/** True for a page's panel that may be one only because it can be dragged; its attributes decide. */
const mayBeDraggable = ({ element, kind, facts }: Reading): boolean =>
  element.origin.traits.draggablesArePanels === true &&
  kind.native === ROLE.PANEL &&
  !has(facts.states, STATE.HAS_POPUP)

const can = ({ facts }: Reading, bit: number): boolean => (facts.interfaces & bit) !== 0

function askExtents(atspi: Atspi, { element }: Reading): Promise<Answers["extents"]> {
  return atspi.extents(element.ref, element.origin.traits.coordinates)
}

const isDetailed = (reading: Reading): boolean => wantsDetails(reading.options, mayAct(reading))

function mayAct(reading: Reading): boolean {
  if (reading.isInteractive) return true
  return can(reading, INTERFACE.Action) && mayOffer(reading.element.origin.traits, reading.kind)
}

/** True if an object that is not interactive by role is asked for its actions. */
export function mayOffer({ asksForActions }: Traits, { native, role }: Kind): boolean {
  if (role === "separator" || role === "scrollbar" || role === "window" || role === "application")
    return false
  switch (asksForActions) {
    case "nowhere":
      return false
    case "of labels":
      return native === ROLE.LABEL || native === ROLE.IMAGE || role === "columnheader"
    case "of page content":
      return CLICKABLE_CONTENT.has(role)
    case undefined:
      return true
    default:
      return asksForActions satisfies never
  }
}

/** Elements that web pages attach click handlers to. A text only passes clicks on. */
const CLICKABLE_CONTENT: ReadonlySet<Role> = new Set([
  "group",
  "datefield",
  "image",
  "row",
  "columnheader",
  "heading",
  "paragraph",
])

export function offersOf(atspi: Atspi, { ref, origin }: Element): Promise<readonly string[]> {
  if (!origin.traits.firstActionTells) return atspi.actionNames(ref)
  return atspi.actionName(ref, 0).then((name) => [name])
}

async function offersOfCell(atspi: Atspi, element: Element): Promise<readonly string[]> {
  const classes = element.origin.traits.classesTell && ClassFacts.of(atspi.bus)
  // Nothing else that it offers matters beside it.
  if (classes?.hasToggle(element.ref)) return TOGGLE
  const offers = await offersOf(atspi, element)
  if (offers.includes("toggle")) classes?.learnToggle(element.ref)
  return offers
}

const TOGGLE: readonly string[] = ["toggle"]

/** Many rows are alike, and rarely have more than their text. */
const mayDescribe = ({ kind, name }: Reading): boolean => name === undefined || !hasTrait(kind.role, "item")

/** True for an item that does something, instead of opening a menu. */
function hasShortcut(reading: Reading): boolean {
  const { element, kind } = reading
  if (kind.native === ROLE.MENU || !element.origin.traits.menuItemsHaveShortcuts) return false
  return can(reading, INTERFACE.Action)
}

/** True for a part of a page that holds text without an object for it. */
function holdsText(reading: Reading): boolean {
  const { element, kind, facts, name } = reading
  if (!element.origin.traits.structureHoldsText) return false
  if (name !== undefined && !NAMED_HOLDERS.has(kind.native) && !NAMED_PARTS.has(kind.role)) return false
  if (kind.native === ROLE.PASSWORD_TEXT || kind.role === "webarea") return false
  return can(reading, INTERFACE.Text) && !hasValue(kind, facts)
}

/** Parts of a page that have a name beside their text: the page of a tab, or a cell that is named by its column. */
const NAMED_HOLDERS: ReadonlySet<number> = new Set([
  ROLE.PANEL,
  ROLE.SCROLL_PANE,
  ROLE.SECTION,
  ROLE.TABLE_CELL,
])

/** Parts of a page that are never named by their text. The name of one is its author's, beside any text in it. */
const NAMED_PARTS: ReadonlySet<Role> = new Set([
  "alert",
  "alertdialog",
  "article",
  "blockquote",
  "dialog",
  "embedded",
  "figure",
  "form",
  "list",
  "note",
  "region",
  "status",
  "toolbar",
])

/** True for a text whose content is not its name: in LibreOffice's status bar, and document pages in Evince. */
function isNamelessText(reading: Reading): boolean {
  const { kind, facts, name, options } = reading
  if (name !== undefined || options.interactiveOnly || !NAMELESS_TEXTS.has(kind.native)) return false
  return can(reading, INTERFACE.Text) && !hasValue(kind, facts)
}

const NAMELESS_TEXTS: ReadonlySet<number> = new Set([
  ROLE.HEADING,
  ROLE.LABEL,
  ROLE.PAGE,
  ROLE.PARAGRAPH,
  ROLE.STATIC,
  ROLE.TEXT,
])

/** The item around a tool button, which has its tooltip. */
function toolItemOf({ element }: Reading): Parent | undefined {
  const { parent, origin } = element
  if (!origin.traits.toolItemHasTooltip) return undefined
  return parent?.role === ROLE.PANEL && parent.size === 1 ? parent : undefined
}

/** undefined: the list of a combo box is not where it is expected. */
async function isListShown(atspi: Atspi, ref: Ref, expect: Expect): Promise<boolean | undefined> {
  const list = await expect(atspi.childAt(ref, 0))
  const [role, states] = list ? await Promise.all([expect(atspi.role(list)), expect(atspi.states(list))]) : []
  return role === ROLE.MENU && states !== undefined ? has(states, STATE.SHOWING) : undefined
}

/** ATSPI_RELATION_LABELLED_BY */
const LABELLED_BY = 2

const LABELLED: ReadonlySet<Role> = new Set([
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

/** Fields that may be named by the title of the frame around them. */
export const FRAMED: ReadonlySet<Role> = new Set([
  "combobox",
  "datefield",
  "incrementor",
  "slider",
  "textfield",
  "timefield",
])

async function labelOf(
  atspi: Atspi,
  { ref, parent, origin }: Element,
  expect: Expect,
): Promise<string | undefined> {
  const relations = await expect(atspi.relations(ref))
  const frame = origin.traits.framesNameFields && parent ? refKey(parent.ref) : undefined
  const labels = relations
    ?.filter(({ type }) => type === LABELLED_BY)
    .map(({ targets }) => targets.filter((label) => refKey(label) !== frame))
    .find((targets) => targets.length > 0)
  const names = await Promise.all((labels ?? []).slice(0, 5).map((label) => expect(atspi.name(label))))
  return cleanName(names.filter((name) => name && !isClassName(name)).join(" "))
}
