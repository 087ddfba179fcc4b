import { closeSync, constants, openSync, readSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { brokenProtocol, decodeLatin1, encodeLatin1, Packet, Request, Splitter } from "./wire.ts"

export interface Screen {
  readonly root: number
  readonly width: number
  readonly height: number
  readonly depth: number
}

export interface Setup {
  readonly screen: Screen
  readonly minKeycode: number
  readonly maxKeycode: number
  /** Bits per pixel, by depth. */
  readonly formats: ReadonlyMap<number, number>
  readonly imageLittleEndian: boolean
  readonly maxRequestWords: number
  readonly idBase: number
  readonly idMask: number
}

/** An accepted connection that delivers packets. */
export interface Link {
  readonly setup: Setup
  /** Writes and returns the number of bytes accepted; the rest waits for `drain`. Negative: the socket is closed. */
  write(bytes: Uint8Array): number
  end(): void
  attach(sink: Sink): void
}

export interface Sink {
  packet(raw: Uint8Array): void
  drain(): void
  end(error: AppError): void
}

/** Connects to the first address that answers and performs the X handshake. */
export async function openLink(
  target: DisplayTarget,
  cookie: Uint8Array | undefined,
  deadline: Deadline,
): Promise<Link> {
  const failures: string[] = []
  const timeout = Promise.withResolvers<never>()
  const expire = () => timeout.reject(serverTimeout())
  const timer = setTimeout(expire, deadline.remaining)
  deadline.signal?.addEventListener("abort", expire, { once: true })
  try {
    for (const address of target.addresses) {
      const attempt = openAddress(address, target, cookie, deadline)
      try {
        return await Promise.race([attempt.link, timeout.promise])
      } catch (error) {
        attempt.abandon()
        if (error instanceof AppError) throw error
        if (deadline.expired) throw serverTimeout()
        failures.push(String(error))
      }
    }
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", expire)
  }
  throw new AppError("PLATFORM_NOT_SUPPORTED", `Cannot reach the X display '${target.name}'`, {
    suggestion: "Check DISPLAY, or start a desktop with 'desktop-start' and name it with --desktop",
    platformDetail: failures.join("; "),
  })
}

export function lostServer(name: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", `The connection to the X display '${name}' broke`)
}

export function serverTimeout(): AppError {
  return new AppError("TIMEOUT", "The X server did not answer in time", {
    suggestion: "Retry with a larger --timeout-ms; 'agent-desktop doctor' checks the display",
    details: { kind: "x11" },
  })
}

/** The X server was not even asked: an app, a bus or another command had used up the time. */
export function timeIsUp(): AppError {
  return new AppError("TIMEOUT", "The time was up before the X server was asked", {
    suggestion: "Retry with a larger --timeout-ms",
    details: { kind: "deadline" },
  })
}

type Address = DisplayTarget["addresses"][number]

function openAddress(
  address: Address,
  target: DisplayTarget,
  cookie: Uint8Array | undefined,
  deadline: Deadline,
) {
  const { promise: link, resolve, reject } = Promise.withResolvers<Link>()
  let sink: Sink | undefined
  let socket: Bun.Socket<undefined> | undefined
  let abandoned = false
  let setup: Setup | undefined
  const splitter = new Splitter(8, (head) =>
    setup ? packetSize(head) : 8 + 4 * (head[6]! | (head[7]! << 8)),
  )
  const end = (error: AppError) => {
    sink?.end(error)
    reject(error)
    socket?.end()
  }
  const receive = (on: Bun.Socket<undefined>, piece: Uint8Array) => {
    for (const raw of splitter.push(piece)) {
      if (setup) {
        sink?.packet(raw)
        continue
      }
      setup = parseSetup(new Packet(raw), target)
      resolve({
        setup,
        write: (bytes) => on.write(bytes),
        end: () => void on.end(),
        attach: (to) => {
          sink = to
        },
      })
    }
  }
  const handlers: Bun.SocketHandler<undefined> = {
    open: (on) => {
      socket = on
      // Far smaller than any socket buffer, so one write sends all of it.
      if (abandoned) on.end()
      else on.write(setupRequest(cookie))
    },
    data: (on, piece) => {
      try {
        receive(on, piece)
      } catch (error) {
        end(error instanceof AppError ? error : brokenProtocol(String(error)))
      }
    },
    drain: () => sink?.drain(),
    close: () => end(lostServer(target.name)),
    error: () => end(lostServer(target.name)),
  }
  connect(address, handlers, deadline).catch(reject)
  const abandon = () => {
    abandoned = true
    socket?.end()
  }
  return { link, abandon }
}

async function connect(
  address: Address,
  socket: Bun.SocketHandler<undefined>,
  deadline: Deadline,
): Promise<Bun.Socket<undefined>> {
  if (!("unix" in address))
    return Bun.connect<undefined>({ hostname: address.hostname, port: address.port, socket })
  const { unix } = address
  const open = () => Bun.connect<undefined>({ unix, socket })
  try {
    return await open()
  } catch (error) {
    const { connectWhileFull } = await import("../dbus/queue.ts")
    return connectWhileFull(unix, deadline, error, open)
  }
}

function setupRequest(cookie: Uint8Array | undefined): Uint8Array {
  const name = encodeLatin1(cookie ? "MIT-MAGIC-COOKIE-1" : "")
  // Laid out like a request: "l" (little-endian) as the opcode, the version in the place of the length.
  const bytes = new Request(0x6c, 0)
    .u16(0)
    .u16(name.length)
    .u16(cookie?.length ?? 0)
    .u16(0)
    .bytes(name)
    .pad()
    .bytes(cookie ?? new Uint8Array())
    .encode(65535, false)
  bytes[2] = 11
  bytes[3] = 0
  return bytes
}

function packetSize(head: Uint8Array): number {
  if (head[0] !== 1 && (head[0]! & 0x7f) !== GENERIC_EVENT) return 32
  const words = head[4]! + head[5]! * 0x100 + head[6]! * 0x10000 + head[7]! * 0x1000000
  if (words > MAX_REPLY_WORDS) throw brokenProtocol(`a reply of ${words} words`)
  return 32 + words * 4
}

function parseSetup(packet: Packet, target: DisplayTarget): Setup {
  if (packet.u8(0) !== 1) {
    const reason =
      packet.u8(0) === 0 ? packet.latin1(8, Math.min(packet.u8(1), packet.length - 8)) : "unknown"
    throw new AppError("PERM_DENIED", `The X display '${target.name}' refused the connection`, {
      suggestion: "Set XAUTHORITY to the session's authority file, or run as the user who owns the session",
      platformDetail: reason.trim(),
    })
  }
  const vendor = packet.u16(24)
  const formats = new Map<number, number>()
  let at = 40 + vendor + (-vendor & 3)
  for (let i = 0; i < packet.u8(29); i++, at += 8) formats.set(packet.u8(at), packet.u8(at + 1))
  const screens: Screen[] = []
  for (let i = 0; i < packet.u8(28); i++) {
    const depths = packet.u8(at + 39)
    screens.push({
      root: packet.u32(at),
      width: packet.u16(at + 20),
      height: packet.u16(at + 22),
      depth: packet.u8(at + 38),
    })
    at += 40
    for (let depth = 0; depth < depths; depth++) at += 8 + 24 * packet.u16(at + 2)
  }
  const screen = screens[target.screen]
  if (!screen)
    throw new AppError("PLATFORM_NOT_SUPPORTED", `The X display '${target.name}' has no such screen`)
  return {
    screen,
    formats,
    imageLittleEndian: packet.u8(30) === 0,
    minKeycode: packet.u8(34),
    maxKeycode: packet.u8(35),
    maxRequestWords: packet.u16(26),
    idBase: packet.u32(12),
    idMask: packet.u32(16),
  }
}

const GENERIC_EVENT = 35
const MAX_REPLY_WORDS = 64 * 1024 * 1024

/** The meaning of a DISPLAY: the addresses to try in order, and the screen to use. */
export interface DisplayTarget {
  readonly name: string
  readonly number: string
  readonly screen: number
  readonly addresses: readonly ({ unix: string } | { hostname: string; port: number })[]
}

export type Env = Readonly<Record<string, string | undefined>>

/** Accepts `:0`, `:0.1`, `unix:0`, `unix:/path/to/socket`, and `localhost:10` as set by an ssh tunnel. */
export function parseDisplay(display: string | undefined): DisplayTarget {
  if (!display) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", "There is no X display: DISPLAY is not set", {
      suggestion:
        "Run inside a desktop session, or start one with 'desktop-start' and name it with --desktop",
    })
  }
  const path = /^(?:unix:)?(\/.+?)(?:\.(\d+))?$/.exec(display)
  if (path?.[1])
    return { name: display, number: "", screen: Number(path[2] ?? 0), addresses: [{ unix: path[1] }] }
  const parts = /^([^:]*):(\d{1,5})(?:\.(\d{1,3}))?$/.exec(display)
  if (!parts?.[2]) {
    throw new AppError("PLATFORM_NOT_SUPPORTED", `DISPLAY '${display}' is not an X display`, {
      suggestion: "Set DISPLAY to a display such as :0 (export DISPLAY=:0), or run 'desktop-start'",
    })
  }
  const [, host = "", number, screen = "0"] = parts
  const socket = `/tmp/.X11-unix/X${number}`
  const common = { name: display, number, screen: Number(screen) }
  if (host === "" || host === "unix") {
    // The path comes first: any user may listen on an abstract name, but the directory belongs to root.
    return { ...common, addresses: [{ unix: socket }, { unix: `\0${socket}` }] }
  }
  if (host === "localhost" || host === "127.0.0.1") {
    return { ...common, addresses: [{ hostname: "127.0.0.1", port: 6000 + Number(number) }] }
  }
  throw new AppError("PLATFORM_NOT_SUPPORTED", `DISPLAY '${display}' is on another machine`, {
    suggestion: "Run on that machine, or tunnel its display with ssh -X",
  })
}

