import type { Node } from "../node.ts"
import { keepInteractive, originOf } from "../refs/allocate.ts"
import { wordsOf } from "../tree.ts"
import { compact } from "./compact.ts"
import { abbreviate } from "./kept-tree.ts"

/** A new node, with its new descendants. */
export interface Added extends Node {
  /** The names of its ancestors, from the window down. */
  readonly path?: readonly string[]
}

/** A node as it is now. `was` holds the earlier values of the members that changed. */
export interface Changed extends Omit<Node, "children"> {
  readonly was: Partial<Omit<Node, "children">>
  readonly path?: readonly string[]
}

export interface Changes {
  readonly added?: readonly Added[]
  /** Without their descendants, which are gone too. */
  readonly removed?: readonly Omit<Node, "children">[]
  readonly changed?: readonly Changed[]
}

export interface DiffOptions {
  /** false: some children were not read, so a missing one may still be there. */
  readonly complete: boolean
  /** Report only nodes that can be acted on. */
  readonly interactive_only: boolean
  readonly addresses?: Addresses
  /** True if both trees were read by this command: then the objects of all nodes are known, not only of refs. */
  readonly isLive?: boolean
}

/**
 * The differences between two trees, without nodes that carry no information. Pairing decides which nodes are the same.
 */
export function diffTrees(before: Node, after: Node, options: DiffOptions): Changes {
  const pairs = new Pairing(before, after, options.addresses, options.isLive)
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
    const words = wordsOf(node)
    const inside = node === after || !words ? path : [...path, words]
    const isOpened = was && opensItems(node) && !pairs.keepsAny(node)
    if (isOpened) for (const one of small(menuOf(node), options)) added.push({ ...one, ...where })
    for (const child of node.children ?? []) visit(child, inside, !was || Boolean(isOpened))
  }
  visit(after, [], false)
  const removed = removedFrom(before, pairs, tells, options.complete)
  return {
    ...(added.length ? { added } : {}),
    ...(removed.length ? { removed } : {}),
    ...(changed.length ? { changed } : {}),
  }
}

/** Items that show only while the node that holds them is open. */
const opensItems = ({ role, children = [] }: Node): boolean => children.length > 1 && OPENERS.has(role)

const OPENERS: ReadonlySet<Node["role"]> = new Set(["menuitem", "menubutton", "combobox", "menubar"])

/** The open menu of a node that holds its items itself. */
const menuOf = (node: Node): Node => {
  const name = wordsOf(node)
  return { role: "menu", ...(name ? { name } : {}), children: node.children }
}

/** A menu goes away with its items. A nameless one is identified by the node that it belongs to. */
function closedMenu({ children = [], ...menu }: Node, above?: string): Omit<Node, "children"> {
  const name = wordsOf(menu) ?? above
  return { ...menu, ...(name ? { name } : {}), children_count: children.length }
}

const says = ({ name, value, description, states }: Node): boolean =>
  Boolean(name || value || description || states?.length)

/** The new node with its new descendants, without those that were there before. */
function fresh(node: Node, pairs: Pairing): Node {
  const { children, ...own } = node
  const below = children?.filter((child) => !pairs.before(child)).map((child) => fresh(child, pairs))
  return below?.length ? { ...own, children: below } : own
}

function small(node: Node, { interactive_only }: DiffOptions): readonly Node[] {
  const whole: Node = { role: "window", children: [node] }
  return compact(interactive_only ? keepInteractive(whole) : whole).children ?? []
}

