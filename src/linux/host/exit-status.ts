import { statSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import type { Ending, Life } from "../../desktop.ts"
import { pause } from "../../until.ts"
import { endOf, statusOfZombie } from "./processes.ts"

/** How long the kernel may take to close the files of a process that ends. */
const ENDING_MS = 500
const LOOK_AGAIN_MS = 5

/**
 * Follows a process. The kernel keeps its exit status until the parent collects it; after that, a new enough kernel
 * reports it only to a client that opened the process before. Otherwise the end is known, but not its status.
 */
export async function follow(pid: number, deadline: Deadline): Promise<Life> {
  const { openProcess, exitStatus, closeProcess } = await import("../../../ffi/pidfd.ts")
  const fd = openProcess(pid)
  return {
    async end() {
      const patience = deadline.slice(ENDING_MS)
      let status = statusNow(pid)
      while (endOf(pid) === "ending" && status === undefined && !patience.expired) {
        await pause(LOOK_AGAIN_MS, patience)
        status = statusNow(pid)
      }
      if (status !== undefined) return endingOf(status)
      if (endOf(pid) === undefined) return undefined
      const late = fd === undefined ? undefined : exitStatus(fd)
      return late === undefined ? {} : endingOf(late)
    },
    close() {
      if (fd !== undefined) closeProcess(fd)
    },
  }
}

/** The status of a process that its parent has not collected. Linux reports 0 for another user's process. */
function statusNow(pid: number): number | undefined {
  const status = statusOfZombie(pid)
  return status === 0 && !isOurs(pid) ? undefined : status
}

function isOurs(pid: number): boolean {
  const uid = process.getuid?.()
  return uid === 0 || statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid
}

/** Decodes a wait(2) status. */
export function endingOf(status: number): Ending {
  const signal = status & 0x7f
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal: SIGNALS[signal] ?? `signal ${signal}` }
}

/** The signals that end programs, by their numbers on Linux. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
  31: "SIGSYS",
}
