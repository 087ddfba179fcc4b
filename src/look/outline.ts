import type { Disposition } from "../errors.ts"
import { hasTrait, isRole, OMITTED, type State, type SurfaceInfo, type WindowInfo } from "../node.ts"
import type { PrintedNode } from "../schema/outputs.ts"
import { quoted } from "../shown-text.ts"
import { wordsOf } from "../tree.ts"
import type { Added, Changed } from "./diff.ts"
import { beyondLines } from "./offscreen.ts"
import { isOneLine, isSheetCell } from "./printed-rows.ts"

/** Results as plain lines, for `--format text`. */

/** A snapshot: a heading, and the tree or the differences below it. */
export function snapshotText(data: Snapshot): string {
  const { app, window, snapshot_id, since, complete } = data
  const compared = since === undefined ? "" : ` since ${since}`
  const heading = `${quoted(app)} ${window.id} ${quoted(window.title)} ${snapshot_id}${compared}${complete ? "" : " incomplete"}\n`
  const note = data.note === undefined ? "" : `${data.note}\n`
  if (data.changes) return heading + note + changeLines(data.changes)
  return data.tree ? heading + note + outline(data.tree, window.title) : heading
}

interface Snapshot {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly snapshot_id?: string
  readonly since?: string
  readonly complete?: boolean
  readonly note?: string
  readonly tree?: PrintedNode
  readonly changes?: ShownChanges
}

/**
 * The result of a command that acted on an element or a window: a line about it, and the menu or the changes below.
 * undefined if it acted only on a screen point.
 */
export function actedText(data: object): string | undefined {
  if (!("ref_id" in data || "window" in data || "changes" in data)) return undefined
  // The result of every command that acts has these members.
  const { action, ref_id, element, post_state, disposition, window, changes, ...rest } = data as Acted
  const { states, value } = changes ? {} : (post_state ?? {})
  const acted = element ? lineOf({ ...element, ref_id, states, value }) : ref_id
  const place = window && `${window.id} ${quoted(window.title)}`
  const notes = [
    rest.already && "nothing had to be sent",
    rest.app_ended && "its app ended",
    rest.focused === false && `not focused: ${oneLine(rest.focus_reason ?? "")}`,
    rest.observed && `observed: ${rest.observed}`,
    rest.doubt && `doubt: ${oneLine(rest.doubt)}`,
  ].filter(Boolean)
  const words = [action, acted, disposition && deliveryWords(disposition), place, changes?.snapshot_id]
  return [
    words.filter(Boolean).join(" "),
    ...notes,
    ...[rest.menu ?? rest.popup].flatMap((opened) => (opened ? [outline(opened).trimEnd()] : [])),
    changes ? changeLines(changes) : "",
  ].join("\n")
}

const deliveryWords = ({ delivery, retry }: Disposition): string =>
  delivery === "delivered_verified" || retry === "safe" ? delivery : `${delivery} (retry ${retry})`

interface Acted {
  readonly action: string
  readonly ref_id?: string
  readonly element?: Pick<PrintedNode, "role" | "name">
  readonly post_state?: Pick<PrintedNode, "states" | "value">
  readonly already?: true
  readonly app_ended?: true
  readonly focused?: boolean
  readonly focus_reason?: string
  readonly doubt?: string
  readonly observed?: string
  readonly menu?: PrintedNode
  readonly popup?: PrintedNode
  readonly disposition?: Disposition
  readonly window?: { readonly id: string; readonly title: string }
  readonly changes?: ShownChanges
}

export const windowLine = ({ id, title, app_name, pid, is_focused }: WindowInfo): string =>
  `${id} ${quoted(title)} ${quoted(app_name)} pid ${pid}${is_focused ? " focused" : ""}`

/** One line for each; `none` for an empty list. */
export const lines = <T>(all: readonly T[], line: (one: T) => string): string =>
  all.length ? `${all.map(line).join("\n")}\n` : "none\n"

/**
 * A tree as text: one node a line, two spaces a level. Application text is quoted and escaped, so that it
 * can neither end its line nor look like a node. Nodes without a ref do not repeat the name of the node
 * around them; for the root that is `above`.
 */
export function outline(tree: PrintedNode, above?: string): string {
  const lines: string[] = []
  const visit = (node: PrintedNode, indent: string, known: string | undefined): void => {
    const said = wordsOf(node)
    const line = isOneLine(node) ? rowLine(node) : messageLine(node)
    if (line !== undefined) {
      lines.push(indent + line)
      return
    }
    lines.push(indent + lineOf(said === known && !node.ref_id ? withoutWords(node) : node) + cellTarget(node))
    const [before, after] = beyondLines(node.offscreen)
    for (const line of before) lines.push(`${indent}  ${line}`)
    for (const child of node.children ?? []) visit(child, `${indent}  `, said ?? known)
    for (const line of after) lines.push(`${indent}  ${line}`)
  }
  visit(tree, "", above)
  return `${lines.join("\n")}\n`
}

