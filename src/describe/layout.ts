import type { SeenNode } from "../adapter.ts"
import { hasTrait, isSurface, type Rect, type Role } from "../node.ts"
import { isEmpty } from "../rect.ts"
import { wordsOf } from "../tree.ts"

/**
 * Names by layout. If a toolkit gives a field neither a name nor a relation to its label, the label beside or above it
 * names it, provided that each is the other's nearest neighbour. If that is uncertain, the field stays nameless.
 */

/** Roles that a label beside them may name. A nameless button has a picture, and a label beside it may be about anything. */
const FIELDS: ReadonlySet<Role> = new Set([
  "textfield",
  "combobox",
  "incrementor",
  "slider",
  "listbox",
  "canvas",
  "datefield",
  "timefield",
])

/** Boxes to check, which have their text behind them, and switches, which may have it there. */
const BOXES: ReadonlySet<Role> = new Set(["checkbox", "radiobutton", "switch"])
export const isBox = ({ role }: Pick<SeenNode, "role">): boolean => BOXES.has(role)

/** True for a field or a box that only its position can name. */
export const isNamelessField = (node: SeenNode): boolean => {
  const { role, isDropDown, name, inferredName, description, states } = node
  return (
    (FIELDS.has(role) || isBox(node) || isDropDown === true) &&
    !name &&
    inferredName === undefined &&
    (!description || node.weakName !== undefined) &&
    !states.includes("hidden")
  )
}

/** The levels between a field and the container that also holds its label. */
export const LEVELS = 3

/**
 * The nodes to search for names: texts, controls and boxes in containers that hold a nameless field. Most trees have
 * none.
 */
function scopesIn(root: SeenNode): readonly (readonly SeenNode[])[] {
  const containers = new Set<SeenNode>()
  const parts = new Map<SeenNode, readonly SeenNode[]>()
  const labels = new Map<SeenNode, readonly SeenNode[]>()
  const partsIn = (container: SeenNode) => remembered(parts, container, partsOf)
  const labelsIn = (container: SeenNode) =>
    remembered(labels, container, (one) => partsIn(one).filter(isLabel))
  const visit = (node: SeenNode, ancestors: readonly SeenNode[]): void => {
    if (isNamelessField(node)) {
      const near = ancestors.slice(-LEVELS).toReversed()
      const end = near.findIndex((one) => isSurface(one) || one.role === "row" || hasTrait(one.role, "item"))
      const within = end < 0 ? near : near.slice(0, end + 1)
      const container = within.find((one) => labelsIn(one).some((label) => mayName(label, node)))
      if (container) containers.add(container)
      return
    }
    if (node.children.length === 0) return
    const above = [...ancestors, node]
    for (const child of node.children) visit(child, above)
  }
  visit(root, [])
  return [...containers].map(partsIn)
}

function remembered<K, V>(values: Map<K, V>, key: K, make: (key: K) => V): V {
  const value = values.get(key) ?? make(key)
  values.set(key, value)
  return value
}

/** Texts and controls below a container, and the boxes around them, without the parts of controls. */
function partsOf(container: SeenNode, levels = LEVELS): readonly SeenNode[] {
  if (levels === 0) return []
  return container.children.flatMap((child) =>
    isLabel(child) || hasTrait(child.role, "interactive") || isSurface(child)
      ? [child]
      : [child, ...partsOf(child, levels - 1)],
  )
}

/** True for a text that may name a field or a box. */
const isLabel = (node: SeenNode): boolean => isText(node) && mayBeBehind(textOf(node) ?? "")

const isText = (node: SeenNode): boolean =>
  (node.role === "statictext" || node.role === "label" || isTextBox(node)) && !node.states.includes("hidden")

const mayName = (label: SeenNode, field: SeenNode): boolean => isBox(field) || mayBeLabel(textOf(label) ?? "")

/** True for a box that consists of a text. */
const isTextBox = ({ holdsText, children }: SeenNode): boolean => holdsText === true && children.length === 0

