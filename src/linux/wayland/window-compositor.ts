import type { WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { Point, Rect } from "../../node.ts"
import { contains } from "../../rect.ts"
import { pause } from "../../until.ts"
import type { Owner } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Places } from "./input.ts"
import { InputCompositor } from "./input-compositor.ts"

const inputs = () => import("./input.ts")

/** What GNOME's and KWin's scripts both report about a window. */
export interface DrawnWindow {
  readonly title: string
  readonly pid: number
  readonly appId: string
  /** The id of its Xwayland window; 0 for a native Wayland window. */
  readonly xId: number
  readonly frame: Rect
  /** The surface that the app draws, with its shadows. */
  readonly buffer: Rect
  readonly minimized: boolean
  readonly maximized: boolean
  readonly visible: boolean
}

/** A window as a compositor describes it. */
export interface View {
  readonly window: TopWindow
  /** True if the pointer can reach it. */
  readonly isVisible: boolean
  /** True for a menu, a tooltip or a panel, which the contract does not count as a window. */
  readonly isPopup?: boolean
}

export type WindowRequest = WindowOp | { readonly kind: "close" }

/** A compositor that lists all windows with their positions, and accepts input. */
export abstract class WindowCompositor extends InputCompositor {
  override readonly listsAll = true

  /** Everything on the screen, topmost first. */
  protected abstract views(deadline: Deadline): Promise<readonly View[]>
  /** Sends a request to the compositor, without waiting for its effect. False: the window does not exist. */
  protected abstract request(id: string, request: WindowRequest, deadline: Deadline): Promise<boolean>

  override async isNative(pid: number, deadline: Deadline): Promise<boolean> {
    return !(await this.views(deadline)).some(({ window }) => window.pid === pid && !window.isNative)
  }

  /** Xwayland's windows are left to the X server, if it can be reached. */
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

  override async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    const before = await this.windowOf(id, deadline)
    if (!(await this.request(id, op, deadline))) throw noWindow(id)
    await this.#untilDone(before, op, deadline)
  }

  override async requestClose(id: string, deadline: Deadline): Promise<string | undefined> {
    return (await this.request(id, { kind: "close" }, deadline)) ? "xdg_toplevel.close" : undefined
  }

  override async caughtUp(id: string, deadline: Deadline): Promise<boolean> {
    const { pid } = await this.windowOf(id, deadline)
    return pid === undefined || (await inputs()).isIdle(pid, deadline)
  }

  override async hasKeys({ pid, window }: Owner, deadline: Deadline): Promise<boolean> {
    const focused = await this.#focused(deadline)
    return focused !== undefined && (window === undefined ? focused.pid === pid : focused.id === window)
  }

  protected override places(): Places {
    return {
      windowAt: (point, until) => this.windowAt(point, until),
      focused: (until) => this.#focused(until),
    }
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
    throw noWindow(id)
  }

  /** The part of a window that all compositors describe. `mark` keeps their ids apart from X11's. */
  protected identify(
    { id, title, pid, appId, xId }: Described,
    mark: string,
  ): Pick<TopWindow, "id" | "title" | "pid" | "wmClass" | "desktopFile" | "isNative"> {
    return {
      id: xId && this.env.DISPLAY ? `w-${xId}` : `w-${mark}${id}`,
      title,
      pid,
      wmClass: appId ? { instance: appId, className: appId } : undefined,
      desktopFile: appId || undefined,
      isNative: !xId,
    }
  }

  /** Waits until the window is as requested. Any change of its frame is enough: compositors have their own limits. */
  async #untilDone(before: TopWindow, op: WindowOp, deadline: Deadline): Promise<void> {
    const { id, frame } = before
    const patience = deadline.slice(CHANGE_MS)
    for (;;) {
      const now = await this.windowOf(id, deadline)
      if (isDone(op, now, before)) return
      if (patience.expired) {
        if (PLACING.has(op.kind) && frame && SIDES.some((side) => now.frame?.[side] !== frame[side])) return
        throw new AppError("ACTION_FAILED", `Window '${id}' could not be ${PARTICIPLES[op.kind]}`, {
          suggestion: "Run 'list-windows' to see its present state",
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

const noWindow = (id: string): AppError => windowNotFound(id).with({ disposition: NOTHING_DELIVERED })

/** A compositor's own names for a window. */
interface Described {
  readonly id: string | number
  readonly title: string
  readonly pid: number
  readonly appId: string
  /** The id of its Xwayland window; 0 or undefined for a native Wayland window. */
  readonly xId?: number
}

function isDone(op: WindowOp, { frame, ...now }: TopWindow, before: TopWindow): boolean {
  switch (op.kind) {
    case "focus":
      return now.focused && !now.minimized
    case "move":
      return frame?.x === op.x && frame.y === op.y
    case "resize":
      return frame?.width === op.width && frame.height === op.height
    case "minimize":
      return now.minimized
    case "maximize":
      return now.maximized
    case "restore":
      return !now.minimized && (before.minimized || !now.maximized)
    default:
      return op satisfies never
  }
}

const PARTICIPLES = {
  focus: "focused",
  move: "moved",
  resize: "resized",
  minimize: "minimized",
  maximize: "maximized",
  restore: "restored",
} as const
const PLACING: ReadonlySet<WindowOp["kind"]> = new Set<WindowOp["kind"]>(["move", "resize", "maximize"])
const SIDES = ["x", "y", "width", "height"] as const
const ABOVE = 2
const CHANGE_MS = 1500
const REACTION_MS = 500
const LOOK_MS = 10
