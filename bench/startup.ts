import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { build } from "../build.ts"
import { startProgress } from "../src/cli/terminal.ts"
import { median } from "./measure.ts"

/**
 * The cost of starting agent-desktop, compared with an empty compiled Bun program. All run in turn, round after
 * round, so that other load on the machine affects each alike. Prints medians and ratios.
 */

const ROUNDS = Number(process.argv[2] ?? 40)
const progress = startProgress("bench:startup")
const directory = mkdtempSync(`${tmpdir()}/agent-desktop-startup-`)
try {
  const target = `${process.platform}-${process.arch}` as Parameters<typeof build>[0]
  const program = `${directory}/agent-desktop`
  await build(target, program)
  const empty = await compileEmpty(`${directory}/empty`)
  const env = { ...process.env, AGENT_DESKTOP_HOME: `${directory}/state` }
  const cases = [
    { name: "empty program", command: [empty], goal: undefined },
    { name: "agent-desktop version", command: [program, "version"], goal: 2.5 },
    { name: "agent-desktop click @e1 (fails)", command: [program, "click", "@e1"], goal: 3.0 },
    { name: "agent-desktop --help", command: [program, "--help"], goal: undefined },
  ].map((one) => ({ ...one, wall: [] as number[], cpu: [] as number[] }))
  for (let round = -2; round < ROUNDS; round++) {
    progress.say(`round ${round + 1} of ${ROUNDS}`)
    for (const one of cases) {
      const start = performance.now()
      const done = Bun.spawnSync(one.command, { env, stdout: "ignore", stderr: "ignore" })
      if (round < 0) continue
      one.wall.push(performance.now() - start)
      one.cpu.push(Number(done.resourceUsage.cpuTime.total) / 1000)
    }
  }
  progress.end()
  const floor = cases[0]!
  console.log(`${ROUNDS} rounds, medians\n`)
  console.log("| program | wall ms | CPU ms | wall ratio | CPU ratio | goal |\n|---|---|---|---|---|---|")
  for (const one of cases) {
    const ratio = (key: "wall" | "cpu") => (median(one[key]) / median(floor[key])).toFixed(2)
    console.log(
      `| ${one.name} | ${median(one.wall).toFixed(1)} | ${median(one.cpu).toFixed(1)} | ${ratio("wall")} | ${ratio("cpu")} | ${one.goal ? `≤ ${one.goal.toFixed(1)}` : ""} |`,
    )
  }
} finally {
  progress.end()
  rmSync(directory, { recursive: true, force: true })
}

async function compileEmpty(outfile: string): Promise<string> {
  writeFileSync(`${outfile}.ts`, "export {}\n")
  const result = await Bun.build({
    entrypoints: [`${outfile}.ts`],
    minify: true,
    bytecode: true,
    format: "esm",
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!result.success) throw new AggregateError(result.logs)
  return outfile
}
