import type { Performed } from "../action.ts"
import type { Ax } from "./ax.ts"
import { cfBoolean, newString } from "./cf.ts"
import { deliveryOf, Failure, INVALID_ELEMENT } from "./failure.ts"
import type { Element } from "./value.ts"

/** The two calls that change something in an app: performing an action and writing an attribute. Each is sent once. */

/** Performs the first wanted action that the element offers; undefined if it offers none. */
export function act(ax: Ax, element: Element, wanted: readonly string[]): Performed | undefined {
  const offered = ax.actions(element)
  const action = offered instanceof Failure ? undefined : wanted.find((name) => offered.has(name))
  return action ? sentBy(action, ax.perform(element, action)) : undefined
}

/** Writes an attribute that can be set. */
export function set(ax: Ax, element: Element, name: string, value: bigint): Performed {
  return sentBy(name, ax.set(element, name, value))
}

/**
 * Judges what was sent to the element by the error code. The element was there a moment before: if it is gone now, its
 * own action may have taken it away, as a press on "Delete" does.
 */
export function sentBy(method: string, code: number): Performed {
  return { method, delivery: code === INVALID_ELEMENT ? "delivery_uncertain" : deliveryOf(code) }
}

/** Sets a boolean attribute; undefined if it cannot be set. */
export function flag(ax: Ax, element: Element, name: string, value: boolean): Performed | undefined {
  if (!ax.canSet(element, name)) return undefined
  return set(ax, element, name, cfBoolean(value))
}

/** Writes a text; undefined if it cannot be written. */
export function write(ax: Ax, element: Element, name: string, text: string): Performed | undefined {
  if (!ax.canSet(element, name)) return undefined
  using value = newString(text)
  return set(ax, element, name, value.ref)
}
