import type { SeenNode, TreeOptions } from "../adapter.ts"
import { isWrapper } from "../tree.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { DBusClosed, DBusError, DBusTimeout, WireError } from "./dbus.ts"
import { describe, isShowing, kindIn, nameOf } from "./describe.ts"
import { Element, isGone, type Parent, type Place } from "./element.ts"
import type { Child, Facts, Look, Source } from "./facts.ts"
import { LABEL_DEPTH, needsContents, settle } from "./labels.ts"
import { placeBelow } from "./places.ts"
import { type Kind, MENU_ROLES, ROLE } from "./roles.ts"
import { has, STATE } from "./states.ts"
import { MAX_MANAGED, visibleChildren } from "./virtual.ts"

/** Nesting, whatever the depth counts as. */
const MAX_LEVELS = 50
const MAX_NODES = 50_000

export interface Walked {
  readonly root: SeenNode
  /** false: an answer is missing, or a limit was met that nobody asked for. */
  readonly complete: boolean
}

export interface WalkOptions extends TreeOptions {
  /** Where the depth ends, ask how many children there are. */
  readonly counts: boolean
}

/** Reads the tree below an object: every node goes on as soon as its own answers are there. */
export async function walkTree(
  atspi: Atspi,
  source: Source,
  root: Pick<Element, "ref" | "place" | "parent" | "index">,
  options: WalkOptions,
): Promise<Walked> {
  const walk = new Walk(atspi, source, options)
  const look = await source.look(root.ref, false)
  const facts = await source.facts(root.ref, look)
  const element = new Element(root.ref, root.place, root.parent, root.index)
  const node = await walk.visit({ element, level: 0, depth: 0, spare: undefined, above: undefined }, facts)
  return { root: node, complete: walk.complete }
}

interface Step {
  readonly element: Element
  readonly level: number
  readonly depth: number
  /** Levels that may still be read beyond the depth, for a name above. */
  readonly spare: number | undefined
  readonly above: Step | undefined
}

interface Below {
  readonly nodes: readonly SeenNode[]
  /** Read for a name only: not part of the tree. */
  readonly isSpare?: boolean
  /** How many there are, where not all are here. */
  readonly count?: number
}

const UNREAD = Symbol("unread")

class Walk {
  complete = true
  readonly #atspi: Atspi
  readonly #source: Source
  readonly #options: WalkOptions
  #nodes = 0

  constructor(atspi: Atspi, source: Source, options: WalkOptions) {
    this.#atspi = atspi
    this.#source = source
    this.#options = options
  }

  async visit(step: Step, facts: Facts): Promise<SeenNode> {
    const { element } = step
    const kind = kindIn(facts, element.place, element.parentRole)
    const [described, below] = await Promise.all([
      describe(this.#atspi, element, kind, facts, this.#options.bounds, (read) => this.#expect(read)),
      facts.childCount === 0 ? LEAF : this.#below(step, facts, kind),
    ])
    return {
      ...settle(described, kind, element.place, below.nodes),
      children: below.isSpare ? [] : below.nodes,
      ...(below.count ? { children_count: below.count } : {}),
    }
  }

  async #below(step: Step, facts: Facts, kind: Kind): Promise<Below> {
    const { ref, place } = step.element
    const name = nameOf(place, kind, facts)
    const depth = step.depth + (isWrapper({ role: kind.role, name, description: facts.description }) ? 0 : 1)
    if (depth <= this.#options.maxDepth && step.level < MAX_LEVELS) return this.#children(step, facts, depth)
    const spare = step.spare ?? (needsContents(kind, place, name) ? LABEL_DEPTH : 0)
    const [below, count] = await Promise.all([
      spare > 0 ? this.#children(step, facts, depth, spare - 1) : LEAF,
      facts.childCount >= 0 ? facts.childCount : this.#count(ref, step.spare !== undefined),
    ])
    return { nodes: below.nodes, isSpare: step.spare === undefined, count }
  }

  async #count(ref: Ref, isSpare: boolean): Promise<number | undefined> {
    return this.#options.counts && !isSpare ? this.#expect(this.#atspi.childCount(ref)) : undefined
  }