/** The topmost nodes that are gone. Their descendants are not listed. */
function removedFrom(
  before: Node,
  pairs: Pairing,
  tells: (node: Node) => boolean,
  complete: boolean,
): Omit<Node, "children">[] {
  const removed: Omit<Node, "children">[] = []
  const visit = (node: Node, isGone: boolean, above?: string): void => {
    const now = pairs.after(node)
    const { children, ...own } = node
    const isMenu = node.role === "menu"
    const isNews = !now && isGone && (tells(node) || isMenu)
    if (isNews) removed.push(isMenu ? closedMenu(node, above) : own)
    const isRead = complete || !now || (now.children_count ?? 0) <= (now.children?.length ?? 0)
    const isClosed = now && isRead && opensItems(node) && children?.every((child) => !pairs.after(child))
    if (isClosed) removed.push(closedMenu(menuOf(node)))
    const words = wordsOf(node) ?? above
    for (const child of children ?? []) visit(child, now ? isRead && !isClosed : isGone && !isNews, words)
  }
  visit(before, false)
  return removed
}

function changedNode(node: Node, was: Changed["was"], path: readonly string[]): Changed {
  const { children: _, ...own } = node
  // The caller knows the place of a ref from the earlier snapshot.
  const isKnown = own.ref_id !== undefined && was.ref_id === undefined
  return { ...own, was, ...(path.length && !isKnown ? { path } : {}) }
}

/** The earlier values of the members that changed; undefined if none did. Bounds do not count. */
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
  const isSame = was === now || (now !== undefined && was === abbreviate(now))
  return isSame ? {} : { [member]: was ?? "" }
}

function sameStates(a: Node, b: Node): boolean {
  const states = new Set(a.states)
  return states.size === (b.states?.length ?? 0) && (b.states?.every((state) => states.has(state)) ?? true)
}

/** The object of a node, with its role; undefined if the toolkit may use the object for other content. */
function objectOf(node: Node): string | undefined {
  const origin = originOf(node)
  return origin?.address === undefined || origin.isRecycled ? undefined : `${node.role} ${origin.address}`
}

/** The place of a node on the screen; undefined if it was not read. */
function spotOf(node: Node): string | undefined {
  const bounds = originOf(node)?.bounds
  return bounds && `${node.role} ${Object.values(bounds).join()}`
}

/** The platform's addresses of the objects that refs belong to, in the earlier map and in the new one. */
export interface Addresses {
  before(ref: string): string | undefined
  after(ref: string): string | undefined
}

/**
 * Pairs the nodes of an earlier tree with those of a later one. Nodes with the same ref are a pair. Among the children
 * of a pair, these become pairs, in this order: nodes with the same content, with the same elements inside, with the
 * same name, with the same object under another name, and at the same position.
 */
export class Pairing {
  readonly #now = new Map<Node, Node>()
  readonly #then = new Map<Node, Node>()
  readonly #parents = new Map<Node, Node>()
  readonly #byRef = new Map<string, Node>()
  readonly #prints = new Map<Node, string>()

