import { readFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { pause } from "../../until.ts"
import { allProcesses } from "./processes.ts"

/** Waits until a process and all its descendants sleep for longer than a frame takes. False: not in time. */
export async function allAsleep(pid: number, deadline: Deadline): Promise<boolean> {
  const pids = withDescendants(pid)
  for (let calm = 0; calm < CALM_LOOKS; ) {
    if (deadline.expired) return false
    calm = pids.every(isAsleep) ? calm + 1 : 0
    await pause(LOOK_MS, deadline)
  }
  return true
}

function withDescendants(pid: number): readonly number[] {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent)
  const below = (at: number): number[] => [at, ...(children.get(at) ?? []).flatMap((one) => below(one.pid))]
  return below(pid)
}

/**
 * Also true for a process that has ended. Only its main thread counts, which handles input and runs the scripts of
 * pages.
 */
function isAsleep(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return /^[SZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    return true
  }
}

const CALM_LOOKS = 4
const LOOK_MS = 5
