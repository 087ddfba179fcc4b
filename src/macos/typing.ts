import { NOT_DELIVERED, type Performed } from "../action.ts"
import { pause } from "../until.ts"
import { isInPage, isInside } from "./ancestors.ts"
import { bundleOf } from "./apps.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, MAX_TEXT, newString } from "./cf.ts"
import { CANNOT_COMPLETE, Failure } from "./failure.ts"
import { isSecure } from "./roles.ts"
import { sentBy } from "./sending.ts"
import { asFlag, asText, type Element, newRange } from "./value.ts"

/** Terminals by bundle id, in lower case. They offer AXSelectedText and drop what is written to it. */
const TERMINALS: ReadonlySet<string> = new Set([
  "co.zeit.hyper",
  "com.apple.terminal",
  "com.github.wez.wezterm",
  "com.googlecode.iterm2",
  "com.mitchellh.ghostty",
  "dev.warp.warp",
  "dev.warp.warp-stable",
  "net.kovidgoyal.kitty",
  "org.alacritty",
  "org.tabby",
])

/** Subrole of the group that contains everything of an app made for iOS (Catalyst). */
const CATALYST = "iOSContentGroup"

/** How long a native field may take to show what was written, and the time between two looks. */
const SHOWING_MS = 250
const LOOK_MS = 20

/**
 * True if text reaches the element only as keys. Terminals and Catalyst apps drop written text and answer with success.
 * A web page gets no event for text that is written into its field.
 */
export function takesKeysOnly(ax: Ax, element: Element): boolean {
  const id = bundleOf(ax.pid(element))?.id
  if (id !== undefined && TERMINALS.has(id.toLowerCase())) return true
  return isInPage(ax, element) !== false || isInside(ax, element, { AXSubrole: CATALYST }) !== false
}

/** Types at the caret of a native field. `not_delivered`: the field cannot be written, or provably got nothing. */
export async function typeInto(ax: Ax, element: Element, text: string): Promise<Performed> {
  if (takesKeysOnly(ax, element) || !ax.canSet(element, "AXSelectedText")) return NOT_DELIVERED
  placeCaret(ax, element)
  const before = textOf(ax, element)
  using value = newString(text)
  const code = ax.set(element, "AXSelectedText", value.ref)
  const sent = sentBy("AXSelectedText", code)
  // Text over the same text changes nothing. An app that did not answer may still take it.
  const isProof = before !== undefined && text !== "" && before.selected !== text && code !== CANNOT_COMPLETE
  return isProof && (await staysAs(ax, element, before)) ? NOT_DELIVERED : sent
}

/**
 * Gives a field of one line the focus: without it AppKit drops the text, since the field has no editor. With the focus
 * comes a selection of its whole text, so the caret goes to the end.
 */
function placeCaret(ax: Ax, element: Element): void {
  const read = ax.read(element, ["AXRole", "AXFocused", "AXNumberOfCharacters"])
  if (read instanceof Failure || read.AXRole === "AXTextArea") return
  if (asFlag(read.AXFocused) !== false || !ax.canSet(element, "AXFocused")) return
  ax.set(element, "AXFocused", cfBoolean(true))
  const { AXNumberOfCharacters: length } = read
  if (typeof length !== "number" || !ax.canSet(element, "AXSelectedTextRange")) return
  using end = newRange(length, 0)
  ax.set(element, "AXSelectedTextRange", end.ref)
}

interface Text {
  readonly value: string
  readonly length: number | undefined
  readonly selected: string | undefined
}

/** The whole text of the field. undefined: it is a secret, could not be read, or is too long to be read as a whole. */
function textOf(ax: Ax, element: Element): Text | undefined {
  const kind = ax.read(element, ["AXRole", "AXSubrole"])
  if (kind instanceof Failure || isSecure(asText(kind.AXRole), asText(kind.AXSubrole))) return undefined
  const read = ax.read(element, ["AXValue", "AXNumberOfCharacters", "AXSelectedText"])
  const value = read instanceof Failure ? undefined : asText(read.AXValue)
  if (read instanceof Failure || value === undefined || value.length >= MAX_TEXT) return undefined
  const { AXNumberOfCharacters: length } = read
  return {
    value,
    length: typeof length === "number" ? length : undefined,
    selected: asText(read.AXSelectedText),
  }
}

/** True if the field keeps its text for the time in which it would show another one. */
async function staysAs(ax: Ax, element: Element, before: Text): Promise<boolean> {
  const end = ax.deadline.slice(SHOWING_MS)
  for (;;) {
    const now = textOf(ax, element)
    if (!now || now.value !== before.value || now.length !== before.length) return false
    if (end.expired) return !ax.deadline.expired
    await pause(LOOK_MS, end)
  }
}
