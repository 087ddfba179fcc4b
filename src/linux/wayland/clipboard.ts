import { closeSync } from "node:fs"
import { pipe } from "../../../ffi/descriptors.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp } from "../../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { ownCommand, startHolder } from "../../own-process.ts"
import { inTime } from "../../until.ts"
import { clipboardNotTaken, clipboardNotText, clipboardOwnerSilent } from "../windowing/failures.ts"
import type { Wayland } from "./connection.ts"
import { readSeat } from "./seat.ts"
import { WaylandMessage } from "./wire.ts"

/** The command that runs serveWaylandClipboard in a separate process. */
const OWNER_COMMAND = "__own-wayland-clipboard"

/** Reads, replaces or empties the clipboard. */
export async function operateClipboard(
  wayland: Wayland,
  op: ClipboardOp,
  env: Env,
  deadline: Deadline,
): Promise<string | undefined> {
  const device = await openDevice(wayland, deadline)
  switch (op.kind) {
    case "get":
      return readText(wayland, device, deadline)
    case "clear":
      wayland.send(new WaylandMessage(device.object, SET_SELECTION).u32(0))
      await wayland.sync(deadline)
      return undefined
    case "set":
      await own(op.text, env, deadline)
      return undefined
    default:
      return op satisfies never
  }
}

interface Device {
  readonly object: number
  /** The current clipboard offer and its formats. */
  selection(): { readonly object: number; readonly types: readonly string[] } | undefined
}

async function openDevice(wayland: Wayland, deadline: Deadline): Promise<Device> {
  const manager = wayland.bind("zwlr_data_control_manager_v1", 1)
  const seat = await readSeat(wayland, deadline)
  if (manager === undefined || !seat)
    throw new AppError("PLATFORM_NOT_SUPPORTED", "This compositor does not let programs use the clipboard", {
      suggestion: "Use 'type' or 'set-value' to put text into a field",
      disposition: NOTHING_DELIVERED,
    })
  const offers = new Map<number, string[]>()
  let selected = 0
  const object = wayland.create((event) => {
    if (event.opcode === DATA_OFFER) {
      const offer = event.u32()
      offers.set(offer, [])
      wayland.adopt(offer, (format) => offers.get(offer)?.push(format.text()))
    } else if (event.opcode === SELECTION) selected = event.u32()
  })
  wayland.send(new WaylandMessage(manager, GET_DATA_DEVICE).u32(object).u32(seat.object))
  await wayland.sync(deadline)
  return {
    object,
    selection: () => (selected === 0 ? undefined : { object: selected, types: offers.get(selected) ?? [] }),
  }
}

async function readText(wayland: Wayland, device: Device, deadline: Deadline): Promise<string> {
  const offer = device.selection()
  if (!offer) return ""
  const type = TEXT_TYPES.find((one) => offer.types.includes(one))
  if (type === undefined) throw clipboardNotText()
  const ends = pipe()
  if (!ends) throw new AppError("INTERNAL", "The kernel could not create a pipe")
  const [from, to] = ends
  wayland.send(new WaylandMessage(offer.object, RECEIVE).text(type).fd(to))
  closeSync(to)
  await wayland.sync(deadline)
  return readAll(from, deadline)
}

async function readAll(fd: number, deadline: Deadline): Promise<string> {
  const reader = Bun.file(fd).stream().getReader()
  const over = Promise.withResolvers<"late">()
  const timer = setTimeout(() => over.resolve("late"), deadline.remaining)
  const pieces: Uint8Array[] = []
  try {
    for (;;) {
      const piece = await Promise.race([reader.read(), over.promise])
      if (piece === "late") throw clipboardOwnerSilent()
      if (piece.done) return Buffer.concat(pieces).toString("utf8")
      pieces.push(piece.value)
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => {})
  }
}

/** Starts a process that offers the text until another program takes over. */
async function own(text: string, env: Env, deadline: Deadline): Promise<void> {
  const owner = startHolder(ownCommand(OWNER_COMMAND), text, env)
  const reader = owner.stdout.getReader()
  const first = await inTime(reader.read(), deadline.remaining, () => undefined)
  void reader.cancel().catch(() => undefined)
  if (first?.value?.length) {
    owner.unref()
    return
  }
  owner.kill("SIGKILL")
  throw clipboardNotTaken()
}

export const TEXT_TYPES = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "TEXT", "STRING"]

export const GET_DATA_DEVICE = 1
export const SET_SELECTION = 0
const DATA_OFFER = 0
const SELECTION = 1
const RECEIVE = 0
