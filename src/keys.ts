import { type Combo, MODIFIERS, type Modifier } from "./action.ts"
import { AppError } from "./errors.ts"
import { nearest } from "./nearest.ts"

/** Keys that have a name instead of a character. In `key-down shift`, a modifier is a key by itself. */
export const NAMED_KEYS = [
  "return",
  "escape",
  "tab",
  "space",
  "backspace",
  "forwarddelete",
  "home",
  "end",
  "pageup",
  "pagedown",
  "left",
  "right",
  "up",
  "down",
  ...Array.from({ length: 24 }, (_, i) => `f${i + 1}` as const),
  "insert",
  "menu",
  "printscreen",
  ...MODIFIERS,
] as const

export type NamedKey = (typeof NAMED_KEYS)[number]

export function isNamedKey(key: string): key is NamedKey {
  return NAMES.has(key)
}

export interface ComboOptions {
  /** Read `cmd` as `ctrl`; on Linux only. */
  readonly cmdAsCtrl?: boolean
  /** Also accept `shift` or `ctrl+alt` without a key. */
  readonly modifiersAlone?: boolean
}

/** Parses `ctrl+shift+s`, `return`, `+` or `ctrl++`: modifiers in any order and spelling, then one key. */
export function parseCombo(
  text: string,
  options: ComboOptions = {},
  platform: string = process.platform,
): Combo {
  const parts = splitCombo(text)
  const last = parts.pop() ?? ""
  const isModifier = MODIFIER_NAMES.has(last.toLowerCase())
  if (isModifier && !options.modifiersAlone) {
    throw invalid(
      text,
      `'${last}' is a modifier and needs a key after it`,
      `Try '${text}+a', or 'key-down ${text}'`,
    )
  }
  const swapped = options.cmdAsCtrl === true && platform === "linux"
  const resolve = (name: string) => {
    const modifier = parseModifier(text, name)
    return swapped && modifier === "cmd" ? "ctrl" : modifier
  }
  const given = parts.map(resolve)
  const key = isModifier ? resolve(last) : parseKey(text, last, platform)
  return { modifiers: MODIFIERS.filter((modifier) => given.includes(modifier) && modifier !== key), key }
}

/** Parses `ctrl,shift` or `ctrl+shift`: modifiers alone, in any order and spelling. */
export function parseModifiers(text: string): readonly Modifier[] {
  const names = text.split(/[,+]/).map((name) => name.trim())
  const given = names.map((name) => parseModifier(text, name))
  return MODIFIERS.filter((modifier) => given.includes(modifier))
}

/**
 * Parses several combos with blanks between them: `ctrl+a delete`. A blank next to the `+` of a combo does not end it.
 */
export function parseCombos(
  text: string,
  options: ComboOptions = {},
  platform: string = process.platform,
): readonly Combo[] {
  const words: string[] = []
  for (const word of text.trim().split(/\s+/)) {
    const before = words.at(-1)
    const joins = before !== undefined && (isOpen(before) || (word.startsWith("+") && isModifierName(before)))
    if (joins) words[words.length - 1] = before + word
    else words.push(word)
  }
  return words.map((word) => parseCombo(word, options, platform))
}

/** True for `ctrl+`: a key must follow. `+` and `ctrl++` end with the key of that name. */
const isOpen = (word: string): boolean => word.length > 1 && word.endsWith("+") && !word.endsWith("++")

const isModifierName = (word: string): boolean =>
  MODIFIER_NAMES.has(word.slice(word.lastIndexOf("+") + 1).toLowerCase())

/** The combo in the spelling of this file: `cmd+shift+q`. */
export function comboText(combo: Combo): string {
  return [...combo.modifiers, combo.key].join("+")
}

/** Throws POLICY_DENIED for a combo that would end the user's session. `app`: the app that would get it, if known. */
export function guardCombo(combo: Combo, app?: string, platform: string = process.platform): void {
  const found = findSessionEnd(combo, app, platform)
  if (!found) return
  throw new AppError("POLICY_DENIED", `'${comboText(combo)}' ${found.effect}`, {
    suggestion: `If that is what you want: agent-desktop press ${comboText(combo)} --force`,
    details: { combo: comboText(combo) },
  })
}

export interface SessionEnd {
  readonly combo: string
  readonly effect: string
  /** The only app in which the combo does that. Absent: every app. */
  readonly app?: string
}

export function findSessionEnd(
  combo: Combo,
  app?: string,
  platform: string = process.platform,
): SessionEnd | undefined {
  const text = comboText(combo)
  const ends = platform === "darwin" ? MACOS_SESSION_ENDS : LINUX_SESSION_ENDS
  return ends.find((end) => end.combo === text && (end.app === undefined || end.app === app?.toLowerCase()))
}

const LINUX_SESSION_ENDS: readonly SessionEnd[] = [
  { combo: "ctrl+alt+forwarddelete", effect: "ends the session or restarts the machine" },
  // Kills the X server if its configuration allows that.
  { combo: "ctrl+alt+backspace", effect: "ends the session or restarts the machine" },
  ...Array.from({ length: 12 }, (_, i) => ({
    combo: `ctrl+alt+f${i + 1}`,
    effect: "leaves the desktop for a console",
  })),
]

