import type { Action, Performed } from "../action.ts"
import type { Seen } from "../adapter.ts"
import type { Ending } from "../desktop.ts"
import { AppError, type Disposition, plainWord } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { dispositionOf } from "./expect.ts"
import { stateOf } from "./result.ts"

/** Errors for failures after an action was sent. */

/** True if the time ran out, or the app did not answer in time. */
export const isLate = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === "TIMEOUT" || error.code === "APP_UNRESPONSIVE")

export function contradicted(
  { ref, entry }: Target,
  action: Action,
  delivered: Performed,
  after: Seen,
): AppError {
  return new AppError("ACTION_FAILED", "It was delivered, but its effect did not show", {
    suggestion:
      action.kind === "focus" && entry.window_id?.startsWith("w-")
        ? `Its window may be behind another one: agent-desktop focus-window ${entry.window_id}`
        : `Use 'get ${ref} states' or 'snapshot' to see how it is now before trying anything else`,
    platformDetail: `delivered by ${delivered.method}`,
    details: { kind: "contradicted", observed: stateOf(after, action) },
    disposition: dispositionOf(action, delivered.delivery),
  })
}

export function refused(platformDetail: string, disposition: Disposition): AppError {
  return new AppError("ACTION_FAILED", "The app refused it, and nothing changed", {
    platformDetail,
    details: { kind: "refused" },
    disposition,
  })
}

export function endedBy({ entry }: Target, { code, signal }: Ending): AppError {
  const withCode = code === undefined ? "before it answered" : `with exit code ${code}`
  return new AppError("ACTION_FAILED", `Its app ended ${signal === undefined ? withCode : `by ${signal}`}`, {
    suggestion: `Start it again and see what was saved: agent-desktop launch ${plainWord(entry.source_app)}`,
    details: { kind: "app_ended", pid: entry.pid, signal, exit_code: code },
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })
}
