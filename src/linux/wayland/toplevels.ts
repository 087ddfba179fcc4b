import type { Deadline } from "../../deadline.ts"
import type { Wayland } from "./connection.ts"
import { readSeat } from "./seat.ts"
import { WaylandMessage } from "./wire.ts"

/** A window as wlroots' foreign-toplevel protocol describes it: without process or position. */
export interface Toplevel {
  readonly object: number
  readonly title: string
  readonly appId: string
  readonly activated: boolean
  readonly minimized: boolean
  readonly maximized: boolean
}

export type ToplevelRequest = "focus" | "minimize" | "maximize" | "unmaximize" | "unminimize" | "close"

/** All windows of a compositor, updated while the connection lives. undefined: it lacks the protocol. */
export async function followToplevels(
  wayland: Wayland,
  deadline: Deadline,
): Promise<(() => readonly Toplevel[]) | undefined> {
  const all = new Map<number, Toplevel>()
  const manager = wayland.bind("zwlr_foreign_toplevel_manager_v1", 3, (event) => {
    if (event.opcode !== TOPLEVEL) return
    const object = event.u32()
    const set = (facts: Partial<Toplevel>) =>
      all.set(object, { ...(all.get(object) ?? NEW), object, ...facts })
    set({})
    wayland.adopt(object, (told) => {
      if (told.opcode === TITLE) set({ title: told.text() })
      if (told.opcode === APP_ID) set({ appId: told.text() })
      if (told.opcode === CLOSED) all.delete(object)
      if (told.opcode !== STATE) return
      const states = Array.from({ length: told.u32() / 4 }, () => told.u32())
      set({
        maximized: states.includes(MAXIMIZED),
        minimized: states.includes(MINIMIZED),
        activated: states.includes(ACTIVATED),
      })
    })
  })
  if (manager === undefined) return undefined
  // The first reply creates the objects, the second one describes them.
  await wayland.sync(deadline)
  await wayland.sync(deadline)
  return () => [...all.values()]
}

/** Asks the compositor for a change, without waiting for it. */
export async function askToplevel(
  wayland: Wayland,
  { object }: Toplevel,
  request: ToplevelRequest,
  deadline: Deadline,
): Promise<void> {
  const message = new WaylandMessage(object, REQUESTS[request])
  if (request === "focus") message.u32((await readSeat(wayland, deadline))?.object ?? 0)
  wayland.send(message)
  await wayland.sync(deadline)
}

const NEW = { title: "", appId: "", activated: false, minimized: false, maximized: false }
const REQUESTS: Readonly<Record<ToplevelRequest, number>> = {
  maximize: 0,
  unmaximize: 1,
  minimize: 2,
  unminimize: 3,
  focus: 4,
  close: 5,
}
const TOPLEVEL = 0
const TITLE = 0
const APP_ID = 1
const STATE = 4
const CLOSED = 6
const MAXIMIZED = 0
const MINIMIZED = 1
const ACTIVATED = 2
