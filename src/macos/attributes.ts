import { hasTrait, type Role } from "../node.ts"
import { isUnread, isVague } from "./failure.ts"
import { isSecure, roleOf } from "./roles.ts"
import { type Attributes, asText, asWords } from "./value.ts"

/**
 * The attributes that are read of every element, in one round trip. They are enough for most controls: a second round
 * trip costs as much as twenty attributes. AXValue is not among them, because it must not be read of a secure field, and
 * only this answer shows which field is secure.
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

/** Attributes that only web contents have. */
const WEB = ["AXDOMIdentifier", "AXElementBusy", "AXExpanded", "AXHasPopup"] as const

/** The same inside a web page. */
export const WEB_STRUCTURE = [...STRUCTURE, ...WEB] as const

export const FRAME = "AXFrame"

/** The element that labels a control without a title. */
const LABEL = "AXTitleUIElement"

/** Roles that are named by their content, and never labelled. */
const UNLABELLED: ReadonlySet<Role> = new Set(["cell", "menuitem", "treeitem"])

/** Further attributes of an element that can be acted on. */
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

/** Roles that cannot be acted on, and give context by their value. */
const CONTEXT: ReadonlySet<Role> = new Set([
  "datefield",
  "levelindicator",
  "progressbar",
  "scrollbar",
  "statictext",
  "status",
  "timefield",
])

const lists = new Map<string, readonly string[]>()

type KnownNature = Pick<Nature, "role" | "toggle" | "hides" | "named">

/** The attributes still to read of an element that can be acted on, without those that it `has`. Usually none. */
export function detailsOf(
  { role, toggle, hides, named }: KnownNature,
  web: boolean,
  has: (name: string) => boolean,
): readonly string[] {
  const missing = web && !has("AXHasPopup")
  const key = `${role} ${toggle} ${hides} ${named} ${web} ${missing}`
  const known = lists.get(key)
  if (known) return known
  const names = [...ownNames(role, toggle), ...(missing ? WEB : [])]
  // A description will do if the label alone would take another round trip.
  const unnamed = names.length > 0 ? named !== "title" : named === undefined
  if (unnamed && !UNLABELLED.has(role)) names.push(LABEL)
  const list = [...new Set(names)].filter((name) => !has(name) && !(hides && name === "AXValue"))
  // The field may have become a secure one since: the subrole comes with the value.
  if (role === "textfield" && list.includes("AXValue")) list.push("AXSubrole")
  lists.set(key, list)
  return list
}

function ownNames(role: Role, toggle: boolean): readonly string[] {
  return MORE[role] ?? (toggle || CONTEXT.has(role) ? ["AXValue"] : [])
}

/** The one further attribute of an element that only gives context, if any. */
export function contextAttribute(role: Role, values: boolean): string | undefined {
  if (SURFACES.has(role)) return "AXModal"
  return values && CONTEXT.has(role) ? "AXValue" : undefined
}

export const SURFACES: ReadonlySet<Role> = new Set(["alert", "alertdialog", "dialog", "sheet", "window"])

/** Roles that can be acted on only if the app offers an action for them. */
const SOMETIMES: ReadonlySet<Role> = new Set([
  "datefield",
  "disclosure",
  "heading",
  "image",
  "layoutitem",
  "row",
  "timefield",
  "unknown",
])

/** Roles that are mostly context, and hardly ever a custom control. */
const SELDOM: ReadonlySet<Role> = new Set(["group", "statictext"])

/**
 * "ask": only its actions show whether the element is interactive. "sample": the same, but if the first few of its kind
 * are not, the others are not asked. `web`: groups in pages may be buttons.
 */
export function mayBeActedOn(role: Role, web: boolean, named: boolean): "yes" | "ask" | "sample" | "no" {
  if (hasTrait(role, "interactive")) return "yes"
  if (web) return SOMETIMES_IN_PAGES.has(role) || (named && role === "group") ? "ask" : "no"
  if (SOMETIMES.has(role)) return "ask"
  return SELDOM.has(role) ? "sample" : "no"
}

const SOMETIMES_IN_PAGES: ReadonlySet<Role> = new Set(["disclosure", "image", "timefield", "datefield"])

/** True if the actions make an element one that can be acted on. AppKit offers AXShowMenu for every label. */
export function isActive(role: Role, actions: ReadonlySet<string>): boolean {
  const isPressed = actions.has("AXPress") || actions.has("AXOpen") || actions.has("AXPick")
  return isPressed || (!SELDOM.has(role) && actions.has("AXShowMenu"))
}

/** The kind of an element, by its structure. */
export interface Nature {
  readonly axRole: string | undefined
  readonly role: Role
  /** It is a secure field. */
  readonly secure: boolean
  /** It is a secure field, or may be one, since its subrole could not be read. It is not asked for its value. */
  readonly hides: boolean
  /** A button that stays pressed. */
  readonly toggle: boolean
  /** The attribute of its own that names it. */
  readonly named: "title" | "description" | undefined
}

/** True if role or subrole is still unknown: a read of many attributes may fail by chance. Then they are read alone. */
export function isUndetermined({ AXRole, AXSubrole }: Attributes): boolean {
  return isVague(AXRole) || (AXRole === "AXTextField" && isVague(AXSubrole))
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
    hides: secure || axRole === undefined || isUnread(AXSubrole) || isUndetermined(structure),
    toggle: subrole === "AXToggleButton",
    named: asWords(AXTitle) ? "title" : described,
  }
}