const textOf = (node: SeenNode): string | undefined =>
  wordsOf(node) ?? (isTextBox(node) ? node.name : undefined)

/** True for a text that may name a field. */
export const mayBeLabel = (text: string): boolean => text.length <= MOST_LETTERS && LETTERS.test(text)

/** True for a text with a word or a number, such as the "1" behind a radio button. */
export const hasWords = (text = ""): boolean => /[\p{L}\p{N}]/u.test(text)

/** True for a text that may name the box before it. */
export const mayBeBehind = (text: string): boolean => text.length <= MOST_LETTERS_BEHIND && LETTERS.test(text)

/** A label is short. "x" between two fields is not one. */
const MOST_LETTERS = 60
/** The text of a box may be a sentence, such as "I have read the terms and agree to them". */
const MOST_LETTERS_BEHIND = 150
const LETTERS = /\p{L}.*\p{L}/u

/**
 * Adds the names that positions suggest, and sorts the siblings of such fields in reading order. `placeOf` reads the
 * bounds of a node. It is called only near nameless fields, and only for nodes whose bounds were not read.
 */
export async function nameByLayout(
  root: SeenNode,
  placeOf: (node: SeenNode) => Promise<Rect | undefined> | Rect | undefined,
): Promise<SeenNode> {
  const scopes = withinLimit(scopesIn(root))
  if (scopes.length === 0) return root
  const parts = new Set(scopes.flat())
  const places = new Map<SeenNode, Rect>()
  const locate = (nodes: readonly SeenNode[]): Promise<unknown> =>
    Promise.all(
      nodes.map(async (part) => {
        const bounds = part.bounds ?? (await placeOf(part))
        if (bounds && !isEmpty(bounds)) places.set(part, bounds)
      }),
    )
  const isNear = (part: SeenNode): boolean => isSolid(part) || isText(part)
  const [near, boxes] = [[...parts].filter(isNear), [...parts].filter((part) => !isNear(part))]
  await locate(near)
  const names = new Map(scopes.flatMap((scope) => pairsIn(scope, places)))
  if (names.size === 0) return root
  // Only boxes beside a field that gets a name need a place.
  const beside = new Set(formsIn(root, names).flatMap(({ children }) => children))
  await locate(boxes.filter((box) => beside.has(box)))
  return renamed(root, names, places)
}

/**
 * All of them, or if these are too many, what is in view. A form has dozens of texts. More than that is a page, where the
 * position of a text means little.
 */
function withinLimit(scopes: readonly (readonly SeenNode[])[]): readonly (readonly SeenNode[])[] {
  const isFew = (some: typeof scopes): boolean => new Set(some.flat()).size <= MOST_PARTS
  if (isFew(scopes)) return scopes
  const inView = scopes.map((scope) => scope.filter(isInView))
  return isFew(inView) ? inView : []
}

/** True if the element is not scrolled out of view. */
export const isInView = ({ states }: Pick<SeenNode, "states">): boolean => !states.includes("offscreen")

/** True for labels and controls, and for separators between the two. */
const isSolid = (node: SeenNode): boolean =>
  isLabel(node) || hasTrait(node.role, "interactive") || node.role === "separator"

/** The parents of the fields that get a name. */
const formsIn = (node: SeenNode, names: ReadonlyMap<SeenNode, string>): readonly SeenNode[] => [
  ...(node.children.some((child) => names.has(child)) ? [node] : []),
  ...node.children.flatMap((child) => formsIn(child, names)),
]

const MOST_PARTS = 400

type Places = ReadonlyMap<SeenNode, Rect>

function renamed(node: SeenNode, names: ReadonlyMap<SeenNode, string>, places: Places): SeenNode {
  const inferredName = names.get(node)
  if (inferredName !== undefined) return { ...node, inferredName }
  if (!node.children.some((child) => holdsAny(child, names))) return node
  const isForm = node.children.some((child) => names.has(child))
  const ordered = isForm ? inReadingOrder(node.children, places) : node.children
  return { ...node, children: ordered.map((child) => renamed(child, names, places)) }
}

