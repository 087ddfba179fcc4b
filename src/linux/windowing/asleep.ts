import type { Deadline } from "../../deadline.ts"
import { pause } from "../../until.ts"

/** A process sleeps once it has handled its events. Its main thread counts, which also runs the scripts of pages. */

/**
 * Waits until a process sleeps for longer than a frame takes. A stopped process never sleeps. False: `mayLook` returned
 * false. undefined: the process cannot be observed.
 */
export const sleepsForAFrame = (
  pid: number,
  mayLook: () => Promise<boolean>,
  deadline: Deadline,
): Promise<boolean | undefined> =>
  calmForAFrame(
    async () => {
      const state = await stateOf(pid)
      return state === undefined ? undefined : state === "S"
    },
    mayLook,
    deadline,
  )

/** Waits until `isCalm` answers true for longer than a frame takes. Its undefined ends the wait. */
export async function calmForAFrame(
  isCalm: () => Promise<boolean | undefined>,
  mayLook: () => Promise<boolean>,
  deadline: Deadline,
): Promise<boolean | undefined> {
  for (let calm = 0; calm < CALM_LOOKS; ) {
    if (!(await mayLook())) return false
    const answer = await isCalm()
    if (answer === undefined) return undefined
    calm = answer ? calm + 1 : 0
    await pause(LOOK_MS, deadline)
  }
  return true
}

/** The kernel's letter for the state of a process, such as S for asleep. undefined: it cannot be observed. */
export async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await Bun.file(`/proc/${pid}/stat`)
    .text()
    .catch(() => undefined)
  return stat?.at(stat.lastIndexOf(")") + 2)
}

const CALM_LOOKS = 4
const LOOK_MS = 5
