import { desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

/** Scripted windows for the tests of targets. */

export const BOUNDS = { x: 10, y: 10, width: 100, height: 20 }

export const button = (name: string, more: Partial<Spec> = {}): Spec => ({
  role: "button",
  name,
  states: ["enabled"],
  bounds: BOUNDS,
  ...more,
})
export const text = (name: string): Spec => ({ role: "statictext", name })
export const group = (...children: Spec[]): Spec => ({ role: "group", children })
export const row = (...children: Spec[]): Spec => ({ role: "row", children })

/** A desk whose only window holds these elements. */
export function holding(...children: Spec[]) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  const window = app.window("Window", children, { id: WINDOW.id })
  it.world.popups = (pid) => (pid === 10 ? app.surfaces.size : 0)
  return { ...it, app, window }
}

/** The window as results name it. */
export const WINDOW = { id: "w-1", title: "Window", app_name: "App" }
