import type { Adapter } from "../adapter.ts"
import type { Size } from "../command.ts"
import { Deadline } from "../deadline.ts"
import type { DesktopInfo, DesktopOp } from "../desktop.ts"
import { AppError } from "../errors.ts"
import { readOnlyDenied } from "../policy.ts"

/** A door that can open another one. */
interface Opener<Parts extends object> {
  readonly readOnly: boolean
  readonly signal?: AbortSignal
  readonly isFlow?: boolean
  platform(): Promise<{ adapter(deadline: Deadline): Adapter }>
  apart?(desktop?: string): Promise<Parts & { close(): Promise<void> }>
}

/**
 * Runs the work through a separate door. It has its own refs and, with `isolated`, a desktop that is started for it.
 * Both are closed even if the work fails.
 */
export async function runApart<D extends Opener<P>, P extends object, T>(
  door: D,
  isolated: Size | undefined,
  work: (other: D) => Promise<T>,
): Promise<T> {
  if (!door.apart)
    throw new AppError("PLATFORM_NOT_SUPPORTED", "This door cannot run commands with separate refs", {
      suggestion: "Run the command with agent-desktop itself",
    })
  const desktop = isolated ? await startDesktop(door, isolated) : undefined
  try {
    const { close, ...parts } = await door.apart(desktop)
    try {
      return await work({ ...door, ...parts, isFlow: true })
    } finally {
      await close()
    }
  } finally {
    if (desktop !== undefined) await useDesktops(door, { kind: "stop", name: desktop })
  }
}

async function startDesktop(door: Opener<object>, { width, height }: Size): Promise<string> {
  if (door.readOnly) throw readOnlyDenied("An isolated desktop")
  const [started] = await useDesktops(door, { kind: "start", width, height }, door.signal)
  if (started) return started.name
  throw new AppError("INTERNAL", "The isolated desktop was started but cannot be found")
}

/** Time for a desktop to start or stop. It is stopped even if the command's own time is up. */
const DESKTOP_MS = 15_000

async function useDesktops(
  door: Pick<Opener<object>, "platform">,
  op: DesktopOp,
  signal?: AbortSignal,
): Promise<readonly DesktopInfo[]> {
  const native = (await door.platform()).adapter(Deadline.in(DESKTOP_MS, signal))
  try {
    return await native.desktops(op)
  } finally {
    await native.close()
  }
}
