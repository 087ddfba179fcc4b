import type { SeenNode, TreeOptions } from "../adapter.ts"
import { AppError } from "../errors.ts"
import type { Rect } from "../node.ts"
import { isRow, type Role } from "../node.ts"
import { isWrapper } from "../tree.ts"
import { STRUCTURE, WEB_STRUCTURE } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import {
  type Facts,
  inspect,
  isNamedInside,
  isSeeThrough,
  type Labelled,
  labelBeside,
  labelInside,
  readLabel,
  readLabels,
  seenOf,
} from "./describe.ts"
import {
  ATTRIBUTE_UNSUPPORTED,
  Failure,
  ILLEGAL_ARGUMENT,
  INVALID_ELEMENT,
  NO_VALUE,
  readFailed,
} from "./failure.ts"
import { Habits } from "./habits.ts"
import { nameOf } from "./names.ts"
import { type Attributes, asElement, asElements, asFlag, type Element } from "./value.ts"

/** However nameless the wrappers are, no tree is followed deeper, and none beyond so many nodes. */
const MAX_LEVEL = 50
const MAX_NODES = 50_000
/** Of a longer list only what shows is read. */
const LONG_LIST = 100
/** How long the walk may keep other work waiting. */
const TURN_MS = 30

interface Walked {
  readonly root: SeenNode
  readonly complete: boolean
}

interface WalkPlace {
  /** The frame outside of which nothing of the surface shows, where there is one. */
  readonly area?: Rect
}

interface Draft extends Labelled {
  readonly facts: Facts
  readonly index: number | undefined
  readonly parent: Draft | undefined
  readonly depth: number
  readonly level: number
  readonly web: boolean
  readonly area: Rect | undefined
  /** All that is below, shown or not. */
  readonly kids: Children
  readonly children: Draft[]
  expanded: boolean
  /** Some of the children were left out. */
  cut: boolean
}

/**
 * Reads a tree, level by level, so that whatever ends it early leaves the upper levels whole. One
 * round trip reads a node and lists its children; what has a value takes a second one.
 */
export async function walk(ax: Ax, root: Element, place: WalkPlace, options: TreeOptions): Promise<Walked> {
  return new Walker(ax, options).walk(root, place)
}

class Walker {
  readonly #ax: Ax
  readonly #options: TreeOptions
  readonly #habits = new Habits()
  readonly #drafts = new Map<Element, Draft>()
  #complete = true

  constructor(ax: Ax, options: TreeOptions) {
    this.#ax = ax
    this.#options = options
  }

  async walk(root: Element, { area }: WalkPlace): Promise<Walked> {
    const first = this.#read(root, undefined, undefined, area)
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
      if (draft.expanded) continue
      draft.cut = draft.kids.elements.length > draft.children.length
      this.#complete &&= !draft.cut
    }
    const tree = this.#finish(first)
    return { root: tree, complete: this.#complete }
  }

  /** Reads the children of a node; false when the walk has to end here. */
  #expand(draft: Draft, queue: Draft[]): boolean {
    try {
      if (depthBelow(draft) <= this.#options.maxDepth && draft.level < MAX_LEVEL) {
        for (const [element, index] of this.#showing(draft)) {
          if (queue.length >= MAX_NODES) return false
          this.#add(element, draft, index, queue)
        }
      } else {
        draft.cut = draft.kids.elements.length > 0
      }
      draft.expanded = true
      return true
    } catch (error) {
      // What was read is worth more than the reason why no more could be.
      if (isEnd(error)) return false
      throw error
    }
  }

  #add(element: Element, parent: Draft, index: number, queue: Draft[]): void {
    // An element that is its own ancestor would be read for ever.
    for (let above: Draft | undefined = parent; above; above = above.parent) {
      if (above.facts.element === element) return
    }
    const child = this.#read(element, parent, index)
    if (child instanceof Failure) {
      // A child that went away during the walk is no child; one that could not be read is missing.
      this.#complete &&= child.code === INVALID_ELEMENT
      return
    }
    if (asFlag(child.attributes.AXHidden) && !this.#options.includeHidden) return
    parent.children.push(child)
    queue.push(child)
  }

  #read(element: Element, parent?: Draft, index?: number, area?: Rect): Draft | Failure {
    const web = parent !== undefined && (parent.web || parent.role === "webarea")
    const structure = this.#ax.read(element, web ? WEB_STRUCTURE : STRUCTURE)
    if (structure instanceof Failure) return structure
    const { bounds, interactiveOnly } = this.#options
    const values = !interactiveOnly || (parent !== undefined && isLabelPlace(parent))
    const facts = inspect(this.#ax, element, structure, { web, bounds, values, habits: this.#habits })
    const { role, attributes } = facts
    const kids = childrenOf(this.#ax, element, role, attributes)
    if (facts.partial || kids.unread) this.#complete = false
    const draft: Draft = {
      facts,
      role,
      attributes,
      index,
      parent,
      depth: parent ? depthBelow(parent) : 0,
      level: parent ? parent.level + 1 : 0,
      web,
      // What hangs over the window may show outside of it.
      area: parent && !OVERLAYS.has(role) ? parent.area : area,
      kids,
      children: [],
      expanded: false,
      cut: false,
    }
    this.#drafts.set(element, draft)
    return draft
  }

  /** The children to look at, each with its place among all of them. */
  #showing(draft: Draft): (readonly [element: Element, index: number])[] {
    const { kids, role, attributes } = draft
    const { includeHidden } = this.#options
    // The menu of a closed item is there, but not on the screen.
    if (!includeHidden && role === "menuitem" && asFlag(attributes.AXSelected) === false) return []
    const places = new Map<Element, number>()
    for (const [i, element] of kids.elements.entries()) {
      if (!places.has(element)) places.set(element, kids.offset + i)
    }
    const shown = new Set(includeHidden || kids.elements.length <= LONG_LIST ? [] : this.#visible(draft))
    if (shown.size === 0) return [...places]
    draft.cut = true
    return [...places].filter(([element]) => shown.has(element))
  }

  #visible({ facts: { element }, role }: Draft): readonly Element[] {
    const attribute = VISIBLE[role]
    const shown = attribute ? this.#ax.read(element, [attribute, "AXHeader"]) : undefined
    if (!attribute || !shown || shown instanceof Failure) return []
    const rows = asElements(shown[attribute])
    const header = asElement(shown.AXHeader)
    return header && rows.length > 0 ? [header, ...rows] : rows
  }

  #finish(draft: Draft): SeenNode {
    const { facts, kids, cut } = draft
    const children = draft.children.map((child) => this.#finish(child))
    const label = (element: Element) => {
      const known = this.#drafts.get(element)
      const told = known && (known.role !== "statictext" || "AXValue" in known.attributes)
      return told ? known : this.#late(() => readLabel(this.#ax, element), undefined)
    }
    const inside = () =>
      draft.children.length > 0
        ? draft.children
        : this.#late(() => readLabels(this.#ax, kids.elements, 1), [])
    const found = { label: labelBeside(facts, label), inside: labelInside(facts, inside) }
    const seen = seenOf(facts, found, { area: draft.area, index: draft.index })
    return { ...seen, children, ...(cut ? { children_count: kids.elements.length } : {}) }
  }

  /** A read that the time may no longer allow. */
  #late<T>(read: () => T, otherwise: T): T {
    try {
      return read()
    } catch (error) {
      if (!isEnd(error)) throw error
      this.#complete = false
      return otherwise
    }
  }
}

