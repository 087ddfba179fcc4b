import type { Action, Direction, Performed } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { type Atspi, INTERFACE, type Interfaces, property, type Ref, readNumber } from "./atspi.ts"
import { DBusClosed, DBusError, DBusTimeout, type Method, method, readAs } from "./dbus.ts"
import type { Element } from "./element.ts"
import { unlessRefused } from "./element.ts"
import { chooseOption } from "./options.ts"
import { kindOf, ROLE } from "./roles.ts"
import { has, STATE } from "./states.ts"

/** The accessibility route of every action: one call that changes something, or none. */

/** Handlers that open a modal dialog answer only when it closes; what they did shows before that. */
const REPLY_MS = 1000

const NOT_DELIVERED: Performed = { method: "none", delivery: "not_delivered" }

export async function perform(atspi: Atspi, element: Element, action: Action): Promise<Performed> {
  const { ref } = element
  switch (action.kind) {
    case "click":
      return act(atspi, element, await isRow(atspi, element) ? ROW_CLICK : CLICK)
    case "double-click":
      return (await isRow(atspi, element)) ? act(atspi, element, ["activate", "open"]) : NOT_DELIVERED
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return act(atspi, element, ["showcontextmenu", "contextmenu", "showmenu", "popupmenu"], isPopupOwner)
    case "toggle":
    case "check":
    case "uncheck":
      return act(atspi, element, TOGGLE)
    case "expand":
      return act(atspi, element, ["expand", ...DISCLOSE])
    case "collapse":
      return act(atspi, element, ["collapse", ...DISCLOSE])
    case "select":
      return chooseOption(atspi, element, action.value)
    case "type":
      return insert(atspi, element, action.text)
    case "set-value":
      return setValue(atspi, element, action.value)
    case "clear":
      return (await can(atspi, ref, INTERFACE.EditableText)) ? setText(atspi, ref, "") : NOT_DELIVERED
    case "focus":
      return (await can(atspi, ref, INTERFACE.Component))
        ? accepted(await send(atspi, ref, method("org.a11y.atspi.Component.GrabFocus")))
        : NOT_DELIVERED
    case "scroll":
      return scroll(atspi, ref, action.direction, action.amount)
    case "scroll-to":
      return (await can(atspi, ref, INTERFACE.Component))
        ? accepted(await send(atspi, ref, method("org.a11y.atspi.Component.ScrollTo", "u", [SCROLL_ANYWHERE])))
        : NOT_DELIVERED
    default:
      return action satisfies never
  }
}

/** Action names with case and blanks taken away, since toolkits spell them differently; the best first. */
const CLICK = ["click", "press", "activate", "jump", "open", "toggle", "check", "select", "dodefault"]
/** To click a row is to select it; its `activate` opens it, which is a double click. */
const ROW_CLICK = ["click", "press", "select", "toggle"]
const TOGGLE = ["toggle", "check", "uncheck", "click", "press", "select", "activate", "dodefault"]
const DISCLOSE = ["expandorcontract", "open", "showmenu", "press", "click", "activate", "dodefault"]

const ROW_ROLES: ReadonlySet<string> = new Set(["cell", "treeitem", "option", "row"])
const SCROLL_ANYWHERE = 6

/** Does the first of the wanted actions that the object offers. */
export async function act(
  atspi: Atspi,
  { ref }: Pick<Element, "ref">,
  wanted: readonly string[],
  except?: (atspi: Atspi, ref: Ref) => Promise<boolean>,
): Promise<Performed> {
  if (!(await can(atspi, ref, INTERFACE.Action)) || (await except?.(atspi, ref))) return NOT_DELIVERED
  const names = ((await unlessRefused(atspi.actionNames(ref))) ?? []).map(plain)
  const index = wanted.map((name) => names.indexOf(name)).find((at) => at >= 0)
  if (index === undefined) return NOT_DELIVERED
  const sent = await send(atspi, ref, method("org.a11y.atspi.Action.DoAction", "i", [index]))
  const delivery = sent === "refused" ? "not_delivered" : sent === true ? "delivered_unverified" : "delivery_uncertain"
  return { method: `atspi:${names[index]}`, delivery }
}

