import type { Adapter } from "../adapter.ts"
import { Deadline } from "../deadline.ts"
import type { ScreenWatch } from "../desktop.ts"
import { decodePng } from "../picture/png.ts"
import { pause } from "../until.ts"

/** The interval between pictures of a screen that does not report its changes. */
const POLL_MS = 1000

/** Follows the screen by taking pictures of it. Pictures that are equal to the last one cost no more than that. */
export function pollScreen(open: (deadline: Deadline) => Promise<Adapter>): ScreenWatch {
  let size = { width: 0, height: 0 }
  let last: Uint8Array | undefined
  const closing = new AbortController()
  return {
    get size() {
      return size
    },
    async changed(maxMs) {
      if (!last) return true
      const end = Deadline.in(Math.min(POLL_MS, maxMs), closing.signal)
      await pause(end.remaining, end)
      return !closing.signal.aborted
    },
    async take(deadline) {
      const adapter = await open(deadline)
      try {
        const { png } = await adapter.screenshot({ kind: "screen" })
        if (last && Buffer.compare(last, png) === 0) return []
        last = png
        const pixels = decodePng(png)
        size = { width: pixels.width, height: pixels.height }
        return [{ ...pixels, x: 0, y: 0 }]
      } finally {
        await adapter.close()
      }
    },
    close: () => closing.abort(),
  }
}
