import { type Action, type Direction, NOT_DELIVERED, type Performed } from "../action.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { chooseByName } from "../match.ts"
import { hasTrait, type Role } from "../node.ts"
import { pause } from "../until.ts"
import { ancestors } from "./ancestors.ts"
import { STRUCTURE } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { newArray, newNumber, newString } from "./cf.ts"
import { Failure, INVALID_ELEMENT, isUnread, readFailed } from "./failure.ts"
import { isSecure, roleOf } from "./roles.ts"
import { act, flag, set, write } from "./sending.ts"
import { type Attributes, asElement, asElements, asText, type Element, frameOf } from "./value.ts"
import { walkElement } from "./walk.ts"

/** Distance of one unit of `scroll`, the same as one notch of the wheel; as a share of the bar if sizes are not known. */
const UNIT_PX = 40
const UNIT_SHARE = 0.1
/** Levels above an element in which to look for its row or scroll area. */
const ANCESTORS = 12

/** Acts through the accessibility API, with at most one call that changes something, besides opening a menu. */
export async function perform(ax: Ax, element: Element, action: Action): Promise<Performed> {
  switch (action.kind) {
    case "click":
      return activate(ax, element) ?? select(ax, element) ?? NOT_DELIVERED
    case "double-click":
      return act(ax, element, ["AXOpen"]) ?? actInCell(ax, element, ["AXOpen"]) ?? NOT_DELIVERED
    case "triple-click":
      return NOT_DELIVERED
    case "right-click":
      return (opensMenu(roleIn(ax, element)) ? undefined : act(ax, element, ["AXShowMenu"])) ?? NOT_DELIVERED
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
      return (await import("./typing.ts")).typeInto(ax, element, action.text)
    case "clear":
      if (await takesKeysOnly(ax, element)) return NOT_DELIVERED
      return write(ax, element, "AXValue", "") ?? NOT_DELIVERED
    case "set-value":
      if (await takesKeysOnly(ax, element)) return NOT_DELIVERED
      return setValue(ax, element, action.value) ?? (await stepTo(ax, element, action.value)) ?? NOT_DELIVERED
    case "focus":
      return flag(ax, element, "AXFocused", true) ?? NOT_DELIVERED
    case "scroll":
      return scroll(ax, element, action.direction, action.amount) ?? NOT_DELIVERED
    case "scroll-to":
      if (action.edge) return NOT_DELIVERED
      return act(ax, element, ["AXScrollToVisible"]) ?? NOT_DELIVERED
    default:
      return action satisfies never
  }
}

/** Roles whose AXShowMenu opens their own menu, not a context menu. */
const opensMenu = (role: Role): boolean => hasTrait(role, "opensMenu")

/** True for a text that accepts only keys. A number or a switch in a page can be written. */
async function takesKeysOnly(ax: Ax, element: Element): Promise<boolean> {
  const role = roleIn(ax, element)
  return role === "textfield" && (await import("./typing.ts")).takesKeysOnly(ax, element)
}

/** True for roles that a click may select. A text stands for the row that contains it. */
const isSelectable = (role: Role): boolean =>
  hasTrait(role, "item") || role === "tab" || role === "statictext"

/** Actions that stand for a click, best first. AXConfirm is Return in a text field, not a click. */
const ACTIVATIONS = ["AXPress", "AXOpen", "AXPick", "AXConfirm"] as const

function activate(ax: Ax, element: Element): Performed | undefined {
  const role = roleIn(ax, element)
  const isText = hasTrait(role, "typable") || role === "combobox"
  const own = act(ax, element, isText ? ["AXPress"] : ACTIVATIONS)
  if (own || !isRowRole(role)) return own
  // In a table with a header, a click selects a row. In a sidebar, it opens the place of the row, through a cell.
  const container = asElement(ax.get(element, "AXParent"))
  const isTable = container !== undefined && asElement(ax.get(container, "AXHeader")) !== undefined
  return isTable ? undefined : actInCell(ax, element, ["AXPress", "AXOpen"])
}

const isRowRole = (role: Role): boolean => role === "row" || role === "treeitem"

/** The most cells of a row to ask. */
const CELLS = 4

/** Performs an action of the first cell that offers one. undefined: not a row, or no cell offers one. */
function actInCell(ax: Ax, row: Element, wanted: readonly string[]): Performed | undefined {
  if (!isRowRole(roleIn(ax, row))) return undefined
  for (const cell of asElements(ax.get(row, "AXChildren")).slice(0, CELLS)) {
    const sent = act(ax, cell, wanted)
    if (sent) return sent
  }
  return undefined
}

