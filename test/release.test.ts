import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TARGETS } from "../build.ts"
import { engines, version } from "../package.json"
import { buildLibrary } from "../scripts/library.ts"
import { readExtras, release } from "../scripts/release.ts"
import { sign } from "../scripts/sign.ts"
import { openDesktop } from "./desktop.ts"
import { executable } from "./tiny-macho.ts"

const directory = mkdtempSync(`${tmpdir()}/agent-desktop-release-`)
const out = join(directory, "release")
const root = join(import.meta.dir, "..")
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
    .filter((line) => line.endsWith(".tar.gz"))
    .map((line) => line.replace("  ", `  ${url}/`))
  expect(pairs.sort()).toEqual(archives.sort())
  expect(formula).toContain(`version "${version}"`)
  expect(formula).not.toContain("{{")
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
    const fields = run(["dpkg-deb", "--field", deb, "Package", "Version", "Architecture", "Recommends"]).text
    expect(fields).toBe(
      `Package: agent-desktop\nVersion: ${version}\nArchitecture: ${architecture}\n` +
        "Recommends: at-spi2-core, dbus, openbox, xvfb\n",
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
