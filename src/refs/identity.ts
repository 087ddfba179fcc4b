import type { Seen, SeenNode } from "../adapter.ts"
import { hasTrait, isRow, isSurface, type Role, withArticle } from "../node.ts"
import { cut, nameForIdentity, type RefEntry, type Surroundings, sameSurroundings } from "../refmap.ts"
import { wordsOf } from "../tree.ts"

/**
 * Distinguishes an element from its look-alikes by three kinds of evidence: its role, name and identifier; the names
 * above it; and the texts of its row. Values, timers, counters and positions are not evidence.
 */

type Named = Pick<Seen, "role" | "name" | "value">

/** Roles whose value the user sets. Some toolkits use the value as the name, and such a name is not evidence. */
const VALUED_ROLES: ReadonlySet<Role> = new Set([
  "combobox",
  "textfield",
  "incrementor",
  "slider",
  "menubutton",
  "timefield",
  "datefield",
])

/** The name, unless it only repeats the value. A stored entry has only the start of a long value. */
export function ownName({ role, name, value }: Named): string | undefined {
  if (!name || !value || !VALUED_ROLES.has(role)) return name || undefined
  return name === value || (value.length > 200 && name.startsWith(value)) ? undefined : name
}

/** Two elements with the same key are look-alikes: role, identifier and name do not distinguish them. */
export function lookAlikeKey(seen: Named & Pick<Seen, "identifier">): string {
  return `${seen.role}\0${seen.identifier ?? ""}\0${ownName(seen) ?? ""}`
}

/** Says why a live element is not the stored one; undefined if role, identifier and name are the same. */
export function changedEvidence(entry: RefEntry, seen: Seen): string | undefined {
  if (entry.role !== seen.role)
    return `it was ${withArticle(entry.role)} and is ${withArticle(seen.role)} now`
  if (
    entry.identifier !== undefined &&
    seen.identifier !== undefined &&
    entry.identifier !== seen.identifier
  ) {
    return `its identifier was ${quoted(entry.identifier)} and is ${quoted(seen.identifier)} now`
  }
  if ((entry.name || undefined) === nameForIdentity(seen.name || undefined)) return undefined
  if (ownName(entry) === nameForIdentity(ownName(seen))) return undefined
  return `its name was ${quoted(entry.name)} and is ${quoted(seen.name)} now`
}

/** Quotes text of an application for a message, and shortens it. */
export const quoted = (text: string | undefined): string => {
  if (!text) return "empty"
  return text.length > 80 ? `'${cut(text, 80)}…'` : `'${text}'`
}

/**
 * Describes where an element is: the names above it and, if it is in a row or has look-alikes, the texts around it.
 * Nothing else distinguishes the "Delete" of one row from the "Delete" of the next. `root` describes where the topmost
 * ancestor is, if that is not the window. `isAlone` is given for an element that has look-alikes; it is true for an
 * ancestor that holds none of them.
 */
export function contextOf(
  node: SeenNode,
  ancestors: readonly SeenNode[],
  root: Surroundings = { above: "" },
  isAlone?: (ancestor: SeenNode) => boolean,
): Surroundings {
  const above = namesAbove(ancestors, root.above)
  const depth = depthOfRow(node, ancestors, isAlone)
  if (depth !== undefined) {
    const levels = ancestors.length - depth
    return { above, around: textsAround(ancestors[depth]!, levels), levels }
  }
  if (root.around === undefined) return { above }
  return { above, around: root.around, levels: root.levels + ancestors.length }
}

/** True if an element found below these ancestors is where the stored one was. */
export function standsIn(context: Surroundings, node: SeenNode, ancestors: readonly SeenNode[]): boolean {
  if (context.levels === undefined) return sameSurroundings(contextOf(node, ancestors), context)
  const row = ancestors[ancestors.length - context.levels]
  return row !== undefined && namesAbove(ancestors, "") === context.above && isSameRow(context, row)
}

/** True if the row still shows the texts that it showed when the context was taken. */
export const isSameRow = ({ around, levels = 0 }: Surroundings, row: SeenNode): boolean =>
  textsAround(row, levels) === around

/** A fingerprint of a list and its rows. While it stays the same, even rows with equal texts are in their places. */
export function neighbourhoodOf(list: SeenNode): string {
  const texts = list.children.map((child) => [child.role, child.name ?? "", ...rowTexts(child, 2)].join("\0"))
  return hash(texts.join("\0\0"))
}

