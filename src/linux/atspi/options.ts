import { ALREADY, NOT_DELIVERED, type Performed } from "../../adapter.ts"
import { chooseByName } from "../../match.ts"
import { pause } from "../../until.ts"
import { method } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { fieldOf, setText } from "./editing.ts"
import { type Element, unlessRefused } from "./element.ts"
import { cleanName } from "./names.ts"
import { MENU_ROLES, ROLE } from "./roles.ts"
import type { Sender } from "./send.ts"

/** Chooses an option of a combobox, list or tab list by its name. */

const MOST_LEVELS = 5
const MOST_NODES = 2048

const OPTION_ROLES: ReadonlySet<number> = new Set<number>([
  ROLE.LIST_ITEM,
  ROLE.MENU_ITEM,
  ROLE.CHECK_MENU_ITEM,
  ROLE.RADIO_MENU_ITEM,
  ROLE.PAGE_TAB,
  ROLE.RADIO_BUTTON,
  ROLE.TABLE_CELL,
  ROLE.TREE_ITEM,
])

interface Option {
  readonly ref: Ref
  readonly role: number
  readonly name: string
  /** Among the children of its parent, which is how Selection and Table count. */
  readonly index: number
  readonly parent: Ref
}

export async function chooseOption(to: Sender, element: Element, value: string): Promise<Performed> {
  const { atspi } = to
  const options = await optionsOf(atspi, element.ref)
  if (options.length === 0) return NOT_DELIVERED
  const option = chooseByName(options, value)
  const isCombo = (await atspi.role(element.ref)) === ROLE.COMBO_BOX
  if (!isCombo && has(await atspi.states(option.ref), STATE.SELECTED)) return ALREADY
  if (isCombo && to.traits.comboSelectionIsIgnored) return NOT_DELIVERED
  const isTextKept = isCombo && to.traits.fieldListSelectionIsIgnored && option.role === ROLE.LIST_ITEM
  const field = isTextKept ? await fieldOf(to, element.ref) : undefined
  if (field) return setText(to, field, option.name)
  const performed = await choose(to, element.ref, option)
  const isOpen = performed.delivery === "delivered_unverified"
  // The core reads the value of a combo box itself.
  return isOpen && !isCombo && (await isSelectedSoon(atspi, option.ref))
    ? { ...performed, delivery: "delivered_verified" }
    : performed
}

/** Selects a child through the parent that holds the selection, as a click on a tab does. */
export async function selectChild(to: Sender, holder: Ref, child: Ref): Promise<Performed> {
  if (!(await to.can(holder, INTERFACE.Selection))) return NOT_DELIVERED
  const index = (await to.atspi.children(holder)).findIndex((one) => refKey(one) === refKey(child))
  return index < 0 ? NOT_DELIVERED : select(to, holder, index)
}

async function choose(to: Sender, element: Ref, option: Option): Promise<Performed> {
  const holder = to.traits.selectionIsIgnored ? undefined : await selectionHolder(to, element, option)
  const selected = holder ? await select(to, holder, option.index) : NOT_DELIVERED
  if (selected.delivery !== "not_delivered") return selected
  if (await to.can(option.parent, INTERFACE.Table)) {
    const how = "Table.AddRowSelection"
    return to.request(option.parent, how, method(`org.a11y.atspi.${how}`, "i", [option.index]))
  }
  return to.act(option.ref, ["select", "press", "click", "activate", "dodefault"])
}

function select(to: Sender, holder: Ref, index: number): Promise<Performed> {
  const how = "Selection.SelectChild"
  return to.request(holder, how, method(`org.a11y.atspi.${how}`, "i", [index]))
}

const SELECT_MS = 1000
const LOOK_AGAIN_MS = 20

async function isSelectedSoon(atspi: Atspi, ref: Ref): Promise<boolean> {
  const deadline = atspi.deadline.slice(SELECT_MS)
  for (;;) {
    const states = await unlessRefused(atspi.states(ref))
    if (states !== undefined && has(states, STATE.SELECTED)) return true
    if (states === undefined || deadline.expired) return false
    await pause(LOOK_AGAIN_MS, deadline)
  }
}

/** A GTK combobox holds the selection of the menu inside it; other parents hold that of their own children. */
async function selectionHolder(to: Sender, element: Ref, option: Option): Promise<Ref | undefined> {
  const [isHolder, role] = await Promise.all([
    to.can(option.parent, INTERFACE.Selection),
    to.atspi.role(option.parent),
  ])
  if (isHolder && !MENU_ROLES.has(role)) return option.parent
  return (await to.can(element, INTERFACE.Selection)) ? element : undefined
}

/** The options of the first level that has any, not those inside other options. */
async function optionsOf(atspi: Atspi, root: Ref): Promise<readonly Option[]> {
  const seen = new Set<string>()
  let level: readonly Ref[] = [root]
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0 && seen.size < MOST_NODES; depth++) {
    const parts = (await Promise.all(level.map((parent) => partsOf(atspi, parent)))).flat()
    const fresh = parts.filter(({ ref }) => !seen.has(refKey(ref)))
    for (const { ref } of fresh) seen.add(refKey(ref))
    const options = fresh.filter(({ role, name }) => OPTION_ROLES.has(role) && name)
    if (options.length > 0) return options
    level = fresh.map(({ ref }) => ref)
  }
  return []
}

async function partsOf(atspi: Atspi, parent: Ref): Promise<Option[]> {
  const children = await childrenOf(atspi, parent)
  return Promise.all(
    children.map(async (ref, index) => {
      const [role, name] = await Promise.all([unlessRefused(atspi.role(ref)), unlessRefused(atspi.name(ref))])
      return { ref, index, parent, role: role ?? ROLE.INVALID, name: cleanName(name ?? "") ?? "" }
    }),
  )
}

/** Containers that create children on demand may report billions of them. */
async function childrenOf(atspi: Atspi, ref: Ref): Promise<readonly Ref[]> {
  const count = (await unlessRefused(atspi.childCount(ref))) ?? 0
  return count > 0 && count <= MOST_NODES ? ((await unlessRefused(atspi.children(ref))) ?? []) : []
}
