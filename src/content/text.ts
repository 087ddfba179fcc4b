/**
 * Text by character offsets, from 0, in the app's own unit: most apps count an emoji as one character, some as two.
 * Offsets, ranges and the length of a text use the same unit.
 */

/** From `start` up to, but not including, `end`. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A stretch of text with one style. A member is absent if the app does not report it. */
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

/** The reason why the text of an element cannot be read by offsets: the interface of the platform that is missing. */
export interface NoText {
  readonly missing: string
  /** True if that holds for every element here. */
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
  /** At most `most` runs. If there are more, the last one ends before the end of the range. */
  runs(range: TextRange, most: number): Promise<readonly TextRun[]>
}
