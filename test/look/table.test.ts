import { afterAll, describe, expect, test } from "bun:test"
import type { Handle } from "../../src/adapter.ts"
import { type CellGrid, nameOfPlace, type Span } from "../../src/content/grid.ts"
import { AppError } from "../../src/errors.ts"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

const at = (x: number, y: number) => ({ bounds: { x, y, width: 40, height: 20 } })
const cell = (name: string, more: Partial<Spec> = {}): Spec => ({ role: "cell", name, ...at(0, 0), ...more })
const row = (...children: readonly Spec[]): Spec => ({ role: "row", children })

const PEOPLE: Spec = {
  role: "table",
  name: "People",
  children: [
    row({ role: "columnheader", name: "Person" }, { role: "columnheader", name: "Age" }),
    row(cell("Ada"), cell("36")),
    row(cell("Alan"), cell("", { children: [{ role: "checkbox", name: "in", states: ["checked"] }] })),
  ],
}

const withTables = (...tables: readonly Spec[]): Desk => {
  const it = desk()
  it.world.app("Editor").window("notes", tables)
  return it
}

/** A table of numbers that is read by row and column; it counts what it is asked for. */
function grid(
  rows: number,
  columns: number,
  more: Partial<CellGrid<Handle>> = {},
): { asked: Span[]; grid: CellGrid<Handle> } {
  const asked: Span[] = []
  return {
    asked,
    grid: {
      kind: "cells",
      rowCount: rows,
      columnCount: columns,
      isSheet: false,
      indexOf: (r, c) => r * columns + c,
      placeOf: (index) => ({ row: Math.floor(index / columns), column: index % columns }),
      titles: async (wanted) => wanted.map((column) => `T${column + 1}`),
      inView: async () => ({ rows: { first: 500, last: 509 }, columns: { first: 0, last: 2 } }),
      texts: async (span, wanted) => {
        asked.push(span)
        return Array.from({ length: span.last - span.first + 1 }, (_, i) =>
          wanted.map((column) => `${span.first + i + 1}.${column + 1}`),
        )
      },
      cell: async () => undefined,
      unwritable: async () => [],
      doubt: async () => undefined,
      ...more,
    },
  }
}

const big = (more: Partial<CellGrid<Handle>> = {}, rows = 1000, columns = 3): Spec & { asked: Span[] } => {
  const it = grid(rows, columns, more)
  return {
    role: "table",
    name: "Big",
    total: rows * columns,
    children: [],
    grid: () => it.grid,
    asked: it.asked,
  }
}

describe("a text that a merged cell covers", () => {
  /** A2 covers A2:B3. */
  async function read(texts: readonly (readonly string[])[], range: string) {
    const asked: string[] = []
    const sheet = big({
      isSheet: true,
      texts: async () => texts,
      merged: async (cells) => {
        asked.push(...cells.map(nameOfPlace))
        return cells
          .filter(({ row, column }) => row === 1 && column === 0)
          .map((cell) => ({ ...cell, rows: 2, columns: 2 }))
      },
    })
    const it = withTables(sheet)
    return { rows: (await it.ok("table", { range })).rows, asked }
  }

  test("is left out", async () => {
    const texts = [
      ["a1", "b1", "c1"],
      ["", "x", "c2"],
      ["x", "x", "c3"],
      ["a4", "", ""],
    ]
    expect((await read(texts, "A1:C4")).rows).toEqual([
      ["a1", "b1", "c1"],
      ["", "", "c2"],
      ["", "", "c3"],
      ["a4", "", ""],
    ])
  })

  test("costs a question only for cells with a text to their right or below", async () => {
    const texts = [
      ["a1", "b1", ""],
      ["", "", ""],
      ["a3", "", ""],
    ]
    expect((await read(texts, "A1:C3")).asked).toEqual(["A1", "A2"])
  })

  test("stays if the app is late to say what is covered", async () => {
    const texts = [
      ["a1", "b1"],
      ["", "x"],
    ]
    const merged = () => Promise.reject(new AppError("APP_UNRESPONSIVE", "The app did not answer"))
    const it = withTables(big({ isSheet: true, texts: async () => texts, merged }))
    expect((await it.ok("table", { range: "A1:B2" })).rows).toEqual(texts)
  })

  test("is not looked for in a large block", async () => {
    const texts = Array.from({ length: 400 }, () => ["a", "b", "c"])
    expect(await read(texts, "A1:C400")).toEqual({ rows: texts, asked: [] })
  })
})

