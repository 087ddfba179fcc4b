import { type ActionName, hasTrait, type Role, type State } from "../../node.ts"
import { INTERFACE, type Interfaces } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import type { Element, Parent } from "./element.ts"
import { CHECKABLE_ROLES, type Kind, ROLE } from "./roles.ts"
import type { Sight } from "./sight.ts"
import type { Traits } from "./toolkits.ts"

/** States and actions of an element in the contract's words, from its bits, role and interfaces. */

/** States that the bits report. A missing bit means nothing, unless its pair is there (EXPANDABLE without EXPANDED). */
export function statesOf(
  reported: StateSet,
  kind: Kind,
  interactive: boolean,
  sight: Sight,
  { origin, parent }: Pick<Element, "origin" | "parent">,
): State[] {
  const list: State[] = []
  const states = isCopyOfCell({ origin, parent })
    ? without(reported, STATE.FOCUSED)
    : claimsFocus(origin.traits, kind)
      ? withoutItemFocus(reported, kind, parent)
      : reported
  const on = (bit: number): boolean => has(states, bit)
  const isLocked = origin.traits.readOnlyLooksDisabled && on(STATE.READ_ONLY)
  const isEnabled = on(STATE.SENSITIVE) || on(STATE.ENABLED) || isLocked
  if (interactive) list.push(isEnabled ? "enabled" : "disabled")
  if (on(STATE.FOCUSED)) list.push("focused")
  if (on(STATE.INDETERMINATE) && (isCheckable(states, kind) || kind.native === ROLE.TOGGLE_BUTTON))
    list.push("indeterminate")
  else if (isCheckable(states, kind)) list.push(on(STATE.CHECKED) ? "checked" : "unchecked")
  // Qt's menu items and GTK's cells are CHECKED without being CHECKABLE.
  else if (on(STATE.CHECKED) && kind.native !== ROLE.TOGGLE_BUTTON) list.push("checked")
  if (on(STATE.EXPANDABLE)) list.push(on(STATE.EXPANDED) ? "expanded" : "collapsed")
  else if (on(STATE.EXPANDED)) list.push("expanded")
  if (on(STATE.SELECTED)) list.push("selected")
  if (
    (on(STATE.PRESSED) && !isHeldDown(origin.traits, kind)) ||
    (kind.native === ROLE.TOGGLE_BUTTON && kind.role !== "switch" && on(STATE.CHECKED))
  ) {
    list.push("pressed")
  }
  if (kind.native === ROLE.PASSWORD_TEXT) list.push("secure")
  if (kind.role === "textfield" && (on(STATE.READ_ONLY) || !on(STATE.EDITABLE))) list.push("readonly")
  if (on(STATE.REQUIRED)) list.push("required")
  if (on(STATE.BUSY)) list.push("busy")
  if (on(STATE.MODAL)) list.push("modal")
  if (sight !== "shown") list.push(sight)
  if (on(STATE.MULTI_LINE) && kind.role === "textfield") list.push("multiline")
  if (on(STATE.MULTISELECTABLE)) list.push("multiselectable")
  if (on(STATE.HAS_POPUP)) list.push("haspopup")
  if (on(STATE.INVALID_ENTRY)) list.push("invalid")
  return list
}

/**
 * True for the paragraph that shows the text of a cell while it is edited. The panel around it is the only one in a
 * document that can be edited and is not a shape, which could be selected.
 */
export function isCopyOfCell({ origin, parent }: Pick<Element, "origin" | "parent">): boolean {
  if (!origin.traits.editedCellsAreCopied || parent?.role !== ROLE.PANEL) return false
  const { states } = parent
  return has(states, STATE.EDITABLE) && has(states, STATE.MULTISELECTABLE) && !has(states, STATE.SELECTABLE)
}

const without = (states: StateSet, bit: number): StateSet => (has(states, bit) ? states - 2 ** bit : states)

/** True for a button that is down because of a current press, not because it stays down. */
const isHeldDown = (traits: Traits, { native }: Kind): boolean =>
  traits.pressedMeansHeld === true && native === ROLE.PUSH_BUTTON

/** True if the element may be FOCUSED without the keyboard. */
const claimsFocus = (traits: Traits, { native }: Kind): boolean =>
  traits.currentItemClaimsFocus || (traits.currentTreeItemClaimsFocus === true && native === ROLE.TREE_ITEM)

