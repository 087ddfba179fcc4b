import type { SeenNode, SeenTree } from "../adapter.ts"
import { boundsHash } from "../fxhash.ts"
import { hasTrait, type Node } from "../node.ts"
import { finiteRect } from "../rect.ts"
import type { RefEntry } from "../refmap.ts"
import { isInteractive, type Position, walk } from "../tree.ts"
import { contextOf, levelsUp, lookAlikeKey, neighbourhoodOf, printOf } from "./identity.ts"

/** What a whole tree has in common, for the entries made from it. */
export interface Source {
  readonly pid: number
  readonly app: string
  readonly windowId: string
  readonly processStart?: string
  /** Child indexes from the window down to the tree's root; absent when it does not hang below the window. */
  readonly rootPath?: readonly number[]
  /** Where the tree's root stands, if it is not a window; see identity.ts. */
  readonly rootContext?: string
}

export interface RefTree {
  readonly tree: Node
  readonly entries: readonly RefEntry[]
}

/**
 * Numbers the interactive nodes depth first, parents before children, and makes the entries that
 * find them again. Nothing is pruned here, so a ref is the same element with or without `-i`.
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

/** The places that get a ref, of all those of a tree. */
export function takersOf(
  places: readonly Position[],
  getsRef: (node: SeenNode) => boolean = isInteractive,
): readonly Position[] {
  // A window may well offer an action, but what it is good for is done to what it holds.
  return places.filter(
    ({ node, ancestors }) => getsRef(node) && (ancestors.length > 0 || hasTrait(node.role, "interactive")),
  )
}

/** Entries for some places of a tree; `all` tells which of them have look-alikes. */
export function entriesFor(
  chosen: readonly Position[],
  all: readonly Position[],
  source: Source,
): RefEntry[] {
  const alike = new LookAlikes(all, source.rootContext)
  return chosen.map((place) => {
    const { node, path, ancestors } = place
    const context = alike.contextOf(place)
    const isTwin = alike.isTwin(place)
    const levels = levelsUp(context)
    const list = isTwin && levels !== undefined ? ancestors[ancestors.length - levels - 1] : undefined
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
      window_id: source.windowId,
      address: node.address,
      path: source.rootPath && [...source.rootPath, ...path],
      identifier: node.identifier,
      context,
      twins: isTwin ? true : undefined,
      row: levels === undefined ? undefined : ancestors[ancestors.length - levels]?.address,
      neighbours: list && neighbourhoodOf(list),
      fleeting: node.fleeting || ancestors.some((one) => one.fleeting) ? true : undefined,
    }
  })
}

/** Which elements say the same of themselves, and which of those the texts around them tell apart. */
class LookAlikes {
  readonly #rootContext: string | undefined
  readonly #groups: ReadonlyMap<string, readonly Position[]>
  /** Of the look-alikes of a key, how many each ancestor holds. */
  readonly #held = new Map<string, Map<SeenNode, number>>()
  readonly #twins = new Map<string, ReadonlySet<string>>()

  constructor(all: readonly Position[], rootContext: string | undefined) {
    this.#groups = Map.groupBy(all, ({ node }) => lookAlikeKey(node))
    this.#rootContext = rootContext
  }

  contextOf({ node, ancestors }: Position): string {
    const key = lookAlikeKey(node)
    const isAlone = this.#hasOthers(key)
      ? (one: SeenNode): boolean => this.#heldOf(key).get(one) === 1
      : undefined
    return contextOf(node, ancestors, this.#rootContext, isAlone)
  }

  /** Whether nothing tells it from another. */
  isTwin(place: Position): boolean {
    const key = lookAlikeKey(place.node)
    return this.#hasOthers(key) && this.#twinsOf(key).has(printOf(this.contextOf(place)))
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

  /** What stands around more than one of them. */
  #twinsOf(key: string): ReadonlySet<string> {
    const known = this.#twins.get(key)
    if (known) return known
    const prints = (this.#groups.get(key) ?? []).map((place) => printOf(this.contextOf(place)))
    const twins = new Set(prints.filter((print, i) => prints.indexOf(print) !== i))
    this.#twins.set(key, twins)
    return twins
  }
}

/** Drops nodes without a ref and without remaining children, read or not; ancestors stay as context. */
export function keepInteractive(tree: Node): Node {
  const children = tree.children
    ?.map(keepInteractive)
    .filter((child) => child.ref_id || child.children || child.children_count)
  return withChildren(tree, children)
}

export function withoutBounds(tree: Node): Node {
  const { bounds: _, ...rest } = tree
  return trace(tree.children ? { ...rest, children: tree.children.map(withoutBounds) } : rest, originOf(tree))
}

export function countRefs(tree: Node): number {
  return (tree.ref_id ? 1 : 0) + (tree.children?.reduce((sum, child) => sum + countRefs(child), 0) ?? 0)
}

export function withChildren(node: Node, children: readonly Node[] | undefined): Node {
  const { children: _, ...rest } = node
  return trace(children?.length ? { ...rest, children } : rest, originOf(node))
}

/** The element that a printed node was made from; what pruning makes of the node still has it. */
export const originOf = (node: Node): SeenNode | undefined => origins.get(node)

const origins = new WeakMap<Node, SeenNode>()

export function trace(node: Node, origin: SeenNode | undefined): Node {
  if (origin) origins.set(node, origin)
  return node
}

/** The printed form of a read tree; absent optionals and empty lists are left out. */
export function toNode(seen: SeenNode, refOf: (node: SeenNode) => string | undefined, column?: string): Node {
  const ref = refOf(seen)
  const hint = seen.hint && column ? `${seen.hint}; ${column}` : (seen.hint ?? column)
  // The bars between the columns are children of the splitter, too.
  const columns = seen.role === "splitter" ? seen.children.filter(({ role }) => role !== "separator") : []
  const children = seen.children.map((child) => {
    const place = columns.indexOf(child)
    return toNode(child, refOf, place < 0 ? undefined : `column ${place + 1} of ${columns.length}`)
  })
  const node = {
    ...(ref ? { ref_id: ref } : {}),
    role: seen.role,
    ...(seen.name ? { name: seen.name } : {}),
    ...(seen.value !== undefined && !seen.states.includes("secure") ? { value: seen.value } : {}),
    ...(seen.description ? { description: seen.description } : {}),
    ...(hint ? { hint } : {}),
    ...(seen.states.length ? { states: seen.states } : {}),
    ...(seen.bounds ? { bounds: finiteRect(seen.bounds) } : {}),
    ...(seen.children_count !== undefined && seen.children_count > children.length
      ? { children_count: seen.children_count }
      : {}),
    ...(children.length ? { children } : {}),
  }
  return trace(node, seen)
}
