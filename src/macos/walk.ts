import { MAX_NODES, type Seen, type SeenNode, type TreeOptions } from "../adapter.ts"
import { type Draft, depthBelow, describeTree, isWithin, newBelow, wantsDetails } from "../describe/draft.ts"
import { nameByLayout } from "../describe/layout.ts"
import { AppError } from "../errors.ts"
import { hasTrait, isRow, type Rect, type Role } from "../node.ts"
import { intersection, isEmpty } from "../rect.ts"
import { isInPage } from "./ancestors.ts"
import { FRAME, STRUCTURE, WEB_STRUCTURE } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { describe, elementOf } from "./describe.ts"
import {
  Failure,
  ILLEGAL_ARGUMENT,
  INVALID_ELEMENT,
  isAbsent,
  isUnread,
  NO_VALUE,
  readFailed,
} from "./failure.ts"
import { Habits } from "./habits.ts"
import { nameOf } from "./names.ts"
import {
  type Facts,
  inspect,
  isNamedInside,
  isSeeThrough,
  type Labelled,
  labelOf,
  placeOf,
  type Reading,
  readLabel,
  readLabels,
} from "./reading.ts"
import { type Attributes, asElement, asElements, asFlag, asText, type Element, frameOf } from "./value.ts"

interface Walked {
  readonly root: SeenNode
  /** false: an answer is missing, or the time or the limit of nodes was met. */
  readonly complete: boolean
}

/** Reads the tree below an element. `area` is the frame of its window, outside of which nothing shows. */
export async function walkTree(
  ax: Ax,
  root: Element,
  area: Rect | undefined,
  options: TreeOptions,
): Promise<Walked> {
  const collector = new Collector(ax, options)
  const draft = await collector.collect(root, area)
  const described = describeTree(draft, describe)
  const tree = await nameByLayout(described, ({ handle }) => placeOf(ax, elementOf(handle)))
  return { root: tree, complete: collector.isComplete }
}

/** Reads one element by the same rules. undefined: the element is gone. */
export function walkElement(ax: Ax, element: Element, index?: number): Seen | undefined {
  const structure = ax.read(element, [...WEB_STRUCTURE, "AXTopLevelUIElement"])
  if (structure instanceof Failure) {
    if (structure.code === INVALID_ELEMENT) return undefined
    throw readFailed("The element", structure.code)
  }
  const window = asElement(structure.AXTopLevelUIElement)
  const frame = window && ax.read(window, [FRAME])
  const facts = inspect(ax, element, structure, { web: true, bounds: "all", values: true })
  if (facts instanceof Failure) return undefined
  const label = labelOf(facts)
  return describe({
    facts,
    area: frame instanceof Failure ? undefined : frame && frameOf(frame),
    index,
    isInPage: isPartOfPage(ax, facts),
    label: label && readLabel(ax, label),
    inside: isNamedInside(facts) ? readLabels(ax, asElements(structure.AXChildren)) : [],
  })
}

/** Browsers may lack the attribute. Fields are checked by their ancestors, too: their text in a page proves nothing. */
function isPartOfPage(ax: Ax, { element, role, attributes }: Facts): boolean {
  if (asText(attributes.AXDOMIdentifier) !== undefined) return true
  return hasTrait(role, "typable") && isInPage(ax, element) !== false
}

/** Of a longer list only the visible part is read. */
export const LONG_LIST = 100
/** The longest time for which the walk keeps other work waiting. */
const TURN_MS = 30

/** One element of a tree that is being read. */
class ElementDraft implements Draft<ElementDraft>, Reading, Labelled {
  readonly facts: Facts
  readonly parent: ElementDraft | undefined
  readonly index: number | undefined
  readonly area: Rect | undefined
  /** All children, visible or not. */
  readonly kids: Children
  readonly level: number
  readonly depth: number
  /** The depth of its children. */
  readonly below: number
  readonly isInPage: boolean
  /** True inside a dialog. The caller has to know the whole message before it answers. */
  readonly isInMessage: boolean
  readonly children: ElementDraft[] = []
  readonly isCut = false
  /** Some children are missing from `children`. */
  isPartial = false
  isExpanded = false
  label: Labelled | undefined
  inside: readonly Labelled[] = []

