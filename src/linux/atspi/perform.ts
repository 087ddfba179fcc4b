import { type Action, NOT_DELIVERED, type Performed } from "../../action.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { hasTrait } from "../../node.ts"
import { pause } from "../../until.ts"
import { method } from "../dbus/bus.ts"
import { processStart } from "../host/processes.ts"
import { type Atspi, INTERFACE } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { clearText, insertText, setValue } from "./editing.ts"
import { type Element, LineElement } from "./element.ts"
import { chooseOption, selectChild } from "./options.ts"
import { translatingErrors } from "./read-tree.ts"
import { kindOf, ROLE } from "./roles.ts"
import { scroll, scrollTo, scrollToLine } from "./scrolling.ts"
import { Sender } from "./send.ts"
import { isDrawnField } from "./sight.ts"
import { isInSlideTable, notSaved } from "./slides.ts"

/** Performs an action through the accessibility bus. A call that changes something is sent once, or not at all. */
export async function perform(
  atspi: Atspi,
  element: Element,
  action: Action,
  canPoint: CanPoint = async () => false,
): Promise<Performed> {
  const to = new Sender(atspi, element.origin.traits)
  try {
    return await translatingErrors(element.origin, deliverVisibly(to, element, action, canPoint))
  } catch (error) {
    // An app that fell silent during the questions before the action has received no action.
    throw error instanceof AppError && !to.hasSent ? error.with({ disposition: NOTHING_DELIVERED }) : error
  } finally {
    await to.close()
  }
}

/** True if the pointer may do an action that is not delivered. */
type CanPoint = () => Promise<boolean>

async function deliverVisibly(
  to: Sender,
  element: Element,
  action: Action,
  canPoint: CanPoint,
): Promise<Performed> {
  // Its object is the whole page.
  if (element instanceof LineElement)
    return action.kind === "scroll-to" ? scrollToLine(to, element, action.edge) : NOT_DELIVERED
  const [first, role] = await Promise.all([to.atspi.states(element.ref), to.atspi.role(element.ref)])
  // It takes no message: a text that was set by one has crashed LibreOffice.
  if (isDrawnField(element, { role, states: first })) return NOT_DELIVERED
  const states = await whenUp(to.atspi, element, first)
  if (!REVEALING.has(action.kind)) refuseHidden(element, states, role)
  if (PRESSING.has(action.kind) && to.traits.downStaysDown && isDown(states, role)) return NOT_DELIVERED
  if (PRESSING.has(action.kind) && (await isChoiceInOpenMenu(to, element, states, role))) return NOT_DELIVERED
  if (PRESSING.has(action.kind) && (await isUnnoticed(to, element, role)) && (await canPoint()))
    return NOT_DELIVERED
  const performed = await deliver(to, element, action, {
    role,
    isRow: isRow(element, states, role),
    isShown: has(states, STATE.SHOWING),
  })
  if (!PRESSING.has(action.kind) || performed.delivery === "not_delivered") return performed
  const isDone = await whenPressed(to.atspi, element, role)
  return isDone ? performed : { ...performed, delivery: "delivery_uncertain" }
}

/** Facts that decide what the actions of an element mean. */
interface TargetFacts {
  readonly role: number
  readonly isRow: boolean
  readonly isShown: boolean
}

const PRESSING: ReadonlySet<Action["kind"]> = new Set([
  "click",
  "toggle",
  "check",
  "uncheck",
  "expand",
  "collapse",
])

const isDown = (states: StateSet, role: number): boolean =>
  role === ROLE.PUSH_BUTTON && has(states, STATE.CHECKED)

/** True for an item that would be pressed without its menu noticing. An item that opens another menu has no `press`. */
async function isChoiceInOpenMenu(
  to: Sender,
  { ref, parentRole }: Element,
  states: StateSet,
  role: number,
): Promise<boolean> {
  if (!to.traits.itemActionLeavesMenuOpen || !ITEMS.has(role) || !has(states, STATE.SHOWING)) return false
  if (parentRole === ROLE.MENU_BAR) return false
  return (await to.atspi.actionNames(ref)).some((name) => name.toLowerCase() === "press")
}

