import type { Performed } from "../adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { type Atspi, INTERFACE, type Ref, refKey } from "./atspi.ts"
import { method } from "./dbus.ts"
import { type Element, unlessRefused } from "./element.ts"
import { cleanName } from "./names.ts"
import { accepted, act, can, send } from "./perform.ts"
import { MENU_ROLES, ROLE } from "./roles.ts"

/** Choosing an option of a combobox, list or tab list by its name. */

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
  readonly name: string
  /** Its place among the options of its parent, which is how Selection counts. */
  readonly index: number
  readonly parent: Ref
}

export async function chooseOption(atspi: Atspi, element: Element, value: string): Promise<Performed> {
  const options = await optionsOf(atspi, element.ref)
  if (options.length === 0) return { method: "none", delivery: "not_delivered" }
  const fitting = options.filter((option) => option.name === value)
  const [only, ...others] = fitting
  if (!only || others.length > 0) {
    throw new AppError(
      only ? "AMBIGUOUS_TARGET" : "ELEMENT_NOT_FOUND",
      only ? `${fitting.length} options are named '${value}'` : `There is no option '${value}'`,
      {
        suggestion: `Use one of: ${options.slice(0, 20).map((option) => option.name).join(", ")}`,
        details: { candidates: options.slice(0, 50).map((option) => option.name) },
        disposition: NOTHING_DELIVERED,
      },
    )
  }
  const holder = await selectionHolder(atspi, element.ref, only)
  if (holder) {
    const called = method("org.a11y.atspi.Selection.SelectChild", "i", [only.index])
    const performed = accepted(await send(atspi, holder, called), "Selection.SelectChild")
    if (performed.delivery !== "not_delivered") return performed
  }
  return act(atspi, only, ["select", "press", "click", "activate", "dodefault"])
}

/** A GTK combobox selects for the menu inside it; everything else selects its own children. */
async function selectionHolder(atspi: Atspi, element: Ref, option: Option): Promise<Ref | undefined> {
  if (await can(atspi, option.parent, INTERFACE.Selection)) {
    const inMenu = MENU_ROLES.has(await atspi.role(option.parent))
    if (!inMenu) return option.parent
  }
  return (await can(atspi, element, INTERFACE.Selection)) ? element : undefined
}

async function optionsOf(atspi: Atspi, root: Ref): Promise<Option[]> {
  const found: Option[] = []
  const seen = new Set<string>()
  let level: Ref[] = [root]
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0 && seen.size < MOST_NODES; depth++) {
    const below = await Promise.all(level.map(async (parent) => ({ parent, refs: await childrenOf(atspi, parent) })))
    level = []
    for (const { parent, refs } of below) {
      const facts = await Promise.all(
        refs.map(async (ref) => ({
          ref,
          role: await unlessRefused(atspi.role(ref)),
          name: cleanName((await unlessRefused(atspi.name(ref))) ?? ""),
        })),
      )
      for (const [index, { ref, role, name }] of facts.entries()) {
        if (role === undefined || seen.has(refKey(ref))) continue
        seen.add(refKey(ref))
        if (OPTION_ROLES.has(role) && name) found.push({ ref, name, index, parent })
        else level.push(ref)
      }
    }
    if (found.length > 0) return found
  }
  return found
}

/** Containers that make children up on demand may claim billions of them. */
async function childrenOf(atspi: Atspi, ref: Ref): Promise<Ref[]> {
  const count = (await unlessRefused(atspi.childCount(ref))) ?? 0
  return count > 0 && count <= MOST_NODES ? ((await unlessRefused(atspi.children(ref))) ?? []) : []
}
