import { mkdir, open, rename, stat } from "node:fs/promises"
import { parseArgs } from "node:util"
import type { BunPlugin } from "bun"
import { signFile } from "./scripts/sign.ts"
import { startProgress } from "./src/cli/terminal.ts"

/**
 * Compiles agent-desktop: for this machine to dist/agent-desktop, or with --all for every target to
 * dist/agent-desktop-<target>.
 */

export const TARGETS = ["darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "linux-x64-musl"] as const
export type Target = (typeof TARGETS)[number]

const root = import.meta.dir

/** `plugins` change the source, for measurements. */
export async function build(target: Target, outfile: string, plugins: BunPlugin[] = []): Promise<void> {
  const [os] = target.split("-")
  // Bun replaces process.platform by the target's, so only that platform's adapter stays in the binary.
  const result = await Bun.build({
    entrypoints: [`${root}/src/main.ts`],
    minify: true,
    splitting: true,
    bytecode: true,
    format: "esm",
    plugins,
    define: {
      BUILD_TARGET: JSON.stringify(target),
      BUILD_COMMIT: JSON.stringify(await commit()),
    },
    compile: {
      target: `bun-${target}`,
      outfile: `${outfile}.new`,
      // A binary that runs in a project must not read that project's settings.
      autoloadDotenv: false,
      autoloadBunfig: false,
      // A command ends before just-in-time compilation pays off. It would take a third to a half of the CPU time.
      // Trees of thousands of nodes still get compiled.
      jitPolicy: 64,
    },
  })
  if (!result.success) throw new AggregateError(result.logs, `The build for ${target} failed`)
  await closeSwitches(`${outfile}.new`)
  // Bun leaves its own signature in the Intel binary, and that signature no longer matches. macOS kills such a process.
  if (os === "darwin") await signFile(`${outfile}.new`)
  // Rename the file into place, so that a process that runs the old binary keeps it.
  await rename(`${outfile}.new`, outfile)
}

/**
 * Environment variables that make the runtime run other code: they turn it into a plain Bun, load a script first, or
 * let a debugger in.
 */
const SWITCHES = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_INSPECT"]

/**
 * Renames these variables in the binary. A name that contains `=` cannot be set. Only those bytes are written: a binary that
 * was written as a whole took 2 ms longer to start.
 */
async function closeSwitches(file: string): Promise<void> {
  const bytes = Buffer.from(await Bun.file(file).arrayBuffer())
  const binary = await open(file, "r+")
  for (const name of SWITCHES) {
    let count = 0
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) {
      // Skip the runtime's own scripts: there the name is part of the code.
      if (bytes.subarray(0, at).subarray(-ENV.length).toString("latin1") === ENV) continue
      await binary.write("=", at + "BUN".length)
      count++
    }
    if (count === 0) throw new Error(`The runtime does not contain ${name} any more: see closeSwitches`)
  }
  await binary.close()
}

const ENV = "process.env."

async function commit(): Promise<string> {
  const git = Bun.spawn(["git", "rev-parse", "--short=12", "HEAD"], {
    cwd: root,
    stdout: "pipe",
    stderr: "ignore",
  })
  const text = await new Response(git.stdout).text()
  return (await git.exited) === 0 ? text.trim() : ""
}

async function runs(binary: string): Promise<void> {
  const probe = Bun.spawn([binary, "version", "--format", "json"], { stdout: "pipe", stderr: "inherit" })
  const text = await new Response(probe.stdout).text()
  if ((await probe.exited) !== 0 || !JSON.parse(text).ok) throw new Error(`${binary} does not run: ${text}`)
}

const native = (): Target => {
  const target = TARGETS.find((one) => one === `${process.platform}-${process.arch}`)
  if (!target) throw new Error(`There is no build for ${process.platform}-${process.arch}`)
  return target
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { all: { type: "boolean" }, outfile: { type: "string" } } })
  await mkdir(`${root}/dist`, { recursive: true })
  const jobs: [Target, string][] = values.all
    ? TARGETS.map((target) => [target, `${root}/dist/agent-desktop-${target}`])
    : [[native(), values.outfile ?? `${root}/dist/agent-desktop`]]
  const progress = startProgress("build")
  for (const [target, outfile] of jobs) {
    progress.say(target)
    await build(target, outfile)
    if (target === native()) await runs(outfile)
    const { size } = await stat(outfile)
    progress.clear()
    console.log(`${outfile.replace(`${root}/`, "")}  ${target}  ${(size / 1e6).toFixed(1)} MB`)
  }
  progress.end()
}
