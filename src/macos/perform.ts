import type { Action, Direction, Performed } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, newNumber, newString } from "./cf.ts"
import { deliveryOf, Failure } from "./failure.ts"
import { chooseOption } from "./options.ts"
import { isSecure, roleOf } from "./roles.ts"
import { type Attributes, asElement, asElements, asText, type Element, frameOf } from "./value.ts"

/** The accessibility route of every action: one call that changes something, or none. */

const NOT_DELIVERED: Performed = { method: "none", delivery: "not_delivered" }

/** How far one unit of `scroll` goes, as far as the wheel goes by one notch, and without geometry how much of the bar. */
const UNIT_PX = 40
const UNIT_SHARE = 0.1
/** How far up a row or a scroll area may be. */
const ANCESTORS = 12

export async function perform(ax: Ax, element: Element, action: Action): Promise<Performed> {
  switch (action.kind) {
    case "click":
      return act(ax, element, ["AXPress"]) ?? select(ax, element) ?? NOT_DELIVERED
    case "double-click":
      return act(ax, element, ["AXOpen"]) ?? NOT_DELIVERED
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return (
        (OPENS_MENU.has(roleIn(ax, element)) ? undefined : act(ax, element, ["AXShowMenu"])) ?? NOT_DELIVERED
      )
    case "toggle":
    case "check":
    case "uncheck":
      return act(ax, element, ["AXPress"]) ?? NOT_DELIVERED
    case "expand":
    case "collapse":
      return disclose(ax, element, action.kind === "expand") ?? NOT_DELIVERED
    case "select":
      return chooseOption(ax, element, action.value)
    case "type":
      return write(ax, element, "AXSelectedText", action.text) ?? NOT_DELIVERED
    case "clear":
      return write(ax, element, "AXValue", "") ?? NOT_DELIVERED
    case "set-value":
      return setValue(ax, element, action.value) ?? NOT_DELIVERED
    case "focus":
      return flag(ax, element, "AXFocused", true) ?? NOT_DELIVERED
    case "scroll":
      return scroll(ax, element, action.direction, action.amount) ?? NOT_DELIVERED
    case "scroll-to":
      return act(ax, element, ["AXScrollToVisible"]) ?? NOT_DELIVERED
    default:
      return action satisfies never
  }
}

/** What an AXShowMenu of these opens is their own menu, not a context menu. */
const OPENS_MENU: ReadonlySet<string> = new Set(["combobox", "menubutton"])

/** Does the first of the wanted actions that the element offers; undefined when it offers none. */
export function act(ax: Ax, element: Element, wanted: readonly string[]): Performed | undefined {
  const offered = ax.actions(element)
  const action = offered instanceof Failure ? undefined : wanted.find((name) => offered.has(name))
  return action ? { method: action, delivery: deliveryOf(ax.perform(element, action)) } : undefined
}

/** Sets a boolean attribute that the element lets us set; undefined when it does not. */
export function flag(ax: Ax, element: Element, name: string, value: boolean): Performed | undefined {
  if (!ax.canSet(element, name)) return undefined
  return { method: name, delivery: deliveryOf(ax.set(element, name, cfBoolean(value))) }
}

const SELECTABLE: ReadonlySet<string> = new Set(["cell", "option", "row", "statictext", "tab", "treeitem"])

/** To click what only can be selected is to select it, or the row that it is in. */
export function select(ax: Ax, element: Element): Performed | undefined {
  if (!SELECTABLE.has(roleIn(ax, element))) return undefined
  const own = flag(ax, element, "AXSelected", true)
  if (own) return own
  for (const above of ancestors(ax, element)) {
    const role = roleIn(ax, above)
    if (role === "row" || role === "treeitem") return flag(ax, above, "AXSelected", true)
  }
  return undefined
}

function disclose(ax: Ax, element: Element, open: boolean): Performed | undefined {
  return (
    flag(ax, element, "AXDisclosing", open) ??
    flag(ax, element, "AXExpanded", open) ??
    act(ax, element, open ? ["AXExpand", "AXPress", "AXShowMenu"] : ["AXCollapse", "AXPress", "AXCancel"])
  )
}

