import { readFileSync } from "node:fs"

/** A request to end, made by a signal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** The exit code that shells use for the signal; undefined before it arrives. */
  readonly exitCode: number | undefined
}

/** Catches every signal that would end the program, so that a command ends cleanly: no key or button stays down. */
export function catchSignals(): Interruption {
  const interruption = new AbortController()
  let exitCode: number | undefined
  const ignored = readIgnored()
  for (const [signal, bit] of ENDING) {
    if ((ignored >> BigInt(bit - 1)) & 1n) continue
    process.once(signal, (_name: string, number: number) => {
      exitCode = 128 + number
      interruption.abort()
    })
  }
  return {
    signal: interruption.signal,
    get exitCode() {
      return exitCode
    },
  }
}

/** Signals that end a program by default, with their numbers on Linux. */
const ENDING = [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGQUIT", 3],
  ["SIGTRAP", 5],
  ["SIGABRT", 6],
  ["SIGUSR1", 10],
  ["SIGUSR2", 12],
  ["SIGALRM", 14],
  ["SIGTERM", 15],
  ["SIGXCPU", 24],
  ["SIGXFSZ", 25],
  ["SIGVTALRM", 26],
  ["SIGPROF", 27],
  ["SIGSYS", 31],
] as const

/** One bit for each signal that the caller ignores, e.g. SIGHUP under `nohup`. */
function readIgnored(): bigint {
  try {
    const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? []
    return BigInt(`0x${mask ?? 0}`)
  } catch {
    // Not Linux, or a sandbox without /proc.
    return 0n
  }
}
