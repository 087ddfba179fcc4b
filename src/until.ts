import type { Context } from "./command.ts"
import type { Deadline } from "./deadline.ts"
import { AppError } from "./errors.ts"
import type { Watch } from "./watch.ts"

/** How old a look may become on a platform that sends no events. */
const POLL_MS = 100

/**
 * Looks again at each change of the desktop until `look` finds something. undefined: the time is up. The watch opens
 * before the first look, so no change between the two is missed.
 */
export async function until<T>(
  ctx: Context,
  look: () => Promise<T | undefined>,
  options: { readonly pids?: readonly number[]; readonly deadline?: Deadline; readonly pollMs?: number } = {},
): Promise<T | undefined> {
  const deadline = options.deadline ?? ctx.deadline
  if (!ctx.patient) return look()
  const watch = await ctx.adapter.watch(options.pids)
  try {
    return await untilChanged(watch, look, deadline, options.pollMs)
  } finally {
    await watch.close()
  }
}

/** The same with a watch that the caller opened earlier, e.g. before an action. */
export async function untilChanged<T>(
  watch: Watch,
  look: () => Promise<T | undefined>,
  deadline: Deadline,
  pollMs = POLL_MS,
): Promise<T | undefined> {
  for (let looks = 0; ; looks++) {
    const time = deadline.remaining
    try {
      const found = await look()
      if (found !== undefined || deadline.expired) return found
    } catch (error) {
      // Only the last look was too late; results of earlier ones count.
      if (looks > 0 && deadline.expired && isLate(error, time)) return undefined
      throw error
    }
    await watch.changed(Math.min(pollMs, deadline.remaining))
  }
}

/** True if the look had too little time. An app that had enough time and did not answer does not count. */
function isLate(error: unknown, time: number): boolean {
  if (!(error instanceof AppError)) return false
  return error.code === "TIMEOUT" || (error.code === "APP_UNRESPONSIVE" && time < SHORT_MS)
}

const SHORT_MS = 1000

const LATE = Symbol("late")

/**
 * The answer. If it takes longer than this, or the signal comes first: the result of `late`, which may throw. No timer is
 * left behind, which would keep the program from ending.
 */
export async function inTime<T, Late>(
  answer: Promise<T>,
  ms: number,
  late: () => Late,
  signal?: AbortSignal,
): Promise<T | Late> {
  const over = Promise.withResolvers<typeof LATE>()
  const end = (): void => over.resolve(LATE)
  const timer = setTimeout(end, ms)
  signal?.addEventListener("abort", end, { once: true })
  try {
    const first = await Promise.race([answer, over.promise])
    return first === LATE ? late() : first
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", end)
  }
}

/**
 * Waits between two looks, for a time that the user asked for, or for a toolkit's timer. Never to give something time
 * to happen. Ends early at the deadline.
 */
export async function pause(ms: number, deadline: Deadline): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Rounded up: a timer of 0.4 ms fires at once, before the deadline that it waits for.
  const timer = setTimeout(resolve, Math.ceil(Math.min(ms, deadline.remaining)))
  const stop = (): void => resolve()
  deadline.signal?.addEventListener("abort", stop, { once: true })
  await promise
  clearTimeout(timer)
  deadline.signal?.removeEventListener("abort", stop)
}
