import { type Action, ALREADY, NOT_DELIVERED, type Performed } from "../../action.ts"
import { AppError } from "../../errors.ts"
import { chooseByName, restChanged } from "../../match.ts"
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

export async function chooseOption(
  to: Sender,
  element: Element,
  { value, only = false }: Extract<Action, { kind: "select" }>,
): Promise<Performed> {
  const options = await optionsOf(to, element.ref)
  if (options.length === 0) return NOT_DELIVERED
  const option = chooseByName(options, value)
  const isCombo = (await to.atspi.role(element.ref)) === ROLE.COMBO_BOX
  const performed = isCombo
    ? await chooseInCombo(to, element, option)
    : await chooseInList(to, element, option, { options, only })
  return { ...performed, chosen: option.name }
}

/** The core reads the value of a combo box itself. */
async function chooseInCombo(to: Sender, element: Element, option: Option): Promise<Performed> {
  if (to.traits.comboSelectionIsIgnored) return NOT_DELIVERED
  const isTextKept = to.traits.fieldListSelectionIsIgnored && option.role === ROLE.LIST_ITEM
  const field = isTextKept ? await fieldOf(to, element.ref) : undefined
  return field ? setText(to, field, option.name) : choose(to, element.ref, option, false)
}

async function chooseInList(
  to: Sender,
  element: Element,
  option: Option,
  { options, only }: { readonly options: readonly Option[]; readonly only: boolean },
): Promise<Performed> {
  const { atspi } = to
  const takesSeveral = await isMulti(atspi, element.ref, option.parent)
  const mayTakeSeveral = takesSeveral || to.traits.listsLackMultiselectable === true
  const others = mayTakeSeveral ? options.filter((one) => one !== option) : []
  const rest = await selectedAmong(atspi, others)
  const isReplacing = only && rest.length > 0
  if (has(await atspi.states(option.ref), STATE.SELECTED) && !isReplacing) return ALREADY
  if (await isPalette(to, option.ref)) return NOT_DELIVERED
  // Selection and Table only add. The action of an option replaces.
  if (isReplacing && !to.traits.selectionIsIgnored && !(await clearSelection(to, element.ref, options)))
    return NOT_DELIVERED
  const performed = await choose(to, element.ref, option, rest.length > 0 && !only)
  if (performed.delivery !== "delivered_unverified" || !(await isSelectedSoon(atspi, option.ref)))
    return performed
  await requireRest(atspi, option, rest, {
    all: !isReplacing,
    none: isReplacing || !takesSeveral,
  })
  return { ...performed, delivery: "delivered_verified" }
}

/** Deselects all options, and waits until that is reported. False if that is not possible, and nothing was sent. */
async function clearSelection(to: Sender, element: Ref, options: readonly Option[]): Promise<boolean> {
  const holder = options[0] && (await selectionHolder(to, element, options[0]))
  const how = "Selection.ClearSelection"
  const sent = holder && (await to.request(holder, how, method(`org.a11y.atspi.${how}`)))
  if (!sent || sent.delivery === "not_delivered") return false
  // Chromium does not select an option that it still considers selected.
  const selected = await selectedWhen(to.atspi, options, ({ length }) => length === 0)
  if (selected.length > 0) throw stillSelected(namesOf(selected))
  return true
}

const stillSelected = (options: readonly string[]): AppError =>
  new AppError("ACTION_FAILED", "The other options could not be deselected", {
    suggestion: "Run 'snapshot' to see what is selected now",
    details: { kind: "selection", wanted: [], observed: options },
    disposition: { delivery: "delivered_unverified", retry: "safe" },
  })

async function isMulti(atspi: Atspi, ...holders: readonly Ref[]): Promise<boolean> {
  const states = await Promise.all(holders.map((holder) => atspi.states(holder)))
  return states.some((one) => has(one, STATE.MULTISELECTABLE))
}

