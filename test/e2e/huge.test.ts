import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appNamed, type StartedApp, startApp } from "../../bench/apps.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Containers that are too large to read: visible children are read, the others only counted. */

const PATIENT = ["--timeout-ms", "60000"]

let desktop: TestDesktop
let calc: StartedApp
let list: ReturnType<TestDesktop["spawnApp"]>

beforeAll(async () => {
  desktop = await openDesktop()
  const file = `${desktop.directory}/sheet.fods`
  await Bun.write(file, SHEET)
  const { command, ...app } = appNamed("calc")
  calc = startApp(desktop, { ...app, command: (directory) => [...command(directory), file] })
  list = desktop.spawnApp(
    ["/usr/bin/python3", new URL("../fixtures/big-list.py", import.meta.url).pathname, "tree", "100000"],
    { env: { FIXTURE_LOG: `${desktop.directory}/list.log` } },
  )
})

afterAll(() => desktop?.close(), 30_000)

describe("a tree view of 100,000 rows", () => {
  test("shows the visible rows and the number of all rows", async () => {
    const range = await lastRange()
    const tree = await treeOf("Big tree")
    expect(misplaced(rowsOf(tree), range)).toEqual([])
    expect(nodesOf(tree).find(({ role }) => role === "table")?.children_count).toBeGreaterThanOrEqual(200_000)
  })

  test("shows other rows after scrolling", async () => {
    const before = await lastRange()
    list.stdin.write("50000\n")
    await list.stdin.flush()
    const range = await until(async () => {
      const now = await lastRange()
      return now.first > before.last && now
    }, 20_000)
    expect(range.first).toBeLessThanOrEqual(50_000)
    expect(range.last).toBeGreaterThanOrEqual(50_000)
    expect(misplaced(rowsOf(await treeOf("Big tree")), range)).toEqual([])
  })
})

describe("a table of 100,000 rows", () => {
  test("has the rows in view with refs, and any others that are asked for", async () => {
    const range = await lastRange()
    const { json } = await desktop.run("table", "--app", "big-list.py", "--timeout-ms", "30000")
    const { rows, refs, ...read } = json.data
    expect(read).toMatchObject({ row_count: 100_000, column_count: 2, first_column: 1 })
    expect(Math.abs(read.first_row - 1 - range.first)).toBeLessThanOrEqual(1)
    expect(Math.abs(rows.length - (range.last - range.first + 1))).toBeLessThanOrEqual(2)
    expect(rows[0]).toEqual([`Row ${read.first_row - 1}`, `Value ${read.first_row - 1}`])
    const { json: one } = await desktop.run("get", refs[3], "name", "--timeout-ms", "30000")
    expect(one.data.value).toBe(rows[3][0])
    const far = await desktop.run("table", read.ref_id, "--rows", "99998-100500", "--format", "tsv")
    expect(far.stdout).toBe("Row 99997\tValue 99997\nRow 99998\tValue 99998\nRow 99999\tValue 99999\n")
  })
})

describe("a list box of 1,000 rows, each with a button", () => {
  const log = () => Bun.file(`${desktop.directory}/buttons.log`).text()

  beforeAll(async () => {
    desktop.spawnApp(
      ["/usr/bin/python3", new URL("../fixtures/big-list.py", import.meta.url).pathname, "buttons", "1000"],
      { env: { FIXTURE_LOG: `${desktop.directory}/buttons.log` } },
    )
    await until(async () => (await log().catch(() => "")).includes("ready"), 30_000)
  })

  test("a snapshot shows the rows in view and says that there are more", async () => {
    const { json } = await desktop.run("snapshot", "--window-id", await windowOf("Big buttons"), ...PATIENT)
    expect(json.data.complete).toBe(true)
    const names = nodesOf(json.data.tree).flatMap(({ role, name }) => (role === "option" ? [name] : []))
    expect(names.slice(0, 3)).toEqual(["Row 0", "Row 1", "Row 2"])
    expect(names.length).toBeLessThan(40)
    expect(json.data.offscreen_count).toBeGreaterThan(0)
  })

  test("a button far out of view is clicked by its row", async () => {
    const target = 'button "Open 777" in "Row 777"'
    const { json } = await desktop.run(
      "click",
      target,
      "--window-id",
      await windowOf("Big buttons"),
      ...PATIENT,
    )
    expect(json).toMatchObject({ ok: true, data: { element: { role: "button", name: "Open 777" } } })
    await until(async () => (await log()).includes('"row": 777'), 20_000)
    expect((await log()).match(/"event": "open"/g)).toHaveLength(1)
  })
})

describe("a sheet of 2^31 cells", () => {
  test("shows the visible cells and their content", async () => {
    const cells = await until(async () => {
      calc.revive()
      const found = nodesOf(await treeOf("Calc", 60_000)).filter(({ role }) => role === "cell")
      return found[0]?.value === "Hello" && found
    }, 60_000)
    expect(cells[0]).toMatchObject({ name: "A1", value: "Hello" })
    expect(cells.find(({ name }) => name === "B2")?.value).toBe("42")
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.length).toBeLessThan(5000)
    expect(new Set(cells.map(({ name }) => name)).size).toBe(cells.length)
  })
})

/** A1 is a text, B2 a number. */
const SHEET = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sheet1">
<table:table-row><table:table-cell office:value-type="string"><text:p>Hello</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell/><table:table-cell office:value-type="float" office:value="42"><text:p>42</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document>`

interface Node {
  readonly role: string
  readonly name?: string
  readonly value?: string
  readonly children_count?: number
  readonly children?: readonly Node[]
}

const windowOf = (title: string, ms = 30_000): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows")
    const windows: { id: string; title: string }[] = json?.data?.windows ?? []
    return windows.find((one) => one.title.includes(title))?.id
  }, ms)

async function treeOf(title: string, ms = 30_000): Promise<Node> {
  const id = await windowOf(title, ms)
  const { json } = await desktop.run("snapshot", "--window-id", id, "--max-depth", "50")
  if (!json.ok) throw new Error(JSON.stringify(json.error))
  return json.data.tree
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.children ?? []).flatMap(nodesOf)]

const rowsOf = (tree: Node): readonly (string | undefined)[] =>
  nodesOf(tree).flatMap(({ role, name }) => (role === "cell" && name?.startsWith("Row ") ? [name] : []))

interface Range {
  readonly first: number
  readonly last: number
}

/** Rows that are shown but not visible, or the reverse. The first and last row may be only a few pixels high. */
function misplaced(rows: readonly (string | undefined)[], { first, last }: Range): readonly string[] {
  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => `Row ${from + i}`)
  const seen = new Set(names(first, last))
  return [
    ...rows.filter((row) => row === undefined || !seen.has(row)).map((row) => `${row} cannot be seen`),
    ...names(first + 1, last - 1).flatMap((row) => (rows.includes(row) ? [] : [`${row} is missing`])),
  ]
}

/** The rows that the list itself reports as visible. */
async function lastRange(): Promise<Range> {
  return until(async () => {
    const text = await Bun.file(`${desktop.directory}/list.log`)
      .text()
      .catch(() => "")
    return text
      .split("\n")
      .slice(0, -1)
      .map((line): Range & { event: string } => JSON.parse(line))
      .findLast(({ event }) => event === "range")
  }, 60_000)
}
