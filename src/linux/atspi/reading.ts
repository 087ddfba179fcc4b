import type { TreeOptions } from "../../adapter.ts"
import { hasTrait, type Rect } from "../../node.ts"
import { INTERFACE } from "./atspi.ts"
import { isCopyOfCell } from "./capabilities.ts"
import type { DateField } from "./dates.ts"
import type { Element, Origin } from "./element.ts"
import type { Facts } from "./facts.ts"
import { cleanName, isClassName, plainText } from "./names.ts"
import { type Kind, kindOf, ROLE } from "./roles.ts"
import type { Sight } from "./sight.ts"

/** One object while it is read: its facts, its kind, and the answers to further questions. */
export interface Reading {
  readonly element: Element
  readonly facts: Facts
  readonly kind: Kind
  readonly sight: Sight
  /** Its accessible name, if it has a real one. */
  readonly name: string | undefined
  /** By its role alone. */
  readonly isInteractive: boolean
  readonly options: Pick<TreeOptions, "bounds" | "interactiveOnly">
  /** Filled in as the answers come; see questions.ts. */
  readonly answers: Answers
}

/** The answers beyond the facts. Absent: not asked, or not answered. */
export interface Answers {
  /** The names of its actions. */
  offers?: readonly string[]
  value?: string
  /** The names of the objects that label it. */
  label?: string
  description?: string
  extents?: Rect
  /** The key binding of its first action. */
  binding?: string
  /** The description of its parent. */
  tooltip?: string
  text?: string
  /** The length of a value or text that was cut. */
  valueLength?: number
  attributes?: ReadonlyMap<string, string>
  date?: DateField
  /** True if its list shows. */
  isOpen?: boolean
  /** The name of its parent. */
  holder?: string
  /** The number of its children, if its facts do not have it. */
  parts?: number
}

export function readingOf(
  element: Element,
  facts: Facts,
  kind: Kind,
  sight: Sight,
  options: Reading["options"],
): Reading {
  const { description, extents } = facts
  return {
    element,
    facts,
    kind,
    sight,
    name: nameOf(element.origin, kind, facts),
    isInteractive: hasTrait(kind.role, "interactive"),
    options,
    answers: { description, extents },
  }
}

export function kindIn(facts: Facts, element: Element): Kind {
  const { role, states, interfaces, childCount, name } = facts
  const holdsSelection = (interfaces & INTERFACE.Selection) !== 0
  const { origin, parentRole } = element
  return kindOf(role, states, holdsSelection, parentRole, {
    traits: origin.traits,
    interfaces,
    childCount,
    name,
    isCopy: isCopyOfCell(element),
  })
}

/** The accessible name, unless the toolkit invented it. */
export function nameOf(origin: Origin, kind: Kind, facts: Pick<Facts, "name">): string | undefined {
  if (isGridCell(origin, kind, facts)) return undefined
  const isTold = kind.role === "tab" && origin.traits.tabsTellMemory
  const name = wordsOf(origin, isTold ? facts.name.replace(MEMORY, "") : facts.name)
  if (name === undefined || !origin.traits.namesFallBackToClass) return name
  const isMadeUp = kind.native === ROLE.FILLER || isClassName(name) || (kind.role === "tab" && name === "Tab")
  return isMadeUp ? undefined : name
}

/** `Shop - Memory usage - 64.4 MB`, in any language. */
const MEMORY = / - [^\d-]+ - [\d.,]+\s[KMG]B$/

/** A name or description as one line of plain text. */
export const wordsOf = ({ traits }: Origin, text: string): string | undefined =>
  cleanName(traits.textMayBeMarkup && text.includes("<") ? plainText(text) : text)

/** True for a cell whose name says only its column, e.g. "Size , ". Its text is its content. */
export function isGridCell({ traits }: Origin, { native }: Kind, { name }: Pick<Facts, "name">): boolean {
  return traits.gridCellsAreNamedByColumn === true && native === ROLE.TABLE_CELL && name.endsWith(" , ")
}
