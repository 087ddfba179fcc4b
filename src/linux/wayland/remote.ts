import type { Button, Combo } from "../../action.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { pause } from "../../until.ts"
import { type Axis, BUTTON_CODES, type Keyboard, type Pointer, type Stroke } from "./devices.ts"
import { Layout } from "./layout.ts"

/** A session in which a compositor accepts input over D-Bus. Each call returns when the compositor has received it. */
export interface Remote {
  key(code: number, isDown: boolean, deadline: Deadline): Promise<void>
  /** True if calls keep their order without waiting for each other. */
  readonly isOrdered: boolean
  button(code: number, isDown: boolean, deadline: Deadline): Promise<void>
  wheel(axis: Axis, steps: number, deadline: Deadline): Promise<void>
  close(deadline: Deadline): Promise<void>
}

/** A session that moves the pointer by relative distances. */
export interface DistanceRemote extends Remote {
  moveBy(by: Point, deadline: Deadline): Promise<void>
}

/** The buttons and the wheel of such a session. */
export abstract class RemotePointer implements Pointer {
  protected readonly down = new Set<number>()
  readonly #remote: Remote

  constructor(remote: Remote) {
    this.#remote = remote
  }

  abstract moveTo(point: Point, deadline: Deadline): Promise<void>

  passBy(point: Point, deadline: Deadline): Promise<void> {
    return this.moveTo(point, deadline)
  }

  async press(button: Button, deadline: Deadline): Promise<void> {
    this.down.add(BUTTON_CODES[button])
    await this.#remote.button(BUTTON_CODES[button], true, deadline)
  }

  async release(button: Button, deadline: Deadline): Promise<void> {
    await this.#remote.button(BUTTON_CODES[button], false, deadline)
    this.down.delete(BUTTON_CODES[button])
  }

  async turn(axis: Axis, direction: 1 | -1, deadline: Deadline): Promise<void> {
    await this.#remote.wheel(axis, direction, deadline)
  }

  async close(deadline: Deadline): Promise<void> {
    for (const code of this.down) await this.#remote.button(code, false, deadline)
    await this.#remote.close(deadline)
  }
}

/** A pointer that moves by relative distances, guided by its reported position. */
export class TrackedPointer extends RemotePointer {
  readonly #remote: DistanceRemote
  readonly #where: (deadline: Deadline) => Promise<Point>
  /** The place that it should have. */
  #last: Point | undefined

  constructor(remote: DistanceRemote, where: (deadline: Deadline) => Promise<Point>) {
    super(remote)
    this.#remote = remote
    this.#where = where
  }

  override async passBy(point: Point, deadline: Deadline): Promise<void> {
    const { x, y } = this.#last ?? (await this.#where(deadline))
    await this.#remote.moveBy({ x: point.x - x, y: point.y - y }, deadline)
    this.#last = point
  }

  async moveTo(point: Point, deadline: Deadline): Promise<void> {
    const isThere = ({ x, y }: Point) => x === point.x && y === point.y
    this.#last = point
    for (let tries = 0; tries < MOVES; tries++) {
      const from = await this.#where(deadline)
      if (isThere(from)) return
      await this.#remote.moveBy({ x: point.x - from.x, y: point.y - from.y }, deadline)
      const patience = deadline.slice(ARRIVAL_MS)
      while (!patience.expired) {
        if (isThere(await this.#where(deadline))) return
        await pause(LOOK_MS, patience)
      }
    }
    throw new AppError("ACTION_FAILED", `The pointer could not be moved to ${point.x},${point.y}`, {
      suggestion: "Retry; another program or person may be moving the pointer",
      disposition:
        this.down.size > 0 ? { delivery: "delivery_uncertain", retry: "unsafe" } : NOTHING_DELIVERED,
    })
  }
}

/** A keyboard with the session's own layout. Characters that it lacks are refused before anything is typed. */
export class RemoteKeyboard implements Keyboard {
  readonly #remote: Remote
  readonly #layout: Layout
  readonly #down = new Set<number>()

  private constructor(remote: Remote, layout: Layout) {
    this.#remote = remote
    this.#layout = layout
  }

  static async open(env: Env, remote: Remote, deadline: Deadline): Promise<RemoteKeyboard> {
    return new RemoteKeyboard(remote, await Layout.read(env, deadline))
  }

  async strokeOf(combo: Combo): Promise<Stroke | undefined> {
    const stroke = this.#layout.strokeOf(combo)
    if (!stroke && [...combo.key].length === 1) throw missing([combo.key])
    return stroke
  }

  async strokesOf(chars: readonly string[]): Promise<readonly Stroke[]> {
    const lacking = [...new Set(chars)].filter((char) => !this.#layout.charStroke(char))
    if (lacking.length > 0) throw missing(lacking)
    // The focus is checked again before the next part.
    return chars.slice(0, PART).flatMap((char) => this.#layout.charStroke(char) ?? [])
  }

  async stroke({ code, held }: Stroke, deadline: Deadline): Promise<void> {
    const keys = [...held, code]
    for (const key of keys) this.#down.add(key)
    const steps = [
      ...keys.map((key) => [key, true] as const),
      ...keys.toReversed().map((key) => [key, false] as const),
    ]
    // Apps repeat a key that stays down. In one burst, this process cannot be paused in between.
    if (this.#remote.isOrdered)
      await Promise.all(steps.map(([key, isDown]) => this.#remote.key(key, isDown, deadline)))
    else for (const [key, isDown] of steps) await this.#remote.key(key, isDown, deadline)
    for (const key of keys) this.#down.delete(key)
  }

  async close(deadline: Deadline): Promise<void> {
    for (const code of [...this.#down].toReversed()) await this.#remote.key(code, false, deadline)
    await this.#remote.close(deadline)
  }
}

/** The compositor would silently drop such characters. */
function missing(chars: readonly string[]): AppError {
  const [first = ""] = chars
  const others = chars.length > 1 ? ` and ${chars.length - 1} others of the text` : ""
  return new AppError("ACTION_FAILED", `The keyboard layout of this session has no '${first}'${others}`, {
    suggestion: "Use 'set-value', or 'clipboard-set' and 'press ctrl+v'",
    details: { kind: "not_in_layout" },
    disposition: NOTHING_DELIVERED,
  })
}

const PART = 40
const MOVES = 3
const ARRIVAL_MS = 500
const LOOK_MS = 2
