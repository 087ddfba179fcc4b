import { ptr } from "bun:ffi"
import { guardedly } from "./library.ts"

/** File descriptors that travel over sockets, which Wayland needs for keymaps, pictures and the clipboard. */

const libc = guardedly({
  library: "libc.so.6",
  functions: {
    sendmsg: { args: ["i32", "ptr", "i32"], returns: "i64" },
    recvmsg: { args: ["i32", "ptr", "i32"], returns: "i64" },
    memfd_create: { args: ["cstring", "u32"], returns: "i32" },
    pipe2: { args: ["ptr", "i32"], returns: "i32" },
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  },
  addresses: [],
})

const CLOEXEC = 0x80000
const MEMFD_CLOEXEC = 1
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
const AF_UNIX = 1
const SOCK_STREAM = 1
const SO_PEERCRED = 17
const MSG_DONTWAIT = 0x40
const MSG_NOSIGNAL = 0x4000
const MSG_CMSG_CLOEXEC = 0x40000000

/** struct msghdr on 64-bit Linux. */
const MSGHDR = 56
/** struct cmsghdr: length, level, type. */
const CMSGHDR = 16

/** A file in memory. undefined: the kernel refuses. */
export function memoryFile(name: string): number | undefined {
  const fd = libc()?.memfd_create(Buffer.from(`${name}\0`), MEMFD_CLOEXEC) ?? -1
  return fd < 0 ? undefined : fd
}

/** A pipe: the end to read and the end to write. */
export function pipe(): readonly [number, number] | undefined {
  const ends = new Int32Array(2)
  return libc()?.pipe2(ptr(ends), CLOEXEC) === 0 ? [ends[0]!, ends[1]!] : undefined
}

/** Sends bytes together with descriptors. Returns the number of bytes sent; −1: it failed. */
export function sendWith(socket: number, bytes: Uint8Array, fds: readonly number[]): number {
  const room = new Uint8Array(CMSGHDR + Math.ceil((fds.length * 4) / 8) * 8)
  const control = new DataView(room.buffer)
  control.setBigUint64(0, BigInt(CMSGHDR + fds.length * 4), true)
  control.setInt32(8, SOL_SOCKET, true)
  control.setInt32(12, SCM_RIGHTS, true)
  for (const [i, fd] of fds.entries()) control.setInt32(CMSGHDR + i * 4, fd, true)
  return Number(
    libc()?.sendmsg(socket, ptr(header(bytes, fds.length > 0 ? room : undefined)), MSG_NOSIGNAL) ?? -1,
  )
}

/** Waits for bytes and descriptors, or takes those that are there. No bytes: none were there, or the peer hung up. */
export function receiveWith(
  socket: number,
  isWaiting = true,
): { readonly bytes: Uint8Array; readonly fds: readonly number[] } {
  const bytes = new Uint8Array(4096)
  const room = new Uint8Array(CMSGHDR + 28 * 4)
  const head = header(bytes, room)
  const flags = MSG_CMSG_CLOEXEC | (isWaiting ? 0 : MSG_DONTWAIT)
  const count = Number(libc()?.recvmsg(socket, ptr(head), flags) ?? -1)
  const control = new DataView(room.buffer)
  const used = Number(new DataView(head.buffer).getBigUint64(40, true))
  const length = used >= CMSGHDR ? Number(control.getBigUint64(0, true)) : 0
  const hasFds = length > CMSGHDR && control.getInt32(12, true) === SCM_RIGHTS
  const fds = hasFds
    ? Array.from({ length: (length - CMSGHDR) / 4 }, (_, i) => control.getInt32(CMSGHDR + i * 4, true))
    : []
  return { bytes: bytes.slice(0, Math.max(0, count)), fds }
}

/** The process that listens at the other end of a socket. If it inherited the socket: the parent that opened it. */
export function peerOf(socket: number): number | undefined {
  const credentials = new Int32Array(3)
  const length = new Int32Array([credentials.byteLength])
  const result = libc()?.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(length))
  return result === 0 ? credentials[0] : undefined
}

/** A connection to a socket in the file system, for calls that wait. undefined: no process accepts it. */
export function connectTo(path: string): number | undefined {
  const fd = libc()?.socket(AF_UNIX, SOCK_STREAM | CLOEXEC, 0) ?? -1
  if (fd < 0) return undefined
  const address = new Uint8Array(110)
  new DataView(address.buffer).setUint16(0, AF_UNIX, true)
  address.set(new TextEncoder().encode(path).slice(0, 107), 2)
  return libc()?.connect(fd, ptr(address), address.length) === 0 ? fd : undefined
}

// The views keep their buffers alive: the header holds only their addresses.
const kept = new WeakMap<object, unknown>()

function header(bytes: Uint8Array, control: Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  const vector = new BigUint64Array([BigInt(ptr(bytes)), BigInt(bytes.length)])
  const head = new Uint8Array(MSGHDR)
  const view = new DataView(head.buffer)
  view.setBigUint64(16, BigInt(ptr(vector)), true)
  view.setBigUint64(24, 1n, true)
  if (control) {
    view.setBigUint64(32, BigInt(ptr(control)), true)
    view.setBigUint64(40, BigInt(control.length), true)
  }
  kept.set(head, [vector, bytes, control])
  return head
}
