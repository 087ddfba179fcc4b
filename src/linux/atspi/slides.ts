import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Atspi, Ref } from "./atspi.ts"
import { unlessRefused } from "./element.ts"
import { DOCUMENTS, ROLE } from "./roles.ts"
import type { Traits } from "./toolkits.ts"

/** True for a table on a slide or drawing, and for everything in it. */
export async function isInSlideTable(atspi: Atspi, ref: Ref, traits: Traits): Promise<boolean> {
  if (!traits.slideTextsAreNotSaved) return false
  let hasTable = false
  let at: Ref | undefined = ref
  for (let level = 0; at && level < MOST_LEVELS; level++) {
    const role = await atspi.role(at)
    hasTable ||= role === ROLE.TABLE
    if (DOCUMENTS.has(role)) return hasTable && !WITH_SAVED_TEXTS.has(role)
    at = await unlessRefused(atspi.parent(at))
  }
  return false
}

/** From a paragraph in a table in a group to its document. */
const MOST_LEVELS = 8

const WITH_SAVED_TEXTS: ReadonlySet<number> = new Set([ROLE.DOCUMENT_TEXT, ROLE.DOCUMENT_SPREADSHEET])

export const notSaved = (): AppError =>
  new AppError(
    "ACTION_FAILED",
    "A text that is set in a table on a slide shows, but the app does not save it",
    {
      suggestion:
        "Type it: click the cell, double-click it, press ctrl+a, press 'shift+l i m a', press escape",
      details: { kind: "not_saved" },
      disposition: NOTHING_DELIVERED,
    },
  )
