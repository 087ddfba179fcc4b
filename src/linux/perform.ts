import type { Action, Performed } from "../adapter.ts"
import { type Atspi, INTERFACE } from "./atspi.ts"
import { method } from "./dbus.ts"
import { clearText, insertText, setValue } from "./editing.ts"
import type { Element } from "./element.ts"
import { chooseOption, selectChild } from "./options.ts"
import { kindOf, ROLE } from "./roles.ts"
import { scroll, scrollTo } from "./scrolling.ts"
import { act, can, NOT_DELIVERED, request } from "./send.ts"

/** The accessibility route of every action: what changes something is sent once, or not at all. */
export async function perform(atspi: Atspi, element: Element, action: Action): Promise<Performed> {
  const { ref } = element
  switch (action.kind) {
    case "click":
      return click(atspi, element)
    case "double-click":
      return (await isRow(atspi, element)) ? act(atspi, ref, ["activate", "open"]) : NOT_DELIVERED
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return act(atspi, ref, MENU)
    case "toggle":
    case "check":
    case "uncheck":
      return act(atspi, ref, TOGGLE)
    case "expand":
    case "collapse":
      return disclose(atspi, element, action.kind)
    case "select":
      return chooseOption(atspi, element, action.value)
    case "type":
      return insertText(atspi, element, action.text)
    case "set-value":
      return setValue(atspi, element, action.value)
    case "clear":
      return clearText(atspi, element)
    case "focus":
      return (await can(atspi, ref, INTERFACE.Component))
        ? request(atspi, ref, "Component.GrabFocus", method("org.a11y.atspi.Component.GrabFocus"))
        : NOT_DELIVERED
    case "scroll":
      return scroll(atspi, element, action.direction, action.amount)
    case "scroll-to":
      return scrollTo(atspi, element)
    default:
      return action satisfies never
  }
}

/** Names of actions, the best first. Qt's ShowMenu is no context menu, but what a click on a menu button opens. */
const CLICK = [
  "click",
  "press",
  "activate",
  "jump",
  "open",
  "toggle",
  "check",
  "uncheck",
  "select",
  "dodefault",
  "showmenu",
]
/** A row's `activate` opens it, which is a double click, and Qt's `Toggle` adds it to what is selected. */
const ROW_CLICK = ["click", "press", "select"]
const TOGGLE = ["toggle", "check", "uncheck", "click", "press", "select", "activate", "dodefault"]
const MENU = ["showcontextmenu", "contextmenu", "popupmenu", "menupopup"]
const OPEN = ["open", "showmenu", "press", "click", "activate", "dodefault"]

const ROW_ROLES: ReadonlySet<string> = new Set(["cell", "treeitem", "option", "row"])

async function click(atspi: Atspi, element: Element): Promise<Performed> {
  const { ref, parent } = element
  const row = await isRow(atspi, element)
  const performed = await act(atspi, ref, row ? ROW_CLICK : CLICK)
  if (performed.delivery !== "not_delivered" || row) return performed
  const isTab = (await atspi.role(ref)) === ROLE.PAGE_TAB
  return isTab && parent ? selectChild(atspi, parent.ref, ref) : NOT_DELIVERED
}

/** What presses a button opens it; what presses a row selects it. */
async function disclose(atspi: Atspi, element: Element, verb: "expand" | "collapse"): Promise<Performed> {
  const { ref } = element
  const exact = await act(atspi, ref, [verb, `listitem${verb}`, "listitemtoggleexpand", "expandorcontract"])
  return exact.delivery !== "not_delivered" || (await isRow(atspi, element)) ? exact : act(atspi, ref, OPEN)
}

async function isRow(atspi: Atspi, { ref, parentRole, place }: Element): Promise<boolean> {
  const [role, states] = await Promise.all([atspi.role(ref), atspi.states(ref)])
  return ROW_ROLES.has(kindOf(role, states, false, parentRole, { toolkit: place.toolkit }).role)
}
