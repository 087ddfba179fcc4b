import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TARGETS } from "../../build.ts"
import { author, engines, homepage, license, version } from "../../package.json"
import { buildLibrary } from "../../scripts/library.ts"
import { readExtras, release } from "../../scripts/release.ts"
import { sign } from "../../scripts/sign.ts"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { commands } from "../../src/commands/index.ts"
import { parseArgs } from "../../src/run.ts"
import { openDesktop } from "../support/desktop.ts"
import { executable } from "./tiny-macho.ts"

const directory = mkdtempSync(`${tmpdir()}/agent-desktop-release-`)
const out = join(directory, "release")
const root = join(import.meta.dir, "../..")
const url = "https://downloads.example.org/1"
const time = 1_700_000_000

/** Stands in for the binary: says what it got, and ends as it is told. */
const STAND_IN = `#!/bin/sh
case "$1" in
  fail) exit 7 ;;
  die) kill -KILL $$ ;;
  wait) trap 'kill $child; echo terminated; exit 3' TERM; sleep 60 & child=$!; echo ready; wait $child ;;
  read) cat ;;
  *) printf '<%s>' "$@" ;;
esac
`

beforeAll(async () => {
  for (const target of TARGETS)
    writeFileSync(
      join(directory, `agent-desktop-${target}`),
      target.startsWith("darwin") ? sign(executable("arm64")) : STAND_IN,
    )
  const extras = { ...(await readExtras()), man: ".TH agent-desktop 1\n", completions: { fish: "# fish\n" } }
  const library = await buildLibrary()
  await release({ from: directory, out, url, extras, library, time })
  const again = { out: join(directory, "again"), library: await buildLibrary() }
  await release({ from: directory, url, extras, time, ...again })
}, 120_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (command: readonly string[], cwd = out) => {
  const { stdout, stderr, exitCode, signalCode } = Bun.spawnSync([...command], { cwd, stdin: "ignore" })
  return { text: stdout.toString(), complaints: stderr.toString(), exitCode, signalCode }
}

test("the same binaries give the same files, and SHA256SUMS names every one of them", () => {
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8")
  expect(readFileSync(join(directory, "again/SHA256SUMS"), "utf8")).toBe(sums)
  expect(run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"]).exitCode).toBe(0)
  expect(run(["ls"]).text.trim().split("\n").sort()).toEqual(
    [
      "SHA256SUMS",
      ...sums
        .trim()
        .split("\n")
        .map((line) => line.split("  ")[1]!),
    ].sort(),
  )
})

test.each([...TARGETS])("the archive for %s holds the binary and what belongs to it", (target) => {
  const archive = `agent-desktop-${version}-${target}.tar.gz`
  const list = run(["tar", "--utc", "--full-time", "-tvzf", archive])
  expect(list.complaints).toBe("")
  const lines = list.text.trim().split("\n")
  expect(lines.map((line) => line.split(`agent-desktop-${version}/`)[1])).toEqual([
    "agent-desktop",
    "LICENSE",
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
})

test("a macOS binary with a wrong signature is not released", async () => {
  const from = join(directory, "damaged")
  mkdirSync(from)
  for (const target of TARGETS) writeFileSync(join(from, `agent-desktop-${target}`), executable("x86_64"))
  const attempt = release({
    from,
    out: join(from, "release"),
    url,
    extras: await readExtras(),
    library: [],
    time,
  })
  await expect(attempt).rejects.toThrow()
})

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

/** As Homebrew reads it, as far as a formula is plain Ruby: which archive each machine gets, and what its test says. */
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
  expect(run(["ruby", "-wc", "agent-desktop.rb"])).toMatchObject({ text: "Syntax OK\n", complaints: "" })
  const said = run(["ruby", "-e", HOMEBREW, "./agent-desktop.rb"]).text.trim().split("\n")
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
  // What `brew style` and `brew audit` ask of a description and of lines.
  expect(desc).toMatch(/^desc [A-Z](?!.*(?:agent-desktop|\.$)).{1,78}$/)
  expect(desc).not.toMatch(/^desc (An?|The) /)
  const lines = readFileSync(join(out, "agent-desktop.rb"), "utf8").split("\n")
  expect(lines.filter((line) => line !== line.trimEnd() || line.length > 118 || line.includes("\t"))).toEqual(
    [],
  )
})

test("everything that names a place or a person has it from package.json", () => {
  const files = [...new Bun.Glob("{packaging,scripts}/**/*").scanSync(root)]
  expect(files.filter((file) => readFileSync(join(root, file), "utf8").includes("example.com"))).toEqual([])
  for (const [archive, member] of [
    [`npm-agent-desktop-${version}.tgz`, "package/package.json"],
    [`npm-agent-desktop-linux-x64-musl-${version}.tgz`, "package/package.json"],
  ])
    expect(JSON.parse(run(["tar", "-xzOf", archive!, member!]).text)).toMatchObject({
      homepage,
      author,
      license,
    })
})

const target = `${process.platform}-${process.arch}`

/** An empty project, with the packages in it as npm installs them from their files alone. */
function installed(name: string): string {
  const project = join(directory, name)
  mkdirSync(project)
  writeFileSync(join(project, "package.json"), "{}")
  const packed = [`npm-agent-desktop-${version}.tgz`, `npm-agent-desktop-${target}-${version}.tgz`]
  const own = [
    `--cache=${project}/cache`,
    `--userconfig=${project}/npmrc`,
    `--globalconfig=${project}/global-npmrc`,
  ]
  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", ...own]
  const install = run(["npm", "install", ...flags, ...packed.map((one) => join(out, one))], project)
  expect(install).toMatchObject({ exitCode: 0 })
  return project
}

test.skipIf(!Bun.which("npm"))(
  "a program on Bun imports the package, with its types, and nothing else has to be installed",
  async () => {
    const project = installed("embedding")
    const program = `import { agentDesktop, type Envelope, runCommand } from "agent-desktop"
const once: Envelope = await runCommand("version")
await using desktop = agentDesktop({ session: "mine" })
const failed = await desktop.run("click", { ref_id: "@e1" })
const copied = await desktop.run("clipboard-set", { text: "from a program" })
console.log(JSON.stringify([once.ok && once.data, failed.ok || failed.error.code, copied.ok || copied.error]))
`
    writeFileSync(join(project, "use.ts"), program)
    await using desktop = await openDesktop()
    const child = Bun.spawn([process.execPath, "use.ts"], { cwd: project, env: desktop.env, stdout: "pipe" })
    const [facts, code, copied] = JSON.parse(await new Response(child.stdout).text())
    expect(facts).toMatchObject({ version, bun: engines.bun })
    expect([code, copied]).toEqual(["STALE_REF", true])
    // What keeps the clipboard outlives the program that set it.
    expect(await child.exited).toBe(0)
    expect((await desktop.run("clipboard-get")).json.data.text).toBe("from a program")
    const config = {
      strict: true,
      noEmit: true,
      target: "ESNext",
      module: "Preserve",
      types: [],
      skipLibCheck: false,
    }
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: config, files: ["use.ts"] }),
    )
    writeFileSync(join(project, "use.ts"), `${program}declare const console: { log(text: string): void }\n`)
    expect(run([join(root, "node_modules/.bin/tsc"), "-p", "."], project)).toMatchObject({
      text: "",
      exitCode: 0,
    })
    const kilobytes = Number.parseInt(run(["du", "-sk", "node_modules/agent-desktop"], project).text, 10)
    expect(kilobytes).toBeLessThan(2500)
  },
  120_000,
)

