import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { WindowSystem } from "../windowing/system.ts"
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

export { withXwayland } from "./xwayland.ts"
