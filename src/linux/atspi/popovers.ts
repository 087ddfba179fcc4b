import { type Atspi, type Ref, refKey } from "./atspi.ts"
import { unlessRefused } from "./element.ts"

/**
 * The addresses of the elements that open a popover of a window. In GTK 3 a menu button is a plain toggle button on the
 * bus; only the popover, which is a child of the window even while it is closed, names the button that it belongs to.
 */
export async function openersOf(atspi: Atspi, window: Ref): Promise<readonly string[]> {
  const children = (await unlessRefused(atspi.children(window))) ?? []
  const relations = await Promise.all(
    children.slice(0, MOST_CHILDREN).map((child) => unlessRefused(atspi.relations(child))),
  )
  return relations
    .flatMap((list) => list ?? [])
    .filter(({ type }) => type === POPUP_FOR)
    .flatMap(({ targets }) => targets.map(refKey))
}

/** ATSPI_RELATION_POPUP_FOR */
const POPUP_FOR = 15

/** A window has a dozen: its content, its title bar and its popovers. */
const MOST_CHILDREN = 100
