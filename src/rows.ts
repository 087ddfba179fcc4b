import type { Seen, SeenNode } from "./adapter.ts"

/** What a row is, to the platform or only to the user, and what it says. */

export const isRow = (seen: Pick<Seen, "role">): boolean => ROWS.has(seen.role)

const ROWS: ReadonlySet<string> = new Set(["row", "treeitem", "option"])

/** What has a place of its own on the screen: it is part of no row. */
export const isSurface = ({ role }: Pick<Seen, "role">): boolean => SURFACES.has(role)

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
  if (parts.filter(({ role }) => CONTROLS.has(role)).length > MOST_CONTROLS) return false
  const first = parts.find((part) => part.role === "button" || (isPart(part) && wordsOf(part)))
  const subject = first && TEXTS.has(first.role) ? wordsOf(first) : undefined
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

/** What can say what a row is about. */
const TEXTS: ReadonlySet<string> = new Set(["statictext", "label", "heading", "paragraph", "link"])
const MOST_PARTS = 16
const MOST_CONTROLS = 4

const insideOf = ({ role, children }: SeenNode): readonly SeenNode[] =>
  CONTROLS.has(role) ? [] : children.filter(isShown)

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

const EDGES: ReadonlySet<string> = new Set([
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

const isPart = (node: SeenNode): boolean => !isRow(node) && !CONTROLS.has(node.role) && isShown(node)

const isShown = ({ states }: SeenNode): boolean => !states.includes("hidden")

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

/** What a text says is its name on one platform, and its value on another. */
const wordsOf = ({ name, role, value }: SeenNode): string | undefined =>
  name || (role === "statictext" ? value : undefined)

export const withoutNumbers = (text: string): string => text.replaceAll(/\p{Nd}+/gu, "0")
