import { AppError } from "../errors.ts"
import { hasTrait, type Node, OMITTED } from "../node.ts"
import { cut } from "../refmap.ts"
import { originOf, trace } from "../refs/allocate.ts"

export interface Budget {
  readonly tokens: number
  /** Tokens that this tree takes in print, with everything around it. */
  cost(tree: Node): number
  /** The ref that the nth node without one would get to be drilled into, from 0. */
  spell(index: number): string
}

export interface Fitted {
  readonly tree: Node
  /** Nodes of the tree that were given a ref, in the order of their refs. */
  readonly drills: readonly Node[]
  /** Nothing was left out. */
  readonly complete: boolean
}

/** The part of a tree that there is room for. Throws INVALID_ARGS if the root alone does not fit. */
export function fitOrRefuse(tree: Node, budget: Budget, advice = ""): Fitted {
  const fitted = fitTree(tree, budget)
  if (fitted) return fitted
  const { tokens, cost, spell } = budget
  const { children: _, ...root } = tree
  const least = cost({ ...root, ref_id: spell(0), children_count: tree.children?.length ?? 0 })
  throw new AppError("INVALID_ARGS", `--budget ${tokens} is too small: the window alone takes ${least}`, {
    suggestion: `Pass --budget ${least * 2} or more${advice}`,
    details: { argument: "budget", least },
  })
}

/**
 * The part of a tree that there is room for: what has the focus, the places that hold much, what can be
 * acted on, what says something, structure, and last the middles of long lists, each in the tree's order.
 * What is left out is
 * counted where it was, by `children_count` of the node that it hangs below in print, and that node has a
 * ref to drill into. What there is room for takes the place of an ancestor that there is none for.
 * undefined: there is no room even for the root.
 */
export function fitTree(tree: Node, budget: Budget): Fitted | undefined {
  const all = byImportance(tree)
  const fitting = (count: number): Fitted | undefined => {
    const fitted = printTree(tree, new Set(all.slice(0, count)), budget)
    if (budget.cost(fitted.tree) > budget.tokens) return undefined
    return count < all.length ? { ...fitted, complete: false } : fitted
  }
  // No node is printed in less than two tokens.
  const most = Math.min(all.length, budget.tokens >> 1)
  let best = most === all.length ? fitting(most) : undefined
  if (best) return best
  best = fitting(1)
  let [low, high] = [1, most]
  while (best && high - low > 1) {
    const middle = (low + high) >> 1
    const fitted = fitting(middle)
    best = fitted ?? best
    if (fitted) low = middle
    else high = middle
  }
  return best
}

/** Of more siblings of one role than this, the first and the last few are shown before the rest. */
const LONG = 10
const HEAD = 5
const TAIL = 2

function byImportance(tree: Node): readonly Node[] {
  const ranks: Node[][] = [[tree], [], [], [], [], [], [], []]
  const places = placesIn(tree)
  const visit = (node: Node, isLate: boolean): void => {
    const middles = isLate ? undefined : middlesOf(node.children ?? [])
    for (const child of node.children ?? []) {
      const isInMiddle = isLate || (middles?.has(child) ?? false)
      ranks[rankOf(child, isInMiddle, places)]?.push(child)
      visit(child, isInMiddle)
    }
  }
  visit(tree, false)
  return ranks.flat()
}

function rankOf(node: Node, isLate: boolean, places: ReadonlySet<Node>): number {
  if (node.states?.includes("focused")) return 1
  if (isLate && !(node.ref_id && node.states?.includes("selected"))) return node.ref_id ? 6 : 7
  if (places.has(node)) return 2
  if (node.ref_id) return 3
  return node.name || node.value || node.description ? 4 : 5
}

/** Where there is this much to act on, it is worth a line of its own to drill into. */
const MUCH = 5

/** Toolbars, menus, lists, named groups: the innermost ones that hold much. */
function placesIn(tree: Node): ReadonlySet<Node> {
  const places = new Set<Node>()
  const visit = (node: Node): number => {
    const held = (node.children ?? []).reduce((sum, child) => sum + visit(child), 0)
    if (held < MUCH || node.ref_id || (!node.name && onlyArranges(node.role)))
      return held + (node.ref_id ? 1 : 0)
    places.add(node)
    return 0
  }
  visit(tree)
  return places
}

