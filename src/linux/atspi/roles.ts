import type { Role } from "../../node.ts"
import { has, INTERFACE, type Interfaces, STATE, type StateSet } from "./bits.ts"
import type { Traits } from "./toolkits.ts"

/** AT-SPI's roles in the contract's words: one table, and rules for the few that a number alone cannot decide. */

/** A role as the app reports it, and in the contract's words. */
export interface Kind {
  readonly native: number
  readonly role: Role
}

/** Numbers of the AT-SPI roles that rules name. */
export const ROLE = {
  INVALID: 0,
  ALERT: 2,
  ANIMATION: 3,
  CALENDAR: 5,
  CANVAS: 6,
  CHECK_BOX: 7,
  CHECK_MENU_ITEM: 8,
  COLOR_CHOOSER: 9,
  COLUMN_HEADER: 10,
  COMBO_BOX: 11,
  DIALOG: 16,
  DIRECTORY_PANE: 17,
  DRAWING_AREA: 18,
  FILE_CHOOSER: 19,
  FILLER: 20,
  FONT_CHOOSER: 22,
  FRAME: 23,
  ICON: 26,
  IMAGE: 27,
  INTERNAL_FRAME: 28,
  LABEL: 29,
  LAYERED_PANE: 30,
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
  PROGRESS_BAR: 42,
  PUSH_BUTTON: 43,
  RADIO_BUTTON: 44,
  RADIO_MENU_ITEM: 45,
  ROOT_PANE: 46,
  ROW_HEADER: 47,
  SCROLL_BAR: 48,
  SCROLL_PANE: 49,
  SEPARATOR: 50,
  SLIDER: 51,
  SPIN_BUTTON: 52,
  SPLIT_PANE: 53,
  STATUS_BAR: 54,
  TABLE: 55,
  TABLE_CELL: 56,
  TABLE_COLUMN_HEADER: 57,
  TABLE_ROW_HEADER: 58,
  TEAROFF_MENU_ITEM: 59,
  TERMINAL: 60,
  TEXT: 61,
  TOGGLE_BUTTON: 62,
  TOOL_BAR: 63,
  TOOL_TIP: 64,
  TREE: 65,
  TREE_TABLE: 66,
  UNKNOWN: 67,
  VIEWPORT: 68,
  WINDOW: 69,
  PARAGRAPH: 73,
  APPLICATION: 75,
  ENTRY: 79,
  DOCUMENT_FRAME: 82,
  HEADING: 83,
  PAGE: 84,
  SECTION: 85,
  TABLE_ROW: 90,
  TREE_ITEM: 91,
  DOCUMENT_SPREADSHEET: 92,
  DOCUMENT_PRESENTATION: 93,
  DOCUMENT_TEXT: 94,
  DOCUMENT_WEB: 95,
  LIST_BOX: 98,
  LEVEL_BAR: 103,
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

export const WINDOW_ROLES: ReadonlySet<number> = new Set([
  ROLE.FRAME,
  ROLE.DIALOG,
  ROLE.ALERT,
  ROLE.FILE_CHOOSER,
  ROLE.COLOR_CHOOSER,
  ROLE.FONT_CHOOSER,
  ROLE.WINDOW,
])

/** Containers of rows. */
export const LISTS: ReadonlySet<number> = new Set([
  ROLE.LIST,
  ROLE.LIST_BOX,
  ROLE.TABLE,
  ROLE.TREE,
  ROLE.TREE_TABLE,
])

/** Documents of an office that hold shapes, and the overview of slides. */
export const DOCUMENTS: ReadonlySet<number> = new Set([
  ROLE.DOCUMENT_FRAME,
  ROLE.DOCUMENT_SPREADSHEET,
  ROLE.DOCUMENT_PRESENTATION,
  ROLE.DOCUMENT_TEXT,
])

/** The role for a number alone; numbers of later releases are `unknown`. */
export function roleOf(native: number): Role {
  return ROLES[native]?.[1] ?? "unknown"
}

/** Evidence that distinguishes kinds if the role's number does not. */
export interface Evidence {
  readonly traits?: Traits
  readonly interfaces?: Interfaces
  /** −1 or absent: not known. */
  readonly childCount?: number
  readonly name?: string
  /** True for a copy of the text of a cell that is edited. */
  readonly isCopy?: boolean
}

/**
 * The kind of a node, by its states, its parent's native role and more evidence. A menu within a menu is an item. A
 * list item that cannot be selected only structures text.
 */
export function kindOf(
  native: number,
  states: StateSet,
  holdsSelection: boolean,
  parent: number,
  evidence: Evidence = {},
): Kind {
  return { native, role: refine(native, states, holdsSelection, parent, evidence) }
}

function refine(
  native: number,
  states: StateSet,
  holdsSelection: boolean,
  parent: number,
  { traits = {}, interfaces, childCount, name, isCopy = false }: Evidence,
): Role {
  const on = (state: number): boolean => has(states, state)
  switch (native) {
    case ROLE.FRAME:
    case ROLE.WINDOW:
      // Qt calls every framed widget a frame.
      return parent === ROLE.INVALID || parent === ROLE.APPLICATION ? "window" : "group"
    case ROLE.FILE_CHOOSER:
    case ROLE.COLOR_CHOOSER:
    case ROLE.FONT_CHOOSER:
      // A dialog, or the widget that fills one.
      return parent === ROLE.INVALID || parent === ROLE.APPLICATION ? "dialog" : "group"
    case ROLE.PANEL:
      if (
        traits.shapesAreSelectable &&
        parent === ROLE.DOCUMENT_FRAME &&
        on(STATE.SELECTABLE) &&
        !on(STATE.EDITABLE)
      )
        return "option"
      if (traits.drawnFieldsLookDefunct && on(STATE.DEFUNCT) && parent === ROLE.FILLER) return "textfield"
      if (traits.timeFieldsArePanels && on(STATE.EDITABLE) && !on(STATE.FOCUSABLE)) return "datefield"
      return traits.modalPanelIsPopover && on(STATE.MODAL) ? "popover" : "group"
    case ROLE.FILLER:
      // GTK 4.8 reports it for a second window.
      if (parent === ROLE.INVALID || parent === ROLE.APPLICATION) return "window"
      if (name !== undefined && traits.drawnWidgets?.includes(name) && on(STATE.FOCUSABLE)) return "canvas"
      return traits.popoverIsFiller && name !== undefined && /Popover$/.test(name) ? "popover" : "group"
    case ROLE.MENU:
      return MENU_ROLES.has(parent) ? "menuitem" : "menu"
    case ROLE.LIST_ITEM:
      if (parent === ROLE.TREE || parent === ROLE.TREE_TABLE) return "treeitem"
      // Even a disabled one, which cannot be selected.
      if (parent === ROLE.LIST_BOX) return "option"
      if (parent === ROLE.LIST && traits.selectableOnlyWhileSelected) return "option"
      return on(STATE.SELECTABLE) || on(STATE.SELECTED) ? "option" : "group"
    case ROLE.ICON:
      return on(STATE.SELECTABLE) ? "option" : "image"
    case ROLE.LIST:
      if (traits.modelListIsTable && interfaces !== undefined && interfaces & INTERFACE.Table)
        return "listbox"
      return holdsSelection || on(STATE.FOCUSABLE) ? "listbox" : "list"
    case ROLE.TABLE_CELL:
      return parent === ROLE.TREE || (parent === ROLE.TREE_TABLE && on(STATE.EXPANDABLE))
        ? "treeitem"
        : "cell"
    case ROLE.TEXT:
      return on(STATE.EDITABLE) || on(STATE.FOCUSABLE) ? "textfield" : "statictext"
    case ROLE.LABEL:
      if (traits.optionsAreLabels && parent === ROLE.LIST && on(STATE.SELECTABLE)) return "option"
      return traits.labelsHoldText ? "label" : "statictext"
    case ROLE.PARAGRAPH:
    case ROLE.SECTION:
      // A paragraph of an office document, an editable part of a web page.
      return on(STATE.EDITABLE) && on(STATE.FOCUSABLE) && !isCopy ? "textfield" : roleOf(native)
    case ROLE.PUSH_BUTTON:
      if (traits.menuButtonIsNested && parent === ROLE.PUSH_BUTTON) return "menubutton"
      return on(STATE.HAS_POPUP) ? "menubutton" : "button"
    case ROLE.TOGGLE_BUTTON:
      if (on(STATE.HAS_POPUP) || (traits.menuButtonIsNested && parent === ROLE.PUSH_BUTTON))
        return "menubutton"
      if (traits.switchIs === "a checkable toggle button") return on(STATE.CHECKABLE) ? "switch" : "button"
      if (on(STATE.EXPANDABLE)) return "button"
      return traits.switchIs === "a toggle button without parts" &&
        interfaces !== undefined &&
        (interfaces & ~PLAIN_ACTION) === 0
        ? "switch"
        : "button"
    case ROLE.CHECK_BOX:
      return traits.switchIs === "a childless check box" && childCount === 0 ? "switch" : "checkbox"
    default:
      return roleOf(native)
  }
}

const PLAIN_ACTION = INTERFACE.Accessible | INTERFACE.Action | INTERFACE.Component | INTERFACE.Collection

/** By number, as in at-spi2-core up to release 2.58. */
const ROLES: readonly (readonly [name: string, role: Role])[] = [
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
