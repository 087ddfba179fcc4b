import { writeSync } from "node:fs"
import type { Env } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import { Wayland } from "./connection.ts"
import { readSeat } from "./seat.ts"
import { holderSocket, VirtualKeyboard } from "./virtual-keyboard.ts"
import { WaylandMessage } from "./wire.ts"

/**
 * Gives a compositor's seat a pointer and a keyboard for as long as it runs, so that apps listen to both before any
 * input comes. It runs in a separate process and ends with the compositor.
 */
export async function holdInput(env: Env): Promise<number> {
  const deadline = Deadline.in(START_MS)
  const wayland = await Wayland.connect(env, deadline)
  const pointers = wayland.bind("zwlr_virtual_pointer_manager_v1", 1)
  const keyboards = wayland.bind("zwp_virtual_keyboard_manager_v1", 1)
  const seat = await readSeat(wayland, deadline)
  if (pointers === undefined || keyboards === undefined || !seat) return 1
  wayland.send(new WaylandMessage(pointers, CREATE).u32(seat.object).u32(wayland.create()))
  const keyboard = VirtualKeyboard.add(wayland, keyboards, seat.object, env)
  await keyboard.learn(new Map(), deadline)
  await keyboard.becomeCurrent(deadline)
  const server = Bun.listen({
    unix: holderSocket(env),
    socket: {
      data: async (socket) => {
        await keyboard.becomeCurrent(Deadline.in(START_MS)).catch(() => {})
        socket.end("ok\n")
      },
    },
  })
  writeSync(3, "ready\n")
  await wayland.closing
  server.stop(true)
  return 0
}

const START_MS = 10_000
const CREATE = 0
