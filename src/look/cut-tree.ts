import type { SeenNode, SeenTree } from "../adapter.ts"
import { AppError } from "../errors.ts"
import { walk } from "../tree.ts"

/** A tree without an end has more refs than a map can hold. It is cut to a part whose refs fit. */

/** The share of a tree whose refs fit; undefined if the size of the map is not the problem. */
export function shareThatFits(error: unknown): number | undefined {
  const { kind, bytes, limit } = (error instanceof AppError && error.details) || {}
  if (kind !== "ref_map" || typeof bytes !== "number" || typeof limit !== "number") return undefined
  // Entries differ in size.
  return (0.9 * limit) / bytes
}

/** Cuts a tree in reading order. Nodes that lose children say how many they have. */
export function cutTree(seen: SeenTree, share: number): SeenTree {
  let left = Math.floor(share * [...walk(seen.root)].length)
  const cut = (node: SeenNode): SeenNode => {
    const children: SeenNode[] = []
    for (const child of node.children) if (left-- > 0) children.push(cut(child))
    if (children.length === node.children.length) return { ...node, children }
    return { ...node, children, children_count: node.children_count ?? node.children.length }
  }
  return { ...seen, root: cut(seen.root), complete: false }
}
