import type { Ax } from "./ax.ts"
import { Failure, isUnread } from "./failure.ts"
import { type Attributes, asElement, asText, type Element } from "./value.ts"

/** Most levels between an element and its window: pages nest deep. */
export const MOST_LEVELS = 50

/** The elements above, the nearest first. Ends with "unread" if not all of them could be read. */
export function* ancestors(ax: Ax, element: Element): Generator<Element | "unread"> {
  const known = new Set([element])
  let at = element
  for (let level = 0; level < MOST_LEVELS; level++) {
    const parent = ax.get(at, "AXParent")
    const above = asElement(parent)
    if (!above) {
      if (isUnread(parent)) yield "unread"
      return
    }
    if (known.has(above)) return
    known.add(above)
    yield above
    at = above
  }
  yield "unread"
}

/** True if an element above has these attributes; undefined if that could not be read. */
export function isInside(ax: Ax, element: Element, wanted: Attributes): boolean | undefined {
  const names = [...Object.keys(wanted), "AXRole"]
  for (const above of ancestors(ax, element)) {
    if (above === "unread") return undefined
    const read = ax.read(above, names)
    if (read instanceof Failure) return undefined
    if (Object.entries(wanted).every(([name, value]) => read[name] === value)) return true
    if (asText(read.AXRole) === "AXWindow") return false
  }
  return false
}

const pages = new WeakMap<Element, boolean>()

/** True if the element is part of a web page; undefined if that could not be read. */
export function isInPage(ax: Ax, element: Element): boolean | undefined {
  const known = pages.get(element)
  if (known !== undefined) return known
  // Browsers give every element of a page this attribute.
  const found =
    asText(ax.get(element, "AXDOMIdentifier")) !== undefined || isInside(ax, element, { AXRole: "AXWebArea" })
  if (found !== undefined) pages.set(element, found)
  return found
}
