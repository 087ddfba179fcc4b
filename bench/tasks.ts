import { parseArgs } from "node:util"
import { startProgress } from "../src/cli/terminal.ts"
import { openDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { table } from "./measure.ts"
import { Stage, type Task } from "./tasks/task.ts"
import { TASKS } from "./tasks/tasks.ts"
import { Way } from "./tasks/way.ts"

/**
 * Calls, bytes and milliseconds of everyday tasks in stock apps, done in two ways:
 *
 *   bun bench/tasks.ts [--only PART] [--write]
 *
 * The long way takes a snapshot for refs and does one step per call. The short way describes its targets and puts the steps that
 * need no look in between into one batch. Each way starts with a fresh app, and an outside look judges its effect: the
 * app's output, a file, the clipboard, or a web server. --write puts the table into docs/tokens.md.
 */

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, write: { type: "boolean", default: false } },
})

interface Result {
  readonly task: Task
  readonly long: Way
  readonly short: Way
}

const progress = startProgress("bench:tasks")
const results: Result[] = []
const failed: string[] = []
for (const task of TASKS.filter(({ name, app }) => `${app}: ${name}`.includes(values.only))) {
  progress.say(`${task.app}: ${task.name}`)
  try {
    const long = await doOnce(task, task.long)
    const short = await doOnce(task, task.short)
    results.push({ task, long, short })
  } catch (error) {
    failed.push(`${task.app}: ${task.name}: ${error instanceof Error ? error.message : error}`)
  }
}
progress.end()

const text = tableOf(results)
console.log(text)
for (const line of failed) console.log(`failed: ${line}`)
if (values.write && failed.length === 0) await writeDocs(text)
process.exitCode = failed.length > 0 ? 1 : 0

async function doOnce(task: Task, run: Task["long"]): Promise<Way> {
  await using desktop = await openDesktop()
  await using stage = new Stage(desktop)
  await task.start(stage)
  const way = new Way(desktop)
  await run(way, stage)
  const isDone = await until(() => task.isDone(stage), 20_000).catch(() => false)
  if (!isDone) throw new Error(`its effect did not show\n${[...way.log, ...stage.requests].join("\n")}`)
  return way
}

function tableOf(all: readonly Result[]): string {
  const sum = (pick: (one: Result) => number): number => all.reduce((total, one) => total + pick(one), 0)
  const less = (short: number, long: number): string => `${Math.round((1 - short / long) * 100)} %`
  const row = (name: string, app: string, of: (pick: (way: Way) => number) => readonly [number, number]) => {
    const numbers = [(way: Way) => way.calls, (way: Way) => way.bytes, (way: Way) => Math.round(way.ms)]
    return [name, app, ...numbers.flatMap((pick) => of(pick).map(String))]
  }
  const total = (pick: (way: Way) => number) =>
    [sum(({ long }) => pick(long)), sum(({ short }) => pick(short))] as const
  const [calls, bytes, ms] = [
    total((way) => way.calls),
    total((way) => way.bytes),
    total((way) => Math.round(way.ms)),
  ]
  return [
    table(
      ["task", "app", "calls", "short", "bytes", "short", "ms", "short"],
      [
        ...all.map(({ task, long, short }) =>
          row(task.name, task.app, (pick) => [pick(long), pick(short)] as const),
        ),
        ["**all**", "", ...[...calls, ...bytes, ...ms].map((number) => `**${number}**`)],
      ],
    ),
    `\nThe short way takes ${less(calls[1], calls[0])} fewer calls, ${less(bytes[1], bytes[0])} fewer bytes and ${less(ms[1], ms[0])} less time.`,
  ].join("\n")
}

async function writeDocs(text: string): Promise<void> {
  const file = new URL("../docs/tokens.md", import.meta.url).pathname
  const docs = await Bun.file(file).text()
  const [from, to] = [docs.indexOf("<!-- tasks -->"), docs.indexOf("<!-- end of tasks -->")]
  await Bun.write(file, `${docs.slice(0, from)}<!-- tasks -->\n${text}\n${docs.slice(to)}`)
}
