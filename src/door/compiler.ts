import { accessSync, constants } from "node:fs"

/**
 * Restarts a server without the last stage of the just-in-time compiler. Over hundreds of calls, that stage takes a
 * third of all processor time, and saves less. It can be turned off only by the environment at the start.
 */
export function leaveOutLastStage(words: readonly string[]): void {
  // Not tried on macOS. From source, the runtime belongs to the user.
  if (process.platform !== "linux" || !process.execve || typeof BUILD_TARGET === "undefined") return
  if (process.env[LAST_STAGE] === OFF) {
    // Apps that the server starts may use the same runtime.
    delete process.env[LAST_STAGE]
    return
  }
  if (process.env[LAST_STAGE] !== undefined || !isRunnable(process.execPath)) return
  process.execve(process.execPath, [process.argv0, ...words], { ...process.env, [LAST_STAGE]: OFF })
}

declare const BUILD_TARGET: string | undefined

const LAST_STAGE = "BUN_JSC_useFTLJIT"
/** The runtime reads "no" like 0. A user would write 0, and this program does not change a user's setting. */
const OFF = "no"

/** The binary may have been replaced since the start. A failed restart would end this process. */
function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
