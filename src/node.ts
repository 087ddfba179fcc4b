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

/** How many elements with a ref are scrolled out of view, on each side of those that show. */
export interface Beyond {
  readonly above?: number
  readonly below?: number
  readonly left?: number
  readonly right?: number
  /** There may be more: counting them all would have taken too long. */
  readonly at_least?: true
}

/** A node as it is printed: the contract's AccessibilityNode, members in the contract's order. */
export interface Node {
  readonly ref_id?: string
  readonly role: RoleOfNode
  readonly name?: string
  /** The name is the text of a label beside or above it. */
  readonly name_inferred?: true
  readonly value?: string
  /** The number of characters of a value that was cut. */
  readonly value_length?: number
  readonly description?: string
  readonly hint?: string
  readonly states?: readonly State[]
  readonly bounds?: Rect
  /** How many characters of its texts were cut. */
  readonly characters_omitted?: number
  /** How many children it has, if some are missing here. */
  readonly children_count?: number
  /** With `--compact`: how many empty table cells were dropped. */
  readonly empty_cells?: number
  /** The elements inside that are scrolled out of view and not listed here. */
  readonly offscreen?: Beyond
  readonly children?: readonly Node[]
}

/** The role of a node that stands for omitted siblings; `children_count` says how many. */
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

/** Properties that several roles share. Rules ask for one of them instead of listing roles. */
export interface RoleTraits {
  /** Always gets a ref: an agent can act on it. A role without this trait only gives context. */
  readonly interactive?: true
  /** An entry of a list, table or tree. Its texts distinguish its controls from those of other entries. */
  readonly row?: true
  /** A row, or a cell of one: there are many, a click selects one, and toolkits recycle their objects. */
  readonly item?: true
  /** Has rows, and may have more of them than objects. */
  readonly list?: true
  /** A list whose rows have cells. */
  readonly table?: true
  /** The title of a column or row. */
  readonly header?: true
  /** A text that can say what a row is about. */
  readonly text?: true
  /** A control whose name changes with its use: "Play" becomes "Pause". */
  readonly control?: true
  /** Is on, off or mixed. */
  readonly checkable?: true
  /** A click at any point of it presses it, and so do keys. */
  readonly pressable?: true
  /** A click opens a menu or a list of options that belongs to it. */
  readonly opensMenu?: true
  /** Always shows a caret when focused: a click only places the caret, and keys write text. */
  readonly typable?: true
  /** Its value is a number, perhaps with a unit. */
  readonly number?: true
  /** Opens in its own place on the screen, so it is not part of a row. */
  readonly surface?: true
  /** Asks the user for something, in a window or inside of one. */
  readonly dialog?: true
  /** Means nothing without a name: it only wraps its children. */
  readonly wrapper?: true
}

/** A function, so that the keys become the type `Role` and every role has every trait. */
const table = <Word extends string>(roles: Readonly<Record<Word, RoleTraits>>) => roles

/** Every role of the contract: first the interactive ones, then the structural ones. */
export const ROLES = table({
  button: { interactive: true, control: true, pressable: true },
  textfield: { interactive: true, control: true, typable: true },
  checkbox: { interactive: true, control: true, checkable: true, pressable: true },
  link: { interactive: true, text: true, pressable: true },
  menuitem: { interactive: true, pressable: true },
  tab: { interactive: true },
  slider: { interactive: true, control: true, number: true },
  combobox: { interactive: true, control: true, opensMenu: true },
  treeitem: { interactive: true, row: true, item: true },
  cell: { interactive: true, item: true },
  radiobutton: { interactive: true, control: true, checkable: true, pressable: true },
  incrementor: { interactive: true, control: true, typable: true, number: true },
  menubutton: { interactive: true, control: true, opensMenu: true, pressable: true },
  switch: { interactive: true, control: true, checkable: true, pressable: true },
  colorwell: { interactive: true },
  dockitem: { interactive: true },
  listbox: { interactive: true, list: true },
  option: { interactive: true, row: true, item: true },
  window: { surface: true },
  group: { wrapper: true },
  statictext: { text: true },
  label: { text: true },
  separator: {},
  toolbar: {},
  scrollbar: { number: true },
  image: {},
  container: { wrapper: true },
  menu: { surface: true },
  menubar: { surface: true },
  list: { list: true },
  table: { list: true, table: true },
  row: { row: true, item: true },
  column: {},
  columnheader: { header: true },
  rowheader: { header: true },
  outline: { list: true, table: true },
  tablist: {},
  tabpanel: {},
  dialog: { surface: true, dialog: true },
  alertdialog: { surface: true, dialog: true },
  sheet: { surface: true, dialog: true },
  popover: { surface: true },
  alert: { surface: true, dialog: true },
  webarea: {},
  document: {},
  article: {},
  heading: { text: true },
  paragraph: { text: true },
  progressbar: { control: true, number: true },
  levelindicator: { number: true },
  splitter: {},
  scrollarea: {},
  status: {},
  tooltip: {},
  application: { surface: true },
  form: {},
  region: {},
  navigation: {},
  main: {},
  banner: {},
  contentinfo: {},
  complementary: {},
  search: {},
  radiogroup: {},
  grid: { list: true, table: true },
  browser: {},
  disclosure: {},
  handle: {},
  ruler: {},
  math: {},
  note: {},
  log: {},
  timer: {},
  marquee: {},
  term: {},
  definition: {},
  caption: {},
  figure: {},
  footnote: {},
  blockquote: {},
  canvas: { interactive: true },
  video: {},
  audio: {},
  embedded: {},
  terminal: { typable: true },
  desktop: {},
  titlebar: {},
  layoutitem: {},
  matte: {},
  drawer: {},
  timefield: { interactive: true, control: true },
  datefield: { interactive: true, control: true },
  helptag: {},
  unknown: { wrapper: true },
})

export type Role = keyof typeof ROLES

/** True if a word from a file, an argument or a web page is a role. */
export const isRole = (word: string): word is Role => Object.hasOwn(ROLES, word)

/** `omitted` has no traits: it is not the role of an element. */
type RoleOfNode = Role | typeof OMITTED

export function hasTrait(role: RoleOfNode, trait: keyof RoleTraits): boolean {
  return role !== OMITTED && ROLES[role][trait] === true
}

export const isRow = ({ role }: { readonly role: RoleOfNode }): boolean => hasTrait(role, "row")

/** True for anything with rows. A browser has them in the lists that are its columns. */
export const isList = ({ role }: { readonly role: RoleOfNode }): boolean =>
  hasTrait(role, "list") || role === "browser"

export const isSurface = ({ role }: { readonly role: RoleOfNode }): boolean => hasTrait(role, "surface")

/** All roles in the table's order. A function: only messages and tests need the list. */
export const allRoles = (): readonly Role[] => Object.keys(ROLES).filter(isRole)

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
  "Drag",
] as const

export type ActionName = (typeof ACTION_NAMES)[number]

/**
 * How snapshots number their refs. fresh: each starts at @e1, the contract's default. stable: numbers continue within a
 * session, an element keeps its number, and no number is used twice.
 */
export type Numbering = "fresh" | "stable"

/** A role in a sentence: "a button", "an option". */
export const withArticle = (role: string): string => `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`
