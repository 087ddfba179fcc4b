import { hasTrait, type Role } from "../node.ts"
import { isUnread } from "./failure.ts"
import { isSecure, roleOf } from "./roles.ts"
import { type Attributes, asText, asWords } from "./value.ts"

/**
 * Read of every node, in one round trip with its children: all that most of what can be acted on has.
 * A round trip costs as much as twenty attributes, so a second one has to be worth it. AXValue is not
 * here: it must not be asked of a secure field, which only this answer can tell.
 */
export const STRUCTURE = [
  "AXRole",
  "AXSubrole",
  "AXTitle",
  "AXDescription",
  "AXChildren",
  "AXSelected",
  "AXHidden",
  "AXEnabled",
  "AXFocused",
  "AXHelp",
  "AXIdentifier",
  "AXFrame",
] as const

/** What only web contents answer. */
const WEB = ["AXDOMIdentifier", "AXElementBusy", "AXExpanded", "AXHasPopup"] as const

/** The same inside a web page. */
export const WEB_STRUCTURE = [...STRUCTURE, ...WEB] as const

export const FRAME = "AXFrame"

/** The element that labels a control without a title. */
const LABEL = "AXTitleUIElement"

/** What is named by what is inside, and never labelled. */
const UNLABELLED: ReadonlySet<Role> = new Set(["cell", "menuitem", "treeitem"])

/** Read of a node that can be acted on, besides its structure. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  checkbox: ["AXValue", "AXRequired"],
  colorwell: ["AXValue"],
  combobox: ["AXValue", "AXExpanded", "AXRequired", "AXInvalid", "AXPlaceholderValue"],
  disclosure: ["AXValue", "AXExpanded"],
  incrementor: ["AXValue"],
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
const TELLING: ReadonlySet<Role> = new Set([
  "datefield",
  "levelindicator",
  "progressbar",
  "scrollbar",
  "statictext",
  "status",
  "timefield",
])

const lists = new Map<string, readonly string[]>()

type Known = Pick<Nature, "role" | "toggle" | "hides" | "named">

/** What else to read of a node that can be acted on, besides what it `has`; mostly nothing. */
export function detailsOf(
  { role, toggle, hides, named }: Known,
  web: boolean,
  has: (name: string) => boolean,
): readonly string[] {
  const missing = web && !has("AXHasPopup")
  const key = `${role} ${toggle} ${hides} ${named} ${web} ${missing}`
  const known = lists.get(key)
  if (known) return known
  const names = [...ownNames(role, toggle), ...(missing ? WEB : [])]
  // A description may do, where the label alone would take another round trip.
  const unnamed = names.length > 0 ? named !== "title" : named === undefined
  if (unnamed && !UNLABELLED.has(role)) names.push(LABEL)
  const list = [...new Set(names)].filter((name) => !has(name) && !(hides && name === "AXValue"))
  // With the value comes the word whether it is still one to be shown.
  if (role === "textfield" && list.includes("AXValue")) list.push("AXSubrole")
  lists.set(key, list)
  return list
}

function ownNames(role: Role, toggle: boolean): readonly string[] {
  return MORE[role] ?? (toggle ? ["AXValue"] : [])
}

/** The one attribute more that a node which only gives context is asked for, if any. */
export function contextAttribute(role: Role, values: boolean): string | undefined {
  if (SURFACES.has(role)) return "AXModal"
  return values && TELLING.has(role) ? "AXValue" : undefined
}

export const SURFACES: ReadonlySet<Role> = new Set(["alert", "alertdialog", "dialog", "sheet", "window"])

/** Roles that can be acted on only where the app offers an action for them. */
const SOMETIMES: ReadonlySet<Role> = new Set(["disclosure", "image", "timefield", "datefield"])

/** Whether it takes a look at the actions to know that a node can be acted on; `web`: groups there may be buttons. */
export function mayBeActedOn(role: Role, web: boolean, named: boolean): "yes" | "ask" | "no" {
  if (hasTrait(role, "interactive")) return "yes"
  return SOMETIMES.has(role) || (web && named && role === "group") ? "ask" : "no"
}

/** What a node is, by what its structure says. */
export interface Nature {
  readonly axRole: string | undefined
  readonly role: Role
  /** It is a secure field. */
  readonly secure: boolean
  /** It is one, or may be: what could not be read is no evidence that it is not. Its value is not asked for. */
  readonly hides: boolean
  /** A button that stays pressed. */
  readonly toggle: boolean
  /** What it has of its own that could be its name. */
  readonly named: "title" | "description" | undefined
}

export function natureOf(structure: Attributes): Nature {
  const { AXRole, AXSubrole, AXTitle, AXDescription } = structure
  const axRole = asText(AXRole)
  const subrole = asText(AXSubrole)
  const secure = isSecure(axRole, subrole)
  const described = asWords(AXDescription) ? "description" : undefined
  return {
    axRole,
    role: roleOf(axRole, subrole),
    secure,
    hides: secure || axRole === undefined || isUnread(AXSubrole),
    toggle: subrole === "AXToggleButton",
    named: asWords(AXTitle) ? "title" : described,
  }
}
