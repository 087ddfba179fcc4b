import { type Atspi, INTERFACE, type Interfaces, type Ref } from "./atspi.ts"
import type { Facts } from "./facts.ts"
import { cleanName, cleanValue, formatNumber, TEXT_LIMIT } from "./names.ts"
import { type Kind, ROLE } from "./roles.ts"
import { has, STATE, type StateSet } from "./states.ts"

/** Waits for an answer that may be missing; a walk and a single read differ in what they forgive. */
export type Expect = <T>(read: Promise<T>) => Promise<T | undefined>

/** Whether it holds a text, a number or a choice. A password field is not even asked. */
export function hasValue({ native, role }: Kind, { interfaces, states }: Facts): boolean {
  if (native === ROLE.PASSWORD_TEXT) return false
  return (
    role === "combobox" ||
    isSheetCell(native, states, interfaces) ||
    (TEXT_ROLES.has(role) && (interfaces & INTERFACE.Text) !== 0) ||
    (NUMBER_ROLES.has(role) && (interfaces & INTERFACE.Value) !== 0)
  )
}

/** What an element holds: its text, its number, its choice. */
export async function readValue(
  atspi: Atspi,
  ref: Ref,
  kind: Kind,
  facts: Facts,
  expect: Expect,
): Promise<string | undefined> {
  if (!hasValue(kind, facts)) return undefined
  if (kind.role === "combobox") return readCombo(atspi, ref, facts, expect)
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  const isCell = isSheetCell(kind.native, facts.states, facts.interfaces)
  const isText = can(INTERFACE.Text) && (isCell || TEXT_ROLES.has(kind.role))
  const text = isText ? await expect(readText(atspi, ref)) : undefined
  // A spin button of a page has a text that is always empty.
  if (text !== undefined && (text !== "" || kind.role !== "incrementor")) return text
  if (!can(INTERFACE.Value) || !NUMBER_ROLES.has(kind.role)) return undefined
  const value = await expect(atspi.currentValue(ref))
  return value === undefined ? undefined : formatNumber(value)
}

/** The cell of a spreadsheet is named by its place; a table's cell is named by its text, and holds no more. */
function isSheetCell(native: number, states: StateSet, interfaces: Interfaces): boolean {
  return native === ROLE.TABLE_CELL && has(states, STATE.EDITABLE) && (interfaces & INTERFACE.Text) !== 0
}

const TEXT_ROLES: ReadonlySet<string> = new Set(["textfield", "incrementor", "datefield", "terminal"])
const NUMBER_ROLES: ReadonlySet<string> = new Set(["slider", "incrementor", "progressbar", "levelindicator"])

/** undefined when all of the text stands for objects in it, which speak for themselves. */
export async function readText(atspi: Atspi, ref: Ref): Promise<string | undefined> {
  const count = await atspi.characterCount(ref)
  if (count <= 0) return ""
  const text = cleanValue(await atspi.text(ref, 0, Math.min(count, TEXT_LIMIT)))
  return /^\ufffc+$/.test(text) ? undefined : text.replaceAll("\ufffc", "")
}

/** What is typed into it, or chosen, or else what it shows. */
async function readCombo(atspi: Atspi, ref: Ref, facts: Facts, expect: Expect): Promise<string | undefined> {
  const hasText = (facts.interfaces & INTERFACE.Text) !== 0
  if (hasText && has(facts.states, STATE.EDITABLE)) return expect(readText(atspi, ref))
  const chosen = await readChoice(atspi, ref, facts, expect)
  if (chosen !== undefined || !hasText) return chosen
  return (await expect(readText(atspi, ref))) || undefined
}

/** What a combo box has chosen, by itself or by the hidden menu below it. */
async function readChoice(atspi: Atspi, ref: Ref, facts: Facts, expect: Expect): Promise<string | undefined> {
  if (facts.interfaces & INTERFACE.Selection) return selectedIn(atspi, ref, expect)
  const first = await expect(atspi.childAt(ref, 0))
  const [role, interfaces = 0] = first
    ? await Promise.all([expect(atspi.role(first)), expect(atspi.interfaces(first))])
    : []
  if (first && interfaces & INTERFACE.Selection) return selectedIn(atspi, first, expect)
  // LibreOffice has the list behind a text that says nothing.
  const second = role === ROLE.TEXT ? await expect(atspi.childAt(ref, 1)) : undefined
  if (second && ((await expect(atspi.interfaces(second))) ?? 0) & INTERFACE.Selection)
    return selectedIn(atspi, second, expect)
  // GTK 4 shows what is chosen in the button that opens the list, and says it nowhere else.
  return first && role === ROLE.PUSH_BUTTON ? shownIn(atspi, first, expect, 6) : undefined
}

async function selectedIn(atspi: Atspi, holder: Ref, expect: Expect): Promise<string | undefined> {
  const chosen = await expect(atspi.selectedChild(holder, 0))
  return chosen && cleanName((await expect(atspi.name(chosen))) ?? "")
}

/** The first label below that has any room: an empty choice keeps one of its own. */
async function shownIn(atspi: Atspi, ref: Ref, expect: Expect, levels: number): Promise<string | undefined> {
  for (const child of ((await expect(atspi.children(ref))) ?? []).slice(0, MOST_PARTS)) {
    const [role, extents] = await Promise.all([
      expect(atspi.role(child)),
      expect(atspi.extents(child, "GTK")),
    ])
    if (!extents || extents.width === 0) continue
    if (role === ROLE.LABEL) return cleanName((await expect(atspi.name(child))) ?? "")
    const below = levels > 1 ? await shownIn(atspi, child, expect, levels - 1) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

const MOST_PARTS = 4
