import type { Seen } from "../../adapter.ts"
import type { Rect } from "../../node.ts"
import { intersection } from "../../rect.ts"
import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { Element, unlessRefused } from "./element.ts"
import { describeElement } from "./open.ts"
import { settleRow } from "./rows.ts"
import { lastFocused } from "./watch.ts"

/**
 * Editors that open over the cells of a table. They are in no tree: GTK 3 and Qt list only the cells. The event that
 * reports their focus is the only way to them, so a watch must be open before the cell is put into edit mode.
 */

/** The element that has taken the focus in the place of a cell. undefined: none has, so far. */
export async function editorOver(atspi: Atspi, cell: Element): Promise<Seen | undefined> {
  const own = refKey(cell.ref)
  const refs = lastFocused(atspi.bus).filter((ref) => ref.bus === cell.ref.bus && refKey(ref) !== own)
  for (const ref of refs) {
    const editor = await editorAt(atspi, cell, ref)
    if (editor) return editor
  }
  return undefined
}

async function editorAt(atspi: Atspi, cell: Element, ref: Ref): Promise<Seen | undefined> {
  const states = await unlessRefused(atspi.states(ref))
  if (states === undefined || !has(states, STATE.FOCUSED) || has(states, STATE.DEFUNCT)) return undefined
  const [role, place, room] = await Promise.all([
    atspi.role(ref),
    unlessRefused(atspi.extents(ref)),
    unlessRefused(atspi.extents(cell.ref)),
  ])
  // The table itself and its cells take the focus as well.
  if (role === cell.parentRole || role === (await atspi.role(cell.ref))) return undefined
  if (!place || !room || !isOver(place, room)) return undefined
  // Without a parent, since the editor is not an item: Qt's current item claims the focus in every table.
  const seen = await describeElement(atspi, new Element(ref, cell.origin))
  if (seen) await settleRow(atspi, cell, seen.value ?? "")
  return seen
}

/** True for an editor in the place of a cell. It may be a little larger than the cell, and leaves out an icon. */
function isOver(editor: Rect, cell: Rect): boolean {
  const { width, height } = intersection(editor, cell)
  return width * 2 > Math.min(editor.width, cell.width) && height * 2 > Math.max(editor.height, cell.height)
}