/**
 * A fingerprint of the ancestors' names, computed once for all siblings: they share the list of ancestors. Surfaces are
 * skipped: their titles change with the document, and their parents depend on the way they were read.
 */
function namesAbove(ancestors: readonly SeenNode[], start: string): string {
  const known = knownNames.get(ancestors)
  if (known?.start === start) return known.names
  const names = ancestors
    .flatMap((one) => (isSurface(one) || isPlainText(one) ? [] : (ownName(one) ?? [])))
    .reduce((sum, name) => hash(`${sum}\0${withoutNumbers(name)}`), start)
  knownNames.set(ancestors, { start, names })
  return names
}

/** True for a text around an element, such as the label around a field: `snapshot -i` does not read all of them. */
const isPlainText = ({ role }: SeenNode): boolean =>
  role === "label" || role === "statictext" || role === "paragraph"

const knownNames = new WeakMap<readonly SeenNode[], { readonly start: string; readonly names: string }>()

/**
 * The depth of the ancestor whose texts distinguish an element from others:
 * 1. the nearest row; but a row is not part of itself, nor of the row that it is folded under;
 * 2. for an element with look-alikes, the nearest ancestor with texts that holds none of them, if it is small: the
 *    texts of half a window change for reasons of their own;
 * 3. for any other, the nearest ancestor with texts, if it is built like a row.
 */
function depthOfRow(
  node: SeenNode,
  ancestors: readonly SeenNode[],
  isAlone: ((ancestor: SeenNode) => boolean) | undefined,
): number | undefined {
  if (isRow(node) || node.isRecycled) return undefined
  const row = ancestors.findLastIndex((one) => isRow(one) || one.isRecycled)
  if (row >= 0) return row
  for (let depth = ancestors.length - 1; depth > 0; depth--) {
    const one = ancestors[depth]!
    if (isAlone ? isSurface(one) || !isAlone(one) || !isSmall(one) : !mayBeRow(one)) return undefined
    if (!hasTexts(one, ancestors.length - depth, isShown(node))) continue
    return isAlone || isBuiltAsRow(node, ancestors.slice(0, depth + 1)) ? depth : undefined
  }
  return undefined
}

/** A fingerprint of a row's texts, computed once for all elements directly in the row, and once for all further down. */
function textsAround(row: SeenNode, levels: number): string {
  const prints = levels === 1 ? besidePrints : rowPrints
  const known = prints.get(row) ?? hash(rowTexts(row, levels).join("\0"))
  prints.set(row, known)
  return known
}

const rowPrints = new WeakMap<SeenNode, string>()
const besidePrints = new WeakMap<SeenNode, string>()

const hash = (text: string): string => Bun.hash.xxHash32(text).toString(36)

/**
 * Detects rows that the platform reports as plain groups, e.g. `Alice [Delete]` in a list. The first text is the
 * subject of the row. It distinguishes its "Delete" from the "Delete" of a later row, which may reuse the same objects.
 * `node` is one of the row's controls; `ancestors` ends with the group.
 */
function isBuiltAsRow(node: SeenNode, ancestors: readonly SeenNode[]): boolean {
  const row = ancestors.at(-1)
  const list = ancestors.at(-2)
  if (!row || !mayBeRow(row) || (list?.role !== "group" && list?.role !== "list")) return false
  const parts = row.children.filter(isShown).flatMap((child) => [child, ...insideOf(child)])
  if (parts.filter(({ role }) => hasTrait(role, "control")).length > MOST_CONTROLS) return false
  const first = parts.find((part) => part.role === "button" || (isPart(part) && wordsOf(part)))
  const subject = first && hasTrait(first.role, "text") ? wordsOf(first) : undefined
  // A number alone is a value that the buttons around it change.
  if (subject === undefined || !/\p{L}/u.test(subject)) return false
  // A control named "Delete Alice" needs no subject; a text that is in the window's title belongs to a title bar.
  if ([node, ...ancestors.filter(isSurface)].some(({ name }) => name?.includes(subject))) return false
  const isOnly = list.children.filter(isShown).length === 1
  return isOnly ? !row.name && !isContents(ancestors) : isUniform(list)
}

/** A row without a role for it is a group with few children. */
const mayBeRow = ({ role, children }: SeenNode): boolean => role === "group" && children.length <= MOST_PARTS

const MOST_PARTS = 16
const MOST_CONTROLS = 4
const MOST_NODES = 64

