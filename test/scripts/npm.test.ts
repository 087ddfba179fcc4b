import { expect, test } from "bun:test"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { author, engines, license, version } from "../../package.json"
import { buildLibrary } from "../../scripts/library.ts"
import { openDesktop } from "../support/desktop.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { HOMEPAGE, run, standInRelease } from "./stand-in-release.ts"

const root = join(import.meta.dir, "../..")
const directory = temporaryForFile()
const library = await buildLibrary()
const out = await standInRelease(directory, library)

test("the packages have author and license from package.json, and the homepage of the release", () => {
  for (const name of ["agent-desktop", "agent-desktop-linux-x64-musl"]) {
    const { text } = run(["tar", "-xzOf", `npm-${name}-${version}.tgz`, "package/package.json"], out)
    expect(JSON.parse(text)).toMatchObject({ homepage: HOMEPAGE, author, license })
  }
})

test("the same sources give the same library", async () => {
  expect(await buildLibrary()).toEqual(library)
})

const target = `${process.platform}-${process.arch}`

/** An empty project into which npm has installed the packages from their files. */
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
  "a program on Bun imports the package with its types, and needs nothing else",
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
    // The owner of the clipboard outlives the program that set it.
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
    expect(kilobytes).toBeLessThan(3500)
  },
)

test.skipIf(!Bun.which("npm"))(
  "the packages install offline and without scripts, and the command is the binary",
  async () => {
    const project = installed("project")
    const command = join(project, "node_modules/.bin/agent-desktop")
    expect(run([command, "type", "@e1", "two words", ""], project).text).toBe("<type><@e1><two words><>")
    expect(run([command, "fail"], project).exitCode).toBe(7)
    expect(run([command, "die"], project).signalCode).toBe("SIGKILL")
    const reader = Bun.spawnSync([command, "read"], { stdin: Buffer.from("Grüße\n") })
    expect(reader.stdout.toString()).toBe("Grüße\n")

    await using waiting = Bun.spawn([command, "wait"], { stdin: "ignore", stdout: "pipe" })
    const words = waiting.stdout.pipeThrough(new TextDecoderStream()).getReader()
    expect((await words.read()).value).toBe("ready\n")
    waiting.kill("SIGTERM")
    expect((await words.read()).value).toBe("terminated\n")
    expect(await waiting.exited).toBe(3)

    rmSync(join(project, "node_modules/@agent-desktop"), { recursive: true })
    const orphan = run([command, "version"], project)
    expect(orphan.exitCode).toBe(1)
    expect(orphan.complaints).toContain(`@agent-desktop/${target} is not installed`)

    // On Alpine npm installs the package for musl.
    const musl = join(project, `node_modules/@agent-desktop/${target}-musl`)
    mkdirSync(musl, { recursive: true })
    const packed = join(out, `npm-agent-desktop-${target}-musl-${version}.tgz`)
    if (existsSync(packed)) {
      run(["tar", "-xzf", packed, "-C", musl, "--strip-components", "1"], project)
      expect(run([command, "hello"], project).text).toBe("<hello>")
    }
  },
)
