import type { Deadline } from "../../deadline.ts"
import { pause } from "../../until.ts"

/**
 * Waits until the main thread of a process sleeps for longer than a frame takes: then it has handled its events. A
 * stopped process never sleeps. False: `mayLook` returned false. undefined: the process cannot be observed.
 */
export async function sleepsForAFrame(
  pid: number,
  mayLook: () => Promise<boolean>,
  deadline: Deadline,
): Promise<boolean | undefined> {
  for (let calm = 0; calm < CALM_LOOKS; ) {
    if (!(await mayLook())) return false
    const stat = await Bun.file(`/proc/${pid}/stat`)
      .text()
      .catch(() => undefined)
    if (stat === undefined) return undefined
    calm = stat.slice(stat.lastIndexOf(")") + 2).startsWith("S") ? calm + 1 : 0
    await pause(LOOK_MS, deadline)
  }
  return true
}

const CALM_LOOKS = 4
const LOOK_MS = 5
