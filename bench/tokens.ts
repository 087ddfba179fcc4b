import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { parseArgs } from "node:util"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { build } from "../build.ts"
import { startProgress } from "../src/cli/terminal.ts"
import { openDesktop, type TestDesktop } from "../test/support/desktop.ts"
import { appNamed, chromium, office, type StockApp, settled, startApp } from "./apps.ts"
import { median, run, table } from "./measure.ts"

/**
 * The cost of one look at a window, in bytes and in tokens of o200k_base:
 *
 *   bun bench/tokens.ts [--apps a,b] [--program FILE] [--short] [--write]
 *
 * Prints the same windows in each form of our snapshot and as an XML dump in OSWorld's format. Web pages also as
 * Playwright's snapshots. --write puts the tables into docs/tokens.md. --short measures only the forms that have a goal,
 * without the dumps of others, which take minutes.
 */

const FIXTURES = new URL("../test/fixtures/", import.meta.url).pathname

/** Windows in addition to those of apps.ts. */
const MORE: readonly StockApp[] = [
  {
    key: "featherpad",
    toolkit: "Qt 5",
    app: "FeatherPad",
    title: "Untitled",
    frame: "",
    command: () => ["featherpad", "--standalone"],
  },
  {
    key: "zenity",
    toolkit: "GTK 3",
    app: "zenity",
    title: "Add a person",
    command: () => [
      "zenity",
      "--forms",
      "--title=Add a person",
      "--text=Who?",
      "--add-entry=Name",
      "--add-entry=Mail",
      "--add-password=Password",
    ],
  },
  {
    key: "xfce4-notifyd-config",
    toolkit: "GTK 3",
    app: "xfce4-notifyd-config",
    title: "Notifications",
    command: () => ["xfce4-notifyd-config"],
  },
  {
    key: "gtk4-print-editor",
    toolkit: "GTK 4",
    app: "gtk4-print-editor",
    title: "GTK Print Editor",
    command: () => ["gtk4-print-editor"],
  },
  {
    key: "calc-data",
    toolkit: "LibreOffice",
    app: "soffice",
    title: "orders",
    command: (directory) => office(orders(`${directory}/orders.fods`))(directory),
  },
  {
    key: "page",
    toolkit: "Chromium",
    app: "Chromium",
    title: "Fixture Web",
    command: (directory) => chromium(directory, `file://${FIXTURES}page.html`),
  },
]

/** A sheet of 40 rows and 6 columns. */
function orders(file: string): string {
  const cell = (text: string) =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
  const number = (value: number) => `<table:table-cell office:value-type="float" office:value="${value}"/>`
  const row = (cells: readonly string[]) => `<table:table-row>${cells.join("")}</table:table-row>`
  const head = row(["Order", "Customer", "City", "Article", "Pieces", "Price"].map(cell))
  const rows = Array.from({ length: 39 }, (_, at) =>
    row([
      number(1001 + at),
      cell(`Customer ${at + 1}`),
      cell("Bern"),
      cell(`Article ${at % 7}`),
      number(at % 9),
      number(at * 3.5),
    ]),
  )
  const names = ["office", "table", "text"].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  )
  const type = 'office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"'
  const body = `<office:spreadsheet><table:table table:name="Orders">${head}${rows.join("")}</table:table></office:spreadsheet>`
  writeFileSync(
    file,
    `<?xml version="1.0"?><office:document ${names.join(" ")} ${type}><office:body>${body}</office:body></office:document>`,
  )
  return file
}

/** Galleries that show one of everything, and a sheet of a thousand cells: far more than ordinary applications show. */
const GALLERIES: ReadonlySet<string> = new Set([
  "gtk3-widget-factory",
  "gtk4-widget-factory",
  "qt6",
  "chromium",
  "calc",
  "calc-data",
])

const PAGES: Readonly<Record<string, string>> = { chromium: "aria.html", page: "page.html" }