/**
 * Sends one call that changes something. true or false as the application answered; "refused" when it
 * has no such method and so did nothing; undefined when no answer came, and it may have been done.
 */
export async function send(atspi: Atspi, ref: Ref, called: Method): Promise<boolean | "refused" | undefined> {
  try {
    const reply = await atspi.within(atspi.deadline.slice(REPLY_MS)).call(ref, called)
    return reply.signature === "b" ? readAs(reply, "b").bool() : true
  } catch (error) {
    if (error instanceof DBusError) return NOT_THERE.has(error.code) ? "refused" : undefined
    // The application may have ended because of the action, or be busy with what it started.
    if (error instanceof DBusTimeout || error instanceof DBusClosed) return undefined
    throw error
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(
  ["UnknownMethod", "UnknownInterface", "UnknownObject", "NotSupported"].map((name) => `org.freedesktop.DBus.Error.${name}`),
)

/** For calls that set something that can be set again: a plain no means that nothing was done. */
export function accepted(sent: boolean | "refused" | undefined, how = "Component"): Performed {
  if (sent === undefined) return { method: `atspi:${how}`, delivery: "delivery_uncertain" }
  return sent === true ? { method: `atspi:${how}`, delivery: "delivered_unverified" } : NOT_DELIVERED
}

export async function can(atspi: Atspi, ref: Ref, bit: Interfaces): Promise<boolean> {
  return ((await atspi.interfaces(ref)) & bit) !== 0
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")

async function isRow(atspi: Atspi, { ref, parentRole }: Element): Promise<boolean> {
  const [role, states] = await Promise.all([atspi.role(ref), atspi.states(ref)])
  return ROW_ROLES.has(kindOf(role, states, false, parentRole).role)
}

/** Qt's ShowMenu opens a combobox's list and a menu button's menu, which is not what a right click does. */
async function isPopupOwner(atspi: Atspi, ref: Ref): Promise<boolean> {
  const [role, states] = await Promise.all([atspi.role(ref), atspi.states(ref)])
  return role === ROLE.COMBO_BOX || role === ROLE.MENU_ITEM || has(states, STATE.HAS_POPUP)
}

/** Puts text at the caret, in place of what is selected there. */
async function insert(atspi: Atspi, { ref, place }: Element, text: string): Promise<Performed> {
  if (!(await can(atspi, ref, INTERFACE.EditableText))) return NOT_DELIVERED
  if (text === "") return { method: "atspi:EditableText.InsertText", delivery: "delivered_verified" }
  const { start, end } = await selection(atspi, ref)
  if (end > start) {
    const cut = await send(atspi, ref, method("org.a11y.atspi.EditableText.DeleteText", "ii", [start, end]))
    if (cut === "refused" || cut === false) return NOT_DELIVERED
    if (cut === undefined) return { method: "atspi:EditableText.DeleteText", delivery: "delivery_uncertain" }
  }
  // ATK counts bytes, Qt counts UTF-16 units and pads what is missing.
  const length = /^qt/i.test(place.toolkit) ? text.length : Buffer.byteLength(text)
  const called = method("org.a11y.atspi.EditableText.InsertText", "isi", [start, text, length])
  return accepted(await send(atspi, ref, called), "EditableText.InsertText")
}

async function selection(atspi: Atspi, ref: Ref): Promise<{ start: number; end: number }> {
  const [count, caret, size] = await Promise.all([
    unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetNSelections"))),
    unlessRefused(atspi.call(ref, property("Text", "CaretOffset"))),
    atspi.characterCount(ref),
  ])
  if (count && readAs(count, "i").i32() > 0) {
    const reply = await unlessRefused(atspi.call(ref, method("org.a11y.atspi.Text.GetSelection", "i", [0])))
    if (reply) {
      const body = readAs(reply, "ii")
      const [a, b] = [body.i32(), body.i32()]
      return { start: Math.min(a, b), end: Math.max(a, b) }
    }
  }
  const at = caret ? readNumber(caret) : size
  // A field that never had the focus may report no caret: its end is where a user would go on.
  const offset = at < 0 || at > size ? size : at
  return { start: offset, end: offset }
}

async function setValue(atspi: Atspi, { ref }: Element, value: string): Promise<Performed> {
  const interfaces = await atspi.interfaces(ref)
  const number = Number(value)
  if (interfaces & INTERFACE.Value && value.trim() !== "" && Number.isFinite(number)) {
    await refuseOutOfRange(atspi, ref, number)
    return setNumber(atspi, ref, number)
  }
  if (interfaces & INTERFACE.EditableText) return setText(atspi, ref, value)
  if (interfaces & INTERFACE.Value) {
    throw new AppError("INVALID_ARGS", `'${value}' is not a number, which this element needs`, {
      suggestion: "Pass a number, such as 50",
      disposition: NOTHING_DELIVERED,
    })
  }
  return NOT_DELIVERED
}

export async function setNumber(atspi: Atspi, ref: Ref, value: number): Promise<Performed> {
  const called = method("org.freedesktop.DBus.Properties.Set", "ssv", [
    "org.a11y.atspi.Value",
    "CurrentValue",
    { signature: "d", value },
  ])
  return accepted(await send(atspi, ref, called), "Value.CurrentValue")
}

async function refuseOutOfRange(atspi: Atspi, ref: Ref, value: number): Promise<void> {
  const [least, most] = await Promise.all(
    ["MinimumValue", "MaximumValue"].map((name) => unlessRefused(atspi.call(ref, property("Value", name)).then(readNumber))),
  )
  if (least === undefined || most === undefined || least >= most) return
  if (value >= least && value <= most) return
  throw new AppError("ACTION_FAILED", `${value} is outside the element's range ${least} to ${most}`, {
    suggestion: `Pass a value from ${least} to ${most}`,
    details: { kind: "out_of_range", min: least, max: most },
    disposition: NOTHING_DELIVERED,
  })
}

async function setText(atspi: Atspi, ref: Ref, text: string): Promise<Performed> {
  const called = method("org.a11y.atspi.EditableText.SetTextContents", "s", [text])
  return accepted(await send(atspi, ref, called), "EditableText.SetTextContents")
}

const MOST_ANCESTORS = 8

/** Moves the scroll bar of the nearest scroll pane around the element, if it has one that takes values. */
async function scroll(atspi: Atspi, ref: Ref, direction: Direction, amount: number): Promise<Performed> {
  const sideways = direction === "left" || direction === "right"
  const bar = await scrollBar(atspi, ref, sideways)
  if (!bar) return NOT_DELIVERED
  const [now, least, most, increment] = await Promise.all(
    ["CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"].map((name) =>
      unlessRefused(atspi.call(bar, property("Value", name)).then(readNumber)),
    ),
  )
  if (now === undefined || least === undefined || most === undefined || most <= least) return NOT_DELIVERED
  const step = Math.max(increment ?? 0, (most - least) / 20)
  const wanted = direction === "up" || direction === "left" ? now - step * amount : now + step * amount
  const value = Math.min(most, Math.max(least, wanted))
  return value === now ? NOT_DELIVERED : setNumber(atspi, bar, value)
}

async function scrollBar(atspi: Atspi, ref: Ref, sideways: boolean): Promise<Ref | undefined> {
  let at: Ref | undefined = ref
  for (let level = 0; at && level < MOST_ANCESTORS; level++) {
    if ((await atspi.role(at)) === ROLE.SCROLL_PANE) {
      for (const child of await atspi.children(at)) {
        if ((await atspi.role(child)) !== ROLE.SCROLL_BAR) continue
        const states = await atspi.states(child)
        if (has(states, sideways ? STATE.HORIZONTAL : STATE.VERTICAL)) {
          return (await can(atspi, child, INTERFACE.Value)) ? child : undefined
        }
      }
      return undefined
    }
    at = await unlessRefused(atspi.parent(at))
  }
  return undefined
}
