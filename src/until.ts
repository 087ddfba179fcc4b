import type { Watch } from "./adapter.ts"
import type { Context } from "./command.ts"
import type { Deadline } from "./deadline.ts"
import { AppError } from "./errors.ts"

/** How often to look if the platform sends no events. */
const POLL_MS = 100

/**
 * Looks again at each change of the desktop until a look finds something; undefined when the time is up.
 * The watch is open before the first look, so it misses no change after it.
 */
export async function until<T>(
  ctx: Context,
  look: () => Promise<T | undefined>,
  options: { readonly pids?: readonly number[]; readonly deadline?: Deadline } = {},
): Promise<T | undefined> {
  const deadline = options.deadline ?? ctx.deadline
  if (!ctx.patient) return look()
  const watch = await ctx.adapter.watch(options.pids)
  try {
    return await untilChanged(watch, look, deadline)
  } finally {
    await watch.close()
  }
}

/** The same with a watch that the caller has opened, for example before an action. */
export async function untilChanged<T>(
  watch: Watch,
  look: () => Promise<T | undefined>,
  deadline: Deadline,
): Promise<T | undefined> {
  for (let looks = 0; ; looks++) {
    const time = deadline.remaining
    try {
      const found = await look()
      if (found !== undefined || deadline.expired) return found
    } catch (error) {
      // Only this look ran out of time. The earlier ones found nothing, and that stands.
      if (looks > 0 && deadline.expired && isLate(error, time)) return undefined
      throw error
    }
    await watch.changed(Math.min(POLL_MS, deadline.remaining))
  }
}

/** True if the look had no time to finish. An app that had the time to answer, and did not, is unresponsive. */
function isLate(error: unknown, time: number): boolean {
  if (!(error instanceof AppError)) return false
  return error.code === "TIMEOUT" || (error.code === "APP_UNRESPONSIVE" && time < SHORT_MS)
}

const SHORT_MS = 1000

/** Lets time pass that the user or a toolkit's timer asks for. It ends early with the deadline. */
export async function pause(ms: number, deadline: Deadline): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(ms, deadline.remaining))
  const stop = (): void => resolve()
  deadline.signal?.addEventListener("abort", stop, { once: true })
  await promise
  clearTimeout(timer)
  deadline.signal?.removeEventListener("abort", stop)
}
