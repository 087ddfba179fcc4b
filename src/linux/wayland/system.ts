import type { Env, InputEvent, ScreenshotTarget, WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp, Picture } from "../../desktop.ts"
import { AppError } from "../../errors.ts"
import type { DisplayInfo, Point } from "../../node.ts"
import type { InputLock } from "../../turn.ts"
import type { ScreenWatch } from "../../watch.ts"
import type { MenuNote, Owner, WindowSystem } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { BusAccess } from "./session-bus.ts"

/** The window system of a Wayland compositor. Its abilities depend on what this compositor allows programs. */
export async function openWayland(env: Env, access: BusAccess, deadline: Deadline): Promise<WindowSystem> {
  const { Sway } = await import("./sway.ts")
  const sway = Sway.find(env)
  if (sway) return new (await import("./sway-windows.ts")).SwayWindows(env, sway)
  const { compositorOnBus } = await import("./session-bus.ts")
  const owner = await compositorOnBus(env, access, "org.kde.KWin", deadline)
  if (owner) {
    const [{ KWin }, { KWinWindows }] = await Promise.all([import("./kwin.ts"), import("./kwin-windows.ts")])
    return new KWinWindows(env, access, new KWin(env, access, owner))
  }
  const shell = await compositorOnBus(env, access, "org.gnome.Shell", deadline)
  if (!shell) return openPlain(env, deadline)
  const { Gnome, GnomeExtension, GnomeWithExtension } = await import("./gnome.ts")
  const extension = await GnomeExtension.find(access, shell, deadline)
  return extension ? new GnomeWithExtension(env, access, shell, extension) : new Gnome(env, access, shell)
}

/** For a compositor without a bus name: its protocols show whether it accepts input. */
async function openPlain(env: Env, deadline: Deadline): Promise<WindowSystem> {
  const [{ Wayland }, { hasVirtualDevices }] = await Promise.all([
    import("./connection.ts"),
    import("./virtual-devices.ts"),
  ])
  const wayland = await Wayland.connect(env, deadline).catch(unlessGone)
  wayland?.close()
  return wayland && hasVirtualDevices(wayland)
    ? new (await import("./wlroots.ts")).Wlroots(env)
    : new (await import("./compositor.ts")).Compositor(env)
}

/** undefined: there is no compositor. Apps still show their trees. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== "PLATFORM_NOT_SUPPORTED") throw error
}

/** A compositor together with its X server, Xwayland: the windows of both, each once. */
export function withXwayland(native: WindowSystem, x: WindowSystem): WindowSystem {
  return new WithXwayland(native, x)
}

/** X11 window ids are numbers. */
const isX = (id: string | undefined): boolean => id !== undefined && /^w-\d+$/.test(id)

class WithXwayland implements WindowSystem {
  readonly listsAll: boolean
  readonly hasInput = true
  readonly #native: WindowSystem
  readonly #x: WindowSystem

  constructor(native: WindowSystem, x: WindowSystem) {
    this.#native = native
    this.#x = x
    this.listsAll = native.listsAll
  }

