import { hasTrait, type Node, OMITTED, type State } from "../node.ts"
import type { ActionChanges } from "./changes.ts"
import type { Changed } from "./diff.ts"

/**
 * Trees as text: one node a line, two spaces a level. What an application says stands in quotes and
 * escaped, so that it can neither end its line nor pass for a node. `above` is a name that stands above
 * the tree; what only gives context does not repeat it, nor any other that it is inside of.
 */
export function outline(tree: Node, above?: string): string {
  const lines: string[] = []
  const visit = (node: Node, indent: string, known: string | undefined): void => {
    const { name, ...nameless } = node
    lines.push(indent + lineOf(name === known && !node.ref_id ? nameless : node))
    for (const child of node.children ?? []) visit(child, `${indent}  `, name || known)
  }
  visit(tree, "", above)
  return `${lines.join("\n")}\n`
}

/** `button "Save" [@e3] focused = "value"`. What is the rule for such a node, and what repeats, is not said. */
export function lineOf(node: Omit<Node, "children">): string {
  if (node.role === OMITTED) return `… ${node.children_count} more`
  const words: string[] = [node.role]
  if (node.name) words.push(quoted(node.name))
  if (node.ref_id) words.push(`[${node.ref_id}]`)
  for (const state of node.states ?? []) if (!isRule(state, node.role)) words.push(state)
  if (node.value !== undefined) words.push(`= ${quoted(node.value)}`)
  if (node.description && !repeatsName(node)) words.push(`(${quoted(node.description)})`)
  if (node.hint && node.hint !== ONLY_COLUMN) words.push(`hint ${quoted(node.hint)}`)
  if (node.bounds) {
    const { x, y, width, height } = node.bounds
    words.push(`at ${x},${y} ${width}x${height}`)
  }
  if (node.characters_omitted !== undefined) words.push(`… ${node.characters_omitted} characters`)
  if (node.children_count !== undefined) words.push(`… ${node.children_count} children`)
  return words.join(" ")
}

const ONLY_COLUMN = "column 1 of 1"

/** That a control is enabled and its menu closed, and what only says what its role says. */
function isRule(state: State, role: Node["role"]): boolean {
  if (state === "collapsed" || state === "haspopup") return hasTrait(role, "opensMenu") || role === "menuitem"
  if (state === "multiselectable") return !LISTS.has(role)
  return state === "enabled"
}

const LISTS: ReadonlySet<Node["role"]> = new Set(["listbox", "list", "table", "grid", "outline", "tablist"])

/** "File" needs no description as "File menu". */
function repeatsName({ name = "", description = "" }: Pick<Node, "name" | "description">): boolean {
  const said = description.toLowerCase()
  const known = name.toLowerCase()
  return said === known || said === `${known} menu` || said === `${known} button`
}

/** Direction marks and separators are no letters: shown as they are they could turn a line around. */
const INVISIBLE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(INVISIBLE, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  )
}

/** Differences as text: `+` for what is new, `-` for what is gone, `~` for what says something else now. */
export function changeLines(changes: ActionChanges): string {
  const lines = [
    ...(changes.added ?? []).map(({ path, ...node }) => `+ ${addedLines(node, path)}`),
    ...(changes.removed ?? []).map((node) => `- ${lineOf(node)}`),
    ...(changes.changed ?? []).map(
      ({ was, path, ...node }) => `~ ${lineOf(node)} ${wasWords(was)}${within(path)}`,
    ),
    ...(changes.opened ?? []).map((one) => `opened ${one.id} ${quoted(one.title)} ${quoted(one.app_name)}`),
    ...(changes.closed ?? []).map((one) => `closed ${one.id} ${quoted(one.title)} ${quoted(one.app_name)}`),
    ...(changes.surfaces ?? []).map(
      ({ type, id, title }) => `open ${[type, id, title && quoted(title)].filter(Boolean).join(" ")}`,
    ),
    ...(changes.settled === false ? ["still changing"] : []),
    ...(changes.complete === false
      ? [`incomplete${changes.reason ? `: ${quoted(changes.reason).slice(1, -1)}` : ""}`]
      : []),
  ]
  return lines.length ? `${lines.join("\n")}\n` : "no changes\n"
}

function addedLines(node: Node, path: readonly string[] | undefined): string {
  const [first, ...rest] = outline(node).trimEnd().split("\n")
  return [`${first}${within(path)}`, ...rest.map((line) => `  ${line}`)].join("\n")
}

const within = (path: readonly string[] | undefined): string =>
  path?.length ? ` in ${path.map(quoted).join(" > ")}` : ""

function wasWords({
  ref_id,
  role,
  name,
  value,
  description,
  states,
  children_count,
}: Changed["was"]): string {
  const words = [
    ref_id && `[${ref_id}]`,
    role,
    name !== undefined && quoted(name),
    states && (states.filter((state) => state !== "enabled").join(" ") || "without states"),
    value !== undefined && `= ${quoted(value)}`,
    description !== undefined && `(${quoted(description)})`,
    children_count !== undefined && `… ${children_count} children`,
  ]
  return `was ${words.filter(Boolean).join(" ")}`
}
