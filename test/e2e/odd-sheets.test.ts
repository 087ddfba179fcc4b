import { afterAll, beforeAll, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"

/** Sheets that are protected, have hidden rows or merged cells, or have several selected cells. The saved file proves their contents. */

let desktop: TestDesktop
let file: string
let window: string

beforeAll(async () => {
  desktop = await openDesktop()
  file = `${desktop.directory}/odd.fods`
  await Bun.write(file, BOOK)
  window = await openInOffice(desktop, { part: "calc", file })
  await until(async () => (await run("table", "--rows", "1")).ok, 60_000)
}, 180_000)
afterAll(() => desktop?.close())

const cell = (text: string, more = ""): string =>
  `<table:table-cell office:value-type="string" ${more}><text:p>${text}</text:p></table:table-cell>`
const row = (texts: readonly string[], more = ""): string =>
  `<table:table-row ${more}>${texts.map((text) => cell(text)).join("")}</table:table-row>`

const COVERED = "<table:covered-table-cell/>"
const HIDDEN = `<table:covered-table-cell office:value-type="string"><text:p>hidden</text:p></table:covered-table-cell>`

const ARABIC = [..."ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةى"]

const ODD = "It's &quot;a&quot; sheet!"

const BOOK = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles><style:style style:name="open" style:family="table-cell">
<style:table-cell-properties style:cell-protect="none"/></style:style></office:automatic-styles>
<office:body><office:spreadsheet>
<table:table table:name="Locked" table:protected="true">
<table:table-row>${cell("a1")}${cell("b1", 'table:style-name="open"')}</table:table-row>
${row(["a2", "b2"])}</table:table>
<table:table table:name="${ODD}">
${row(["a1", "b1"])}${row(["a2", "b2"], 'table:visibility="collapse"')}${row(["a3", "b3"], 'table:visibility="filter"')}
${row(["a4", "b4"])}</table:table>
<table:table table:name="Marks">${["1", "2", "3", "4"].map((n) => row([`a${n}`, `b${n}`, `c${n}`])).join("")}</table:table>
<table:table table:name="Merged">
${row(["a1", "b1", "c1"])}<table:table-row>${cell("a2", 'table:number-columns-spanned="3"')}${HIDDEN}${COVERED}</table:table-row>
<table:table-row table:number-rows-repeated="197"><table:table-cell/></table:table-row>
<table:table-row>${cell("a200")}${cell("b200", 'table:number-rows-spanned="2"')}</table:table-row>
<table:table-row>${cell("a201")}${HIDDEN}</table:table-row></table:table>
</office:spreadsheet></office:body></office:document>`

const run = async (...args: readonly string[]): Promise<Json> =>
  (await desktop.run(...args, "--window-id", window, "--timeout-ms", "60000")).json

const press = async (combos: string): Promise<void> => {
  expect((await run("press", combos)).ok).toBe(true)
}

async function click(name: string): Promise<void> {
  // A click on a cell that moves, because a toolbar has come late, is refused.
  await until(async () => (await run("click", `cell "${name}"`)).data?.element.name === name, 30_000)
}

/** Goes down to the sheet with this name, and returns its ref. */
async function goTo(name: string): Promise<string> {
  let before: string | undefined
  return until(async () => {
    const { data } = await run("table", "--rows", "1")
    if (data?.name === `Sheet ${name}`) return data.ref_id
    // Press once per sheet: the next sheet may show late.
    if (data && data.name !== before) await press("ctrl+pagedown")
    before = data?.name
    return undefined
  }, 60_000)
}

/** The texts of a sheet in the saved file, row by row. */
async function saved(sheet: string): Promise<readonly (readonly string[])[]> {
  const text = await Bun.file(file).text()
  const [, content = ""] = new RegExp(`table:name="${sheet}"(.*?)</table:table>`, "s").exec(text) ?? []
  const rows = content.match(/<table:table-row[^>]*>.*?<\/table:table-row>/gs) ?? []
  const texts = rows.map((one) =>
    [...one.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, facts = "", inside = ""]) => {
        const count = Number(/columns-repeated="(\d+)"/.exec(facts)?.[1] ?? 1)
        const shown = /<text:p>(.*?)<\/text:p>/s.exec(inside)?.[1] ?? ""
        return count > 20 ? [] : Array<string>(count).fill(shown)
      },
    ),
  )
  return texts.flatMap((one) => (one.some(Boolean) ? [one.slice(0, one.findLastIndex(Boolean) + 1)] : []))
}

async function savedAs(sheet: string, wanted: readonly (readonly string[])[]): Promise<void> {
  await press("ctrl+s")
  let rows: readonly (readonly string[])[] = []
  await until(async () => {
    rows = await saved(sheet)
    return JSON.stringify(rows) === JSON.stringify(wanted)
  }, 15_000).catch(() => expect(rows).toEqual(wanted))
}

const NOTHING = { delivery: "not_delivered", retry: "safe" }

test("a protected sheet is read, its locked cells are refused, and the others are written", async () => {
  const { data } = await run("table")
  expect(data).toMatchObject({ name: "Sheet Locked", row_count: 1_048_576, column_count: 16_384 })
  expect(data.rows).toEqual([
    ["a1", "b1"],
    ["a2", "b2"],
  ])
  expect((await run("get", 'cell "B2"', "value")).data).toMatchObject({ value: "b2" })
  const block = await run("set-cells", "table", "B1", "x\ny")
  expect(block.error).toMatchObject({
    message: expect.stringContaining("B2 cannot be edited"),
    details: { cells: ["B2"] },
    disposition: NOTHING,
  })
  for (const [verb, ...text] of [["set-value", "new"], ["type", "new"], ["clear"]] as const) {
    const { error } = await run(verb, 'cell "A2"', ...text)
    expect({ verb, ...error }).toMatchObject({ details: { reason: "read-only" }, disposition: NOTHING })
  }
  const set = await run("set-cells", "table", "B1", "x")
  expect(set.data ?? set.error).toMatchObject({ disposition: { delivery: "delivered_verified" } })
  await savedAs("Locked", [
    ["a1", "x"],
    ["a2", "b2"],
  ])
})

test("a block with hidden rows is refused before anything is written", async () => {
  const ref = await goTo('It\'s "a" sheet!')
  expect((await run("table", ref, "--range", "B4:A1")).data.rows).toEqual(
    ["1", "2", "3", "4"].map((n) => [`a${n}`, `b${n}`]),
  )
  const { error } = await run("set-cells", ref, "A1", "w\nx\ny\nz")
  expect(error).toMatchObject({
    message: expect.stringContaining("A2, A3 cannot be reached"),
    suggestion: expect.stringContaining("Format > Rows > Show"),
    details: { cells: ["A2", "A3"] },
    disposition: NOTHING,
  })
  expect((await run("set-value", 'cell "A2"', "new")).error).toMatchObject({
    message: expect.stringContaining("hidden or filtered out"),
    disposition: NOTHING,
  })
  expect((await run("table", ref, "--range", "A1:A4")).data.rows).toEqual([["a1"], ["a2"], ["a3"], ["a4"]])
})

test("only the cell is cleared and written, whichever cells are selected", async () => {
  const ref = await goTo("Marks")
  await click("A1")
  await press("shift+right shift+down shift+down")
  // LibreOffice may keep reporting the old text of a cleared cell.
  expect((await run("clear", 'cell "B2"')).data.disposition.delivery).toStartWith("delivered_")
  await click("A1")
  await press("ctrl+a")
  const set = await run("set-cells", ref, "C1", "\nnew")
  expect(set.data ?? set.error).toMatchObject({ range: "C1:C2", cells: 2 })
  expect(set.data.differences).toBeUndefined()
  // With several cells selected, Tab and Enter would move among these only.
  await click("A1")
  await press("shift+down shift+down")
  expect((await run("type", 'cell "A4"', "x\ty\n")).ok).toBe(true)
  await savedAs("Marks", [
    ["a1", "b1"],
    ["a2", "", "new"],
    ["a3", "b3", "c3"],
    ["x", "y", "c4"],
  ])
})

test("@focused is the current cell, even while it is edited and in a range, without reading the others", async () => {
  const focused = async (): Promise<Json> => (await run("get", "@focused", "name")).data?.value
  await click("C4")
  expect(await focused()).toBe("C4")
  await press("shift+up shift+left")
  expect(await focused()).toBe("C4")
  await click("B3")
  await press("f2")
  expect(await focused()).toBe("B3")
  await press("escape")
})

test("a text that a merged cell covers is not read, because the app does not show it", async () => {
  const ref = await goTo("Merged")
  for (const formulas of [[], ["--formulas"]]) {
    const read = await run("table", ref, "--range", "A1:C2", ...formulas)
    expect(read.data.rows).toEqual([
      ["a1", "b1", "c1"],
      ["a2", "", ""],
    ])
    expect((await run("table", ref, "--range", "A200:B201", ...formulas)).data.rows).toEqual([
      ["a200", "b200"],
      ["a201", ""],
    ])
  }
})

test("a cell that a merged cell covers is refused before anything is written, even far out of view", async () => {
  const ref = await goTo("Merged")
  const refused = (named: string): Json => ({
    message: expect.stringContaining(`${named} covered by the merged cell`),
    suggestion: expect.stringContaining("Split Cells"),
    details: { kind: "not_actionable", reason: "covered" },
    disposition: NOTHING,
  })
  const block = (await run("set-cells", ref, "A1", "v\tw\tx\ny\tz\tq")).error
  expect(block).toMatchObject(refused("B2, C2 are"))
  expect(block.details).toMatchObject({ cells: ["B2", "C2"], merged: "A2" })
  // The sheet shows its top, so this row is not in its tree.
  const far = (await run("set-cells", ref, "A200", "v\tw\nx\ty")).error
  expect(far).toMatchObject(refused("B201 is"))
  expect(far.details).toMatchObject({ cells: ["B201"], merged: "B200" })
  for (const [verb, ...text] of [["set-value", "new"], ["type", "new"], ["clear"]] as const)
    expect({ verb, ...(await run(verb, 'cell "C2"', ...text)).error }).toMatchObject({
      verb,
      ...refused("(C2) is"),
    })
  // The merged cell is written, and so are those around it.
  const set = await run("set-cells", ref, "A1", "x\ty\nz")
  expect(set.data ?? set.error).toMatchObject({ disposition: { delivery: "delivered_verified" } })
  await savedAs("Merged", [["x", "y", "c1"], ["z"], ["a200", "b200"], ["a201"]])
})

test("a long text in another script is refused before anything is written, and the way that the refusal names works", async () => {
  const ref = await goTo("Merged")
  const words = Array.from({ length: 800 }, (_, at) =>
    [0, 1, 2, 3].map((step) => ARABIC[(at * 7 + step * 11 + (at >> 3)) % ARABIC.length]).join(""),
  )
  const long = words.join(" ")
  for (const args of [
    ["set-cells", ref, "E5", `one\ttwo\n${long}\tthree`],
    ["set-value", 'cell "E6"', long],
  ]) {
    const { error } = await run(...args)
    expect(error).toMatchObject({
      code: "ACTION_FAILED",
      suggestion: expect.stringContaining(`focus 'cell "E6"'`),
      details: { kind: "not_typable", cells: ["E6"] },
      disposition: NOTHING,
    })
  }
  expect((await run("table", ref, "--range", "E5:F6")).data.rows).toEqual([
    ["", ""],
    ["", ""],
  ])
  expect((await desktop.run("clipboard-set", long)).json.ok).toBe(true)
  expect((await run("focus", 'cell "E6"')).ok).toBe(true)
  await press("f2 ctrl+a ctrl+v return")
  await until(async () => {
    await press("ctrl+s")
    return (await Bun.file(file).text()).includes(`<text:p>${long}</text:p>`)
  }, 60_000)
})