/** True of a role that only arranges its children if it has no name: they count for the node around it. */
const onlyArranges = (role: Node["role"]): boolean =>
  hasTrait(role, "wrapper") || role === "scrollarea" || role === "splitter" || role === "row"

function middlesOf(siblings: readonly Node[]): ReadonlySet<Node> | undefined {
  if (siblings.length <= LONG) return undefined
  const alike = [...Map.groupBy(siblings, ({ role }) => role).values()]
  return new Set(alike.flatMap((same) => (same.length > LONG ? same.slice(HEAD, -TAIL) : [])))
}

function printTree(tree: Node, chosen: ReadonlySet<Node>, { tokens, spell }: Budget): Fitted {
  const longest = Math.min(400, Math.max(40, tokens >> 2))
  const drills: Node[] = []
  let complete = true
  const withRefs = (node: Node): Node => {
    const isCut = node.children_count !== undefined || node.characters_omitted !== undefined
    complete &&= node.characters_omitted === undefined
    const ref = isCut && !node.ref_id && node.role !== OMITTED ? spell(drills.length) : undefined
    // Its place among the drills comes before those of what is below it.
    const at = ref ? drills.push(node) - 1 : -1
    const { children, ...own } = node
    const made = trace(
      {
        ...(ref ? { ref_id: ref } : {}),
        ...own,
        ...(children ? { children: children.map(withRefs) } : {}),
      },
      originOf(node),
    )
    if (ref) drills[at] = made
    return made
  }
  const printed = withRefs(printNode(tree, chosen, longest))
  return { tree: printed, drills, complete }
}

/** A printed node, or how many in a row were left out, each with all below it. */
type Part = Node | number

function printNode(node: Node, chosen: ReadonlySet<Node>, longest: number): Node {
  const { children, children_count: _, ...own } = node
  const parts = partsBelow(node, chosen, longest)
  const printed = parts.filter(isNode).length
  const omitted = parts.reduce<number>((sum, part) => sum + (isNode(part) ? 0 : part), 0)
  return trace(
    {
      ...shorten(own, longest),
      ...(omitted > 0 ? { children_count: printed + omitted } : {}),
      ...(printed > 0 ? { children: parts.flatMap(asNode) } : {}),
    },
    originOf(node),
  )
}

function partsBelow(node: Node, chosen: ReadonlySet<Node>, longest: number): readonly Part[] {
  const parts: Part[] = []
  const add = (part: Part): void => {
    const last = parts.at(-1)
    if (isNode(part) || last === undefined || isNode(last)) parts.push(part)
    else parts[parts.length - 1] = last + part
  }
  for (const child of node.children ?? []) {
    const below = chosen.has(child) ? [printNode(child, chosen, longest)] : partsBelow(child, chosen, longest)
    // With nothing below it that is shown it counts as one, however much it holds.
    for (const part of below.some(isNode) ? below : [1]) add(part)
  }
  const unread = (node.children_count ?? 0) - (node.children?.length ?? 0)
  if (unread > 0) add(unread)
  return parts
}

const isNode = (part: Part): part is Node => typeof part !== "number"

/** From this many on it is worth saying where they were, and not only how many. */
const WIDE = 3

function asNode(part: Part, at: number, parts: readonly Part[]): readonly Node[] {
  if (isNode(part)) return [part]
  const isBetween = at > 0 && at < parts.length - 1
  return isBetween && part >= WIDE ? [{ role: OMITTED, children_count: part }] : []
}

/** The same with the ends of long texts left out. */
function shorten(node: Omit<Node, "children">, longest: number): Omit<Node, "children"> {
  let omitted = 0
  const short = (text: string): string => {
    if (text.length <= longest) return text
    const kept = cut(text, longest)
    omitted += text.length - kept.length
    return `${kept}…`
  }
  const texts = {
    ...(node.name === undefined ? {} : { name: short(node.name) }),
    ...(node.value === undefined ? {} : { value: short(node.value) }),
    ...(node.description === undefined ? {} : { description: short(node.description) }),
    ...(node.hint === undefined ? {} : { hint: short(node.hint) }),
  }
  return omitted > 0 ? { ...node, ...texts, characters_omitted: omitted } : node
}
