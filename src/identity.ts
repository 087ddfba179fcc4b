import type { Seen, SeenNode } from "./adapter.ts"
import { cut, nameForIdentity, type RefEntry } from "./refmap.ts"
import { hasTexts, isBuiltAsRow, isRow, isSurface, mayBeRow, rowTexts, withoutNumbers } from "./rows.ts"

/** What tells an element from its look-alikes. Values, timers, counters and places do not. */

type Named = Pick<Seen, "role" | "name" | "value">

/** Roles whose value the user sets. Some toolkits name them after it, and then the name is no identity. */
const VALUED_ROLES: ReadonlySet<string> = new Set([
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
