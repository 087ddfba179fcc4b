import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Cells that users edit in place: an editor opens over the cell. The app logs the texts that its model gets. */

setDefaultTimeout(180_000)

const KINDS = ["gtk3", "qt6", "qt5"] as const
type Kind = (typeof KINDS)[number]

const named = (name: string, more: object = {}, rows = 3): object => ({
  name,
  header: ["First", "Second"],
  rows: Array.from({ length: rows }, (_, row) => [0, 1].map((column) => `${name} ${row}${column}`)),
  ...more,
})

const TABLES = [
  named("Edit", { editable: true }),
  named("Half", { editable: [1] }),
  named("Upper", { editable: true, takes: "upper" }),
  named("Deaf", { editable: true, takes: "nothing" }),
  named("Asks", { editable: true, takes: "dialog" }),
  named("Long", { editable: true }, 400),
  named("Fixed"),
  named("Short", { editable: true, longest: 8 }),
  {
    name: "Sorted",
    header: ["Word", "Rank"],
    rows: [
      ["aaa", "r3"],
      ["mmm", "r2"],
      ["zzz", "r1"],
    ],
    editable: true,
    sorts: true,
  },
  {
    name: "Numbers",
    header: ["One", "Two"],
    rows: [
      ["1", "2"],
      ["30", "40"],
    ],
    editable: true,
    numbers: true,
  },
  {
    name: "Itself",
    header: ["Letter", "Digit"],
    rows: [
      ["a", "0"],
      ["b", "0"],
    ],
    editable: true,
    sorts: "itself",
  },
  named("Icons", { editable: true, icons: true }),
  named("Opens", { opens: true }),
]

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop({ width: 1600, height: 1200 })
  const file = `${desktop.directory}/tables.json`
  await Bun.write(file, JSON.stringify(TABLES))
  const script = new URL("../fixtures/tables.py", import.meta.url).pathname
  for (const kind of KINDS)
    desktop.spawnApp(["/usr/bin/python3", script, kind, file], { env: { FIXTURE_LOG: logOf(kind) } })
  for (const kind of KINDS)
    await until(
      async () => (await run(kind, "find", "--role", "table", "--count")).data?.count === TABLES.length,
      60_000,
    )
})
afterAll(() => desktop?.close())

const logOf = (kind: Kind): string => `${desktop.directory}/edits-${kind}.log`

const run = async (kind: Kind, ...args: readonly string[]): Promise<Json> =>
  (await desktop.run(...args, "--app", `tables-${kind}`, "--timeout-ms", "60000")).json

/** The texts that the app's model got since the last call. */
async function edits(kind: Kind): Promise<readonly Json[]> {
  const text = await Bun.file(logOf(kind))
    .text()
    .catch(() => "")
  const all =
    text.trim() === ""
      ? []
      : text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
  const fresh = all.slice(told.get(kind) ?? 0)
  told.set(kind, all.length)
  return fresh
}

const told = new Map<Kind, number>()

const rowsOf = async (kind: Kind, table: string, ...args: readonly string[]): Promise<Json> =>
  (await run(kind, "table", `table "${table}"`, "--rows", "1-3", ...args)).data?.rows

const NOTHING = { delivery: "not_delivered", retry: "safe" }
const VERIFIED = { delivery: "delivered_verified", retry: "safe" }

