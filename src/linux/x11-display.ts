import { closeSync, constants, openSync, readSync } from "node:fs"
import { AppError } from "../errors.ts"
import { decodeLatin1 } from "./x11-wire.ts"

/** Where a DISPLAY leads: the addresses to try in order, and the screen to use there. */
export interface DisplayTarget {
  readonly name: string
  readonly number: string
  readonly screen: number
  readonly addresses: readonly ({ unix: string } | { hostname: string; port: number })[]
}

export type Env = Readonly<Record<string, string | undefined>>

/** `:0`, `:0.1`, `unix:0`, `unix:/path/to/socket`, and `localhost:10` as an ssh tunnel sets it. */
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
    // The path first: anybody may listen on an abstract name, but the directory belongs to root.
    return { ...common, addresses: [{ unix: socket }, { unix: `\0${socket}` }] }
  }
  if (host === "localhost" || host === "127.0.0.1") {
    return { ...common, addresses: [{ hostname: "127.0.0.1", port: 6000 + Number(number) }] }
  }
  throw new AppError("PLATFORM_NOT_SUPPORTED", `DISPLAY '${display}' is on another machine`, {
    suggestion: "Run on that machine, or tunnel its display with ssh -X",
  })
}

/** The MIT-MAGIC-COOKIE-1 for a display, if the authority file holds one. */
export function readCookie(env: Env, target: DisplayTarget): Uint8Array | undefined {
  const path = env.XAUTHORITY || (env.HOME ? `${env.HOME}/.Xauthority` : undefined)
  const file = path ? readSmall(path) : undefined
  if (!file) return undefined
  const host = readSmall("/proc/sys/kernel/hostname") ?? new Uint8Array()
  return findCookie(file, decodeLatin1(host).trim(), target.number)
}

/** The entry for this host and display; else, as the host may have been renamed since, for this display. */
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

// Big-endian counted strings; a torn last entry ends the list.
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

// A file that cannot be read is as good as none: the server may not ask for a cookie at all.
function readSmall(path: string): Uint8Array | undefined {
  try {
    // Not blocking: a pipe in the file's place would wait for its other end.
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
