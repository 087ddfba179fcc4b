import { INTERACTIVE_ROLES } from "../node.ts"

/** Read of every node, in one round trip with its children. */
export const STRUCTURE = [
  "AXRole",
  "AXSubrole",
  "AXTitle",
  "AXDescription",
  "AXChildren",
  "AXSelected",
  "AXHidden",
] as const

export const FRAME = "AXFrame"

/** Read of every node that can be acted on. */
const DETAILS = [
  "AXEnabled",
  "AXFocused",
  "AXHelp",
  "AXIdentifier",
  "AXDOMIdentifier",
  "AXElementBusy",
  "AXTitleUIElement",
] as const

const MORE: Readonly<Record<string, readonly string[]>> = {
  button: ["AXValue", "AXExpanded", "AXHasPopup"],
  checkbox: ["AXValue", "AXRequired"],
  colorwell: ["AXValue"],
  combobox: ["AXValue", "AXExpanded", "AXHasPopup", "AXRequired", "AXInvalid", "AXPlaceholderValue"],
  disclosure: ["AXValue", "AXExpanded"],
  incrementor: ["AXValue"],
  link: ["AXExpanded", "AXHasPopup"],
  listbox: ["AXIsMultiSelectable"],
  menubutton: ["AXValue", "AXExpanded"],
  menuitem: ["AXMenuItemCmdChar", "AXMenuItemCmdModifiers", "AXMenuItemMarkChar"],
  radiobutton: ["AXValue"],
  slider: ["AXValue"],
  switch: ["AXValue"],
  tab: ["AXValue"],
  textfield: ["AXValue", "AXRequired", "AXInvalid", "AXPlaceholderValue", "AXExpanded"],
  treeitem: ["AXDisclosing", "AXExpanded"],
}

/** Roles that only give context, and whose value is what they say. */
const TELLING: ReadonlySet<string> = new Set([
  "datefield",
  "levelindicator",
  "progressbar",
  "scrollbar",
  "statictext",
  "status",
  "timefield",
])

const lists = new Map<string, readonly string[]>()

/** What else to read of a node that can be acted on. The value of a secure field is never asked for. */
export function detailsOf(role: string, secure: boolean, frame: boolean): readonly string[] {
  const key = `${role} ${secure} ${frame}`
  const known = lists.get(key)
  if (known) return known
  const more = MORE[role] ?? []
  const list = [
    ...DETAILS,
    ...(secure ? more.filter((name) => name !== "AXValue") : more),
    ...(frame ? [FRAME] : []),
  ]
  lists.set(key, list)
  return list
}

/** The one attribute more that a node which only gives context is asked for, if any. */
export function contextAttribute(role: string, values: boolean): string | undefined {
  if (SURFACES.has(role)) return "AXModal"
  return values && TELLING.has(role) ? "AXValue" : undefined
}

const SURFACES: ReadonlySet<string> = new Set(["alert", "alertdialog", "dialog", "sheet", "window"])

/** Roles that can be acted on only where the app offers an action for them. */
const SOMETIMES: ReadonlySet<string> = new Set(["disclosure", "image", "timefield", "datefield"])

/** Whether it takes a look at the actions to know that a node can be acted on; `web`: groups there may be buttons. */
export function mayBeActedOn(role: string, web: boolean, named: boolean): "yes" | "ask" | "no" {
  if (INTERACTIVE_ROLES.has(role)) return "yes"
  return SOMETIMES.has(role) || (web && named && role === "group") ? "ask" : "no"
}