test.skipIf(!Bun.which("npm"))(
  "the npm packages install offline and without scripts, and the command is the binary",
  async () => {
    const project = installed("project")
    const command = join(project, "node_modules/.bin/agent-desktop")
    expect(run([command, "type", "@e1", "two words", ""]).text).toBe("<type><@e1><two words><>")
    expect(run([command, "fail"]).exitCode).toBe(7)
    expect(run([command, "die"]).signalCode).toBe("SIGKILL")
    const reader = Bun.spawnSync([command, "read"], { stdin: Buffer.from("Grüße\n") })
    expect(reader.stdout.toString()).toBe("Grüße\n")

    await using waiting = Bun.spawn([command, "wait"], { stdin: "ignore", stdout: "pipe" })
    const words = waiting.stdout.pipeThrough(new TextDecoderStream()).getReader()
    expect((await words.read()).value).toBe("ready\n")
    waiting.kill("SIGTERM")
    expect((await words.read()).value).toBe("terminated\n")
    expect(await waiting.exited).toBe(3)

    rmSync(join(project, "node_modules/@agent-desktop"), { recursive: true })
    const orphan = run([command, "version"])
    expect(orphan.exitCode).toBe(1)
    expect(orphan.complaints).toContain(`@agent-desktop/${target} is not installed`)

    // On Alpine npm brings the other one.
    const musl = join(project, `node_modules/@agent-desktop/${target}-musl`)
    mkdirSync(musl, { recursive: true })
    const packed = join(out, `npm-agent-desktop-${target}-musl-${version}.tgz`)
    if (existsSync(packed)) {
      run(["tar", "-xzf", packed, "-C", musl, "--strip-components", "1"])
      expect(run([command, "hello"]).text).toBe("<hello>")
    }
  },
  60_000,
)

