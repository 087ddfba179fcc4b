import { startProgress } from "../src/cli/terminal.ts"
import { openDesktop, PROGRAM } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { median } from "./measure.ts"

/**
 * The cost of a click by ref, from a cold process to its exit, compared with `version`: in a window of 200 nodes and
 * in one of 5,000. The app's own reaction, seen by a second client, is listed separately, because a click that waits
 * for its effect cannot be faster. All run in turn, round after round.
 */

const ROUNDS = Number(process.argv[2] ?? 30)
const SIZES = [200, 5000]
const HERE = new URL(".", import.meta.url).pathname

await using desktop = await openDesktop()
const windows = await Promise.all(SIZES.map(prepare))
const runs = [
  { name: "version", args: ["version"], env: desktop.env, wall: [] as number[] },
  ...windows.map(({ nodes, ref, home }) => ({
    name: `click, ${nodes} nodes`,
    args: ["click", ref],
    env: { ...desktop.env, AGENT_DESKTOP_HOME: home },
    wall: [] as number[],
  })),
]
const progress = startProgress("bench:act")
for (let round = -2; round < ROUNDS; round++) {
  progress.say(`round ${round + 1} of ${ROUNDS}`)
  for (const run of runs) {
    const start = performance.now()
    const done = Bun.spawnSync([PROGRAM, ...run.args], { env: run.env, stdout: "pipe", stderr: "ignore" })
    const ms = performance.now() - start
    if (done.exitCode !== 0) throw new Error(done.stdout.toString())
    if (round >= 0) run.wall.push(ms)
  }
}
progress.end()
const floor = median(runs[0]!.wall)
console.log(
  `${ROUNDS} rounds, medians\n\n| run | wall ms | ratio to version | app's reaction ms | own part, ratio |\n|---|---|---|---|---|`,
)
for (const [index, run] of runs.entries()) {
  const reaction = windows[index - 1]?.reaction
  const wall = median(run.wall)
  console.log(
    `| ${run.name} | ${wall.toFixed(1)} | ${(wall / floor).toFixed(2)} | ${reaction?.toFixed(1) ?? ""} | ${reaction === undefined ? "" : ((wall - reaction) / floor).toFixed(2)} |`,
  )
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