const { values } = parseArgs({
  options: {
    apps: {
      type: "string",
      default:
        "mousepad,zenity,gedit,xfce4-notifyd-config,gnome-calculator,gnome-text-editor,gtk4-print-editor,featherpad,kcalc," +
        "page,writer," +
        "gtk3-widget-factory,gtk4-widget-factory,qt6,chromium,calc,calc-data",
    },
    program: { type: "string" },
    short: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
})

/** A way to look at a window. */
interface Form {
  readonly name: string
  readonly args: readonly string[]
}

const BEST = "text `-i --compact`"
const FORMS: readonly Form[] = [
  { name: "JSON", args: [] },
  { name: "`-i`", args: ["-i"] },
  { name: "`-i --compact`", args: ["-i", "--compact"] },
  { name: BEST, args: ["-i", "--compact", "--format", "text"] },
  { name: "text `--skeleton -i`", args: ["--skeleton", "-i", "--compact", "--format", "text"] },
  { name: "text `--budget 400`", args: ["--budget", "400", "--format", "text"] },
  { name: "JSON `--budget 400`", args: ["--budget", "400"] },
]
const FIND = "`find`"
const OSWORLD = "OSWorld XML"
const PLAYWRIGHT = "Playwright"
const COLUMNS = values.short ? [BEST, FIND] : [...FORMS.map(({ name }) => name), FIND, OSWORLD, PLAYWRIGHT]
const MARK = values.short ? "goals" : "tokens"

interface Row {
  readonly app: StockApp
  readonly refs: number
  readonly texts: ReadonlyMap<string, string>
}

const directory = mkdtempSync(`${tmpdir()}/agent-desktop-tokens-`)
try {
  const program = values.program ?? (await compile(`${directory}/agent-desktop`))
  const rows = await look(program, values.apps.split(",").map(find))
  const text = report(rows)
  console.log(text)
  if (values.write) await writeDocs(text)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function find(key: string): StockApp {
  return MORE.find((one) => one.key === key) ?? appNamed(key)
}

async function look(program: string, apps: readonly StockApp[]): Promise<readonly Row[]> {
  await using desktop = await openDesktop({ width: 1920, height: 1080 })
  const rows: Row[] = []
  const progress = startProgress("bench:tokens")
  for (const app of apps) {
    progress.say(app.key)
    const id = await open(desktop, program, app)
    const texts = new Map<string, string>()
    for (const { name, args } of FORMS)
      texts.set(name, (await run(desktop, program, "snapshot", "--window-id", id, ...args)).text)
    const name = namedIn(JSON.parse(texts.get("`-i`") ?? "{}").data.tree)
    const query = ["--window-id", id, "--name", name, "--exact", "--first", "--format", "text"]
    texts.set(FIND, (await run(desktop, program, "find", ...query)).text)
    const page = values.short ? undefined : PAGES[app.key]
    if (!values.short) texts.set(OSWORLD, await osworld(desktop, app))
    if (page) texts.set(PLAYWRIGHT, await playwright(`file://${FIXTURES}${page}`))
    rows.push({ app, refs: JSON.parse(texts.get("`-i`") ?? "{}").data.ref_count, texts })
  }
  progress.end()
  return rows
}

interface Named {
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Named[]
}

/** The name of the element in the middle of those that have a ref and a name. */
function namedIn(tree: Named): string {
  const below = (node: Named): readonly Named[] => [node, ...(node.children ?? []).flatMap(below)]
  const names = below(tree).flatMap(({ ref_id, name }) => (ref_id && name ? [name] : []))
  const middle = names[names.length >> 1]
  if (middle === undefined) throw new Error("No element has a ref and a name")
  return middle
}

/** Starts the app, waits until it shows everything, and returns the id of its window. */
async function open(desktop: TestDesktop, program: string, app: StockApp): Promise<string> {
  const started = startApp(desktop, app)
  let id = ""
  await settled(async () => {
    started.revive()
    const { windows } = JSON.parse((await run(desktop, program, "list-windows")).text).data
    const window = windows.find(
      (one: { app_name: string; title: string }) => one.app_name === app.app && one.title.includes(app.title),
    )
    id = window?.id
    return (
      window && (await run(desktop, program, "snapshot", "--window-id", id).catch(() => undefined))?.nodes
    )
  })
  return id
}

async function osworld(desktop: TestDesktop, app: StockApp): Promise<string> {
  const command = ["/usr/bin/python3", `${import.meta.dir}/tree-osworld.py`, app.app, app.frame ?? app.title]
  const child = Bun.spawn(["timeout", "300", ...command], {
    env: { ...desktop.env },
    stdout: "pipe",
    stderr: "inherit",
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`)
  return text
}

/** A page as Playwright gives it to agents: with refs. */
async function playwright(url: string): Promise<string> {
  const { chromium: browser } = await import("playwright-core")
  const opened = await browser.launch({
    executablePath: "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  })
  try {
    const page = await opened.newPage({ viewport: { width: 1200, height: 930 } })
    await page.goto(url)
    return await page.ariaSnapshot({ mode: "ai" })
  } finally {
    await opened.close()
  }
}

function report(rows: readonly Row[]): string {
  const tokens = (text: string | undefined) => (text === undefined ? undefined : encode(text).length)
  const lines = (measure: (text: string) => number) =>
    table(
      ["window", "toolkit", "refs", ...COLUMNS],
      rows.map(({ app, refs, texts }) => [
        GALLERIES.has(app.key) ? `*${app.key}*` : app.key,
        app.toolkit,
        String(refs),
        ...COLUMNS.map((column) => {
          const text = texts.get(column)
          return text === undefined ? "" : measure(text).toLocaleString("en")
        }),
      ]),
    )
  const stock = rows.filter(({ app }) => !GALLERIES.has(app.key))
  const costs = (some: readonly Row[], column: string) =>
    some.flatMap(({ texts }) => tokens(texts.get(column)) ?? [])
  const goals = [
    ["median over the applications", median(costs(stock, BEST)), 250],
    ["p95 over the applications", percentile(costs(stock, BEST), 0.95), 1000],
    ["median, galleries included", median(costs(rows, BEST)), undefined],
    ["p95, galleries included", percentile(costs(rows, BEST), 0.95), undefined],
  ] as const
  const largest = [
    [
      "calc-data",
      Math.max(
        0,
        ...costs(
          rows.filter(({ app }) => app.key === "calc-data"),
          BEST,
        ),
      ),
      2500,
    ],
    ["the largest answer of `find`", Math.max(...costs(rows, FIND)), 120],
  ] as const
  const pages = rows.filter(({ texts }) => texts.has(PLAYWRIGHT))
  return [
    "Tokens:",
    "",
    lines((text) => encode(text).length),
    ...(values.short ? [] : ["", "Bytes:", "", lines((text) => Buffer.byteLength(text))]),
    "",
    `| ${BEST} | tokens | wanted | |`,
    "|---|---|---|---|",
    ...[...goals, ...largest].map(
      ([name, value, most]) =>
        `| ${name} | ${Math.round(value).toLocaleString("en")} | ${most === undefined ? "" : `≤ ${most.toLocaleString("en")}`} | ${most === undefined ? "" : value <= most ? "met" : "**missed**"} |`,
    ),
    ...pages.map(({ app, texts }) => {
      const [ours, theirs] = [tokens(texts.get(BEST)) ?? 0, tokens(texts.get(PLAYWRIGHT)) ?? 0]
      return `| ${app.key} | ${ours.toLocaleString("en")} | ≤ ${theirs.toLocaleString("en")}, Playwright's | ${ours <= theirs ? "met" : "**missed**"} |`
    }),
  ].join("\n")
}

/** Interpolates between the two nearest values, as spreadsheets do. */
function percentile(all: readonly number[], part: number): number {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [below, above] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0]
  return below + (above - below) * (at % 1)
}

async function compile(outfile: string): Promise<string> {
  await build(process.arch === "arm64" ? "linux-arm64" : "linux-x64", outfile)
  return outfile
}

async function writeDocs(text: string): Promise<void> {
  const file = `${import.meta.dir}/../docs/tokens.md`
  const docs = await Bun.file(file).text()
  const [from, to] = [docs.indexOf(`<!-- ${MARK} -->`), docs.indexOf(`<!-- end of ${MARK} -->`)]
  if (from < 0 || to < from) throw new Error("docs/tokens.md has no marks for the tables")
  await Bun.write(file, `${docs.slice(0, from)}<!-- ${MARK} -->\n${text}\n${docs.slice(to)}`)
}
