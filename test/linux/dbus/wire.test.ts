import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  MessageStream,
  message,
  messageLength,
  method,
  parseMessage,
  writeCall,
} from "../../../src/linux/dbus/message.ts"
import { Reader, unmarshal, viewOf } from "../../../src/linux/dbus/read.ts"
import { checkSignature, type Value, WireError } from "../../../src/linux/dbus/wire.ts"
import { marshal } from "../../../src/linux/dbus/write.ts"

interface Typed {
  readonly signature: string
  readonly value: Value
}

const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0") && value.isWellFormed())
const basic: fc.Arbitrary<Typed> = fc.oneof(
  typed("y", fc.integer({ min: 0, max: 255 })),
  typed("b", fc.boolean()),
  typed("n", fc.integer({ min: -0x8000, max: 0x7fff })),
  typed("q", fc.integer({ min: 0, max: 0xffff })),
  typed("i", fc.integer({ min: -0x80000000, max: 0x7fffffff })),
  typed("u", fc.integer({ min: 0, max: 0xffffffff })),
  typed("x", fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  typed("t", fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  typed("d", fc.double({ noNaN: true })),
  typed("s", text),
  typed("o", fc.constantFrom("/", "/a", "/org/a11y/atspi/accessible/1")),
  typed("g", fc.constantFrom("", "s", "a{sv}", "(ii)as")),
)

/** Values of random types; items of one array share a type, so they are copies of one value. */
const anything: fc.Arbitrary<Typed> = fc.letrec<{ any: Typed }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    basic,
    fc.tuple(tie("any"), fc.integer({ min: 0, max: 3 })).map(([{ signature, value }, count]) => ({
      signature: `a${signature}`,
      value:
        signature === "y"
          ? new Uint8Array(count).fill(Number(value))
          : Array.from({ length: count }, () => value),
    })),
    fc.array(tie("any"), { minLength: 1, maxLength: 4 }).map((members) => ({
      signature: `(${members.map((member) => member.signature).join("")})`,
      value: members.map((member) => member.value),
    })),
    fc.tuple(basic, tie("any")).map(([key, { signature, value }]) => ({
      signature: `a{${key.signature}${signature}}`,
      value: new Map<Value, Value>([[key.value, value]]),
    })),
    tie("any").map((value) => ({ signature: "v", value })),
  ),
})).any

function typed(signature: string, values: fc.Arbitrary<Value>): fc.Arbitrary<Typed> {
  return values.map((value) => ({ signature, value }))
}

const fits = ({ signature }: Typed): boolean => signature.length < 255

