import { availableParallelism } from "node:os"
import { join } from "node:path"
import { startProgress } from "../src/cli/terminal.ts"

/**
 * Everything that must hold before a change lands: installs what is missing, then lint, types, unused
 * code, the build, and every test. Ends with "N passed, N failed" on a line of its own.
 */

const root = join(import.meta.dir, "..")
const bun = process.execPath
const WORKERS = Math.min(2, availableParallelism())
/** For what may have to be downloaded, and for one file of tests. */
const MOST_MINUTES = { step: 30, file: 10 }

const progress = startProgress("check")

await step("install", [bun, "install", "--frozen-lockfile"])
await step("setup", [bun, "scripts/setup.ts", "--for", "test"])
await Promise.all([
  step("lint", [bin("biome"), "ci", "--error-on-warnings", "--colors=off"]),
  step("types", [bin("tsc"), "--noEmit", "-p", "."]),
  step("unused code", [bin("knip-bun")]),
  step("code that only tests use", [bin("knip-bun"), "--production"]),
])
await step("build", [bun, "build.ts"])
const { passed, failed } = await tests()
progress.end()
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function bin(name: string): string {
  return join(root, "node_modules", ".bin", name)
}

async function step(name: string, command: readonly string[]): Promise<void> {
  const start = performance.now()
  progress.say(name)
  const { output, exitCode } = await run(command, MOST_MINUTES.step)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  progress.clear()
  if (exitCode === 0) return console.log(`✓ ${name} (${seconds} s)`)
  console.log(`✗ ${name} (${seconds} s)\n${output}\n\n0 passed, 1 failed`)
  process.exit(1)
}

interface Outcome {
  readonly file: string
  readonly passed: number
  readonly failed: number
}

/**
 * Each file in a process of its own, two at a time. A file that fails is run once more, alone, and both
 * are told: what passes only then is a test that depends on the load of the machine, and is named.
 */
async function tests(): Promise<{ passed: number; failed: number }> {
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].toSorted()
  const outcomes: Outcome[] = []
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      progress.say(`${files.length - waiting.length} of ${files.length}: ${file}`)
      outcomes.push(await testFile(file))
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  const final: Outcome[] = []
  const shaky: string[] = []
  for (const outcome of outcomes) {
    if (outcome.failed === 0) {
      final.push(outcome)
      continue
    }
    console.log(`once more, alone: ${outcome.file}`)
    const again = await testFile(outcome.file)
    if (again.failed === 0) shaky.push(outcome.file)
    final.push(again)
  }
  for (const file of shaky) console.log(`passed only when run alone: ${file}`)
  const sum = (key: "passed" | "failed") => final.reduce((total, one) => total + one[key], 0)
  return { passed: sum("passed"), failed: sum("failed") }
}

/** The runner's own counts; a run that ends without them has failed whatever its exit code. */
async function testFile(file: string): Promise<Outcome> {
  const start = performance.now()
  const { output, exitCode } = await run([bun, "test", "--timeout", "60000", `./${file}`], MOST_MINUTES.file)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const count = (word: string) => Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0)
  const passed = count("pass")
  const failed = exitCode === 0 && passed > 0 ? count("fail") : Math.max(1, count("fail"))
  progress.clear()
  console.log(`${failed === 0 ? "✓" : "✗"} ${file}  ${passed} passed, ${failed} failed (${seconds} s)`)
  if (failed > 0) console.log(output.replaceAll(/^\(pass\).*\n/gm, ""))
  return { file, passed, failed }
}

async function run(
  command: readonly string[],
  minutes: number,
): Promise<{ output: string; exitCode: number }> {
  const child = Bun.spawn([...command], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: minutes * 60_000,
    killSignal: "SIGKILL",
  })
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { output: texts.join(""), exitCode: await child.exited }
}
