import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { build, TARGETS } from "../../build.ts"
import { verify } from "../../scripts/sign.ts"

const directory = mkdtempSync(`${tmpdir()}/agent-desktop-build-`)
beforeAll(async () => {
  for (const target of TARGETS) await build(target, `${directory}/${target}`)
}, 300_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Words that stand in the code of one platform only. */
const MARKERS = {
  darwin: "AXUIElementCopyMultipleAttributeValues",
  linux: "org.a11y.atspi.Registry",
} as const

const HEADERS = {
  "darwin-arm64": [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0x00, 0x00, 0x01],
  "darwin-x64": [0xcf, 0xfa, 0xed, 0xfe, 0x07, 0x00, 0x00, 0x01],
  "linux-x64": [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01],
  "linux-arm64": [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x01, 0x01],
} as const

test.each([...TARGETS])(
  "the binary for %s is one of that platform, and holds no other platform's code",
  (target) => {
    const bytes = readFileSync(`${directory}/${target}`)
    const [os] = target.split("-") as ["darwin" | "linux"]
    const other = os === "darwin" ? "linux" : "darwin"
    expect([...bytes.subarray(0, HEADERS[target].length)]).toEqual([...HEADERS[target]])
    if (os === "linux") expect(bytes.readUInt16LE(18)).toBe(target === "linux-x64" ? 62 : 183)
    expect(bytes.includes(MARKERS[os])).toBe(true)
    expect(bytes.includes(MARKERS[other])).toBe(false)
  },
)

test.each(["darwin-arm64", "darwin-x64"])(
  "the binary for %s is signed anew, and no damage is overlooked",
  (target) => {
    const bytes = readFileSync(`${directory}/${target}`)
    verify(bytes)
    // What the runtime's own signature would bring along: its maker's certificate.
    expect(bytes.includes("Developer ID")).toBe(false)
    const damage = Buffer.from(bytes)
    damage[20_000_000]! ^= 1
    expect(() => verify(damage)).toThrow("1 of ")
    expect(() => verify(bytes.subarray(0, -1))).toThrow("cut off")
    expect(() => verify(Buffer.concat([bytes, Buffer.from("x")]))).toThrow("1 bytes follow")
  },
)

/** Nearly all of it is the runtime; a dependency that adds to it should be noticed. */
const BUDGET_MB = 125

test.each([...TARGETS])("the binary for %s stays within its budget", (target) => {
  expect(statSync(`${directory}/${target}`).size / 1e6).toBeLessThan(BUDGET_MB)
})

test.each(["linux-x64", "linux-arm64"])("the binary for %s asks for no newer glibc than 2.17", (target) => {
  const text = readFileSync(`${directory}/${target}`).toString("latin1")
  const minors = [...text.matchAll(/\0GLIBC_2\.(\d+)(?=[.\0])/g)].map(([, minor]) => Number(minor))
  expect(minors).not.toBeEmpty()
  expect(Math.max(...minors)).toBe(17)
})
