import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs"
import type { Env } from "../../adapter.ts"

/** The standard error of a program that is being started. */
export interface Stderr {
  /** For the program. */
  readonly fd: number
  /** The end of what it wrote so far, as text without control characters except line breaks. */
  text(): string
  /**
   * Stops reading; `cat` continues for as long as the program runs. Without a reader, writing would end the program.
   */
  leave(): void
}

/** A program blocks on a full pipe, so its output is read all the time. */
const DRAIN_MS = 50
const KEPT_BYTES = 8192
const KEPT_CHARACTERS = 2000

/** undefined if the system lacks `mkfifo` or `cat`, or room for a file: then the program writes to /dev/null. */
export function openStderr(env: Env): Stderr | undefined {
  const PATH = env.PATH ?? ""
  const [mkfifo, cat] = ["mkfifo", "cat"].map((name) => Bun.which(name, { PATH }))
  const ends = mkfifo && cat ? openPipe(mkfifo, env.TMPDIR || "/tmp") : undefined
  if (!cat || !ends) return undefined
  const { reader, writer } = ends
  const buffer = Buffer.alloc(65_536)
  let kept = Buffer.alloc(0)
  const drain = (): void => {
    for (let size = readSome(reader, buffer); size > 0; size = readSome(reader, buffer))
      kept = Buffer.concat([kept, buffer.subarray(0, size)]).subarray(-KEPT_BYTES)
  }
  const timer = setInterval(drain, DRAIN_MS)
  timer.unref()
  return {
    fd: writer,
    text() {
      drain()
      return plainText(kept.toString("utf8"))
    },
    leave() {
      clearInterval(timer)
      // A separate file description, which waits for the program. Our own end of the pipe keeps this from blocking.
      const rest = openSync(`/proc/self/fd/${reader}`, constants.O_RDONLY)
      closeSync(writer)
      closeSync(reader)
      // It ends with the program.
      Bun.spawn([cat], { env: { ...env }, stdio: [rest, "ignore", "ignore"], detached: true }).unref()
      closeSync(rest)
    },
  }
}

/** A pipe with numbers that a child can be given. Its file is gone before another program could open it. */
function openPipe(
  mkfifo: string,
  place: string,
): { readonly reader: number; readonly writer: number } | undefined {
  let directory: string
  try {
    directory = mkdtempSync(`${place}/agent-desktop-`)
  } catch {
    return undefined
  }
  try {
    const path = `${directory}/stderr`
    const made = Bun.spawnSync([mkfifo, "-m", "600", path], { stdio: ["ignore", "ignore", "ignore"] })
    if (!made.success) return undefined
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return { reader, writer: openSync(path, constants.O_WRONLY) }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** 0: there is nothing to read now. */
function readSome(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0
    throw error
  }
}

/** Text for a person: without colours, cursor movements and other control characters. */
function plainText(text: string): string {
  return text
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]+/g, " ")
    .trim()
    .slice(-KEPT_CHARACTERS)
}
