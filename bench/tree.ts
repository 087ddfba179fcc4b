import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { parseArgs } from "node:util"
import { build } from "../build.ts"
import { startProgress } from "../src/cli/terminal.ts"
import { openDesktop, type TestDesktop } from "../test/support/desktop.ts"
import { appNamed, type StockApp, settled, startApp } from "./apps.ts"
import { measureGrowth } from "./growth.ts"
import { median, type Run, run, table } from "./measure.ts"

/**
 * The speed of reading a window's tree, compared with programs that use libatspi and pyatspi:
 *
 *   bun bench/tree.ts [--rounds N] [--apps a,b] [--program FILE] [--growth] [--write]
 *
 * All applications run on one isolated desktop. In every round each reader is a fresh process, one after the other,
 * so that other load on the machine affects each alike. An empty program, compiled in the same way, shows the part of
 * our time that no code could save. A warm snapshot is one more item of a batch: its time is the difference between a
 * batch of many snapshots and a batch of few, divided by the difference in number. --growth also measures trees of
 * growing size. --write puts the tables into docs/speed.md.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    apps: {
      type: "string",
      default:
        "mousepad,gedit,gtk3-widget-factory,gnome-calculator,gnome-text-editor,kcalc,qt6,chromium,writer",
    },
    program: { type: "string" },
    growth: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
})

const HERE = import.meta.dir
/** The first snapshots of a process load and compile code. The snapshots between these two numbers are warm. */
const FEW = 5
const MANY = 25
const shown = startProgress("bench:tree")
const rounds = Number(values.rounds)
const apps = values.apps.split(",").filter(Boolean).map(appNamed)
const directory = mkdtempSync(`${tmpdir()}/agent-desktop-tree-`)
try {
  const program = values.program ?? (await compileOurs(`${directory}/agent-desktop`))
  const libatspi = compileC(`${directory}/tree-atspi`)
  const empty = await compileEmpty(`${directory}/empty`)
  const sections: [string, string][] = []
  if (apps.length > 0) sections.push(["trees", await measureApps(program, libatspi, empty)])
  if (values.growth) sections.push(["growth", await measureGrowth(program)])
  shown.end()
  for (const [, text] of sections) console.log(`${text}\n`)
  if (values.write) await writeDocs(sections)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measureApps(program: string, libatspi: string, empty: string): Promise<string> {
  await using desktop = await openDesktop({ width: 1920, height: 1080 })
  const started = apps.map((app) => ({ app, process: startApp(desktop, app) }))
  for (const { app, process } of started) {
    progress(`waiting for ${app.key}`)
    await settled(async () => {
      process.revive()
      return (await run(desktop, libatspi, app.app, frameOf(app), "all")).nodes
    })
  }
  const subjects = await Promise.all(apps.map((app) => subject(desktop, app, program, libatspi, empty)))
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`)
    for (const { readers } of subjects) {
      // Change the order, so that no reader is always the first.
      for (let i = 0; i < readers.length; i++) {
        const reader = readers[(i + round) % readers.length]!
        reader.runs.push(await run(desktop, ...reader.command))
      }
    }
  }
  return report(subjects)
}

interface Reader {
  readonly command: readonly [string, ...string[]]
  readonly runs: Run[]
}

interface Subject {
  readonly app: StockApp
  readonly readers: readonly Reader[]
}

async function subject(
  desktop: TestDesktop,
  app: StockApp,
  program: string,
  libatspi: string,
  empty: string,
): Promise<Subject> {
  const listed = await run(desktop, program, "list-windows")
  const windows: { id: string; app_name: string; title: string }[] = JSON.parse(listed.text).data.windows
  const window = windows.find((one) => one.app_name === app.app && one.title.includes(app.title))
  if (!window) throw new Error(`${app.key} has no window: ${listed.text}`)
  const frame = frameOf(app)
  const commands: Reader["command"][] = [
    [libatspi, app.app, frame, "all"],
    [libatspi, app.app, frame, "showing"],
    ["/usr/bin/python3", `${HERE}/tree-pyatspi.py`, app.app, frame],
    [program, "snapshot", "--window-id", window.id, "--max-depth", "50"],
    [program, "snapshot", "--window-id", window.id, "--max-depth", "50", "-i"],
    [empty],
    [program, "batch", snapshots(window.id, FEW)],
    [program, "batch", snapshots(window.id, MANY)],
  ]
  return { app, readers: commands.map((command) => ({ command, runs: [] })) }
}

/** The arguments of a batch. */
function snapshots(window_id: string, count: number): string {
  const one = { command: "snapshot", args: { window_id, max_depth: 50 } }
  return JSON.stringify(Array.from({ length: count }, () => one))
}

function report(subjects: readonly Subject[]): string {
  const rows = subjects.map(({ app, readers }) => {
    const [all, showing, python, ours, interactive, empty, few, many] = readers.map(({ runs }) => runs) as [
      Run[],
      Run[],
      Run[],
      Run[],
      Run[],
      Run[],
      Run[],
      Run[],
    ]
    const warm = (of: (run: Run) => number) => many.map((run, i) => (of(run) - of(few[i]!)) / (MANY - FEW))
    const [wall, cpu] = [warm(({ ms }) => ms), warm((run) => run.cpu)]
    // Compare within a round: other load slows down both alike.
    const times = (slow: Run[], fast: Run[]) => median(slow.map(({ ms }, i) => ms / fast[i]!.ms))
    return {
      app,
      counts: [all, showing, ours].map((runs) => runs[0]!.nodes ?? "?"),
      ms: [all, showing, python, ours, interactive].map((runs) => median(runs.map(({ ms }) => ms))),
      ratios: [times(all, ours), times(showing, ours), times(all, interactive), times(python, ours)],
      floor: empty.map(({ ms }) => ms),
      own: median(showing.map(({ ms }, i) => ms / Math.max(1, ours[i]!.ms - empty[i]!.ms))),
      walk: median(all.map(({ inside }, i) => inside! / ours[i]!.ms)),
      cold: [median(ours.map(({ ms }) => ms)), median(ours.map((run) => run.cpu))],
      warm: [median(wall), median(cpu)],
      warmRatio: median(wall.map((ms, i) => ms / ours[i]!.ms)),
    }
  })
  const column = (i: number) => rows.map(({ ratios }) => ratios[i]!)
  const head = [
    "application",
    "toolkit",
    "nodes",
    "showing",
    "ours",
    "C all",
    "C showing",
    "pyatspi",
    "`snapshot`",
    "`snapshot -i`",
    "C all ÷ ours",
    "C showing ÷ ours",
    "C all ÷ `-i`",
    "pyatspi ÷ ours",
    "C showing ÷ our own part",
  ]
  const body = rows.map(({ app, counts, ms, ratios, own }) => [
    app.key,
    app.toolkit,
    ...counts,
    ...ms.map((one) => one.toFixed(0)),
    ...[...ratios, own].map((one) => `${one.toFixed(1)}×`),
  ])
  const inOneProcess = rows.map(({ app, counts, cold, warm, warmRatio }) => {
    const [[wall, cpu], [warmWall, warmCpu]] = [cold, warm] as [[number, number], [number, number]]
    const nodes = Number(counts[2])
    return [
      app.key,
      String(counts[2]),
      ...[wall, warmWall].map((one) => one.toFixed(0)),
      warmRatio.toFixed(2),
      ...[cpu, warmCpu].map((one) => one.toFixed(0)),
      ...[cpu, warmCpu].map((one) => ((one / nodes) * 1000).toFixed(0)),
    ]
  })
  const range = (name: string, ratios: readonly number[]) =>
    `${name}: median ${median(ratios).toFixed(1)}×, least ${Math.min(...ratios).toFixed(1)}×, most ${Math.max(...ratios).toFixed(1)}×.`
  return [
    table(head, body),
    "",
    [range("C all ÷ ours", column(0)), range("C all ÷ `-i`", column(2))].join(" "),
    "",
    "Snapshots in one process: cold is a process of its own, warm is one more item of a `batch`. CPU is that of agent-desktop alone.",
    "",
    table(
      [
        "application",
        "nodes",
        "cold, ms",
        "warm, ms",
        "warm ÷ cold",
        "CPU cold, ms",
        "CPU warm, ms",
        "cold, µs of CPU per node",
        "warm, µs of CPU per node",
      ],
      inOneProcess,
    ),
    "",
    `An empty program, compiled in the same way, takes ${median(rows.flatMap(({ floor }) => floor)).toFixed(1)} ms here; *our own part* is what is above that.`,
    "",
    `Without C's own start, counted from the window to its last node: median ${median(rows.map(({ walk }) => walk)).toFixed(1)}×, least ${Math.min(...rows.map(({ walk }) => walk)).toFixed(1)}×, still against our whole process.`,
  ].join("\n")
}

