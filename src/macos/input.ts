import type { InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { HeldKeys } from "./held-keys.ts"
import { flagsOf, pressKey, typeText } from "./keyboard.ts"
import { clickPointer, dragPointer, holdPointer, movePointer, turnWheel } from "./pointer.ts"

/** `root`: of our own state. */
export async function sendInput(event: InputEvent, deadline: Deadline, root: string): Promise<void> {
  const held = new HeldKeys(root)
  switch (event.kind) {
    case "key":
      return pressKey(event.combo, event.phase, held)
    case "text":
      return typeText(event.text, deadline)
    case "move":
      return movePointer(event.at, flagsOf(held.modifiers))
    case "click":
      return clickPointer(event.at, event.button, event.count, flagsOf(held.modifiers))
    case "button":
      return holdPointer(event.at, event.button, event.phase, flagsOf(held.modifiers))
    case "wheel":
      return turnWheel(event.at, event.dx, event.dy, flagsOf(held.modifiers))
    case "drag":
      return dragPointer(event.from, event.to, event.durationMs, flagsOf(held.modifiers), deadline)
    default:
      return event satisfies never
  }
}