const holdsAny = (node: SeenNode, names: ReadonlyMap<SeenNode, string>): boolean =>
  names.has(node) || node.children.some((child) => holdsAny(child, names))

/** A node and where it is. */
interface Placed {
  readonly node: SeenNode
  readonly bounds: Rect
}

/** Fields, and the texts of their labels. */
function pairsIn(parts: readonly SeenNode[], places: Places): readonly (readonly [SeenNode, string])[] {
  const placed = parts.flatMap((node): readonly Placed[] => {
    const bounds = places.get(node)
    return bounds ? [{ node, bounds }] : []
  })
  const labels = placed.filter(({ node }) => isLabel(node))
  const controls = placed.filter(({ node }) => hasTrait(node.role, "interactive"))
  const solid = placed.filter(({ node }) => isSolid(node))
  const texts = placed.filter(({ node }) => isText(node) && hasWords(textOf(node)))
  const groups = parts.filter(isNamedGroup).map((group) => new Set(nodesIn(group)))
  return controls.flatMap((field): readonly (readonly [SeenNode, string])[] => {
    const label = isNamelessField(field.node)
      ? isBox(field.node)
        ? labelOfBox(field, { labels, controls, solid, texts })
        : labelOf(field, labels, solid)
      : undefined
    const name = label && ownerOf(label, controls, solid) === field ? textOf(label.node) : undefined
    // The title of a named group, and every text in it, is about that group.
    const isOutside = groups.some((group) => label && group.has(label.node) && !group.has(field.node))
    return name && !isOutside ? [[field.node, name]] : []
  })
}

/** A label may have its text inside. */
const isNamedGroup = (node: SeenNode): boolean =>
  Boolean(node.name) && node.children.length > 0 && !hasTrait(node.role, "interactive") && !isLabel(node)

const nodesIn = (node: SeenNode): readonly SeenNode[] => [node, ...node.children.flatMap(nodesIn)]

/** The label of a field: the nearest one before it on its line, or else the one right above it. */
function labelOf(field: Placed, labels: readonly Placed[], solid: readonly Placed[]): Placed | undefined {
  const short = labels.filter(isShort)
  const beside = nearest(short, (label) => gapBeside(label, field, solid))
  return beside ?? nearest(short, (label) => gapAbove(label, field, solid))
}

const isShort = ({ node }: Placed): boolean => mayBeLabel(textOf(node) ?? "")

/** The nodes around a box. */
interface Around {
  readonly labels: readonly Placed[]
  readonly controls: readonly Placed[]
  readonly solid: readonly Placed[]
  /** Labels, and texts that are too short or too long for one. */
  readonly texts: readonly Placed[]
}

/** The label of a box: the text right behind it, or else the one before it. undefined if it may be either. */
function labelOfBox(box: Placed, { labels, controls, solid, texts }: Around): Placed | undefined {
  // Boxes side by side are answers in a table. Only the titles of its columns can name them.
  if (besides(box, solid).some(isNamelessBox)) return undefined
  const behind = labels.find((label) => isBehind(label, box, solid))
  const before = nearest(labels.filter(isShort), (label) => gapBeside(label, box, solid))
  if (behind) {
    const isMirrored = isRightToLeft(behind)
    const isOwn = before && !controls.some((other) => other !== box && isBehind(before, other, solid))
    const isOnly = !solid.some((one) => isNamelessBox(one) && gapAfter(one, behind, isMirrored) !== undefined)
    if (!isOwn || !isOnly || endsWithColon(textOf(before.node))) return behind
    if (gapAfter(box, before, isMirrored) !== undefined) return undefined
    // The text behind a switch may be its state.
    return box.node.role === "switch" ? before : behind
  }
  if (!before) return undefined
  const isMirrored = isRightToLeft(before)
  const isFollowed = texts.some(
    (text) =>
      gapAfter(text, box, isMirrored) !== undefined &&
      !endsWithColon(textOf(text.node)) &&
      !(isLabel(text.node) && isInLabelledRun(text, solid)),
  )
  // The end of a sentence, or the unit of a number.
  const isRest = controls.some(
    (one) => one !== box && !isNamelessBox(one) && gapAfter(before, one, isMirrored) !== undefined,
  )
  return isFollowed || isRest ? undefined : before
}

