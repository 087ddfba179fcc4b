import type { SeenNode } from "../adapter.ts"
import { closest } from "../nearest.ts"
import { hasTrait, isRow, type Role } from "../node.ts"
import { isInteractive, type Position, wordsOf } from "../tree.ts"
import { type Description, isSameName, type Wanted } from "./description.ts"

/** The elements of a tree that fit a description. */

/**
 * All that fit, in document order. A description without a role means elements that can be acted on, if any fit: a
 * label has the name of its field, too. Names that are written exactly so win over names that differ in case or marks.
 */
export function matching(places: readonly Position[], description: Description): readonly Position[] {
  const { role, name, within, nth } = description
  const named = places.filter(({ node }) => fits(node, description))
  const usable = role === undefined ? named.filter(({ node }) => isInteractive(node)) : named
  const inside = insideOf(usable.length > 0 ? usable : named, within.map(holderNamed), places)
  const exact = inside.filter(({ node }) => calledOf(node) === name)
  const found = exact.length > 0 ? exact : inside
  return nth === undefined ? found : found.slice(nth - 1, nth)
}

const fits = (node: SeenNode, { role, name }: Wanted): boolean =>
  (role === undefined || node.role === role) && (name === undefined || isCalled(node, name))

/** Its name, or the name of a label beside it, which serves to find it and proves nothing. */
export const calledOf = (node: SeenNode): string | undefined => wordsOf(node) ?? node.inferredName

function isCalled(node: SeenNode, name: string): boolean {
  const words = calledOf(node)
  return words !== undefined && isSameName(node.role, words, name)
}

/** An element, and the innermost container in which it was found so far. */
interface Held {
  readonly place: Position
  readonly holder: Position
}

function insideOf(
  found: readonly Position[],
  within: readonly Holder[],
  places: readonly Position[],
): readonly Position[] {
  let held: readonly Held[] = found.map((place) => ({ place, holder: place }))
  for (const wanted of within) {
    const texts = wanted.hasText
      ? places.filter((place) => mayBeText(place) && wanted.isText(place.node))
      : []
    const inner = held.flatMap(({ place, holder }) => {
      const container = containerOf(holder, wanted, texts)
      return container ? [{ place, holder: container }] : []
    })
    // The nearest: a row of this name counts, not the window of the same name around it.
    held = inner.filter(({ holder }) => !inner.some((other) => other.holder.ancestors.includes(holder.node)))
  }
  return held.map(({ place }) => place)
}

/**
 * A control's name says what the control does, not what is around it. A paragraph in a cell is a field, too. A
 * container is about its content, not about its neighbours; a cell, heading or paragraph may hold a link.
 */
const mayBeText = ({ node, ancestors }: Position): boolean =>
  hasTrait(node.role, "control")
    ? hasTrait(node.role, "typable") && ancestors.at(-1)?.role === "cell"
    : hasTrait(node.role, "item") ||
      (hasTrait(node.role, "text") && node.role !== "link") ||
      !node.children.some(holdsControl)

const holdsControl = (node: SeenNode): boolean => isInteractive(node) || node.children.some(holdsControl)

/** A container that must be around an element. */
interface Holder {
  mayBe(node: SeenNode): boolean
  /** False: any container that it may be will do. */
  readonly hasText: boolean
  /** True if the node has the text that the container must have, or that something in it must have. */
  isText(node: SeenNode): boolean
}

const holderNamed = ({ role, name }: Wanted): Holder => ({
  mayBe: (node) => role === undefined || node.role === role,
  hasText: name !== undefined,
  isText: (node) => name !== undefined && (isCalled(node, name) || isCellOf(node, name)),
})

/** A cell of a sheet is named by its place. Its text is its value. */
const isCellOf = ({ role, value }: SeenNode, text: string): boolean =>
  hasValue(role) && value !== undefined && isSameName(role, value, text)

const hasValue = (role: Role): boolean => role === "cell" || hasTrait(role, "typable")

/** The places among these that are in a row with a text: whole, or as a part in any case. */
export function withinRow(
  found: readonly Position[],
  text: string,
  isExact: boolean,
  places: readonly Position[],
): readonly Position[] {
  const has = (words: string | undefined): boolean =>
    words !== undefined && (isExact ? words === text : words.toLowerCase().includes(text.toLowerCase()))
  const row: Holder = {
    // GTK 4 recreates cells like rows. A cell that holds its text is not the row.
    mayBe: (node) => (isRowLike(node) && node.role !== "cell") || ROW_BOXES.has(node.role),
    hasText: true,
    isText: (node) => has(calledOf(node)) || (hasValue(node.role) && has(node.value)),
  }
  const beside = new Set(insideOf(found, [row], places))
  // The text itself is in the row as well.
  const isIt = ({ node, ancestors }: Position): boolean => row.isText(node) && ancestors.some(row.mayBe)
  return found.filter((place) => beside.has(place) || isIt(place))
}

/** Boxes that pages use as rows. */
const ROW_BOXES: ReadonlySet<Role> = new Set(["group", "container", "article"])

