import { desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"
import { shortTimeout } from "../support/pace.ts"

/** A desk with one element to act on. */

export const bounds = { x: 10, y: 10, width: 100, height: 20 }

const element = { name: "It", bounds } as const
export const ON = { ...element, role: "checkbox", states: ["enabled", "checked"] } as const
export const OFF = { ...element, role: "checkbox", states: ["enabled", "unchecked"] } as const
export const FIELD = { ...element, role: "textfield", value: "abc", states: ["enabled"] } as const
export const BUTTON = { ...element, role: "button", states: ["enabled"] } as const
export const CLOSED = { ...element, role: "combobox", value: "A", states: ["enabled", "collapsed"] } as const
export const OPEN = { ...element, role: "combobox", value: "A", states: ["enabled", "expanded"] } as const

/** A desk whose one window holds this element as @e1, and more elements beside it. */
export async function holding(spec: Spec, ...more: Spec[]) {
  const it = desk()
  const app = it.world.app("App", { pid: 10 })
  const window = app.window("Window", [spec, ...more], { id: "w-1" })
  await it.ok("snapshot", { offscreen: true })
  const element = window.root.children[0]!
  const act = (name: string, args: object = {}): Promise<Json> => it.run(name, { ref_id: "@e1", ...args })
  return { ...it, app, window, element, act, sent: () => it.world.sent("It") }
}

/** Shorter than the command waits for an effect, and long enough for a loaded machine to deliver. */
export const SHORT = shortTimeout(600)
