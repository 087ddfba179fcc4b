import { type Adapter, MAX_LEVELS, type SeenNode, type SeenWindow } from "../adapter.ts"
import { AppError } from "../errors.ts"
import { compact } from "../look/compact.ts"
import { lineOf } from "../look/outline.ts"
import { PLAIN, refSource, shownPart, treeOptions } from "../look/surface.ts"
import type { Node, Rect } from "../node.ts"
import { allocateRefs, originOf } from "../refs/allocate.ts"
import { walk } from "../tree.ts"

/** The content of a window when it was read: its outline, and the places that must not be seen. */
export interface WindowContent {
  /** The window's place at that time. */
  readonly bounds?: Rect
  /** Places of its secure fields. "unknown": secure fields may be anywhere in the window. */
  readonly secure: readonly Rect[] | "unknown"
  readonly lines: readonly Line[]
  /** The reason for a missing or partial outline, or for a cover over the window. */
  readonly note?: string
}

/** A line of the outline. */
export interface Line {
  readonly text: string
  readonly depth: number
  readonly ref?: string
  readonly bounds?: Rect
}

/** Reads the whole window: a secure field may be at any depth. */
const READING = { ...PLAIN, max_depth: MAX_LEVELS, include_bounds: true }

const MOST_LINES = 3000

/** Reads a window. undefined: it is gone. The content of a window that cannot be read is unknown. */
export async function readContent(adapter: Adapter, window: SeenWindow): Promise<WindowContent | undefined> {
  const { bounds } = window
  if (window.accessible === false) {
    // If a window never shows its content to accessibility, its secure fields cannot be found.
    const secure = window.starting ? "unknown" : []
    return { bounds, secure, lines: [], note: window.reason ?? "This app shows no elements to readers" }
  }
  try {
    const seen = await adapter.tree({ kind: "surface", window, surface: "window" }, treeOptions(READING))
    if (!seen.complete)
      return { bounds, secure: "unknown", lines: [], note: "Its elements could not be read in time" }
    const part = shownPart(seen.root, READING)
    const { tree } = allocateRefs(seen, refSource(seen, undefined), part.getsRef)
    const lines = linesOf(compact(part.of(tree)))
    const isCut = lines.length > MOST_LINES
    return {
      bounds,
      secure: secureIn(seen.root),
      lines: lines.slice(0, MOST_LINES),
      ...(isCut ? { note: `Only the first ${MOST_LINES} elements are listed` } : {}),
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === "WINDOW_NOT_FOUND" || error.code === "ELEMENT_NOT_FOUND") return undefined
    return { bounds, secure: "unknown", lines: [], note: error.message }
  }
}

function secureIn(root: SeenNode): WindowContent["secure"] {
  const fields = [...walk(root)].flatMap(({ node }) => (node.states.includes("secure") ? [node.bounds] : []))
  return fields.every((bounds) => bounds !== undefined) ? fields : "unknown"
}

function linesOf(tree: Node): readonly Line[] {
  const lines: Line[] = []
  const visit = (node: Node, depth: number): void => {
    if (lines.length > MOST_LINES) return
    const { bounds: _, children = [], ...facts } = node
    const place = originOf(node)?.bounds ?? node.bounds
    lines.push({ text: lineOf(facts), depth, ref: node.ref_id, bounds: place })
    for (const child of children) visit(child, depth + 1)
  }
  visit(tree, 0)
  return lines
}
