/**
 * Text by characters. Offsets count from 0, as the app counts: most count an emoji as one character, some as two. They
 * agree with the length of the text and with each other.
 */

/** From `start` up to, but not including, `end`. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A stretch of text that looks the same. A member is absent if the app does not report it. */
export interface TextRun extends TextRange {
  readonly bold?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly strikethrough?: boolean
  /** In points. */
  readonly size?: number
  readonly family?: string
  /** `#rrggbb` */
  readonly color?: string
  readonly background?: string
  /** The name of its paragraph style. */
  readonly style?: string
  readonly link?: string
}

/** Why an element has no text by characters, in the platform's words. */
export interface NoText {
  readonly missing: string
  /** True if no element has one here. */
  readonly everywhere?: boolean
}

/** The text of an element, read live. Reading changes nothing in the app. */
export interface TextAccess {
  readonly length: number
  /** The unit of its offsets. */
  readonly unit: "character" | "utf-16"
  read(range: TextRange): Promise<string>
  /** undefined: it has no caret. */
  caret(): Promise<number | undefined>
  /** undefined: nothing is selected. */
  selection(): Promise<TextRange | undefined>
  /** At most so many runs; the last one ends before the end of the range if there are more. */
  runs(range: TextRange, most: number): Promise<readonly TextRun[]>
}
