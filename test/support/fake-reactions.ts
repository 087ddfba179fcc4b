import type { Action } from "../../src/action.ts"
import { type Delivery, type FakeElement, rootOf } from "./fake-world.ts"

/** Delivers an action to the element; the effect follows after the element's delay. */
export function deliver(element: FakeElement, action: Action, by: Delivery["by"], happens = true): void {
  const { world, delay } = element
  world.deliveries.push({ name: element.name ?? element.role, by, kind: action.kind })
  if (!happens) return
  const effect = (): void => {
    react(element, action)
    element.does?.(element, action)
    world.emit()
  }
  if (delay === "event") world.later(effect)
  else if (delay > 0) setTimeout(effect, delay)
  else effect()
}

/** The usual reaction of a control. Check and uncheck flip it, in any state. */
function react(element: FakeElement, action: Action): void {
  switch (action.kind) {
    case "click":
      press(element)
      break
    case "toggle":
    case "check":
    case "uncheck":
      flip(element)
      break
    case "expand":
      element.turn("collapsed", "expanded")
      break
    case "collapse":
      element.turn("expanded", "collapsed")
      break
    case "set-value":
    case "select":
      element.value = action.value
      break
    case "clear":
      element.value = ""
      break
    case "type":
      element.value = element.allSelected ? action.text : (element.value ?? "") + action.text
      element.allSelected = false
      break
    case "focus":
      takeFocus(element)
      break
    case "scroll-to":
      element.states = element.states.filter((state) => state !== "offscreen")
      break
    case "double-click":
    case "triple-click":
    case "right-click":
    case "scroll":
      break
    default:
      action satisfies never
  }
}

function press(element: FakeElement): void {
  if (element.has("checked") || element.has("unchecked")) flip(element)
  else if (element.has("expanded")) element.turn("expanded", "collapsed")
  else if (element.has("collapsed")) element.turn("collapsed", "expanded")
  else if (element.role === "textfield") takeFocus(element)
}

function flip(element: FakeElement): void {
  if (element.has("unchecked")) element.turn("unchecked", "checked")
  else if (element.has("checked")) element.turn("checked", "unchecked")
  else if (element.has("pressed")) element.states = element.states.filter((state) => state !== "pressed")
  else if (element.actions?.includes("Toggle")) element.states.push("pressed")
}

export function takeFocus(element: FakeElement): void {
  for (const other of rootOf(element).all())
    other.states = other.states.filter((state) => state !== "focused")
  element.states.push("focused")
}
