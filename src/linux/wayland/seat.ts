import { readFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Wayland } from "./connection.ts"

export interface Seat {
  readonly object: number
  readonly hasPointer: boolean
  readonly hasKeyboard: boolean
}

export async function readSeat(wayland: Wayland, deadline: Deadline): Promise<Seat | undefined> {
  let capabilities = 0
  const object = wayland.bind("wl_seat", 5, (event) => {
    if (event.opcode === CAPABILITIES) capabilities = event.u32()
  })
  if (object === undefined) return undefined
  await wayland.sync(deadline)
  return { object, hasPointer: (capabilities & 1) !== 0, hasKeyboard: (capabilities & 2) !== 0 }
}

/**
 * The seat, if it already has such a device. Apps request a seat's first pointer or keyboard when it appears, and miss
 * anything that it sends before that.
 */
export async function seatWith(
  wayland: Wayland,
  device: "pointer" | "keyboard",
  deadline: Deadline,
): Promise<number> {
  const seat = await readSeat(wayland, deadline)
  const isThere = device === "pointer" ? seat?.hasPointer : seat?.hasKeyboard
  if (seat && isThere) return seat.object
  throw new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The compositor's seat has no ${device}, so apps would miss the first input`,
    {
      suggestion: `Plug in a ${device}, or use a desktop that has one: agent-desktop desktop-start --kind wayland`,
      disposition: NOTHING_DELIVERED,
    },
  )
}

/**
 * Milliseconds on the machine's clock, truncated to 32 bits. Apps count double clicks by it, even across commands: with
 * a clock that starts with the process, two clicks of two commands would look like a double click.
 */
export function eventTime(): number {
  // Bun's own clocks all start with the process.
  started ??= Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000 - performance.now()
  return Math.floor(started + performance.now()) >>> 0
}

let started: number | undefined

const CAPABILITIES = 0