/** `alert "Warning": "The disk is full"`: an alert around one text. */
function messageLine({ children = [], ...alert }: PrintedNode): string | undefined {
  const [text, ...others] = children
  if (alert.role !== "alert" || alert.offscreen || text?.role !== "statictext" || others.length > 0)
    return undefined
  const line = lineOf(text)
  return text.children || text.ref_id ? undefined : `${lineOf(alert)}: ${line.slice("statictext ".length)}`
}

/**
 * `row: "Ada" [@e3] | "36" [@e4] | button "Delete" [@e5]`. Cells need no role. A plain sheet cell shows its value, and
 * its address only if it does not follow another one: `row A2: Ada | 36 | D2 "x"`. The target of 36 is `cell "B2"`, as
 * the table's own line explains.
 */
function rowLine({ children = [], ...row }: PrintedNode): string {
  const [first] = children
  const start = first && isPlainCell(first) ? ` ${first.name}` : ""
  const parts = children.map((child, at) => {
    if (!isPlainCell(child)) return partOf(child)
    const value = child.value ?? ""
    if (at > 0 && !isNextColumn(children[at - 1], child)) return `${child.name} ${numberOrQuoted(value)}`
    return isPlainWords(value) ? value : numberOrQuoted(value)
  })
  return `${lineOf(row)}${start}: ${parts.join(" | ")}`
}

/** A number cannot be mistaken for anything else, and needs no quotes. */
const numberOrQuoted = (value: string): string =>
  /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? value : quoted(value)

/**
 * True for a few letters and digits that cannot be mistaken for a role, or for an address and a value: `Bern`, `Article
 * 5`.
 */
function isPlainWords(value: string): boolean {
  const [first = ""] = value.split(" ", 1)
  return WORDS.test(value) && value.length <= 40 && !isRole(first) && !PLACE.test(first)
}

const WORDS = /^\p{Script=Latin}[\p{Script=Latin}\d]*(?: [\p{Script=Latin}\d]+)*$/u
const PLACE = /^[A-Z]{1,3}\d+$/

/** How to name a sheet cell, for the line of its table: the cells in its rows have no refs there. */
function cellTarget({ role, children = [] }: PrintedNode): string {
  if (!isRole(role) || !hasTrait(role, "table")) return ""
  const cell = children.find(isOneLine)?.children?.find(isPlainCell)
  return cell ? `, targets: cell ${quoted(cell.name ?? "")}, …` : ""
}

/** True for a sheet cell that has nothing but a value. */
function isPlainCell(cell: PrintedNode): boolean {
  const { states = [], description, hint, bounds, children, value, value_length, characters_omitted } = cell
  if (!isSheetCell(cell) || value === undefined || children || bounds) return false
  if (description || hint || value_length !== undefined || characters_omitted !== undefined) return false
  return states.every((state) => isRule(state, cell.role))
}

const isNextColumn = (one: PrintedNode | undefined, next: PrintedNode): boolean =>
  one !== undefined && isSheetCell(one) && columnOf(next) === columnOf(one) + 1

/** A is 1, Z is 26, AA is 27. */
function columnOf({ name = "" }: PrintedNode): number {
  const letters = [...name].filter((letter) => letter >= "A" && letter <= "Z")
  return letters.reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}

function partOf({ children = [], ...node }: PrintedNode): string {
  const line = node.role === "cell" ? lineOf(node).replace(/^cell ?/, "") : lineOf(node)
  return [line, ...children.map(lineOf)].filter(Boolean).join(" ")
}

/** The node without the words that identify it. The value of a text node is such words; a field's value is not. */
function withoutWords({ name, value, ...rest }: PrintedNode): PrintedNode {
  return name || value === undefined || wordsOf({ role: rest.role, value }) === undefined
    ? { ...rest, ...(value === undefined ? {} : { value }) }
    : rest
}

/** `button "Save" [@e3] focused = "value"`. Default states and repeated names are omitted. */
export function lineOf(node: Omit<PrintedNode, "children">): string {
  if (node.role === OMITTED) return `… ${node.children_count} more`
  const words = [node.role]
  const said = wordsOf(node)
  if (said) words.push(`${quoted(said)}${node.name_inferred ? "?" : ""}`)
  if (node.ref_id) words.push(`[${node.ref_id}]`)
  for (const state of node.states ?? []) if (!isRule(state, node.role)) words.push(state)
  if (node.value !== undefined && (node.name || !said)) words.push(`= ${valueText(node)}`)
  if (node.value_length !== undefined) words.push(`of ${node.value_length} characters`)
  if (node.description && !repeatsName(node)) words.push(`(${quoted(node.description)})`)
  if (node.hint && node.hint !== ONLY_COLUMN) words.push(`hint ${quoted(node.hint)}`)
  if (node.bounds) {
    const { x, y, width, height } = node.bounds
    words.push(`at ${x},${y} ${width}x${height}`)
  }
  if (node.characters_omitted !== undefined) words.push(`… ${node.characters_omitted} characters`)
  if (node.children_count !== undefined && !isEndless(node)) words.push(`… ${node.children_count} children`)
  if (node.empty_cells !== undefined) words.push(`… ${node.empty_cells} empty cells`)
  return words.join(" ")
}