  constructor(facts: Facts, kids: Children, place: DraftPlace) {
    const { parent, index, area } = place
    this.facts = facts
    this.kids = kids
    this.parent = parent
    this.index = index
    // An overlay may show outside of its window.
    this.area = parent && !OVERLAYS.has(facts.role) ? parent.view : area
    this.level = parent ? parent.level + 1 : 0
    this.depth = parent ? parent.below : 0
    this.below = depthBelow(this, { role: facts.role, name: nameOf(facts.attributes, {}) })
    this.isInPage = isBelowPage(parent)
    this.isInMessage = parent?.isInMessage === true || hasTrait(facts.role, "dialog")
  }

  /** The part of the screen in which its content can show. */
  get view(): Rect | undefined {
    const frame = this.role === "scrollarea" ? frameOf(this.attributes) : undefined
    if (!frame || isEmpty(frame)) return this.area
    return this.area ? intersection(frame, this.area) : frame
  }

  get key(): Element {
    return this.facts.element
  }

  get role(): Role {
    return this.facts.role
  }

  get attributes(): Attributes {
    return this.facts.attributes
  }

  get parts(): readonly ElementDraft[] {
    return this.children
  }

  get count(): number | undefined {
    return this.isPartial ? this.kids.elements.length : undefined
  }
}

interface DraftPlace {
  readonly parent?: ElementDraft
  readonly index?: number
  readonly area?: Rect
}

const isBelowPage = (parent: ElementDraft | undefined): boolean =>
  parent !== undefined && (parent.isInPage || parent.role === "webarea")

const OVERLAYS: ReadonlySet<Role> = new Set(["dialog", "drawer", "menu", "popover", "sheet", "tooltip"])

/**
 * Asks the app for a tree, level by level: if the time ends early, the upper levels are whole. One round trip reads an
 * element and lists its children. An element with a value takes a second one.
 */
class Collector {
  isComplete = true
  readonly #ax: Ax
  readonly #options: TreeOptions
  readonly #habits = new Habits()
  readonly #drafts = new Map<Element, ElementDraft>()

  constructor(ax: Ax, options: TreeOptions) {
    this.#ax = ax
    this.#options = options
  }

