import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { TARGETS } from "../../build.ts"
import { version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease } from "./stand-in-release.ts"
import { executable } from "./tiny-macho.ts"

const directory = temporaryForFile()
const out = await standInRelease(directory)

test("the same binaries give the same files, and SHA256SUMS names every one of them", async () => {
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8")
  expect(readFileSync(join(await standInRelease(`${directory}/again`), "SHA256SUMS"), "utf8")).toBe(sums)
  expect(run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], out).exitCode).toBe(0)
  expect(run(["ls"], out).text.trim().split("\n").sort()).toEqual(
    [
      "SHA256SUMS",
      ...sums
        .trim()
        .split("\n")
        .map((line) => line.split("  ")[1]!),
    ].sort(),
  )
})

test.each([...TARGETS])(
  "the archive for %s contains the binary, its manual, its completions and its license",
  (target) => {
    const archive = `agent-desktop-${version}-${target}.tar.gz`
    const list = run(["tar", "--utc", "--full-time", "-tvzf", archive], out)
    expect(list.complaints).toBe("")
    const lines = list.text.trim().split("\n")
    expect(lines.map((line) => line.split(`agent-desktop-${version}/`)[1])).toEqual([
      "agent-desktop",
      "LICENSE",
      "THIRD-PARTY-NOTICES.txt",
      "README.md",
      "agent-desktop.1",
      "completions/agent-desktop.fish",
    ])
    expect(lines[0]).toMatch(/^-rwxr-xr-x root\/root +\d+ 2023-11-14 22:13:20 /)
    expect(lines[1]).toMatch(/^-rw-r--r-- root\/root +\d+ 2023-11-14 22:13:20 /)
    const unpacked = Bun.spawnSync(["tar", "-xzOf", archive, `agent-desktop-${version}/agent-desktop`], {
      cwd: out,
    })
    expect(unpacked.stdout.equals(readFileSync(join(directory, `agent-desktop-${target}`)))).toBe(true)
  },
)

test("a macOS binary with a wrong signature is not released", async () => {
  const attempt = standInRelease(`${directory}/damaged`, [], executable("x86_64"))
  await expect(attempt).rejects.toThrow()
})
