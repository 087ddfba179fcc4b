import type { Env } from "../adapter.ts"
import type { ViewAddress, ViewOptions } from "../command.ts"
import { serveView } from "../view/serve.ts"
import { onDemand } from "./on-demand.ts"

/** The caller of desktop-view. */
interface Caller {
  readonly env: Env
  readonly desktop?: string
  readonly apps?: readonly string[]
  readonly signal?: AbortSignal
}

/** Opens a desktop and serves its page. */
export async function openView(
  caller: Caller,
  { name = caller.desktop, ...options }: ViewOptions,
): Promise<{ readonly address: ViewAddress; readonly ended: Promise<void> }> {
  const shown = onDemand({ env: caller.env, desktop: name })
  const end = (): Promise<void> => shown.close({ forGood: true })
  try {
    const { ended, ...address } = await serveView(
      { apps: caller.apps, signal: caller.signal, desktop: name, platform: shown.platform },
      options,
    )
    return { address, ended: ended.finally(end) }
  } catch (error) {
    await end()
    throw error
  }
}
