import type { InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import type { X11 } from "./x11.ts"
import { pressKeys } from "./x11-keyboard.ts"
import { clickPointer, dragPointer, movePointer, pressButton, turnWheel } from "./x11-pointer.ts"
import { typeText } from "./x11-typing.ts"

/** Pointer and keyboard as if a user had them in hand. */
export async function sendInput(x: X11, event: InputEvent, deadline: Deadline): Promise<void> {
  switch (event.kind) {
    case "move":
      return movePointer(x, event, deadline)
    case "click":
      return clickPointer(x, event, deadline)
    case "button":
      return pressButton(x, event, deadline)
    case "wheel":
      return turnWheel(x, event, deadline)
    case "drag":
      return dragPointer(x, event, deadline)
    case "key":
      return pressKeys(x, event, deadline)
    case "text":
      return typeText(x, event.text, deadline)
    default:
      return event satisfies never
  }
}