/** A sheet has more cells than its toolkit can count. Only the empty ones in view are counted. */
const isEndless = ({ children_count, empty_cells }: Omit<PrintedNode, "children">): boolean =>
  children_count === 0x7fffffff && empty_cells !== undefined

const valueText = ({ role, value = "" }: Omit<PrintedNode, "children">): string =>
  isRole(role) && hasTrait(role, "number") ? numberOrQuoted(value) : quoted(value)

const ONLY_COLUMN = "column 1 of 1"

/** Detects states that nearly every node of a role has: enabled, a closed menu. */
function isRule(state: State, role: string): boolean {
  if (state === "collapsed" || state === "haspopup")
    return role === "menuitem" || (isRole(role) && hasTrait(role, "opensMenu"))
  // One radio button of a group is checked.
  if (state === "unchecked") return role === "radiobutton"
  if (state === "multiselectable") return !(role === "tablist" || (isRole(role) && hasTrait(role, "list")))
  return state === "enabled"
}

/** Detects descriptions that repeat the name: "File menu" of "File". */
function repeatsName({ name = "", description = "" }: Pick<PrintedNode, "name" | "description">): boolean {
  const said = description.toLowerCase()
  const known = name.toLowerCase()
  return said === known || said === `${known} menu` || said === `${known} button`
}

/** Application text inside a line of ours: escaped, but without quotes around it. */
export const oneLine = (text: string): string => quoted(text).slice(1, -1).replaceAll('\\"', '"')

interface ShownChanges {
  readonly added?: readonly (PrintedNode & Pick<Added, "path">)[]
  readonly removed?: readonly Omit<PrintedNode, "children">[]
  readonly changed?: readonly (Omit<PrintedNode, "children"> & Partial<Pick<Changed, "was" | "path">>)[]
  readonly opened?: readonly (ShownSurface & { readonly tree?: PrintedNode })[]
  readonly closed?: readonly ShownSurface[]
  readonly omitted?: number
  readonly settled?: boolean
  readonly complete?: boolean
  readonly reason?: string
  readonly snapshot_id?: string
}

/** A window, or a menu or popover, which has a type. */
interface ShownSurface extends Partial<Pick<SurfaceInfo, "type" | "id" | "title">> {
  readonly app_name?: string
}

const surfaceWords = ({ type, id, title, app_name }: ShownSurface): string =>
  [type, id, title && quoted(title), app_name && quoted(app_name)].filter(Boolean).join(" ")

function openedLines({ tree, ...surface }: ShownSurface & { readonly tree?: PrintedNode }): string {
  const below = tree
    ? outline(tree, surface.title)
        .trimEnd()
        .split("\n")
        .map((line) => `  ${line}`)
    : []
  return [`opened ${surfaceWords(surface)}`, ...below].join("\n")
}

/** Differences as text: `+` a new node, `-` a node that is gone, `~` a node that changed. */
export function changeLines(changes: ShownChanges): string {
  const lines = [
    ...(changes.added ?? []).map(({ path, ...node }) => `+ ${addedLines(node, path)}`),
    ...(changes.removed ?? []).map((node) => `- ${lineOf(node)}`),
    ...(changes.changed ?? []).map(
      ({ was = {}, path, ...node }) =>
        `~ ${lineOf(node)} ${wasWords({ ...was, ...textBefore(node.role, was) })}${within(path)}`,
    ),
    ...(changes.opened ?? []).map(openedLines),
    ...(changes.closed ?? []).map((one) => `closed ${surfaceWords(one)}`),
    ...(changes.omitted ? [`… ${changes.omitted} more changes`] : []),
    ...(changes.settled === false ? ["still changing"] : []),
    ...(changes.complete === false
      ? [`incomplete${changes.reason ? `: ${quoted(changes.reason).slice(1, -1)}` : ""}`]
      : []),
  ]
  return lines.length ? `${lines.join("\n")}\n` : "no changes\n"
}

function addedLines(node: PrintedNode, path: readonly string[] | undefined): string {
  const [first, ...rest] = outline(node).trimEnd().split("\n")
  return [`${first}${within(path)}`, ...rest.map((line) => `  ${line}`)].join("\n")
}

/** The names around a node, from the window down. */
export const within = (path: readonly string[] | undefined): string =>
  path?.length ? ` in ${path.map(quoted).join(" > ")}` : ""

/** The earlier text of a text node, as its line prints it: without the `=` of a value. */
function textBefore(role: string, { name, value }: Changed["was"]): Pick<Changed["was"], "name" | "value"> {
  const text = name === undefined ? wordsOf({ role, value }) : undefined
  return text === undefined ? {} : { name: text, value: undefined }
}

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