/** True if there are few nodes inside. Computed once per node. */
function isSmall(node: SeenNode): boolean {
  return sizeOf(node) <= MOST_NODES
}

function sizeOf(node: SeenNode): number {
  const known = sizes.get(node)
  if (known !== undefined) return known
  const size = node.children.reduce((sum, child) => sum + sizeOf(child), 1)
  sizes.set(node, size)
  return size
}

const sizes = new WeakMap<SeenNode, number>()

const insideOf = ({ role, children }: SeenNode): readonly SeenNode[] =>
  hasTrait(role, "control") ? [] : children.filter(isShown)

const shapeOf = ({ role, children }: SeenNode): string =>
  [role, ...children.filter(isShown).map((child) => child.role)].join()

/** True if all rows of a list contain the same roles. Computed once per list. */
function isUniform(list: SeenNode): boolean {
  const known = uniform.get(list)
  if (known !== undefined) return known
  const [first, ...others] = list.children.filter(isShown).map(shapeOf)
  const isSo = others.every((shape) => shape === first)
  uniform.set(list, isSo)
  return isSo
}

const uniform = new WeakMap<SeenNode, boolean>()

/** True if the last ancestor is all that its window or its tab shows. */
function isContents(ancestors: readonly SeenNode[]): boolean {
  const around = ancestors.slice(0, -1)
  const holder = around.findLast((one) => one.children.filter(isContent).length > 1)
  return holder === undefined || around.findLastIndex(isSurface) > around.indexOf(holder) || isTabs(holder)
}

const isTabs = ({ role, children }: SeenNode): boolean =>
  role === "tablist" || children.some((child) => child.role === "tablist")

const isContent = (node: SeenNode): boolean => isShown(node) && !EDGES.has(node.role)

/** Roles at the edges of a window, around its content. */
const EDGES: ReadonlySet<Role> = new Set([
  "menubar",
  "scrollbar",
  "separator",
  "splitter",
  "status",
  "toolbar",
])

/**
 * The texts of a row, down to its cells. The first is the subject of the row and counts in full. Numbers in the others
 * may be a clock or a percentage, and do not count.
 */
function rowTexts(row: SeenNode, levels: number): string[] {
  const texts = partsOf(row, levels).flatMap((part) => wordsOf(part) || [])
  if (texts.length === 0) return [row.name ?? ""]
  const subject = texts.find((text) => !isMarker(text)) ?? texts[0]!
  const others = texts.toSpliced(texts.indexOf(subject), 1)
  return [subject, ...others.map(withoutNumbers), withoutNumbers(row.name ?? "")]
}

/** True for the bullet or the number that a page puts before the items of its lists. */
const isMarker = (text: string): boolean => /^(?:[^\p{L}\p{N}]*|\p{N}{1,4}[.)]\s*)$/u.test(text)

/** `onlyShown`: texts of hidden parts do not count. */
const hasTexts = (row: SeenNode, levels: number, onlyShown: boolean): boolean =>
  partsIn(row, levels, onlyShown ? isShown : isAny).some(wordsOf)

/**
 * The parts of a row that have its texts: the visible ones. If none of them has a text, the hidden ones: some toolkits
 * call everything hidden that is scrolled out of view, and the row has the same texts there.
 */
function partsOf(row: SeenNode, levels: number): readonly SeenNode[] {
  const shown = partsIn(row, levels, isShown)
  return shown.some(wordsOf) ? shown : partsIn(row, levels, isAny)
}

/**
 * For an element directly in the row (`levels` 1) the row's own children are enough if they have texts: a tree that
 * ends at the element's depth has nothing below the cells.
 */
function partsIn(row: SeenNode, levels: number, counts: (node: SeenNode) => boolean): readonly SeenNode[] {
  const children = row.children.filter(counts)
  const beside = children.filter(isPart)
  if (levels === 1 && beside.some(wordsOf)) return beside
  return children
    .flatMap((child) => (wordsOf(child) || isRow(child) ? child : child.children.filter(counts)))
    .filter(isPart)
}

/** Controls are not texts of a row: their names change with their state. Rows folded under it are not parts of it. */
const isPart = (node: SeenNode): boolean => !isRow(node) && !hasTrait(node.role, "control")

const isAny = (): boolean => true

const isShown = ({ states }: SeenNode): boolean => !states.includes("hidden")

const withoutNumbers = (text: string): string => text.replaceAll(/\p{Nd}+/gu, "0")
