import type { Button, Combo } from "../../action.ts"
import type { Deadline } from "../../deadline.ts"
import type { Point } from "../../node.ts"
import type { Output } from "./displays.ts"

/** The ways to a compositor's pointer and keyboard. Each device is opened for one command, and closed after it. */
export interface Devices {
  pointer(outputs: readonly Output[], deadline: Deadline): Promise<Pointer>
  keyboard(deadline: Deadline): Promise<Keyboard>
}

export interface Pointer {
  moveTo(point: Point, deadline: Deadline): Promise<void>
  /** Moves on to a point on the way: it need not be proved that the pointer is there. */
  passBy(point: Point, deadline: Deadline): Promise<void>
  press(button: Button, deadline: Deadline): Promise<void>
  release(button: Button, deadline: Deadline): Promise<void>
  /** One notch of a wheel. */
  turn(axis: Axis, direction: 1 | -1, deadline: Deadline): Promise<void>
  /** Lets up the buttons that are down, whatever happened, and lets go of the device. */
  close(deadline: Deadline): Promise<void>
}

export type Axis = "vertical" | "horizontal"

export interface Keyboard {
  /** The stroke of a combo. undefined: no key is called so. */
  strokeOf(combo: Combo, deadline: Deadline): Promise<Stroke | undefined>
  /** The strokes of the longest start of a text that can be typed without getting ready again. */
  strokesOf(chars: readonly string[], deadline: Deadline): Promise<readonly Stroke[]>
  /** Presses and releases a key. */
  stroke(stroke: Stroke, deadline: Deadline): Promise<void>
  /** Lets go of the device. */
  close(deadline: Deadline): Promise<void>
}

/** A key and those held meanwhile, by their numbers in linux/input-event-codes.h. */
export interface Stroke {
  readonly code: number
  readonly held: readonly number[]
}

/** linux/input-event-codes.h */
export const BUTTON_CODES: Readonly<Record<Button, number>> = { left: 0x110, right: 0x111, middle: 0x112 }
