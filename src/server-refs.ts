import type { RefStore } from "./command.ts"
import { type Place, refsOnDemand } from "./on-demand.ts"
import { stateRoot } from "./private-files.ts"

/** The refs of a server. */
export interface ServerRefs {
  readonly session: string
  readonly refs: RefStore
  /** Removes a session that was made for this server only. */
  close(): Promise<void>
}

/**
 * The refs of a server: stable ones, unless the caller chose, in a session of its own, unless one is named. Two servers
 * side by side would otherwise act on the refs of whichever looked last.
 */
export async function refsOfServer({ env, session, numbering = "stable" }: Place): Promise<ServerRefs> {
  if (session !== undefined)
    return { session, refs: refsOnDemand({ env, session, numbering }), close: async () => {} }
  const { openOwnSession } = await import("./refs/own-session.ts")
  const own = openOwnSession(stateRoot(env))
  return {
    session: own.name,
    refs: refsOnDemand({ env, session: own.name, numbering }),
    close: async () => own.remove(),
  }
}
