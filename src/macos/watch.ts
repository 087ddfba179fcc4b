import { accessibility, observerCallback } from "../../ffi/accessibility.ts"
import { coreConstants, coreFoundation, Owned } from "../../ffi/core-foundation.ts"
import { AppError } from "../errors.ts"
import type { Watch } from "../watch.ts"
import type { Ax } from "./ax.ts"
import { turnRunLoop } from "./cf.ts"
import { CANNOT_COMPLETE } from "./failure.ts"

/** Longest time that the run loop may block other work. */
const TURN_S = 0.01

const NOTIFICATIONS = [
  "AXFocusedUIElementChanged",
  "AXFocusedWindowChanged",
  "AXValueChanged",
  "AXSelectedTextChanged",
  "AXSelectedChildrenChanged",
  "AXSelectedRowsChanged",
  "AXTitleChanged",
  "AXUIElementDestroyed",
  "AXCreated",
  "AXLayoutChanged",
  "AXWindowCreated",
  "AXSheetCreated",
  "AXMenuOpened",
  "AXMenuClosed",
  "AXRowCountChanged",
  "AXRowExpanded",
  "AXRowCollapsed",
  "AXElementBusyChanged",
  "AXWindowMiniaturized",
  "AXWindowDeminiaturized",
  "AXApplicationActivated",
] as const

/** Watches these processes for changes. Without processes, or if none of them answers, it only waits. */
export function watchProcesses(ax: Ax, pids: readonly number[] = []): Watch {
  let happened = false
  const callback = observerCallback(() => {
    happened = true
  })
  const observers = pids.flatMap((pid) => observe(ax, pid, callback.ptr))
  return {
    changed: async (maxMs) => {
      const end = performance.now() + maxMs
      for (;;) {
        const left = end - performance.now()
        if (observers.length > 0) turnRunLoop(Math.max(0, Math.min(TURN_S, left / 1000)))
        if (happened || left <= 0) break
        // Without observers the run loop would return at once.
        await (observers.length > 0
          ? new Promise((resolve) => setImmediate(resolve))
          : new Promise((resolve) => setTimeout(resolve, left)))
      }
      const seen = happened
      happened = false
      return seen
    },
    close: async () => {
      for (const observer of observers.splice(0)) forget(observer)
      callback.close()
    },
  }
}

/** Observes one process; an empty list if that fails. The caller gives the observer to `forget`. */
function observe(
  ax: Ax,
  pid: number,
  callback: Parameters<ReturnType<typeof accessibility>["AXObserverCreate"]>[1],
): Owned[] {
  const out = new BigUint64Array(1)
  const error = accessibility().AXObserverCreate(pid, callback, out)
  const observer = new Owned(out[0]!)
  if (error !== 0 || !observer.ref) {
    observer[Symbol.dispose]()
    return []
  }
  try {
    const app = ax.connection.app(pid)
    for (const name of NOTIFICATIONS) {
      // An app that does not answer would cost the same time again for every other name.
      if (ax.subscribe(observer.ref, app, name) === CANNOT_COMPLETE) break
    }
  } catch (failure) {
    if (!(failure instanceof AppError)) throw failure
    // Without an observer the watch only waits. The next look reports the error.
    observer[Symbol.dispose]()
    return []
  }
  const cf = coreFoundation()
  const source = accessibility().AXObserverGetRunLoopSource(observer.ref)
  cf.CFRunLoopAddSource(cf.CFRunLoopGetCurrent(), source, coreConstants().defaultMode)
  return [observer]
}

function forget(observer: Owned): void {
  const cf = coreFoundation()
  const source = accessibility().AXObserverGetRunLoopSource(observer.ref)
  cf.CFRunLoopRemoveSource(cf.CFRunLoopGetCurrent(), source, coreConstants().defaultMode)
  observer[Symbol.dispose]()
}