/** True for a box or button that would change its state without the app's own code for a click. */
async function isUnnoticed({ atspi, traits }: Sender, { ref }: Element, role: number): Promise<boolean> {
  if (!traits.toggleIsNoClick || !BOXES.has(role)) return false
  const names = (await atspi.actionNames(ref)).map((name) => name.toLowerCase())
  return names.includes("toggle") && !names.includes("press")
}

const BOXES: ReadonlySet<number> = new Set([
  ROLE.CHECK_BOX,
  ROLE.RADIO_BUTTON,
  ROLE.TOGGLE_BUTTON,
  ROLE.PUSH_BUTTON,
])

const REVEALING: ReadonlySet<Action["kind"]> = new Set(["scroll", "scroll-to"])

/**
 * Refuses an element that is not even VISIBLE: a user could not reach it. Elements that are scrolled away are VISIBLE
 * without SHOWING. The items of a closed menu are an exception that all assistive tools rely on.
 */
function refuseHidden({ origin }: Element, states: StateSet, role: number): void {
  if (has(states, STATE.VISIBLE) || has(states, STATE.SHOWING) || ITEMS.has(role)) return
  if (origin.traits.closedOptionsLookHidden) return
  throw new AppError("ACTION_FAILED", "It is on a page or panel that is not shown", {
    suggestion: "Show its page first; what is shown now: agent-desktop snapshot -i",
    details: { kind: "not_actionable", reason: "not shown" },
    disposition: NOTHING_DELIVERED,
  })
}

const ITEMS: ReadonlySet<number> = new Set([
  ROLE.MENU,
  ROLE.MENU_ITEM,
  ROLE.CHECK_MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
])

const WRITING: ReadonlySet<Action["kind"]> = new Set(["set-value", "type", "clear"])

async function deliver(
  to: Sender,
  element: Element,
  action: Action,
  target: TargetFacts,
): Promise<Performed> {
  const { ref } = element
  if (WRITING.has(action.kind) && (await isInSlideTable(to.atspi, ref, to.traits))) throw notSaved()
  switch (action.kind) {
    case "click":
      // The focus makes a cell of a sheet the current one, as a click does, even if the cell is far out of view.
      if (to.traits.sheetCellsAreTypedOver && target.role === ROLE.TABLE_CELL && !target.isShown)
        return deliver(to, element, { kind: "focus" }, target)
      return click(to, element, target)
    // Some apps open all selected rows when one is activated; a double click selects its row first.
    case "double-click":
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return to.act(ref, MENU)
    case "toggle":
    case "check":
    case "uncheck":
      return to.traits.checkCellsToggle && target.role === ROLE.TABLE_CELL
        ? NOT_DELIVERED
        : to.act(ref, TOGGLE)
    case "expand":
    case "collapse":
      return disclose(to, element, action.kind, target)
    case "select":
      return chooseOption(to, element, action)
    case "type":
      return insertText(to, element, action.text)
    case "set-value":
      return setValue(to, element, action.value)
    case "clear":
      return clearText(to, element)
    case "focus":
      return (await to.can(ref, INTERFACE.Component))
        ? to.request(ref, "Component.GrabFocus", method("org.a11y.atspi.Component.GrabFocus"))
        : NOT_DELIVERED
    case "scroll":
      return scroll(to, element, action.direction, action.amount)
    case "scroll-to":
      return scrollTo(to, element, action.edge)
    default:
      return action satisfies never
  }
}

/** Names of actions, the best first. Qt's ShowMenu opens the menu of a menu button, not a context menu. */
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
/**
 * Names that mean a click for rows and fields too. A row's `activate` is a double click, Qt's `Toggle` adds a row to the
 * selection, and the `activate` of a field is its Enter key.
 */
