import type { Seen, SeenNode } from "../../adapter.ts"
import type { Role } from "../../node.ts"
import type { Described } from "./describe.ts"
import type { Place } from "./element.ts"
import { type Kind, ROLE } from "./roles.ts"

/** What an element is called, and holds, by what is in it. */

/** How deep below an element its labels are looked for. */
export const LABEL_DEPTH = 3

/** Whether what is in it decides what it is: then it is read even where the tree is cut. */
export function needsContents(kind: Kind, place: Place, name: string | undefined): boolean {
  if (kind.role === "combobox") return true
  if (!LABELLED_INSIDE.has(kind.role)) return false
  return name === undefined || (place.toolkit === "GTK" && kind.native === ROLE.PUSH_BUTTON)
}

/** The element with what its children add to it. */
export function settle(
  { seen, fallback }: Described,
  kind: Kind,
  place: Place,
  children: readonly SeenNode[],
): Seen {
  if (isMenuButtonShell(kind, place, children)) return shell(seen)
  if (kind.role === "combobox" && seen.value === undefined) {
    const value = findField(children, LABEL_DEPTH)?.value
    if (value !== undefined) return named({ ...seen, value }, fallback)
  }
  if (!LABELLED_INSIDE.has(kind.role)) return named(seen, fallback)
  const labels = collectLabels(children, LABEL_DEPTH).slice(0, MAX_LABELS).join(" ")
  if (labels === "") return named(seen, fallback)
  if (seen.name === undefined || isDoubled(seen.name, labels)) return { ...seen, name: labels }
  return seen
}

const MAX_LABELS = 5

const LABELLED_INSIDE: ReadonlySet<Role> = new Set([
  "button",
  "cell",
  "checkbox",
  "link",
  "menubutton",
  "menuitem",
  "option",
  "radiobutton",
  "switch",
  "tab",
  "treeitem",
])

/** Without a name, what describes it serves as one. */
function named(seen: Seen, fallback: string | undefined): Seen {
  if (seen.name !== undefined || !seen.actions?.includes("Click")) return seen
  return seen.description !== undefined
    ? { ...seen, name: seen.description, description: undefined }
    : { ...seen, name: fallback }
}

/** GTK 4's menu button is a widget around the button that does everything. */
function isMenuButtonShell(kind: Kind, { toolkit }: Place, children: readonly SeenNode[]): boolean {
  const [button, ...others] = children
  return (
    toolkit === "GTK" &&
    kind.native === ROLE.PUSH_BUTTON &&
    kind.role === "button" &&
    button?.role === "menubutton" &&
    others.every(({ role }) => role === "menu" || role === "popover")
  )
}

function shell(seen: Seen): Seen {
  const states = seen.states.filter((state) => state !== "enabled" && state !== "disabled")
  return { ...seen, role: "group", name: undefined, description: undefined, actions: [], states }
}

/** GTK 4.8 joins a button's own label, mnemonic included, with that of the label in it. */
function isDoubled(name: string, label: string): boolean {
  return name.length > label.length && name.replaceAll("_", "") === `${label} ${label}`.replaceAll("_", "")
}

function collectLabels(nodes: readonly SeenNode[], depth: number): string[] {
  return nodes.flatMap((node) => {
    if (node.role === "statictext") return node.name === undefined ? [] : [node.name]
    return depth > 1 ? collectLabels(node.children, depth - 1) : []
  })
}

function findField(nodes: readonly SeenNode[], depth: number): SeenNode | undefined {
  for (const node of nodes) {
    if (node.role === "textfield") return node
    const below = depth > 1 ? findField(node.children, depth - 1) : undefined
    if (below) return below
  }
  return undefined
}
