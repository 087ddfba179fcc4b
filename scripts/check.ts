import { availableParallelism } from "node:os"
import { join } from "node:path"
import { startProgress } from "../src/cli/terminal.ts"

/**
 * Everything that must hold before a change lands: installs what is missing, then lint, types, unused
 * code, the build, and every test. The last line is "N passed, N failed".
 */

const root = join(import.meta.dir, "..")
const bun = process.execPath
/** More processes than cores, because a test waits for an app half of the time. */
const WORKERS = Math.min(2, availableParallelism()) + 2
/** With --strict, a test that passes only in a second run counts as failed. */
const isStrict = process.argv.includes("--strict")
/** Time limits: for a step, which may download something, and for one test file. */
const MOST_MINUTES = { step: 30, file: 15 }

const progress = startProgress("check")

await step("install", [bun, "install", "--frozen-lockfile"])
await step("setup", [bun, "scripts/setup.ts", "--for", "test"])
await Promise.all([
  step("lint", [bin("biome"), "ci", "--error-on-warnings", "--colors=off"]),
  step("types", [bin("tsc"), "--noEmit", "-p", "."]),
  step("unused code", [bin("knip-bun")]),
  step("code that only tests use", [bin("knip-bun"), "--production"]),
])
await Promise.all([
  step("build", [bun, "build.ts"]),
  step("stand-in for Apple's frameworks", [bun, "test/macos/fake/build.ts"]),
])
const { passed, failed } = await tests()
progress.end()
console.log("\nnot run here: KWin, GNOME Shell and phoc (bun run compositors)")
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
  /** Titles of the tests that failed. */
  readonly titles: readonly string[]
}

/**
 * Runs each file in its own process, a few at a time. A file that fails is run again, alone.
 *
 * The second run decides, so that other work on the machine does not fail a good change. But a file that needs
 * a second run is a defect of the tests. The end of the report lists it with the titles that failed, and with
 * --strict it counts as failed. Use --strict to find such files, for example while something else keeps the
 * cores busy.
 *
 * Files start in the order of their names. Starting the longest first saves only 0.1 s of 445 s.
 */
async function tests(): Promise<{ passed: number; failed: number }> {
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].toSorted()
  const waiting = [...files]
  const outcomes: Outcome[] = []
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      progress.say(`${files.length - waiting.length} of ${files.length}: ${file}`)
      outcomes.push(await testFile(file))
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  const final: Outcome[] = []
  const shaky: Outcome[] = []
  for (const first of outcomes) {
    if (first.failed > 0) console.log(`once more, alone: ${first.file}`)
    const last = first.failed > 0 ? await testFile(first.file) : first
    final.push(last)
    if (first.failed > 0 && last.failed === 0) shaky.push(first)
  }
  report(
    "failed",
    final.filter(({ failed }) => failed > 0),
  )
  report("passed only in a second run, alone", shaky)
  const sum = (list: readonly Outcome[], key: "passed" | "failed") =>
    list.reduce((total, one) => total + one[key], 0)
  const unsteady = isStrict ? sum(shaky, "failed") : 0
  return { passed: sum(final, "passed") - unsteady, failed: sum(final, "failed") + unsteady }
}

function report(heading: string, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return
  console.log(`\n${heading}:`)
  for (const { file, titles } of outcomes)
    console.log([file, ...titles.map((title) => `  ${title}`)].join("\n"))
}

/** Runs one file. A run that does not print the counts of Bun's test runner has failed, even with exit code 0. */
async function testFile(file: string): Promise<Outcome> {
  const start = performance.now()
  const { output, exitCode } = await run([bun, "test", "--timeout", "120000", `./${file}`], MOST_MINUTES.file)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const count = (word: string) => Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0)
  const passed = count("pass")
  const failed = exitCode === 0 && passed > 0 ? count("fail") : Math.max(1, count("fail"))
  const titles = new Set(output.match(/(?<=^\(fail\) ).*/gm))
  progress.clear()
  console.log(`${failed === 0 ? "✓" : "✗"} ${file}  ${passed} passed, ${failed} failed (${seconds} s)`)
  if (failed > 0) console.log(output.replaceAll(/^\(pass\).*\n/gm, ""))
  return { file, passed, failed, titles: [...titles] }
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