const MACOS_SESSION_ENDS: readonly SessionEnd[] = [
  { combo: "cmd+q", effect: "cannot be undone on Finder, the desktop itself", app: "finder" },
  { combo: "cmd+q", effect: "cannot be undone on Finder, the desktop itself", app: "com.apple.finder" },
  { combo: "cmd+shift+q", effect: "logs the user out" },
  { combo: "cmd+alt+shift+q", effect: "logs the user out at once" },
  { combo: "cmd+ctrl+q", effect: "locks the screen" },
]

/**
 * True for a combo that window managers and desktops usually take, so that it never reaches the app. A desktop may take
 * more.
 */
export function isGlobal({ modifiers, key }: Combo, platform: string = process.platform): boolean {
  const has = (modifier: Modifier): boolean => modifiers.includes(modifier)
  if (platform === "darwin")
    return (
      (has("cmd") && (key === "tab" || key === "space")) ||
      (has("cmd") && has("shift") && /^[3-6]$/.test(key)) ||
      (has("cmd") && has("alt") && (key === "escape" || key === "d")) ||
      (has("ctrl") && /^(up|down|left|right|space|f\d+)$/.test(key))
    )
  return (
    key === "printscreen" ||
    key === "cmd" ||
    has("cmd") ||
    (has("ctrl") && has("alt")) ||
    (has("alt") && /^(tab|escape|space|`|f\d+)$/.test(key))
  )
}

/** True if holding this key would turn a later key into a global combo. */
export const holdsGlobal = ({ modifiers, key }: Combo): boolean =>
  [...modifiers, key].some((one) => one === "cmd" || one === "alt" || one === "ctrl")

// A plus sign is a separator, unless a key is expected.
function splitCombo(text: string): string[] {
  const trimmed = text.trim()
  if (trimmed === "+") return ["+"]
  if (trimmed.endsWith("++")) return [...trimmed.slice(0, -2).split("+"), "+"].map((part) => part.trim())
  return trimmed.split("+").map((part) => part.trim())
}

function parseModifier(text: string, name: string): Modifier {
  const modifier = MODIFIER_NAMES.get(name.toLowerCase())
  if (modifier) return modifier
  if (name === "") throw invalid(text, "a name is missing beside '+'", "Write it like 'ctrl+shift+s'")
  const meant = nearest(name, MODIFIER_NAMES.keys())
  const why = isKey(name)
    ? `'${name}' is not a modifier; only the last name is a key`
    : `'${name}' is not a modifier`
  throw invalid(text, why, meant ? `Did you mean '${meant}'?` : "Modifiers are cmd, ctrl, alt and shift")
}

function parseKey(text: string, name: string, platform: string): string {
  const lower = name.toLowerCase()
  // The key that has this name on the platform's keyboard.
  if (lower === "delete") return platform === "darwin" ? "backspace" : "forwarddelete"
  if (NAMES.has(lower)) return lower
  const synonym = SYNONYMS.get(lower)
  if (synonym) return synonym
  if (isCharacter(name)) return lower.length === name.length ? lower : name
  if (name === "") throw invalid(text, "a key is missing", "Write it like 'ctrl+s' or 'return'")
  const meant = nearest(name, [...NAMES, "delete", ...SYNONYMS.keys()])
  throw invalid(
    text,
    `there is no key '${name}'`,
    meant
      ? `Did you mean '${meant}'?`
      : "Keys are single characters, names like return, tab, left, f5; 'type' enters text",
  )
}

function isKey(name: string): boolean {
  const lower = name.toLowerCase()
  return lower === "delete" || NAMES.has(lower) || SYNONYMS.has(lower) || isCharacter(name)
}

// A key can produce a visible character only if it is a single code point.
function isCharacter(name: string): boolean {
  return [...name].length === 1 && !/[\p{C}\p{Z}]/u.test(name)
}

function invalid(text: string, why: string, suggestion: string): AppError {
  return new AppError("INVALID_ARGS", `'${text}' is not a key combination: ${why}`, {
    suggestion,
    details: { argument: "combo" },
  })
}

const NAMES: ReadonlySet<string> = new Set(NAMED_KEYS)

const MODIFIER_NAMES: ReadonlyMap<string, Modifier> = new Map([
  ["cmd", "cmd"],
  ["command", "cmd"],
  ["meta", "cmd"],
  ["super", "cmd"],
  ["win", "cmd"],
  ["ctrl", "ctrl"],
  ["control", "ctrl"],
  ["alt", "alt"],
  ["option", "alt"],
  ["opt", "alt"],
  ["shift", "shift"],
])

const SYNONYMS: ReadonlyMap<string, NamedKey> = new Map([
  ["enter", "return"],
  ["esc", "escape"],
  ["del", "forwarddelete"],
  ["page_up", "pageup"],
  ["pgup", "pageup"],
  ["page_down", "pagedown"],
  ["pgdn", "pagedown"],
  ["ins", "insert"],
  ["print", "printscreen"],
  ["arrowleft", "left"],
  ["arrowright", "right"],
  ["arrowup", "up"],
  ["arrowdown", "down"],
])

/** True for a key that types a character. A password may be typed key by key. */
export function typesCharacter(combo: string): boolean {
  const key = combo.endsWith("+") ? "+" : (combo.split("+").at(-1) ?? "")
  const modifiers = combo.slice(0, combo.length - key.length).toLowerCase()
  return [...key].length === 1 && /^(shift\+)*$/.test(modifiers)
}
