import type { Button, Combo } from "../../action.ts"
import type { Deadline } from "../../deadline.ts"
import type { Point } from "../../node.ts"
import type { Output } from "./displays.ts"

/** A compositor's pointer and keyboard. Each device is opened for one command, and closed after it. */
export interface Devices {
  pointer(outputs: readonly Output[], deadline: Deadline): Promise<Pointer>
  keyboard(deadline: Deadline): Promise<Keyboard>
}

export interface Pointer {
  moveTo(point: Point, deadline: Deadline): Promise<void>
  /** Moves to an intermediate point: the pointer's arrival need not be proved. */
  passBy(point: Point, deadline: Deadline): Promise<void>
  press(button: Button, deadline: Deadline): Promise<void>
  release(button: Button, deadline: Deadline): Promise<void>
  /** One notch of a wheel. */
  turn(axis: Axis, direction: 1 | -1, deadline: Deadline): Promise<void>
  /** Releases all pressed buttons and the device, even after a failure. */
  close(deadline: Deadline): Promise<void>
}

export type Axis = "vertical" | "horizontal"

export interface Keyboard {
  /** The stroke for a combo. undefined: there is no such key. */
  strokeOf(combo: Combo, deadline: Deadline): Promise<Stroke | undefined>
  /** The strokes for the longest prefix of a text that can be typed without a new keymap. */
  strokesOf(chars: readonly string[], deadline: Deadline): Promise<readonly Stroke[]>
  /** Presses and releases a key. */
  stroke(stroke: Stroke, deadline: Deadline): Promise<void>
  /** Releases the device. */
  close(deadline: Deadline): Promise<void>
}

/** A key and the keys held with it, by their numbers in linux/input-event-codes.h. */
export interface Stroke {
  readonly code: number
  readonly held: readonly number[]
}

/** linux/input-event-codes.h */
export const BUTTON_CODES: Readonly<Record<Button, number>> = { left: 0x110, right: 0x111, middle: 0x112 }
