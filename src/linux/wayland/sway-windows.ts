import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import type { Sway, SwayView } from "./sway.ts"
import { type View, WindowCompositor, type WindowRequest } from "./window-compositor.ts"

/** Sway as a window system: windows and their positions by sway's own protocol, the rest by Wayland protocols. */
export class SwayWindows extends WindowCompositor {
  readonly #sway: Sway

  constructor(env: Env, sway: Sway) {
    super(env)
    this.#sway = sway
  }

  override watch(changed: () => void, deadline: Deadline): Promise<Disposable> {
    return this.#sway.watch(changed, deadline)
  }

  protected override async request(id: string, request: WindowRequest, deadline: Deadline): Promise<boolean> {
    const view = (await this.#sway.views(deadline)).find((one) => this.#window(one).id === id)
    if (!view) return false
    await this.#sway.run(`[con_id=${view.id}] ${commandOf(id, view, request)}`, deadline)
    return true
  }

  protected override async views(deadline: Deadline): Promise<readonly View[]> {
    const views = await this.#sway.views(deadline)
    return views.map((view) => ({ window: this.#window(view), isVisible: view.visible }))
  }

  protected override async devices(wayland: Wayland): Promise<Devices> {
    return (await import("./virtual-devices.ts")).virtualDevices(wayland, this.env)
  }

  #window(view: SwayView): TopWindow {
    return {
      ...this.identify(view, "s"),
      bounds: view.content,
      frame: view.frame,
      focused: view.focused,
      minimized: false,
      maximized: view.fullscreen,
      modal: false,
      types: ["normal"],
    }
  }
}

function commandOf(id: string, view: SwayView, op: WindowRequest): string {
  switch (op.kind) {
    case "focus":
      return "focus"
    case "move":
      refuseTile(id, view)
      // Sway moves the frame, title bar included.
      return `move absolute position ${op.x} ${op.y}`
    case "resize":
      refuseTile(id, view)
      return `resize set width ${op.width} px height ${op.height} px`
    case "minimize":
    case "maximize":
    case "restore":
      throw new AppError("ACTION_NOT_SUPPORTED", `Sway cannot ${op.kind} windows`, {
        suggestion: "Use 'move-window', 'resize-window' or 'focus-window'",
        disposition: NOTHING_DELIVERED,
      })
    case "close":
      return "kill"
    default:
      throw op satisfies never
  }
}

function refuseTile(id: string, { floating }: SwayView): void {
  if (floating) return
  throw new AppError("ACTION_NOT_SUPPORTED", `Window '${id}' is a tile, which sway places`, {
    suggestion: "Make it float first: 'focus-window' it, then swaymsg floating enable",
    disposition: NOTHING_DELIVERED,
  })
}