const OVERLAYS: ReadonlySet<Role> = new Set(["dialog", "drawer", "menu", "popover", "sheet", "tooltip"])

/** What a long list answers for the part of it that shows. */
const VISIBLE: Readonly<Record<string, string | undefined>> = {
  grid: "AXVisibleChildren",
  list: "AXVisibleChildren",
  outline: "AXVisibleRows",
  table: "AXVisibleRows",
}

function depthBelow({ role, attributes, depth }: Draft): number {
  return depth + (isWrapper({ role, name: nameOf(attributes, {}) }) ? 0 : 1)
}

/** Whether a text here is needed: as the name of what it is in, or to tell one row from the next. */
function isLabelPlace({ facts, parent }: Draft): boolean {
  return isTold(facts) || (isSeeThrough(facts) && parent !== undefined && isTold(parent.facts))
}

function isTold(facts: Facts): boolean {
  return isNamedInside(facts) || isRow(facts)
}

function isEnd(error: unknown): boolean {
  return error instanceof AppError && (error.code === "TIMEOUT" || error.code === "APP_UNRESPONSIVE")
}

/** Where elements keep their children. An index of a path names the place and, by its stride, the attribute. */
const SOURCES = ["AXChildren", "AXColumns", "AXContents"] as const
const STRIDE = 1 << 20
const ALL = STRIDE

export interface Children {
  readonly elements: readonly Element[]
  /** What the first one's place is in a path. */
  readonly offset: number
  /** They could not be read. */
  readonly unread: boolean
}

const NONE: Children = { elements: [], offset: 0, unread: false }

/** Roles for which it would be strange to have no children. */
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

/** The children from a node's structure; a second question only where the answer is missing or would be strange. */
export function childrenOf(ax: Ax, element: Element, role: Role, { AXChildren }: Attributes): Children {
  if (role === "browser") return below(ax, element, 1)
  const elements = asElements(AXChildren)
  if (elements.length > 0) return { elements, offset: 0, unread: false }
  if (AXChildren instanceof Failure && AXChildren.code !== NO_VALUE) {
    // Some apps refuse the list as a whole and give it in parts; most leaves just have none.
    const odd = AXChildren.code !== ATTRIBUTE_UNSUPPORTED || CONTAINERS.has(role)
    return odd ? below(ax, element, 0) : NONE
  }
  return role === "scrollarea" ? below(ax, element, 2) : NONE
}

function below(ax: Ax, element: Element, source: 0 | 1 | 2): Children {
  const elements = ax.some(element, SOURCES[source], 0, ALL)
  if (!(elements instanceof Failure)) return { elements, offset: source * STRIDE, unread: false }
  // The first of none is an illegal argument.
  const absent = [ATTRIBUTE_UNSUPPORTED, NO_VALUE, ILLEGAL_ARGUMENT].includes(elements.code)
  return absent && source > 0 ? NONE : { ...NONE, unread: !absent }
}

/** The child at a place of a path, by one call; undefined when there is none. */
export function childAt(ax: Ax, element: Element, index: number): Element | undefined {
  const source = SOURCES[Math.floor(index / STRIDE)]
  if (!source) return undefined
  const found = ax.some(element, source, index % STRIDE, 1)
  if (!(found instanceof Failure)) return found[0]
  if (ABSENT.has(found.code)) return undefined
  throw readFailed("A child on the way to the element", found.code)
}

/** What an element without that child answers; an index beyond the end is an illegal argument. */
const ABSENT: ReadonlySet<number> = new Set([
  ILLEGAL_ARGUMENT,
  INVALID_ELEMENT,
  ATTRIBUTE_UNSUPPORTED,
  NO_VALUE,
])
