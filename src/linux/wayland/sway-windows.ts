import type { Env, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import { Placed, type View } from "./placed.ts"
import type { Sway, SwayView } from "./sway.ts"

/** Sway as a window system: windows and their places by its own protocol, the rest by those of Wayland. */
export class SwayWindows extends Placed {
  readonly #sway: Sway

  constructor(env: Env, sway: Sway) {
    super(env)
    this.#sway = sway
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
        return this.untilIs(id, ({ focused }) => focused, "focused", deadline)
      case "move": {
        refuseTile(id, view)
        // Sway moves the frame, title bar included.
        await this.#sway.run(`${target} move absolute position ${op.x} ${op.y}`, deadline)
        const isThere = ({ frame }: TopWindow) => frame?.x === op.x && frame.y === op.y
        return this.untilIs(id, isThere, "moved", deadline, view.frame)
      }
      case "resize": {
        refuseTile(id, view)
        await this.#sway.run(`${target} resize set width ${op.width} px height ${op.height} px`, deadline)
        const isSo = ({ frame }: TopWindow) => frame?.width === op.width && frame.height === op.height
        return this.untilIs(id, isSo, "resized", deadline, view.frame)
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

  protected override async views(deadline: Deadline): Promise<readonly View[]> {
    const views = await this.#sway.views(deadline)
    return views.map((view) => ({ window: this.#window(view), isVisible: view.visible }))
  }

  protected override devices(wayland: Wayland): Devices {
    const { env } = this
    return {
      pointer: async (outputs, deadline) => {
        const { PointerDevice } = await import("./pointer-device.ts")
        return (await PointerDevice.open(wayland, outputs, deadline)) ?? noDevice("pointer")
      },
      keyboard: async (deadline) => {
        const { KeyboardDevice } = await import("./keyboard-device.ts")
        return (await KeyboardDevice.open(wayland, env, deadline)) ?? noDevice("keyboard")
      },
    }
  }

  async #view(id: string, deadline: Deadline): Promise<SwayView> {
    const view = (await this.#sway.views(deadline)).find((one) => this.#idOf(one) === id)
    if (view) return view
    throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
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

function noDevice(device: string): never {
  throw new AppError("PLATFORM_NOT_SUPPORTED", `This compositor takes no ${device} input from programs`, {
    suggestion:
      "Use commands that work by accessibility, or an isolated desktop: agent-desktop desktop-start",
    disposition: NOTHING_DELIVERED,
  })
}
