import type { Deadline } from "../../deadline.ts"
import type { PopupWatch } from "../../watch.ts"
import { isPassing, windowId } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import { EVENT, MASK } from "./requests.ts"
import { learnAtoms, readWindows, type XWindow } from "./window.ts"

/** Follows the popups that open and close, and the windows that are made, from now on. Costs one round trip before and one after. */
export async function watchPopups(x: X11, deadline: Deadline): Promise<PopupWatch> {
  const opened = new Set<number>()
  const made = new Set<number>()
  const shown = new Set<number>()
  let hasClosed = false
  const selected = x.select(x.root, MASK.substructure)
  const events = x.listen(({ code, packet }) => {
    const window = packet.u32(8)
    // A window that the window manager manages is never override-redirect.
    if (code === EVENT.mapNotify && packet.u8(12) === 1) opened.add(window)
    if (code === EVENT.createNotify && packet.u8(22) === 0) made.add(window)
    // A window manager puts a window that is to show into a frame.
    if (code === EVENT.reparentNotify || (code === EVENT.mapNotify && packet.u8(12) === 0)) shown.add(window)
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
      if (opened.size === 0 && made.size === 0 && shown.size === 0) return hasClosed ? "closed" : undefined
      await learnAtoms(x, deadline)
      const own = (await readWindows(x, [...new Set([...opened, ...made, ...shown])], deadline)).filter(
        (window) => window.pid === pid && !isPassing(window),
      )
      if (own.some(({ id }) => opened.has(id))) return "opened"
      const windows = own.filter(isVisible)
      if (windows.some(({ id }) => shown.has(id))) return "window"
      return windows.length > 0 ? "hidden window" : hasClosed ? "closed" : undefined
    },
    forget: () => {
      opened.clear()
      made.clear()
      shown.clear()
      hasClosed = false
    },
    hasAppeared: (id) => [...made, ...shown].some((window) => windowId(window) === id),
    [Symbol.dispose]: stop,
  }
}

/** Toolkits make tiny windows that never show, for the clipboard for example. */
const isVisible = ({ bounds: { width, height } }: XWindow): boolean => Math.min(width, height) > MOST_HIDDEN

const MOST_HIDDEN = 16
