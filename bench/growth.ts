import { openDesktop, type TestDesktop } from "../test/support/desktop.ts"
import { until } from "../test/support/until.ts"
import { appNamed, chromium, settled, startApp } from "./apps.ts"
import { median, type Run, run, table } from "./measure.ts"

/** Measures how time and memory grow with the tree, and the cost of a window that is too large to read whole. */
export async function measureGrowth(program: string): Promise<string> {
  const rows: string[][] = []
  for (const kind of ["GTK 3 box", "web page"] as const) {
    for (const size of SIZES) rows.push(await grown(program, kind, size))
  }
  const huge = [await hugeTree(program), await hugeSheet(program)]
  return [
    table(["everything in", "size", "nodes read", "ms", "ms per 1000 nodes", "peak MB"], rows),
    "",
    table(["only what shows of", "nodes read", "ms", "peak MB"], huge),
  ].join("\n")
}

const SIZES = [100, 1000, 5000, 20_000]
const ROUNDS = 3
const FIXTURES = new URL("../test/fixtures/", import.meta.url).pathname

async function grown(program: string, kind: "GTK 3 box" | "web page", size: number): Promise<string[]> {
  console.error(`${kind} of ${size}`)
  await using desktop = await openDesktop({ width: 1280, height: 1024 })
  const title = kind === "web page" ? `Page of ${size}` : `Big labels ${size}`
  if (kind === "web page") {
    const page = `${desktop.directory}/page.html`
    await Bun.write(page, pageOf(size, title))
    desktop.spawnApp(chromium(`${desktop.directory}/profile`, `file://${page}`))
  } else desktop.spawnApp(["/usr/bin/python3", `${FIXTURES}big-list.py`, "labels", String(size)])
  const id = await windowTitled(desktop, program, title)
  const snapshot = () =>
    run(
      desktop,
      program,
      "snapshot",
      "--window-id",
      id,
      "--max-depth",
      "50",
      "--include-hidden",
      "--timeout-ms",
      "60000",
    )
  await settled(async () => {
    const { nodes } = await snapshot()
    return Number(nodes) > size ? nodes : undefined
  }, 120_000)
  const runs = await repeat(snapshot)
  const nodes = Number(runs[0]!.nodes)
  const ms = median(runs.map((one) => one.ms))
  return [kind, String(size), String(nodes), ms.toFixed(0), ((ms * 1000) / nodes).toFixed(0), peak(runs)]
}

// Await both before the desktop closes.
async function hugeTree(program: string): Promise<string[]> {
  console.error("tree view of 100000")
  await using desktop = await openDesktop({ width: 1280, height: 1024 })
  desktop.spawnApp(["/usr/bin/python3", `${FIXTURES}big-list.py`, "tree", "100000"])
  return await shown(
    desktop,
    program,
    "a GTK 3 tree view of 100,000 rows",
    await windowTitled(desktop, program, "Big tree"),
  )
}

async function hugeSheet(program: string): Promise<string[]> {
  console.error("calc")
  await using desktop = await openDesktop({ width: 1280, height: 1024 })
  startApp(desktop, appNamed("calc"))
  return await shown(
    desktop,
    program,
    "a LibreOffice Calc sheet (2³¹ children)",
    await windowTitled(desktop, program, "Calc"),
  )
}

async function shown(desktop: TestDesktop, program: string, what: string, id: string): Promise<string[]> {
  const snapshot = () => run(desktop, program, "snapshot", "--window-id", id)
  await settled(async () => (await snapshot()).nodes, 120_000)
  const runs = await repeat(snapshot)
  return [what, runs[0]!.nodes!, median(runs.map((one) => one.ms)).toFixed(0), peak(runs)]
}

async function repeat(snapshot: () => Promise<Run>): Promise<Run[]> {
  const runs: Run[] = []
  for (let i = 0; i < ROUNDS; i++) runs.push(await snapshot())
  return runs
}

const peak = (runs: readonly Run[]): string => Math.max(...runs.map(({ mb }) => mb)).toFixed(0)

async function windowTitled(desktop: TestDesktop, program: string, title: string): Promise<string> {
  return until(async () => {
    const { text } = await run(desktop, program, "list-windows")
    const windows: { id: string; title: string; accessible?: boolean }[] = JSON.parse(text).data.windows
    return windows.find((one) => one.title.includes(title))?.id
  }, 120_000)
}

/**
 * Paragraphs with few buttons, since one map cannot hold a ref for each paragraph. They are in groups, because Chromium
 * counts all siblings again for each child.
 */
function pageOf(size: number, title: string): string {
  const parts = Array.from({ length: size }, (_, i) =>
    i % 100 === 99 ? `<button>Button ${i}</button></section><section>` : `<p>Line ${i}</p>`,
  )
  return `<!doctype html><title>${title}</title><body><section>${parts.join("\n")}</section></body>`
}
