import type { Env } from "../../adapter.ts"
import type { InputLock } from "../../turn.ts"
import { socketPath } from "./connection.ts"

/**
 * The lock on the pointer and the keyboard of a compositor, across processes. One process can listen on a socket of
 * this name, which is in no directory, and the kernel gives the name back when the process ends. The socket tells
 * the pid of its owner to whoever connects.
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
      instead: "a desktop of your own ('desktop-start')",
    }),
    close: () => held?.stop(true),
  }
}

/** undefined: it does not say in time, or has let go. */
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
