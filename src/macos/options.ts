import type { Performed } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { STRUCTURE } from "./attributes.ts"
import type { Ax } from "./ax.ts"
import { newArray, newString } from "./cf.ts"
import { deliveryOf, Failure, INVALID_ELEMENT, readFailed } from "./failure.ts"
import { pause } from "./pause.ts"
import { act, flag, roleIn } from "./perform.ts"
import { roleOf } from "./roles.ts"
import { readSeen } from "./seen.ts"
import { asElements, asText, type Element } from "./value.ts"

/** How long a menu may take to open, and how often to look. */
const OPEN_MS = 1500
const LOOK_MS = 20
const MOST_LEVELS = 5
const MOST_NODES = 2048

const NOT_DELIVERED: Performed = { method: "none", delivery: "not_delivered" }
const OPTION_ROLES: ReadonlySet<string> = new Set([
  "cell",
  "menuitem",
  "option",
  "radiobutton",
  "row",
  "statictext",
  "tab",
  "treeitem",
])

interface Option {
  readonly element: Element
  readonly name: string
}

interface Choice {
  readonly options: readonly Option[]
  /** Why one that may be an option could not be read. */
  readonly unread?: Failure
}

/** Chooses by name: an item of a pop-up's menu, an option of a list, a tab, a radio button. */
export async function chooseOption(ax: Ax, element: Element, value: string): Promise<Performed> {
  const role = roleIn(ax, element)
  if (role === "combobox" && ax.canSet(element, "AXValue")) {
    using text = newString(value)
    return { method: "AXValue", delivery: deliveryOf(ax.set(element, "AXValue", text.ref)) }
  }
  if (role === "combobox" || role === "menubutton") return chooseInMenu(ax, element, value)
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

/** The menu has to be open for its items to be there. It is closed again when none of them fits. */
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
    return act(ax, item, ["AXPress", "AXPick"]) ?? NOT_DELIVERED
  } catch (error) {
    act(ax, menu, ["AXCancel"])
    throw error
  }
}

function menuOf(ax: Ax, element: Element): Element | undefined {
  return asElements(ax.get(element, "AXChildren")).find((child) => ax.get(child, "AXRole") === "AXMenu")
}

/** The one option of that name, by the same names that a snapshot shows. */
function only({ options, unread }: Choice, value: string): Option {
  const fitting = options.filter(({ name }) => name === value)
  const [first, ...others] = fitting
  if (first && others.length === 0) return first
  // It may be the one that did not answer.
  if (!first && unread) throw readFailed("An option", unread.code)
  const names = options.map(({ name }) => name)
  throw new AppError(
    first ? "AMBIGUOUS_TARGET" : "ELEMENT_NOT_FOUND",
    first ? `${fitting.length} options are named '${value}'` : `There is no option '${value}'`,
    {
      suggestion: `Use one of: ${names.slice(0, 20).join(", ")}`,
      details: { candidates: names.slice(0, 50) },
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** What can be chosen below a container, level by level; what is inside an option is part of it. */
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
      const name = OPTION_ROLES.has(role) ? optionName(ax, child, asText(structure.AXTitle)) : undefined
      if (name) found.push({ element: child, name })
      else next.push(child)
    }
    level = next
  }
  return { options: found, unread }
}

function optionName(ax: Ax, option: Element, title: string | undefined): string | undefined {
  const seen = title ? undefined : readSeen(ax, option)
  return title || seen?.name || seen?.value
}

/** By the container's own list of what is selected. */
function within(ax: Ax, container: Element, option: Element): Performed | undefined {
  const name = ["AXSelectedRows", "AXSelectedChildren"].find((one) => ax.canSet(container, one))
  if (!name) return undefined
  using chosen = newArray([option.ref])
  return { method: name, delivery: deliveryOf(ax.set(container, name, chosen.ref)) }
}
