import type { Seen, SeenNode } from "./adapter.ts"
import { cut, nameForIdentity, type RefEntry } from "./refmap.ts"

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

const ROWS: ReadonlySet<string> = new Set(["row", "treeitem", "option"])
/** What a surface is named changes with its document, and what it hangs below depends on how it was asked for. */
const SURFACES: ReadonlySet<string> = new Set([
  "window",
  "dialog",
  "alertdialog",
  "sheet",
  "popover",
  "alert",
  "menu",
  "menubar",
  "application",
])
/** Their names change with what they do: "Play" becomes "Pause". */
const CONTROLS: ReadonlySet<string> = new Set([
  "button",
  "menubutton",
  "checkbox",
  "radiobutton",
  "switch",
  "textfield",
  "combobox",
  "slider",
  "incrementor",
  "progressbar",
])

/**
 * A fingerprint of where an element stands: the names above it and, inside a row, the row's texts.
 * "Delete" of one row and "Delete" of the next differ by nothing else. `above` is the fingerprint of
 * the topmost ancestor, where that is not the window.
 */
export function contextOf(node: SeenNode, ancestors: readonly SeenNode[], above = ""): string {
  const row = rowOf(node, ancestors)
  const [start = "", inherited] = above.split(".")
  const chain = chainOf(ancestors, start)
  const beside = row ? rowPrint(row) : inherited
  return beside === undefined ? chain : `${chain}.${beside}`
}

/** Taken once for all siblings, which share the list of their ancestors. */
function chainOf(ancestors: readonly SeenNode[], start: string): string {
  const known = chains.get(ancestors)
  if (known?.start === start) return known.chain
  const chain = ancestors
    .flatMap((one) => (SURFACES.has(one.role) ? [] : (ownName(one) ?? [])))
    .reduce((sum, name) => hash(`${sum}\0${withoutNumbers(name)}`), start)
  chains.set(ancestors, { start, chain })
  return chain
}

const chains = new WeakMap<readonly SeenNode[], { readonly start: string; readonly chain: string }>()

export const isInRow = (context: string | undefined): boolean => context?.includes(".") ?? false

/** Whether the row still shows what it showed when the context was taken. */
export function isSameRow(context: string, row: SeenNode): boolean {
  return context.split(".")[1] === rowPrint(row)
}

export const isRow = (seen: Pick<Seen, "role">): boolean => ROWS.has(seen.role)

/** The row that an element is part of. A row is no part of itself, nor of the row that it is folded under. */
function rowOf(node: SeenNode, ancestors: readonly SeenNode[]): SeenNode | undefined {
  return isRow(node) ? undefined : ancestors.findLast(isRow)
}

/** Taken once for all that is in the row. */
function rowPrint(row: SeenNode): string {
  const known = rowPrints.get(row) ?? hash(rowTexts(row).join("\0"))
  rowPrints.set(row, known)
  return known
}

const rowPrints = new WeakMap<SeenNode, string>()

/**
 * The texts of a row, down to its cells. The first says what it is about and counts as it is; in the
 * others a number may be a clock or a percentage.
 */
function rowTexts(row: SeenNode): string[] {
  const parts = row.children
    .flatMap((child) => (wordsOf(child) || isRow(child) ? child : child.children))
    .filter((part) => !isRow(part) && !CONTROLS.has(part.role) && !part.states.includes("hidden"))
  const [first, ...others] = parts.flatMap((part) => wordsOf(part) || [])
  if (first === undefined) return [row.name ?? ""]
  return [first, ...others.map(withoutNumbers), withoutNumbers(row.name ?? "")]
}

/** What a text says is its name on one platform, and its value on another. */
const wordsOf = ({ name, role, value }: SeenNode): string | undefined =>
  name || (role === "statictext" ? value : undefined)

const withoutNumbers = (text: string): string => text.replaceAll(/\p{Nd}+/gu, "0")

const hash = (text: string): string => Bun.hash.xxHash32(text).toString(36)
