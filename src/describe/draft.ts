import { MAX_LEVELS, type Seen, type SeenNode, type TreeOptions } from "../adapter.ts"
import type { Beyond, Role } from "../node.ts"
import { isWrapper } from "../tree.ts"

/**
 * A tree is read in two phases, on every platform. First the platform collects a draft of each object: facts, and
 * answers to further questions. Only that waits for the app. Then describeTree() turns the drafts into nodes without
 * asking anything.
 */
export interface Draft<Self> {
  /** The children that were read. */
  readonly parts: readonly Self[]
  /** Its parts were read only to name it: they are not nodes of the tree. */
  readonly isCut: boolean
  /** The number of its children, if not all of them are nodes of the tree. */
  readonly count: number | undefined
  /** The number of elements in it that are scrolled out of view, if they were only counted. */
  readonly beyond?: Beyond | undefined
}

/** Describes one object. `inside` are its parts, described before it: they may name it. */
export type Describe<D> = (draft: D, inside: readonly SeenNode[]) => Seen

export function describeTree<D extends Draft<D>>(draft: D, describe: Describe<D>): SeenNode {
  const inside = describeParts(draft, describe)
  const { isCut, count, beyond } = draft
  const children = isCut ? [] : inside
  const seen = describe(draft, inside)
  if (!count && !beyond) return { ...seen, children }
  return {
    ...seen,
    children,
    ...(count ? { children_count: count } : {}),
    ...(beyond ? { offscreen: beyond } : {}),
  }
}

/** Describes an object alone, in the same words that a tree has for it. */
export function describeElement<D extends Draft<D>>(draft: D, describe: Describe<D>): Seen {
  return describe(draft, describeParts(draft, describe))
}

function describeParts<D extends Draft<D>>(draft: D, describe: Describe<D>): readonly SeenNode[] {
  return draft.parts.map((part) => describeTree(part, describe))
}

/** An object's position in the tree being read. */
export interface Standing {
  /** The number of objects above it. */
  readonly level: number
  /** The same without nameless wrappers. */
  readonly depth: number
}

/** The depth of an object's children. A nameless wrapper adds none, since web apps nest dozens of them. */
export function depthBelow({ depth }: Standing, words: Parameters<typeof isWrapper>[0]): number {
  return depth + (isWrapper(words) ? 0 : 1)
}

/** True if the children of an object, at `depth`, are nodes of the tree. */
export function isWithin(
  depth: number,
  { level }: Standing,
  { maxDepth }: Pick<TreeOptions, "maxDepth">,
): boolean {
  return depth <= maxDepth && level < MAX_LEVELS
}

/** Identifies an object on the way up from its descendants. */
export interface Keyed<Self, Key> {
  readonly key: Key
  readonly parent: Self | undefined
}

/**
 * Returns a test that is true for a child the first time it is seen. Some apps list a child twice, or an ancestor as a
 * child, which would be read forever.
 */
export function newBelow<D extends Keyed<D, Key>, Key>(draft: D): (key: Key) => boolean {
  const known = new Set<Key>()
  for (let at: D | undefined = draft; at; at = at.parent) known.add(at.key)
  return (key) => !known.has(key) && known.add(key).has(key)
}

/**
 * True if values and descriptions must be read: the object gets a ref, the caller keeps objects without one, or a name
 * needs them.
 */
export function wantsDetails(
  { interactiveOnly }: Pick<TreeOptions, "interactiveOnly">,
  isNeeded: boolean,
): boolean {
  return isNeeded || !interactiveOnly
}

/** Controls that show their name as texts inside. In a text field such a text is its content. */
export const NAMED_INSIDE: ReadonlySet<Role> = new Set([
  "button",
  "cell",
  "checkbox",
  "link",
  "menubutton",
  "menuitem",
  "option",
  "radiobutton",
  "tab",
  "treeitem",
])

/** A name consists of at most this many texts. */
export const MAX_LABELS = 5

interface Part<Self> {
  readonly role: Role
  readonly children: readonly Self[]
}

interface Labels<P> {
  /** How deep below the control its texts are looked for. */
  readonly levels: number
  /** How many children of an object are looked at. */
  readonly most?: number
  isText(role: Role): boolean
  /** True for an object that may come between the control and its texts. */
  isThrough(role: Role): boolean
  textOf(part: P): string | undefined
}

/** The texts inside a control, in order, by the platform's rules. */
export function textsInside<P extends Part<P>>(
  parts: readonly P[],
  labels: Labels<P>,
  levels = labels.levels,
): readonly string[] {
  return parts.slice(0, labels.most).flatMap((part) => {
    if (labels.isText(part.role)) return labels.textOf(part) ?? []
    const isThrough = levels > 1 && labels.isThrough(part.role)
    return isThrough ? textsInside(part.children, labels, levels - 1) : []
  })
}
