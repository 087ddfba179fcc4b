import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** One process, as distinct from later processes with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Boot id and kernel start time. */
  readonly start: string
}

export interface Process extends ProcessIdentity {
  readonly parent: number
  readonly session: number
  /** The kernel's name for it: at most 15 bytes, and the program can change it. */
  readonly name: string
}

/** undefined if there is no such process, or only a zombie that its parent has not collected. */
export function readProcess(pid: number): Process | undefined {
  const stat = readText(pid, "stat")
  if (stat === undefined) return undefined
  // The name is in parentheses and may itself contain spaces and parentheses.
  const end = stat.lastIndexOf(")")
  const fields = stat.slice(end + 2).split(" ")
  if (fields[0] === "Z" || fields[0] === "X") return undefined
  return {
    pid,
    name: stat.slice(stat.indexOf("(") + 1, end),
    parent: Number(fields[1]),
    session: Number(fields[3]),
    start: `${bootId()}:${fields[19]}`,
  }
}

/** `gone`: no such process. `ending`: the kernel is closing what it had open. undefined: it runs. */
export function endOf(pid: number): "gone" | "ending" | undefined {
  const stat = readText(pid, "stat")
  if (stat === undefined) return "gone"
  const [state = "", , , , , , flags] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return state === "Z" || state === "X" || (Number(flags) & EXITING) !== 0 ? "ending" : undefined
}

/** The wait(2) status of a process that its parent has not collected yet; undefined for any other. */
export function statusOfZombie(pid: number): number | undefined {
  const stat = readText(pid, "stat") ?? ""
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return fields[0] === "Z" ? Number(fields[EXIT_CODE]) : undefined
}

/** Place of exit_code in /proc/PID/stat, counted from the state. */
const EXIT_CODE = 49

/** The kernel's PF_EXITING. */
const EXITING = 4

/** Its age in milliseconds; undefined if there is no such process. */
function ageOf(pid: number): number | undefined {
  const ticks = Number(readProcess(pid)?.start.split(":").at(-1))
  const uptime = Number.parseFloat(readFileSync("/proc/uptime", "utf8"))
  return Number.isFinite(ticks) ? uptime * 1000 - ticks * TICK_MS : undefined
}

/** True if the process may still be starting: GTK 4 shows its window before it is on the accessibility bus. */
export const isYoung = (pid: number): boolean => (ageOf(pid) ?? STARTING_MS) < STARTING_MS

const STARTING_MS = 10_000

/** The unit of times in /proc: 100 to the second on every supported machine. */
const TICK_MS = 10

export function processStart(pid: number): string | undefined {
  return readProcess(pid)?.start
}

export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return processStart(pid) === start
}

export function identify(pid: number): ProcessIdentity | undefined {
  const start = processStart(pid)
  return start === undefined ? undefined : { pid, start }
}

export function allProcesses(): readonly Process[] {
  return readdirSync("/proc").flatMap((entry) =>
    /^\d+$/.test(entry) ? (readProcess(Number(entry)) ?? []) : [],
  )
}

/** The process and everything above it, up to the first ancestor. */
export function withAncestors(pid: number): ReadonlySet<number> {
  const line = new Set<number>()
  for (let at = pid; at > 0 && !line.has(at); at = readProcess(at)?.parent ?? 0) line.add(at)
  return line
}

/** The arguments it was started with; empty for kernel threads and processes that are gone. */
export function commandLine(pid: number): readonly string[] {
  return readText(pid, "cmdline")?.split("\0").slice(0, -1) ?? []
}

/** The environment it was started with (empty if the prefix does not occur in it); undefined if we may not read it. */
export function startEnvironment(pid: number, prefix = ""): ReadonlyMap<string, string> | undefined {
  const text = readText(pid, "environ")
  if (text === undefined) return undefined
  if (!text.includes(prefix)) return new Map()
  return new Map(
    text.split("\0").flatMap((entry): [string, string][] => {
      const at = entry.indexOf("=")
      return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : []
    }),
  )
}

/** The path of the program file; undefined if we may not read it. */
export function executablePath(pid: number): string | undefined {
  try {
    // The kernel adds this if the file was replaced while the program runs, as by an upgrade.
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "")
  } catch {
    return undefined
  }
}

function readText(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    // The process is gone (ENOENT, ESRCH), or we may not read this (EACCES).
    return undefined
  }
}

let boot: string | undefined

function bootId(): string {
  boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  return boot
}

/** True if a signal or a debugger has stopped the process: it answers no call until it is continued. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    // The process has ended; the caller finds out by other means.
    return false
  }
}
