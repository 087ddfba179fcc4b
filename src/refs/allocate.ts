import type { Seen, SeenNode, SeenTree } from "../adapter.ts"
import { boundsHash } from "../fxhash.ts"
import { hasTrait, type Node } from "../node.ts"
import { finiteRect } from "../rect.ts"
import type { BusHint, RefEntry, Surroundings } from "../refmap.ts"
import { isInteractive, nameAndValue, type Position, walk, wordsOf } from "../tree.ts"
import { contextOf, lookAlikeKey, neighbourhoodOf } from "./identity.ts"

/** Facts about a whole tree that all entries made from it share. */
export interface Source {
  readonly pid: number
  readonly app: string
  readonly windowId: string
  readonly processStart?: string
  /** Child indexes from the window down to the tree's root; absent if the root is not below the window. */
  readonly rootPath?: readonly number[]
  /** The surroundings of the tree's root, if it is not a window. */
  readonly rootContext?: Surroundings
  /** The page that the tree's root is part of. */
  readonly rootPage?: string
  /** For the map of the entries. */
  readonly reachedBy?: BusHint
}

export interface RefTree {
  readonly tree: Node
  readonly entries: readonly RefEntry[]
}

/**
 * Numbers the interactive nodes depth first, parents before children, and creates the entries that find them again. It
 * prunes nothing, so a ref names the same element with or without `-i`.
 */
export function allocateRefs(
  seen: SeenTree,
  source: Source,
  getsRef: (node: SeenNode) => boolean = isInteractive,
): RefTree {
  const places = [...walk(seen.root)]
  const chosen = takersOf(places, getsRef)
  const entries = entriesFor(chosen, places, source)
  const numbers = new Map(chosen.map((place, i) => [place.node, `@e${i + 1}`]))
  return { tree: toNode(seen.root, (node) => numbers.get(node)), entries }
}

/** Selects the places of a tree that get a ref. */
export function takersOf(
  places: readonly Position[],
  getsRef: (node: SeenNode) => boolean = isInteractive,
): readonly Position[] {
  // The root of a tree is a window or another surface. It may offer actions, but agents act on its content.
  return places.filter(
    ({ node, ancestors }) => getsRef(node) && (ancestors.length > 0 || hasTrait(node.role, "interactive")),
  )
}

/** Creates entries for some places of a tree. `all` is the whole tree, which contains their look-alikes. */
export function entriesFor(
  chosen: readonly Position[],
  all: readonly Position[],
  source: Source,
): RefEntry[] {
  const alike = new LookAlikes(all, source.rootContext)
  return chosen.map((place) => {
    const { node, path, ancestors } = place
    const context = alike.contextOf(place)
    const hasTwin = alike.hasTwin(place)
    const up = (levels: number): SeenNode | undefined => ancestors[ancestors.length - levels]
    const popup = [...ancestors, node].findLast(({ surfaceId }) => surfaceId !== undefined)
    const list = hasTwin && context.levels !== undefined ? up(context.levels + 1) : undefined
    return {
      pid: source.pid,
      role: node.role,
      name: node.name,
      value: node.states.includes("secure") ? undefined : node.value,
      states: node.states,
      bounds: node.bounds,
      bounds_hash: node.bounds && boundsHash(node.bounds),
      available_actions: node.actions ?? [],
      source_app: source.app,
      process_start: source.processStart,
      window_id: popup?.surfaceId ?? source.windowId,
      address: node.address,
      path: popup ? undefined : source.rootPath && [...source.rootPath, ...path],
      identifier: node.identifier,
      context,
      has_twin: hasTwin || undefined,
      row: context.levels === undefined ? undefined : up(context.levels)?.address,
      page: source.rootPage ?? ancestors.find(({ role }) => role === "webarea")?.address,
      neighbours: list && neighbourhoodOf(list),
      is_recycled: node.isRecycled || ancestors.some((one) => one.isRecycled) || undefined,
    }
  })
}

/** Elements of one tree that look alike, and which of them the texts around them distinguish. */
class LookAlikes {
  readonly #rootContext: Surroundings | undefined
  readonly #groups: ReadonlyMap<string, readonly Position[]>
  /** For each look-alike key, how many of the look-alikes each ancestor holds. */
  readonly #held = new Map<string, ReadonlyMap<SeenNode, number>>()
  /** For each look-alike key, the surroundings that more than one of the look-alikes has. */
  readonly #shared = new Map<string, ReadonlySet<string | undefined>>()
  readonly #contexts = new Map<SeenNode, Surroundings>()

  constructor(all: readonly Position[], rootContext: Surroundings | undefined) {
    this.#groups = Map.groupBy(all, ({ node }) => lookAlikeKey(node))
    this.#rootContext = rootContext
  }

