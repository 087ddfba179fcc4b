/** The most characters that are shown of a name, a value or a title. */
export const MAX_TEXT = 2000

/** At most 2,000 characters, then an ellipsis. Never half a surrogate pair. */
export function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text
  const end = (text.charCodeAt(MAX_TEXT - 1) & 0xfc00) === 0xd800 ? MAX_TEXT - 1 : MAX_TEXT
  return `${text.slice(0, end)}…`
}

/** True for a text that `cut` has shortened. */
export const isCut = (text: string): boolean => text.length >= MAX_TEXT && text.endsWith("…")
