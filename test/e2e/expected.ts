import { INTERACTIVE, ROLES } from "./expected-roles.ts"

/**
 * The expected snapshot of a window, derived from a dump by pyatspi and from the
 * contract. Nothing here comes from src/: a copied table would prove nothing.
 */

/** One object as atspi-dump.py writes it. */
export interface Dumped {
  readonly address: string
  readonly parent: string | null
  readonly role: string
  readonly name: string
  /** The names of its labels. */
  readonly label: string
  readonly description: string
  /** The hint in an empty field. */
  readonly placeholder: string
  /** The text of a nameless object. */
  readonly text: string
  readonly actions: readonly string[]
  readonly interfaces: readonly string[]
  readonly states: readonly string[]
  /** x, y, width, height */
  readonly extents: readonly [number, number, number, number] | null
}

export interface Dump {
  readonly pid: number
  readonly toolkit: string
  readonly nodes: readonly Dumped[]
}

export interface Expected {
  readonly address: string
  readonly role: string
  /** The names that it may have: one, unless it has no name of its own. */
  readonly names: ReadonlySet<string>
  /** The name of a combo box, if that is its current choice. The snapshot may have it as the value instead. */
  readonly choice?: string
  /** Its states that are in JUDGED. */
  readonly states: readonly string[]
  readonly extents: Dumped["extents"]
  /** True if the app draws it itself, since its coordinates then have another origin. */
  readonly drawn: boolean
  /** The address of the popover of GTK 4 that it is in, which has an origin of its own. */
  readonly popover?: string
}

/** The states that are compared. */
export const JUDGED: ReadonlySet<string> = new Set([
  "enabled",
  "disabled",
  "focused",
  "checked",
  "unchecked",
  "indeterminate",
  "expanded",
  "collapsed",
  "selected",
  "secure",
  "required",
  "offscreen",
])

/** Every element that an agent can act on, in view or scrolled out of it, in the order of the dump. */
export function expectedElements(dump: Dump): readonly Expected[] {
  const tree = new Tree(dump)
  return dump.nodes
    .filter((node) => node.parent !== null && tree.isThere(node))
    .map((node) => ({ node, role: roleOf(tree, node) }))
    .filter(({ node, role }) => isActedOn(tree, node, role))
    .map(({ node, role }) => ({
      address: node.address,
      role,
      names: namesOf(tree, node),
      ...(role === "combobox" && oneLine(node.name) !== "" ? { choice: oneLine(node.name) } : {}),
      states: statesOf(tree, node, role),
      extents: node.extents,
      drawn: tree.above(node).some((one) => one.role === "root pane"),
      popover: tree.above(node).find(isPopover)?.address,
    }))
}

/** True for a popover of GTK 4, whose name is that of its class. */
export const isPopover = ({ name }: Dumped): boolean =>
  name.startsWith("GtkPopoverMenu") || name === "GtkPopover"

/** Every word about something that is not hidden. */
export function wordsIn(dump: Dump): ReadonlySet<string> {
  const tree = new Tree(dump)
  const shown = dump.nodes.filter((node) => tree.isThere(node))
  return new Set(shown.flatMap(({ name, label, description }) => [name, label, description].map(oneLine)))
}

/** Every text that is not hidden. */
export function expectedTexts(dump: Dump): ReadonlySet<string> {
  const tree = new Tree(dump)
  const shown = dump.nodes.filter((node) => TEXTS.has(node.role) && tree.isThere(node))
  return new Set(shown.map(({ name }) => oneLine(name)).filter((name) => name !== ""))
}

const TEXTS: ReadonlySet<string> = new Set(["label", "static", "heading"])

class Tree {
  readonly toolkit: string
  readonly #byAddress: ReadonlyMap<string, Dumped>
  readonly #children: ReadonlyMap<string, readonly Dumped[]>

  constructor({ toolkit, nodes }: Dump) {
    this.toolkit = toolkit
    this.#byAddress = new Map(nodes.map((node) => [node.address, node]))
    this.#children = Map.groupBy(nodes, (node) => node.parent ?? "")
  }

  parentOf(node: Dumped): Dumped | undefined {
    return node.parent === null ? undefined : this.#byAddress.get(node.parent)
  }

  /** Its ancestors, the nearest first. */
  above(node: Dumped): readonly Dumped[] {
    const parent = this.parentOf(node)
    return parent ? [parent, ...this.above(parent)] : []
  }

  childrenOf(node: Dumped): readonly Dumped[] {
    return this.#children.get(node.address) ?? []
  }

  below(node: Dumped): readonly Dumped[] {
    return this.childrenOf(node).flatMap((child) => [child, ...this.below(child)])
  }

