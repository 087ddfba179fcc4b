import { hasTrait, type Node } from "../node.ts"
import { withChildren } from "../refs/allocate.ts"
import { isWrapper, wordsOf } from "../tree.ts"
import { inRows, isEmptyCell, onlyCellIn } from "./printed-rows.ts"

/**
 * Drops empty, decorative and duplicate nodes, bottom up. The root and every node with a ref stay, except empty cells.
 * - The cells of a table stand in rows. Empty ones are counted (`empty_cells` of the table) and dropped. A cell that only
 *   holds another one is replaced by it.
 * - A node with one child is replaced by it, if the node says nothing or only what the child says. The description of a
 *   group around one control, such as its tool tip, becomes that of the control.
 * - A wrapper that is an only child, or holds nothing but groups and other containers, is replaced by its children.
 * - A leaf is dropped if it only decorates, or repeats the name of its parent or of a sibling.
 */
export function compact(tree: Node): Node {
  return withChildren(tree, compactChildren(tree, undefined))
}

/** `above` is the nearest name among the ancestors. */
function compactChildren(parent: Node, above: string | undefined): readonly Node[] {
  const name = wordsOf(parent) ?? above
  const all = inRows(parent)?.flatMap((child) => compactNode(child, name)) ?? []
  const children = holdsCells(parent) ? all.filter((child) => !isEmptyCell(child)) : all
  const kept = children.filter((child) => !repeatsSibling(child, children) && !isHintOf(child, parent))
  const [only] = kept
  if (only && kept.length === 1 && isFiller(only)) return only.children ?? []
  return kept.flatMap((child) =>
    isFiller(child) && child.children?.every(isContainer) ? child.children : child,
  )
}

/** The node, its only child, or nothing. */
function compactNode(node: Node, above: string | undefined): Node[] {
  const children = compactChildren(node, above)
  const only = onlyCellIn(withChildren(node, children))
  if (only) return [only]
  const described = describedBy(node, children)
  if (described) return [described]
  const repeats = sameName(wordsOf(node), above) || (children.length === 1 && saidBy(children[0], node))
  if (node.ref_id || saysMore(node) || (wordsOf(node) && !repeats)) return [withTable(node, children)]
  if (children.length === 1) return [...children]
  if (children.length > 1) return [withTable(node, children)]
  // Firefox has a group without parts for a text.
  const isDropped = repeats ? CAPTIONS.has(node.role) || node.role === "group" : DECORATION.has(node.role)
  return isDropped && !node.hint ? [] : [withChildren(node, children)]
}

/** The only child, a control without a description of its own, with that of the group around it. */
function describedBy(node: Node, [child, ...others]: readonly Node[]): Node | undefined {
  const { description, states, children_count, offscreen, hint } = node
  if (
    !hasTrait(node.role, "wrapper") ||
    node.ref_id ||
    wordsOf(node) ||
    node.value !== undefined ||
    !description
  )
    return undefined
  if (states?.length || children_count || offscreen || hint) return undefined
  if (!child?.ref_id || others.length > 0 || (child.description && child.description !== description))
    return undefined
  const { hint: _, states: own, bounds, children_count: count, offscreen: out, children, ...start } = child
  // The members of a node have an order.
  return withChildren({ ...start, description, ...child }, children, child)
}

/** The node with its children and, for a table, the number of empty cells that were dropped. */
function withTable(node: Node, children: readonly Node[]): Node {
  const made = withChildren(node, children)
  const dropped = hasTrait(node.role, "table") ? countEmpty(node) : 0
  return dropped > 0 ? withChildren({ ...made, empty_cells: dropped }, made.children, node) : made
}

/** The empty cells of a table. A cell inside another one is a part of it. */
const countEmpty = ({ children = [] }: Node): number =>
  children.reduce(
    (sum, child) => sum + (child.role === "row" ? countEmpty(child) : isEmptyCell(child) ? 1 : 0),
    0,
  )

const holdsCells = ({ role }: Node): boolean => hasTrait(role, "table") || role === "row" || role === "cell"

const isContainer = ({ children, ref_id }: Node): boolean => children !== undefined && !ref_id

/** True for a wrapper without any content of its own. */
const isFiller = (node: Node): boolean =>
  isWrapper(node) && node.value === undefined && !node.ref_id && !saysMore(node)

/** True if the child repeats the name: "Styles (Ctrl+2)" says all that its toolbar "Styles" says. */
function saidBy(child: Node | undefined, node: Node): boolean {
  const name = wordsOf(node)
  const said = child && wordsOf(child)
  // Firefox has a label around the field that it names.
  if (node.role === "label") return sameName(name, said)
  const rest = name && isFrame(node.role) && said?.startsWith(name) ? said.slice(name.length) : "x"
  return !/^[\p{L}\p{N}]/u.test(rest)
}

/** True for roles that look like one thing together with their only child. */
const isFrame = (role: Node["role"]): boolean =>
  hasTrait(role, "wrapper") || role === "toolbar" || role === "row" || role === "paragraph"

/** True if the node carries more than its name. */
const saysMore = (node: Node): boolean =>
  (node.value !== undefined && node.value !== wordsOf(node)) ||
  Boolean(node.description || node.states?.length || node.children_count || node.offscreen)

/** True for a caption beside the control that it names. */
function repeatsSibling(leaf: Node, siblings: readonly Node[]): boolean {
  if (leaf.ref_id || leaf.children || leaf.hint || saysMore(leaf)) return false
  const isCaption = CAPTIONS.has(leaf.role)
  // Firefox has a group without parts for a text.
  if (!isCaption && leaf.role !== "group") return false
  return siblings.some(
    (one) =>
      one !== leaf &&
      (isCaption ? one.ref_id || one.children : one.name_inferred) &&
      sameName(wordsOf(leaf), wordsOf(one)),
  )
}

/** True for the text of a shortcut in the menu item that has it as its hint. */
const isHintOf = (leaf: Node, { hint }: Node): boolean =>
  hint !== undefined && CAPTIONS.has(leaf.role) && !leaf.ref_id && !leaf.children && wordsOf(leaf) === hint

/** "Name:" and "Name" are the same name. */
function sameName(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && bare(a) !== "" && bare(a) === bare(b)
}

const bare = (name: string): string => name.trim().replace(/\s*:$/, "")

/** Leaves that carry nothing but their name. Not the trait `text`: a link leads somewhere, and a picture has a name. */
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

/** Leaves that mean nothing without a name. */
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
  "row",
])
