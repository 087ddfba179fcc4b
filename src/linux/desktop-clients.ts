import type { Deadline } from "../deadline.ts"
import { X11 } from "./x11.ts"
import { Request } from "./x11-wire.ts"

const QUERY_CLIENT_IDS = 4
const ALL_CLIENTS = 0
const LOCAL_CLIENT_PID = 2

/** The processes that are connected to a display, as its server knows them from their sockets. */
export async function displayClients(
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<readonly number[]> {
  let x: X11 | undefined
  try {
    x = await X11.connect(env, deadline)
    const extension = await x.extension("X-Resource", deadline)
    if (!extension) return []
    const request = new Request(extension.opcode, QUERY_CLIENT_IDS)
      .u32(1)
      .u32(ALL_CLIENTS)
      .u32(LOCAL_CLIENT_PID)
    const reply = await x.ask(request, deadline)
    const pids: number[] = []
    for (let at = 32, left = reply.u32(8); left > 0; left--) {
      const length = reply.u32(at + 8)
      if (length >= 4) pids.push(reply.u32(at + 12))
      at += 12 + length
    }
    return pids
  } catch {
    // A server that is gone or hangs knows nobody.
    return []
  } finally {
    x?.close()
  }
}
