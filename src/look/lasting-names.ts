import type { SeenNode } from "../adapter.ts"
import { hasTrait } from "../node.ts"
import { ownName } from "../refs/identity.ts"
import { escapeHidden } from "../shown-text.ts"
import { calledOf } from "./matching.ts"

/** Words that will be the same next time. Values, counts, times, percentages and document names will not. */

const LONGEST = 120
const LONGEST_TITLE = 60

/** The name of an element, if it will be the same next time. `documents`: the names of the app's open documents. */
export function lastingName(node: SeenNode, documents: readonly string[]): string | undefined {
  const name = node.name ? ownName(node) : calledOf(node)
  if (name === undefined || name.length > LONGEST) return undefined
  // Users go by the text of a row or cell.
  if (hasTrait(node.role, "item")) return isTime(name) ? undefined : name
  if (hasCount(name) || isTime(name)) return undefined
  return documents.some((one) => holds(name, one, node.role === "tab")) ? undefined : name
}

/** True if a title contains neither a document's name nor a count. */
export function isLastingTitle(title: string, documents: readonly string[]): boolean {
  if (title === "" || title.length > LONGEST_TITLE || isHostile(title)) return false
  if (/[\d"“”„«»'‘’*/\\]|\.\w{1,5}\b/.test(title) || SEPARATOR.test(title)) return false
  return !documents.some((one) => holds(title, one, true))
}

/** The document names in window titles: `a.txt` in "a.txt - Editor". */
export const documentsIn = (titles: readonly string[]): readonly string[] =>
  titles.flatMap((title) => {
    const parts = title.split(SEPARATOR)
    return parts.length < 2 ? [] : parts.slice(0, -1).map((part) => part.replace(/^[*•\s]+/, "").trim())
  })

/** A text that may identify the row of an element. Plain numbers are counts and prices. */
export const isTellingText = (text: string): boolean =>
  text.length <= LONGEST && /\p{L}/u.test(text) && !hasCount(text) && !isTime(text)

const SEPARATOR = /\s[-–—|]\s/

const hasCount = (text: string): boolean =>
  /\(\s*\d+\s*\)|\d\s*%|\b\d+\s*(?:\/|of)\s*\d+|^\d+ (?:new|unread|items?|files?|results?|messages?|selected)\b/i.test(
    text,
  )

const isTime = (text: string): boolean => /\b\d{1,2}:\d{2}\b|\b\d{4}-\d{2}-\d{2}\b/.test(text)

/**
 * Only a name that looks like a file's shows that a control depends on the document: a page "Shop" may have a link
 * "Shop".
 */
const holds = (text: string, document: string, isTitle: boolean): boolean =>
  document.length > 1 && (isTitle || /\.\w{1,5}$/.test(document)) && text.includes(document)

/** True for characters that hide, reorder or end a line: written as they are, they would mislead a reader. */
export const isHostile = (text: string): boolean => escapeHidden(text) !== text || /[\x00-\x1f]/.test(text)
