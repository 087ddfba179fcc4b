import type { Action, Performed } from "../../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { hasTrait } from "../../node.ts"
import { pause } from "../../until.ts"
import { method } from "../dbus/bus.ts"
import { processStart } from "../host/processes.ts"
import { type Atspi, INTERFACE } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import { clearText, insertText, setValue } from "./editing.ts"
import type { Element } from "./element.ts"
import { chooseOption, selectChild } from "./options.ts"
import { answering } from "./read-tree.ts"
import { kindOf, ROLE } from "./roles.ts"
import { scroll, scrollTo } from "./scrolling.ts"
import { NOT_DELIVERED, Sender } from "./send.ts"

/** The accessibility route of every action: what changes something is sent once, or not at all. */
export async function perform(atspi: Atspi, element: Element, action: Action): Promise<Performed> {
  const to = new Sender(atspi, element.place)
  try {
    return await answering(element.place, deliverVisibly(to, element, action))
  } catch (error) {
    // An application that fell silent while it was asked what it offers was told to do nothing.
    throw error instanceof AppError && !to.hasSent ? error.with({ disposition: NOTHING_DELIVERED }) : error
  } finally {
    await to.close()
  }
}

async function deliverVisibly(to: Sender, element: Element, action: Action): Promise<Performed> {
  const [first, role] = await Promise.all([to.atspi.states(element.ref), to.atspi.role(element.ref)])
  const states = await whenUp(to.atspi, element, first)
  if (!REVEALING.has(action.kind)) refuseHidden(element, states, role)
  // LibreOffice presses a button that stays down without letting it up again.
  if (PRESSING.has(action.kind) && element.place.app === "soffice" && isDown(states, role))
    return NOT_DELIVERED
  const performed = await deliver(to, element, action, { role, isRow: isRow(element, states, role) })
  if (!PRESSING.has(action.kind) || performed.delivery === "not_delivered") return performed
  const isDone = await whenPressed(to.atspi, element, role)
  return isDone ? performed : { ...performed, delivery: "delivery_uncertain" }
}

/** What the element is, which decides what its actions mean. */
interface Kind {
  readonly role: number
  readonly isRow: boolean
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

const REVEALING: ReadonlySet<Action["kind"]> = new Set(["scroll", "scroll-to"])

/**
 * What is scrolled out of view is still visible to AT-SPI, only not showing. What is not even that, no
 * user could reach; the items of a closed menu are the exception that everybody relies on.
 */
function refuseHidden({ place }: Element, states: StateSet, role: number): void {
  if (has(states, STATE.VISIBLE) || has(states, STATE.SHOWING) || ITEMS.has(role)) return
  // Chromium says it of options in a list that is not open, too.
  if (place.toolkit === "Chromium") return
  throw new AppError("ACTION_FAILED", "It is hidden", {
    suggestion: "Run 'snapshot' to see what is there now",
    details: { kind: "not_actionable", reason: "hidden" },
    disposition: NOTHING_DELIVERED,
  })
}

const ITEMS: ReadonlySet<number> = new Set([
  ROLE.MENU,
  ROLE.MENU_ITEM,
  ROLE.CHECK_MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
])

async function deliver(to: Sender, element: Element, action: Action, kind: Kind): Promise<Performed> {
  const { ref } = element
  switch (action.kind) {
    case "click":
      return click(to, element, kind)
    case "double-click":
      return kind.isRow ? to.act(ref, ["activate", "open"]) : NOT_DELIVERED
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return to.act(ref, MENU)
    case "toggle":
    case "check":
    case "uncheck":
      return to.act(ref, TOGGLE)
    case "expand":
    case "collapse":
      return disclose(to, element, action.kind, kind)
    case "select":
      return chooseOption(to, element, action.value)
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
      return scrollTo(to, element)
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
/**
 * A row's `activate` opens it, which is a double click, and Qt's `Toggle` adds it to what is selected;
 * the `activate` of a field is its Enter key.
 */
const MERE_CLICK = ["click", "press", "select"]
const TOGGLE = ["toggle", "check", "uncheck", "click", "press", "select", "activate", "dodefault"]
const MENU = ["showcontextmenu", "contextmenu", "popupmenu", "menupopup"]
const OPEN = ["open", "showmenu", "press", "click", "activate", "dodefault"]

const FIELDS: ReadonlySet<number> = new Set([ROLE.TEXT, ROLE.ENTRY, ROLE.PASSWORD_TEXT, ROLE.SPIN_BUTTON])

async function click(to: Sender, { ref, parent }: Element, { role, isRow }: Kind): Promise<Performed> {
  // What a page calls the activation of a field is a click into it.
  const isField = FIELDS.has(role) && to.toolkit !== "Chromium"
  const performed = await to.act(ref, isRow || isField ? MERE_CLICK : CLICK)
  if (performed.delivery !== "not_delivered") return performed
  return role === ROLE.PAGE_TAB && parent ? selectChild(to, parent.ref, ref) : NOT_DELIVERED
}

/** What presses a button opens it; what presses a row selects it. */
async function disclose(
  to: Sender,
  { ref }: Element,
  verb: "expand" | "collapse",
  { isRow }: Kind,
): Promise<Performed> {
  const exact = await to.act(ref, [verb, `listitem${verb}`, "listitemtoggleexpand", "expandorcontract"])
  return exact.delivery !== "not_delivered" || isRow ? exact : to.act(ref, OPEN)
}

function isRow({ parentRole, place }: Element, states: StateSet, role: number): boolean {
  return hasTrait(kindOf(role, states, false, parentRole, { toolkit: place.toolkit }).role, "item")
}

/**
 * Qt and GTK 4 hold a button down for a while when they press it for somebody. What it does it does when it comes up,
 * and another press until then is lost. Qt says that it is down, GTK 4 does not.
 */

/** The states of the element once it can be pressed; one that stays down is held by somebody else. */
export async function whenUp(atspi: Atspi, { ref, place }: Pressed, first?: StateSet): Promise<StateSet> {
  const patience = atspi.deadline.slice(QT_HOLDS_MS * 3)
  let states = first ?? (await atspi.states(ref))
  while (place.toolkit === "Qt" && has(states, STATE.PRESSED) && !patience.expired) {
    await pause(LOOK_AGAIN_MS, patience)
    states = await atspi.states(ref)
  }
  return states
}

/**
 * Waits until the element has done what it does when it is pressed. That it cannot be read then says nothing.
 * false: its process ended before that, so that it did nothing.
 */
export async function whenPressed(atspi: Atspi, element: Pressed, role: number): Promise<boolean> {
  const { toolkit, pid } = element.place
  if (toolkit === "GTK" && GTK4_BUTTONS.has(role)) {
    await pause(GTK4_HOLDS_MS - LAST_MS, atspi.deadline)
    const isThere = processStart(pid) !== undefined
    await pause(LAST_MS, atspi.deadline)
    return isThere
  }
  if (toolkit !== "Qt") return true
  const soon = atspi.within(atspi.deadline.slice(QT_HOLDS_MS * 3))
  await whenUp(soon, element).catch(() => undefined)
  return true
}

type Pressed = Pick<Element, "ref" | "place">

/** The toolkits' own constants. GTK 4 begins to count before it answers. */
const GTK4_HOLDS_MS = 250
const QT_HOLDS_MS = 100
/** The application may count a little faster than we do. */
const LAST_MS = 30
const LOOK_AGAIN_MS = 10

const GTK4_BUTTONS: ReadonlySet<number> = new Set([ROLE.PUSH_BUTTON, ROLE.TOGGLE_BUTTON])
