/** Application text as it is shown: hidden characters are written out, and long texts are cut. */

/**
 * Characters that end a line for some readers, control a terminal, reorder text or are invisible. With them,
 * application text could hide a message to a model, or look like other text. Unicode's own properties decide, plus
 * annotation marks and letters that are drawn as blanks.
 */
const HIDDEN =
  /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\x7f-\x9f\p{Zl}\p{Zp}\ufff9-\ufffb\u2800\u{1d159}]/u

/**
 * Ordinary emoji stay readable, with the invisible characters inside them: one selector or skin tone per picture,
 * joiners between two pictures, keycaps, and the flags of England, Scotland and Wales.
 */
const PICTURE = /\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})?/u
const KEYCAP = /[0-9#*]\ufe0f\u20e3/u
const FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/u

/** Writes every hidden character as \uXXXX, which JSON reads as the same text. `show` may add markup to the code. */
export function escapeHidden(text: string, show = (code: string): string => code): string {
  // Nearly every answer is plain ASCII, and Unicode's tables cost more than everything else here.
  if (!/[^\x20-\x7e]/.test(text) || !HIDDEN.test(text)) return text
  const picture = PICTURE.source
  const emoji = `${FLAG.source}|${picture}(?:\\u200d${picture})*|${KEYCAP.source}`
  return text.replace(new RegExp(`(${emoji})|${HIDDEN.source}`, "gu"), (found, kept?: string) =>
    kept === undefined ? show(codeOf(found)) : found,
  )
}

const codeOf = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("")

/** Application text in quotes, as JSON. No character in it can end the line, reorder it or hide. */
export const quoted = (text: string): string => escapeHidden(JSON.stringify(text))

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
