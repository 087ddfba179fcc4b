import type { Seen, SeenNode } from "../../adapter.ts"
import { MAX_LABELS, NAMED_INSIDE, textsInside } from "../../describe/draft.ts"
import type { Role } from "../../node.ts"
import type { Reading } from "./reading.ts"
import { ROLE } from "./roles.ts"

/** Names and values that an element gets from the objects inside it. */

/** The levels below an element on which its labels are looked for. */
export const LABEL_DEPTH = 3

/** True if the objects inside decide what the element is. Then they are read even beyond the depth of the tree. */
export function needsContents({ kind, name, element }: Pick<Reading, "kind" | "name" | "element">): boolean {
  if (kind.role === "combobox") return true
  if (!isNamedInside(kind.role)) return false
  if (name === undefined) return true
  return element.origin.traits.menuButtonIsNested === true && kind.native === ROLE.PUSH_BUTTON
}

/** The element with everything that the objects inside add. `fallback`: its name if nothing else provides one. */
export function settle(
  seen: Seen,
  fallback: string | undefined,
  reading: Reading,
  inside: readonly SeenNode[],
): Seen {
  const { role } = reading.kind
  if (isMenuButtonShell(reading, inside)) return shell(seen)
  if (role === "combobox" && seen.value === undefined) {
    const value = findField(inside, LABEL_DEPTH)?.value
    if (value !== undefined) return named({ ...seen, value }, fallback)
  }
  if (!isNamedInside(role)) return named(seen, fallback)
  // A tree with hidden parts gives an element the same name as one without them.
  const shown = isHidden(seen) ? inside : inside.filter((node) => !isHidden(node))
  const texts = textsInside(shown, isHidden(seen) ? LABELS : SHOWN_LABELS).slice(0, MAX_LABELS)
  const hint = seen.hint ?? shortcutIn(reading, texts)
  const labels = (hint === undefined ? texts : texts.filter((text) => text !== hint)).join(" ")
  if (labels === "") return named(seen, fallback)
  const all = { ...seen, hint }
  return seen.name === undefined || isDoubled(seen.name, labels) ? { ...all, name: labels } : all
}

/** The shortcut of a menu item that has it in a second text. Its words depend on the language. */
function shortcutIn({ kind, element }: Reading, [, second, third]: readonly string[]): string | undefined {
  const isItem = kind.role === "menuitem" && element.origin.traits.menuItemsHoldShortcuts === true
  return isItem && third === undefined ? second : undefined
}

/** In this toolkit, a switch may also have its label inside. */
const isNamedInside = (role: Role): boolean => role === "switch" || NAMED_INSIDE.has(role)

const LABELS = {
  levels: LABEL_DEPTH,
  isText: (role: Role) => role === "statictext",
  isThrough: () => true,
  textOf: ({ name }: SeenNode) => name,
}

const SHOWN_LABELS = {
  ...LABELS,
  textOf: (node: SeenNode) => (isHidden(node) ? undefined : node.name),
}

const isHidden = ({ states }: Seen): boolean => states.includes("hidden")

/** A clickable element without a name is named by its description, unless a label beside it may name it. */
function named(seen: Seen, fallback: string | undefined): Seen {
  if (seen.name !== undefined || seen.weakName !== undefined || !seen.actions?.includes("Click")) return seen
  return seen.description !== undefined
    ? { ...seen, name: seen.description, description: undefined }
    : { ...seen, name: fallback }
}

/** True for a menu button that only wraps the actual button. */
function isMenuButtonShell({ kind, element }: Reading, inside: readonly SeenNode[]): boolean {
  const [button, ...others] = inside
  return (
    element.origin.traits.menuButtonIsNested === true &&
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

/** GTK 4.8 joins a button's own label, including its mnemonic, with the label inside it. */
function isDoubled(name: string, label: string): boolean {
  return name.length > label.length && name.replaceAll("_", "") === `${label} ${label}`.replaceAll("_", "")
}

function findField(nodes: readonly SeenNode[], depth: number): SeenNode | undefined {
  for (const node of nodes) {
    if (node.role === "textfield") return node
    const below = depth > 1 ? findField(node.children, depth - 1) : undefined
    if (below) return below
  }
  return undefined
}
