/** Texts from applications, made fit for an agent. */

const MAX_TEXT = 2000

/** One line without control characters, of bounded length; undefined when nothing is left. */
export function cleanName(text: string): string | undefined {
  const line = cut(text)
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
  return line === "" ? undefined : line
}

/** A value keeps its lines and its emptiness. */
export function cleanValue(text: string): string {
  return cut(text).replaceAll(/[^\P{Cc}\n\t]/gu, "")
}

/** At most 2,000 characters, then an ellipsis. Never half a surrogate pair. */
function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text
  const end = (text.charCodeAt(MAX_TEXT - 1) & 0xfc00) === 0xd800 ? MAX_TEXT - 1 : MAX_TEXT
  return `${text.slice(0, end)}…`
}

/** How much of a text is asked for: one more than is shown, to know that there is more. */
export const TEXT_LIMIT = MAX_TEXT + 1

/** GTK 4 falls back to the name of the widget's class, which says nothing to a user. */
export function isClassName(name: string): boolean {
  return /^(?:Adw|Bis|Gdk|Gsk|Gtk|Hdy|Panel|Vte|WebKit)[A-Z]\w*$/.test(name)
}

/** The accelerator out of AT-SPI's "mnemonic;full path;accelerator", as a user would write it. */
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
