import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { WindowSystem } from "../windowing/system.ts"
import { Floor } from "./floor.ts"

/** The window system of a Wayland compositor, with what this compositor lets programs see and do. */
export async function openWayland(_env: Env, _deadline: Deadline): Promise<WindowSystem> {
  return new Floor()
}

export { withXwayland } from "./mixed.ts"
