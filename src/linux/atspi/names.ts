import { hasTrait, type Role } from "../../node.ts"
import { cut, MAX_TEXT } from "../../shown-text.ts"
import { type Atspi, INTERFACE, type Interfaces, property, type Ref, readNumber } from "./atspi.ts"
import { has, STATE, type StateSet } from "./bits.ts"
import type { Facts } from "./facts.ts"
import { type Kind, ROLE } from "./roles.ts"

/** Cleans up texts of apps for agents: names, values, shortcuts, numbers. */

/** One line without control characters, of bounded length. undefined: nothing is left. */
export function cleanName(text: string): string | undefined {
  const line = cut(text)
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
  return line === "" ? undefined : line
}

/** A value keeps its line breaks, and may be empty. */
export function cleanValue(text: string): string {
  return cut(text).replaceAll(/[^\P{Cc}\n\t]/gu, "")
}

/** The length that is asked for: one more than is shown, to know that there is more. */
export const TEXT_LIMIT = MAX_TEXT + 1

/** True for the name of a widget's class, e.g. GtkBox. GTK 4 reports it for a widget without a name. */
export function isClassName(name: string): boolean {
  return /^(?:Adw|Bis|Gdk|Gsk|Gtk|Hdy|Panel|Vte|WebKit)[A-Z]\w*$/.test(name)
}

/** The accelerator in AT-SPI's "mnemonic;full path;accelerator", as a user would write it. */
export function shortcutOf(binding: string): string | undefined {
  const accelerator = binding.split(";")[2] ?? ""
  const keys = [...accelerator.matchAll(/<(\w+)>/g)].map(([, key = ""]) => MODIFIER_NAMES[key] ?? key)
  const last = accelerator.replaceAll(/<\w+>/g, "")
  if (last === "") return undefined
  return [...keys, last.length === 1 ? last.toUpperCase() : last].join("+")
}

const MODIFIER_NAMES: Readonly<Record<string, string>> = { Primary: "Ctrl", Control: "Ctrl", Ctl: "Ctrl" }

/** Numbers as a user would write them: without the noise of binary fractions, single or double. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "0"
  const isSingle = Math.fround(value) === value
  const short = isSingle ? [6, 7, 8].map((digits) => Number(value.toPrecision(digits))) : []
  return String(short.find((number) => Math.fround(number) === value) ?? Number(value.toPrecision(12)))
}

/** The plain text of rich text by Qt's rules, as in many tool tips. Any other text stays as it is. */
export function plainText(text: string): string {
  const most = text.slice(0, MOST)
  if (!isRichText(most)) return text
  return most
    .replaceAll(/<!--[\s\S]*?-->|<(head|style|script|title)\b[^>]*?(?:\/>|>[\s\S]*?<\/\1\s*>)/gi, " ")
    .replaceAll(/<\/?([a-z][a-z\d]*)\b[^<>]*>|<![^<>]*>|<\?[^<>]*>/gi, (_, tag = "") =>
      INLINE.has(tag.toLowerCase()) ? "" : " ",
    )
    .replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, decode)
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** More than is ever shown. In a longer text the search for ends of tags would take long. */
const MOST = 10_000

/** Qt's own rule: the first thing on the first line that looks like a tag is one that Qt knows. */
function isRichText(text: string): boolean {
  const start = text.trimStart().replace(/^<\?xml[\s\S]*?\?>\s*/, "")
  if (/^<!doc/i.test(start)) return true
  const [, before = "", name = ""] = /^([^<\n]*)<\s*!?([a-z\d]+)(?:\s[^>]*|\/)?>/i.exec(start) ?? []
  return name !== "" && !before.includes("&lt;") && TAGS.has(name.toLowerCase())
}

function decode(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
}

/** Elements that do not end a word. */
const INLINE: ReadonlySet<string> = new Set(
  "a b big cite code dfn em font i kbd nobr qt s samp small span strong sub sup tt u var".split(" "),
)

/** The elements that Qt knows. */
const TAGS: ReadonlySet<string> = new Set([
  ...INLINE,
  ..."address blockquote body br caption center dd div dl dt h1 h2 h3 h4 h5 h6 head hr html img li link".split(
    " ",
  ),
  ..."meta ol p pre script style table tbody td tfoot th thead title tr ul".split(" "),
])

/** Reads an answer that may be missing (undefined). A walk tolerates more failures than a single read. */
export type Expect = <T>(read: Promise<T>) => Promise<T | undefined>

/** True for roles that may hold a text, a number or a choice. */
export const mayHaveValue = (role: Role): boolean =>
  role === "combobox" || hasTrait(role, "item") || holdsText(role) || holdsNumber(role)

/** True if the element holds a text, a number or a choice. A password field is never asked for it. */
export function hasValue({ native, role }: Kind, { interfaces, states }: Facts): boolean {
  if (native === ROLE.PASSWORD_TEXT) return false
  return (
    role === "combobox" ||
    isSheetCell(native, states, interfaces) ||
    (holdsText(role) && (interfaces & INTERFACE.Text) !== 0) ||
    (holdsNumber(role) && (interfaces & INTERFACE.Value) !== 0)
  )
}

