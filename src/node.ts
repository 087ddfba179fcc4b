export interface Point {
  readonly x: number
  readonly y: number
}

export interface Rect extends Point {
  readonly width: number
  readonly height: number
}

export const STATES = [
  "enabled",
  "disabled",
  "focused",
  "checked",
  "unchecked",
  "indeterminate",
  "expanded",
  "collapsed",
  "selected",
  "pressed",
  "secure",
  "readonly",
  "required",
  "busy",
  "modal",
  "hidden",
  "offscreen",
  "multiline",
  "multiselectable",
  "haspopup",
  "invalid",
] as const

export type State = (typeof STATES)[number]

/** A node as it is printed: the contract's AccessibilityNode, members in the contract's order. */
export interface Node {
  readonly ref_id?: string
  readonly role: string
  readonly name?: string
  readonly value?: string
  readonly description?: string
  readonly hint?: string
  readonly states?: readonly State[]
  readonly bounds?: Rect
  /** How much of its texts was left out. */
  readonly characters_omitted?: number
  /** How many children there are, where not all are here. */
  readonly children_count?: number
  readonly children?: readonly Node[]
}

/** The role of what stands for nodes that were left out between two that are there; `children_count` of them. */
export const OMITTED = "omitted"

export interface WindowInfo {
  readonly id: string
  readonly title: string
  readonly app_name: string
  readonly pid: number
  readonly bounds?: Rect
  readonly is_focused: boolean
}

export interface AppInfo {
  readonly name: string
  readonly pid: number
  readonly bundle_id?: string
}

export interface DisplayInfo {
  readonly id: string
  readonly bounds: Rect
  readonly is_primary: boolean
  readonly scale: number
}

export const SURFACES = ["window", "focused", "menu", "menubar", "sheet", "popover", "alert"] as const

export type Surface = (typeof SURFACES)[number]

export interface SurfaceInfo {
  readonly type: Surface
  readonly id?: string
  readonly title?: string
  readonly item_count?: number
}

export interface NotificationInfo {
  readonly index: number
  readonly app_name: string
  readonly title: string
  readonly body?: string
  readonly actions?: readonly string[]
}

/** Roles that always get a ref: what an agent can act on. */
export const INTERACTIVE_ROLES: ReadonlySet<string> = new Set([
  "button",
  "textfield",
  "checkbox",
  "link",
  "menuitem",
  "tab",
  "slider",
  "combobox",
  "treeitem",
  "cell",
  "radiobutton",
  "incrementor",
  "menubutton",
  "switch",
  "colorwell",
  "dockitem",
  "listbox",
  "option",
])

/** Roles that only give context. With the interactive ones: every word that a role table may use. */
export const STRUCTURAL_ROLES: ReadonlySet<string> = new Set([
  "window",
  "group",
  "statictext",
  "label",
  "separator",
  "toolbar",
  "scrollbar",
  "image",
  "container",
  "menu",
  "menubar",
  "list",
  "table",
  "row",
  "column",
  "columnheader",
  "rowheader",
  "outline",
  "tablist",
  "tabpanel",
  "dialog",
  "alertdialog",
  "sheet",
  "popover",
  "alert",
  "webarea",
  "document",
  "article",
  "heading",
  "paragraph",
  "progressbar",
  "levelindicator",
  "splitter",
  "scrollarea",
  "status",
  "tooltip",
  "application",
  "form",
  "region",
  "navigation",
  "main",
  "banner",
  "contentinfo",
  "complementary",
  "search",
  "radiogroup",
  "grid",
  "browser",
  "disclosure",
  "handle",
  "ruler",
  "math",
  "note",
  "log",
  "timer",
  "marquee",
  "term",
  "definition",
  "caption",
  "figure",
  "footnote",
  "blockquote",
  "canvas",
  "video",
  "audio",
  "embedded",
  "terminal",
  "desktop",
  "titlebar",
  "layoutitem",
  "matte",
  "drawer",
  "timefield",
  "datefield",
  "helptag",
  "unknown",
])

export const ACTION_NAMES = [
  "Click",
  "DoubleClick",
  "TripleClick",
  "RightClick",
  "Toggle",
  "Check",
  "Uncheck",
  "Expand",
  "Collapse",
  "Select",
  "SetValue",
  "TypeText",
  "Clear",
  "SetFocus",
  "Scroll",
  "ScrollTo",
] as const

export type ActionName = (typeof ACTION_NAMES)[number]
