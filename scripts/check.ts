import { join } from "node:path"

/**
 * Everything that must hold before a change lands: installs what is missing, then lint, types, unused
 * code, the build, and every test. Ends with "N passed, N failed" on a line of its own.
 */

const root = join(import.meta.dir, "..")
const bun = process.execPath

await step("install", [bun, "install", "--frozen-lockfile"])
await step("setup", [bun, "scripts/setup.ts", "--for", "test"])
await Promise.all([
  step("lint", [bin("biome"), "ci", "--error-on-warnings"]),
  step("types", [bin("tsc"), "--noEmit", "-p", "."]),
  step("unused code", [bin("knip-bun")]),
])
await step("build", [bun, "build.ts"])
const { passed, failed, ok } = await tests()
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = ok && failed === 0 && passed > 0 ? 0 : 1

function bin(name: string): string {
  return join(root, "node_modules", ".bin", name)
}

async function step(name: string, command: readonly string[]): Promise<void> {
  const start = performance.now()
  const child = Bun.spawn([...command], { cwd: root, stdout: "pipe", stderr: "pipe" })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  if ((await child.exited) === 0) return console.log(`✓ ${name} (${seconds} s)`)
  console.log(`✗ ${name} (${seconds} s)\n${output.join("")}`)
  console.log("\n0 passed, 1 failed")
  process.exit(1)
}

/** The runner's own counts; a run that ends without them has failed whatever its exit code. */
async function tests(): Promise<{ passed: number; failed: number; ok: boolean }> {
  const child = Bun.spawn([bun, "test", "--timeout", "60000"], {
    cwd: root,
    stdout: "inherit",
    stderr: "pipe",
  })
  let tail = ""
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    process.stderr.write(chunk)
    tail = (tail + chunk).slice(-4000)
  }
  const count = (word: string) =>
    Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(tail)?.[1] ?? Number.NaN)
  const passed = count("pass")
  const failed = count("fail")
  const ok = (await child.exited) === 0 && Number.isFinite(passed) && Number.isFinite(failed)
  return { passed: passed || 0, failed: Number.isFinite(failed) ? failed : 1, ok }
}
