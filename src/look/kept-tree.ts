import type { Node, Surface } from "../node.ts"
import { cut } from "../refmap.ts"

/** How a tree was read: what a later reading must do alike to be compared with it. */
export interface Reading {
  readonly surface: Surface
  readonly max_depth: number
  readonly include_hidden: boolean
  readonly interactive_only: boolean
  readonly skeleton: boolean
}

/** What a snapshot saw, kept with its map so that a later one can tell the difference. */
export interface Kept {
  /** The window that was asked for; a menu of it has an id of its own. */
  readonly window_id: string
  readonly reading: Reading
  readonly complete: boolean
  /** As numbered, before any pruning, without bounds; long texts as `brief` has them. */
  readonly tree: Node
}

export function formatKept(kept: Kept): string {
  return JSON.stringify({ ...kept, tree: briefTree(kept.tree) })
}

/** undefined for what is no kept tree: one that was only half written, or by another version. */
export function parseKept(text: string): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(text)
    return isKept(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

const LONGEST = 256

/** A text, or the beginning of a long one with its length and a hash in place of the rest. */
export function brief(text: string): string {
  if (text.length <= LONGEST) return text
  const tail = `…${text.length}:${Bun.hash.wyhash(text).toString(36)}`
  return cut(text, LONGEST - tail.length) + tail
}

function briefTree(node: Node): Node {
  const { name, value, description, bounds: _, children, ...rest } = node
  return {
    ...rest,
    ...(name === undefined ? {} : { name: brief(name) }),
    ...(value === undefined ? {} : { value: brief(value) }),
    ...(description === undefined ? {} : { description: brief(description) }),
    ...(children ? { children: children.map(briefTree) } : {}),
  }
}

// We wrote it ourselves into a directory that is nobody else's: its shape is enough.
const isKept = (value: unknown): value is Kept =>
  typeof value === "object" &&
  value !== null &&
  "window_id" in value &&
  "reading" in value &&
  "complete" in value &&
  "tree" in value &&
  typeof value.tree === "object"
