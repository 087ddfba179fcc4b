import type { PopupWatch } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { isPassing } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import { EVENT, MASK } from "./requests.ts"
import { learnAtoms, readWindows } from "./window.ts"

/** Follows the popups that open and close from now on. Costs one round trip before and one after. */
export async function watchPopups(x: X11, deadline: Deadline): Promise<PopupWatch> {
  const opened = new Set<number>()
  let hasClosed = false
  const selected = x.select(x.root, MASK.substructure)
  const events = x.listen(({ code, packet }) => {
    const window = packet.u32(8)
    // A window that the window manager manages is never override-redirect.
    if (code === EVENT.mapNotify && packet.u8(12) === 1) opened.add(window)
    if (code === EVENT.unmapNotify) hasClosed = !opened.delete(window) || hasClosed
    return false
  })
  const stop = (): void => {
    events[Symbol.dispose]()
    selected[Symbol.dispose]()
  }
  try {
    await x.sync(deadline)
  } catch (error) {
    stop()
    throw error
  }
  return {
    look: async (pid) => {
      await x.sync(deadline)
      if (opened.size === 0) return hasClosed ? "closed" : undefined
      await learnAtoms(x, deadline)
      const windows = await readWindows(x, [...opened], deadline)
      const isOwn = windows.some((window) => window.pid === pid && !isPassing(window))
      return isOwn ? "opened" : hasClosed ? "closed" : undefined
    },
    [Symbol.dispose]: stop,
  }
}
