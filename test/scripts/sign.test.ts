import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import fc from "fast-check"
import { sign, verify } from "../../scripts/sign.ts"
import { executable } from "./tiny-macho.ts"

const anyExecutable = fc.record({
  cpu: fc.constantFrom("x86_64" as const, "arm64" as const),
  code: fc.integer({ min: 1, max: 40_000 }),
  stale: fc.integer({ min: 0, max: 4000 }),
  trailing: fc.integer({ min: 0, max: 50 }),
})

test("signing replaces any signature and trailing bytes, and leaves the code unchanged", () => {
  fc.assert(
    fc.property(anyExecutable, ({ cpu, ...shape }) => {
      const before = executable(cpu, shape)
      const after = sign(before)
      verify(after)
      const codeEnd = before.readUInt32LE(32 + 72 + 72 + 8)
      // Only the first page may differ, since it holds the sizes.
      expect(after.subarray(4096, codeEnd).equals(before.subarray(4096, codeEnd))).toBe(true)
      expect(sign(after).equals(after)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test("a foreign signature or another identifier is refused", () => {
  expect(() => verify(executable("arm64"))).toThrow()
  expect(() => verify(sign(executable("arm64"), { identifier: "a.out" }))).toThrow(
    `the identifier is "a.out"`,
  )
})

test("the signature of a bundle holds for its identifier, its Info.plist and its resources only", () => {
  const seal = {
    identifier: "a.Bundle",
    bundle: { infoPlist: Buffer.from("info"), codeResources: Buffer.from("resources") },
  }
  const signed = sign(executable("x86_64"), seal)
  verify(signed, seal)
  expect(sign(signed, seal).equals(signed)).toBe(true)
  const other = Buffer.from("other")
  expect(() => verify(signed)).toThrow()
  expect(() => verify(signed, { ...seal, identifier: "b.Bundle" })).toThrow("the requirements are wrong")
  for (const changed of [{ infoPlist: other }, { codeResources: other }])
    expect(() => verify(signed, { ...seal, bundle: { ...seal.bundle, ...changed } })).toThrow(
      "a special hash is wrong",
    )
})

test("no byte of a signed executable can change unnoticed", () => {
  const signed = sign(executable("arm64"))
  const unnoticed = []
  for (let at = 0; at < signed.length; at++) {
    const damaged = Buffer.from(signed)
    damaged[at] = damaged[at]! ^ (1 << (at % 8))
    if (isValid(damaged)) unnoticed.push(at)
  }
  expect(signed.length).toBeGreaterThan(13_000)
  expect(unnoticed).toEqual([])
})

test("a signed executable cannot be truncated or extended unnoticed", () => {
  const signed = sign(executable("x86_64"))
  const cuts = Array.from({ length: signed.length }, (_, length) => length)
  expect(cuts.filter((length) => isValid(signed.subarray(0, length)))).toEqual([])
  expect(() => verify(signed.subarray(0, signed.length - 1))).toThrow("cut off")
  expect(() => verify(Buffer.concat([signed, Buffer.alloc(1)]))).toThrow("1 bytes follow the signature")
})

test("the fields are at the offsets of the kernel's header file", () => {
  const signed = sign(executable("arm64", { code: 5000, stale: 64 }))
  const offset = signed.readUInt32LE(32 + 72 + 72 + 8)
  const blob = signed.subarray(offset)
  // Magic, length, count; then slot and offset of code directory, requirements, CMS message.
  expect([0, 8, 12, 20, 28].map((at) => blob.readUInt32BE(at))).toEqual([0xfade0cc0, 3, 0, 2, 0x10000])
  const directory = blob.subarray(blob.readUInt32BE(16))
  const [magic, , version, flags, hashes, ident, special, pages, limit] = Array.from(
    { length: 9 },
    (_, index) => directory.readUInt32BE(index * 4),
  )
  expect({ magic, version, flags, special, pages, limit }).toEqual({
    magic: 0xfade0c02,
    version: 0x20400,
    flags: 2,
    special: 2,
    pages: 3,
    limit: offset,
  })
  expect([...directory.subarray(36, 40)]).toEqual([32, 2, 0, 12])
  expect([64, 72, 80].map((at) => directory.readBigUInt64BE(at))).toEqual([0n, 4096n, 1n])
  expect(directory.toString("latin1", ident, ident! + 14)).toBe("agent-desktop\0")
  const stored = (slot: number) => directory.subarray(hashes! + slot * 32, hashes! + slot * 32 + 32)
  const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest()
  expect(stored(0)).toEqual(sha256(signed.subarray(0, 4096)))
  expect(stored(2)).toEqual(sha256(signed.subarray(8192, offset)))
  expect(stored(-1)).toEqual(Buffer.alloc(32))
  expect(stored(-2)).toEqual(sha256(Buffer.from("fade0c010000000c00000000", "hex")))
  expect(blob.subarray(blob.readUInt32BE(32), blob.readUInt32BE(4)).toString("hex")).toBe("fade0b0100000008")
  // The size of __LINKEDIT in memory is rounded up to the machine's pages.
  expect(signed.readBigUInt64LE(32 + 72 + 32)).toBe(0x4000n)
})

function isValid(file: Buffer): boolean {
  try {
    verify(file)
    return true
  } catch {
    return false
  }
}
