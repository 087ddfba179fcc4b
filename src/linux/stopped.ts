import { readFileSync } from "node:fs"

/** Whether a process is stopped by a signal or a debugger: it answers nobody until it is continued. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    // It ended, which is for others to find out.
    return false
  }
}