/** The value of an element: its text, number or choice. */
export async function readValue(
  atspi: Atspi,
  ref: Ref,
  kind: Kind,
  facts: Facts,
  expect: Expect,
  prefersNumber = false,
): Promise<string | undefined> {
  if (!hasValue(kind, facts)) return undefined
  if (kind.role === "combobox") return readCombo(atspi, ref, facts, expect)
  const can = (bit: number): boolean => (facts.interfaces & bit) !== 0
  const isCell = isSheetCell(kind.native, facts.states, facts.interfaces)
  const isNumber = can(INTERFACE.Value) && holdsNumber(kind.role)
  // The text inside a spin button that a page has built need not be its value.
  const isBuilt = isNumber && can(INTERFACE.Text) && !has(facts.states, STATE.EDITABLE) && prefersNumber
  const number = isBuilt ? await readBuilt(atspi, ref, expect) : undefined
  if (number !== undefined) return formatNumber(number)
  const isText = can(INTERFACE.Text) && (isCell || holdsText(kind.role))
  const text = isText ? await expect(readText(atspi, ref)) : undefined
  // A spin button that a page has built has a text that is always empty.
  const isEmptyField = has(facts.states, STATE.EDITABLE)
  if (text !== undefined && (text !== "" || kind.role !== "incrementor" || isEmptyField)) return text
  if (!isNumber) return undefined
  const value = await expect(atspi.currentValue(ref))
  return value === undefined ? undefined : formatNumber(value)
}

/** undefined for an element without a range: its number means nothing either. */
async function readBuilt(atspi: Atspi, ref: Ref, expect: Expect): Promise<number | undefined> {
  const [now, most] = await Promise.all([
    expect(atspi.currentValue(ref)),
    expect(atspi.call(ref, property("Value", "MaximumValue")).then(readNumber)),
  ])
  return Number.isFinite(now) && most ? now : undefined
}

/**
 * True for a spreadsheet cell, which is named by its address. A table cell is named by its text. A locked cell is not
 * EDITABLE, but has a Value as well.
 */
function isSheetCell(native: number, states: StateSet, interfaces: Interfaces): boolean {
  if (native !== ROLE.TABLE_CELL || !(interfaces & INTERFACE.Text)) return false
  return has(states, STATE.EDITABLE) || (interfaces & INTERFACE.Value) !== 0
}

const holdsText = (role: Role): boolean => hasTrait(role, "typable") || role === "datefield"
/** A scroll bar has a number, too, but it is useless to an agent. */
const holdsNumber = (role: Role): boolean => hasTrait(role, "number") && role !== "scrollbar"

/** undefined: the text consists of placeholders for embedded objects, which are read separately. */
export async function readText(atspi: Atspi, ref: Ref): Promise<string | undefined> {
  const count = await atspi.characterCount(ref)
  if (count <= 0) return ""
  const text = cleanValue(await atspi.text(ref, 0, Math.min(count, TEXT_LIMIT)))
  return /^\ufffc+$/.test(text) ? undefined : text.replaceAll("\ufffc", "")
}

/** The text of an editable combo box, else its choice, else the text that it shows. */
async function readCombo(atspi: Atspi, ref: Ref, facts: Facts, expect: Expect): Promise<string | undefined> {
  const hasText = (facts.interfaces & INTERFACE.Text) !== 0
  if (hasText && has(facts.states, STATE.EDITABLE)) return expect(readText(atspi, ref))
  const chosen = await readChoice(atspi, ref, facts, expect)
  if (chosen !== undefined || !hasText) return chosen
  return (await expect(readText(atspi, ref))) || undefined
}

/** The choice of a combo box, by its own selection or that of the hidden menu below it. */
async function readChoice(atspi: Atspi, ref: Ref, facts: Facts, expect: Expect): Promise<string | undefined> {
  if (facts.interfaces & INTERFACE.Selection) return selectedIn(atspi, ref, expect)
  const first = await expect(atspi.childAt(ref, 0))
  const [role, interfaces = 0] = first
    ? await Promise.all([expect(atspi.role(first)), expect(atspi.interfaces(first))])
    : []
  if (first && interfaces & INTERFACE.Selection) return selectedIn(atspi, first, expect)
  // LibreOffice has the list after an empty text.
  const second = role === ROLE.TEXT ? await expect(atspi.childAt(ref, 1)) : undefined
  if (second && ((await expect(atspi.interfaces(second))) ?? 0) & INTERFACE.Selection)
    return selectedIn(atspi, second, expect)
  // GTK 4 has the choice only in the button that opens the list.
  return first && role === ROLE.PUSH_BUTTON ? shownIn(atspi, first, expect, 6) : undefined
}

async function selectedIn(atspi: Atspi, holder: Ref, expect: Expect): Promise<string | undefined> {
  const chosen = await expect(atspi.selectedChild(holder, 0))
  return chosen && cleanName((await expect(atspi.name(chosen))) ?? "")
}

/** The first label below that has room. The label of an empty choice has none. */
async function shownIn(atspi: Atspi, ref: Ref, expect: Expect, levels: number): Promise<string | undefined> {
  for (const child of ((await expect(atspi.children(ref))) ?? []).slice(0, MOST_PARTS)) {
    const [role, extents] = await Promise.all([
      expect(atspi.role(child)),
      expect(atspi.extents(child, "window")),
    ])
    if (!extents || extents.width === 0) continue
    if (role === ROLE.LABEL) return cleanName((await expect(atspi.name(child))) ?? "")
    const below = levels > 1 ? await shownIn(atspi, child, expect, levels - 1) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

const MOST_PARTS = 4
