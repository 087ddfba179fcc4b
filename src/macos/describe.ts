import type { Handle, Seen } from "../adapter.ts"
import { MAX_LABELS, textsInside } from "../describe/draft.ts"
import { ACTION_NAMES, type ActionName, hasTrait, type Role, type State } from "../node.ts"
import { isEmpty, overlaps } from "../rect.ts"
import { SURFACES } from "./attributes.ts"
import { MAX_TEXT } from "./cf.ts"
import { hintOf, labelText, nameOf, valueText } from "./names.ts"
import { isNamedInside, isSeeThrough, type Labelled, type Offers, type Reading } from "./reading.ts"
import { type Attributes, asFlag, asText, asWords, type Element, frameOf } from "./value.ts"

/** A handle is the element itself; the core never looks inside. */
export function handleOf(element: Element): Handle {
  return element as unknown as Handle
}

export function elementOf(handle: Handle): Element {
  return handle as unknown as Element
}

/** Describes everything that was read of an element in contract words. */
export function describe(reading: Reading): Seen {
  const { facts, area, index, label } = reading
  const { secure, attributes, bounds } = facts
  const name = nameOf(attributes, {
    label: label && labelText(label.attributes),
    inside: nameInside(reading),
  })
  // macOS reports the lines between the items of a menu as items, too.
  const isLine = facts.role === "menuitem" && !name && asFlag(attributes.AXEnabled) === false
  const role = isLine ? "separator" : facts.role
  const offers = isLine ? undefined : facts.offers
  const states = statesOf(role, attributes, { secure, interactive: offers !== undefined })
  if (role === "textfield" && offers?.settable === false && !offers.typable) states.push("readonly")
  const frame = bounds ?? frameOf(attributes)
  if (frame && area && !isEmpty(frame) && !overlaps(frame, area)) states.push("offscreen")
  const description = asWords(attributes.AXDescription)
  return {
    handle: handleOf(facts.element),
    role,
    name,
    value: secure ? undefined : valueText(role, attributes.AXValue),
    description: description === name ? undefined : description,
    hint: hintOf(attributes, name),
    states,
    bounds,
    actions: offers && actionNames(role, states, attributes, offers),
    identifier: asWords(attributes.AXIdentifier) ?? asWords(attributes.AXDOMIdentifier),
    index,
    ...(facts.partial ? { isPartial: true } : {}),
    ...(reading.isInPage ? { echoes: true, tellsLate: 400 } : {}),
    // If a text was cut, the written part may be missing.
    ...((asText(attributes.AXValue)?.length ?? 0) >= MAX_TEXT ? { echoes: true } : {}),
  }
}

function nameInside({ facts, inside }: Reading): string | undefined {
  if (!isNamedInside(facts)) return undefined
  const texts = textsInside(inside, isItem(facts.role) ? ITEM_LABELS : LABELS)
  // The first text of a row is its subject; the others are its columns.
  const used = texts.slice(0, facts.role === "treeitem" ? 1 : MAX_LABELS)
  return used.length > 0 ? used.join(" ") : undefined
}

/** True for an element whose name may be edited in place, e.g. a file in Finder. */
const isItem = (role: Role): boolean => role === "cell" || role === "treeitem"

const LABELS = {
  levels: 2,
  most: MAX_LABELS,
  isText: (role: Role) => role === "statictext",
  isThrough: isSeeThrough,
  textOf: ({ attributes }: Labelled) => labelText(attributes),
}

const ITEM_LABELS = { ...LABELS, isText: (role: Role) => role === "statictext" || role === "textfield" }

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
    // The list of windows reports which one has the focus.
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

/** The contract's names of the possible actions, from those that the app offers. */
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
