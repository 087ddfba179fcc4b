import { WireError } from "./wire.ts"

/** Where a bus listens, and how to be let in. */

export interface BusAddress {
  /** A socket path; a leading zero byte marks the abstract namespace. */
  readonly unix: string
  readonly text: string
}

/**
 * The unix sockets among the addresses of `unix:path=/run/bus,guid=…;unix:abstract=…`, in their order.
 * Other transports are left out: an accessibility bus is local.
 */
export function parseAddresses(text: string): readonly BusAddress[] {
  return text.split(";").flatMap((one) => {
    const colon = one.indexOf(":")
    if (one.slice(0, colon).trim() !== "unix") return []
    const keys = new Map(
      one
        .slice(colon + 1)
        .split(",")
        .map((pair): [string, string] => {
          const equals = pair.indexOf("=")
          return [pair.slice(0, equals), pair.slice(equals + 1)]
        }),
    )
    const path = keys.get("path")
    const abstract = keys.get("abstract")
    const unix =
      path !== undefined ? unescapeValue(path) : abstract !== undefined ? unescapeValue(abstract) : undefined
    if (!unix) return []
    return [{ unix: path === undefined ? `\0${unix}` : unix, text: one }]
  })
}

/**
 * Everything a client says, in one write: the answer is awaited nowhere, so the first calls can
 * follow at once. A server that refuses closes the connection, and with it every call.
 */
export function authRequest(uid: number): Buffer {
  return Buffer.from(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString("hex")}\r\nBEGIN\r\n`, "latin1")
}

/** Consumes the server's one line of consent. */
export class Handshake {
  /** What the server calls itself; no two that ever ran are called the same. */
  guid = ""
  #line: Buffer = Buffer.alloc(0)

  /** What follows the handshake, or undefined while it goes on. */
  push(chunk: Buffer): Buffer | undefined {
    const bytes = this.#line.length === 0 ? chunk : Buffer.concat([this.#line, chunk])
    const end = bytes.indexOf("\r\n")
    if (end < 0) {
      if (bytes.length > MAX_LINE)
        throw new WireError("the bus answered the authentication with no line at all")
      this.#line = bytes
      return undefined
    }
    const line = bytes.latin1Slice(0, end)
    if (line !== "OK" && !line.startsWith("OK ")) {
      throw new WireError(`the bus refused the authentication: ${line.slice(0, 200)}`)
    }
    this.guid = line.slice("OK ".length).trim()
    return bytes.subarray(end + 2)
  }
}

const MAX_LINE = 16_384

/** Values carry `%xx` for every byte outside a small set of characters. */
function unescapeValue(value: string): string | undefined {
  if (!value.includes("%")) return value
  const bytes = Buffer.alloc(value.length * 3)
  let length = 0
  for (let at = 0; at < value.length; at++) {
    if (value[at] !== "%") {
      length += bytes.write(value[at] ?? "", length, "utf8")
      continue
    }
    const hex = value.slice(at + 1, at + 3)
    if (!/^[0-9a-fA-F]{2}$/.test(hex)) return undefined
    bytes[length++] = Number.parseInt(hex, 16)
    at += 2
  }
  const name = bytes.subarray(0, length)
  const text = name.utf8Slice(0, length)
  // A socket name that is not UTF-8 cannot be told to the runtime.
  return Buffer.from(text, "utf8").equals(name) ? text : undefined
}
