import type { SeenNode } from "../adapter.ts"
import type { Beyond, Node, Rect } from "../node.ts"
import { originOf, withChildren } from "../refs/allocate.ts"

/** A snapshot lists what is in view, and counts what is scrolled out of view. */

export type Side = "above" | "below" | "left" | "right"

const SIDES = ["above", "left", "below", "right"] as const satisfies readonly Side[]

/** The nodes of a tree that are scrolled out of view with everything in them. */
export function outOfView(root: SeenNode): ReadonlySet<SeenNode> {
  const out = new Set<SeenNode>()
  const visit = (node: SeenNode): boolean => {
    const areChildrenOut = node.children.map(visit).every(Boolean)
    const isOut = areChildrenOut && node !== root && node.states.includes("offscreen")
    if (isOut) out.add(node)
    return isOut
  }
  visit(root)
  return out
}

/** The printed tree without those nodes. `getsRef`: whether a node would have a ref. */
export function leaveOut(tree: Node, out: ReadonlySet<SeenNode>, getsRef: (node: SeenNode) => boolean): Node {
  return gathered(prune(tree, out, getsRef))
}

function prune(tree: Node, out: ReadonlySet<SeenNode>, getsRef: (node: SeenNode) => boolean): Node {
  if (!tree.children) return tree
  const isOut = (child: Node): boolean => {
    const origin = originOf(child)
    return origin !== undefined && out.has(origin)
  }
  const first = tree.children.findIndex((child) => !isOut(child))
  const view = originOf(tree)?.bounds
  const left = tree.children.flatMap((child, at): Beyond[] => {
    const origin = isOut(child) ? originOf(child) : undefined
    if (!origin) return []
    const side = sideOf(origin.bounds, view) ?? (at < first ? "above" : "below")
    return [{ [side]: countIn(origin, getsRef) }]
  })
  const kept = tree.children.filter((child) => !isOut(child)).map((child) => prune(child, out, getsRef))
  const pruned = withChildren(tree, kept)
  return left.length === 0 ? pruned : withBeyond(pruned, [tree.offscreen ?? {}, ...left])
}

const countIn = (node: SeenNode, getsRef: (node: SeenNode) => boolean): number =>
  (getsRef(node) ? 1 : 0) + node.children.reduce((sum, child) => sum + countIn(child, getsRef), 0)

function sideOf(bounds: Rect | undefined, view: Rect | undefined): Side | undefined {
  if (!bounds || !view || bounds.width <= 0 || bounds.height <= 0) return undefined
  if (bounds.y + bounds.height <= view.y) return "above"
  if (bounds.y >= view.y + view.height) return "below"
  if (bounds.x + bounds.width <= view.x) return "left"
  return bounds.x >= view.x + view.width ? "right" : undefined
}

/**
 * Moves counts up to the node that scrolls: if the last visible child has more below it, and so has its parent, all of
 * that is below the parent's view.
 */
function gathered(tree: Node): Node {
  const children = tree.children?.map(gathered)
  if (!children) return tree
  const taken: Beyond[] = []
  const rest = children.map((child, at) => {
    const sides = SIDES.filter(
      (side) =>
        child.offscreen?.[side] !== undefined &&
        tree.offscreen?.[side] !== undefined &&
        at === (side === "above" || side === "left" ? 0 : children.length - 1),
    )
    if (sides.length === 0) return child
    const { at_least } = child.offscreen ?? {}
    for (const side of sides)
      taken.push({ [side]: child.offscreen?.[side], ...(at_least ? { at_least } : {}) })
    return withoutSides(child, sides)
  })
  const node = withChildren(tree, rest)
  return taken.length === 0 ? node : withBeyond(node, [tree.offscreen ?? {}, ...taken])
}

function withoutSides(node: Node, sides: readonly Side[]): Node {
  const { offscreen, ...own } = node
  const left = SIDES.filter((side) => offscreen?.[side] !== undefined && !sides.includes(side))
  return withChildren(
    left.length === 0
      ? own
      : {
          ...own,
          offscreen: { ...pick(offscreen ?? {}, left), ...(offscreen?.at_least ? { at_least: true } : {}) },
        },
    node.children,
    node,
  )
}

function withBeyond(node: Node, parts: readonly Beyond[]): Node {
  const sides = SIDES.filter((side) => parts.some((part) => part[side] !== undefined))
  const sums = Object.fromEntries(
    sides.map((side) => [side, parts.reduce((sum, part) => sum + (part[side] ?? 0), 0)]),
  )
  const isLeast = parts.some(({ at_least }) => at_least)
  return withChildren(
    { ...node, offscreen: { ...sums, ...(isLeast ? { at_least: true } : {}) } },
    node.children,
    node,
  )
}

const pick = (beyond: Beyond, sides: readonly Side[]): Beyond =>
  Object.fromEntries(sides.map((side) => [side, beyond[side]]))

/** The numbers of a whole tree. undefined: nothing is out of view. */
export function countOffscreen(
  tree: Node,
): { readonly offscreen_count: number; readonly offscreen_at_least?: true } | undefined {
  let count = 0
  let isThere = false
  let isLeast = false
  const visit = ({ offscreen, children }: Node): void => {
    isThere ||= offscreen !== undefined
    isLeast ||= offscreen?.at_least === true
    for (const side of SIDES) count += offscreen?.[side] ?? 0
    children?.forEach(visit)
  }
  visit(tree)
  if (!isThere) return undefined
  return { offscreen_count: count, ...(isLeast ? { offscreen_at_least: true } : {}) }
}

/** The lines around the children of a node: those before them, and those after. */
export function beyondLines(beyond: Beyond | undefined): readonly [readonly string[], readonly string[]] {
  const line = (side: Side): readonly string[] => {
    const count = beyond?.[side]
    if (count === undefined) return []
    const least = beyond?.at_least ? (count > 0 ? "at least " : "") : ""
    const number = count > 0 ? `${least}${count} more` : beyond?.at_least ? "more" : "more text"
    return [`… ${number} ${WHERE[side]}`]
  }
  return [
    [...line("above"), ...line("left")],
    [...line("below"), ...line("right")],
  ]
}

const WHERE: Readonly<Record<Side, string>> = {
  above: "above",
  below: "below",
  left: "to the left",
  right: "to the right",
}
