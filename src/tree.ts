import type { Seen, SeenNode } from "./adapter.ts"
import { type ActionName, hasTrait, type Node, type Role } from "./node.ts"

/** A node of a tree that was read, and its position in that tree. */
export interface Position {
  readonly node: SeenNode
  /** Child indexes from the root of the tree down. */
  readonly path: readonly number[]
  readonly ancestors: readonly SeenNode[]
}

/** Actions that earn a node a ref, whatever its role. Focus and scrolling do not: nearly every node offers them. */
const TELLING_ACTIONS: ReadonlySet<ActionName> = new Set([
  "Click",
  "Toggle",
  "Check",
  "Expand",
  "Select",
  "SetValue",
  "TypeText",
  "Drag",
])

export function isInteractive(seen: Pick<Seen, "role" | "actions">): boolean {
  return (
    hasTrait(seen.role, "interactive") || (seen.actions?.some((name) => TELLING_ACTIONS.has(name)) ?? false)
  )
}

/** Roles whose text is their value, however the platform reports it. */
const TEXTS: ReadonlySet<string> = new Set<Role>(["statictext", "label", "paragraph"])

interface Worded {
  readonly role: string
  readonly name?: string
  readonly inferredName?: string
  readonly value?: string
}

/**
 * Name and value as the contract has them: the text of a text node is its value, and a name that repeats it is dropped.
 */
export function nameAndValue({ role, name, inferredName, value }: Worded): Pick<Node, "name" | "value"> {
  if (!TEXTS.has(role) || !name) return { name: name || inferredName, value }
  return value === undefined || value === name ? { name: undefined, value: name } : { name, value }
}

/** The words that identify a node to a user: its name or, for a text node without one, its text. */
export const wordsOf = ({ role, name, value }: Worded): string | undefined =>
  name || (TEXTS.has(role) ? value || undefined : undefined)

/** A nameless group that only wraps. It does not count as depth, since web apps nest dozens of them. */
export function isWrapper(seen: Pick<Node, "role" | "name" | "value" | "description">): boolean {
  return hasTrait(seen.role, "wrapper") && !seen.name && !seen.value && !seen.description
}

/** Every node with its position, depth first. */
export function walk(root: SeenNode): readonly Position[] {
  const places: Position[] = []
  const visit = (place: Position): void => {
    places.push(place)
    const { node, path } = place
    if (node.children.length === 0) return
    const ancestors = [...place.ancestors, node]
    for (const [i, child] of node.children.entries())
      visit({ node: child, path: [...path, child.index ?? i], ancestors })
  }
  visit({ node: root, path: [], ancestors: [] })
  return places
}
