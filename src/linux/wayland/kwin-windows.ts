import type { Env, ScreenshotTarget } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import type { KWin, KWinView } from "./kwin.ts"
import { seatWith } from "./seat.ts"
import type { BusAccess } from "./session-bus.ts"
import { type View, WindowCompositor, type WindowRequest } from "./window-compositor.ts"

/** KWin as a window system: windows by KWin scripts, input by the desktop portal, the rest by Wayland protocols. */
export class KWinWindows extends WindowCompositor {
  readonly #kwin: KWin
  readonly #access: BusAccess

  constructor(env: Env, access: BusAccess, kwin: KWin) {
    super(env)
    this.#kwin = kwin
    this.#access = access
  }

  protected override async request(id: string, request: WindowRequest, deadline: Deadline): Promise<boolean> {
    const uuid = await this.#uuidOf(id, deadline)
    return uuid !== undefined && this.#kwin.change(uuid, codeOf(request), deadline)
  }

  override async picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    return (await import("./portal-picture.ts")).takePortalPicture(this.#access, target, deadline)
  }

  protected override async views(deadline: Deadline): Promise<readonly View[]> {
    const [views, isCovered] = await Promise.all([
      this.#kwin.views(deadline),
      this.#kwin.hasOverview(deadline),
    ])
    return views.map((view) => ({
      window: this.#window(view, isCovered),
      isVisible: view.visible && !isCovered,
      isPopup: view.type === "popup" || view.type === "other",
    }))
  }

  protected override devices(wayland: Wayland): Devices {
    const [env, access, kwin] = [this.env, this.#access, this.#kwin]
    const open = async (deadline: Deadline, type: "keyboard" | "pointer") => {
      const { openRemote } = await import("./portal-remote.ts")
      await seatWith(wayland, type, deadline)
      return openRemote(env, access, deadline)
    }
    return {
      pointer: async (_, deadline) => {
        const { TrackedPointer } = await import("./remote.ts")
        return new TrackedPointer(await open(deadline, "pointer"), (until) => kwin.cursor(until))
      },
      keyboard: async (deadline) => {
        const { RemoteKeyboard } = await import("./remote.ts")
        return RemoteKeyboard.open(env, await open(deadline, "keyboard"), deadline)
      },
    }
  }

  /** undefined: there is no such window. */
  async #uuidOf(id: string, deadline: Deadline): Promise<string | undefined> {
    return (await this.#kwin.views(deadline)).find((view) => this.identify(view, "").id === id)?.id
  }

  /** `isCovered`: the overview is open, which takes keys and clicks. */
  #window(view: KWinView, isCovered: boolean): TopWindow {
    return {
      ...this.identify(view, ""),
      bounds: view.buffer,
      frame: view.frame,
      focused: view.active && !isCovered,
      minimized: view.minimized,
      maximized: view.maximized,
      modal: view.modal,
      types: [view.type],
      transientFor: view.owner ? `w-${view.owner}` : undefined,
    }
  }
}

/** The request as script code that acts on a window `w`. */
function codeOf(op: WindowRequest): string {
  switch (op.kind) {
    case "focus":
      return "activate(w)"
    case "move":
      return `place(w, ${op.x}, ${op.y}, null, null)`
    case "resize":
      return `place(w, null, null, ${op.width}, ${op.height})`
    case "minimize":
      return "w.minimized = true"
    case "maximize":
      return "w.minimized = false; w.setMaximize(true, true)"
    case "restore":
      return "if (w.minimized) w.minimized = false; else w.setMaximize(false, false)"
    case "close":
      return "w.closeWindow()"
    default:
      throw op satisfies never
  }
}