function frameOf({ title, frame = title }: StockApp): string {
  return frame
}

async function compileOurs(outfile: string): Promise<string> {
  await build(process.arch === "arm64" ? "linux-arm64" : "linux-x64", outfile)
  return outfile
}

async function compileEmpty(outfile: string): Promise<string> {
  const source = `${outfile}.ts`
  await Bun.write(source, 'await Bun.write(Bun.stdout, "0 0\\n")')
  const { success, logs } = await Bun.build({
    entrypoints: [source],
    bytecode: true,
    format: "esm",
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!success) throw new AggregateError(logs, "The empty program could not be built")
  return outfile
}

function compileC(outfile: string): string {
  const flags = Bun.spawnSync(["pkg-config", "--cflags", "--libs", "atspi-2", "gobject-2.0"])
    .stdout.toString()
    .trim()
    .split(/\s+/)
  const { success, stderr } = Bun.spawnSync(["gcc", "-O2", "-o", outfile, `${HERE}/tree-atspi.c`, ...flags])
  if (!success) throw new Error(`bun scripts/setup.ts --for bench installs what is missing: ${stderr}`)
  return outfile
}

/** Each table is between two comments that name it. */
async function writeDocs(sections: readonly [string, string][]): Promise<void> {
  const file = `${HERE}/../docs/speed.md`
  let text = await Bun.file(file).text()
  for (const [name, section] of sections) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(start), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`docs/speed.md has no marks for ${name}`)
    text = `${text.slice(0, from)}${start}\n${section}\n${text.slice(to)}`
  }
  await Bun.write(file, text)
}

function progress(text: string): void {
  shown.say(text)
}