/** Clicks an element that can only be selected: selects it, or the row around it. */
function select(ax: Ax, element: Element): Performed | undefined {
  const role = roleIn(ax, element)
  if (!isSelectable(role)) return undefined
  const own = flag(ax, element, "AXSelected", true)
  // Selecting a tab switches to it. Selecting a row may have no consequence.
  if (own) return role === "tab" ? own : { ...own, isSelection: true }
  for (const above of around(ax, element)) {
    if (!isRowRole(roleIn(ax, above))) continue
    const sent = flag(ax, above, "AXSelected", true)
    return sent && { ...sent, isSelection: true }
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

/** Writes the value in its present type. The value of a secure field is not read: it is text. */
function setValue(ax: Ax, element: Element, text: string): Performed | undefined {
  const settable = ax.isSettable(element, "AXValue")
  if (isUnread(settable)) throw readFailed("The element", settable.code)
  if (settable !== true) return undefined
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
  return set(ax, element, "AXValue", value.ref)
}

/** The most steps towards a value, and how long the value may take to change after one. */
const MOST_STEPS = 100
const STEP_MS = 500

/** Counts up or down to a value that can only be stepped. Ends at a step without the expected change. */
async function stepTo(ax: Ax, element: Element, text: string): Promise<Performed | undefined> {
  const goal = Number(text)
  let sent: Performed | undefined
  for (let step = 0; step < MOST_STEPS; step++) {
    const now = ax.get(element, "AXValue")
    if (typeof now !== "number" || text.trim() === "" || !Number.isFinite(goal) || now === goal) break
    const next = act(ax, element, [now < goal ? "AXIncrement" : "AXDecrement"])
    if (!next || next.delivery === "not_delivered") return sent ?? next
    sent = next
    const reached = await changed(ax, element, now)
    // It may have gone the wrong way, or past the goal.
    if (reached === undefined || Math.abs(goal - reached) >= Math.abs(goal - now)) break
  }
  return sent
}

async function changed(ax: Ax, element: Element, before: number): Promise<number | undefined> {
  const end = ax.deadline.slice(STEP_MS)
  for (;;) {
    const now = ax.get(element, "AXValue")
    if (typeof now !== "number") return undefined
    if (now !== before) return now
    if (end.expired) return undefined
    await pause(LOOK_MS, end)
  }
}

function unfitting(text: string, wanted: string): AppError {
  return new AppError("INVALID_ARGS", `The element takes ${wanted}, not '${text}'`, {
    suggestion: `Pass ${wanted}`,
    disposition: NOTHING_DELIVERED,
  })
}

/** Moves the scroll bar of the nearest scroll area, or scrolls by pages if there is none. */
function scroll(ax: Ax, element: Element, direction: Direction, amount: number): Performed | undefined {
  const sideways = direction === "left" || direction === "right"
  const sign = direction === "up" || direction === "left" ? -1 : 1
  const attribute = sideways ? "AXHorizontalScrollBar" : "AXVerticalScrollBar"
  const page = `AXScroll${direction[0]?.toUpperCase()}${direction.slice(1)}ByPage`
  for (const area of [element, ...around(ax, element)]) {
    const read = ax.read(area, [attribute, "AXContents", "AXFrame"])
    const bar = read instanceof Failure ? undefined : asElement(read[attribute])
    const at = bar && ax.get(bar, "AXValue")
    if (bar && typeof at === "number" && ax.canSet(bar, "AXValue")) {
      const share = amount * (read instanceof Failure ? UNIT_SHARE : unitShare(ax, read, sideways))
      using value = newNumber(Math.min(1, Math.max(0, at + sign * share)))
      return { ...set(ax, bar, "AXValue", value.ref), method: attribute }
    }
    const paged = act(ax, area, [page])
    if (paged) return paged
  }
  return undefined
}

/** One unit as a share of the scroll bar, from the length of the contents beyond their view. */
function unitShare(ax: Ax, area: Attributes, sideways: boolean): number {
  const [contents] = asElements(area.AXContents)
  const read = contents && ax.read(contents, ["AXFrame", "AXPosition", "AXSize"])
  const inner = read && !(read instanceof Failure) ? frameOf(read) : undefined
  const outer = frameOf(area)
  const beyond = inner && outer ? (sideways ? inner.width - outer.width : inner.height - outer.height) : 0
  return beyond > 0 ? UNIT_PX / beyond : UNIT_SHARE
}

export function roleIn(ax: Ax, element: Element): Role {
  const read = ax.read(element, ["AXRole", "AXSubrole"])
  return read instanceof Failure ? "unknown" : roleOf(asText(read.AXRole), asText(read.AXSubrole))
}

/** The nearest elements above. */
function* around(ax: Ax, element: Element): Generator<Element> {
  let level = 0
  for (const above of ancestors(ax, element)) {
    if (above === "unread" || ++level > ANCESTORS) return
    yield above
  }
}

/** Longest wait for a menu to open, and the time between two looks. */
const OPEN_MS = 1500
const LOOK_MS = 20
const MOST_LEVELS = 5
const MOST_NODES = 2048

const isOption = (role: Role): boolean => isSelectable(role) || role === "menuitem" || role === "radiobutton"

interface Option {
  readonly element: Element
  readonly name: string
}

interface Choice {
  readonly options: readonly Option[]
  /** The error of an unreadable child, which may be an option. */
  readonly unread?: Failure
}

/** Chooses by name: an item of a pop-up's menu, an option of a list, a tab, a radio button. */
export async function chooseOption(ax: Ax, element: Element, value: string): Promise<Performed> {
  const role = roleIn(ax, element)
  if (role === "combobox" && ax.canSet(element, "AXValue")) {
    using text = newString(value)
    return set(ax, element, "AXValue", text.ref)
  }
  if (opensMenu(role)) return chooseInMenu(ax, element, value)
  const choice = optionsBelow(ax, element)
  if (choice.options.length === 0 && !choice.unread) return NOT_DELIVERED
  const { element: option } = only(choice, value)
  return (
    flag(ax, option, "AXSelected", true) ??
    act(ax, option, ["AXPress"]) ??
    within(ax, element, option) ??
    NOT_DELIVERED
  )
}

/** Opens the menu, because its items exist only while it is open. Closes it again if no item fits. */
async function chooseInMenu(ax: Ax, element: Element, value: string): Promise<Performed> {
  if (!menuOf(ax, element)) {
    const opened = act(ax, element, ["AXPress", "AXShowMenu"])
    if (!opened || opened.delivery === "not_delivered") return NOT_DELIVERED
  }
  const end = ax.deadline.slice(OPEN_MS)
  let menu = menuOf(ax, element)
  for (; !menu && !end.expired; menu = menuOf(ax, element)) await pause(LOOK_MS, end)
  if (!menu) {
    throw new AppError("TIMEOUT", "The menu did not open", {
      suggestion: "Run 'snapshot --surface menu' to see whether it is open now",
      details: { kind: "menu" },
      disposition: { delivery: "delivery_uncertain", retry: "safe" },
    })
  }
  try {
    const { element: item } = only(optionsBelow(ax, menu), value)
    const picked = act(ax, item, ["AXPress", "AXPick"])
    if (picked && picked.delivery !== "not_delivered") return picked
    throw new AppError("ACTION_FAILED", `The app refused to choose '${value}'`, {
      suggestion: "Run 'snapshot --surface menu' to see whether it is open now",
      disposition: NOTHING_DELIVERED,
    })
  } catch (error) {
    act(ax, menu, ["AXCancel"])
    throw error
  }
}

function menuOf(ax: Ax, element: Element): Element | undefined {
  return asElements(ax.get(element, "AXChildren")).find((child) => ax.get(child, "AXRole") === "AXMenu")
}

/** The one option of this name, by the names that a snapshot shows. */
function only({ options, unread }: Choice, value: string): Option {
  // The wanted option may be the one that could not be read.
  if (unread && !options.some(({ name }) => name === value)) throw readFailed("An option", unread.code)
  return chooseByName(options, value)
}

/** Collects the options below a container, level by level. Does not look inside an option. */
function optionsBelow(ax: Ax, container: Element): Choice {
  const found: Option[] = []
  let unread: Failure | undefined
  const known = new Set([container])
  let level = [container]
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0; depth++) {
    const next: Element[] = []
    for (const child of level.flatMap((element) => asElements(ax.must(element, "AXChildren")))) {
      if (known.has(child) || known.size > MOST_NODES) continue
      known.add(child)
      const structure = ax.read(child, STRUCTURE)
      if (structure instanceof Failure) {
        if (structure.code !== INVALID_ELEMENT) unread ??= structure
        continue
      }
      const role = roleOf(asText(structure.AXRole), asText(structure.AXSubrole))
      const name = isOption(role) ? optionName(ax, child, asText(structure.AXTitle)) : undefined
      if (name) found.push({ element: child, name })
      else next.push(child)
    }
    level = next
  }
  return { options: found, unread }
}

function optionName(ax: Ax, option: Element, title: string | undefined): string | undefined {
  const seen = title ? undefined : walkElement(ax, option)
  return title || seen?.name || seen?.value
}

/** Selects an option through the selection list of its container. */
function within(ax: Ax, container: Element, option: Element): Performed | undefined {
  const name = ["AXSelectedRows", "AXSelectedChildren"].find((one) => ax.canSet(container, one))
  if (!name) return undefined
  using chosen = newArray([option.ref])
  return set(ax, container, name, chosen.ref)
}
