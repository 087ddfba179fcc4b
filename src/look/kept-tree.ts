import type { SeenWindow } from "../adapter.ts"
import type { Node, Surface } from "../node.ts"
import { cut } from "../refmap.ts"

/** How a tree was read. A later tree can be compared with it only if it was read in the same way. */
export interface ReadSettings {
  readonly surface: Surface
  readonly max_depth: number
  readonly include_hidden: boolean
  readonly offscreen: boolean
  readonly interactive_only: boolean
  readonly skeleton: boolean
}

/** The tree of a snapshot, kept with its map so that a later one can be compared with it. */
export interface KeptTree {
  /** The window that the caller asked for. A menu of that window has a different id. */
  readonly window_id: string
  readonly reading: ReadSettings
  readonly complete: boolean
  /** The whole tree with its refs, not pruned, without bounds. Long texts are abbreviated. */
  readonly tree: Node
}

export function toKept(window: SeenWindow, options: ReadSettings, complete: boolean, tree: Node): KeptTree {
  const { surface, max_depth, include_hidden, offscreen, interactive_only, skeleton } = options
  const reading = { surface, max_depth, include_hidden, offscreen, interactive_only, skeleton }
  return { window_id: window.id, reading, complete, tree }
}

export function formatKept(kept: KeptTree): string {
  return JSON.stringify({ ...kept, tree: abbreviateTree(kept.tree) })
}

/** undefined: the text is truncated, or another version of the program wrote it. */
export function parseKept(text: string): KeptTree | undefined {
  try {
    const kept: unknown = JSON.parse(text)
    return isKept(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

const LONGEST = 256

/** A long text is cut, with its length and a hash in place of the rest. */
export function abbreviate(text: string): string {
  if (text.length <= LONGEST) return text
  const tail = `…${text.length}:${Bun.hash.wyhash(text).toString(36)}`
  return cut(text, LONGEST - tail.length) + tail
}

function abbreviateTree(node: Node): Node {
  const { name, value, description, bounds: _, children, ...rest } = node
  return {
    ...rest,
    ...(name === undefined ? {} : { name: abbreviate(name) }),
    ...(value === undefined ? {} : { value: abbreviate(value) }),
    ...(description === undefined ? {} : { description: abbreviate(description) }),
    ...(children ? { children: children.map(abbreviateTree) } : {}),
  }
}

// The program wrote the file into a directory that only its user may write to, so a look at its shape is enough.
const isKept = (value: unknown): value is KeptTree =>
  typeof value === "object" &&
  value !== null &&
  "window_id" in value &&
  "reading" in value &&
  "complete" in value &&
  "tree" in value &&
  typeof value.tree === "object"
