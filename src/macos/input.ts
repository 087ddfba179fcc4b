import type { InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { pressKey, typeText } from "./keyboard.ts"
import { clickPointer, dragPointer, holdPointer, movePointer, turnWheel } from "./pointer.ts"

export async function sendInput(event: InputEvent, deadline: Deadline): Promise<void> {
  switch (event.kind) {
    case "key":
      return pressKey(event.combo, event.phase)
    case "text":
      return typeText(event.text, deadline)
    case "move":
      return movePointer(event.at)
    case "click":
      return clickPointer(event.at, event.button, event.count)
    case "button":
      return holdPointer(event.at, event.button, event.phase)
    case "wheel":
      return turnWheel(event.at, event.dx, event.dy)
    case "drag":
      return dragPointer(event.from, event.to, event.durationMs, deadline)
    default:
      return event satisfies never
  }
}
