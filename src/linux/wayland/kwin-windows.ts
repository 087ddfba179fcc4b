import type { Env, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { Picture } from "../../desktop.ts"
import { NOTHING_DELIVERED, windowNotFound } from "../../errors.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Wayland } from "./connection.ts"
import type { Devices } from "./devices.ts"
import type { BusAccess, KWin, KWinView } from "./kwin.ts"
import { Placed, type View } from "./placed.ts"
import { seatWith } from "./seat.ts"

/** KWin as a window system: windows by its scripts, input by the desktop portal, the rest by protocols of Wayland. */
export class KWinWindows extends Placed {
  readonly #kwin: KWin
  readonly #access: BusAccess

  constructor(env: Env, access: BusAccess, kwin: KWin) {
    super(env)
    this.#kwin = kwin
    this.#access = access
  }

  override async operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    const before = await this.windowOf(id, deadline)
    const uuid = await this.#uuidOf(id, deadline)
    const change = async (code: string) => {
      if (uuid !== undefined && (await this.#kwin.change(uuid, code, deadline))) return
      throw windowNotFound(id).with({ disposition: NOTHING_DELIVERED })
    }
    switch (op.kind) {
      case "focus":
        await change("activate(w)")
        return this.untilIs(id, ({ focused, minimized }) => focused && !minimized, "focused", deadline)
      case "move": {
        await change(`place(w, ${op.x}, ${op.y}, null, null)`)
        const isThere = ({ frame }: TopWindow) => frame?.x === op.x && frame.y === op.y
        return this.untilIs(id, isThere, "moved", deadline, before.frame)
      }
      case "resize": {
        await change(`place(w, null, null, ${op.width}, ${op.height})`)
        const isSo = ({ frame }: TopWindow) => frame?.width === op.width && frame.height === op.height
        return this.untilIs(id, isSo, "resized", deadline, before.frame)
      }
      case "minimize":
        await change("w.minimized = true")
        return this.untilIs(id, ({ minimized }) => minimized, "minimized", deadline)
      case "maximize":
        await change("w.minimized = false; w.setMaximize(true, true)")
        return this.untilIs(id, ({ maximized }) => maximized, "maximized", deadline, before.frame)
      case "restore":
        await change("if (w.minimized) w.minimized = false; else w.setMaximize(false, false)")
        return this.untilIs(
          id,
          ({ minimized, maximized }) => !minimized && (before.minimized || !maximized),
          "restored",
          deadline,
        )
      default:
        throw op satisfies never
    }
  }

  override async requestClose(id: string, deadline: Deadline): Promise<string | undefined> {
    const uuid = await this.#uuidOf(id, deadline)
    const isAsked = uuid !== undefined && (await this.#kwin.change(uuid, "w.closeWindow()", deadline))
    return isAsked ? "xdg_toplevel.close" : undefined
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
    return (await this.#kwin.views(deadline)).find((view) => this.#idOf(view) === id)?.id
  }

  #idOf({ id, xId }: Pick<KWinView, "id" | "xId">): string {
    return xId && this.env.DISPLAY ? `w-${xId}` : `w-${id}`
  }

  /** `isCovered`: the overview shows, which takes keys and clicks. */
  #window(view: KWinView, isCovered: boolean): TopWindow {
    return {
      id: this.#idOf(view),
      title: view.title,
      pid: view.pid,
      wmClass: view.appId ? { instance: view.appId, className: view.appId } : undefined,
      desktopFile: view.appId || undefined,
      bounds: view.buffer,
      frame: view.frame,
      isNative: !view.xId,
      focused: view.active && !isCovered,
      minimized: view.minimized,
      maximized: view.maximized,
      modal: view.modal,
      types: [view.type],
      transientFor: view.owner ? `w-${view.owner}` : undefined,
    }
  }
}