  /** True if nothing hides it. It shows, or it is scrolled out of view. */
  isThere(node: Dumped): boolean {
    return [node, ...this.above(node)].every((one) => {
      if (this.isDrawnField(one)) return true
      if (one.states.includes("defunct")) return false
      // The texts in a drawn field are its value.
      if (this.above(one).some((holder) => this.isDrawnField(holder))) return false
      // LibreOffice keeps a menu bar of its own behind the toolkit's.
      if (one.role === "menu bar" && one.extents?.[3] === 0) return false
      // The list of a closed combo box of Qt 5.
      if (one.role === "list" && this.parentOf(one)?.role === "combo box" && one.extents?.[3] === 0)
        return false
      // A renderer of GTK 3 that draws nothing in this row.
      const isPart = one.role === "table cell" && this.parentOf(one)?.role === "table cell"
      if (this.toolkit === "gtk" && isPart && one.extents?.[2] === 0) return false
      return this.#shows(one) || this.#isScrolledAway(one)
    })
  }

  /** True for a field that LibreOffice draws into an area of GTK. It says that it is defunct, from the start. */
  isDrawnField(node: Dumped): boolean {
    return node.states.includes("defunct") && node.role === "panel" && this.parentOf(node)?.role === "filler"
  }

  /** True if it is scrolled out of view. */
  isOut(node: Dumped): boolean {
    if (this.isDrawnField(node)) return false
    if (!this.#shows(node)) return true
    if (this.toolkit !== "Qt" && this.toolkit !== "GTK") return false
    // Qt and GTK 4 report everything as shown, however far it is scrolled away.
    const panes = this.above(node).filter((one) => one.role === "scroll pane" || this.#hasBar(one))
    return panes.some((pane) => pane.extents !== null && isApart(node.extents, pane.extents))
  }

  #shows({ states, extents, role, parent }: Dumped): boolean {
    // GTK 2 never reports menu items as showing. Items of a menu that was never open have no position.
    const isItem = role.endsWith("menu item") || role === "menu" || role === "separator"
    if (this.toolkit === "GAIL" && isItem && this.#byAddress.get(parent ?? "")?.role === "menu")
      return states.includes("visible") && (extents?.[0] ?? -0x80000000) > -0x7ffffff0
    if (this.toolkit !== "GTK" || states.includes("showing")) return states.includes("showing")
    // GTK before 4.10 never reports the state "showing".
    const [, , width, height] = extents ?? [0, 0, 1, 1]
    return states.includes("visible") && (width > 0 || height > 0)
  }

  #isScrolledAway(node: Dumped): boolean {
    const above = this.above(node)
    const parent = above[0]?.role ?? ""
    if (node.role === "scroll bar" || MENUS.has(parent) || parent === "combo box") return false
    const isVisible = node.states.includes("visible")
    switch (this.toolkit) {
      case "Chromium":
        return isVisible
      case "Gecko":
        return isVisible && above.some((one) => one.role === "document web" && one.states.includes("showing"))
      case "gtk":
        return (
          isVisible &&
          above.some((one) => SCROLLERS.has(one.role) || one.states.includes("manages descendants")) &&
          !above.some((one) => one.role === "page tab" && !one.states.includes("selected")) &&
          !above.some((one) => one.states.includes("expandable") && !one.states.includes("expanded"))
        )
      // GTK 2 does not report which tab is current.
      case "GAIL":
        return isVisible && above.find((one) => SCROLLERS.has(one.role))?.states.includes("showing") === true
      case "Qt":
        return above[0]?.states.includes("manages descendants") === true
      default:
        return false
    }
  }

  /** True for Qt's panes: their bars are in boxes. */
  #hasBar(node: Dumped): boolean {
    return this.childrenOf(node)
      .flatMap((child) => [child, ...this.childrenOf(child)])
      .some((one) => one.role === "scroll bar" && one.states.includes("showing"))
  }
}

const SCROLLERS: ReadonlySet<string> = new Set(["scroll pane", "viewport"])

function isApart(a: Dumped["extents"], [x, y, width, height]: NonNullable<Dumped["extents"]>): boolean {
  if (!a || a[2] <= 0 || a[3] <= 0) return false
  return a[0] >= x + width || a[0] + a[2] <= x || a[1] >= y + height || a[1] + a[3] <= y
}