function write(ax: Ax, element: Element, name: string, text: string): Performed | undefined {
  if (!ax.canSet(element, name)) return undefined
  using value = newString(text)
  return { method: name, delivery: deliveryOf(ax.set(element, name, value.ref)) }
}

/** The value in the type that it has now. A secure field's is not looked at: it is text. */
function setValue(ax: Ax, element: Element, text: string): Performed | undefined {
  if (!ax.canSet(element, "AXValue")) return undefined
  const kind = ax.read(element, ["AXRole", "AXSubrole"])
  const secure = kind instanceof Failure || isSecure(asText(kind.AXRole), asText(kind.AXSubrole))
  const now = secure ? undefined : ax.get(element, "AXValue")
  if (typeof now === "boolean") {
    if (text !== "true" && text !== "false") throw unfitting(text, "true or false")
    return flag(ax, element, "AXValue", text === "true")
  }
  if (typeof now !== "number") return write(ax, element, "AXValue", text)
  const number = Number(text)
  if (text.trim() === "" || !Number.isFinite(number)) throw unfitting(text, "a number")
  using value = newNumber(number)
  return { method: "AXValue", delivery: deliveryOf(ax.set(element, "AXValue", value.ref)) }
}

function unfitting(text: string, wanted: string): AppError {
  return new AppError("INVALID_ARGS", `The element takes ${wanted}, not '${text}'`, {
    suggestion: `Pass ${wanted}`,
    disposition: NOTHING_DELIVERED,
  })
}

/** Moves the scroll bar of the nearest scroll area; where there is none, by pages. */
function scroll(ax: Ax, element: Element, direction: Direction, amount: number): Performed | undefined {
  const sideways = direction === "left" || direction === "right"
  const sign = direction === "up" || direction === "left" ? -1 : 1
  const attribute = sideways ? "AXHorizontalScrollBar" : "AXVerticalScrollBar"
  const page = `AXScroll${direction[0]?.toUpperCase()}${direction.slice(1)}ByPage`
  for (const area of [element, ...ancestors(ax, element)]) {
    const read = ax.read(area, [attribute, "AXContents", "AXFrame"])
    const bar = read instanceof Failure ? undefined : asElement(read[attribute])
    const at = bar && ax.get(bar, "AXValue")
    if (bar && typeof at === "number" && ax.canSet(bar, "AXValue")) {
      const share = amount * (read instanceof Failure ? UNIT_SHARE : unitShare(ax, read, sideways))
      using value = newNumber(Math.min(1, Math.max(0, at + sign * share)))
      return { method: attribute, delivery: deliveryOf(ax.set(bar, "AXValue", value.ref)) }
    }
    const paged = act(ax, area, [page])
    if (paged) return paged
  }
  return undefined
}

/** How much of the way one unit is, from how much longer the contents are than their view. */
function unitShare(ax: Ax, area: Attributes, sideways: boolean): number {
  const [contents] = asElements(area.AXContents)
  const read = contents && ax.read(contents, ["AXFrame", "AXPosition", "AXSize"])
  const inner = read && !(read instanceof Failure) ? frameOf(read) : undefined
  const outer = frameOf(area)
  const beyond = inner && outer ? (sideways ? inner.width - outer.width : inner.height - outer.height) : 0
  return beyond > 0 ? UNIT_PX / beyond : UNIT_SHARE
}

export function roleIn(ax: Ax, element: Element): string {
  const read = ax.read(element, ["AXRole", "AXSubrole"])
  return read instanceof Failure ? "unknown" : roleOf(asText(read.AXRole), asText(read.AXSubrole))
}

/** The elements above, the nearest first. */
export function* ancestors(ax: Ax, element: Element): Generator<Element> {
  const known = new Set([element])
  let at: Element | undefined = element
  for (let i = 0; i < ANCESTORS && at; i++) {
    at = asElement(ax.get(at, "AXParent"))
    if (!at || known.has(at)) return
    known.add(at)
    yield at
  }
}