  constructor(before: Node, after: Node, addresses?: Addresses, isLive = false) {
    const objects = new Map<string, Node>()
    for (const node of this.#walk(before)) {
      if (node.ref_id) this.#byRef.set(node.ref_id, node)
      const object = isLive ? objectOf(node) : undefined
      if (object !== undefined) objects.set(object, node)
    }
    const pairs: [Node, Node][] = [[before, after]]
    const taken = new Set<Node>([before])
    for (const node of this.#walk(after)) {
      const same = this.#byRef.get(node.ref_id ?? "") ?? objects.get(objectOf(node) ?? "")
      if (!same || taken.has(same) || node === after) continue
      taken.add(same)
      pairs.push([same, node])
    }
    for (const [was, now] of pairs) this.#pair(was, now)
    // The list grows while it is walked: each pair adds the pairs among its children.
    for (const [was, now] of pairs) pairs.push(...this.#align(was, now, addresses))
  }

  before(after: Node): Node | undefined {
    return this.#then.get(after)
  }

  after(before: Node): Node | undefined {
    return this.#now.get(before)
  }

  /** True if a child of the node was there before. */
  keepsAny({ children = [] }: Node): boolean {
    return children.some((child) => this.#then.has(child))
  }

  #pair(before: Node, after: Node): void {
    this.#now.set(before, after)
    this.#then.set(after, before)
  }

  #align(was: Node, now: Node, addresses: Addresses | undefined): readonly [Node, Node][] {
    const made: [Node, Node][] = []
    const pairUp = (before: Node | undefined, after: Node): void => {
      if (!before) return
      this.#pair(before, after)
      made.push([before, after])
    }
    const byKey = (
      keyBefore: (node: Node) => string | undefined,
      keyAfter: (node: Node) => string | undefined = keyBefore,
    ): void => {
      const open = new Map<string | undefined, Node[]>()
      for (const node of (was.children ?? []).filter((one) => !this.#now.has(one)).reverse()) {
        const key = keyBefore(node)
        const alike = open.get(key)
        if (alike) alike.push(node)
        else if (key !== undefined) open.set(key, [node])
      }
      for (const node of now.children ?? []) {
        if (open.size === 0) return
        const key = this.#then.has(node) ? undefined : keyAfter(node)
        if (key !== undefined) pairUp(open.get(key)?.pop(), node)
      }
    }
    // Several children may have the same content: those at the same end of the list are paired.
    const [open, fresh] = [
      was.children?.filter((node) => !this.#now.has(node)) ?? [],
      now.children?.filter((node) => !this.#then.has(node)) ?? [],
    ]
    const isSame = (before?: Node, after?: Node): boolean =>
      Boolean(before && after) && this.#print(before!) === this.#print(after!)
    while (isSame(open[0], fresh[0])) pairUp(open.shift(), fresh.shift()!)
    while (isSame(open.at(-1), fresh.at(-1))) pairUp(open.pop(), fresh.pop()!)
    byKey((node) => this.#print(node))
    for (const node of now.children ?? []) {
      if (!this.#then.has(node)) pairUp(this.#holder(node, was), node)
    }
    byKey((node) => (wordsOf(node) ? `${node.role} ${wordsOf(node)}` : undefined))
    const gaps = this.#gaps(was.children ?? [], now.children ?? [])
    byKey(
      (node) => (node.ref_id ? addresses?.before(node.ref_id) : `${node.role} ${gaps.get(node)}`),
      (node) => (node.ref_id ? addresses?.after(node.ref_id) : `${node.role} ${gaps.get(node)}`),
    )
    // One of the two may have a ref, and the other not.
    byKey((node) => (wordsOf(node) ? undefined : spotOf(node)))
    return made
  }

  /** For each child, the position of the last paired sibling before it. */
  #gaps(before: readonly Node[], after: readonly Node[]): ReadonlyMap<Node, number> {
    const gaps = new Map<Node, number>()
    const places = new Map(after.map((node, i) => [node, i]))
    let last = -1
    for (const [i, node] of after.entries()) {
      if (this.#then.has(node)) last = i
      gaps.set(node, last)
    }
    last = -1
    for (const node of before) {
      const now = this.#now.get(node)
      last = (now && places.get(now)) ?? last
      gaps.set(node, last)
    }
    return gaps
  }

  /** The child of `was` that held the descendants of this node. */
  #holder(node: Node, was: Node): Node | undefined {
    for (const below of this.#walk(node)) {
      let one = this.#then.get(below)
      while (one && this.#parents.get(one) !== was) one = this.#parents.get(one)
      if (one && !this.#now.has(one) && one.role === node.role && !one.ref_id === !node.ref_id) return one
    }
    return undefined
  }

  /** A fingerprint of the content of a node and its descendants. */
  #print(node: Node): string {
    const known = this.#prints.get(node)
    if (known !== undefined) return known
    const { ref_id: _, children, hint: __, ...own } = node
    const print = JSON.stringify([own, children?.map((child) => this.#print(child))])
    const short = print.length > 64 ? Bun.hash.wyhash(print).toString(36) : print
    this.#prints.set(node, short)
    return short
  }

  *#walk(node: Node): Generator<Node> {
    yield node
    for (const child of node.children ?? []) {
      this.#parents.set(child, node)
      yield* this.#walk(child)
    }
  }
}
