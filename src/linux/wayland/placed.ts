import type { InputEvent } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { Point, Rect } from "../../node.ts"
import { contains } from "../../rect.ts"
import type { InputLock } from "../../turn.ts"
import { pause } from "../../until.ts"
import type { Owner } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import { Floor } from "./floor.ts"
import { openInputLock } from "./lock.ts"

const inputs = () => import("./input.ts")

/** A window as a compositor describes it. */
export interface View {
  readonly window: TopWindow
  /** True if the pointer can reach it. */
  readonly isVisible: boolean
  /** True for a menu, a tip or a panel, which is not a window in the contract's sense. */
  readonly isPopup?: boolean
}

/** A compositor that tells all windows and their places, and takes input. */
export abstract class Placed extends Floor {
  override readonly listsAll = true
  override readonly hasInput = true

  /** Everything on the screen, topmost first. */
  protected abstract views(deadline: Deadline): Promise<readonly View[]>
  protected abstract devices(wayland: Wayland): Devices

  override async isNative(pid: number, deadline: Deadline): Promise<boolean> {
    return !(await this.views(deadline)).some(({ window }) => window.pid === pid && !window.isNative)
  }

  /** Those of Xwayland are left to the X server, if that can be asked. */
  override async windows(deadline: Deadline): Promise<readonly TopWindow[]> {
    return (await this.views(deadline))
      .filter(({ window, isPopup }) => !isPopup && (window.isNative || !this.env.DISPLAY))
      .map(({ window }) => window)
  }

  override async mates(id: string, deadline: Deadline): Promise<readonly TopWindow[]> {
    const windows = await this.windows(deadline)
    const wanted = windows.find((window) => (id === "focused" ? window.focused : window.id === id))
    return wanted ? windows.filter(({ pid }) => pid === wanted.pid) : []
  }

  override async existing(ids: readonly string[], deadline: Deadline): Promise<ReadonlySet<string>> {
    const now = new Set((await this.windows(deadline)).map(({ id }) => id))
    return new Set(ids.filter((id) => now.has(id)))
  }

  override async windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined> {
    const isThere = ({ window, isVisible }: View) =>
      isVisible && window.frame !== undefined && contains(window.frame, point)
    return (await this.views(deadline)).find(isThere)?.window
  }

  override async caughtUp(id: string, deadline: Deadline): Promise<boolean> {
    const { pid } = await this.windowOf(id, deadline)
    return pid === undefined || (await inputs()).isIdle(pid, deadline)
  }

  override async openLock(_deadline: Deadline): Promise<InputLock> {
    return openInputLock(this.env)
  }

  override async hasKeys({ pid, window }: Owner, deadline: Deadline): Promise<boolean> {
    const focused = await this.#focused(deadline)
    return focused !== undefined && (window === undefined ? focused.pid === pid : focused.id === window)
  }

  override async input(
    event: InputEvent,
    deadline: Deadline,
    owner?: Owner,
    approach?: () => Promise<void>,
  ): Promise<void> {
    const [{ sendInput }, { readOutputs }] = await Promise.all([inputs(), import("./displays.ts")])
    const places = {
      windowAt: (point: Point, until: Deadline) => this.windowAt(point, until),
      focused: (until: Deadline) => this.#focused(until),
    }
    await this.connected(deadline, (wayland) => {
      const devices = this.devices(wayland)
      const outputs = () => readOutputs(wayland, deadline)
      return sendInput({ devices, outputs, places, env: this.env, deadline, owner, approach }, event)
    })
  }

  override async visitRow(at: Point, top: number, deadline: Deadline): Promise<void> {
    const { isIdle } = await inputs()
    for (const point of [at, { x: at.x, y: Math.max(0, top - ABOVE) }]) {
      await this.input({ kind: "move", at: point }, deadline)
      const window = await this.windowAt(point, deadline)
      if (window?.pid) await isIdle(window.pid, deadline.slice(REACTION_MS))
    }
  }

  protected async windowOf(id: string, deadline: Deadline): Promise<TopWindow> {
    const view = (await this.views(deadline)).find(({ window }) => window.id === id)
    if (view) return view.window
    throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
  }

  /** Waits until the window is as wanted; with `before`, a change of its frame will do: compositors have limits of their own. */
  protected async untilIs(
    id: string,
    isDone: (window: TopWindow) => boolean,
    participle: string,
    deadline: Deadline,
    before?: Rect,
  ): Promise<void> {
    const patience = deadline.slice(CHANGE_MS)
    for (;;) {
      const now = await this.windowOf(id, deadline)
      if (isDone(now)) return
      if (patience.expired) {
        if (before && SIDES.some((side) => now.frame?.[side] !== before[side])) return
        throw new AppError("ACTION_FAILED", `Window '${id}' could not be ${participle}`, {
          suggestion: "Run 'list-windows' to see how it is now",
          disposition: { delivery: "delivered_unverified", retry: "safe" },
        })
      }
      await pause(LOOK_MS, patience)
    }
  }

  async #focused(deadline: Deadline): Promise<TopWindow | undefined> {
    return (await this.views(deadline)).find(({ window }) => window.focused)?.window
  }
}

const SIDES = ["x", "y", "width", "height"] as const
const ABOVE = 2
const CHANGE_MS = 1500
const REACTION_MS = 500
const LOOK_MS = 10
