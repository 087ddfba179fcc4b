import type { Button } from "../../action.ts"
import type { Deadline } from "../../deadline.ts"
import type { Point, Rect } from "../../node.ts"
import type { Wayland } from "./connection.ts"
import { type Axis, BUTTON_CODES, type Pointer } from "./devices.ts"
import { layoutOf, type Output } from "./displays.ts"
import { eventTime, seatWith } from "./seat.ts"
import { WaylandMessage } from "./wire.ts"

/** Our virtual pointer on the compositor's seat. It disappears with the connection. */
export class VirtualPointer implements Pointer {
  readonly #wayland: Wayland
  readonly #object: number
  readonly #layout: Rect
  readonly #down = new Set<number>()

  private constructor(wayland: Wayland, object: number, layout: Rect) {
    this.#wayland = wayland
    this.#object = object
    this.#layout = layout
  }

  /** undefined: the compositor does not support virtual pointers. */
  static async open(
    wayland: Wayland,
    outputs: readonly Output[],
    deadline: Deadline,
  ): Promise<VirtualPointer | undefined> {
    const manager = wayland.bind("zwlr_virtual_pointer_manager_v1", 2)
    if (manager === undefined) return undefined
    const seat = await seatWith(wayland, "pointer", deadline)
    const object = wayland.create()
    wayland.send(new WaylandMessage(manager, CREATE).u32(seat).u32(object))
    await wayland.sync(deadline)
    return new VirtualPointer(wayland, object, layoutOf(outputs))
  }

  async moveTo({ x, y }: Point, deadline: Deadline): Promise<void> {
    const { x: left, y: top, width, height } = this.#layout
    const message = this.#message(MOTION_ABSOLUTE)
      .u32(x - left)
      .u32(y - top)
    this.#wayland.send(message.u32(width).u32(height))
    await this.#frame(deadline)
  }

  passBy(point: Point, deadline: Deadline): Promise<void> {
    return this.moveTo(point, deadline)
  }

  async press(button: Button, deadline: Deadline): Promise<void> {
    await this.#button(BUTTON_CODES[button], 1, deadline)
  }

  async release(button: Button, deadline: Deadline): Promise<void> {
    await this.#button(BUTTON_CODES[button], 0, deadline)
  }

  /** The device itself disappears with the connection. */
  async close(deadline: Deadline): Promise<void> {
    if (this.#wayland.closed) return
    for (const code of [...this.#down]) await this.#button(code, 0, deadline)
  }

  async turn(axis: Axis, direction: 1 | -1, deadline: Deadline): Promise<void> {
    this.#wayland.send(new WaylandMessage(this.#object, AXIS_SOURCE).u32(WHEEL))
    const message = this.#message(AXIS_DISCRETE).u32(axis === "vertical" ? 0 : 1)
    this.#wayland.send(message.fixed(NOTCH * direction).i32(direction))
    await this.#frame(deadline)
  }

  async #button(code: number, state: 0 | 1, deadline: Deadline): Promise<void> {
    this.#wayland.send(this.#message(BUTTON).u32(code).u32(state))
    if (state) this.#down.add(code)
    else this.#down.delete(code)
    await this.#frame(deadline)
  }

  #message(opcode: number): WaylandMessage {
    return new WaylandMessage(this.#object, opcode).u32(eventTime())
  }

  async #frame(deadline: Deadline): Promise<void> {
    this.#wayland.send(new WaylandMessage(this.#object, FRAME))
    await this.#wayland.sync(deadline)
  }
}

/** The distance that compositors report for one notch. */
const NOTCH = 15

const CREATE = 0
const MOTION_ABSOLUTE = 1
const BUTTON = 2
const FRAME = 4
const AXIS_SOURCE = 5
const WHEEL = 0
const AXIS_DISCRETE = 7
