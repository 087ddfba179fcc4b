import { AppError } from "../errors.ts"
import { hasTrait, type Node, OMITTED } from "../node.ts"
import { cut } from "../refmap.ts"
import { originOf, trace } from "../refs/allocate.ts"

export interface Budget {
  readonly tokens: number
  /** Tokens that the printed tree may take, including everything around it. */
  cost(tree: Node): number
  /** The ref for the nth node that gets one only for `--root`, from 0. */
  spell(index: number): string
}

export interface Fitted {
  readonly tree: Node
  /** Nodes that got a ref only for `--root`, in the order of their refs. */
  readonly drills: readonly Node[]
  /** Nothing was left out. */
  readonly complete: boolean
}

/** The part of a tree that fits into the budget. Throws INVALID_ARGS if the root alone does not fit. */
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
 * The most important part of a tree that fits: the focused node, containers with many controls, controls,
 * texts, structure, and last the middles of long lists; each group in the order of the tree. The printed
 * parent of omitted nodes counts them in `children_count` and has a ref for `--root`. A node whose parent
 * does not fit is printed below the next ancestor that does. undefined: not even the root fits.
 */
export function fitTree(tree: Node, budget: Budget): Fitted | undefined {
  const all = byImportance(tree)
  const fitting = (count: number): Fitted | undefined => {
    const fitted = printTree(tree, new Set(all.slice(0, count)), budget)
    if (budget.cost(fitted.tree) > budget.tokens) return undefined
    return count < all.length ? { ...fitted, complete: false } : fitted
  }
  // Every printed node costs at least two tokens.
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

/** In a longer run of siblings with one role, the first and last few matter more than the middle. */
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

/** A container with this many controls gets a line and a ref. */
const MUCH = 5

/** The innermost containers with many controls: toolbars, menus, lists, named groups. */
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

/** True for a role that, without a name, only arranges its children: they count for the node around it. */
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
    // A row that was made of the cells of a table is not an element.
    const isMade = node.role === OMITTED || (node.role === "row" && !originOf(node))
    const ref = isCut && !node.ref_id && !isMade ? spell(drills.length) : undefined
    // It comes before the nodes below it.
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

/** A printed node, or the number of consecutive siblings that were omitted with everything below them. */
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
    // A child with nothing printed below it counts as one omitted node, even if it contains more.
    for (const part of below.some(isNode) ? below : [1]) add(part)
  }
  const unread = (node.children_count ?? 0) - (node.children?.length ?? 0)
  if (unread > 0) add(unread)
  return parts
}

const isNode = (part: Part): part is Node => typeof part !== "number"

/** A gap of at least this many nodes is marked where it is. */
const WIDE = 3

function asNode(part: Part, at: number, parts: readonly Part[]): readonly Node[] {
  if (isNode(part)) return [part]
  const isBetween = at > 0 && at < parts.length - 1
  return isBetween && part >= WIDE ? [{ role: OMITTED, children_count: part }] : []
}

/** The node with long texts cut. */
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
