import { accessSync, constants } from "node:fs"

/**
 * Starts a server again without the last stage of the just-in-time compiler. Over hundreds of calls that stage takes more
 * processor time than it saves: a third of the whole. Only the environment at the start turns it off.
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
/** The runtime reads it like 0. A user would write that, and keeps what they wrote. */
const OFF = "no"

/** The binary may have been replaced since it was started. A start that fails would end this process. */
function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
