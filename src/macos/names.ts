import { hasTrait, type Role } from "../node.ts"
import { type Attributes, asText, asWords, type Value } from "./value.ts"

/**
 * The name of an element: its title, the text of the element that labels it, its description, the texts inside it, or
 * last its placeholder. An empty text does not count. A static text has its words as value.
 */
export function nameOf(
  attributes: Attributes,
  found: { label?: string; inside?: string },
): string | undefined {
  return (
    asWords(attributes.AXTitle) ??
    found.label ??
    asWords(attributes.AXDescription) ??
    found.inside ??
    asWords(attributes.AXPlaceholderValue) ??
    WINDOW_BUTTONS[asText(attributes.AXSubrole) ?? ""]
  )
}

/** The buttons of a window's frame, which rarely have names of their own. */
const WINDOW_BUTTONS: Readonly<Record<string, string | undefined>> = {
  AXCloseButton: "Close",
  AXFullScreenButton: "Full Screen",
  AXMinimizeButton: "Minimize",
  AXZoomButton: "Zoom",
}

/** True if only the texts inside can name the element. */
export function isNameless(attributes: Attributes): boolean {
  return nameOf({ ...attributes, AXPlaceholderValue: undefined }, {}) === undefined
}

/** The text that an element contributes to the name of its container or its neighbour. */
export function labelText(attributes: Attributes): string | undefined {
  return asWords(attributes.AXTitle) ?? asWords(attributes.AXValue) ?? asWords(attributes.AXDescription)
}

/** True for roles whose value, 0 or 1, would only repeat their state. */
const isStateful = (role: Role): boolean =>
  hasTrait(role, "checkable") || role === "tab" || role === "disclosure" || role === "button"

/** The value as text. An empty text field has one, an empty label has none. */
export function valueText(role: Role, value: Value): string | undefined {
  if (isStateful(role)) return undefined
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return role === "statictext" ? asWords(value) : asText(value)
}

/** AXMenuItemCmdModifiers: bits for further keys, and one that takes command away. */
const MODIFIERS = [
  [4, "ctrl"],
  [2, "alt"],
  [1, "shift"],
] as const
const NO_COMMAND = 8

/** The keyboard shortcut of a menu item, as `press` takes it. */
export function shortcutOf({ AXMenuItemCmdChar, AXMenuItemCmdModifiers }: Attributes): string | undefined {
  const key = asWords(AXMenuItemCmdChar)
  if (!key) return undefined
  const bits = typeof AXMenuItemCmdModifiers === "number" ? AXMenuItemCmdModifiers : 0
  const held = MODIFIERS.filter(([bit]) => bits & bit).map(([, name]) => name)
  return [...(bits & NO_COMMAND ? [] : ["cmd"]), ...held, key.toLowerCase()].join("+")
}

export function hintOf(attributes: Attributes, name: string | undefined): string | undefined {
  const help = asWords(attributes.AXHelp)
  const parts = [help === name ? undefined : help, shortcutOf(attributes)].filter(
    (part) => part !== undefined,
  )
  return parts.length > 0 ? parts.join("; ") : undefined
}