test.skipIf(!Bun.which("dpkg"))(
  "the Debian package installs what it lists, and leaves nothing when removed",
  () => {
    const system = join(directory, "system")
    for (const folder of ["info", "updates", "triggers"])
      mkdirSync(join(system, "var/lib/dpkg", folder), { recursive: true })
    writeFileSync(join(system, "var/lib/dpkg/status"), "")
    writeFileSync(join(system, "var/lib/dpkg/available"), "")
    const architecture = run(["dpkg", "--print-architecture"]).text.trim()
    const deb = join(out, `agent-desktop_${version}_${architecture}.deb`)
    const wanted = ["Package", "Version", "Architecture", "Maintainer", "Homepage", "Recommends"]
    expect(run(["dpkg-deb", "--field", deb, ...wanted]).text).toBe(
      `Package: agent-desktop\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: ${author}\n` +
        `Homepage: ${homepage}\nRecommends: at-spi2-core, dbus, openbox, xvfb\n`,
    )
    const forced = ["--force-not-root", "--force-depends", "--force-script-chrootless", `--log=${system}/log`]
    const dpkg = (...args: string[]) => run(["dpkg", `--root=${system}`, ...forced, ...args])
    expect(dpkg("--install", deb).exitCode).toBe(0)
    expect(run([join(system, "usr/bin/agent-desktop"), "hello"]).text).toBe("<hello>")
    expect(run(["gzip", "-dc", join(system, "usr/share/man/man1/agent-desktop.1.gz")]).text).toStartWith(
      ".TH",
    )
    expect(existsSync(join(system, "usr/share/fish/vendor_completions.d/agent-desktop.fish"))).toBe(true)
    // Every file against its checksum in the package.
    expect(dpkg("--verify", "agent-desktop")).toMatchObject({ text: "", exitCode: 0 })
    expect(dpkg("--remove", "agent-desktop").exitCode).toBe(0)
    expect(existsSync(join(system, "usr/bin/agent-desktop"))).toBe(false)
    expect(existsSync(join(system, "usr/share/doc/agent-desktop"))).toBe(false)
  },
  60_000,
)

test("the pods are asked for their health with a command that there is, and the image is made of files that there are", async () => {
  const text = readFileSync(join(root, "packaging/kubernetes/agent-desktop.yaml"), "utf8")
  const [, stateful] = Bun.YAML.parse(text) as [unknown, StatefulSet]
  const [container] = stateful.spec.template.spec.containers
  const { readinessProbe, livenessProbe, lifecycle, command } = container!
  const started = command.at(-1)!.split(" && ")[0]!.split(" ")
  const called = [readinessProbe, livenessProbe, lifecycle.preStop].map(({ exec }) => exec.command)
  for (const [program, ...args] of [...called, started]) {
    expect(program).toBe("agent-desktop")
    const parsed = await parseArgv(args, commands, globals)
    if (parsed.kind !== "run") throw new Error(`${args} does not run`)
    expect(() => parseArgs(parsed.command, parsed.args)).not.toThrow()
  }
  const image = readFileSync(join(root, "packaging/container/Containerfile"), "utf8")
  const targets = [...image.matchAll(/target=(linux-[\w-]+)/g)].map(([, one]) => one)
  expect(TARGETS).toEqual(expect.arrayContaining(targets as never))
  // The number that the pods run as is the one that the image makes.
  expect(image).toContain(`--uid ${stateful.spec.template.spec.securityContext.runAsUser} `)
})

interface StatefulSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly runAsUser: number }
        readonly containers: readonly {
          readonly command: readonly string[]
          readonly readinessProbe: Probe
          readonly livenessProbe: Probe
          readonly lifecycle: { readonly preStop: Probe }
        }[]
      }
    }
  }
}

interface Probe {
  readonly exec: { readonly command: readonly string[] }
}

test("the workflows run nobody else's actions", () => {
  for (const name of ["ci", "release"]) {
    const { jobs } = Bun.YAML.parse(
      readFileSync(join(root, `.github/workflows/${name}.yml`), "utf8"),
    ) as Workflow
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    expect(steps.filter((step) => typeof step.run !== "string" || "uses" in step)).toEqual([])
  }
})

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>
}

test("everything that names a version of Bun names the one the project is made for", () => {
  const files = ["README.md", "CONTRIBUTING.md", "RELEASING.md", ".ci/run", ".github/workflows/ci.yml"]
  for (const file of [...files, ".github/workflows/release.yml"]) {
    const named = [...readFileSync(join(root, file), "utf8").matchAll(/\bbun@(\d[\w.-]*)/g)].map(
      ([, one]) => one,
    )
    expect([file, ...new Set(named)]).toEqual([file, engines.bun])
  }
})
