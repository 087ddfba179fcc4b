import type { KeptFocus } from "../action.ts"
import type { Seen, SeenWindow } from "../adapter.ts"
import type { Ax } from "./ax.ts"
import { deliveryOf, Failure } from "./failure.ts"
import { isSecure } from "./roles.ts"
import { flag } from "./sending.ts"
import { asElement, asFlag, asText, type Element, newRange } from "./value.ts"
import { walkElement } from "./walk.ts"
import { listWindows, windowAround, windowIdOf } from "./windows.ts"

/** The keyboard focus inside a window. AXFocused does not raise the window. */

export function keepFocus(ax: Ax, element: Element): KeptFocus {
  const isInFront = isInFocusedWindow(ax, element)
  if (asFlag(ax.get(element, "AXFocused"))) return { kind: "asked", isInFront }
  const asked = flag(ax, element, "AXFocused", true)
  if (!asked || asked.delivery === "not_delivered") return { kind: "no route", isInFront }
  placeCaret(ax, element)
  return { kind: "asked", isInFront }
}

/** The element that gets the keys of the app in front. */
export function focusedElement(ax: Ax, { pid }: Pick<SeenWindow, "pid">): Seen | undefined {
  const focused = asElement(ax.get(ax.connection.app(pid), "AXFocusedUIElement"))
  return focused && walkElement(ax, focused)
}

function isInFocusedWindow(ax: Ax, element: Element): boolean {
  const window = asElement(ax.get(element, "AXWindow"))
  const id = window && windowIdOf(ax, windowAround(ax, window))
  return id !== undefined && listWindows(ax, "focused").some((one) => one.id === id && one.is_focused)
}

/** Undoes the selection that a text field makes when it gets the focus. Never reads the length of a secure text. */
function placeCaret(ax: Ax, element: Element): void {
  const kind = ax.read(element, ["AXRole", "AXSubrole"])
  if (kind instanceof Failure || isSecure(asText(kind.AXRole), asText(kind.AXSubrole))) return
  const length = ax.get(element, "AXNumberOfCharacters")
  if (typeof length !== "number" || !ax.canSet(element, "AXSelectedTextRange")) return
  using range = newRange(length, 0)
  // An error does not matter: the element already has the focus.
  deliveryOf(ax.set(element, "AXSelectedTextRange", range.ref))
}