/** The accessible name; else its label; else a text inside it or about it. One line, without spaces around it. */
function namesOf(tree: Tree, node: Dumped): ReadonlySet<string> {
  const own = oneLine(node.name)
  const frame = tree.toolkit === "Qt" ? tree.parentOf(node) : undefined
  // Qt names a field by the frame around it, which says nothing about the field.
  if (frame?.role === "panel" && own !== "" && own === oneLine(frame.name)) return new Set([own, ""])
  const inside = tree.below(node).map((one) => oneLine(one.name))
  if (own !== "" && !(tree.toolkit === "GTK" && NO_NAME.test(own))) {
    // GTK 4.8 reports the text of a button twice.
    const isTwice = tree.toolkit === "GTK" && inside.some((text) => plain(own) === plain(`${text} ${text}`))
    return new Set(isTwice ? inside : [own])
  }
  const label = oneLine(node.label)
  if (label !== "" && !NO_NAME.test(label)) return new Set([label])
  const about = [node, tree.parentOf(node)].map((one) => oneLine(one?.description ?? ""))
  return new Set([
    "",
    ...about,
    oneLine(node.placeholder),
    oneLine(node.text),
    ...inside,
    oneLine(inside.filter(Boolean).join(" ")),
  ])
}

/** Names of classes, and the name that GTK gives to every tab. */
const NO_NAME = /^((Gtk|Adw)[A-Z][A-Za-z]+|Tab)$/
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim()
const plain = (text: string): string => text.replaceAll("_", "")

function statesOf(tree: Tree, node: Dumped, role: string): readonly string[] {
  const parent = tree.parentOf(node)
  const is = (state: string): boolean => node.states.includes(state)
  const canBeChecked =
    role === "switch" ||
    CHECKED_ROLES.has(node.role) ||
    (is("checkable") && node.role !== "toggle button") ||
    // The check cells of GTK 3.
    (tree.toolkit === "gtk" && node.role === "table cell" && node.actions.includes("toggle"))
  // In GTK 3, the list of a combo box reports whether it is open.
  const [list] = tree.toolkit === "gtk" && role === "combobox" ? tree.childrenOf(node) : []
  const opens = list?.role === "menu" ? [list.states.includes("showing") ? "expanded" : "collapsed"] : []
  // Qt reports the current tab as focused instead of selected, and the current item as focused without the keyboard.
  const isQtTab = tree.toolkit === "Qt" && role === "tab"
  const isQtItem =
    tree.toolkit === "Qt" &&
    parent?.states.includes("manages descendants") === true &&
    !parent.states.includes("focused")
  const isFocused = is("focused") && !isQtTab && !isQtItem
  const isSelected = is("selected") || (isQtTab && is("focused"))
  // Chromium reports read-only elements as neither enabled nor sensitive; disabled ones are not read-only there.
  const isLocked = tree.toolkit === "Chromium" && is("read only")
  // A snapshot calls a checked toggle button pressed.
  const isChecked = is("checked") && (canBeChecked || node.role !== "toggle button")
  const isUncertain = is("indeterminate") && (canBeChecked || node.role === "toggle button")
  return [
    is("enabled") || is("sensitive") || isLocked || tree.isDrawnField(node) ? "enabled" : "disabled",
    ...(isFocused ? ["focused"] : []),
    ...(isUncertain ? ["indeterminate"] : isChecked ? ["checked"] : canBeChecked ? ["unchecked"] : []),
    ...(is("expandable")
      ? [is("expanded") ? "expanded" : "collapsed"]
      : is("expanded")
        ? ["expanded"]
        : opens),
    ...(isSelected ? ["selected"] : []),
    ...(node.role === "password text" ? ["secure"] : []),
    ...(is("required") ? ["required"] : []),
    ...(tree.isOut(node) ? ["offscreen"] : []),
  ].sort()
}

const CHECKED_ROLES: ReadonlySet<string> = new Set([
  "check box",
  "check menu item",
  "radio button",
  "radio menu item",
])

/** True by its role, or if it has an action of its own or can be expanded. */
function isActedOn(tree: Tree, node: Dumped, role: string): boolean {
  if (INTERACTIVE.has(role)) return true
  if (NEVER.has(role) || (tree.toolkit === "GTK" && isMenuShell(tree, node))) return false
  if (node.states.includes("expandable")) return true
  // Gecko offers a click on every text, and on bars, lists and trees around the elements that listen to it.
  if (tree.toolkit === "Gecko" && HEARD_INSIDE.has(role)) return false
  if (isDrawn(tree, node) || isShape(node)) return true
  // A sheet of LibreOffice, whose cells are read by their addresses.
  if (node.role === "table" && tree.parentOf(node)?.role === "document spreadsheet") return true
  if (node.role === "table row" && node.states.includes("focusable")) return true
  // GTK 4 lists the shortcuts of a widget's class as actions, and Qt lists steps of elements that only show a number.
  return tree.toolkit !== "GTK" && node.actions.some((action) => !TELLS_NOTHING.test(action))
}

const HEARD_INSIDE: ReadonlySet<string> = new Set([
  "alert",
  "menu",
  "outline",
  "rowheader",
  "statictext",
  "tablist",
  "toolbar",
])

/** A shape on a page of LibreOffice can be selected and moved. */
const isShape = ({ role, states }: Dumped): boolean =>
  role === "panel" && ["focusable", "selectable", "resizable"].every((state) => states.includes(state))