function withoutItemFocus(states: StateSet, kind: Kind, parent: Parent | undefined): StateSet {
  if (!has(states, STATE.FOCUSED)) return states
  if (kind.role === "tab")
    return flip(states, STATE.FOCUSED, has(states, STATE.SELECTED) ? undefined : STATE.SELECTED)
  const isItem = parent !== undefined && has(parent.states, STATE.MANAGES_DESCENDANTS)
  return isItem && !has(parent.states, STATE.FOCUSED) ? flip(states, STATE.FOCUSED) : states
}

function flip(states: StateSet, ...bits: readonly (number | undefined)[]): StateSet {
  return bits.reduce<number>((set, bit) => {
    if (bit === undefined) return set
    return has(set, bit) ? set - 2 ** bit : set + 2 ** bit
  }, states)
}

function isCheckable(states: StateSet, kind: Kind): boolean {
  return (
    kind.role === "switch" ||
    CHECKABLE_ROLES.has(kind.native) ||
    (has(states, STATE.CHECKABLE) && kind.native !== ROLE.TOGGLE_BUTTON)
  )
}

/**
 * Actions that role, states and interfaces promise. `offers`: the names of the element's own actions, read only if its
 * role alone would not earn it a ref.
 */
export function actionsOf(
  traits: Traits,
  kind: Kind,
  states: StateSet,
  interfaces: Interfaces,
  offers: readonly string[] = [],
): ActionName[] {
  const list: ActionName[] = []
  const on = (bit: number): boolean => has(states, bit)
  // Qt's spin boxes can be edited without being EDITABLE.
  const isEditable = on(STATE.EDITABLE) || (kind.role === "incrementor" && takesText(traits, interfaces))
  const editable = isEditable && !on(STATE.READ_ONLY)
  // A row of a treegrid, which the arrow keys go to.
  const isOwnRow =
    traits.rowsTakeFocus && kind.role === "row" && (on(STATE.FOCUSABLE) || on(STATE.EXPANDABLE))
  if (hasTrait(kind.role, "interactive") || isOwnRow || offers.some(isTelling)) list.push("Click")
  const isToggle = kind.native === ROLE.TOGGLE_BUTTON && !on(STATE.EXPANDABLE)
  if (isToggle || kind.role === "switch" || isCheckable(states, kind)) {
    list.push("Toggle", "Check", ...(kind.role === "radiobutton" ? [] : (["Uncheck"] as const)))
  }
  if (on(STATE.EXPANDABLE)) list.push("Expand", "Collapse")
  if (kind.role === "combobox" || kind.role === "listbox") list.push("Select")
  const isCell = kind.role === "cell"
  const writable =
    editable && (kind.role === "textfield" || kind.role === "combobox" || kind.role === "incrementor")
  const isReplaceable =
    writable ||
    (editable &&
      isCell &&
      (takesText(traits, interfaces) || sheetCellOf(traits, kind, states, interfaces) === "typed over"))
  if (isReplaceable || (interfaces & INTERFACE.Value && VALUE_ROLES.has(kind.role))) list.push("SetValue")
  if (writable || (editable && isCell) || kind.role === "terminal") list.push("TypeText")
  if (isReplaceable) list.push("Clear")
  if (on(STATE.FOCUSABLE)) list.push("SetFocus")
  if (kind.role === "scrollarea" || kind.role === "scrollbar") list.push("Scroll")
  return list
}

const takesText = (traits: Traits, interfaces: Interfaces): boolean =>
  (interfaces & INTERFACE.EditableText) !== 0 && !traits.editableTextIsIgnored

/** How a user can use a sheet cell. undefined: it is another cell. Those of documents lack an interface. */
export function sheetCellOf(
  traits: Traits,
  { native }: Kind,
  states: StateSet,
  interfaces: Interfaces,
): "typed over" | "locked" | undefined {
  if (!traits.sheetCellsAreTypedOver || native !== ROLE.TABLE_CELL) return undefined
  if (!(interfaces & INTERFACE.Value) || !(interfaces & INTERFACE.Text)) return undefined
  return has(states, STATE.EDITABLE) ? "typed over" : "locked"
}

/** Roles whose number is a value that a user sets. */
export const VALUE_ROLES: ReadonlySet<Role> = new Set(["slider", "incrementor"])

/** True for an action of the element itself, not one that every node of a web page or of Qt has. */
function isTelling(name: string): boolean {
  return name !== "" && !COMMON_ACTIONS.has(name.toLowerCase())
}

const COMMON_ACTIONS: ReadonlySet<string> = new Set([
  "clickancestor",
  "click ancestor",
  "showcontextmenu",
  "show context menu",
  "dodefault",
  "do default",
  "setfocus",
  "focus",
  "showmenu",
  "menu",
])
