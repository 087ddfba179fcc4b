import type { Seen, SeenNode } from "./adapter.ts"
import { type ActionName, hasTrait, type Node } from "./node.ts"

/** A node of a tree and its place there. */
export interface Position {
  readonly node: SeenNode
  /** Child indexes from the root of the tree down. */
  readonly path: readonly number[]
  readonly ancestors: readonly SeenNode[]
}

/** Actions that give a node of any role a ref. Focus and scrolling do not: nearly every node offers them. */
const TELLING_ACTIONS: ReadonlySet<ActionName> = new Set([
  "Click",
  "Toggle",
  "Check",
  "Expand",
  "Select",
  "SetValue",
  "TypeText",
])

export function isInteractive(seen: Pick<Seen, "role" | "actions">): boolean {
  return (
    hasTrait(seen.role, "interactive") || (seen.actions?.some((name) => TELLING_ACTIONS.has(name)) ?? false)
  )
}

/** True for a nameless group around other nodes. Web apps nest dozens of them, so they do not count as depth. */
export function isWrapper(seen: Pick<Node, "role" | "name" | "value" | "description">): boolean {
  return hasTrait(seen.role, "wrapper") && !seen.name && !seen.value && !seen.description
}

/** Visits every node with its place, depth first. */
export function* walk(root: SeenNode): Generator<Position> {
  const stack: Position[] = [{ node: root, path: [], ancestors: [] }]
  for (let place = stack.pop(); place; place = stack.pop()) {
    yield place
    const { node, path } = place
    const ancestors = [...place.ancestors, node]
    for (let i = node.children.length - 1; i >= 0; i--) {
      const child = node.children[i]!
      stack.push({ node: child, path: [...path, child.index ?? i], ancestors })
    }
  }
}
