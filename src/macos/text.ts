import { NOT_DELIVERED, type Performed } from "../action.ts"
import type { NoText, TextAccess, TextRange } from "../text.ts"
import type { Ax } from "./ax.ts"
import { MAX_TEXT } from "./cf.ts"
import { Failure, isUnread, readFailed } from "./failure.ts"
import { runsOf } from "./looks.ts"
import { set } from "./sending.ts"
import { asText, type Element, newRange, Stretch, type Value } from "./value.ts"

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
  for (let at = start; at < end; at += PIECE) {
    const length = Math.min(PIECE, end - at)
    using range = newRange(at, length)
    const piece = ax.answer(element, "AXStringForRange", range.ref)
    if (typeof piece === "string") text += piece
    else return wholeText(ax, element, piece).slice(start, end)
  }
  return text
}

const PIECE = MAX_TEXT / 2

function wholeText(ax: Ax, element: Element, answer: Value): string {
  if (isUnread(answer)) throw readFailed("AXStringForRange", answer.code)
  const value = asText(ax.must(element, "AXValue"))
  if (value !== undefined && value.length < MAX_TEXT) return value
  throw readFailed("AXStringForRange", answer instanceof Failure ? answer.code : 0)
}