  async isNative(pid: number, deadline: Deadline): Promise<boolean> {
    const [windows, popups] = await Promise.all([this.#x.windows(deadline), this.#x.popups(deadline)])
    return ![...windows, ...(popups ?? [])].some((window) => window.pid === pid)
  }

  async windows(deadline: Deadline): Promise<readonly TopWindow[]> {
    return (await Promise.all([this.#native.windows(deadline), this.#x.windows(deadline)])).flat()
  }

  async recognize(windows: readonly TopWindow[], deadline: Deadline): Promise<readonly TopWindow[]> {
    return this.#native.recognize?.(windows, deadline) ?? windows
  }

  async mates(id: string, deadline: Deadline): Promise<readonly TopWindow[]> {
    if (id !== "focused") return this.#of(id).mates(id, deadline)
    const own = await this.#native.mates(id, deadline)
    return own.length > 0 ? own : this.#x.mates(id, deadline)
  }

  async existing(ids: readonly string[], deadline: Deadline): Promise<ReadonlySet<string>> {
    const [ofX, others] = [ids.filter(isX), ids.filter((id) => !isX(id))]
    const [left, leftOthers] = await Promise.all([
      this.#x.existing(ofX, deadline),
      this.#native.existing(others, deadline),
    ])
    return left.union(leftOthers)
  }

  async popups(deadline: Deadline): Promise<readonly TopWindow[] | undefined> {
    // Only X11 popups are known. A process without one there may have a Wayland popup.
    const ofX = (await this.#x.popups(deadline)) ?? []
    return ofX.length > 0 ? ofX : this.#native.popups(deadline)
  }

  windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined> {
    return this.#placed.windowAt(point, deadline)
  }

  async watch(changed: () => void, deadline: Deadline): Promise<Disposable> {
    const both = await Promise.all([this.#native.watch(changed, deadline), this.#x.watch(changed, deadline)])
    return {
      [Symbol.dispose]: () => {
        for (const one of both) one[Symbol.dispose]()
      },
    }
  }

  operate(id: string, op: WindowOp, deadline: Deadline): Promise<void> {
    return this.#master(id).operate(id, op, deadline)
  }

  requestClose(id: string, deadline: Deadline): Promise<string | undefined> {
    return this.#master(id).requestClose(id, deadline)
  }

  caughtUp(id: string, deadline: Deadline): Promise<boolean> {
    return this.#of(id).caughtUp(id, deadline)
  }

  openLock(deadline: Deadline): Promise<InputLock> {
    return (this.#native.hasInput ? this.#native : this.#x).openLock(deadline)
  }

  hasKeys(owner: Owner, deadline: Deadline): Promise<boolean | undefined> {
    return this.#master(owner.window).hasKeys(owner, deadline)
  }

  /** Input through Xwayland reaches only its own windows, so it must be meant for one. */
  input(event: InputEvent, deadline: Deadline, owner?: Owner, approach?: () => Promise<void>): Promise<void> {
    const way = isX(owner?.window) ? this.#placed : this.#native
    return way.input(event, deadline, owner, approach)
  }

  visitRow(at: Point, top: number, deadline: Deadline): Promise<void> {
    return this.#placed.visitRow(at, top, deadline)
  }

  readMenuNotes(pid: number, deadline: Deadline): Promise<readonly string[]> {
    return this.#x.readMenuNotes(pid, deadline)
  }

  writeMenuNote(menu: MenuNote, deadline: Deadline): Promise<void> {
    return this.#x.writeMenuNote(menu, deadline)
  }

  /** Compositors share Xwayland's clipboard with their own clients. One that refuses has done nothing. */
  async clipboard(op: ClipboardOp, deadline: Deadline): Promise<string | undefined> {
    try {
      return await this.#native.clipboard(op, deadline)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "PLATFORM_NOT_SUPPORTED") throw error
      return this.#x.clipboard(op, deadline)
    }
  }

  picture(target: ScreenshotTarget, deadline: Deadline): Promise<Picture> {
    return this.#native.picture(target, deadline)
  }

  async watchScreen(deadline: Deadline): Promise<ScreenWatch | undefined> {
    return this.#native.watchScreen?.(deadline)
  }

  displays(deadline: Deadline): Promise<readonly DisplayInfo[]> {
    return this.#native.hasInput ? this.#native.displays(deadline) : this.#x.displays(deadline)
  }

  /** The system that knows the positions of Xwayland's windows and moves the pointer there. */
  get #placed(): WindowSystem {
    return this.#native.listsAll ? this.#native : this.#x
  }

  /** The system that controls a window: a compositor may ignore X clients' requests about each other's windows. */
  #master(id: string | undefined): WindowSystem {
    return isX(id) ? this.#placed : this.#native
  }

  #of(id: string | undefined): WindowSystem {
    return isX(id) ? this.#x : this.#native
  }
}
