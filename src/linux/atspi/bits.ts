/** AT-SPI's state bits. */

/** The 64 bits of GetState in one exact number: all known ones lie below 2^53. */
export type StateSet = number

export const STATE = {
  ACTIVE: 1,
  BUSY: 3,
  CHECKED: 4,
  COLLAPSED: 5,
  DEFUNCT: 6,
  EDITABLE: 7,
  ENABLED: 8,
  EXPANDABLE: 9,
  EXPANDED: 10,
  FOCUSABLE: 11,
  FOCUSED: 12,
  HORIZONTAL: 14,
  ICONIFIED: 15,
  MODAL: 16,
  MULTI_LINE: 17,
  MULTISELECTABLE: 18,
  PRESSED: 20,
  SELECTABLE: 22,
  SELECTED: 23,
  SENSITIVE: 24,
  SHOWING: 25,
  SINGLE_LINE: 26,
  TRANSIENT: 28,
  VERTICAL: 29,
  VISIBLE: 30,
  MANAGES_DESCENDANTS: 31,
  INDETERMINATE: 32,
  REQUIRED: 33,
  INVALID_ENTRY: 36,
  IS_DEFAULT: 39,
  CHECKABLE: 41,
  HAS_POPUP: 42,
  READ_ONLY: 43,
} as const

export function packStates(low: number, high: number): StateSet {
  return (low >>> 0) + (high & 0x1fffff) * 2 ** 32
}

export function has(states: StateSet, state: number): boolean {
  return state < 32
    ? ((states >>> state) & 1) === 1
    : ((Math.floor(states / 2 ** 32) >>> (state - 32)) & 1) === 1
}

export const withStates = (states: StateSet, ...more: readonly number[]): StateSet =>
  more.reduce((set, state) => (has(set, state) ? set : set + 2 ** state), states)

/** AT-SPI interfaces as bits, so that "does it have Text?" costs nothing. */
export const INTERFACE = {
  Accessible: 1,
  Action: 2,
  Application: 4,
  Cache: 8,
  Collection: 16,
  Component: 32,
  Document: 64,
  EditableText: 128,
  Hyperlink: 256,
  Hypertext: 512,
  Image: 1024,
  Selection: 2048,
  Table: 4096,
  TableCell: 8192,
  Text: 16384,
  Value: 32768,
} as const

export type Interfaces = number
