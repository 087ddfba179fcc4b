import type { RefStore } from "../command.ts"
import { stateRoot } from "../private-files.ts"
import { type CallerSettings, onDemand, refsOnDemand } from "./on-demand.ts"

/** The refs of a server. */
export interface ServerRefs {
  readonly session: string
  readonly refs: RefStore
  /** Removes a session that was made for this server only. */
  close(): Promise<void>
}

/**
 * The refs of a server. By default they are stable and in a separate session: two servers in one session would act on
 * the refs of the server that looked last.
 */
export async function refsOfServer({
  env,
  session,
  numbering = "stable",
}: CallerSettings): Promise<ServerRefs> {
  if (session !== undefined)
    return { session, refs: refsOnDemand({ env, session, numbering }), close: async () => {} }
  const { openOwnSession } = await import("../refs/own-session.ts")
  const own = openOwnSession(stateRoot(env))
  return {
    session: own.name,
    refs: refsOnDemand({ env, session: own.name, numbering }),
    close: async () => own.remove(),
  }
}

/** A desktop and refs for one run of a flow: in the named session, or in one created for the run. */
export async function openApart(
  place: CallerSettings & { readonly desktop?: string },
  desktop = place.desktop,
): Promise<
  Pick<ReturnType<typeof onDemand>, "platform" | "places"> & ServerRefs & { readonly desktop?: string }
> {
  const own = await refsOfServer({ ...place, numbering: place.numbering ?? "fresh" })
  const opened = onDemand({ ...place, desktop })
  return {
    ...own,
    desktop,
    platform: opened.platform,
    places: opened.places,
    async close() {
      await opened.close({ forGood: true })
      await own.close()
    },
  }
}
