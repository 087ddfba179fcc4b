import { has, STATE, type StateSet } from "./states.ts"

/** AT-SPI's roles in the contract's words: one table, and the few rules that a number alone cannot decide. */

/** A role as the application says it, and as we say it. */
export interface Kind {
  readonly native: number
  readonly role: string
}

/** Numbers of AT-SPI roles that rules elsewhere depend on. */
export const ROLE = {
  INVALID: 0,
  ALERT: 2,
  CHECK_BOX: 7,
  CHECK_MENU_ITEM: 8,
  COLOR_CHOOSER: 9,
  COMBO_BOX: 11,
  DIALOG: 16,
  FILE_CHOOSER: 19,
  FILLER: 20,
  FONT_CHOOSER: 22,
  FRAME: 23,
  ICON: 26,
  IMAGE: 27,
  LABEL: 29,
  LIST: 31,
  LIST_ITEM: 32,
  MENU: 33,
  MENU_BAR: 34,
  MENU_ITEM: 35,
  PAGE_TAB: 37,
  PAGE_TAB_LIST: 38,
  PANEL: 39,
  PASSWORD_TEXT: 40,
  POPUP_MENU: 41,
  PUSH_BUTTON: 43,
  RADIO_BUTTON: 44,
  RADIO_MENU_ITEM: 45,
  ROOT_PANE: 46,
  SCROLL_BAR: 48,
  SCROLL_PANE: 49,
  SPLIT_PANE: 53,
  TABLE: 55,
  TABLE_CELL: 56,
  TEAROFF_MENU_ITEM: 59,
  TEXT: 61,
  TOGGLE_BUTTON: 62,
  TOOL_TIP: 64,
  TREE: 65,
  TREE_TABLE: 66,
  WINDOW: 69,
  PARAGRAPH: 73,
  APPLICATION: 75,
  ENTRY: 79,
  SECTION: 85,
  TREE_ITEM: 91,
  LANDMARK: 110,
  STATIC: 116,
} as const

export const CHECKABLE_ROLES: ReadonlySet<number> = new Set([
  ROLE.CHECK_BOX,
  ROLE.CHECK_MENU_ITEM,
  ROLE.RADIO_BUTTON,
  ROLE.RADIO_MENU_ITEM,
])

export const MENU_ROLES: ReadonlySet<number> = new Set([ROLE.MENU, ROLE.MENU_BAR, ROLE.POPUP_MENU])

/** The role that a number alone stands for; numbers of later releases are `unknown`. */
export function roleOf(native: number): string {
  return ROLES[native]?.[1] ?? "unknown"
}

/** The same for a role's name, which releases spell differently. */
export function roleOfName(name: string): string {
  const spelled = name.toLowerCase().replaceAll(/[_ ]+/g, " ").trim()
  return BY_NAME.get(RENAMED[spelled] ?? spelled) ?? "unknown"
}

/**
 * What a node is, given its states, whether it can hold a selection, and its parent's native role:
 * a menu within a menu is an item, a list item that cannot be selected is mere text structure.
 */
export function kindOf(native: number, states: StateSet, selectable: boolean, parent: number): Kind {
  const role = refine(native, states, selectable, parent)
  return { native, role }
}

function refine(native: number, states: StateSet, holdsSelection: boolean, parent: number): string {
  switch (native) {
    case ROLE.MENU:
      return MENU_ROLES.has(parent) ? "menuitem" : "menu"
    case ROLE.LIST_ITEM:
      if (parent === ROLE.TREE || parent === ROLE.TREE_TABLE) return "treeitem"
      return has(states, STATE.SELECTABLE) || has(states, STATE.SELECTED) ? "option" : "group"
    case ROLE.ICON:
      return has(states, STATE.SELECTABLE) ? "option" : "image"
    case ROLE.LIST:
      return holdsSelection || has(states, STATE.FOCUSABLE) ? "listbox" : "list"
    case ROLE.TABLE_CELL:
      return parent === ROLE.TREE || (parent === ROLE.TREE_TABLE && has(states, STATE.EXPANDABLE))
        ? "treeitem"
        : "cell"
    case ROLE.TEXT:
      return has(states, STATE.EDITABLE) || has(states, STATE.FOCUSABLE) ? "textfield" : "statictext"
    case ROLE.PARAGRAPH:
      return has(states, STATE.EDITABLE) && has(states, STATE.FOCUSABLE) ? "textfield" : "paragraph"
    case ROLE.PUSH_BUTTON:
    case ROLE.TOGGLE_BUTTON:
      return has(states, STATE.HAS_POPUP) ? "menubutton" : "button"
    default:
      return roleOf(native)
  }
}

