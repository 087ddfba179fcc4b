import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { license, version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { HOMEPAGE, run, standInRelease, URL_OF_RELEASE as url } from "./stand-in-release.ts"

const out = await standInRelease(temporaryForFile())

test.each([
  ["agent-desktop.rb", /^(?!.*-(musl|app-)).*\.tar\.gz$/],
  ["agent-desktop-app.rb", /-app-.*\.tar\.gz$/],
])("%s names every archive with its checksum", (file, wanted) => {
  const formula = readFileSync(join(out, file), "utf8")
  const pairs = [...formula.matchAll(/url "(.+)"\n +sha256 "(.+)"/g)].map(
    ([, where, sum]) => `${sum}  ${where}`,
  )
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").split("\n")
  const archives = sums.filter((line) => wanted.test(line)).map((line) => line.replace("  ", `  ${url}/`))
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
  def self.depends_on(what) = puts("depends_on #{what}")
  def self.conflicts_with(what, because:) = puts("conflicts_with #{what}")
  def self.test = puts("test")
end
load ARGV[0]
puts Object.const_get(ARGV[1]).instance_methods(false).join(" ")
`

test.skipIf(!Bun.which("ruby"))("the formula is Ruby, and gives each machine its archive", () => {
  const [desc, ...rest] = evaluated("agent-desktop.rb", "AgentDesktop")
  const machines = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"].flatMap((machine) =>
    archiveLines(machine, `agent-desktop-${version}-${machine}.tar.gz`),
  )
  expect(rest).toEqual([
    `homepage ${HOMEPAGE}`,
    `version ${version}`,
    `license ${license}`,
    ...machines,
    "conflicts_with agent-desktop-app",
    "test",
    "install",
  ])
  expectStyle("agent-desktop.rb", desc!)
})

test.skipIf(!Bun.which("ruby"))(
  "the formula of the bundle is for macOS, and not beside the other one",
  () => {
    const [desc, ...rest] = evaluated("agent-desktop-app.rb", "AgentDesktopApp")
    const machines = ["arm64", "x64"].flatMap((cpu) =>
      archiveLines(`-${cpu}`, `agent-desktop-app-${version}-darwin-${cpu}.tar.gz`),
    )
    expect(rest).toEqual([
      `homepage ${HOMEPAGE}`,
      `version ${version}`,
      `license ${license}`,
      "depends_on macos",
      ...machines,
      "conflicts_with agent-desktop",
      "test",
      "install caveats",
    ])
    expectStyle("agent-desktop-app.rb", desc!)
  },
)

function evaluated(file: string, name: string): string[] {
  expect(run(["ruby", "-wc", file], out)).toMatchObject({ text: "Syntax OK\n", complaints: "" })
  return run(["ruby", "-e", HOMEBREW, `./${file}`, name], out)
    .text.trim()
    .split("\n")
}

function archiveLines(machine: string, archive: string): string[] {
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").trim().split("\n")
  const [sum] = sums.find((line) => line.endsWith(`  ${archive}`))!.split("  ")
  return [`${machine} ${url}/${archive}`, `${machine} ${sum}`]
}

/** The order that `brew style` asks for (FormulaAudit/ComponentsOrder), as far as the formulas need it. */
const ORDER =
  "desc homepage version license depends_on on_macos on_linux on_arm on_intel conflicts_with install caveats test".split(
    " ",
  )

/** The rules of `brew style` and `brew audit` for descriptions and lines. */
function expectStyle(file: string, desc: string): void {
  expect(desc).toMatch(/^desc [A-Z](?!.*(?:agent-desktop|\.$)).{1,78}$/)
  expect(desc).not.toMatch(/^desc (An?|The) /)
  const lines = readFileSync(join(out, file), "utf8").split("\n")
  const parts = lines
    .flatMap((line) => /^ {2}(?:def )?([a-z_]\w*)/.exec(line)?.[1] ?? [])
    .filter((one) => one !== "end")
  expect(parts).toEqual(ORDER.filter((one) => parts.includes(one)))
  expect(lines.filter((line) => line !== line.trimEnd() || line.length > 118 || line.includes("\t"))).toEqual(
    [],
  )
}