describe.each(KINDS)("in %s", (kind) => {
  test("set-value and clear write one cell, once, and the model has it", async () => {
    const set = await run(kind, "set-value", 'cell "Edit 11"', '="Lima"; é 漢字 😀')
    expect(set.data ?? set.error).toMatchObject({
      element: { role: "cell", name: "Edit 11" },
      post_state: { value: '="Lima"; é 漢字 😀' },
      method: "keyboard",
      disposition: VERIFIED,
    })
    expect(await edits(kind)).toEqual([{ table: "Edit", row: 1, column: 1, text: '="Lima"; é 漢字 😀' }])
    const cleared = await run(kind, "clear", 'cell "Edit 20"')
    expect(cleared.data ?? cleared.error).toMatchObject({ post_state: { value: "" }, disposition: VERIFIED })
    expect(await edits(kind)).toEqual([{ table: "Edit", row: 2, column: 0, text: "" }])
    expect(await rowsOf(kind, "Edit")).toEqual([
      ["Edit 00", "Edit 01"],
      ["Edit 10", '="Lima"; é 漢字 😀'],
      ["", "Edit 21"],
    ])
  })

  test("set-cells writes a block, and empty cells as well", async () => {
    const set = await run(kind, "set-cells", 'table "Edit"', "A2", "=SUM(A1:A2)\t\n'q'\t\"q\"")
    expect(set.data ?? set.error).toMatchObject({ range: "A2:B3", cells: 4, disposition: VERIFIED })
    expect(set.data.differences).toBeUndefined()
    expect((await edits(kind)).map(({ row, column, text }) => [row, column, text])).toEqual([
      [1, 0, "=SUM(A1:A2)"],
      [1, 1, ""],
      [2, 0, "'q'"],
      [2, 1, '"q"'],
    ])
    expect(await rowsOf(kind, "Edit")).toEqual([
      ["Edit 00", "Edit 01"],
      ["=SUM(A1:A2)", ""],
      ["'q'", '"q"'],
    ])
  })

  test("a cell without an editor is refused, and nothing is written or opened", async () => {
    // A click also selects the cell. To the program, that may be any change of the app.
    const disposition = kind === "gtk3" ? { ...NOTHING, retry: "unknown" } : NOTHING
    const one = await run(kind, "set-value", 'cell "Fixed 10"', "new")
    expect(one.error).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      suggestion: expect.stringMatching(
        /^Nothing was written; the cell was (clicked and F2|selected and clicked)/,
      ),
      details: { kind: "not_editable" },
      disposition,
    })
    // The second column has editors, and is not written either.
    const block = await run(kind, "set-cells", 'table "Half"', "A1", "x\ty")
    expect(block.error).toMatchObject({
      message: expect.stringContaining("Nothing was written, because of A1"),
      details: { kind: "not_editable", cells: ["A1"] },
      disposition,
    })
    const last = await run(kind, "set-cells", 'table "Half"', "B1", "x\nnew")
    expect(last.data ?? last.error).toMatchObject({ range: "B1:B2", disposition: VERIFIED })
    expect((await edits(kind)).map(({ table, text }) => [table, text])).toEqual([
      ["Half", "x"],
      ["Half", "new"],
    ])
  })

  test("an app that keeps another text is reported, and one that keeps the old text has failed", async () => {
    const upper = await run(kind, "set-cells", 'table "Upper"', "A1", "loud")
    expect(upper.data ?? upper.error).toMatchObject({
      differences: [{ cell: "A1", wanted: "loud", shows: "LOUD" }],
      disposition: { delivery: "delivered_unverified" },
    })
    const one = await run(kind, "set-value", 'cell "Upper 11"', "high")
    expect(one.data ?? one.error).toMatchObject({
      post_state: { value: "HIGH" },
      disposition: { delivery: "delivered_unverified" },
    })
    const deaf = await run(kind, "set-value", 'cell "Deaf 11"', "new")
    expect(deaf.error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "contradicted", observed: { value: "Deaf 11" } },
      disposition: { delivery: "delivered_unverified" },
    })
    // Return was pressed once for each.
    expect((await edits(kind)).map(({ text }) => text)).toEqual(["loud", "high", "new"])
  })

  test("an app that asks about a text is reported with its dialog, and no further cell is written", async () => {
    const asked = await run(kind, "set-cells", 'table "Asks"', "A1", "one\ttwo")
    // Read it first: toMatchObject puts its matchers into the object that it compares.
    const { window_id } = asked.error.details
    expect(asked.error).toMatchObject({ code: "ACTION_FAILED", details: { kind: "asked", written: 0 } })
    expect((await edits(kind)).map(({ text }) => text)).toEqual(["one"])
    await until(async () => {
      await desktop.run("click", 'button "OK"', "--window-id", window_id)
      const { json } = await desktop.run("list-windows")
      const ids: readonly string[] = json.data.windows.map(({ id }: Json) => id)
      return ids.length === KINDS.length && !ids.includes(window_id)
    }, 60_000)
  })

  test("a cell far out of view is written", async () => {
    const far = await run(kind, "set-cells", 'table "Long"', "B350", "far away")
    expect(far.data ?? far.error).toMatchObject({ range: "B350:B350", disposition: VERIFIED })
    expect(await edits(kind)).toEqual([{ table: "Long", row: 349, column: 1, text: "far away" }])
  })

  test("a text that the editor does not take is not written", async () => {
    const { error } = await run(kind, "set-value", 'cell "Short 01"', "much too long")
    expect(error).toMatchObject({
      code: "ACTION_FAILED",
      details: { kind: "not_taken" },
      disposition: NOTHING,
    })
    expect(await edits(kind)).toEqual([])
    expect(await rowsOf(kind, "Short")).toContainEqual(["Short 00", "Short 01"])
  })
})

