import { ACTION_NAMES, type ActionName, hasTrait, type Role, type State } from "../node.ts"
import { SURFACES } from "./attributes.ts"
import { type Attributes, asFlag, asWords } from "./value.ts"

/** The states that the attributes prove. A missing attribute proves nothing. */
export function statesOf(
  role: Role,
  attributes: Attributes,
  facts: { secure: boolean; interactive: boolean },
): State[] {
  const { AXRole, AXEnabled, AXFocused, AXSelected, AXHidden, AXElementBusy, AXRequired, AXModal } =
    attributes
  const enabled = facts.interactive ? asFlag(AXEnabled) : undefined
  const invalid = asWords(attributes.AXInvalid) ?? asFlag(attributes.AXInvalid)
  const states: (State | false | undefined)[] = [
    enabled === undefined ? undefined : enabled ? "enabled" : "disabled",
    // The list of windows tells which one has the focus.
    asFlag(AXFocused) && !SURFACES.has(role) && "focused",
    checkState(role, attributes),
    expansion(role, attributes),
    (asFlag(AXSelected) || (role === "tab" && asFlag(attributes.AXValue))) && "selected",
    facts.secure && "secure",
    asFlag(AXRequired) && "required",
    asFlag(AXElementBusy) && "busy",
    asFlag(AXModal) && "modal",
    asFlag(AXHidden) && "hidden",
    AXRole === "AXTextArea" && "multiline",
    asFlag(attributes.AXIsMultiSelectable) && "multiselectable",
    asFlag(attributes.AXHasPopup) && "haspopup",
    invalid !== undefined && invalid !== false && invalid !== "false" && "invalid",
  ]
  return states.filter((state) => state !== undefined && state !== false)
}

/** 0 or 1, or 2 for a box that is neither. Some apps answer with a boolean. */
function checkState(role: Role, { AXValue, AXSubrole, AXMenuItemMarkChar }: Attributes): State | undefined {
  if (role === "menuitem") {
    const mark = asWords(AXMenuItemMarkChar)
    return mark === undefined ? undefined : mark === "-" ? "indeterminate" : "checked"
  }
  const checkable = hasTrait(role, "checkable") || AXSubrole === "AXToggleButton"
  const checked = checkable ? asFlag(AXValue) : undefined
  if (checked === undefined) return undefined
  if (AXValue === 2) return "indeterminate"
  return checked ? "checked" : "unchecked"
}

function expansion(role: Role, { AXExpanded, AXDisclosing, AXValue }: Attributes): State | undefined {
  const open =
    asFlag(AXExpanded) ?? asFlag(AXDisclosing) ?? (role === "disclosure" ? asFlag(AXValue) : undefined)
  return open === undefined ? undefined : open ? "expanded" : "collapsed"
}

export interface Offers {
  readonly actions: ReadonlySet<string>
  /** True if AXValue can be written. undefined: not asked. */
  readonly settable?: boolean
  /** True if text can be typed at its caret although its value as a whole cannot be written: a terminal. */
  readonly typable?: boolean
}

/** The names of the actions that are possible, by those that the app offers. */
export function actionNames(
  role: Role,
  states: readonly State[],
  attributes: Attributes,
  offers: Offers,
): ActionName[] {
  const { actions, settable = false, typable = false } = offers
  const press = actions.has("AXPress")
  const opensMenu = hasTrait(role, "opensMenu")
  const canSelect = (hasTrait(role, "item") || role === "tab") && asFlag(attributes.AXSelected) !== undefined
  const expands = states.includes("expanded") || states.includes("collapsed")
  const text = settable && (role === "textfield" || role === "combobox")
  const offered: Partial<Record<ActionName, boolean>> = {
    Click: press || actions.has("AXOpen") || actions.has("AXPick") || canSelect,
    DoubleClick: actions.has("AXOpen"),
    RightClick: actions.has("AXShowMenu") && !opensMenu,
    Toggle: press && (role === "checkbox" || role === "switch"),
    Check: press && hasTrait(role, "checkable"),
    Uncheck: press && (role === "checkbox" || role === "switch"),
    Expand: expands || (press && opensMenu),
    Collapse: expands,
    Select: (press && opensMenu) || (settable && role === "combobox") || role === "listbox",
    SetValue: settable || (actions.has("AXIncrement") && actions.has("AXDecrement")),
    TypeText: text || typable,
    Clear: text,
    SetFocus: asFlag(attributes.AXFocused) !== undefined,
    ScrollTo: actions.has("AXScrollToVisible"),
  }
  return ACTION_NAMES.filter((name) => offered[name])
}
