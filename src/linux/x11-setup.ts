import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { DisplayTarget } from "./x11-display.ts"
import { brokenProtocol, encodeLatin1, Packet, Request, Splitter } from "./x11-wire.ts"

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
  /** Bits per pixel of each depth. */
  readonly formats: ReadonlyMap<number, number>
  readonly imageLittleEndian: boolean
  readonly maxRequestWords: number
  readonly idBase: number
  readonly idMask: number
}

/** An accepted connection, cut into packets. */
export interface Link {
  readonly setup: Setup
  /** How many of the bytes were taken; the rest waits for `drain`. Negative: the socket is closed. */
  write(bytes: Uint8Array): number
  end(): void
  attach(sink: Sink): void
}

export interface Sink {
  packet(raw: Uint8Array): void
  drain(): void
  end(error: AppError): void
}

/** Connects to the first address that answers and shakes hands with the server there. */
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
      const attempt = openAddress(address, target, cookie)
      try {
        return await Promise.race([attempt.link, timeout.promise])
      } catch (error) {
        attempt.abandon()
        if (error instanceof AppError) throw error
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
  return new AppError("TIMEOUT", "The X server did not answer in time", { details: { kind: "x11" } })
}

type Address = DisplayTarget["addresses"][number]

function openAddress(address: Address, target: DisplayTarget, cookie: Uint8Array | undefined) {
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
      // Far smaller than any socket buffer: it goes out whole.
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
    connectError: (_, error) => reject(error),
  }
  const connecting =
    "unix" in address
      ? Bun.connect<undefined>({ unix: address.unix, socket: handlers })
      : Bun.connect<undefined>({ hostname: address.hostname, port: address.port, socket: handlers })
  connecting.catch(reject)
  const abandon = () => {
    abandoned = true
    socket?.end()
  }
  return { link, abandon }
}

function setupRequest(cookie: Uint8Array | undefined): Uint8Array {
  const name = encodeLatin1(cookie ? "MIT-MAGIC-COOKIE-1" : "")
  // Laid out like a request with "l" (little-endian) for an opcode and the version where its length goes.
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
