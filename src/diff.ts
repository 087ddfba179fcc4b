import { compact } from "./compact.ts"
import { brief } from "./kept.ts"
import type { Node } from "./node.ts"
import { type Addresses, Pairing } from "./pairing.ts"
import { keepInteractive } from "./tree.ts"

/** What is at one place and was not, with what is new below it. */
export interface Added extends Node {
  /** The named things that it is inside of, from the window down. */
  readonly path?: readonly string[]
}

/** A node as it is now; `was` holds what is different of it. */
export interface Changed extends Omit<Node, "children"> {
  readonly was: Partial<Omit<Node, "children">>
  readonly path?: readonly string[]
}

export interface Changes {
  readonly added?: readonly Added[]
  /** Without what was below them, which is gone too. */
  readonly removed?: readonly Omit<Node, "children">[]
  readonly changed?: readonly Changed[]
}

export interface DiffOptions {
  /** false: where not all children were read, one that is missing is not gone. */
  readonly complete: boolean
  /** Only what can be acted on. */
  readonly interactive_only: boolean
  readonly addresses?: Addresses
}

/** What became of a tree, without what says nothing; see pairing.ts for what counts as the same node. */
export function diffTrees(before: Node, after: Node, options: DiffOptions): Changes {
  const pairs = new Pairing(before, after, options.addresses)
  const tells = (node: Node): boolean => Boolean(node.ref_id) || (!options.interactive_only && says(node))
  const added: Added[] = []
  const changed: Changed[] = []
  const visit = (node: Node, path: readonly string[], isNew: boolean): void => {
    const was = pairs.before(node)
    const where = path.length ? { path } : {}
    if (was) {
      const difference = tells(node) || tells(was) ? differenceOf(was, node) : undefined
      if (difference) changed.push(changedNode(node, difference, path))
    } else if (!isNew) {
      for (const one of small(fresh(node, pairs), options)) added.push({ ...one, ...where })
    }
    const inside = node === after || !node.name ? path : [...path, node.name]
    for (const child of node.children ?? []) visit(child, inside, !was)
  }
  visit(after, [], false)
  const removed = removedFrom(before, pairs, tells, options.complete)
  return {
    ...(added.length ? { added } : {}),
    ...(removed.length ? { removed } : {}),
    ...(changed.length ? { changed } : {}),
  }
}

const says = ({ name, value, description, states }: Node): boolean =>
  Boolean(name || value || description || states?.length)

/** The new node with what is new below it; what was there before is not news. */
function fresh(node: Node, pairs: Pairing): Node {
  const { children, ...own } = node
  const below = children?.filter((child) => !pairs.before(child)).map((child) => fresh(child, pairs))
  return below?.length ? { ...own, children: below } : own
}

function small(node: Node, { interactive_only }: DiffOptions): readonly Node[] {
  const whole: Node = { role: "window", children: [node] }
  return compact(interactive_only ? keepInteractive(whole) : whole).children ?? []
}

/** The topmost that tell something; what was below them is gone too. */
function removedFrom(
  before: Node,
  pairs: Pairing,
  tells: (node: Node) => boolean,
  complete: boolean,
): Omit<Node, "children">[] {
  const removed: Omit<Node, "children">[] = []
  const visit = (node: Node, isGone: boolean): void => {
    const now = pairs.after(node)
    const { children, ...own } = node
    const isNews = !now && isGone && tells(node)
    if (isNews) removed.push(own)
    const isRead = complete || !now || (now.children_count ?? 0) <= (now.children?.length ?? 0)
    for (const child of children ?? []) visit(child, now ? isRead : isGone && !isNews)
  }
  visit(before, false)
  return removed
}

function changedNode(node: Node, was: Changed["was"], path: readonly string[]): Changed {
  const { children: _, ...own } = node
  // Whoever has its ref knows where it is.
  const isKnown = own.ref_id !== undefined && was.ref_id === undefined
  return { ...own, was, ...(path.length && !isKnown ? { path } : {}) }
}

/** What the node said before, where it says something else now. Where a node stands is not its own. */
function differenceOf(before: Node, after: Node): Changed["was"] | undefined {
  const was: Changed["was"] = {
    ...(before.ref_id !== undefined && before.ref_id !== after.ref_id ? { ref_id: before.ref_id } : {}),
    ...(before.role === after.role ? {} : { role: before.role }),
    ...textBefore("name", before, after),
    ...textBefore("value", before, after),
    ...textBefore("description", before, after),
    ...(sameStates(before, after) ? {} : { states: before.states ?? [] }),
    ...(before.children_count === after.children_count ? {} : { children_count: before.children_count ?? 0 }),
  }
  return Object.keys(was).length > 0 ? was : undefined
}

function textBefore(
  member: "name" | "value" | "description",
  before: Node,
  after: Node,
): Partial<Record<typeof member, string>> {
  const [was, now] = [before[member], after[member]]
  const isSame = was === now || (now !== undefined && was === brief(now))
  return isSame ? {} : { [member]: was ?? "" }
}

function sameStates(a: Node, b: Node): boolean {
  const states = new Set(a.states)
  return states.size === (b.states?.length ?? 0) && (b.states?.every((state) => states.has(state)) ?? true)
}