/** The nearest nodes on both sides of a box, on its line. */
function besides({ bounds: box }: Placed, solid: readonly Placed[]): readonly Placed[] {
  const line = solid.filter(({ bounds }) => isSameLine(bounds, box))
  const left = nearest(line, ({ bounds: a }) => atLeastZero(box.x - (a.x + a.width)))
  const right = nearest(line, ({ bounds: a }) => atLeastZero(a.x - (box.x + box.width)))
  return [left, right].filter((one) => one !== undefined)
}

/** The gap, if it is not that of an element on the other side. */
const atLeastZero = (gap: number): number | undefined => (gap >= -SLACK ? gap : undefined)

/**
 * The control that a label belongs to: the nameless box right before it, the nearest control after it on its line, or
 * else the field right below it.
 */
function ownerOf(label: Placed, controls: readonly Placed[], solid: readonly Placed[]): Placed | undefined {
  const box = controls.find((control) => isBehind(label, control, solid))
  if (box) return box
  const beside = nearest(controls, (control) => gapBeside(label, control, solid))
  return beside ?? nearest(controls, (control) => gapAbove(label, control, solid))
}

/** True for the text of a box. One with a colon is about what comes next. */
function isBehind(label: Placed, box: Placed, solid: readonly Placed[]): boolean {
  if (!isNamelessBox(box) || gapBehind(label, box) === undefined || endsWithColon(textOf(label.node)))
    return false
  return !isInLabelledRun(label, solid)
}

/** The gap between a box and the text right behind it. */
const gapBehind = (label: Placed, box: Placed): number | undefined =>
  gapAfter(label, box, isRightToLeft(label))

/** The gap between two nodes of a line, if one comes right after the other. */
function gapAfter(next: Placed, { bounds: a }: Placed, isMirrored: boolean): number | undefined {
  const b = next.bounds
  if (!isSameLine(a, b)) return undefined
  const gap = isMirrored ? a.x - (b.x + b.width) : b.x - (a.x + a.width)
  return gap >= -SLACK && gap <= MOST_BEHIND ? gap : undefined
}

const isNamelessBox = ({ node }: Placed): boolean => hasTrait(node.role, "checkable") && !node.name

/** True for a label in a line such as `Red ( ) Green ( )`, where each text belongs to the box after it. */
function isInLabelledRun(label: Placed, solid: readonly Placed[]): boolean {
  const isMirrored = isRightToLeft(label)
  const after = (one: Placed): Placed | undefined =>
    solid.find((other) => other !== one && gapAfter(other, one, isMirrored) !== undefined)
  const before = (one: Placed): Placed | undefined =>
    solid.find((other) => other !== one && gapAfter(one, other, isMirrored) !== undefined)
  const [last, first] = [endOfRun(label, after), endOfRun(label, before)]
  return isNamelessBox(last) && isLabel(first.node)
}

/** The last one of the labels and nameless boxes that follow each other in a line, in turn. */
function endOfRun(start: Placed, next: (one: Placed) => Placed | undefined): Placed {
  let end = start
  for (const passed = new Set([start]); ; passed.add(end)) {
    const one = next(end)
    const isOther = one && (isLabel(end.node) ? isNamelessBox(one) : isLabel(one.node))
    if (!isOther || passed.has(one)) return end
    end = one
  }
}

const MOST_BEHIND = 16
export const endsWithColon = (text = ""): boolean => /[:：]$/u.test(text.trim())

/** undefined if there is none, or if two are equally near. */
function nearest(
  nodes: readonly Placed[],
  distance: (one: Placed) => number | undefined,
): Placed | undefined {
  const found = nodes
    .flatMap((one) => {
      const gap = distance(one)
      return gap === undefined ? [] : [{ one, gap }]
    })
    .toSorted((a, b) => a.gap - b.gap)
  const [first, second] = found
  return first && first.gap !== second?.gap ? first.one : undefined
}

