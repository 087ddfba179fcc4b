import type { Env, InputEvent } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import type { InputLock } from "../../turn.ts"
import { DBusClosed, DBusError, DBusTimeout } from "../dbus/bus.ts"
import type { Owner } from "../windowing/system.ts"
import { Compositor } from "./compositor.ts"
import type { Wayland } from "./connection.ts"
import { socketPath } from "./connection.ts"
import type { Devices } from "./devices.ts"
import type { Places } from "./input.ts"

/** A compositor that accepts pointer and keyboard input. */
export abstract class InputCompositor extends Compositor {
  override readonly hasInput = true

  protected abstract devices(wayland: Wayland): Devices | Promise<Devices>

  /** undefined: the compositor does not report window positions. */
  protected places(): Places | undefined {
    return undefined
  }

  override async openLock(_deadline: Deadline): Promise<InputLock> {
    return openInputLock(this.env)
  }

  override async input(
    event: InputEvent,
    deadline: Deadline,
    owner?: Owner,
    approach?: () => Promise<void>,
  ): Promise<void> {
    const [{ sendInput }, { readOutputs }] = await Promise.all([
      import("./input.ts"),
      import("./displays.ts"),
    ])
    await this.connected(deadline, async (wayland) => {
      const devices = await this.devices(wayland)
      const outputs = () => readOutputs(wayland, deadline)
      const places = this.places()
      const context = { devices, outputs, places, env: this.env, deadline, owner, approach }
      return sendInput(context, event).catch(inWords)
    })
  }
}

/** A compositor on D-Bus that does not answer may have received part of the input. */
function inWords(error: unknown): never {
  if (!(error instanceof DBusTimeout || error instanceof DBusError || error instanceof DBusClosed))
    throw error
  const isLate = error instanceof DBusTimeout
  throw new AppError(
    isLate ? "TIMEOUT" : "ACTION_FAILED",
    isLate ? "The compositor did not take the input in time" : "The compositor refused the input",
    {
      suggestion: "Run 'snapshot' to see what arrived; a longer --timeout-ms helps if the machine is busy",
      platformDetail: error.message,
      details: { kind: "compositor" },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    },
  )
}

/**
 * The lock on a compositor's pointer and keyboard, across processes. Only one process can listen on an abstract socket
 * of this name, and the kernel frees the name when the process ends. The socket sends its owner's pid to every client.
 */
function openInputLock(env: Env): InputLock {
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