  async #children(step: Step, facts: Facts, depth: number, spare?: number): Promise<Below> {
    const { ref } = step.element
    const total = has(facts.states, STATE.MANAGES_DESCENDANTS)
      ? await this.#expect(this.#atspi.childCount(ref))
      : undefined
    const isVirtual = total !== undefined && total > MAX_MANAGED
    const [place, children] = await Promise.all([
      placeBelow(this.#atspi, step.element, facts, (read) => this.#expect(read)),
      this.#expect(isVirtual ? visibleChildren(this.#atspi, ref, facts) : this.#source.children(ref)),
    ])
    if (!children) return { nodes: [], count: total }
    const parent = { ref, role: facts.role, states: facts.states, size: children.length }
    const steps = withoutRepeats(step, children).map((child) => ({
      element: new Element(child.ref, place, parent, child.index),
      level: step.level + 1,
      depth,
      spare,
      above: step,
    }))
    const visited = await Promise.all(steps.map((child) => this.#child(child, parent)))
    const nodes = visited.filter((node) => node !== undefined && node !== UNREAD)
    const isCut = visited.includes(UNREAD)
    if (isCut) this.complete = false
    return { nodes, count: isVirtual ? total : isCut ? children.length : undefined }
  }

  async #child(step: Step, parent: Parent): Promise<SeenNode | typeof UNREAD | undefined> {
    if (this.#nodes >= MAX_NODES) return UNREAD
    this.#nodes++
    try {
      const { ref, place } = step.element
      // The items of a menu that is not open are all hidden; elsewhere most children show.
      const look = await this.#source.look(ref, MENU_ROLES.has(parent.role))
      if (!this.#isWanted(look, place)) return undefined
      const facts = await this.#source.facts(ref, look)
      if (
        !this.#options.includeHidden &&
        (!isShowing(place, facts) || (await this.#isCollapsed(ref, facts, parent)))
      )
        return undefined
      return await this.visit(step, facts)
    } catch (error) {
      if (isUnanswered(error)) return UNREAD
      // The object went away between two answers, or says nonsense: it is not there.
      if (error instanceof DBusError || error instanceof WireError) return undefined
      throw error
    }
  }

  #isWanted(look: Look, place: Place): boolean {
    if (has(look.states, STATE.DEFUNCT)) return false
    return this.#options.includeHidden || isShowing(place, look)
  }

  /** LibreOffice keeps a second menu bar of its own, without any height, under the native one. */
  async #isCollapsed(ref: Ref, facts: Facts, parent: Parent): Promise<boolean> {
    if (facts.role !== ROLE.MENU_BAR || parent.role !== ROLE.ROOT_PANE) return false
    return (await this.#expect(this.#atspi.extents(ref)))?.height === 0
  }

  /** undefined when the answer did not come, or was none. */
  async #expect<T>(read: Promise<T>): Promise<T | undefined> {
    try {
      return await read
    } catch (error) {
      if (isUnanswered(error)) this.complete = false
      else if (!(error instanceof DBusError || error instanceof WireError)) throw error
      return undefined
    }
  }
}

const LEAF: Below = { nodes: [] }

function isUnanswered(error: unknown): boolean {
  return error instanceof DBusTimeout || error instanceof DBusClosed || isGone(error)
}

/** Some applications list a child twice, or an ancestor as a child. */
function withoutRepeats(step: Step, children: readonly Child[]): Child[] {
  const seen = new Set<string>()
  for (let at: Step | undefined = step; at; at = at.above) seen.add(refKey(at.element.ref))
  return children.filter(({ ref }) => {
    const key = refKey(ref)
    return !seen.has(key) && seen.add(key)
  })
}