async function selectedAmong(atspi: Atspi, options: readonly Option[]): Promise<readonly Option[]> {
  const states = await Promise.all(options.map(({ ref }) => unlessRefused(atspi.states(ref))))
  return options.filter((_, i) => has(states[i] ?? 0, STATE.SELECTED))
}

/** True for an option of a list that marks it without notifying its app. */
async function isPalette(to: Sender, option: Ref): Promise<boolean> {
  if (!to.traits.paletteSelectionIsUnheard) return false
  return !(await to.can(option, INTERFACE.Text))
}

/**
 * Throws unless all options that were selected before still are (if `all` is right), or none is (if `none` is right).
 */
async function requireRest(
  atspi: Atspi,
  option: Option,
  rest: readonly Option[],
  right: { readonly all: boolean; readonly none: boolean },
): Promise<void> {
  const isRight = ({ length }: readonly Option[]): boolean =>
    (right.all && length === rest.length) || (right.none && length === 0)
  const selected = await selectedWhen(atspi, rest, isRight)
  if (isRight(selected)) return
  throw restChanged(option.name, right.all ? namesOf(rest) : [], namesOf(selected))
}

const namesOf = (options: readonly Option[]): readonly string[] => options.map(({ name }) => name)

/** The selected options among these, as soon as they are right, or after a while. */
async function selectedWhen(
  atspi: Atspi,
  options: readonly Option[],
  isRight: (selected: readonly Option[]) => boolean,
): Promise<readonly Option[]> {
  const deadline = atspi.deadline.slice(SELECT_MS)
  for (;;) {
    const selected = await selectedAmong(atspi, options)
    if (isRight(selected) || deadline.expired) return selected
    await pause(LOOK_AGAIN_MS, deadline)
  }
}

/** Selects a child through the parent that holds the selection, as a click on a tab does. */
export async function selectChild(to: Sender, holder: Ref, child: Ref): Promise<Performed> {
  if (!(await to.can(holder, INTERFACE.Selection))) return NOT_DELIVERED
  const index = (await to.atspi.children(holder)).findIndex((one) => refKey(one) === refKey(child))
  return index < 0 ? NOT_DELIVERED : select(to, holder, index)
}

/** `isAdding`: other options must stay selected, so a click is not an alternative. */
async function choose(to: Sender, element: Ref, option: Option, isAdding: boolean): Promise<Performed> {
  const holder = to.traits.selectionIsIgnored ? undefined : await selectionHolder(to, element, option)
  const selected = holder ? await select(to, holder, option.index) : NOT_DELIVERED
  if (selected.delivery !== "not_delivered") return selected
  if (await to.can(option.parent, INTERFACE.Table)) {
    const how = "Table.AddRowSelection"
    return to.request(option.parent, how, method(`org.a11y.atspi.${how}`, "i", [option.index]))
  }
  if (isAdding) return NOT_DELIVERED
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
  if (to.traits.comboChooses && (await to.can(element, INTERFACE.Selection))) return element
  const [isHolder, role] = await Promise.all([
    to.can(option.parent, INTERFACE.Selection),
    to.atspi.role(option.parent),
  ])
  if (isHolder && !MENU_ROLES.has(role)) return option.parent
  return (await to.can(element, INTERFACE.Selection)) ? element : undefined
}

/** The options of the first level that has any, not those inside other options. */
async function optionsOf({ atspi, traits }: Sender, root: Ref): Promise<readonly Option[]> {
  const isOption = (role: number): boolean =>
    OPTION_ROLES.has(role) || (traits.optionsAreLabels === true && role === ROLE.LABEL)
  const seen = new Set<string>()
  let level: readonly Ref[] = [root]
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0 && seen.size < MOST_NODES; depth++) {
    const parts = (await Promise.all(level.map((parent) => partsOf(atspi, parent)))).flat()
    const fresh = parts.filter(({ ref }) => !seen.has(refKey(ref)))
    for (const { ref } of fresh) seen.add(refKey(ref))
    const options = fresh.filter(({ role, name }) => isOption(role) && name)
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
