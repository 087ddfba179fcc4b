import { WireError } from "./wire.ts"

/** Addresses of a bus, and the handshake that opens a connection. */

export interface BusAddress {
  /** A socket path; a leading zero byte marks the abstract namespace. */
  readonly unix: string
  readonly text: string
}

/**
 * The unix sockets in an address list such as `unix:path=/run/bus,guid=…;unix:abstract=…`, in order.
 * Other transports are skipped: an accessibility bus is local.
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
 * The whole handshake of a client in one write. No answer is awaited, so the first calls can follow at
 * once. A server that refuses closes the connection, which fails every call.
 */
export function authRequest(uid: number): Buffer {
  return Buffer.from(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString("hex")}\r\nBEGIN\r\n`, "latin1")
}

/** Reads the one line with which the server accepts the client. */
export class Handshake {
  /** The server's guid. Every server that ever ran has its own. */
  guid = ""
  #line: Buffer = Buffer.alloc(0)

  /** The bytes after the handshake; undefined until it is complete. */
  push(chunk: Buffer): Buffer | undefined {
    const bytes = this.#line.length === 0 ? chunk : Buffer.concat([this.#line, chunk])
    const end = bytes.indexOf("\r\n")
    if (end < 0) {
      if (bytes.length > MAX_LINE)
        throw new WireError("the bus did not end its answer to the authentication with a line break")
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
  // The runtime takes socket names as UTF-8 strings only.
  return Buffer.from(text, "utf8").equals(name) ? text : undefined
}
