import { coreFoundation } from "../../ffi/core-foundation.ts"
import { NOT_DELIVERED, type Performed } from "../action.ts"
import type { NoText, TextAccess, TextRange, TextRun } from "../content/text.ts"
import { AppError } from "../errors.ts"
import type { Ax } from "./ax.ts"
import { colorOf, entryOf, kindOf, MAX_TEXT } from "./cf.ts"
import { Failure, isUnread, readFailed, wordFor } from "./failure.ts"
import { set } from "./sending.ts"
import { asFlag, asText, Element, newRange, Stretch, type Value } from "./value.ts"

/** The text of an element by characters. Offsets count UTF-16 units, as Apple's ranges do. */

export function openText(ax: Ax, element: Element): TextAccess | NoText {
  const length = ax.must(element, "AXNumberOfCharacters")
  if (typeof length !== "number") return { missing: "AXNumberOfCharacters" }
  return {
    length,
    unit: "utf-16",
    read: async (range) => readText(ax, element, range),
    caret: async () => selectionOf(ax, element)?.location,
    selection: async () => {
      const { location = 0, length = 0 } = selectionOf(ax, element) ?? {}
      return length > 0 ? { start: location, end: location + length } : undefined
    },
    runs: async (range, most) => runsOf(ax, element, range, most),
  }
}

/** Selects a part of the text, or places the caret if the range is empty. */
export function selectText(ax: Ax, element: Element, { start, end }: TextRange): Performed {
  if (!ax.canSet(element, "AXSelectedTextRange")) return NOT_DELIVERED
  using range = newRange(start, end - start)
  return set(ax, element, "AXSelectedTextRange", range.ref)
}

function selectionOf(ax: Ax, element: Element): Stretch | undefined {
  const range = ax.must(element, "AXSelectedTextRange")
  return range instanceof Stretch ? range : undefined
}

/** Reads piece by piece, since a longer string would be cut. An element without the attribute has the text as its value. */
function readText(ax: Ax, element: Element, { start, end }: TextRange): string {
  let text = ""
  for (let at = start; at < end; at += MOST_TEXT) {
    const length = Math.min(MOST_TEXT, end - at)
    using range = newRange(at, length)
    const piece = ax.answer(element, "AXStringForRange", range.ref)
    if (typeof piece === "string") text += piece
    else return wholeText(ax, element, piece).slice(start, end)
  }
  return text
}

/** Characters that are asked for at once. */
const MOST_TEXT = MAX_TEXT / 2

function wholeText(ax: Ax, element: Element, answer: Value): string {
  if (isUnread(answer)) throw readFailed("AXStringForRange", answer.code)
  const value = asText(ax.must(element, "AXValue"))
  if (value !== undefined && value.length < MAX_TEXT) return value
  throw readFailed("AXStringForRange", answer instanceof Failure ? answer.code : 0)
}

/** How the characters of a text look, by AXAttributedStringForRange. */
function runsOf(ax: Ax, element: Element, { start, end }: TextRange, most: number): readonly TextRun[] {
  const runs: Run[] = []
  for (let at = start; at < end && runs.length < most; ) {
    const length = Math.min(MOST_STYLED, end - at)
    using range = newRange(at, length)
    const piece = ax.answerAs(element, ATTRIBUTED, range.ref, (ref) => runsIn(ax, ref, at, length))
    if (isUnread(piece)) throw readFailed(ATTRIBUTED, piece.code)
    if (piece instanceof Failure) throw noLooks(wordFor(piece.code))
    if (!piece) throw noLooks(`${ATTRIBUTED} returned no attributed string`)
    runs.push(...piece)
    const next = piece.at(-1)?.end ?? at
    // An app that returns less than it was asked for may not have the rest.
    if (next < at + length) break
    at = next
  }
  return runs.slice(0, most).map(({ target, ...run }) => {
    const link = target && linkOf(ax, target)
    return link ? { ...run, link } : run
  })
}

const ATTRIBUTED = "AXAttributedStringForRange"

/** Styled characters that are asked for at once. */
const MOST_STYLED = 10_000

interface Run extends TextRun {
  /** A link, or its address. */
  readonly target?: Element | string
}

/** Reads a borrowed attributed string, which begins at `first`. undefined for any other object. */
function runsIn(ax: Ax, ref: bigint, first: number, most: number): readonly Run[] | undefined {
  if (kindOf(ref) !== "attributed") return undefined
  const cf = coreFoundation()
  const length = Math.min(Number(cf.CFAttributedStringGetLength(ref)), most)
  const effective = new BigInt64Array(2)
  const runs: Run[] = []
  for (let at = 0; at < length; ) {
    const attributes = cf.CFAttributedStringGetAttributes(ref, at, effective)
    const to = Math.min(length, Math.max(at + 1, Number(effective[0]) + Number(effective[1])))
    runs.push({ start: first + at, end: first + to, ...looksOf(ax, attributes) })
    at = to
  }
  return runs
}

function looksOf(ax: Ax, attributes: bigint): Omit<Run, keyof TextRange> {
  const at = (key: string) => entryOf(attributes, ax.connection.name(key))
  const underline = ax.entry(attributes, "AXUnderline")
  const strike = asFlag(ax.entry(attributes, "AXStrikethrough"))
  const color = colorOf(at("AXForegroundColor"))
  const background = colorOf(at("AXBackgroundColor"))
  const link = ax.entry(attributes, "AXLink")
  return {
    ...fontOf(ax, at("AXFont")),
    // The style of the line: 0 is none.
    ...(typeof underline === "number" ? { underline: underline !== 0 } : {}),
    ...(strike === undefined ? {} : { strikethrough: strike }),
    ...(color === undefined ? {} : { color }),
    ...(background === undefined ? {} : { background }),
    ...(link instanceof Element || typeof link === "string" ? { target: link } : {}),
  }
}

/** Browsers report bold and italic if they are true. AppKit reports only the name of the font. */
function fontOf(ax: Ax, font: bigint): Partial<TextRun> {
  const size = ax.entry(font, "AXFontSize")
  const family = asText(ax.entry(font, "AXFontFamily"))
  const style = styleIn(asText(ax.entry(font, "AXFontName")) ?? "")
  const bold = asFlag(ax.entry(font, "AXFontBold")) ?? (style === undefined ? undefined : BOLD.test(style))
  const italic =
    asFlag(ax.entry(font, "AXFontItalic")) ?? (style === undefined ? undefined : ITALIC.test(style))
  return {
    ...(bold === undefined ? {} : { bold }),
    ...(italic === undefined ? {} : { italic }),
    ...(typeof size === "number" ? { size } : {}),
    ...(family ? { family } : {}),
  }
}

/** `BoldItalic` of `Helvetica-BoldItalic`. Names of the system's own fonts begin with a dot and may have no hyphen. */
function styleIn(name: string): string | undefined {
  if (name === "") return undefined
  const at = name.indexOf("-")
  return at < 0 && !name.startsWith(".") ? "" : name.slice(at + 1)
}

const BOLD = /bold|black|heavy/i
const ITALIC = /italic|oblique/i

function linkOf(ax: Ax, target: Element | string): string | undefined {
  return typeof target === "string" ? target : asText(ax.get(target, "AXURL"))
}

function noLooks(detail: string): AppError {
  return new AppError("ACTION_NOT_SUPPORTED", "The app does not report how this text looks", {
    suggestion: "Look at it with 'screenshot', or at what the app's own format bar shows",
    platformDetail: detail,
    details: { kind: "no_text_interface" },
  })
}
