import type { Deadline } from "../deadline.ts"
import type { X11, XEvent } from "./x11.ts"
import { EVENT, getNumbers, MASK } from "./x11-requests.ts"

/**
 * Calls back whenever windows come, go, get another title or state, or the focus moves to another one: also
 * for programs that say nothing on the accessibility bus. Ends when it is disposed of.
 */
export async function watchWindows(x: X11, deadline: Deadline, changed: () => void): Promise<Disposable> {
  await x.intern([...TELLING, LIST], deadline)
  const listened = new Map<number, Disposable>()
  const follow = async (): Promise<void> => {
    const windows = new Set(await getNumbers(x, x.root, x.atom(LIST), deadline))
    for (const [id, ended] of listened) {
      if (windows.has(id)) continue
      listened.delete(id)
      ended[Symbol.dispose]()
    }
    for (const id of windows) if (!listened.has(id)) listened.set(id, x.select(id, MASK.property))
  }
  const root = x.select(x.root, MASK.property | MASK.substructure)
  // Nothing is queued: that something happened is all there is to know.
  const events = x.listen((event) => {
    if (!isTelling(x, event)) return false
    // Whoever waits looks again anyway when the list cannot be read.
    if (isProperty(x, event, LIST)) follow().catch(() => {})
    changed()
    return false
  })
  const stop = (): void => {
    events[Symbol.dispose]()
    for (const one of [root, ...listened.values()]) one[Symbol.dispose]()
    listened.clear()
  }
  try {
    await follow()
  } catch (error) {
    stop()
    throw error
  }
  return { [Symbol.dispose]: stop }
}

const LIST = "_NET_CLIENT_LIST"
/** Others change with every key, such as the time of the last one. */
const TELLING = ["_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "WM_NAME", "_NET_WM_STATE", "WM_STATE"] as const

/** A window that only moves, or that never showed, is not waited for. */
const COMING_AND_GOING: ReadonlySet<number> = new Set([EVENT.mapNotify, EVENT.unmapNotify])

function isTelling(x: X11, event: XEvent): boolean {
  if (COMING_AND_GOING.has(event.code)) return true
  return [LIST, ...TELLING].some((name) => isProperty(x, event, name))
}

const isProperty = (x: X11, { code, packet }: XEvent, name: string): boolean =>
  code === EVENT.propertyNotify && x.isAtom(packet.u32(8), name)
