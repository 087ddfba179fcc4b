import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { DesktopPart } from "./desktop-record.ts"
import { identify } from "./processes.ts"

interface PartSpec {
  readonly program: string
  /** The command; `FD` stands for the descriptor on which the program says that it is ready. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly log: string
}

/** Starts a part of a desktop in a session of its own: it outlives us, and our Ctrl-C does not reach it. */
export function startPart(spec: PartSpec): DesktopPart {
  return launchPart(spec, "ignore").part
}

/** The same for a program that writes a line once it is ready; resolves with that line. */
export async function startAnnouncedPart(
  spec: PartSpec,
  started: (part: DesktopPart) => void,
  deadline: Deadline,
): Promise<string> {
  const { child, part } = launchPart(spec, "pipe")
  started(part)
  const fd = child.stdio[3]
  if (typeof fd !== "number") throw new AppError("INTERNAL", `No channel to ${spec.program}`)
  const reader = Bun.file(fd).stream().getReader()
  try {
    return await within(deadline, spec.program, firstLine(reader, spec))
  } finally {
    await reader.cancel()
    closeSync(fd)
  }
}

/** Fails with TIMEOUT when the deadline passes first, or when the work is cancelled. */
async function within<T>(deadline: Deadline, what: string, answer: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>()
  const end = () =>
    over.reject(
      new AppError(
        "TIMEOUT",
        `${what} did not come up ${deadline.signal?.aborted ? "before the interruption" : "in time"}`,
        {
          details: { kind: "desktop" },
        },
      ),
    )
  const timer = setTimeout(end, deadline.remaining)
  deadline.signal?.addEventListener("abort", end, { once: true })
  try {
    return await Promise.race([answer, over.promise])
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", end)
  }
}

/** A cookie of its own, so that only who may read the file may connect. */
export function writeCookie(path: string, cookie: Uint8Array, display: string): void {
  const field = (bytes: Uint8Array) => [bytes.length >> 8, bytes.length & 255, ...bytes]
  const text = (value: string) => field(new TextEncoder().encode(value))
  // Family 65535 fits every address: the cookie survives a change of the host's name.
  const entry = [255, 255, ...text(""), ...text(display), ...text("MIT-MAGIC-COOKIE-1"), ...field(cookie)]
  writeFileSync(path, new Uint8Array(entry), { mode: 0o600 })
}

export const socketOf = (display: string): string => `/tmp/.X11-unix/X${display.slice(1)}`

/** Tells one file from another that takes its place later, also where the inode is used again. */
export function fileIdentity(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev}:${file.ino}:${file.ctimeNs}`
}

function launchPart(spec: PartSpec, channel: "ignore" | "pipe") {
  const log = openSync(spec.log, "a", 0o600)
  try {
    const child = Bun.spawn([...spec.command], {
      env: { ...spec.env },
      cwd: "/",
      stdio: ["ignore", log, log, channel],
      detached: true,
    })
    child.unref()
    const identity = identify(child.pid)
    if (!identity) throw failed(spec)
    return { child, part: { program: spec.program, ...identity } }
  } finally {
    closeSync(log)
  }
}

async function firstLine(reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> }, spec: PartSpec) {
  const decoder = new TextDecoder()
  for (let text = ""; ; ) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: true })
    const end = text.indexOf("\n")
    if (end >= 0) return text.slice(0, end)
    // It closed its end without a word: it is dying, and its log says why.
    if (done) throw failed(spec)
  }
}

function failed({ program, log }: PartSpec): AppError {
  return new AppError("ACTION_FAILED", `${program} ended before it was ready`, {
    platformDetail: readFileSync(log, "utf8").trim().slice(-500) || undefined,
    details: { program },
    suggestion: "Run 'doctor' to see what this machine lacks",
  })
}
