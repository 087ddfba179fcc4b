import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../../src/errors.ts"
import { findCookie, parseDisplay } from "../../../src/linux/x11/setup.ts"
import { decodeLatin1, encodeLatin1, Packet, Request, Splitter } from "../../../src/linux/x11/wire.ts"

describe("DISPLAY", () => {
  const local = (number: string) => [
    { unix: `/tmp/.X11-unix/X${number}` },
    { unix: `\0/tmp/.X11-unix/X${number}` },
  ]

  test.each([
    [":0", "0", 0, local("0")],
    [":12.1", "12", 1, local("12")],
    ["unix:3", "3", 0, local("3")],
    ["localhost:10.0", "10", 0, [{ hostname: "127.0.0.1", port: 6010 }]],
    ["unix:/run/x/socket", "", 0, [{ unix: "/run/x/socket" }]],
    ["/run/x/socket.2", "", 2, [{ unix: "/run/x/socket" }]],
  ] as const)("%p leads to a socket", (display, number, screen, addresses) => {
    const target = parseDisplay(display)
    expect(target).toEqual({ name: display, number, screen, addresses: [...addresses] })
  })

  test.each([undefined, "", "elsewhere:0", "nonsense", ":x", "wayland-0"])(
    "%p is refused with a suggestion",
    (display) => {
      const attempt = () => parseDisplay(display)
      expect(attempt).toThrow(AppError)
      try {
        attempt()
      } catch (error) {
        expect(error).toMatchObject({ code: "PLATFORM_NOT_SUPPORTED", suggestion: expect.any(String) })
      }
    },
  )
})

describe("the authority file", () => {
  const field = (bytes: Uint8Array) => [bytes.length >> 8, bytes.length & 255, ...bytes]
  const entry = (family: number, address: string, number: string, name: string, cookie: number[]) => [
    family >> 8,
    family & 255,
    ...field(encodeLatin1(address)),
    ...field(encodeLatin1(number)),
    ...field(encodeLatin1(name)),
    ...field(Uint8Array.from(cookie)),
  ]
  const COOKIE = "MIT-MAGIC-COOKIE-1"
  const file = Uint8Array.from([
    ...entry(256, "here", "1", "XDM-AUTHORIZATION-1", [9]),
    ...entry(256, "elsewhere", "0", COOKIE, [1]),
    ...entry(256, "here", "0", COOKIE, [2]),
    ...entry(65535, "", "7", COOKIE, [3]),
    ...entry(256, "renamed", "5", COOKIE, [4]),
  ])

  test("has the cookie of this host and display", () => {
    expect(findCookie(file, "here", "0")).toEqual(Uint8Array.of(2))
    expect(findCookie(file, "anywhere", "7")).toEqual(Uint8Array.of(3))
  })

  test("has a cookie even if the host name has changed", () => {
    expect(findCookie(file, "here", "5")).toEqual(Uint8Array.of(4))
  })

  test("has none for another display or another protocol", () => {
    expect(findCookie(file, "here", "2")).toBeUndefined()
    expect(findCookie(file, "here", "1")).toBeUndefined()
  })

  test("is read safely with any bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void findCookie(bytes, "here", "0")))
  })
})

describe("requests", () => {
  test("are padded and carry their length in words", () => {
    const bytes = new Request(16, 1).u16(3).u16(0).bytes(encodeLatin1("abc")).encode(65535, false)
    expect([...bytes]).toEqual([16, 1, 3, 0, 3, 0, 0, 0, 97, 98, 99, 0])
  })

  test("use a separate length field if they are large", () => {
    const payload = new Uint8Array(300_000).fill(7)
    const bytes = new Request(18).bytes(payload).encode(4_000_000, true)
    expect(new Packet(bytes).u16(2)).toBe(0)
    expect(new Packet(bytes).u32(4)).toBe(bytes.length / 4)
    expect(bytes.subarray(8)).toEqual(payload)
  })

  test("beyond the server's limit are rejected by the client", () => {
    expect(() => new Request(18).bytes(new Uint8Array(300_000)).encode(65535, false)).toThrow(AppError)
  })

  test("clamp coordinates to 16 bits", () => {
    const bytes = new Request(1).i16(40_000).i16(-40_000).encode(65535, false)
    expect([new Packet(bytes).i16(4), new Packet(bytes).i16(6)]).toEqual([32767, -32768])
  })
})

describe("packets", () => {
  test("are never read past their end", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(60), fc.nat(60), (raw, at, count) => {
        const packet = new Packet(raw)
        for (const read of [
          () => packet.u32(at),
          () => packet.bytes(at, count),
          () => packet.list32(at, count),
        ]) {
          try {
            read()
          } catch (error) {
            expect(error).toBeInstanceOf(AppError)
          }
        }
      }),
    )
  })

  test("are complete with any chunk boundaries in the stream", () => {
    const sizes = fc.array(fc.integer({ min: 8, max: 400 }), { minLength: 1, maxLength: 20 })
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(sizes, cuts, (lengths, pieces) => {
        const packets = lengths.map((length, i) => {
          const packet = new Uint8Array(length).fill(i)
          new DataView(packet.buffer).setUint32(0, length)
          return packet
        })
        const stream = new Uint8Array(Buffer.concat(packets))
        const splitter = new Splitter(8, (head) => new DataView(head.buffer, head.byteOffset).getUint32(0))
        const seen: Uint8Array[] = []
        for (let at = 0, i = 0; at < stream.length; i++) {
          const piece = stream.subarray(at, at + pieces[i % pieces.length]!)
          for (const packet of splitter.push(piece)) seen.push(packet.slice())
          at += piece.length
        }
        expect(seen).toEqual(packets)
      }),
    )
  })
})

test("Latin-1 has one byte per character, C1 controls included", () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)
  expect(encodeLatin1(decodeLatin1(all))).toEqual(all)
  expect(decodeLatin1(Uint8Array.of(0x80))).toBe("\u0080")
})