/** The nearest container of an element that matches: the text is on it or in it. */
function containerOf(
  { node, ancestors, path }: Position,
  wanted: Holder,
  texts: readonly Position[],
): Position | undefined {
  let isInRow = false
  for (let depth = ancestors.length - 1; depth >= 0; depth--) {
    const one = ancestors[depth]!
    const branch = ancestors[depth + 1] ?? node
    // A cell is part of its row, even if the toolkit recreates cells like rows.
    isInRow ||= depth < ancestors.length - 1 && isRowLike(branch) && !isRow(one)
    const isIt = wanted.mayBe(one)
    const holder = { node: one, ancestors: ancestors.slice(0, depth), path: path.slice(0, depth) }
    if (isIt && (!wanted.hasText || wanted.isText(one))) return holder
    // The texts outside of its row belong to other rows.
    const isWholeRow = isRowLike(node) && !isRow(one)
    const mayTell = isIt && !isInRow && !isWholeRow && !holdsRows(one)
    if (mayTell && texts.some((text) => tellsOf(text, holder, branch, node))) return holder
  }
  return undefined
}

const isRowLike = (node: SeenNode): boolean => isRow(node) || node.isRecycled === true

/** True for a container whose children are rows: the text of one row says nothing about the next. */
const holdsRows = ({ role }: SeenNode): boolean => hasTrait(role, "list") || OTHER_LISTS.has(role)

const OTHER_LISTS: ReadonlySet<Role> = new Set(["tablist", "menu", "menubar", "column"])

/**
 * True if a text in a container says what the element in it belongs to. The text of another row does not. If the
 * element's block has texts of its own, a text in a block beside it does not, either: the blocks may be rows that the
 * platform calls groups. The heading of a section is about the blocks after it.
 */
function tellsOf(text: Position, holder: Position, branch: SeenNode, node: SeenNode): boolean {
  const depth = holder.ancestors.length
  if (text.ancestors[depth] !== holder.node) return false
  const way = [...text.ancestors.slice(depth + 1), text.node]
  // In a row, the element's own text counts, too.
  if (way[0] === branch && !(isRowLike(holder.node) && way.includes(node))) return false
  if (isRowLike(holder.node)) return !way.some(isRow)
  if (way.some(isRowLike)) return false
  const isBeside = way.length === 1 || text.node.role === "heading"
  if (!isBeside && branch !== node && hasOwnTexts(branch, node)) return false
  return isInPart(holder.node.children, way[0]!, branch)
}

/**
 * True if a text and a block are in the same part of a container. A part starts with a text that comes after something
 * else. A text after the block describes it only if there is none before it.
 */
function isInPart(parts: readonly SeenNode[], text: SeenNode, block: SeenNode): boolean {
  const [at, of] = [parts.indexOf(text), parts.indexOf(block)]
  const isText = (part: SeenNode): boolean => !holdsControl(part) && hasText(part)
  if (at > of) return !parts.slice(0, of).some(isText)
  const between = parts.slice(at + 1, of)
  const first = between.findIndex(holdsControl)
  return first < 0 || !between.slice(first).some(isText)
}

const hasText = (node: SeenNode): boolean => wordsOf(node) !== undefined || node.children.some(hasText)

/** True if a block has texts other than the element's own and its label. */
function hasOwnTexts(block: SeenNode, node: SeenNode): boolean {
  if (block === node) return false
  const words = hasTrait(block.role, "control") ? undefined : wordsOf(block)
  if (words !== undefined && words !== node.name) return true
  return block.children.some((child) => hasOwnTexts(child, node))
}

/** Words that show a caller where an element is: its row's first text, or the nearest name above it. */
export function surroundingsOf({ node, ancestors }: Position): string | undefined {
  for (const one of ancestors.toReversed()) {
    const words = wordsOf(one)
    if (words && words !== node.name) return words
    const text = isRowLike(one) ? firstText(one, node) : undefined
    if (text !== undefined) return text
  }
  return undefined
}

function firstText(block: SeenNode, node: SeenNode): string | undefined {
  for (const child of block.children) {
    if (child === node) continue
    const words = hasTrait(child.role, "control") ? undefined : wordsOf(child)
    if (words !== undefined && words !== node.name) return words
    const inner = firstText(child, node)
    if (inner !== undefined) return inner
  }
  return undefined
}

/**
 * The elements that a caller may have meant: with this name but another role, with a similar name, or with this role.
 */
export function nearMisses(
  places: readonly Position[],
  { role, name }: Wanted,
  most: number,
): readonly Position[] {
  const named = places.filter(({ node }) => wordsOf(node) !== undefined)
  const preferred = [
    ...named.filter(({ node }) => node.role === role),
    ...named.filter(({ node }) => node.role !== role && isInteractive(node)),
  ]
  if (name === undefined) return preferred.slice(0, most)
  const word = name.toLowerCase()
  const has = (part: string, whole: string): boolean => part.length > 1 && whole.includes(part)
  const same = named.filter(({ node }) => isCalled(node, name))
  const parts = preferred.filter(({ node }) => {
    const own = wordsOf(node)!.toLowerCase()
    return has(word, own) || has(own, word)
  })
  const alike = new Set(
    closest(
      name,
      preferred.map(({ node }) => wordsOf(node)!),
      most,
    ),
  )
  const similar = preferred.filter(({ node }) => alike.has(wordsOf(node)!))
  const close = [...new Set([...same, ...parts, ...similar])]
  return (close.length > 0 ? close : preferred.filter(({ node }) => node.role === role)).slice(0, most)
}
