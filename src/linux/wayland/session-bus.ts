import { closeSync, readFileSync } from "node:fs"
import { connectTo, peerOf } from "../../../ffi/descriptors.ts"
import type { Env } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { type Bus, DBUS, DBUS_PATH, DBusClosed, DBusError, method, readAs } from "../dbus/bus.ts"
import { socketPath } from "./connection.ts"

/** The part of a desktop session that a compositor on D-Bus needs. */
export interface BusAccess {
  /** The session bus. */
  bus(deadline: Deadline): Promise<Bus>
}

/**
 * The unique bus name of the compositor, if it owns this well-known name. undefined: the name has no owner, or its
 * owner is not the process behind the Wayland socket. A nested compositor has no name, and other programs may take one.
 */
export async function compositorOnBus(
  env: Env,
  access: BusAccess,
  name: string,
  deadline: Deadline,
): Promise<string | undefined> {
  try {
    const bus = await access.bus(deadline)
    const ask = (member: string, about: string) =>
      bus.call(method(`${DBUS}.${member}`, "s", [about]), DBUS, DBUS_PATH, deadline)
    const owner = readAs(await ask("GetNameOwner", name), "s").string()
    const pid = readAs(await ask("GetConnectionUnixProcessID", owner), "u").u32()
    return isCompositor(env, pid) ? owner : undefined
  } catch (error) {
    if (error instanceof DBusError || error instanceof DBusClosed) return undefined
    throw error
  }
}

/** True if this process, or the parent that opened the socket for it, listens at the Wayland socket. */
function isCompositor(env: Env, pid: number): boolean {
  const socket = connectTo(socketPath(env))
  if (socket === undefined) return false
  const listener = peerOf(socket)
  closeSync(socket)
  return listener !== undefined && (listener === pid || listener === parentOf(pid))
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}
