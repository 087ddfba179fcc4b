import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { startFixture, TOOLKITS, type Toolkit } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** The tables of every toolkit as rows of text. The source of their data is the fixtures' own list. */

const PEOPLE = [
  ["Ada", "36"],
  ["Alan", "41"],
  ["Grace", "85"],
]

let desktop: TestDesktop
const windows = new Map<Toolkit, string>()

beforeAll(async () => {
  desktop = await openDesktop()
  for (const toolkit of TOOLKITS) {
    const { title } = await startFixture(desktop, toolkit)
    const id = await until(async () => {
      const { json } = await desktop.run("list-windows")
      return json?.data?.windows.find((one: { title: string }) => one.title.startsWith(title))?.id
    }, 30_000)
    windows.set(toolkit, id)
  }
}, 120_000)
afterAll(() => desktop?.close())

async function ok(...args: readonly string[]): Promise<Json> {
  const { json, stdout } = await desktop.run(...args, "--timeout-ms", "30000")
  if (!json?.ok) throw new Error(stdout)
  return json.data
}

/** The ref of the table of that name, from the command itself. */
const tableNamed = (toolkit: Toolkit, name: string): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("table", "--window-id", windows.get(toolkit) ?? "")
    if (json?.data?.name === name) return json.data.ref_id
    const candidates: readonly { name?: string; ref_id: string }[] = json?.error?.details?.candidates ?? []
    return candidates.find((one) => one.name === name)?.ref_id
  }, 30_000)

describe.each(TOOLKITS)("in %s", (toolkit) => {
  test("a table has its rows, titles and counts, and a ref for each row that means that row", async () => {
    const ref = await tableNamed(toolkit, "People")
    const read = await ok("table", ref, "--header")
    expect(read).toMatchObject({
      rows: PEOPLE,
      header: ["Person", "Age"],
      row_count: 3,
      column_count: 2,
      first_row: 1,
      first_column: 1,
    })
    for (const [at, [name]] of PEOPLE.entries()) {
      // The ref is that of the row, or of its first cell.
      expect((await ok("get", read.refs[at], "name")).value).toStartWith(name!)
    }
    expect((await desktop.run("table", ref, "--rows", "2-3", "--format", "tsv")).stdout).toBe(
      "Alan\t41\nGrace\t85\n",
    )
  })

  test("a ref of every cell means that cell", async () => {
    const { cell_refs } = await ok(
      "table",
      await tableNamed(toolkit, "People"),
      "--columns",
      "Age",
      "--cells",
    )
    expect(
      await Promise.all(cell_refs.flat().map(async (ref: string) => (await ok("get", ref, "name")).value)),
    ).toEqual(PEOPLE.map(([, age]) => age))
  })

  test("text is read and selected by characters, and reading it changes nothing", async () => {
    const window = windows.get(toolkit)!
    const query = ["--window-id", window, "--role", "textfield", "--name", "Notes", "--first"]
    const ref: string = (await ok("find", ...query)).match.ref_id
    await desktop.run("focus-window", window)
    const TEXT = "One \u{1f600} two\nthird line here"
    await ok("set-value", ref, TEXT)
    const { length } = await ok("get", ref, "text", "--range", "0:1")
    const halves = [
      await ok("get", ref, "text", "--range", ":9"),
      await ok("get", ref, "text", "--range", `9:${length}`),
    ]
    expect(halves.map(({ value }) => value).join("")).toBe(TEXT)
    for (const [words, text] of [
      [["--match", "two"], "two"],
      [["--word", "3"], "third"],
      [["--range", "0:3"], "One"],
    ] as const) {
      expect(await ok("select-text", ref, ...words)).toMatchObject({ text })
      expect((await ok("get", ref, "selection")).value.text).toBe(text)
    }
    const runs = (await ok("get", ref, "attributes")).value
    expect(runs[0]).toMatchObject({ start: 0, size: expect.any(Number), family: expect.any(String) })
    expect(runs.at(-1).end).toBe(length)
    expect(await ok("caret", ref, "2")).toMatchObject({ start: 2 })
    expect((await ok("get", ref, "caret")).value).toBe(2)
    expect((await ok("get", ref, "selection")).value).toBe(null)
    // The keys go to the caret, and the text is as it was.
    await ok("press", "x", "--window-id", window)
    await until(async () => (await ok("get", ref, "text", "--range", "0:5")).value === "Onxe ")
  })
})
