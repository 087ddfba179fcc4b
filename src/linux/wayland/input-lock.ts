import type { Env } from "../../adapter.ts"
import type { InputLock } from "../../turn.ts"
import { socketPath } from "./connection.ts"

/**
 * The lock on a compositor's pointer and keyboard, across processes. Only one process can listen on an abstract socket
 * of this name, and the kernel frees the name when the process ends. The socket sends its owner's pid to every client.
 */
export function openInputLock(env: Env): InputLock {
  const path = socketPath(env)
  const name = `\0agent-desktop-input-${Bun.hash(path).toString(36)}`
  let held: { stop(isForced: boolean): void } | undefined
  return {
    tryTake: () => {
      try {
        held = Bun.listen({
          unix: name,
          socket: {
            data: () => {},
            open: (socket) => {
              socket.end(`${process.pid}\n`)
            },
          },
        })
        return true
      } catch {
        return false
      }
    },
    holder: async () => ({
      pid: await readHolder(name),
      display: env.WAYLAND_DISPLAY,
      instead: "use an isolated desktop of your own ('desktop-start')",
    }),
    close: () => held?.stop(true),
  }
}

/** undefined: it does not answer in time, or has released the lock. */
async function readHolder(name: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const timer = setTimeout(() => resolve(undefined), ANSWER_MS)
  const socket = await Bun.connect({
    unix: name,
    socket: {
      data: (_, chunk) => resolve(Number(chunk.toString()) || undefined),
      close: () => resolve(undefined),
    },
  }).catch(() => undefined)
  if (!socket) resolve(undefined)
  const pid = await promise
  clearTimeout(timer)
  socket?.end()
  return pid
}

const ANSWER_MS = 200