describe("table", () => {
  test("gives the rows, their counts, titles, and a ref for each row", async () => {
    const it = withTables(PEOPLE)
    const data = await it.ok("table", { header: true })
    expect(data).toEqual({
      ref_id: "@e1",
      name: "People",
      rows: [
        ["Ada", "36"],
        ["Alan", "checked"],
      ],
      row_count: 2,
      column_count: 2,
      first_row: 1,
      first_column: 1,
      header: ["Person", "Age"],
      refs: ["@e2", "@e3"],
    })
    expect((await it.ok("get", { ref_id: data.refs[1], property: "name" })).value).toBe("Alan")
    // A cell leads to its table as well.
    expect(await it.ok("table", { ref_id: "@e3", columns: "age", cells: true })).toMatchObject({
      rows: [["36"], ["checked"]],
      first_column: 2,
      cell_refs: [[expect.any(String)], [expect.any(String)]],
    })
  })

  test("is not called missing if its window could not be read to the end", async () => {
    const it = withTables({ role: "button", name: "First" }, PEOPLE)
    it.world.nodeLimit = 2
    expect(await it.error("table", {})).toMatchObject({ code: "TIMEOUT", details: { kind: "deadline" } })
  })

  test("prints a ref behind each cell, if they were asked for", async () => {
    const { text } = await withTables(PEOPLE).ok("table", { rows: "1", cells: true, format: "text" })
    expect(text).toMatch(/^1\tAda \[@e\d+\]\t36 \[@e\d+\]$/m)
  })

  test("fails as TSV if requested rows are missing, since TSV has no place for a warning", async () => {
    const slow = (): Spec =>
      big(
        {
          texts: async ({ first, last }, columns) => {
            await Bun.sleep(150)
            return Array.from({ length: last - first + 1 }, () => columns.map(String))
          },
        },
        20_000,
      )
    const asked = { rows: "1-20000", timeout_ms: 400 }
    expect(await withTables(slow()).ok("table", asked)).toMatchObject({ complete: false })
    expect(await withTables(slow()).error("table", { ...asked, format: "tsv" })).toMatchObject({
      code: "TIMEOUT",
    })
  })

  test("is one text with --format tsv, csv and text", async () => {
    const it = withTables(PEOPLE)
    expect(await it.ok("table", { header: true, format: "tsv" })).toMatchObject({
      text: "Person\tAge\nAda\t36\nAlan\tchecked\n",
      row_count: 2,
    })
    expect((await it.ok("table", { rows: "2", format: "csv" })).text).toBe("Alan,checked\r\n")
    expect((await it.ok("table", { format: "text" })).text).toBe(
      '@e1 "People" rows 1-2 of 2, 2 columns\n1 @e2\tAda\t36\n2 @e3\tAlan\tchecked\n',
    )
  })

  test("that is long shows the rows in view, and counts the rest", async () => {
    const table = big()
    const it = withTables(table)
    const data = await it.ok("table")
    expect(data).toMatchObject({ row_count: 1000, column_count: 3, first_row: 501, first_column: 1 })
    expect(data.rows).toHaveLength(10)
    expect(data.rows[0]).toEqual(["501.1", "501.2", "501.3"])
  })

  test("by range, rows and columns asks for these cells only", async () => {
    const table = big()
    const it = withTables(table)
    expect(await it.ok("table", { range: "B999:C1000" })).toMatchObject({
      rows: [
        ["999.2", "999.3"],
        ["1000.2", "1000.3"],
      ],
      first_row: 999,
      first_column: 2,
    })
    expect(table.asked).toEqual([{ first: 998, last: 999 }])
    expect(await it.ok("table", { rows: "7", columns: "T3,1" })).toMatchObject({
      rows: [["7.3", "7.1"]],
      columns: [3, 1],
    })
  })

  test("of a sheet leaves out empty rows and columns at the end of the view, but not of a requested range", async () => {
    const texts: CellGrid<Handle>["texts"] = async ({ first, last }, columns) =>
      Array.from({ length: last - first + 1 }, (_, i) =>
        columns.map((column) => (first + i < 2 && column < 2 ? `${column}` : "")),
      )
    const inView = async () => ({ rows: { first: 0, last: 30 }, columns: { first: 0, last: 9 } })
    const it = withTables(big({ isSheet: true, texts, inView }, 1_048_576, 16_384))
    const FULL = [
      ["0", "1"],
      ["0", "1"],
    ]
    expect((await it.ok("table")).rows).toEqual(FULL)
    expect(await it.ok("table", { header: true })).toMatchObject({
      header: ["0", "1"],
      rows: [["0", "1"]],
      first_row: 2,
    })
    expect((await it.ok("table", { range: "A2:C3" })).rows).toEqual([
      ["0", "1", ""],
      ["", "", ""],
    ])
    // Only what was asked for is kept, though it is empty.
    expect((await it.ok("table", { rows: "2-3" })).rows).toEqual([
      ["0", "1"],
      ["", ""],
    ])
    expect((await it.ok("table", { columns: "A-C" })).rows).toEqual([
      ["0", "1", ""],
      ["0", "1", ""],
    ])
  })

  test("of a sheet takes a short word or a year for a title, if its column has one", async () => {
    const titles = ["Item", "Qty", "2024", "A", "B"]
    const texts: CellGrid<Handle>["texts"] = async ({ first, last }, columns) =>
      Array.from({ length: last - first + 1 }, (_, i) =>
        columns.map((column) => (first + i === 0 ? (titles[column] ?? "") : `${column}`)),
      )
    const it = withTables(big({ isSheet: true, texts }, 1_048_576, 16_384))
    const rows = async (columns: string) => (await it.ok("table", { columns, rows: "2" })).rows
    expect(await rows("qty")).toEqual([["1"]])
    expect(await rows("2024,Item")).toEqual([["2", "0"]])
    // A and B are also letters of columns that have titles.
    expect(await rows("A,B")).toEqual([["0", "1"]])
    expect(await rows("C-E,2")).toEqual([["2", "3", "4", "1"]])
    expect(await rows("QTX,300")).toEqual([["12035", "299"]])
    for (const columns of ["Nothing", "Qty,", "0", "2-1", "16385"])
      expect((await it.run("table", { columns, rows: "2" })).error).toMatchObject({
        code: "INVALID_ARGS",
        details: { argument: "columns" },
      })
    expect((await it.run("table", { range: "XFE1:XFF2" })).error).toMatchObject({
      code: "INVALID_ARGS",
      message: "@e1 has 16384 columns, and column XFE is behind them",
      suggestion: "Its last column is XFD",
    })
  })

  test("gives the rows that could be read in time, and says that there are more", async () => {
    const slow: CellGrid<Handle>["texts"] = async ({ first, last }, columns) => {
      await Bun.sleep(200)
      return Array.from({ length: last - first + 1 }, () => columns.map(() => "x"))
    }
    const it = withTables(big({ texts: slow }, 100_000))
    const data = await it.ok("table", { rows: "1-30000", timeout_ms: 1000 })
    expect(data.complete).toBe(false)
    expect(data.rows.length).toBeGreaterThan(0)
    expect(data.rows.length).toBeLessThan(30_000)
  })

  test("does not number rows of which the app only gives the count", async () => {
    const counted: Spec = {
      role: "list",
      grid: () => ({ kind: "tree", rowCount: 400 }),
      children: [row(cell("a")), row(cell("b"))],
    }
    const it = withTables(counted)
    const data = await it.ok("table")
    expect(data).toMatchObject({ rows: [["a"], ["b"]], row_count: 400, complete: false })
    expect(data.first_row).toBeUndefined()
    expect((await it.run("table", { rows: "1-2" })).error).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      message: "The rows of @e1 have no numbers: the app creates them as the list is scrolled",
    })
  })

  test("has no text for an empty field, although the field and its cell have a name", async () => {
    const field = (name: string, value?: string): Spec => ({
      role: "cell",
      name,
      children: [{ role: "textfield", name, value }],
    })
    const fields: Spec = {
      role: "table",
      children: [row(cell("a"), field("Town", "Bern")), row(cell("b"), field("Town"))],
    }
    expect((await withTables(fields).ok("table")).rows).toEqual([
      ["a", "Bern"],
      ["b", ""],
    ])
  })

  test("puts a cell that spans columns into its first column", async () => {
    const spanning: Spec = {
      role: "table",
      name: "Spans",
      grid: () => ({
        kind: "tree",
        columnOf: async (handle) => ({ Both: 0, End: 2 })[(handle as unknown as { name: string }).name],
      }),
      children: [row(cell("a"), cell("b"), cell("c")), row(cell("Both"), cell("End"))],
    }
    expect((await withTables(spanning).ok("table")).rows).toEqual([
      ["a", "b", "c"],
      ["Both", "", "End"],
    ])
  })

  test("numbers the rows of a page that shows a part as the page does", async () => {
    const part: Spec = {
      ...PEOPLE,
      grid: () => ({ kind: "tree", rowCount: 100_000, firstRow: 499 }),
    }
    expect(await withTables(part).ok("table")).toMatchObject({
      first_row: 500,
      row_count: 100_000,
      complete: false,
    })
  })

  test("says why its texts may be old", async () => {
    const it = withTables(big({ doubt: async () => "rows may have moved" }))
    expect(await it.ok("table", { rows: "1-2" })).toMatchObject({ doubt: "rows may have moved" })
    expect((await it.ok("table", { rows: "1-2", format: "text" })).text).toEndWith(
      "doubt: rows may have moved\n",
    )
  })

  test("that is not the only one of its window has to be named by ref", async () => {
    const it = withTables(PEOPLE, { ...PEOPLE, name: "More" })
    const error = await it.error("table")
    expect(error).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      details: { candidates: [{ role: "table", name: "People" }, { name: "More" }] },
    })
    expect(await it.ok("table", { ref_id: error.details.candidates[1].ref_id })).toMatchObject({
      name: "More",
    })
  })

  test.each([
    [{ range: "A1:" }, "INVALID_ARGS", "'A1:' is not a range"],
    [{ range: "A1:B2:C3" }, "INVALID_ARGS", "is not a range"],
    [{ rows: "5-1" }, "INVALID_ARGS", "'5-1' is not a range of numbers"],
    [{ rows: "0-3" }, "INVALID_ARGS", "is not a range of numbers"],
    [{ rows: "1001-1002" }, "INVALID_ARGS", "has 1000 rows, so row 1001 does not exist"],
    [{ columns: "Nowhere" }, "INVALID_ARGS", "there is no column 'Nowhere'"],
    [{ columns: "4" }, "INVALID_ARGS", "there is no column '4'"],
    [{ range: "A1:C3", rows: "1-2" }, "INVALID_ARGS", "exclude each other"],
    [{ formulas: true }, "ACTION_NOT_SUPPORTED", "without formulas"],
  ])("%j is %s: %s", async (args, code, message) => {
    const error = await withTables(big()).error("table", args)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test("without any table, or of an element outside one, names the next step", async () => {
    const it = withTables({ role: "button", name: "Save", ...at(0, 0) })
    expect(await it.error("table")).toMatchObject({ code: "ELEMENT_NOT_FOUND" })
    await it.ok("snapshot")
    expect(await it.error("table", { ref_id: "@e1" })).toMatchObject({
      code: "ACTION_NOT_SUPPORTED",
      message: expect.stringContaining("is not in a table, list or tree"),
      details: { kind: "no_table_interface", interface: "fake table" },
    })
  })

  test("in the outline of a file manager is read instead of the outline", async () => {
    const it = withTables({ role: "outline", name: "Details view", ...at(0, 0), children: [PEOPLE] })
    expect(await it.ok("table")).toMatchObject({ name: "People" })
  })
})
