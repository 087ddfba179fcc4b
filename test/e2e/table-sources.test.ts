import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chromium } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Tables of different shapes in every toolkit, read as JSON and as TSV, and compared with the data that they were made of. */

interface Table {
  readonly name: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const shaped = (
  name: string,
  height: number,
  width: number,
  text: (row: number, column: number) => string,
): Table => ({
  name,
  header: Array.from({ length: width }, (_, column) => `${name} ${column + 1}`),
  rows: Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (_, column) => text(row, column)),
  ),
})

const WORDS = [
  "Zoë",
  "日本語",
  "😀",
  "-12.50",
  "1.234,5",
  "a\\tb",
  '"quoted", so',
  "é",
  "O'Neil",
  "50 %",
  "x=1",
  "<b>&",
]

const TABLES: readonly Table[] = [
  shaped("One", 1, 1, () => "only"),
  shaped("Words", 12, 3, (row, column) => WORDS[(row + column * 5) % WORDS.length]!),
  // Some cells are empty, and many rows are alike.
  shaped("Gaps", 9, 4, (row, column) => ((row + column) % 3 === 0 ? "" : `g${column}`)),
  shaped("Long", 130, 2, (row, column) => `${column === 0 ? "Row" : "Value"} ${row + 1}`),
  shaped("Wide", 2, 11, (row, column) => `${row}/${column}`),
]

const KINDS = ["gtk3", "gtk4", "qt6", "qt5", "web"] as const
type Kind = (typeof KINDS)[number]

/** The page has each table twice: as an element of HTML, and as an ARIA grid. */
const GRIDS: readonly Table[] = TABLES.map((table) => ({ ...table, name: `${table.name} grid` }))

const tablesIn = (kind: Kind): readonly Table[] => (kind === "web" ? [...TABLES, ...GRIDS] : TABLES)

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  const file = `${desktop.directory}/tables.json`
  const page = `${desktop.directory}/tables.html`
  await Promise.all([Bun.write(file, JSON.stringify(TABLES)), Bun.write(page, PAGE)])
  const script = new URL("../fixtures/tables.py", import.meta.url).pathname
  for (const kind of KINDS)
    desktop.spawnApp(
      kind === "web"
        ? chromium(`${desktop.directory}/profile`, `file://${page}`).command
        : ["/usr/bin/python3", script, kind, file],
    )
})
afterAll(() => desktop?.close())

const PAGE = `<!doctype html><meta charset="utf-8"><title>Tables web</title>
<style>[role=row] { display: flex } [role=gridcell], [role=columnheader] { width: 8em; min-height: 1em }</style>
<body><script>
  const show = ({ name, header, rows }, isGrid) => {
    const make = (parent, tag, role, text) => {
      const made = parent.appendChild(document.createElement(isGrid ? "div" : tag))
      if (isGrid) made.setAttribute("role", role)
      if (text !== undefined) made.textContent = text
      return made
    }
    const table = make(document.body, "table", "grid")
    table.setAttribute("aria-label", name)
    const titles = make(table, "tr", "row")
    for (const title of header) make(titles, "th", "columnheader", title)
    for (const texts of rows) {
      const row = make(table, "tr", "row")
      for (const text of texts) make(row, "td", "gridcell", text)
    }
  }
  for (const table of ${inScript(TABLES)}) show(table, false)
  for (const table of ${inScript(GRIDS)}) show(table, true)
  show({ name: "Fields", header: ["Name", "Town"], rows: [["Ada", ""], ["Alan", ""], ["Grace", ""]] }, true)
  const fields = [...document.querySelectorAll("[aria-label=Fields] [role=gridcell]:last-child")].map((cell) =>
    cell.appendChild(document.createElement("input")),
  )
  for (const field of fields)
    field.oninput = () => (document.title = "Tables web " + fields.map(({ value }) => value).join("|"))
</script></body>`

function inScript(tables: readonly Table[]): string {
  return JSON.stringify(tables).replaceAll("<", "\\u003c")
}

const windowOf = (kind: Kind): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows")
    const windows: readonly { title: string; id: string }[] = json?.data?.windows ?? []
    return windows.find(({ title }) => title.startsWith(`Tables ${kind}`))?.id
  }, 60_000)

/** The refs of all tables of a window, by name. */
const refsIn = async (kind: Kind): Promise<ReadonlyMap<string, string>> => {
  const window = await windowOf(kind)
  return until(async () => {
    const { json } = await desktop.run("table", "--window-id", window, "--timeout-ms", "30000")
    const found: readonly { name: string; ref_id: string }[] = json?.error?.details?.candidates ?? []
    const refs = new Map(found.map(({ name, ref_id }) => [name, ref_id]))
    return tablesIn(kind).every(({ name }) => refs.has(name)) && refs
  }, 60_000)
}

/** As the help says: one row per line, with tabs, line breaks and backslashes written as `\\t`, `\\n` and `\\\\`. */
const tsvOf = (rows: Table["rows"]): string =>
  rows.map((row) => `${row.map((text) => text.replaceAll("\\", "\\\\")).join("\t")}\n`).join("")

describe.each(KINDS)("in %s", (kind) => {
  test("every table has the cells of its source file", async () => {
    const refs = await refsIn(kind)
    for (const { name, header, rows } of tablesIn(kind)) {
      const args = [refs.get(name)!, "--rows", `1-${rows.length}`, "--timeout-ms", "60000"]
      const { json } = await desktop.run("table", ...args, "--header")
      expect({ kind, ...(json.data ?? json.error) }).toMatchObject({
        name,
        header,
        rows,
        row_count: rows.length,
        column_count: header.length,
        first_row: 1,
        first_column: 1,
      })
      expect((await desktop.run("table", ...args, "--format", "tsv")).stdout).toBe(tsvOf(rows))
    }
  })
})

test("set-cells fills the fields of an ARIA grid, and only those", async () => {
  const refs = await refsIn("web")
  const { json } = await desktop.run("set-cells", refs.get("Fields")!, "B2", "Rome\nLima é")
  expect(json.data ?? json.error).toMatchObject({
    range: "B2:B3",
    disposition: { delivery: "delivered_verified" },
  })
  await until(async () => {
    const { json } = await desktop.run("list-windows")
    return json.data.windows.some(({ title }: { title: string }) =>
      title.startsWith("Tables web |Rome|Lima é"),
    )
  })
  const error = (await desktop.run("set-cells", refs.get("Fields")!, "A3", "x")).json.error
  expect(error).toMatchObject({ details: { kind: "not_writable", cells: ["A3"] } })
})