/** By number, as at-spi2-core counts them up to release 2.58. */
const ROLES: readonly (readonly [name: string, role: string])[] = [
  ["invalid", "unknown"],
  ["accelerator label", "statictext"],
  ["alert", "alert"],
  ["animation", "image"],
  ["arrow", "image"],
  ["calendar", "grid"],
  ["canvas", "canvas"],
  ["check box", "checkbox"],
  ["check menu item", "menuitem"],
  ["color chooser", "dialog"],
  ["column header", "columnheader"],
  ["combo box", "combobox"],
  ["date editor", "datefield"],
  ["desktop icon", "option"],
  ["desktop frame", "desktop"],
  ["dial", "slider"],
  ["dialog", "dialog"],
  ["directory pane", "outline"],
  ["drawing area", "canvas"],
  ["file chooser", "dialog"],
  ["filler", "group"],
  ["focus traversable", "group"],
  ["font chooser", "dialog"],
  ["frame", "window"],
  ["glass pane", "group"],
  ["html container", "webarea"],
  ["icon", "image"],
  ["image", "image"],
  ["internal frame", "group"],
  ["label", "statictext"],
  ["layered pane", "group"],
  ["list", "list"],
  ["list item", "option"],
  ["menu", "menu"],
  ["menu bar", "menubar"],
  ["menu item", "menuitem"],
  ["option pane", "group"],
  ["page tab", "tab"],
  ["page tab list", "tablist"],
  ["panel", "group"],
  ["password text", "textfield"],
  ["popup menu", "menu"],
  ["progress bar", "progressbar"],
  ["push button", "button"],
  ["radio button", "radiobutton"],
  ["radio menu item", "menuitem"],
  ["root pane", "group"],
  ["row header", "rowheader"],
  ["scroll bar", "scrollbar"],
  ["scroll pane", "scrollarea"],
  ["separator", "separator"],
  ["slider", "slider"],
  ["spin button", "incrementor"],
  ["split pane", "splitter"],
  ["status bar", "status"],
  ["table", "table"],
  ["table cell", "cell"],
  ["table column header", "columnheader"],
  ["table row header", "rowheader"],
  ["tear off menu item", "menuitem"],
  ["terminal", "terminal"],
  ["text", "textfield"],
  ["toggle button", "button"],
  ["tool bar", "toolbar"],
  ["tool tip", "tooltip"],
  ["tree", "outline"],
  ["tree table", "outline"],
  ["unknown", "unknown"],
  ["viewport", "group"],
  ["window", "window"],
  ["extended", "unknown"],
  ["header", "group"],
  ["footer", "group"],
  ["paragraph", "paragraph"],
  ["ruler", "ruler"],
  ["application", "application"],
  ["autocomplete", "textfield"],
  ["edit bar", "textfield"],
  ["embedded component", "embedded"],
  ["entry", "textfield"],
  ["chart", "figure"],
  ["caption", "caption"],
  ["document frame", "document"],
  ["heading", "heading"],
  ["page", "group"],
  ["section", "group"],
  ["redundant object", "group"],
  ["form", "form"],
  ["link", "link"],
  ["input method window", "window"],
  ["table row", "row"],
  ["tree item", "treeitem"],
  ["document spreadsheet", "document"],
  ["document presentation", "document"],
  ["document text", "document"],
  ["document web", "webarea"],
  ["document email", "document"],
  ["comment", "note"],
  ["list box", "listbox"],
  ["grouping", "group"],
  ["image map", "image"],
  ["notification", "alert"],
  ["info bar", "alert"],
  ["level bar", "levelindicator"],
  ["title bar", "titlebar"],
  ["block quote", "blockquote"],
  ["audio", "audio"],
  ["video", "video"],
  ["definition", "definition"],
  ["article", "article"],
  ["landmark", "region"],
  ["log", "log"],
  ["marquee", "marquee"],
  ["math", "math"],
  ["rating", "levelindicator"],
  ["timer", "timer"],
  ["static", "statictext"],
  ["math fraction", "math"],
  ["math root", "math"],
  ["subscript", "group"],
  ["superscript", "group"],
  ["description list", "list"],
  ["description term", "term"],
  ["description value", "definition"],
  ["footnote", "footnote"],
  ["content deletion", "group"],
  ["content insertion", "group"],
  ["mark", "group"],
  ["suggestion", "group"],
  ["push button menu", "menubutton"],
  ["switch", "switch"],
]

const BY_NAME = new Map(ROLES)

const RENAMED: Readonly<Record<string, string>> = {
  button: "push button",
  "button menu": "push button menu",
  "tearoff menu item": "tear off menu item",
  editbar: "edit bar",
  embedded: "embedded component",
  statusbar: "status bar",
  textbox: "entry",
}
