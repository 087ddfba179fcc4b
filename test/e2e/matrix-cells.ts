import { BARE, DISCLOSURES, SCROLLING } from "./cells/places.ts"
import { BUTTONS, TOGGLES } from "./cells/presses.ts"
import { TEXTS } from "./cells/texts.ts"
import { CHOICES, NUMBERS } from "./cells/values.ts"
import type { Cell } from "./matrix-cell.ts"

/** The effect of every command on every fitting control of every toolkit. Each cell is a test. */
export const CELLS: readonly Cell[] = [
  ...BUTTONS,
  ...TOGGLES,
  ...TEXTS,
  ...NUMBERS,
  ...CHOICES,
  ...DISCLOSURES,
  ...SCROLLING,
  ...BARE,
]
