import { type ActionName, hasTrait, type Role, type State } from "../../node.ts"
import { INTERFACE, type Interfaces } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import type { Element, Parent } from "./element.ts"
import { CHECKABLE_ROLES, type Kind, ROLE } from "./roles.ts"

/** What bits, roles and interfaces claim about an element, in the contract's words. */

/** Only what the platform claims: a missing bit is no claim, except where a bit's pair is there. */
export function statesOf(
  claimed: StateSet,
  kind: Kind,
  interactive: boolean,
  showing: boolean,
  { place, parent }: Pick<Element, "place" | "parent">,
): State[] {
  const list: State[] = []
  const states = claimsFocus(place, kind) ? withoutItemFocus(claimed, kind, parent) : claimed
  const on = (bit: number): boolean => has(states, bit)
  // Chromium calls what is read-only neither enabled nor sensitive, and what is disabled not read-only.
  const isLocked = place.toolkit === "Chromium" && on(STATE.READ_ONLY)
  const isEnabled = on(STATE.SENSITIVE) || on(STATE.ENABLED) || isLocked
  if (interactive) list.push(isEnabled ? "enabled" : "disabled")
  if (on(STATE.FOCUSED)) list.push("focused")
  if (on(STATE.INDETERMINATE) && (isCheckable(states, kind) || kind.native === ROLE.TOGGLE_BUTTON))
    list.push("indeterminate")
  else if (isCheckable(states, kind)) list.push(on(STATE.CHECKED) ? "checked" : "unchecked")
  // Qt's menu items and GTK's cells say that they are checked, but not that they could be.
  else if (on(STATE.CHECKED) && kind.native !== ROLE.TOGGLE_BUTTON) list.push("checked")
  if (on(STATE.EXPANDABLE)) list.push(on(STATE.EXPANDED) ? "expanded" : "collapsed")
  else if (on(STATE.EXPANDED)) list.push("expanded")
  if (on(STATE.SELECTED)) list.push("selected")
  if (
    (on(STATE.PRESSED) && !isHeldDown(place.toolkit, kind)) ||
    (kind.native === ROLE.TOGGLE_BUTTON && kind.role !== "switch" && on(STATE.CHECKED))
  ) {
    list.push("pressed")
  }
  if (kind.native === ROLE.PASSWORD_TEXT) list.push("secure")
  if (kind.role === "textfield" && (on(STATE.READ_ONLY) || !on(STATE.EDITABLE))) list.push("readonly")
  if (on(STATE.REQUIRED)) list.push("required")
  if (on(STATE.BUSY)) list.push("busy")
  if (on(STATE.MODAL)) list.push("modal")
  // Chromium says so of what is scrolled away; others, of what is on another page.
  if (!showing) list.push(place.toolkit === "Chromium" && on(STATE.VISIBLE) ? "offscreen" : "hidden")
  if (on(STATE.MULTI_LINE) && kind.role === "textfield") list.push("multiline")
  if (on(STATE.MULTISELECTABLE)) list.push("multiselectable")
  if (on(STATE.HAS_POPUP)) list.push("haspopup")
  if (on(STATE.INVALID_ENTRY)) list.push("invalid")
  return list
}

/** Qt says of a button that can only be pushed when it is down; one that stays down is a check box there. */
const isHeldDown = (toolkit: string, { native }: Kind): boolean =>
  toolkit === "Qt" && native === ROLE.PUSH_BUTTON

/** Qt calls the current tab or row focused, LibreOffice that of its trees, whether or not the keyboard is there. */
const claimsFocus = ({ toolkit, app }: Element["place"], { native }: Kind): boolean =>
  toolkit === "Qt" || (app === "soffice" && native === ROLE.TREE_ITEM)

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
 * What can be done with it, as far as role, states and interfaces tell; `offers` are the names of
 * its own actions where the role alone would not make it worth a ref.
 */
export function actionsOf(
  kind: Kind,
  states: StateSet,
  interfaces: Interfaces,
  offers: readonly string[] = [],
): ActionName[] {
  const list: ActionName[] = []
  const on = (bit: number): boolean => has(states, bit)
  // Qt's spin boxes can be edited without saying so.
  const isEditable =
    on(STATE.EDITABLE) || (kind.role === "incrementor" && (interfaces & INTERFACE.EditableText) !== 0)
  const editable = isEditable && !on(STATE.READ_ONLY)
  if (hasTrait(kind.role, "interactive") || offers.some(isTelling)) list.push("Click")
  const isToggle = kind.native === ROLE.TOGGLE_BUTTON && !on(STATE.EXPANDABLE)
  if (isToggle || kind.role === "switch" || isCheckable(states, kind)) {
    list.push("Toggle", "Check", ...(kind.role === "radiobutton" ? [] : (["Uncheck"] as const)))
  }
  if (on(STATE.EXPANDABLE)) list.push("Expand", "Collapse")
  if (kind.role === "combobox" || kind.role === "listbox") list.push("Select")
  const writable =
    editable &&
    (kind.role === "textfield" ||
      kind.role === "combobox" ||
      kind.role === "incrementor" ||
      kind.role === "cell")
  if (writable || (interfaces & INTERFACE.Value && VALUE_ROLES.has(kind.role))) list.push("SetValue")
  if (writable || kind.role === "terminal") list.push("TypeText")
  if (writable) list.push("Clear")
  if (on(STATE.FOCUSABLE)) list.push("SetFocus")
  if (kind.role === "scrollarea" || kind.role === "scrollbar") list.push("Scroll")
  return list
}

/** Roles whose number is a value that a user sets. */
export const VALUE_ROLES: ReadonlySet<Role> = new Set(["slider", "incrementor"])

/** An action that does something of its own: not one that every node of a web page or of Qt has. */
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
