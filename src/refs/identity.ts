import type { Seen, SeenNode } from "../adapter.ts"
import { hasTrait, isRow, isSurface, type Role } from "../node.ts"
import { cut, nameForIdentity, type RefEntry } from "../refmap.ts"

/** What tells an element from its look-alikes. Values, timers, counters and places do not. */

type Named = Pick<Seen, "role" | "name" | "value">

/** Roles whose value the user sets. Some toolkits name them after it, and then the name is no identity. */
const VALUED_ROLES: ReadonlySet<Role> = new Set([
  "combobox",
  "textfield",
  "incrementor",
  "slider",
  "menubutton",
  "timefield",
  "datefield",
])

/** The name, unless it only repeats the value (of which a stored entry has the beginning). */
export function ownName({ role, name, value }: Named): string | undefined {
  if (!name || !value || !VALUED_ROLES.has(role)) return name || undefined
  return name === value || (value.length > 200 && name.startsWith(value)) ? undefined : name
}

/** Two elements with the same key cannot be told apart by what they say of themselves. */
export function lookAlikeKey(seen: Named & Pick<Seen, "identifier">): string {
  return `${seen.role}\0${seen.identifier ?? ""}\0${ownName(seen) ?? ""}`
}

/** Why the element that was read is not the one that was stored; undefined when it says the same of itself. */
export function changedEvidence(entry: RefEntry, seen: Seen): string | undefined {
  if (entry.role !== seen.role) return `it was a ${entry.role} and is a ${seen.role} now`
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

/** Application text in a message: short, whatever its length. */
export const quoted = (text: string | undefined): string => {
  if (!text) return "empty"
  return text.length > 80 ? `'${cut(text, 80)}…'` : `'${text}'`
}

/**
 * A fingerprint of where an element stands: the names above it and, where it is in a row or has look-alikes,
 * the texts that stand around it and how many levels up that is. "Delete" of one row and "Delete" of the next
 * differ by nothing else. `above` is the fingerprint of the topmost ancestor, where that is not the window;
 * `isAlone` tells in which of its ancestors an element that has look-alikes is without them.
 */
export function contextOf(
  node: SeenNode,
  ancestors: readonly SeenNode[],
  above = "",
  isAlone?: (ancestor: SeenNode) => boolean,
): string {
  const [start = "", inherited, levels] = above.split(".")
  const chain = chainOf(ancestors, start)
  const depth = surroundingsOf(node, ancestors, isAlone)
  if (depth !== undefined) {
    const up = ancestors.length - depth
    return `${chain}.${rowPrint(ancestors[depth]!, up)}.${up}`
  }
  return inherited === undefined ? chain : `${chain}.${inherited}.${Number(levels) + ancestors.length}`
}

/** How many levels above the element its row, or what else tells it from its look-alikes, is. */
export function levelsUp(context: string | undefined): number | undefined {
  const levels = context?.split(".")[2]
  return levels === undefined ? undefined : Number(levels)
}

/** Whether an element that is found here stands where the context was taken. */
export function standsIn(context: string, node: SeenNode, ancestors: readonly SeenNode[]): boolean {
  const levels = levelsUp(context)
  if (levels === undefined) return contextOf(node, ancestors) === context
  const row = ancestors[ancestors.length - levels]
  return row !== undefined && chainOf(ancestors, "") === context.split(".")[0] && isSameRow(context, row)
}

/** All that a list and its rows say: what tells apart rows that say the same, as long as none of it changes. */
export function neighbourhoodOf(list: SeenNode): string {
  const texts = list.children.map((child) => [child.role, child.name ?? "", ...rowTexts(child, 2)].join("\0"))
  return hash(texts.join("\0\0"))
}

/** Taken once for all siblings, which share the list of their ancestors. */
function chainOf(ancestors: readonly SeenNode[], start: string): string {
  const known = chains.get(ancestors)
  if (known?.start === start) return known.chain
  const chain = ancestors
    // What a surface is named changes with its document, and what it hangs below depends on how it was asked for.
    .flatMap((one) => (isSurface(one) ? [] : (ownName(one) ?? [])))
    .reduce((sum, name) => hash(`${sum}\0${withoutNumbers(name)}`), start)
  chains.set(ancestors, { start, chain })
  return chain
}

const chains = new WeakMap<readonly SeenNode[], { readonly start: string; readonly chain: string }>()

/** What stands around an element, whatever is above that. */
export const printOf = (context: string): string => context.split(".")[1] ?? ""

export const isInRow = (context: string | undefined): boolean => context?.includes(".") ?? false

/** Whether the row still shows what it showed when the context was taken. */
export function isSameRow(context: string, row: SeenNode): boolean {
  return printOf(context) === rowPrint(row, levelsUp(context) ?? 0)
}

/**
 * The depth of the row that an element is part of: a row is no part of itself, nor of the row that it is folded
 * under. Without one, of the nearest ancestor with texts, if it is built as a row is, or if the element has look-alikes
 * but none in there.
 */
function surroundingsOf(
  node: SeenNode,
  ancestors: readonly SeenNode[],
  isAlone: ((ancestor: SeenNode) => boolean) | undefined,
): number | undefined {
  if (isRow(node) || node.fleeting) return undefined
  const row = ancestors.findLastIndex((one) => isRow(one) || one.fleeting)
  if (row >= 0) return row
  for (let depth = ancestors.length - 1; depth > 0; depth--) {
    const one = ancestors[depth]!
    if (isAlone ? isSurface(one) || !isAlone(one) : !mayBeRow(one)) return undefined
    if (!hasTexts(one, ancestors.length - depth)) continue
    return isAlone || isBuiltAsRow(node, ancestors.slice(0, depth + 1)) ? depth : undefined
  }
  return undefined
}

/** Taken once for all that is in the row at the same level, or below it. */
function rowPrint(row: SeenNode, levels: number): string {
  const prints = levels === 1 ? besidePrints : rowPrints
  const known = prints.get(row) ?? hash(rowTexts(row, levels).join("\0"))
  prints.set(row, known)
  return known
}

const rowPrints = new WeakMap<SeenNode, string>()
const besidePrints = new WeakMap<SeenNode, string>()

const hash = (text: string): string => Bun.hash.xxHash32(text).toString(36)

/** What a row is, to the platform or only to the user, and what it says. */

/**
 * Whether a group is built as a row is, though the platform calls it none: in a list of its like, or alone in one,
 * it says first what it is about, and has a few controls for that. What it is about then tells its "Delete" from that of
 * a row which comes later, perhaps in the same objects. `node` is one of those controls, `ancestors` ends with the group.
 */
export function isBuiltAsRow(node: SeenNode, ancestors: readonly SeenNode[]): boolean {
  const row = ancestors.at(-1)
  const list = ancestors.at(-2)
  if (!row || !mayBeRow(row) || (list?.role !== "group" && list?.role !== "list")) return false
  const parts = row.children.filter(isShown).flatMap((child) => [child, ...insideOf(child)])
  if (parts.filter(({ role }) => hasTrait(role, "control")).length > MOST_CONTROLS) return false
  const first = parts.find((part) => part.role === "button" || (isPart(part) && wordsOf(part)))
  const subject = first && hasTrait(first.role, "text") ? wordsOf(first) : undefined
  // A number alone is a value: that of what the buttons around it change.
  if (subject === undefined || !/\p{L}/u.test(subject)) return false
  // The control says itself what it is about; or these are those of a title bar.
  if ([node, ...ancestors.filter(isSurface)].some(({ name }) => name?.includes(subject))) return false
  const isOnly = list.children.filter(isShown).length === 1
  return isOnly ? !row.name && !isContents(ancestors) : isUniform(list)
}

/** A row without a role for it: a group of a few things. */
export const mayBeRow = ({ role, children }: SeenNode): boolean =>
  role === "group" && children.length <= MOST_PARTS

const MOST_PARTS = 16
const MOST_CONTROLS = 4

const insideOf = ({ role, children }: SeenNode): readonly SeenNode[] =>
  hasTrait(role, "control") ? [] : children.filter(isShown)

const shapeOf = ({ role, children }: SeenNode): string =>
  [role, ...children.filter(isShown).map((child) => child.role)].join()

/** Taken once for all rows. */
function isUniform(list: SeenNode): boolean {
  const known = uniform.get(list)
  if (known !== undefined) return known
  const [first, ...others] = list.children.filter(isShown).map(shapeOf)
  const isSo = others.every((shape) => shape === first)
  uniform.set(list, isSo)
  return isSo
}

const uniform = new WeakMap<SeenNode, boolean>()

/** Whether it is all that its window or its tab shows. */
function isContents(ancestors: readonly SeenNode[]): boolean {
  const around = ancestors.slice(0, -1)
  const holder = around.findLast((one) => one.children.filter(isContent).length > 1)
  return holder === undefined || around.findLastIndex(isSurface) > around.indexOf(holder) || isTabs(holder)
}

const isTabs = ({ role, children }: SeenNode): boolean =>
  role === "tablist" || children.some((child) => child.role === "tablist")

const isContent = (node: SeenNode): boolean => isShown(node) && !EDGES.has(node.role)

const EDGES: ReadonlySet<Role> = new Set([
  "menubar",
  "scrollbar",
  "separator",
  "splitter",
  "status",
  "toolbar",
])

/**
 * The texts of a row, down to its cells. The first says what it is about and counts as it is; in the
 * others a number may be a clock or a percentage.
 */
export function rowTexts(row: SeenNode, levels: number): string[] {
  const [first, ...others] = partsOf(row, levels).flatMap((part) => wordsOf(part) || [])
  if (first === undefined) return [row.name ?? ""]
  return [first, ...others.map(withoutNumbers), withoutNumbers(row.name ?? "")]
}

export const hasTexts = (row: SeenNode, levels: number): boolean => partsOf(row, levels).some(wordsOf)

/** Where the element stands in the row itself, a tree that ends there has no more of the cells than their names. */
function partsOf(row: SeenNode, levels: number): readonly SeenNode[] {
  const beside = row.children.filter(isPart)
  if (levels === 1 && beside.some(wordsOf)) return beside
  return row.children
    .flatMap((child) => (wordsOf(child) || isRow(child) ? child : child.children))
    .filter(isPart)
}

const isPart = (node: SeenNode): boolean => !isRow(node) && !hasTrait(node.role, "control") && isShown(node)

const isShown = ({ states }: SeenNode): boolean => !states.includes("hidden")

/** What a text says is its name on one platform, and its value on another. */
const wordsOf = ({ name, role, value }: SeenNode): string | undefined =>
  name || (role === "statictext" ? value : undefined)

export const withoutNumbers = (text: string): string => text.replaceAll(/\p{Nd}+/gu, "0")
