import type { Node } from "./node.ts"

/** The platform's own names for the objects that refs stood for then and stand for now. */
export interface Addresses {
  before(ref: string): string | undefined
  after(ref: string): string | undefined
}

/**
 * Which node of an earlier tree is which node of a later one. The same ref is the same element. Among the
 * children of two that are paired, then those pair up that say the same, that hold the same elements, that
 * are called the same, and last those that are one object with another name, or stand in the same place.
 */
export class Pairing {
  readonly #now = new Map<Node, Node>()
  readonly #then = new Map<Node, Node>()
  readonly #parents = new Map<Node, Node>()
  readonly #byRef = new Map<string, Node>()
  readonly #prints = new Map<Node, string>()

  constructor(before: Node, after: Node, addresses?: Addresses) {
    for (const node of this.#walk(before)) if (node.ref_id) this.#byRef.set(node.ref_id, node)
    const pairs: [Node, Node][] = [[before, after]]
    for (const node of this.#walk(after)) {
      const same = this.#byRef.get(node.ref_id ?? "")
      if (same && same !== before && node !== after) pairs.push([same, node])
    }
    for (const [was, now] of pairs) this.#pair(was, now)
    // The list grows as pairs make pairs of their children.
    for (const [was, now] of pairs) pairs.push(...this.#align(was, now, addresses))
  }

  before(after: Node): Node | undefined {
    return this.#then.get(after)
  }

  after(before: Node): Node | undefined {
    return this.#now.get(before)
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
    // Of several that say the same, those that stand at the same end are the same.
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
    byKey((node) => (node.name ? `${node.role} ${node.name}` : undefined))
    const gaps = this.#gaps(was.children ?? [], now.children ?? [])
    byKey(
      (node) => (node.ref_id ? addresses?.before(node.ref_id) : `${node.role} ${gaps.get(node)}`),
      (node) => (node.ref_id ? addresses?.after(node.ref_id) : `${node.role} ${gaps.get(node)}`),
    )
    return made
  }

  /** After which of those that are paired each child stands, then and now. */
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

  /** The child of `was` that held what this node holds now. */
  #holder(node: Node, was: Node): Node | undefined {
    for (const below of this.#walk(node)) {
      let one = this.#then.get(below)
      while (one && this.#parents.get(one) !== was) one = this.#parents.get(one)
      if (one && !this.#now.has(one) && one.role === node.role && !one.ref_id === !node.ref_id) return one
    }
    return undefined
  }

  /** All that a node and what is below it say. */
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
