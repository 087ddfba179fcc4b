import type { WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import { InputCompositor } from "./input-compositor.ts"
import { askToplevel, followToplevels, type Toplevel, type ToplevelRequest } from "./toplevels.ts"
import { virtualDevices } from "./virtual-devices.ts"

/**
 * A wlroots compositor without a protocol of its own. Windows come from the accessibility bus, without positions.
 * Pointer input goes to screen points, and keys to the focused window. The compositor reports the titles and states of
 * its windows, which identify the windows of the accessibility bus.
 */
export class Wlroots extends InputCompositor {
  /** The titles of the windows that were listed, by their ids. */
  readonly #titles = new Map<string, string>()

  /** A window counts as focused only if both its app and the compositor say so. */
  async recognize(windows: readonly TopWindow[], deadline: Deadline): Promise<readonly TopWindow[]> {
    const toplevels = await this.connected(deadline, async (wayland) =>
      (await followToplevels(wayland, deadline))?.(),
    )
    if (!toplevels) return windows
    this.#titles.clear()
    for (const { id, title } of windows) this.#titles.set(id, title)
    return windows.map((window) => {
      const likes = windows.filter(({ title }) => title === window.title)
      const fitting = toplevels.filter(({ title }) => title === window.title)
      // If a second window with this title also claims the focus, it is unclear which one has it.
      const isOnlyClaim = isClaimed(window) && likes.filter(isClaimed).length === 1
      const focused = isOnlyClaim && fitting.some(({ activated }) => activated)
      const [only, ...others] = fitting
      if (!only || others.length > 0 || likes.length > 1) return { ...window, focused }
      return {
        ...window,
        focused,
        minimized: only.minimized,
        maximized: only.maximized,
        wmClass: only.appId ? { instance: only.appId, className: only.appId } : undefined,
        desktopFile: only.appId || undefined,
      }
    })
  }

  override async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    if (op.kind === "move" || op.kind === "resize") return super.operate(id, op, deadline)
    await this.connected(deadline, async (wayland) => {
      const now = await this.#find(wayland, id, deadline)
      const before = now()
      await askToplevel(wayland, before, requestFor(op.kind, before), deadline)
      const patience = deadline.slice(CHANGE_MS)
      await wayland
        .wait(() => isDone(op.kind, before, now()), patience)
        .catch((error: unknown) => {
          if (wayland.closed) throw error
          throw new AppError("ACTION_FAILED", `The compositor did not ${op.kind} window '${id}'`, {
            suggestion: "Run 'list-windows' to see how it is now",
            disposition: { delivery: "delivered_unverified", retry: "safe" },
          })
        })
    })
  }

  override async requestClose(id: string, deadline: Deadline): Promise<string | undefined> {
    return this.connected(deadline, async (wayland) => {
      const now = await this.#find(wayland, id, deadline).catch(unlessUnknown)
      if (!now) return undefined
      await askToplevel(wayland, now(), "close", deadline)
      return "xdg_toplevel.close"
    })
  }

  protected override devices(wayland: Wayland): Devices {
    return virtualDevices(wayland, this.env)
  }

  /** The only window with this title, as it is now. Throws if there are several or none. */
  async #find(wayland: Wayland, id: string, deadline: Deadline): Promise<() => Toplevel> {
    const title = this.#titles.get(id)
    if (title === undefined) throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
    const all = await followToplevels(wayland, deadline)
    const fitting = all?.().filter((one) => one.title === title) ?? []
    const likes = [...this.#titles.values()].filter((one) => one === title)
    const [only, ...others] = fitting
    if (!all || !only) throw unknown(id)
    if (others.length > 0 || likes.length > 1)
      throw new AppError(
        "AMBIGUOUS_TARGET",
        `Several windows have the title of window '${id}', and this compositor reports nothing else about them`,
        {
          suggestion: "Close or rename one of them, or use commands that work by accessibility",
          disposition: NOTHING_DELIVERED,
        },
      )
    return () => all().find(({ object }) => object === only.object) ?? only
  }
}

const isClaimed = ({ focused, mayHaveFocus }: TopWindow): boolean => focused || mayHaveFocus === true

function requestFor(kind: StateOp, { minimized }: Toplevel): ToplevelRequest {
  if (kind !== "restore") return kind
  return minimized ? "unminimize" : "unmaximize"
}

function isDone(kind: StateOp, before: Toplevel, now: Toplevel): boolean {
  switch (kind) {
    case "focus":
      return now.activated && !now.minimized
    case "minimize":
      return now.minimized
    case "maximize":
      return now.maximized
    case "restore":
      return before.minimized ? !now.minimized : !now.maximized
    default:
      throw kind satisfies never
  }
}

function unknown(id: string): AppError {
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The compositor does not report which of its windows is '${id}'`,
    {
      suggestion:
        "Use commands that work by accessibility: click, type, set-value, check and select by ref; or run the app on an isolated desktop: agent-desktop desktop-start",
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** undefined: this window cannot be distinguished from others. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code === "TIMEOUT") throw error
}

type StateOp = Exclude<WindowOp["kind"], "move" | "resize">

const CHANGE_MS = 1500