  async collect(root: Element, area: Rect | undefined): Promise<ElementDraft> {
    const first = this.#read(root, { area })
    if (first instanceof Failure) throw readFailed("The surface", first.code)
    const queue = [first]
    let turn = performance.now()
    for (let at = 0; at < queue.length; at++) {
      if (performance.now() - turn > TURN_MS) {
        await new Promise((resolve) => setImmediate(resolve))
        turn = performance.now()
      }
      if (!this.#expand(queue[at]!, queue)) break
    }
    for (const draft of queue) {
      if (draft.isExpanded) continue
      draft.isPartial = draft.kids.elements.length > draft.children.length
      this.isComplete &&= !draft.isPartial
    }
    this.#readNames(first)
    return first
  }

  /** Reads the children of an element; false if the walk has to end here. */
  #expand(draft: ElementDraft, queue: ElementDraft[]): boolean {
    try {
      if (isWithin(draft.below, draft, this.#options)) {
        for (const [element, index] of this.#showing(draft)) {
          if (queue.length >= MAX_NODES) return false
          this.#add(element, { parent: draft, index }, queue)
        }
      } else {
        draft.isPartial = draft.kids.elements.length > 0
      }
      draft.isExpanded = true
      return true
    } catch (error) {
      // The part that was read is worth more than the reason for its end.
      if (isEnd(error)) return false
      throw error
    }
  }

  #add(element: Element, place: DraftPlace & { readonly parent: ElementDraft }, queue: ElementDraft[]): void {
    const child = this.#read(element, place)
    if (child instanceof Failure) {
      // A child that went away during the walk is not a child any more; one that could not be read is missing.
      this.isComplete &&= child.code === INVALID_ELEMENT
      return
    }
    if (asFlag(child.attributes.AXHidden) && !this.#options.includeHidden) return
    place.parent.children.push(child)
    queue.push(child)
  }

  #read(element: Element, place: DraftPlace): ElementDraft | Failure {
    const { parent } = place
    const web = isBelowPage(parent)
    const structure = this.#ax.read(element, web ? WEB_STRUCTURE : STRUCTURE)
    if (structure instanceof Failure) return structure
    const needsText = parent !== undefined && (isLabelPlace(parent) || parent.isInMessage)
    const values = wantsDetails(this.#options, needsText)
    const { bounds } = this.#options
    const facts = inspect(this.#ax, element, structure, { web, bounds, values, habits: this.#habits })
    if (facts instanceof Failure) return facts
    const kids = childrenOf(this.#ax, facts, (look) => this.#habits.childrenElsewhere(facts.role, web, look))
    if (facts.partial || kids.unread) this.isComplete = false
    const draft = new ElementDraft(facts, kids, place)
    this.#drafts.set(element, draft)
    return draft
  }

  /** The children to read, each with its index among all of them. */
  #showing(draft: ElementDraft): readonly (readonly [element: Element, index: number])[] {
    const { kids, role, attributes } = draft
    const { includeHidden } = this.#options
    // The menu of a closed item is there, but not on the screen.
    if (!includeHidden && role === "menuitem" && asFlag(attributes.AXSelected) === false) return []
    const isNew = newBelow<ElementDraft, Element>(draft)
    const all = kids.elements
      .map((element, i) => [element, kids.offset + i] as const)
      .filter(([element]) => isNew(element))
    const visible = new Set(includeHidden || kids.elements.length <= LONG_LIST ? [] : this.#visible(draft))
    if (visible.size === 0) return all
    draft.isPartial = true
    return all.filter(([element]) => visible.has(element))
  }

  #visible({ key, role }: ElementDraft): readonly Element[] {
    const attribute = VISIBLE[role]
    const answer = attribute ? this.#ax.read(key, [attribute, "AXHeader"]) : undefined
    if (!attribute || !answer || answer instanceof Failure) return []
    const rows = asElements(answer[attribute])
    const header = asElement(answer.AXHeader)
    return header && rows.length > 0 ? [header, ...rows] : rows
  }

  /** The last questions: labels that are not part of the tree. */
  #readNames(draft: ElementDraft): void {
    for (const child of draft.children) this.#readNames(child)
    const { facts, children, kids } = draft
    const label = labelOf(facts)
    draft.label =
      label && (this.#readInTree(label) ?? this.#late(() => readLabel(this.#ax, label), undefined))
    if (!isNamedInside(facts)) return
    draft.inside = children.length > 0 ? children : this.#late(() => readLabels(this.#ax, kids.elements), [])
  }

  /** The element, if it is part of the tree and its text was read. */
  #readInTree(element: Element): Labelled | undefined {
    const known = this.#drafts.get(element)
    return known && (known.role !== "statictext" || "AXValue" in known.attributes) ? known : undefined
  }

  /** Reads if there is still time. Otherwise the tree is incomplete. */
  #late<T>(read: () => T, otherwise: T): T {
    try {
      return read()
    } catch (error) {
      if (!isEnd(error)) throw error
      this.isComplete = false
      return otherwise
    }
  }
}

/** The attribute of a long list that has its visible part. */
const VISIBLE: Readonly<Record<string, string | undefined>> = {
  grid: "AXVisibleChildren",
  list: "AXVisibleChildren",
  outline: "AXVisibleRows",
  table: "AXVisibleRows",
}

/** True if a text at this place is needed: it names its container, or distinguishes one row from the next. */
function isLabelPlace({ facts, parent }: ElementDraft): boolean {
  return usesTexts(facts) || (isSeeThrough(facts.role) && parent !== undefined && usesTexts(parent.facts))
}

function usesTexts(facts: Facts): boolean {
  return isNamedInside(facts) || isRow(facts)
}

