import type { SeenNode, TreeOptions } from "../adapter.ts"
import { isWrapper } from "../tree.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { DBusClosed, DBusError, DBusTimeout, WireError } from "./dbus.ts"
import { describe, Element, isGone, isShowing, kindIn, nameOf, type Place } from "./element.ts"
import type { Facts, Source } from "./facts.ts"
import { type Kind, ROLE } from "./roles.ts"
import { has, STATE, type StateSet } from "./states.ts"

/** Nesting, whatever the depth counts as. */
const MAX_LEVELS = 50
const MAX_NODES = 50_000
/** A container that makes its children up as they are asked for is read whole only up to here. */
const MAX_MANAGED = 500

export interface Walked {
  readonly root: SeenNode
  readonly complete: boolean
}

/** Reads the tree below an object: every node goes on as soon as its own answers are there. */
export async function walkTree(
  atspi: Atspi,
  source: Source,
  root: Ref,
  place: Place,
  options: TreeOptions,
  rootIndex?: number,
): Promise<Walked> {
  const walk = new Walk(atspi, source, place, options)
  const states = await source.states(root)
  const facts = await source.facts(root, states)
  const node = await walk.visit(
    { ref: root, level: 0, depth: 0, parent: undefined, index: rootIndex },
    facts,
    ROLE.INVALID,
  )
  return { root: node, complete: walk.complete }
}

interface Step {
  readonly ref: Ref
  readonly level: number
  readonly depth: number
  readonly index: number | undefined
  readonly parent: Step | undefined
}

class Walk {
  complete = true
  readonly #atspi: Atspi
  readonly #source: Source
  readonly #place: Place
  readonly #options: TreeOptions
  #nodes = 0

  constructor(atspi: Atspi, source: Source, place: Place, options: TreeOptions) {
    this.#atspi = atspi
    this.#source = source
    this.#place = place
    this.#options = options
  }

  async visit(step: Step, facts: Facts, parentRole: number): Promise<SeenNode> {
    const element = new Element(step.ref, this.#place, parentRole, step.index)
    const kind = kindIn(facts, parentRole)
    const [seen, below] = await Promise.all([
      describe(this.#atspi, element, kind, facts, this.#options, (read) => this.#expect(read)),
      facts.childCount === 0 ? NOTHING : this.#below(step, facts, kind),
    ])
    if (below.cut && !below.meant) this.complete = false
    return {
      ...seen,
      children: below.nodes,
      ...(below.count !== undefined && below.cut ? { children_count: below.count } : {}),
    }
  }

  async #below(step: Step, facts: Facts, kind: Kind): Promise<Below> {
    const wrapper = isWrapper({
      role: kind.role,
      name: nameOf(this.#place, facts),
      description: facts.description,
    })
    const depth = step.depth + (wrapper ? 0 : 1)
    if (depth > this.#options.maxDepth || step.level >= MAX_LEVELS) return this.#count(step.ref, facts)
    if (has(facts.states, STATE.MANAGES_DESCENDANTS)) {
      const count = await this.#expect(this.#atspi.childCount(step.ref))
      if (count === undefined || count > MAX_MANAGED) return { nodes: [], count, cut: true, meant: false }
    }
    const refs = await this.#expect(this.#source.children(step.ref))
    if (!refs) return { nodes: [], count: undefined, cut: true, meant: false }
    const steps = this.#steps(step, refs, depth)
    const visited = await Promise.all(steps.map((child) => this.#child(child, facts.role)))
    const nodes = visited.filter((node) => node !== undefined && node !== UNREAD)
    const unread = visited.includes(UNREAD) || (steps.length > nodes.length && this.#nodes >= MAX_NODES)
    return { nodes, count: refs.length, cut: unread, meant: false }
  }

  /** Where the depth ends: how many there are, which costs one call. */
  async #count(ref: Ref, facts: Facts): Promise<Below> {
    const count = facts.childCount >= 0 ? facts.childCount : await this.#expect(this.#atspi.childCount(ref))
    return { nodes: [], count, cut: count !== 0, meant: true }
  }

  #steps(parent: Step, refs: readonly (Ref | undefined)[], depth: number): Step[] {
    const seen = new Set<string>()
    return refs.flatMap((ref, index) => {
      if (!ref) return []
      const key = refKey(ref)
      if (seen.has(key) || isAncestor(parent, ref)) return []
      seen.add(key)
      return [{ ref, level: parent.level + 1, depth, index, parent }]
    })
  }

  async #child(step: Step, parentRole: number): Promise<SeenNode | typeof UNREAD | undefined> {
    if (this.#nodes >= MAX_NODES) return UNREAD
    try {
      const states = await this.#source.states(step.ref)
      if (has(states, STATE.DEFUNCT) || !this.#wanted(states)) return undefined
      this.#nodes++
      const facts = await this.#source.facts(step.ref, states)
      return await this.visit(step, facts, parentRole)
    } catch (error) {
      if (error instanceof DBusTimeout || error instanceof DBusClosed || isGone(error)) {
        this.complete = false
        return UNREAD
      }
      // The object went away between two answers, or says nonsense: it is not there.
      if (error instanceof DBusError || error instanceof WireError) return undefined
      throw error
    }
  }

  #wanted(states: StateSet): boolean {
    return this.#options.includeHidden || isShowing(this.#place, { states })
  }

  /** undefined when the answer did not come, or was none. */
  async #expect<T>(read: Promise<T>): Promise<T | undefined> {
    try {
      return await read
    } catch (error) {
      if (error instanceof DBusTimeout || error instanceof DBusClosed || isGone(error)) {
        this.complete = false
        return undefined
      }
      if (error instanceof DBusError || error instanceof WireError) return undefined
      throw error
    }
  }
}

interface Below {
  readonly nodes: readonly SeenNode[]
  readonly count: number | undefined
  /** Not all children are here. */
  readonly cut: boolean
  /** The caller's own limit cut it: that is no loss. */
  readonly meant: boolean
}

const NOTHING: Below = { nodes: [], count: 0, cut: false, meant: true }
const UNREAD = Symbol("unread")

function isAncestor(step: Step | undefined, ref: Ref): boolean {
  for (let at = step; at; at = at.parent) {
    if (at.ref.path === ref.path && at.ref.bus === ref.bus) return true
  }
  return false
}
