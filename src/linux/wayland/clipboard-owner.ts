import { closeSync, writeSync } from "node:fs"
import { connectTo, receiveWith, sendWith } from "../../../ffi/descriptors.ts"
import type { Env } from "../../adapter.ts"
import { GET_DATA_DEVICE, SET_SELECTION, TEXT_TYPES } from "./clipboard.ts"
import { socketPath } from "./connection.ts"
import { EventReader, WaylandMessage } from "./wire.ts"

/**
 * Offers the text of standard input on the clipboard until another program takes over. It runs in a separate process,
 * and waits in the kernel: the compositor sends a file descriptor with each request, which Bun's sockets drop.
 */
export async function serveWaylandClipboard(env: Env): Promise<number> {
  const text = new Uint8Array(await Bun.stdin.arrayBuffer())
  const socket = connectTo(socketPath(env))
  if (socket === undefined) return 1
  const send = (message: WaylandMessage): void => {
    sendWith(socket, message.bytes(), message.fds)
  }
  const globals = new Map<string, number>()
  const reader = new EventReader()
  const fds: number[] = []
  let isSynced = false
  send(new WaylandMessage(DISPLAY, GET_REGISTRY).u32(REGISTRY))
  send(new WaylandMessage(DISPLAY, SYNC).u32(CALLBACK))
  for (;;) {
    const { bytes, fds: received } = receiveWith(socket)
    if (bytes.length === 0) return 1
    fds.push(...received)
    for (const event of reader.read(bytes)) {
      if (event.object === DISPLAY && event.opcode === ERROR) return 1
      if (event.object === REGISTRY && event.opcode === GLOBAL) {
        const name = event.u32()
        globals.set(event.text(), name)
      } else if (event.object === CALLBACK && !isSynced) {
        isSynced = true
        if (!offer(send, globals)) return 1
      } else if (event.object === READY) writeSync(1, "ready\n")
      else if (event.object === SOURCE && event.opcode === CANCELLED) return 0
      else if (event.object === SOURCE && event.opcode === SEND) write(fds.shift(), text)
    }
  }
}

function offer(send: (message: WaylandMessage) => void, globals: ReadonlyMap<string, number>): boolean {
  const [manager, seat] = [globals.get("zwlr_data_control_manager_v1"), globals.get("wl_seat")]
  if (manager === undefined || seat === undefined) return false
  const bind = (name: number, type: string, id: number) =>
    send(new WaylandMessage(REGISTRY, BIND).u32(name).text(type).u32(1).u32(id))
  bind(manager, "zwlr_data_control_manager_v1", MANAGER)
  bind(seat, "wl_seat", SEAT)
  send(new WaylandMessage(MANAGER, CREATE_SOURCE).u32(SOURCE))
  for (const type of TEXT_TYPES) send(new WaylandMessage(SOURCE, OFFER).text(type))
  send(new WaylandMessage(MANAGER, GET_DATA_DEVICE).u32(DEVICE).u32(SEAT))
  send(new WaylandMessage(DEVICE, SET_SELECTION).u32(SOURCE))
  send(new WaylandMessage(DISPLAY, SYNC).u32(READY))
  return true
}

/** Drops a reader that goes away early or never reads. */
function write(fd: number | undefined, text: Uint8Array): void {
  if (fd === undefined) return
  try {
    for (let at = 0; at < text.length; ) at += writeSync(fd, text, at)
  } catch {
    // The reader closed its end.
  } finally {
    closeSync(fd)
  }
}

const DISPLAY = 1
const REGISTRY = 2
const CALLBACK = 3
const MANAGER = 4
const SEAT = 5
const SOURCE = 6
const DEVICE = 7
const READY = 8
const SYNC = 0
const GET_REGISTRY = 1
const ERROR = 0
const GLOBAL = 0
const BIND = 0
const CREATE_SOURCE = 0
const OFFER = 0
const SEND = 0
const CANCELLED = 1
