import type { Deadline } from "../../deadline.ts"
import { calmForAFrame, stateOf } from "../windowing/asleep.ts"
import { allProcesses } from "./processes.ts"

/** Waits until a process and all its descendants sleep for longer than a frame takes. False: not in time. */
export async function allAsleep(pid: number, deadline: Deadline): Promise<boolean> {
  const pids = withDescendants(pid)
  const isCalm = async (): Promise<boolean> => (await Promise.all(pids.map(isAsleep))).every(Boolean)
  return (await calmForAFrame(isCalm, async () => !deadline.expired, deadline)) === true
}

function withDescendants(pid: number): readonly number[] {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent)
  const below = (at: number): number[] => [at, ...(children.get(at) ?? []).flatMap((one) => below(one.pid))]
  return below(pid)
}

/** Also true for a process that has ended. */
async function isAsleep(pid: number): Promise<boolean> {
  const state = await stateOf(pid)
  return state === undefined || "SZX".includes(state)
}
