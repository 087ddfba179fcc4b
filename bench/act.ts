import { startProgress } from "../src/cli/terminal.ts"
import { startFixture, TOOLKITS } from "../test/fixtures/fixture.ts"
import { openDesktop, PROGRAM } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { median, table } from "./measure.ts"

/**
 * Measures actions by ref, from the start of a process to its exit, compared with `version`. First it clicks in a
 * window of 200 nodes and in one of 5,000. The app's own reaction, seen by a second client, is listed separately: a
 * click that waits for its effect cannot be faster. Then it runs the usual actions in the fixture of each toolkit. All
 * of them take turns, round after round: `bun bench/act.ts [ROUNDS] [TOOLKIT…]`.
 */

const ROUNDS = Number(process.argv[2] ?? 30)
const CHOSEN = TOOLKITS.filter((name) => process.argv.length < 4 || process.argv.includes(name))
const SIZES = [200, 5000]
const HERE = new URL(".", import.meta.url).pathname

const progress = startProgress("bench:act")
await using desktop = await openDesktop({ width: 1600 })
if (process.argv.length < 4) await compareSizes()
for (const toolkit of CHOSEN) await compareActions(toolkit)
progress.end()

async function compareSizes(): Promise<void> {
  const windows = await Promise.all(SIZES.map(prepare))
  const runs = [
    runOf("version", ["version"]),
    ...windows.map(({ nodes, ref, home }) => runOf(`click, ${nodes} nodes`, ["click", ref], home)),
  ]
  await measure("sizes", runs)
  const floor = median(runs[0]!.wall)
  console.log(`${ROUNDS} rounds, medians\n`)
  console.log(
    table(
      ["run", "wall ms", "ratio to version", "app's reaction ms", "own part, ratio"],
      runs.map((run, index) => {
        const reaction = windows[index - 1]?.reaction
        const wall = median(run.wall)
        const own = reaction === undefined ? "" : ((wall - reaction) / floor).toFixed(2)
        return [run.name, wall.toFixed(1), (wall / floor).toFixed(2), reaction?.toFixed(1) ?? "", own]
      }),
    ),
  )
}

async function compareActions(toolkit: (typeof TOOLKITS)[number]): Promise<void> {
  const home = `${desktop.directory}/${toolkit}`
  const env = { ...desktop.env, AGENT_DESKTOP_HOME: home }
  const app = await startFixture(desktop, toolkit)
  const ref = (name: string, role: string): Promise<string> =>
    until(async () => {
      const query = ["find", "--name", name, "--role", role, "--exact", "--first"]
      const done = Bun.spawnSync([PROGRAM, ...query], { env })
      const { data } = JSON.parse(done.stdout.toString())
      return data?.match?.ref_id as string | undefined
    }, 60_000)
  const [button, name, notes, later, area] = [
    await ref("Press me", "button"),
    await ref("Name", "textfield"),
    await ref("Notes", "textfield"),
    await ref("Later", "button"),
    await ref("Click area", "button"),
  ]
  const byPointer = ["click", area, "--input", "physical"]
  const runs = [
    runOf("version", ["version"]),
    runOf("click", ["click", button], home),
    // Measure this before the text fields: after a newline they scroll for a while, and --changes waits for that.
    runOf("click --changes", ["click", button, "--changes"], home),
    runOf("type", ["type", name, "a"], home),
    runOf("type, with a newline", ["type", notes, "a\n"], home),
    runOf("set-value", ["set-value", name, "abc"], home),
    runOf("snapshot", ["snapshot"], `${home}-look`),
    runOf("click by pointer", byPointer, home),
    { ...runOf("click by pointer, again", byPointer, home), before: byPointer },
    runOf("click, disabled", ["click", later], home),
    runOf("right-click, no menu", ["right-click", area], home),
  ]
  await measure(toolkit, runs)
  const floor = median(runs[0]!.wall)
  console.log(`\n${toolkit}: version ${floor.toFixed(1)} ms\n`)
  console.log(
    table(
      ["run", "median ms", "median ÷ version", "95th ÷ version", "answers"],
      runs
        .slice(1)
        .map(({ name, wall, answers }) => [
          name,
          median(wall).toFixed(1),
          (median(wall) / floor).toFixed(1),
          (percentile(wall, 0.95) / floor).toFixed(1),
          [...Map.groupBy(answers, String)].map(([text, all]) => `${text} ${all.length}`).join(", "),
        ]),
    ),
  )
  process.kill(app.pid)
}

interface Timed {
  readonly name: string
  readonly args: readonly string[]
  /** A command that runs right before it and is not measured. */
  readonly before?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly wall: number[]
  readonly answers: string[]
}

function runOf(name: string, args: readonly string[], home?: string): Timed {
  const env = home === undefined ? desktop.env : { ...desktop.env, AGENT_DESKTOP_HOME: home }
  return { name, args, env, wall: [], answers: [] }
}

async function measure(title: string, runs: readonly Timed[]): Promise<void> {
  for (let round = -2; round < ROUNDS; round++) {
    progress.say(`${title}: round ${round + 1} of ${ROUNDS}`)
    for (const run of runs) {
      if (run.before) Bun.spawnSync([PROGRAM, ...run.before], { env: run.env })
      const start = performance.now()
      const done = Bun.spawnSync([PROGRAM, ...run.args], { env: run.env, stdout: "pipe", stderr: "ignore" })
      const ms = performance.now() - start
      if (round < 0) continue
      run.wall.push(ms)
      const { data, error } = JSON.parse(done.stdout.toString())
      run.answers.push(error?.code ?? data.disposition?.delivery ?? "ok")
    }
  }
}

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
}

async function prepare(nodes: number) {
  const title = `many-${nodes}`
  desktop.spawnApp(["/usr/bin/python3", `${HERE}../test/fixtures/many.py`, title, String(nodes)])
  const home = `${desktop.directory}/${title}`
  const env = { ...desktop.env, AGENT_DESKTOP_HOME: home }
  const found = await until(async () => {
    const done = Bun.spawnSync(
      [PROGRAM, "find", "--app", title, "--role", "button", "--name", "Press", "--first"],
      { env },
    )
    const { data } = JSON.parse(done.stdout.toString())
    return data?.match?.ref_id as string | undefined
  }, 60_000)
  const second = Bun.spawnSync(["/usr/bin/python3", `${HERE}reaction.py`, title, String(ROUNDS)], {
    env: desktop.env,
    stderr: "inherit",
  })
  return { nodes, ref: found, home, reaction: Number(second.stdout.toString()) }
}
