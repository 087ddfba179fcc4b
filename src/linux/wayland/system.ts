import type { Env } from "../../adapter.ts"
import type { WindowSystem } from "../windowing/system.ts"

/** The window system of a Wayland compositor, with what this compositor lets programs see and do. */
export async function openWayland(env: Env): Promise<WindowSystem> {
  const { Sway } = await import("./sway.ts")
  const sway = Sway.find(env)
  if (!sway) return new (await import("./floor.ts")).Floor(env)
  return new (await import("./sway-windows.ts")).SwayWindows(env, sway)
}

export { withXwayland } from "./mixed.ts"
