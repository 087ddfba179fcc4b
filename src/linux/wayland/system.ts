import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { WindowSystem } from "../windowing/system.ts"
import type { BusAccess } from "./kwin.ts"

/** The window system of a Wayland compositor, with what this compositor lets programs see and do. */
export async function openWayland(env: Env, access: BusAccess, deadline: Deadline): Promise<WindowSystem> {
  const { Sway } = await import("./sway.ts")
  const sway = Sway.find(env)
  if (sway) return new (await import("./sway-windows.ts")).SwayWindows(env, sway)
  const { findOnBus } = await import("./on-bus.ts")
  const owner = await findOnBus(env, access, "org.kde.KWin", deadline)
  if (owner) {
    const [{ KWin }, { KWinWindows }] = await Promise.all([import("./kwin.ts"), import("./kwin-windows.ts")])
    return new KWinWindows(env, access, new KWin(env, access, owner))
  }
  const shell = await findOnBus(env, access, "org.gnome.Shell", deadline)
  if (!shell) return new (await import("./floor.ts")).Floor(env)
  const { Gnome, GnomeExtension, GnomePlaced } = await import("./gnome.ts")
  const extension = await GnomeExtension.find(access, shell, deadline)
  return extension ? new GnomePlaced(env, access, shell, extension) : new Gnome(env, access, shell)
}

export { withXwayland } from "./mixed.ts"
