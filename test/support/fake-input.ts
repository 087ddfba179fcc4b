import type { Action } from "../../src/action.ts"
import type { InputEvent } from "../../src/adapter.ts"
import { AppError, NOTHING_DELIVERED } from "../../src/errors.ts"
import type { Point, Rect } from "../../src/node.ts"
import { deliver } from "./fake-reactions.ts"
import type { FakeElement, World } from "./fake-world.ts"

/** Pointer and keyboard events in a scripted world. */

export async function input(world: World, event: InputEvent): Promise<void> {
  world.inputs.push(event)
  // The world may react to the pointer before the caller proves that its element is still there.
  world.onInput()
  if ("at" in event) world.onPointer(event.at)
  if (event.kind === "drag") world.onPointer(event.from)
  if ("prove" in event) await event.prove?.()
  switch (event.kind) {
    case "click": {
      world.onPress()
      await event.proveRelease?.()
      const element = elementAt(world, event.at)
      if (element) deliver(element, clickAction(event.button, event.count), "pointer")
      break
    }
    case "wheel": {
      const element = elementAt(world, event.at)
      const direction = event.dy === 0 ? (event.dx > 0 ? "right" : "left") : event.dy > 0 ? "down" : "up"
      const amount = Math.abs(event.dy || event.dx)
      if (element) deliver(element, { kind: "scroll", direction, amount }, "wheel")
      break
    }
    case "text":
      toFocused(world, (element) => deliver(element, { kind: "type", text: event.text }, "keyboard"))
      break
    case "key": {
      const combo = [...event.combo.modifiers, event.combo.key].join("+")
      const isInWindow = !event.window || world.focused?.id === event.window.id
      if (event.asSent)
        event.asSent(
          isInWindow,
          !!event.window && !!world.focused && world.focused.app.pid !== event.window.pid,
        )
      else if (!isInWindow)
        throw new AppError("ACTION_FAILED", "The keyboard focus is in another window", {
          disposition: NOTHING_DELIVERED,
        })
      world.keys.push(event.phase === "press" ? combo : `${combo} ${event.phase}`)
      world.onKey(combo)
      toFocused(world, (element) => {
        if (combo === "ctrl+a" || combo === "cmd+a") element.allSelected = true
        if (combo === "backspace" && element.allSelected) deliver(element, { kind: "clear" }, "keyboard")
      })
      break
    }
    case "drag":
      world.onPointer(event.to)
      await event.proveDrop?.()
      world.keys.push(JSON.stringify(withoutTargets(event)))
      break
    case "move":
    case "button":
      world.keys.push(JSON.stringify(withoutTargets(event)))
      break
    default:
      event satisfies never
  }
}

function withoutTargets(event: InputEvent): object {
  return Object.fromEntries(Object.entries(event).filter(([key]) => !/target$/i.test(key)))
}

function clickAction(button: string, count: number): Action {
  if (button === "right") return { kind: "right-click" }
  return { kind: count === 1 ? "click" : count === 2 ? "double-click" : "triple-click" }
}

function toFocused(world: World, then: (element: FakeElement) => void): void {
  const element = world.focused?.root.all().find((one) => one.has("focused"))
  if (element) then(element)
}

const contains = (rect: Rect | undefined, { x, y }: Point): boolean =>
  rect !== undefined && x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height

/** The element that a click at this point hits: the deepest one of the frontmost window, later siblings on top. */
export function elementAt(world: World, point: Point): FakeElement | undefined {
  const popups = world.apps.flatMap((app) => [...app.surfaces.values()])
  const window = [...popups, ...world.windows].find((one) => !one.minimized && contains(one.bounds, point))
  return window?.root
    .all()
    .findLast((one) => !one.hidden && !one.has("offscreen") && contains(one.bounds, point))
}