/** A control that an app of GTK 3 draws itself is a panel with a tool tip. */
const isDrawn = (tree: Tree, node: Dumped): boolean => isEmptyPanel(tree, node) && node.description !== ""

/** The content of a panel that takes the focus and has no parts is drawn by its app. */
const isCanvas = (tree: Tree, node: Dumped): boolean =>
  isEmptyPanel(tree, node) && node.states.includes("focusable")

const isEmptyPanel = (tree: Tree, node: Dumped): boolean =>
  tree.toolkit === "gtk" && node.role === "panel" && node.name === "" && tree.childrenOf(node).length === 0

/** Actions that nearly every element has. */
const TELLS_NOTHING = /^(|focus|set ?focus|click ?ancestor|show ?context ?menu|do ?default|show ?menu|menu)$/i

const NEVER: ReadonlySet<string> = new Set([
  "window",
  "separator",
  "scrollbar",
  "progressbar",
  "webarea",
  "application",
])

const MENUS: ReadonlySet<string> = new Set(["menu", "menu bar", "popup menu"])

function roleOf(tree: Tree, node: Dumped): string {
  const parent = tree.parentOf(node)?.role ?? ""
  const is = (state: string): boolean => node.states.includes(state)
  const isInner = tree.toolkit === "GTK" && BUTTONS.has(parent)
  switch (node.role) {
    case "menu":
      return MENUS.has(parent) ? "menuitem" : "menu"
    case "list item":
      if (parent === "tree" || parent === "tree table") return "treeitem"
      if (parent === "list box") return "option"
      return is("selectable") || is("selected") ? "option" : "group"
    case "panel":
      if (tree.isDrawnField(node)) return "textfield"
      // A time field of Gecko; a slide in LibreOffice's list of them.
      if (tree.toolkit === "Gecko" && is("editable")) return "datefield"
      if (isCanvas(tree, node)) return "canvas"
      return parent === "document frame" && is("selectable") ? "option" : "group"
    case "filler":
      return tree.toolkit === "GTK" && DRAWN.has(node.name) && is("focusable") ? "canvas" : "group"
    case "icon":
      return is("selectable") ? "option" : "image"
    case "list":
      // A list of Qt is a model, and has its choice there.
      if (tree.toolkit === "Qt" && node.interfaces.includes("Table")) return "listbox"
      return node.interfaces.includes("Selection") || is("focusable") ? "listbox" : "list"
    case "table cell":
      return parent === "tree" || (parent === "tree table" && is("expandable")) ? "treeitem" : "cell"
    case "text":
      return is("editable") || is("focusable") ? "textfield" : "statictext"
    case "paragraph":
    case "section":
      return is("editable") && is("focusable") ? "textfield" : ROLES[node.role]!
    case "label":
      return tree.toolkit === "Chromium" ? "label" : "statictext"
    case "check box":
      // GTK 4.8 reports a switch as a check box; only the switch has no children.
      return tree.toolkit === "GTK" && tree.childrenOf(node).length === 0 ? "switch" : "checkbox"
    case "push button":
    case "button":
      if (tree.toolkit === "GTK" && isMenuShell(tree, node)) return "group"
      if (tree.toolkit === "GTK" && tree.parentOf(node)?.name === "GtkColorButton") return "colorwell"
      return is("has popup") || isInner ? "menubutton" : "button"
    case "toggle button":
      if (is("has popup") || isInner) return "menubutton"
      return isSwitch(tree.toolkit, node) ? "switch" : "button"
    default:
      return ROLES[node.role] ?? `(${node.role})`
  }
}

/** Widgets of GTK 4 without objects for their content. */
const DRAWN: ReadonlySet<string> = new Set(["GtkTreeView", "GtkIconView", "GtkDrawingArea", "GtkGLArea"])

const BUTTONS: ReadonlySet<string> = new Set(["push button", "button"])

/** A switch of a page is checkable. A switch of GTK 3 is a toggle button without a picture or text. */
function isSwitch(toolkit: string, node: Dumped): boolean {
  if (toolkit === "Chromium" || toolkit === "Gecko") return node.states.includes("checkable")
  // An expander is a toggle button, too.
  if (node.states.includes("expandable")) return false
  return toolkit === "gtk" && node.interfaces.every((one) => SWITCH_INTERFACES.has(one))
}

const SWITCH_INTERFACES: ReadonlySet<string> = new Set(["Accessible", "Action", "Collection", "Component"])

/** A menu button of GTK 4 is a widget around the real button. */
function isMenuShell(tree: Tree, node: Dumped): boolean {
  const [only, ...others] = tree.childrenOf(node)
  return (
    only !== undefined && others.every(isPopover) && (only.role === "toggle button" || BUTTONS.has(only.role))
  )
}
