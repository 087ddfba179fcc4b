import { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import type { X11 } from "./connection.ts"
import { Request } from "./wire.ts"

/** Synthetic input of one connection, and the keys and buttons that it holds down. */
export class Xtest {
  readonly #x: X11
  readonly #opcode: number
  /** Steps that undo the current operation, newest last. */
  readonly #held = new Map<string, readonly Request[]>()

  constructor(x: X11, opcode: number) {
    this.#x = x
    this.#opcode = opcode
  }

  /** The number of presses so far, of keys and buttons. */
  presses = 0

  keyDown(keycode: number): void {
    this.presses++
    this.hold(`key ${keycode}`, [this.#fake(KEY_PRESS, keycode)], [this.#fake(KEY_RELEASE, keycode)])
  }

  keyUp(keycode: number): void {
    this.drop(`key ${keycode}`, [this.#fake(KEY_RELEASE, keycode)])
  }

  /** Releases keys that stay down beyond this operation; they go down again when it ends. */
  liftKeys(keycodes: readonly number[]): void {
    const presses = keycodes.map((keycode) => this.#fake(KEY_PRESS, keycode))
    this.hold(
      "lifted keys",
      keycodes.map((keycode) => this.#fake(KEY_RELEASE, keycode)),
      presses,
    )
  }

  buttonDown(button: number): void {
    this.presses++
    this.hold(`button ${button}`, [this.#fake(BUTTON_PRESS, button)], [this.#fake(BUTTON_RELEASE, button)])
  }

  buttonUp(button: number): void {
    this.drop(`button ${button}`, [this.#fake(BUTTON_RELEASE, button)])
  }

  motion(to: Point): void {
    this.#x.send(this.#fake(MOTION, 0, to))
  }

  /** Sends requests that change the server's state; `drop` later sends those that undo it. */
  hold(what: string, requests: readonly Request[], undo: readonly Request[]): void {
    this.#held.delete(what)
    this.#held.set(what, undo)
    for (const request of requests) this.#x.send(request)
  }

  drop(what: string, requests: readonly Request[]): void {
    this.#held.delete(what)
    for (const request of requests) this.#x.send(request)
  }

  /** Runs `work` and then releases everything it still holds, also if it fails, except for keys passed to `keep`. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      await this.releaseHeld()
    }
  }

  /** Keeps keys and buttons down after the command; a later command releases them. */
  keep(): void {
    this.#held.clear()
  }

  async releaseHeld(): Promise<void> {
    const undo = [...this.#held.values()].toReversed().flat()
    this.#held.clear()
    if (undo.length === 0 || this.#x.closed) return
    for (const request of undo) this.#x.send(request)
    // The command's own deadline may have ended the work.
    await this.#x.sync(Deadline.in(RELEASE_MS)).catch(() => undefined)
  }

  /** For a drag that fails: releases the button where it went down. */
  releaseAt(button: number, origin: Point): void {
    this.#held.set(`button ${button}`, [this.#fake(MOTION, 0, origin), this.#fake(BUTTON_RELEASE, button)])
  }

  // Without the server's own delay: it has left a client waiting forever, with a button down.
  #fake(type: number, detail: number, at: Point = { x: 0, y: 0 }): Request {
    return new Request(this.#opcode, FAKE_INPUT)
      .u8(type)
      .u8(detail)
      .u16(0)
      .u32(0)
      .u32(type === MOTION ? this.#x.root : 0)
      .zeros(8)
      .i16(at.x)
      .i16(at.y)
      .zeros(8)
  }
}

/** Tracks the keys and buttons that are held down, so each connection has only one. */
export function openXtest(x: X11, deadline: Deadline): Promise<Xtest> {
  const known = opened.get(x)
  if (known) return known
  const opening = x.extension("XTEST", deadline).then((extension) => {
    if (extension) return new Xtest(x, extension.opcode)
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      `The X display '${x.name}' does not accept synthetic input`,
      {
        suggestion:
          "Start the X server with its XTEST extension, or use an isolated desktop ('desktop-start')",
        disposition: NOTHING_DELIVERED,
      },
    )
  })
  opened.set(x, opening)
  opening.catch(() => opened.delete(x))
  return opening
}

const opened = new WeakMap<X11, Promise<Xtest>>()

const FAKE_INPUT = 2
const KEY_PRESS = 2
const KEY_RELEASE = 3
const BUTTON_PRESS = 4
const BUTTON_RELEASE = 5
const MOTION = 6
const RELEASE_MS = 500