describe("values", () => {
  test("survive a round trip through bytes, in both byte orders", () => {
    fc.assert(
      fc.property(fc.array(anything.filter(fits), { maxLength: 3 }), fc.boolean(), (values, little) => {
        const signature = values.map((value) => value.signature).join("")
        fc.pre(signature.length <= 255)
        const bytes = marshal(
          signature,
          values.map(({ value }) => value),
          little,
        )
        expect(unmarshal(signature, new Reader(bytes, little))).toEqual(values.map(({ value }) => value))
      }),
      { numRuns: 500 },
    )
  })

  test("are laid out as the specification's example", () => {
    // The string "foo", then the int64 that forces padding to 8.
    expect(marshal("sx", ["foo", 5n], false).toString("hex")).toBe("00000003666f6f000000000000000005")
    // An array's length includes neither itself nor the padding before its first element.
    expect(marshal("at", [[5n]], false).toString("hex")).toBe("00000008000000000000000000000005")
  })

  test("that are truncated are rejected, and never read past their end", () => {
    fc.assert(
      fc.property(anything.filter(fits), fc.nat(), (value, where) => {
        const bytes = marshal(value.signature, [value.value])
        fc.pre(bytes.length > 0)
        const cut = bytes.subarray(0, where % bytes.length)
        expect(() => unmarshal(value.signature, new Reader(cut, true))).toThrow(WireError)
      }),
    )
  })

  test("in random bytes are either read or rejected", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        anything.filter(fits),
        fc.boolean(),
        (raw, { signature }, little) => {
          try {
            unmarshal(signature, new Reader(Buffer.from(raw), little))
          } catch (error) {
            expect(error).toBeInstanceOf(WireError)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })

  test("that do not fit their type are rejected before anything is sent", () => {
    const misfits: [string, Value][] = [
      ["y", 256],
      ["n", 0x8000],
      ["u", -1],
      ["i", 1.5],
      ["s", 1],
      ["s", "zero\0inside"],
      ["b", 1],
      ["x", 1],
      ["d", "1"],
      ["as", "s"],
      ["(s)", "s"],
      ["a{ss}", []],
      ["ay", [1]],
      ["v", "s"],
    ]
    for (const [signature, value] of misfits) {
      expect(() => marshal(signature, [value]), `${signature} of ${String(value)}`).toThrow(WireError)
    }
    expect(() => marshal("ss", ["one"])).toThrow("fewer values")
    expect(() => marshal("s", ["one", "two"])).toThrow("more values")
  })
})

describe("hostile lengths", () => {
  test("of strings and arrays beyond the message are rejected", () => {
    const huge = Buffer.from([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0])
    for (const signature of ["s", "as", "ay", "at", "a(so)", "a{sv}"]) {
      expect(() => unmarshal(signature, new Reader(huge, true)), signature).toThrow(WireError)
    }
  })

  test("of an array over 64 MiB are rejected even inside a longer message", () => {
    const bytes = Buffer.alloc(65 * 1024 * 1024)
    bytes.writeUInt32LE(64 * 1024 * 1024 + 1, 0)
    expect(() => unmarshal("ay", new Reader(bytes, true))).toThrow(`array of ${64 * 1024 * 1024 + 1} bytes`)
  })

  test("variants nested a thousand deep are rejected", () => {
    const bytes = Buffer.concat([
      Buffer.from("\x01v\0".repeat(1000), "latin1"),
      Buffer.from("\x01y\0\x07", "latin1"),
    ])
    expect(() => unmarshal("v", new Reader(bytes, true))).toThrow("nest too deeply")
  })

  test("a boolean other than 0 and 1 is rejected", () => {
    expect(() => unmarshal("b", new Reader(Buffer.from([2, 0, 0, 0]), true))).toThrow(WireError)
  })
})

test("signatures are checked for completeness and depth", () => {
  const good = [
    "",
    "s",
    "a{sv}",
    "a((so)(so)(so)iiassusau)",
    "(((((s)))))",
    `${"a".repeat(32)}s`,
    "v".repeat(255),
  ]
  const bad = [
    "a",
    "(",
    "()",
    "(s",
    "s)",
    "{sv}",
    "a{vs}",
    "a{s}",
    "a{sss}",
    "z",
    "h",
    `${"a".repeat(33)}s`,
    "v".repeat(256),
  ]
  const deep = `${"(".repeat(33)}s${")".repeat(33)}`
  for (const signature of good) expect(() => checkSignature(signature), signature).not.toThrow()
  for (const signature of [...bad, deep])
    expect(() => checkSignature(signature), signature).toThrow(WireError)
})

const length = (bytes: Buffer): number => messageLength(bytes, viewOf(bytes), 0)

describe("messages", () => {
  test("a call reads back as it was written", () => {
    const called = method("org.freedesktop.DBus.Properties.Get", "ss", ["org.a11y.atspi.Accessible", "Name"])
    const out = Buffer.alloc(1000, 0xee)
    const end = writeCall(out, viewOf(out), 40, called, ":1.7", "/org/a11y/atspi/accessible/1234", 99)
    expect(messageLength(out, viewOf(out), 40)).toBe(end - 40)
    const got = parseMessage(out, viewOf(out), 40, end)
    expect(got).toMatchObject({
      type: 1,
      serial: 99,
      path: "/org/a11y/atspi/accessible/1234",
      interface: "org.freedesktop.DBus.Properties",
      member: "Get",
      signature: "ss",
    })
    expect(unmarshal("ss", got.body)).toEqual(["org.a11y.atspi.Accessible", "Name"])
  })

  test("replies are read in both byte orders", () => {
    fc.assert(
      fc.property(
        anything.filter(fits),
        fc.boolean(),
        fc.integer({ min: 1, max: 0xffffffff }),
        (value, little, serial) => {
          const bytes = message(
            2,
            serial,
            { replySerial: 7, destination: ":1.1" },
            value.signature,
            [value.value],
            little,
          )
          const got = parseMessage(bytes, viewOf(bytes), 0, bytes.length)
          expect(got).toMatchObject({ type: 2, serial, replySerial: 7, signature: value.signature })
          expect(unmarshal(got.signature, got.body)).toEqual([value.value])
        },
      ),
    )
  })

  test("are found in a stream with any chunk boundaries", () => {
    const one = message(2, 5, { replySerial: 1 }, "s", ["x".repeat(300)])
    const two = message(4, 6, { path: "/", interface: "a.b", member: "C" })
    const bytes = Buffer.concat([one, two, one])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }), (sizes) => {
        const stream = new MessageStream()
        const taken: string[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const end = at + (sizes[turn % sizes.length] ?? 1)
          stream.push(bytes.subarray(at, end), (whole, _, from, to) =>
            taken.push(whole.toString("hex", from, to)),
          )
          at = end
        }
        expect(taken).toEqual([one, two, one].map((whole) => whole.toString("hex")))
      }),
    )
  })

  test("of another protocol or over 128 MiB are rejected at their first bytes", () => {
    expect(() => length(Buffer.from("HTTP/1.1 400 Bad"))).toThrow(WireError)
    const big = Buffer.from("6c01000100000008010000000000000000", "hex")
    expect(() => length(big)).toThrow("message of 134217744 bytes")
    const version = Buffer.from("6c010002000000000100000000000000", "hex")
    expect(() => length(version)).toThrow("protocol version 2")
  })

  test("with random damage are either read or rejected", () => {
    const bytes = message(2, 5, { replySerial: 1, destination: ":1.1" }, "a(so)", [[[":1.5", "/a"]]])
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, byte) => {
        const damaged = Buffer.from(bytes)
        damaged[at] = byte
        try {
          const total = length(damaged)
          if (total > damaged.length) return
          const got = parseMessage(damaged, viewOf(damaged), 0, total)
          unmarshal(got.signature, got.body)
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
