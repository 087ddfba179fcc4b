import { hasTrait, type Node } from "../node.ts"
import { withChildren } from "../refs/allocate.ts"
import { isWrapper } from "../tree.ts"

/**
 * Leaves out what tells nothing new, bottom up; the root and whatever has a ref stay. A node that says
 * nothing, or nothing but what its child says, and has one child is replaced by that child; a wrapper
 * that is an only child by its children. A leaf goes that only decorates, or that only repeats the name of
 * what it is in or stands beside.
 */
export function compact(tree: Node): Node {
  return withChildren(tree, compactChildren(tree, undefined))
}

/** `above` is the nearest name among the ancestors. */
function compactChildren(parent: Node, above: string | undefined): readonly Node[] {
  const name = parent.name || above
  const children = parent.children?.flatMap((child) => compactNode(child, name)) ?? []
  const kept = children.filter((child) => !repeatsSibling(child, children))
  const [only] = kept
  return only && kept.length === 1 && isFiller(only) ? (only.children ?? []) : kept
}

/** What is left of it, as a list of none or one. */
function compactNode(node: Node, above: string | undefined): Node[] {
  const children = compactChildren(node, above)
  const repeats = sameName(node.name, above) || (children.length === 1 && saidBy(children[0], node))
  if (node.ref_id || saysMore(node) || (node.name && !repeats)) return [withChildren(node, children)]
  if (children.length === 1) return [...children]
  if (children.length > 1) return [withChildren(node, children)]
  return (repeats ? CAPTIONS : DECORATION).has(node.role) && !node.hint ? [] : [withChildren(node, children)]
}

/** A wrapper without a word of its own. */
const isFiller = (node: Node): boolean =>
  isWrapper(node) && node.value === undefined && !node.ref_id && !saysMore(node)

/** "Styles (Ctrl+2)" says what the toolbar "Styles" around it says. */
function saidBy(child: Node | undefined, { role, name = "" }: Node): boolean {
  const rest = name && isFrame(role) && child?.name?.startsWith(name) ? child.name.slice(name.length) : "x"
  return !/^[\p{L}\p{N}]/u.test(rest)
}

/** What a user sees as one thing with its only child. */
const isFrame = (role: Node["role"]): boolean =>
  hasTrait(role, "wrapper") || role === "toolbar" || role === "row" || role === "paragraph"

/** Something besides a name. */
const saysMore = ({ value, description, states, children_count }: Node): boolean =>
  value !== undefined || Boolean(description || states?.length || children_count)

/** A caption beside the control that is named after it. */
function repeatsSibling(leaf: Node, siblings: readonly Node[]): boolean {
  if (!CAPTIONS.has(leaf.role) || leaf.ref_id || leaf.children || leaf.hint || saysMore(leaf)) return false
  return siblings.some((one) => one !== leaf && (one.ref_id || one.children) && sameName(leaf.name, one.name))
}

/** "Name:" beside the field "Name" is the same name. */
function sameName(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && bare(a) !== "" && bare(a) === bare(b)
}

const bare = (name: string): string => name.trim().replace(/\s*:$/, "")

/** Leaves that say nothing but their name. Not the trait `text`: a link leads somewhere, and a picture has a name. */
const CAPTIONS: ReadonlySet<Node["role"]> = new Set([
  "statictext",
  "label",
  "image",
  "heading",
  "paragraph",
  "caption",
  "term",
  "definition",
  "tooltip",
])

/** Leaves that say nothing at all if they have no name. */
const DECORATION: ReadonlySet<Node["role"]> = new Set([
  "separator",
  "image",
  "group",
  "container",
  "unknown",
  "statictext",
  "label",
  "paragraph",
  "scrollbar",
  "scrollarea",
  "splitter",
  "handle",
  "matte",
  "layoutitem",
  "figure",
])
