import { beforeAll, expect, test } from "bun:test"
import { mkdirSync, readFileSync } from "node:fs"
import { build, TARGETS } from "../../build.ts"
import { gzip } from "../../scripts/archive.ts"
import { verify } from "../../scripts/sign.ts"
import { temporaryForFile } from "../support/temporary.ts"

const root = new URL("../../", import.meta.url).pathname
const directory = temporaryForFile()
beforeAll(async () => {
  for (const target of TARGETS) await build(target, `${directory}/${target}`)
}, 300_000)

/** Words that occur in the code of one platform only. */
const MARKERS = {
  darwin: "AXUIElementCopyMultipleAttributeValues",
  linux: "org.a11y.atspi.Registry",
} as const

const HEADERS = {
  "darwin-arm64": [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0x00, 0x00, 0x01],
  "darwin-x64": [0xcf, 0xfa, 0xed, 0xfe, 0x07, 0x00, 0x00, 0x01],
  "linux-x64": [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01],
  "linux-arm64": [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01],
  "linux-x64-musl": [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01],
} as const

test.each([...TARGETS])(
  "the binary for %s has that platform's format and no other platform's code",
  (target) => {
    const bytes = readFileSync(`${directory}/${target}`)
    const [os] = target.split("-") as ["darwin" | "linux"]
    const other = os === "darwin" ? "linux" : "darwin"
    expect([...bytes.subarray(0, HEADERS[target].length)]).toEqual([...HEADERS[target]])
    if (os === "linux") expect(bytes.readUInt16LE(18)).toBe(target === "linux-arm64" ? 183 : 62)
    expect(bytes.includes(MARKERS[os])).toBe(true)
    expect(bytes.includes(MARKERS[other])).toBe(false)
  },
)

test.each(["darwin-arm64", "darwin-x64"])(
  "the binary for %s has a new signature that reveals any damage",
  (target) => {
    const bytes = readFileSync(`${directory}/${target}`)
    verify(bytes)
    // The runtime's own signature would contain its maker's certificate.
    expect(bytes.includes("Developer ID")).toBe(false)
    const damage = Buffer.from(bytes)
    damage[20_000_000]! ^= 1
    expect(() => verify(damage)).toThrow("1 of ")
    expect(() => verify(bytes.subarray(0, -1))).toThrow("cut off")
    expect(() => verify(Buffer.concat([bytes, Buffer.from("x")]))).toThrow("1 bytes follow")
  },
)

/** The sizes that docs/size.md gives for each target, in MB: binary and archive. */
const said = new Map(
  [
    ...readFileSync(`${root}docs/size.md`, "utf8").matchAll(
      /^\| ([\w-]+) \| ([\d.]+) MB \| ([\d.]+) MB \|$/gm,
    ),
  ].map(([, target, binary, archive]) => [target, { binary: Number(binary), archive: Number(archive) }]),
)

/** Nearly all of the size is the runtime. A new dependency adds little to it, but should be noticed. */
const MOST_GROWTH_MB = 1

test.each([...TARGETS])(
  "the binary for %s and its archive are at most slightly larger than documented",
  (target) => {
    const bytes = readFileSync(`${directory}/${target}`)
    const { binary, archive } = said.get(target)!
    expect(bytes.length / 1e6).toBeLessThan(binary + MOST_GROWTH_MB)
    expect(bytes.length / 1e6).toBeGreaterThan(binary - 5)
    expect(gzip(bytes).length / 1e6).toBeLessThan(archive + MOST_GROWTH_MB)
  },
)

test("the same sources give the same bytes, in any output directory", async () => {
  mkdirSync(`${directory}/elsewhere`)
  for (const target of ["linux-x64", "darwin-arm64"] as const) {
    await build(target, `${directory}/elsewhere/${target}`)
    expect(
      readFileSync(`${directory}/elsewhere/${target}`).equals(readFileSync(`${directory}/${target}`)),
    ).toBe(true)
  }
})

test("the binary for musl needs only musl and libstdc++, as on Alpine", () => {
  const text = readFileSync(`${directory}/linux-x64-musl`).toString("latin1")
  expect(text).toContain("/lib/ld-musl-x86_64.so.1")
  expect(text).not.toMatch(/\0GLIBC_2\.\d+\0/)
})

test.each(["linux-x64", "linux-arm64"])("the binary for %s needs no glibc newer than 2.17", (target) => {
  const text = readFileSync(`${directory}/${target}`).toString("latin1")
  const minors = [...text.matchAll(/\0GLIBC_2\.(\d+)(?=[.\0])/g)].map(([, minor]) => Number(minor))
  expect(minors).not.toBeEmpty()
  expect(Math.max(...minors)).toBe(17)
})