/** The largest distance between a label and its field: a form's label column is as wide as its longest label. */
const MOST_BESIDE = 300
const MOST_ABOVE = 16
/** Toolkits round, and borders overlap. */
const SLACK = 4
/** How far the edges of a label and of the field below it may differ. */
const ALIGNED = 12

/** The gap between a label and the control that follows it in the same line; undefined if it does not. */
function gapBeside(label: Placed, control: Placed, solid: readonly Placed[]): number | undefined {
  const [a, b] = [label.bounds, control.bounds]
  if (!isSameLine(a, b) || !isAtLineOf(a, b)) return undefined
  const gap = isRightToLeft(label) ? a.x - (b.x + b.width) : b.x - (a.x + a.width)
  if (gap < -SLACK || gap > MOST_BESIDE) return undefined
  const [from, to] = isRightToLeft(label) ? [b.x + b.width, a.x] : [a.x + a.width, b.x]
  const isBlocked = solid.some(
    (one) =>
      one !== label &&
      one !== control &&
      isSameLine(one.bounds, b) &&
      one.bounds.x < to - SLACK &&
      one.bounds.x + one.bounds.width > from + SLACK,
  )
  return isBlocked ? undefined : Math.max(0, gap)
}

/** The gap between a label and the control right below it, at the same edge; undefined if it is not there. */
function gapAbove(label: Placed, control: Placed, solid: readonly Placed[]): number | undefined {
  const [a, b] = [label.bounds, control.bounds]
  const gap = b.y - (a.y + a.height)
  if (gap < -SLACK || gap > MOST_ABOVE) return undefined
  const shift = isRightToLeft(label) ? a.x + a.width - (b.x + b.width) : a.x - b.x
  if (Math.abs(shift) > ALIGNED) return undefined
  const isBlocked = solid.some(
    (one) =>
      one !== label &&
      one !== control &&
      one.bounds.y < b.y - SLACK &&
      one.bounds.y + one.bounds.height > a.y + a.height + SLACK &&
      one.bounds.x < b.x + b.width &&
      one.bounds.x + one.bounds.width > b.x,
  )
  return isBlocked ? undefined : Math.max(0, gap)
}

/** True if the center of the lower one is beside the other. */
function isSameLine(a: Rect, b: Rect): boolean {
  const shared = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return shared >= Math.min(a.height, b.height) / 2
}

/** True if a label is at the first line of a field of several lines, or at its middle. */
function isAtLineOf(label: Rect, field: Rect): boolean {
  if (field.height <= label.height * 3) return true
  const fromMiddle = Math.abs(label.y + label.height / 2 - (field.y + field.height / 2))
  return label.y - field.y <= label.height || fromMiddle <= ALIGNED
}

const isRightToLeft = ({ node }: Pick<Placed, "node">): boolean => RIGHT_TO_LEFT.test(textOf(node) ?? "")
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u

/** Siblings line by line, in reading order; unchanged if one position is unknown. */
function inReadingOrder(nodes: readonly SeenNode[], places: Places): readonly SeenNode[] {
  const placed = nodes.flatMap((node): readonly Placed[] => {
    const bounds = node.bounds ?? places.get(node)
    return bounds ? [{ node, bounds }] : []
  })
  if (placed.length < nodes.length) return nodes
  const isMirrored = placed.some((one) => isLabel(one.node) && isRightToLeft(one))
  const lines: Placed[][] = []
  for (const one of placed.toSorted((a, b) => a.bounds.y - b.bounds.y)) {
    const line = lines.at(-1)
    if (line && isSameLine(line[0]!.bounds, one.bounds)) line.push(one)
    else lines.push([one])
  }
  const across = (a: Placed, b: Placed): number =>
    isMirrored ? b.bounds.x - a.bounds.x : a.bounds.x - b.bounds.x
  return lines.flatMap((line) => line.toSorted(across)).map(({ node }) => node)
}