  contextOf({ node, ancestors }: Position): Surroundings {
    const known = this.#contexts.get(node)
    if (known) return known
    const key = lookAlikeKey(node)
    const held = this.#hasOthers(key) ? this.#heldOf(key) : undefined
    const isAlone = held && ((one: SeenNode): boolean => held.get(one) === 1)
    const context = contextOf(node, ancestors, this.#rootContext, isAlone)
    this.#contexts.set(node, context)
    return context
  }

  /** True if nothing distinguishes the element from one of its look-alikes. */
  hasTwin(place: Position): boolean {
    const key = lookAlikeKey(place.node)
    return this.#hasOthers(key) && this.#sharedOf(key).has(this.contextOf(place).around)
  }

  #hasOthers(key: string): boolean {
    return (this.#groups.get(key)?.length ?? 0) > 1
  }

  #heldOf(key: string): ReadonlyMap<SeenNode, number> {
    const known = this.#held.get(key)
    if (known) return known
    const held = new Map<SeenNode, number>()
    for (const { ancestors } of this.#groups.get(key) ?? [])
      for (const one of ancestors) held.set(one, (held.get(one) ?? 0) + 1)
    this.#held.set(key, held)
    return held
  }

  #sharedOf(key: string): ReadonlySet<string | undefined> {
    const known = this.#shared.get(key)
    if (known) return known
    const around = (this.#groups.get(key) ?? []).map((place) => this.contextOf(place).around)
    const shared = new Set(around.filter((texts, i) => around.indexOf(texts) !== i))
    this.#shared.set(key, shared)
    return shared
  }
}

/**
 * Drops nodes without a ref and without remaining children, read or not; ancestors stay as context. The texts of an
 * alert or a small dialog also stay, so that an agent reads the question before it presses Yes.
 */
export function keepInteractive(tree: Node, isInMessage = false): Node {
  const isMessage = !tree.ref_id && (isInMessage || isMessageBox(tree))
  const children = tree.children
    ?.map((child) => keepInteractive(child, isMessage))
    .filter(
      (child) =>
        child.ref_id ||
        child.children ||
        child.children_count ||
        child.offscreen ||
        (isMessage && hasTrait(child.role, "text") && wordsOf(child)),
    )
  return withChildren(tree, children)
}

/** True for a surface that asks or reports something, not one with many controls. */
function isMessageBox({ role, states, ...rest }: Node): boolean {
  const isAlert = role === "alert" || role === "alertdialog"
  const isDialog = role === "dialog" || role === "sheet" || states?.includes("modal")
  return (isAlert || isDialog === true) && countRefs({ role, ...rest }) <= MOST_IN_MESSAGE
}

const MOST_IN_MESSAGE = 10

export function withoutBounds(tree: Node): Node {
  const { bounds: _, ...rest } = tree
  if (tree.children) rest.children = tree.children.map(withoutBounds)
  return trace(rest, originOf(tree))
}

export function countRefs(tree: Node): number {
  return (tree.ref_id ? 1 : 0) + (tree.children?.reduce((sum, child) => sum + countRefs(child), 0) ?? 0)
}

/** The node with other children. `of`: the original node, if this one is already a changed copy. */
export function withChildren(node: Node, children: readonly Node[] | undefined, of = node): Node {
  const { children: _, ...rest } = node
  return trace(children?.length ? { ...rest, children } : rest, originOf(of))
}

/** The same tree with other refs. */
export function withRefs(tree: Node, refs: ReadonlyMap<string | undefined, string>): Node {
  const ref = refs.get(tree.ref_id)
  const children = tree.children?.map((child) => withRefs(child, refs))
  return trace(
    { ...tree, ...(ref ? { ref_id: ref } : {}), ...(children ? { children } : {}) },
    originOf(tree),
  )
}

/** Finds the element that a printed node was made from. Pruning keeps the link. */
export const originOf = (node: Node): SeenNode | undefined => origins.get(node)

const origins = new WeakMap<Node, SeenNode>()

export function trace(node: Node, origin: SeenNode | undefined): Node {
  if (origin) origins.set(node, origin)
  return node
}

/** Marks a name that the element does not have itself. */
export const inferenceOf = ({ name, inferredName }: Seen): Pick<Node, "name_inferred"> =>
  name || inferredName === undefined ? {} : { name_inferred: true }

/** Makes the printed form of a read tree, without absent optionals and empty lists. */
export function toNode(seen: SeenNode, refOf: (node: SeenNode) => string | undefined, column?: string): Node {
  const ref = refOf(seen)
  const { name, value } = nameAndValue(seen)
  const hint = seen.hint && column ? `${seen.hint}; ${column}` : (seen.hint ?? column)
  // A splitter's children are its columns and the bars between them.
  const columns = seen.role === "splitter" ? seen.children.filter(({ role }) => role !== "separator") : []
  const children = seen.children.map((child) => {
    const place = columns.indexOf(child)
    return toNode(child, refOf, place < 0 ? undefined : `column ${place + 1} of ${columns.length}`)
  })
  // Built step by step, like describe(): hundreds of nodes with a dozen spreads each take longer than the rest.
  const node: { -readonly [Member in keyof Node]: Node[Member] } = ref
    ? { ref_id: ref, role: seen.role }
    : { role: seen.role }
  if (name) node.name = name
  if (!seen.name && seen.inferredName !== undefined) node.name_inferred = true
  if (value !== undefined && !seen.states.includes("secure")) node.value = value
  if (seen.valueLength !== undefined) node.value_length = seen.valueLength
  if (seen.description) node.description = seen.description
  if (hint) node.hint = hint
  if (seen.states.length > 0) node.states = seen.states
  if (seen.bounds) node.bounds = finiteRect(seen.bounds)
  if (seen.children_count !== undefined && seen.children_count > children.length)
    node.children_count = seen.children_count
  if (seen.offscreen) node.offscreen = seen.offscreen
  if (children.length > 0) node.children = children
  return trace(node, seen)
}