/** The MIT-MAGIC-COOKIE-1 for a display, if the authority file has one. */
export function readCookie(env: Env, target: DisplayTarget): Uint8Array | undefined {
  const path = env.XAUTHORITY || (env.HOME ? `${env.HOME}/.Xauthority` : undefined)
  const file = path ? readSmall(path) : undefined
  if (!file) return undefined
  const host = readSmall("/proc/sys/kernel/hostname") ?? new Uint8Array()
  return findCookie(file, decodeLatin1(host).trim(), target.number)
}

/** The entry for this host and display, or else for this display, since the host may have been renamed. */
export function findCookie(file: Uint8Array, host: string, number: string): Uint8Array | undefined {
  const entries = parseAuthority(file).filter(
    (entry) =>
      entry.name === "MIT-MAGIC-COOKIE-1" &&
      (entry.number === "" || number === "" || entry.number === number),
  )
  const exact = entries.find(
    (entry) => entry.family === WILD || (entry.family === LOCAL && entry.address === host),
  )
  return (exact ?? entries.find((entry) => entry.family === LOCAL))?.cookie
}

interface Authority {
  readonly family: number
  readonly address: string
  readonly number: string
  readonly name: string
  readonly cookie: Uint8Array
}

const LOCAL = 256
const WILD = 65535

// Big-endian counted strings; an incomplete last entry ends the list.
function parseAuthority(file: Uint8Array): Authority[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const entries: Authority[] = []
  let at = 0
  while (at + 2 <= file.length) {
    const family = view.getUint16(at)
    at += 2
    const fields: Uint8Array[] = []
    while (fields.length < 4 && at + 2 <= file.length) {
      const end = at + 2 + view.getUint16(at)
      if (end > file.length) return entries
      fields.push(file.subarray(at + 2, end))
      at = end
    }
    const [address, number, name, cookie] = fields
    if (!address || !number || !name || !cookie) return entries
    entries.push({
      family,
      address: decodeLatin1(address),
      number: decodeLatin1(number),
      name: decodeLatin1(name),
      cookie,
    })
  }
  return entries
}

// An unreadable file counts as absent: the server may not need a cookie.
function readSmall(path: string): Uint8Array | undefined {
  try {
    // O_NONBLOCK: opening a pipe in the file's place would wait for its other end.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const bytes = new Uint8Array(MAX_BYTES)
      return bytes.subarray(0, readSync(fd, bytes))
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}

const MAX_BYTES = 65_536
