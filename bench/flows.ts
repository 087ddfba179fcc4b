import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { startProgress } from "../src/cli/terminal.ts"
import { readFlow } from "../src/flow/read.ts"
import { openDesktop, runProgram, type TestDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { table } from "./measure.ts"
import { Stage, type Task } from "./tasks/task.ts"
import { TASKS } from "./tasks/tasks.ts"
import { Way } from "./tasks/way.ts"

/**
 * Records tasks in stock apps, done with refs, and replays each flow many times:
 *
 *   bun bench/flows.ts [--only PART] [--times 20] [--changed 2] [--keep DIR] [--write]
 *
 * Every run has a fresh desktop and a fresh app, and an outside look judges its effect. `--changed` runs follow on a
 * smaller screen, with a resized window, another theme and rows in another order. `--keep` keeps the flows, and the
 * picture and the snapshot of each run that stopped. `--write` puts the table into docs/flows.md.
 */

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    times: { type: "string", default: "20" },
    changed: { type: "string", default: "2" },
    keep: { type: "string" },
    write: { type: "boolean", default: false },
  },
})

interface Result {
  readonly task: Task
  /** The flow, or the reason why there is none. */
  readonly flow: string
  readonly plain: readonly Run[]
  readonly changed: readonly Run[]
}

interface Run {
  /**
   * "done": every line ran and the effect is there. "wrong": every line ran and the effect is not there. "not started":
   * the app showed no window, so no line ran.
   */
  readonly outcome: "done" | "stopped" | "wrong" | "not started"
  readonly ms: number
  readonly error: string
}

const RECORD_TRIES = 3

/** Stands for the directory of a desktop in a flow. */
const PLACE = "@DIRECTORY@"

/** Another theme, and rows in another order. */
const CHANGED = {
  size: { width: 1024, height: 720 },
  env: { GTK_THEME: "HighContrast", QT_STYLE_OVERRIDE: "Windows" },
} as const

const progress = startProgress("bench:flows")
const results: Result[] = []
for (const task of TASKS.filter(({ name, app }) => `${app}: ${name}`.includes(values.only))) {
  progress.say(`${task.app}: ${task.name}`)
  const flow = await recordPatiently(task)
  const runs = async (times: number, isChanged: boolean): Promise<readonly Run[]> => {
    const all: Run[] = []
    for (let i = 0; i < times; i++) {
      progress.say(`${task.app}: ${task.name}, ${isChanged ? "changed " : ""}${i + 1} of ${times}`)
      all.push(await replay(task, flow, isChanged))
    }
    return all
  }
  const result = {
    task,
    flow,
    plain: await runs(Number(values.times), false),
    changed: await runs(Number(values.changed), true),
  }
  results.push(result)
  progress.clear()
  console.log(lineOf(result))
}
progress.end()

if (values.write) writeDocs(results)
process.exitCode = results.some(({ plain }) => plain.some(({ outcome }) => outcome !== "done")) ? 1 : 0

/** Records again in a fresh app if a busy app did not answer in time, as an agent would. */
async function recordPatiently(task: Task): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await record(task)
    } catch (error) {
      if (tries === RECORD_TRIES) throw error
      progress.clear()
      console.log(`  not recorded: ${task.app}: ${task.name}: ${error}`)
    }
  }
}

/** Does the task with refs, and returns the flow that the program has written meanwhile. */
async function record(task: Task): Promise<string> {
  await using desktop = await openDesktop()
  await using stage = new Stage(desktop)
  await task.start(stage)
  const file = `${desktop.directory}/task.flow`
  const env = { ...desktop.env, AGENT_DESKTOP_RECORD: file }
  const way = new Way({ ...desktop, run: (...args) => runProgram(args, env) })
  await task.long(way, stage)
  if (!(await isDone(task, stage))) throw new Error(`${task.app}: ${task.name} was not done`)
  // Another desktop has another directory.
  const flow = readFileSync(file, "utf8").replaceAll(desktop.directory, PLACE)
  const hole = readFlow(flow, () => "").find(({ words }) => words.length === 0)
  if (hole) throw new Error(hole.text)
  if (values.keep) writeFileSync(`${values.keep}/${fileNameOf(task)}.flow`, flow)
  return flow
}

function fileNameOf({ app, name }: Task): string {
  return `${app} ${name}`.replaceAll(" ", "-")
}

function isDone(task: Task, stage: Stage): Promise<boolean> {
  return until(() => task.isDone(stage), 20_000).then(
    () => true,
    () => false,
  )
}

async function replay(task: Task, flow: string, isChanged: boolean): Promise<Run> {
  await using desktop = await openDesktop(isChanged ? CHANGED.size : {})
  await using stage = new Stage(isChanged ? themed(desktop) : desktop, isChanged)
  try {
    await task.start(stage)
  } catch (error) {
    return { outcome: "not started", ms: 0, error: String(error) }
  }
  if (isChanged) await resize(desktop)
  const file = `${desktop.directory}/task.flow`
  writeFileSync(file, flow.replaceAll(PLACE, desktop.directory))
  const start = performance.now()
  const report = values.keep ? ["--report", `${values.keep}/${fileNameOf(task)}-${Date.now()}`] : []
  const { json, stdout } = await desktop.run("replay", file, ...report)
  const ms = performance.now() - start
  if (!json?.ok) return { outcome: "stopped", ms, error: json?.error?.message ?? stdout }
  return { outcome: (await isDone(task, stage)) ? "done" : "wrong", ms, error: "" }
}

function themed(desktop: TestDesktop): TestDesktop {
  return {
    ...desktop,
    spawnApp: (command, options) =>
      desktop.spawnApp(command, { ...options, env: { ...options?.env, ...CHANGED.env } }),
  }
}

/** Resizes the first window. Some dialogs refuse. */
async function resize(desktop: TestDesktop): Promise<void> {
  const { json } = await desktop.run("list-windows")
  const [window] = json?.data?.windows ?? []
  await desktop.run("resize-window", window.id, "760", "560")
}

function rowOf({ task, flow, plain, changed }: Result): readonly string[] {
  const lines = readFlow(flow, () => "")
  const count = (runs: readonly Run[]): string =>
    `${runs.filter(({ outcome }) => outcome === "done").length} of ${runs.length}`
  const ms = plain.map((run) => run.ms).toSorted((a, b) => a - b)
  return [
    task.name,
    task.app,
    String(lines.length),
    String(lines.filter(({ words }) => words.length === 0).length),
    count(plain),
    count(changed),
    String(Math.round(ms[Math.floor(ms.length / 2)] ?? 0)),
  ]
}

function lineOf(result: Result): string {
  const errors = [...result.plain, ...result.changed].filter(({ outcome }) => outcome !== "done")
  return [rowOf(result).join(" | "), ...errors.map(({ outcome, error }) => `  ${outcome}: ${error}`)].join(
    "\n",
  )
}

function writeDocs(all: readonly Result[]): void {
  const path = new URL("../docs/flows.md", import.meta.url).pathname
  const head = ["task", "app", "lines", "comments", "replays", "changed", "ms"]
  const text = readFileSync(path, "utf8")
  const [start, end] = ["<!-- bench:flows -->\n", "<!-- end -->\n"]
  const before = text.slice(0, text.indexOf(start) + start.length)
  writeFileSync(path, `${before}\n${table(head, all.map(rowOf))}\n\n${text.slice(text.indexOf(end))}`)
}
