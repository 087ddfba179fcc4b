import { desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

export const at = (x: number, y: number) => ({ x, y, width: 80, height: 20 })

/** A desk with one window that holds these elements, and a snapshot of it. */
export async function shown(children: readonly Spec[], { addresses = true } = {}) {
  const it = desk()
  it.world.hasAddresses = addresses
  const app = it.world.app("Mail", { pid: 10 })
  const window = app.window("Inbox", children, { id: "w-1" })
  await it.ok("snapshot")
  return { ...it, app, window }
}

/** A platform that finds objects by their address, and one that knows only their path. */
export const PLATFORMS = [
  ["by address", { addresses: true }],
  ["by path", { addresses: false }],
] as const

export const save: Spec = { role: "button", name: "Save", states: ["enabled"], bounds: at(10, 10) }

export const cancel: Spec = { role: "button", name: "Cancel", states: ["enabled"], bounds: at(100, 10) }
