import type { Env, InputEvent, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { Point, Rect } from "../../node.ts"
import { contains } from "../../rect.ts"
import type { InputLock } from "../../turn.ts"
import { pause } from "../../until.ts"
import type { Owner } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import { Floor } from "./floor.ts"
import { openInputLock } from "./lock.ts"
import type { Sway, SwayView } from "./sway.ts"

const inputs = () => import("./input.ts")

/** Sway as a window system: windows and their places by its own protocol, the rest by those of Wayland. */
export class SwayWindows extends Floor {
  override readonly listsAll = true
  override readonly hasInput = true
  readonly #sway: Sway

  constructor(env: Env, sway: Sway) {
    super(env)
    this.#sway = sway
  }

  override async isNative(pid: number, deadline: Deadline): Promise<boolean> {
    return !(await this.#sway.views(deadline)).some((view) => view.pid === pid && view.xId !== undefined)
  }

  /** Those of Xwayland are left to the X server, if that can be asked. */
  override async windows(deadline: Deadline): Promise<readonly TopWindow[]> {
    const views = await this.#sway.views(deadline)
    return views.filter(({ xId }) => xId === undefined || !this.env.DISPLAY).map((view) => this.#window(view))
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
    const views = await this.#sway.views(deadline)
    const view = views.find(({ visible, frame }) => visible && contains(frame, point))
    return view && this.#window(view)
  }

  override watch(changed: () => void, deadline: Deadline): Promise<Disposable> {
    return this.#sway.watch(changed, deadline)
  }

  override async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    const view = await this.#view(id, deadline)
    const target = `[con_id=${view.id}]`
    switch (op.kind) {
      case "focus":
        await this.#sway.run(`${target} focus`, deadline)
        return this.#until(id, (now) => now.focused, "focused", deadline)
      case "move": {
        refuseTile(id, view)
        // Sway moves the frame, title bar included.
        await this.#sway.run(`${target} move absolute position ${op.x} ${op.y}`, deadline)
        const isThere = ({ frame }: SwayView) => frame.x === op.x && frame.y === op.y
        return this.#until(id, isThere, "moved", deadline, view.frame)
      }
      case "resize": {
        refuseTile(id, view)
        await this.#sway.run(`${target} resize set width ${op.width} px height ${op.height} px`, deadline)
        const isSo = ({ frame }: SwayView) => frame.width === op.width && frame.height === op.height
        return this.#until(id, isSo, "resized", deadline, view.frame)
      }
      case "minimize":
      case "maximize":
      case "restore":
        throw new AppError("ACTION_NOT_SUPPORTED", `Sway cannot ${op.kind} windows`, {
          suggestion: "Use 'move-window', 'resize-window' or 'focus-window'",
          disposition: NOTHING_DELIVERED,
        })
      default:
        throw op satisfies never
    }
  }

  override async requestClose(id: string, deadline: Deadline): Promise<string> {
    const view = await this.#view(id, deadline)
    await this.#sway.run(`[con_id=${view.id}] kill`, deadline)
    return "xdg_toplevel.close"
  }

  override async caughtUp(id: string, deadline: Deadline): Promise<boolean> {
    const { pid } = await this.#view(id, deadline)
    return (await inputs()).isIdle(pid, deadline)
  }

  override async openLock(): Promise<InputLock> {
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
    const { sendInput } = await inputs()
    const places = {
      windowAt: (point: Point, until: Deadline) => this.windowAt(point, until),
      focused: (until: Deadline) => this.#focused(until),
    }
    await this.connected(deadline, (wayland) =>
      sendInput({ wayland, places, env: this.env, deadline, owner, approach }, event),
    )
  }

  override async visitRow(at: Point, top: number, deadline: Deadline): Promise<void> {
    const { isIdle } = await inputs()
    for (const point of [at, { x: at.x, y: Math.max(0, top - ABOVE) }]) {
      await this.input({ kind: "move", at: point }, deadline)
      const window = await this.windowAt(point, deadline)
      if (window?.pid) await isIdle(window.pid, deadline.slice(REACTION_MS))
    }
  }

  async #focused(deadline: Deadline): Promise<TopWindow | undefined> {
    const view = (await this.#sway.views(deadline)).find(({ focused }) => focused)
    return view && this.#window(view)
  }

  async #view(id: string, deadline: Deadline): Promise<SwayView> {
    const view = (await this.#sway.views(deadline)).find((one) => this.#idOf(one) === id)
    if (view) return view
    throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
  }

  /** Waits until the window is as wanted; with `before`, a change of its frame will do: sway has limits of its own. */
  async #until(
    id: string,
    isDone: (view: SwayView) => boolean,
    participle: string,
    deadline: Deadline,
    before?: Rect,
  ): Promise<void> {
    const patience = deadline.slice(CHANGE_MS)
    for (;;) {
      const now = await this.#view(id, deadline)
      if (isDone(now)) return
      if (patience.expired) {
        const isChanged = before && SIDES.some((side) => now.frame[side] !== before[side])
        if (isChanged) return
        throw new AppError("ACTION_FAILED", `Window '${id}' could not be ${participle}`, {
          suggestion: "Run 'list-windows' to see how it is now",
          disposition: { delivery: "delivered_unverified", retry: "safe" },
        })
      }
      await pause(LOOK_MS, patience)
    }
  }

  #idOf({ id, xId }: SwayView): string {
    return xId !== undefined && this.env.DISPLAY ? `w-${xId}` : `w-s${id}`
  }

  #window(view: SwayView): TopWindow {
    return {
      id: this.#idOf(view),
      title: view.title,
      pid: view.pid,
      wmClass: view.appId ? { instance: view.appId, className: view.appId } : undefined,
      desktopFile: view.appId || undefined,
      bounds: view.content,
      frame: view.frame,
      isNative: view.xId === undefined,
      focused: view.focused,
      minimized: false,
      maximized: view.fullscreen,
      modal: false,
      types: ["normal"],
    }
  }
}

function refuseTile(id: string, { floating }: SwayView): void {
  if (floating) return
  throw new AppError("ACTION_NOT_SUPPORTED", `Window '${id}' is a tile, whose place sway decides`, {
    suggestion: "Make it float first: 'focus-window' it, then swaymsg floating enable",
    disposition: NOTHING_DELIVERED,
  })
}

const SIDES = ["x", "y", "width", "height"] as const
const ABOVE = 2
const CHANGE_MS = 1500
const REACTION_MS = 500
const LOOK_MS = 10
