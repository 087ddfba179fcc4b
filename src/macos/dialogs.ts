import type { WindowInfo } from "../node.ts"
import type { RefEntry } from "../refmap.ts"
import type { Ax } from "./ax.ts"
import { asElements, asFlag, type Element } from "./value.ts"
import { childAt } from "./walk.ts"
import { elementsOfWindows, windowsInFront } from "./windows.ts"

/**
 * The modal dialog that blocks an element: a modal window in front, which blocks the whole app, or a sheet of the
 * element's own window. A sheet is part of its window, and has the window's id. The app is asked only if the window
 * server shows something in front of the window.
 */
export function dialogOver(ax: Ax, entry: RefEntry): Pick<WindowInfo, "id"> | undefined {
  const { pid, window_id: own, path } = entry
  const inFront = own === undefined ? [] : windowsInFront(ax, pid, own)
  if (own === undefined || inFront.length === 0) return undefined
  const elements = elementsOfWindows(ax, pid)
  const dialog = inFront.find((id) => isModal(ax, elements.get(id)))
  if (dialog !== undefined) return { id: dialog }
  const window = elements.get(own)
  return window && isBehindSheet(ax, window, path ?? []) ? { id: own } : undefined
}

const isModal = (ax: Ax, window: Element | undefined): boolean =>
  window !== undefined && asFlag(ax.get(window, "AXModal")) === true

/** True if the path from the window does not lead into its sheet. A sheet may have a sheet, too. */
function isBehindSheet(ax: Ax, window: Element, path: readonly number[]): boolean {
  let at = window
  for (const index of path) {
    const sheet = asElements(ax.get(at, "AXChildren")).find((child) => ax.get(child, "AXRole") === "AXSheet")
    if (!sheet) return false
    if (childAt(ax, at, index) !== sheet) return true
    at = sheet
  }
  return false
}