test("random texts are in the model and in the table as they were written", async () => {
  const letters = [..."=+-'\"\\,;<>&%#@é漢😀 ab01"]
  let seed = 20_261_118
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  const text = (): string =>
    Array.from({ length: 1 + random(14) }, () => letters[random(letters.length)])
      .join("")
      .trim() || "="
  for (const kind of KINDS) {
    const rows = Array.from({ length: 3 }, () => [text(), text()])
    const tsv = rows.map((row) => row.map((one) => one.replaceAll("\\", "\\\\")).join("\t")).join("\n")
    const { data, error } = await run(
      kind,
      "set-cells",
      "--tsv",
      tsv,
      "--at",
      "A1",
      "--ref-id",
      'table "Edit"',
    )
    expect({ kind, rows, ...(data ?? error) }).toMatchObject({ cells: 6, disposition: VERIFIED })
    expect((await edits(kind)).map((one) => one.text)).toEqual(rows.flat())
    expect(await rowsOf(kind, "Edit")).toEqual(rows)
  }
})

test.each(["qt6", "qt5"] as const)(
  "in %s, a number is set in a spin box, and a text is refused by it",
  async (kind) => {
    const set = await run(kind, "set-cells", 'table "Numbers"', "A2", "7")
    expect(set.data ?? set.error).toMatchObject({ range: "A2:A2", disposition: VERIFIED })
    expect(await edits(kind)).toEqual([{ table: "Numbers", row: 1, column: 0, text: "7" }])
    const refused = await run(kind, "set-cells", 'table "Numbers"', "B2", "many")
    expect(refused.error).toMatchObject({ details: { kind: "not_taken" }, disposition: NOTHING })
    expect(await edits(kind)).toEqual([])
    expect((await run(kind, "table", 'table "Numbers"', "--rows", "1-2")).data.rows).toEqual([
      ["1", "2"],
      ["7", "40"],
    ])
  },
)

test.each(["qt6", "qt5"] as const)(
  "in %s, a table that sorts its rows while they are written is left as soon as a row is another one",
  async (kind) => {
    const { error } = await run(kind, "set-cells", 'table "Sorted"', "A1", "yyy\nxxx\nwww")
    expect(error).toMatchObject({
      message: expect.stringContaining("1 of 3 cells were written"),
      details: { kind: "not_there", written: 1, next: "A2" },
    })
    expect((await edits(kind)).map(({ row, text }) => [row, text])).toEqual([[0, "yyy"]])
  },
)

test("in gtk3, a cell whose row the app has moved without notice is refused, and keeps its text", async () => {
  const before = await rowsOf("gtk3", "Sorted")
  expect(before[0]).toEqual(["aaa", "r3"])
  // Sorted by rank, the rows are in the opposite order. All their texts are equally long.
  expect((await run("gtk3", "click", 'columnheader "Rank"')).ok).toBe(true)
  const { error } = await run("gtk3", "set-value", 'cell "aaa"', "new")
  expect(error).toMatchObject({ code: "ACTION_FAILED", disposition: NOTHING })
  expect(await edits("gtk3")).toEqual([])
})

test.each(KINDS)(
  "in %s, a row that moves when it is written ends set-cells before another row is hit",
  async (kind) => {
    const { error } = await run(kind, "set-cells", 'table "Itself"', "A1", "c\t1\nd\t2")
    expect(error).toMatchObject({
      message: expect.stringContaining("1 of 4 cells were written"),
      details: { kind: "not_there", written: 1, next: "B1" },
      disposition: { delivery: "delivery_uncertain", retry: "unknown" },
    })
    expect((await edits(kind)).map(({ row, column, text }) => [row, column, text])).toEqual([[0, 0, "c"]])
  },
)

test("in gtk3, the editor of a cell with an icon proves its row", async () => {
  const { data, error } = await run("gtk3", "set-value", 'cell "Icons 10"', "new")
  expect(data ?? error).toMatchObject({ post_state: { value: "new" }, disposition: VERIFIED })
  expect(await edits("gtk3")).toEqual([{ table: "Icons", row: 1, column: 0, text: "new" }])
})

test.each(KINDS)("in %s, a window that opens instead of an editor is reported", async (kind) => {
  const { error } = await run(kind, "set-value", 'cell "Opens 10"', "new")
  // Read it first: toMatchObject puts its matchers into the object that it compares.
  const id = error.details.window_id
  expect(error).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    details: { kind: "not_editable" },
    disposition: { delivery: "delivered_unverified", retry: "unknown" },
  })
  const { json } = await desktop.run("list-windows")
  expect(json.data.windows.find((one: Json) => one.id === id)).toMatchObject({ title: "Opened" })
})
