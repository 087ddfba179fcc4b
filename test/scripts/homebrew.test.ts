import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { homepage, license, version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease, URL_OF_RELEASE as url } from "./stand-in-release.ts"

const out = await standInRelease(temporaryForFile())

test("the formula names every archive with its checksum", () => {
  const formula = readFileSync(join(out, "agent-desktop.rb"), "utf8")
  const pairs = [...formula.matchAll(/url "(.+)"\n +sha256 "(.+)"/g)].map(
    ([, where, sum]) => `${sum}  ${where}`,
  )
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").split("\n")
  const archives = sums
    .filter((line) => line.endsWith(".tar.gz") && !line.includes("-musl"))
    .map((line) => line.replace("  ", `  ${url}/`))
  expect(pairs.sort()).toEqual(archives.sort())
  expect(formula).toContain(`version "${version}"`)
  expect(formula).not.toContain("{{")
})

/** Evaluates the formula as Homebrew does, and prints the archive of each machine and the other fields. */
const HOMEBREW = `
class Formula
  def self.desc(text) = puts("desc #{text}")
  def self.homepage(text) = puts("homepage #{text}")
  def self.version(text) = puts("version #{text}")
  def self.license(text) = puts("license #{text}")
  def self.on_macos = (@os = "darwin"; yield)
  def self.on_linux = (@os = "linux"; yield)
  def self.on_arm = (@cpu = "arm64"; yield)
  def self.on_intel = (@cpu = "x64"; yield)
  def self.url(text) = puts("#{@os}-#{@cpu} #{text}")
  def self.sha256(text) = puts("#{@os}-#{@cpu} #{text}")
  def self.test = puts("test")
end
load ARGV[0]
puts AgentDesktop.instance_methods(false).join(" ")
`

test.skipIf(!Bun.which("ruby"))("the formula is Ruby, and gives each machine its archive", () => {
  expect(run(["ruby", "-wc", "agent-desktop.rb"], out)).toMatchObject({ text: "Syntax OK\n", complaints: "" })
  const said = run(["ruby", "-e", HOMEBREW, "./agent-desktop.rb"], out).text.trim().split("\n")
  const sums = new Map(
    readFileSync(join(out, "SHA256SUMS"), "utf8")
      .trim()
      .split("\n")
      .map((line) => [line.split("  ")[1], line.split("  ")[0]]),
  )
  const machines = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"].flatMap((machine) => {
    const archive = `agent-desktop-${version}-${machine}.tar.gz`
    return [`${machine} ${url}/${archive}`, `${machine} ${sums.get(archive)}`]
  })
  const [desc, ...rest] = said
  expect(rest).toEqual([
    `homepage ${homepage}`,
    `version ${version}`,
    `license ${license}`,
    ...machines,
    "test",
    "install",
  ])
  // The rules of `brew style` and `brew audit` for descriptions and lines.
  expect(desc).toMatch(/^desc [A-Z](?!.*(?:agent-desktop|\.$)).{1,78}$/)
  expect(desc).not.toMatch(/^desc (An?|The) /)
  const lines = readFileSync(join(out, "agent-desktop.rb"), "utf8").split("\n")
  expect(lines.filter((line) => line !== line.trimEnd() || line.length > 118 || line.includes("\t"))).toEqual(
    [],
  )
})