const MERE_CLICK = ["click", "press", "select"]
const TOGGLE = ["toggle", "check", "uncheck", "click", "press", "select", "activate", "dodefault"]
const MENU = ["showcontextmenu", "contextmenu", "popupmenu", "menupopup"]
const OPEN = ["open", "showmenu", "press", "click", "activate", "dodefault"]

const FIELDS: ReadonlySet<number> = new Set([ROLE.TEXT, ROLE.ENTRY, ROLE.PASSWORD_TEXT, ROLE.SPIN_BUTTON])

async function click(to: Sender, { ref, parent }: Element, { role, isRow }: TargetFacts): Promise<Performed> {
  // A click by message has no place, and a page gets no press of a button.
  if (role === ROLE.CANVAS || role === ROLE.DRAWING_AREA) return NOT_DELIVERED
  const mayPressEnter = FIELDS.has(role) && !to.traits.fieldActivationIsClick
  const performed = await to.act(ref, isRow || mayPressEnter ? MERE_CLICK : CLICK)
  if (performed.delivery !== "not_delivered") return performed
  return role === ROLE.PAGE_TAB && parent ? selectChild(to, parent.ref, ref) : NOT_DELIVERED
}

/** A press opens a button, but only selects a row. */
async function disclose(
  to: Sender,
  { ref }: Element,
  verb: "expand" | "collapse",
  { isRow, role }: TargetFacts,
): Promise<Performed> {
  // The action of a row is a click, which may open the file or folder of the row.
  if (role === ROLE.TABLE_ROW && to.traits.disclosure === "arrow keys") return NOT_DELIVERED
  const exact = await to.act(ref, [verb, `listitem${verb}`, "listitemtoggleexpand", "expandorcontract"])
  return exact.delivery !== "not_delivered" || isRow ? exact : to.act(ref, OPEN)
}

function isRow({ parentRole, origin }: Element, states: StateSet, role: number): boolean {
  return hasTrait(kindOf(role, states, false, parentRole, { traits: origin.traits }).role, "item")
}

/** The states of the element once it can be pressed. A button that stays down is held by another client or the user. */
export async function whenUp(atspi: Atspi, { ref, origin }: Pressed, first?: StateSet): Promise<StateSet> {
  const { pressHold } = origin.traits
  const patience = atspi.deadline.slice((pressHold?.ms ?? 0) * 3)
  let states = first ?? (await atspi.states(ref))
  while (pressHold?.isReported && has(states, STATE.PRESSED) && !patience.expired) {
    await pause(LOOK_AGAIN_MS, patience)
    states = await atspi.states(ref)
  }
  return states
}

/**
 * Waits until a press has taken effect. An element that cannot be read afterwards proves nothing. False: its process
 * ended before that, so the press had no effect.
 */
export async function whenPressed(atspi: Atspi, element: Pressed, role: number): Promise<boolean> {
  const { traits, pid } = element.origin
  if (!traits.pressHold) return true
  const { ms, isReported } = traits.pressHold
  if (isReported) {
    const soon = atspi.within(atspi.deadline.slice(ms * 3))
    await whenUp(soon, element).catch(() => undefined)
    return true
  }
  if (!BUTTONS.has(role)) return true
  const start = performance.now()
  await pause(ms - LAST_MS, atspi.deadline)
  const hasEnded = processStart(pid) === undefined
  // On a busy machine this look may come late, and then the press may have caused the end.
  const isEarly = performance.now() - start < ms
  await pause(LAST_MS, atspi.deadline)
  return !(hasEnded && isEarly)
}

type Pressed = Pick<Element, "ref" | "origin">

/** The app may count a little faster than we do. */
const LAST_MS = 30
const LOOK_AGAIN_MS = 10

const BUTTONS: ReadonlySet<number> = new Set([ROLE.PUSH_BUTTON, ROLE.TOGGLE_BUTTON])