function isEnd(error: unknown): boolean {
  return error instanceof AppError && (error.code === "TIMEOUT" || error.code === "APP_UNRESPONSIVE")
}

/** The attributes that list children. The index of a child in a path adds STRIDE for each attribute before its own. */
const SOURCES = ["AXChildren", "AXColumns", "AXContents", "AXChildrenInNavigationOrder", "AXRows"] as const
const STRIDE = 1 << 20
/** The index of the first row in a path, counted in AXRows. */
export const ROWS_OFFSET = SOURCES.indexOf("AXRows") * STRIDE
const ALL = STRIDE

export interface Children {
  readonly elements: readonly Element[]
  /** The index of the first one in a path. */
  readonly offset: number
  /** They could not be read. */
  readonly unread: boolean
}

const NONE: Children = { elements: [], offset: 0, unread: false }

/** Roles that hardly ever have no children. */
const CONTAINERS: ReadonlySet<Role> = new Set([
  "browser",
  "grid",
  "group",
  "list",
  "outline",
  "scrollarea",
  "splitter",
  "table",
  "tablist",
  "toolbar",
  "unknown",
  "webarea",
  "window",
])

/** The children in the structure of an element. If it should have some and has none, a second question follows. */
function childrenOf(ax: Ax, { element, role, attributes: { AXChildren } }: Facts, ask: Ask): Children {
  const elements = asElements(AXChildren)
  if (elements.length > 0 && role !== "browser") return { elements, offset: 0, unread: false }
  if (AXChildren instanceof Failure && AXChildren.code !== NO_VALUE) {
    // Some apps refuse the whole list and give it in parts. Most elements without the attribute have no children.
    const parts = isUnread(AXChildren) || CONTAINERS.has(role) ? inParts(ax, element) : NONE
    if (parts.elements.length > 0 || parts.unread) return parts
  }
  const other = CONTAINERS.has(role) ? ask(() => elsewhere(ax, element, role)) : undefined
  return other ?? { ...NONE, elements }
}

/** Asks for children in other attributes, unless elements of the same kind had none there. */
type Ask = (look: () => Children | undefined) => Children | undefined

function inParts(ax: Ax, element: Element): Children {
  const elements = ax.some(element, SOURCES[0], 0, ALL)
  if (!(elements instanceof Failure)) return { ...NONE, elements }
  // Apps answer a question for a part of an empty list with an illegal argument.
  return { ...NONE, unread: !isAbsent(elements) && elements.code !== ILLEGAL_ARGUMENT }
}

/** The children that an app has only in another attribute; undefined if there are none. */
function elsewhere(ax: Ax, element: Element, role: Role): Children | undefined {
  const sources = ELSEWHERE[role] ?? OTHERS
  const read = ax.read(
    element,
    sources.map((source) => SOURCES[source]),
  )
  if (read instanceof Failure) return undefined
  for (const source of sources) {
    const elements = asElements(read[SOURCES[source]])
    if (elements.length > 0) return { elements, offset: source * STRIDE, unread: false }
  }
  return undefined
}

/** Other attributes with children, by their place in SOURCES, the best first. */
const OTHERS = [3, 2] as const
const ELSEWHERE: Readonly<Record<string, readonly (1 | 2 | 3 | 4)[] | undefined>> = {
  browser: [1, 3, 2],
  outline: [4, 3, 2],
  table: [4, 3, 2],
}

/** Reads the child at an index of a path, in one call. undefined: there is none. */
export function childAt(ax: Ax, element: Element, index: number): Element | undefined {
  const source = SOURCES[Math.floor(index / STRIDE)]
  if (!source) return undefined
  const found = ax.some(element, source, index % STRIDE, 1)
  if (!(found instanceof Failure)) return found[0]
  // An index beyond the end is an illegal argument.
  if (found.code === ILLEGAL_ARGUMENT || found.code === INVALID_ELEMENT) return undefined
  if (isUnread(found)) throw readFailed("A child on the way to the element", found.code)
  // Some elements give only the whole list.
  return asElements(ax.must(element, source))[index % STRIDE]
}
