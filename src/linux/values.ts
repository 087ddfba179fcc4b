import { type Atspi, INTERFACE, type Ref } from "./atspi.ts"
import type { Facts } from "./facts.ts"
import { cleanName, cleanValue, formatNumber, TEXT_LIMIT } from "./names.ts"
import { type Kind, ROLE } from "./roles.ts"

/** Waits for an answer that may be missing; a walk and a single read differ in what they forgive. */
export type Expect = <T>(read: Promise<T>) => Promise<T | undefined>

/** What an element holds: its text, its number, its choice. Never of a password field: it is not even asked. */
export async function readValue(
  atspi: Atspi,
  ref: Ref,
  kind: Kind,
  facts: Facts,
  expect: Expect,
): Promise<string | undefined> {
  if (kind.native === ROLE.PASSWORD_TEXT) return undefined
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  if (kind.role === "combobox") return readChoice(atspi, ref, facts, expect)
  if (can(INTERFACE.Text) && TEXT_ROLES.has(kind.role)) return expect(readText(atspi, ref))
  if (can(INTERFACE.Value) && NUMBER_ROLES.has(kind.role)) {
    const value = await expect(atspi.currentValue(ref))
    return value === undefined ? undefined : formatNumber(value)
  }
  return undefined
}

const TEXT_ROLES: ReadonlySet<string> = new Set(["textfield", "incrementor", "datefield", "terminal"])
const NUMBER_ROLES: ReadonlySet<string> = new Set(["slider", "incrementor", "progressbar", "levelindicator"])

async function readText(atspi: Atspi, ref: Ref): Promise<string> {
  const count = await atspi.characterCount(ref)
  return count <= 0 ? "" : cleanValue(await atspi.text(ref, 0, Math.min(count, TEXT_LIMIT)))
}

/** What a combo box has chosen, by itself or by the hidden menu below it. */
async function readChoice(atspi: Atspi, ref: Ref, facts: Facts, expect: Expect): Promise<string | undefined> {
  const holder = facts.interfaces & INTERFACE.Selection ? ref : await expect(findHolder(atspi, ref))
  const chosen = holder && (await expect(atspi.selectedChild(holder, 0)))
  return chosen && cleanName((await expect(atspi.name(chosen))) ?? "")
}

async function findHolder(atspi: Atspi, ref: Ref): Promise<Ref | undefined> {
  const first = await atspi.childAt(ref, 0)
  return first && (await atspi.interfaces(first)) & INTERFACE.Selection ? first : undefined
}
