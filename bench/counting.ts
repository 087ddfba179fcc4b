import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { parseArgs } from "node:util"
import { build } from "../build.ts"
import { startProgress } from "../src/cli/terminal.ts"
import { firefox } from "../test/fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { chromium, settled } from "./apps.ts"
import { median, type Run, run, table } from "./measure.ts"

/**
 * Measures the cost of counting the elements that are scrolled out of view:
 *
 *   bun bench/counting.ts [--rounds N] [--windows a,b]
 *
 * Compares the program, in turn, with a build that does not count. The windows have far more elements out of view than
 * in view. The goal is a ratio of at most 1.2.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    windows: { type: "string" },
  },
})

const FIXTURES = new URL("../test/fixtures/", import.meta.url).pathname
const MOST = 1.2

/** A table of 300 rows with three controls each. */
const PAGE = `<!doctype html><title>Table of 300</title><table>${Array.from(
  { length: 300 },
  (_, i) =>
    `<tr><td>Row ${i}</td><td><button>Edit ${i}</button></td><td><a href="#${i}">Open ${i}</a></td>` +
    `<td><input aria-label="Field ${i}"></td></tr>`,
).join("")}</table>`

/** Sections with headings and paragraphs around their controls. */
const NESTED = `<!doctype html><title>Sections of 100</title>${Array.from(
  { length: 100 },
  (_, i) =>
    `<section aria-label="Section ${i}"><h2>Title ${i}</h2><p>Text with <a href="#a${i}">a link ${i}</a> and more.</p>` +
    `<ul>${["x", "y", "z"].map((one) => `<li><button>${one} ${i}</button></li>`).join("")}</ul></section>`,
).join("")}`

interface Subject {
  readonly name: string
  readonly title: string
  readonly command: (directory: string) => Promise<readonly string[]>
}

const python = (file: string, ...args: readonly string[]) => [
  "/usr/bin/python3",
  `${FIXTURES}${file}`,
  ...args,
]

async function page(directory: string, text: string): Promise<string> {
  const file = `${directory}/page-${Bun.hash(text)}.html`
  await Bun.write(file, text)
  return `file://${file}`
}

const SUBJECTS: readonly Subject[] = [
  {
    name: "Chromium, a table",
    title: "Table of 300",
    command: async (directory) => chromium(`${directory}/table`, await page(directory, PAGE)),
  },
  {
    name: "Chromium, sections",
    title: "Sections of 100",
    command: async (directory) => chromium(`${directory}/sections`, await page(directory, NESTED)),
  },
  {
    name: "Firefox, a table",
    title: "Table of 300",
    command: async (directory) => {
      mkdirSync(`${directory}/firefox`)
      return firefox(`${directory}/firefox`, await page(directory, PAGE)).command
    },
  },
  {
    name: "GTK 3, a list box",
    title: "Big buttons",
    command: async () => python("big-list.py", "buttons", "1000"),
  },
  {
    name: "GTK 3, a box of texts",
    title: "Big labels",
    command: async () => python("big-list.py", "labels", "1000"),
  },
]

const shown = startProgress("bench:counting")
const directory = mkdtempSync(`${tmpdir()}/agent-desktop-counting-`)
try {
  const target = process.arch === "arm64" ? "linux-arm64" : "linux-x64"
  const programs = [`${directory}/counts`, `${directory}/does-not`] as const
  await build(target, programs[0])
  await build(target, programs[1], [
    {
      name: "no counting",
      setup: (builder) => {
        builder.onLoad({ filter: /out-of-view\.ts$/ }, () => ({
          contents: "export const countOutOfView = async () => new Set()",
          loader: "ts",
        }))
      },
    },
  ])
  const chosen = values.windows?.split(",")
  const rows: string[][] = []
  for (const subject of SUBJECTS.filter(({ name }) => !chosen || chosen.some((part) => name.includes(part))))
    rows.push(await measure(subject, programs))
  shown.end()
  console.log(
    table(["window", "refs", "out of view", "counting ms", "without ms", "ratio", `≤ ${MOST}`], rows),
  )
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measure(
  { name, title, command }: Subject,
  programs: readonly [string, string],
): Promise<string[]> {
  shown.say(name)
  await using desktop = await openDesktop({ width: 1280, height: 1024 })
  desktop.spawnApp(await command(desktop.directory))
  const id = await windowTitled(desktop, programs[0], title)
  const look = (program: string): Promise<Run> =>
    run(desktop, program, "snapshot", "--window-id", id, "--max-depth", "50", "--timeout-ms", "30000")
  // A page that is still loading shows nothing.
  await settled(async () => {
    const { nodes } = await look(programs[0])
    return Number(nodes) > 20 ? nodes : undefined
  }, 120_000)
  const runs: [Run[], Run[]] = [[], []]
  for (let round = 0; round < Number(values.rounds); round++)
    for (const at of round % 2 ? ([0, 1] as const) : ([1, 0] as const))
      runs[at].push(await look(programs[at]))
  const [counting, without] = runs.map((some) => some.map(({ ms }) => ms)) as [number[], number[]]
  // Compare within a round: other load slows down both alike.
  const ratio = median(counting.map((ms, round) => ms / without[round]!))
  const { data } = JSON.parse(runs[0][0]!.text)
  return [
    name,
    String(data.ref_count),
    `${data.offscreen_at_least ? "at least " : ""}${data.offscreen_count ?? 0}`,
    median(counting).toFixed(0),
    median(without).toFixed(0),
    ratio.toFixed(2),
    ratio <= MOST ? "met" : "**missed**",
  ]
}

async function windowTitled(desktop: TestDesktop, program: string, title: string): Promise<string> {
  return until(async () => {
    const { text } = await run(desktop, program, "list-windows")
    const windows: { id: string; title: string }[] = JSON.parse(text).data.windows
    return windows.find((one) => one.title.includes(title))?.id
  }, 120_000)
}
