import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { socketPath } from "./connection.ts"

/** The abstract socket of the process that holds a compositor's pointer and keyboard; see input-holder.ts. */
export const holderSocket = (env: Env): string =>
  `\0agent-desktop-holder-${Bun.hash(socketPath(env)).toString(36)}`

/**
 * Makes the held keyboard the seat's current one again before ours disappears: a seat that has lost its current
 * keyboard has no keymap, and Chromium crashes if it starts then. Without a holder, the next key on a real keyboard
 * does the same.
 */
export async function handOver(env: Env, deadline: Deadline): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(ANSWER_MS, deadline.remaining))
  const done = () => resolve()
  const socket = await Bun.connect({
    unix: holderSocket(env),
    socket: { data: done, close: done, error: done },
  }).catch(() => undefined)
  if (socket) {
    socket.write("again\n")
    await promise
    socket.terminate()
  }
  clearTimeout(timer)
}

const ANSWER_MS = 1000
