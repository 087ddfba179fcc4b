import { afterAll, beforeAll, expect, test } from "bun:test"
import { estimateTokens } from "../../src/look/tokens.ts"
import type { Node } from "../../src/node.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"

/** Cells of a LibreOffice sheet. The saved file proves their contents. */

let desktop: TestDesktop
let file: string
let window: string

beforeAll(async () => {
  desktop = await openDesktop()
  file = `${desktop.directory}/sheet.fods`
  await Bun.write(file, SHEET)
  // A tip of the day, which comes late on a busy machine, would take the keys.
  window = await openInOffice(desktop, { part: "calc", file })
  await cell("A1")
}, 180_000)
afterAll(() => desktop?.close())

const SHEET = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sheet">
<table:table-row>${["Item", "Price"].map(textCell).join("")}</table:table-row>
<table:table-row>${textCell("Apples")}<table:table-cell office:value-type="float" office:value="5"><text:p>5</text:p>
</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>`

function textCell(text: string): string {
  return `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
}

const cell = (name: string): Promise<string> =>
  until(async () => {
    const query = ["--window-id", window, "--role", "cell", "--name", name, "--exact", "--first"]
    return (await desktop.run("find", ...query)).json?.data?.match?.ref_id
  }, 60_000)

async function act(verb: string, name: string, ...args: readonly string[]): Promise<Json> {
  const { json } = await desktop.run(verb, await cell(name), ...args, "--timeout-ms", "60000")
  return json.data ?? json.error
}

/** No other window is on the desktop, so the sheet has the focus. */
async function press(combo: string): Promise<void> {
  const { json, stdout } = await desktop.run("press", combo)
  if (!json?.ok) throw new Error(stdout)
}

/** Saves the sheet and returns its texts, row by row, once they are as wanted. */
async function saved(wanted: readonly (readonly string[])[]): Promise<void> {
  await press("ctrl+s")
  let rows: readonly (readonly string[])[] = []
  await until(async () => {
    rows = rowsOf(await Bun.file(file).text())
    return JSON.stringify(rows) === JSON.stringify(wanted)
  }, 30_000).catch(() => expect(rows).toEqual(wanted))
}

function rowsOf(text: string): readonly (readonly string[])[] {
  const rows = text.match(/<table:table-row[^>]*>.*?<\/table:table-row>/gs) ?? []
  const texts = rows.map((row) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, facts = "", content = ""]) => {
        const shown = /<text:p>(.*?)<\/text:p>/s.exec(content)?.[1] ?? ""
        return Array<string>(Number(/columns-repeated="(\d+)"/.exec(facts)?.[1] ?? 1)).fill(shown)
      },
    ),
  )
  return texts.filter((row) => row.some(Boolean)).map((row) => row.slice(0, 3).concat("", "", "").slice(0, 3))
}

const VERIFIED = { disposition: { delivery: "delivered_verified" } }
const UNVERIFIED = { disposition: { delivery: "delivered_unverified" } }
/** While a cell is edited, LibreOffice reports its new text only sometimes. */
const DELIVERED = { disposition: { delivery: expect.stringMatching(/^delivered_(un)?verified$/) } }

test("text typed into a cell is not a failure while the cell is edited, and replaces the cell", async () => {
  for (const [name, text] of [
    ["C1", "Total"],
    ["A1", "Thing"],
  ] as const) {
    expect(await act("type", name, text)).toMatchObject({ element: { role: "cell", name }, ...DELIVERED })
    await press("return")
  }
  await saved([
    ["Thing", "Price", "Total"],
    ["Apples", "5", ""],
  ])
})

test("set-value fills cells with texts, numbers and formulas, and leaves the cell current", async () => {
  expect(await act("set-value", "A3", "Pears")).toMatchObject({ post_state: { value: "Pears" }, ...VERIFIED })
  // The app would complete it to "Pears".
  expect(await act("set-value", "A4", "Pea")).toMatchObject({ post_state: { value: "Pea" }, ...VERIFIED })
  await until(async () => (await act("get", "A4", "focused")).value === "true")
  expect(await act("set-value", "B3", "42")).toMatchObject({ post_state: { value: "42" }, ...VERIFIED })
  expect(await act("set-value", "C3", "=B2+B3")).toMatchObject(UNVERIFIED)
  await saved([
    ["Thing", "Price", "Total"],
    ["Apples", "5", ""],
    ["Pears", "42", "47"],
    ["Pea", "", ""],
  ])
})

test("set-value replaces an edit that was started, and refuses a tab", async () => {
  expect(await act("type", "B4", "12")).toMatchObject(DELIVERED)
  expect(await act("set-value", "B4", "some")).toMatchObject({ post_state: { value: "some" }, ...VERIFIED })
  expect(await act("set-value", "B4", "one\ttwo")).toMatchObject({
    details: { kind: "not_typable" },
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
  expect(await act("set-value", "B4", "any", "--input", "semantic")).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
})

test("clear empties the cell, and only this cell", async () => {
  for (const name of ["B4", "B3"])
    expect((await act("clear", name)).disposition.delivery).toStartWith("delivered_")
  await saved([
    ["Thing", "Price", "Total"],
    ["Apples", "5", ""],
    ["Pears", "", "5"],
    ["Pea", "", ""],
  ])
})

test("--changes reports only its own action, and is never long", async () => {
  await desktop.run("snapshot", "--window-id", window, "--budget", "300")
  await press("pagedown")
  const quiet = await desktop.run("press", "escape", "--changes", "--format", "text")
  expect(quiet.stdout).not.toContain("cell")
  expect(quiet.stdout.length).toBeLessThan(400)
  const moved = await desktop.run("press", "pageup", "--changes", "--format", "text")
  expect(moved.stdout).toMatch(/… \d+ more changes/)
  expect(estimateTokens(moved.stdout)).toBeLessThan(1700)
})

test("every action that a cell offers works", async () => {
  expect((await act("get", "A2", "actions")).value).toEqual([
    "Click",
    "SetValue",
    "TypeText",
    "Clear",
    "SetFocus",
  ])
})

test("text with tabs and line breaks fills a block, verified by its first cell", async () => {
  expect(await act("type", "A5", "x\ty\nv\tw\n")).toMatchObject({ post_state: { value: "x" }, ...VERIFIED })
  await saved([
    ["Thing", "Price", "Total"],
    ["Apples", "5", ""],
    ["Pears", "", "5"],
    ["Pea", "", ""],
    ["x", "y", ""],
    ["v", "w", ""],
  ])
})

test("table reads the visible texts of cells, even far out of view, and formulas on request", async () => {
  expect(await act("set-value", "C6", "=SUM(B2:B4)")).toMatchObject(UNVERIFIED)
  const read = async (...args: readonly string[]): Promise<string> =>
    (await desktop.run("table", "--window-id", window, ...args)).stdout
  const ROWS = ["Thing\tPrice\tTotal", "Apples\t5\t", "Pears\t\t5", "Pea\t\t", "x\ty\t", "v\tw\t5"]
  expect(await read("--format", "tsv")).toBe(`${ROWS.join("\n")}\n`)
  expect(await read("--range", "B5:C6", "--formulas", "--format", "csv")).toBe("y,\r\nw,=SUM(B2…\r\n")
  expect(await read("--columns", "Price,A", "--rows", "2-3", "--format", "tsv")).toBe("5\tApples\n\tPears\n")
  expect(JSON.parse(await read("--range", "XFC1048575:XFD1048576")).data).toMatchObject({
    rows: [
      ["", ""],
      ["", ""],
    ],
    first_row: 1_048_575,
    first_column: 16_383,
  })
})

test("set-cells writes texts, numbers and formulas; table and the saved file agree", async () => {
  const sheet = await cell("A1")
  const set = async (at: string, tsv: string): Promise<Json> => {
    const { json } = await desktop.run("set-cells", sheet, at, tsv, "--timeout-ms", "60000")
    return json.data ?? json.error
  }
  // A cell may have several lines.
  expect(await set("E1", "7\\n8 × 漢字")).toMatchObject({ cells: 1, ...VERIFIED })
  expect((await desktop.run("table", sheet, "--range", "E1")).json.data.rows).toEqual([["7\n8 × 漢字"]])
  await press("ctrl+s")
  await until(async () =>
    (await Bun.file(file).text()).includes("<text:p>7</text:p><text:p>8 × 漢字</text:p>"),
  )
  expect(await set("E1", "")).toMatchObject({ cells: 1 })
  expect(await set("A8", "Wörter ✓\t2.5\t=B8*2\n\t\\\\o/\t-7")).toMatchObject({
    range: "A8:C9",
    cells: 6,
    ...VERIFIED,
  })
  expect((await desktop.run("table", sheet, "--range", "A8:C9", "--format", "tsv")).stdout).toBe(
    "Wörter ✓\t2.5\t5\n\t\\\\o/\t-7\n",
  )
  // The app corrects a text that is typed; the answer says so.
  expect(await set("A9", "teh end")).toMatchObject({
    differences: [{ cell: "A9", wanted: "teh end", shows: "the end" }],
    ...UNVERIFIED,
  })
  expect(await set("A9", "")).toMatchObject({ cells: 1 })
  // Digits that a number does not keep differ. An apostrophe keeps them as a text.
  expect(await set("H1", "007\t'007\t2.50")).toMatchObject({
    differences: [{ cell: "H1", wanted: "007", shows: "7" }],
    ...UNVERIFIED,
  })
  expect(await set("H1", "\t\t")).toMatchObject({ cells: 3 })
  // The app asks about a formula with a mistake: the cell is not written, nor any behind it.
  const asked = await set("H1", "x\t=1+\tz")
  expect(asked).toMatchObject({
    code: "ACTION_FAILED",
    details: { kind: "asked", written: 1, next: "I1" },
    suggestion: expect.stringContaining(asked.details.window_id),
  })
  await until(async () => {
    await desktop.run("press", "escape", "--app", "soffice")
    const { json } = await desktop.run("list-windows")
    return json.data.windows.length === 1
  })
  await press("escape")
  expect(await set("H1", "")).toMatchObject({ cells: 1 })
  await saved([
    ["Thing", "Price", "Total"],
    ["Apples", "5", ""],
    ["Pears", "", "5"],
    ["Pea", "", ""],
    ["x", "y", ""],
    ["v", "w", "5"],
    ["Wörter ✓", "2.5", "5"],
    ["", "\\o/", "-7"],
  ])
  for (const [at, tsv, message] of [
    ["XFD1", "a\tb", "XFE1 is outside the sheet"],
    ["1A", "a", "is not the address of a cell"],
    ["A1", "one\\ttwo", "has a tab, or a line break at its start"],
    ["A1", "=1+\\n2", "or in a formula"],
  ] as const)
    expect(await set(at, tsv)).toMatchObject({
      code: "INVALID_ARGS",
      message: expect.stringContaining(message),
    })
})

test("focus on the cell that has the focus says that nothing had to be sent", async () => {
  expect(await act("focus", "A2")).toMatchObject(VERIFIED)
  expect(await act("focus", "A2")).toMatchObject({
    already: true,
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
})

test("elements behind a dialog are refused, and those on a hidden page of it are stale", async () => {
  const field = await cell("B2")
  await press("ctrl+1")
  const dialog = await until(async () => {
    const { json } = await desktop.run("list-windows")
    return json?.data?.windows.find((one: { title: string }) => one.title === "Format Cells")?.id
  }, 30_000)
  expect((await desktop.run("click", field)).json.error).toMatchObject({
    code: "ACTION_FAILED",
    details: { reason: "behind a modal dialog", window_id: dialog },
  })
  const find = (role: string, name: string): Promise<string> =>
    until(async () => {
      const query = ["--window-id", dialog, "--role", role, "--name", name, "--exact", "--first"]
      return (await desktop.run("find", ...query)).json?.data?.match?.ref_id
    }, 30_000)
  const box = await find("checkbox", "Thousands separator")
  await desktop.run("click", await find("tab", "Alignment"))
  // LibreOffice takes the page out of the window.
  const refusal = await until(async () => (await desktop.run("check", box)).json.error)
  expect(refusal).toMatchObject({ code: "STALE_REF", disposition: { delivery: "not_delivered" } })
  await desktop.run("click", await find("button", "Cancel"))
  await until(async () => (await desktop.run("click", field)).json?.ok, 30_000)
})

test("the popup of a filter is a surface, and unchecking an entry filters it", async () => {
  for (const [name, text] of [
    ["F1", "Word"],
    ["F2", "17"],
    ["F3", "18"],
  ] as const)
    await act("set-value", name, text)
  await press("ctrl+up")
  await press("ctrl+shift+l")
  await press("alt+down")
  let nodes: readonly Node[] = []
  const word = await until(async () => {
    const { json } = await desktop.run("snapshot", "--window-id", window, "--surface", "popover")
    nodes = json.ok ? nodesOf(json.data.tree) : []
    return nodes.findIndex(({ role, name }) => role === "cell" && name === "17") + 1
  }, 20_000)
  const box = nodes[word - 2]
  expect(box?.states).toContain("checked")
  await desktop.run("click", box?.ref_id ?? "")
  const button = nodes.find(({ role, name }) => role === "button" && name === "OK")
  expect((await desktop.run("click", button?.ref_id ?? "")).json.ok).toBe(true)
  await press("ctrl+s")
  await until(
    async () => /<table:table-row[^>]*visibility="filter"/.test(await Bun.file(file).text()),
    20_000,
  )
})

const nodesOf = (tree: Node): readonly Node[] => [tree, ...(tree.children ?? []).flatMap(nodesOf)]

test("the status bar has its texts", async () => {
  const { stdout } = await desktop.run("snapshot", "--window-id", window, "--format", "text", "--compact")
  expect(stdout).toContain('statictext "Sheet 1 of 1"')
})

test("the input line shows the formula of the current cell, and text typed into it is entered", async () => {
  await act("set-value", "H5", "=2+3")
  await act("focus", "H5")
  const line = ['textfield "Input line"', "--window-id", window] as const
  const shown = async (): Promise<string> =>
    (await desktop.run("get", line[0], "value", ...line.slice(1))).json.data?.value
  await until(async () => (await shown()) === "=2+3", 15_000)
  expect((await desktop.run("click", ...line)).json).toMatchObject({ ok: true, data: { method: "pointer" } })
  expect((await desktop.run("type", "@focused", "*10", "--timeout-ms", "40000")).json).toMatchObject({
    ok: true,
    data: { method: "keyboard" },
  })
  await until(async () => (await shown()) === "=2+3*10", 15_000)
  await press("return")
  await until(async () => (await act("get", "H5", "value")).value === "32", 15_000)
  await press("ctrl+s")
  await until(async () => (await Bun.file(file).text()).includes('table:formula="of:=2+3*10"'), 20_000)
  const refusal = await desktop.run("set-value", ...line.slice(0, 1), "=1", ...line.slice(1))
  expect(refusal.json.error).toMatchObject({
    details: { reason: "read-only" },
    disposition: { delivery: "not_delivered" },
  })
})

test("text typed at the focus goes into the cell that is edited", async () => {
  await act("set-value", "H6", "Ada")
  await act("focus", "H6")
  await press("f2")
  const typed = await desktop.run("type", "@focused", " Byron", "--timeout-ms", "40000")
  expect(typed.json).toMatchObject({
    ok: true,
    data: { element: { role: "cell", name: "H6" }, method: "keyboard" },
  })
  await press("return")
  await press("ctrl+s")
  await until(async () => (await Bun.file(file).text()).includes("<text:p>Ada Byron</text:p>"), 20_000)
})

test("a cell far out of view is read, clicked and written by its address, in one call each", async () => {
  const run = async (verb: string, ...args: readonly string[]): Promise<Json> =>
    (await desktop.run(verb, ...args, "--window-id", window, "--timeout-ms", "20000")).json
  expect(await run("set-value", 'cell "C700"', "Far")).toMatchObject({ ok: true, data: VERIFIED })
  const read = await run("get", 'cell "c700"', "value")
  expect(read.data).toMatchObject({ value: "Far" })
  expect(read.data.unsearched).toBeUndefined()
  expect(await run("click", 'cell "A500"')).toMatchObject({ ok: true, data: { element: { name: "A500" } } })
  // The Name Box has the address of the current cell.
  await until(
    async () => (await run("find", "--role", "textfield", "--text", "A500", "--count")).data?.count === 1,
    20_000,
  )
  expect((await run("get", 'cell "ZZZ99"', "value")).error.code).toBe("ELEMENT_NOT_FOUND")
  await press("ctrl+s")
  await until(async () => (await Bun.file(file).text()).includes("<text:p>Far</text:p>"), 20_000)
})

test("the list of fonts in the toolbar is a popover, and the font that is clicked is the one of the cell", async () => {
  const run = async (...args: readonly string[]): Promise<Json> =>
    (await desktop.run(...args, "--window-id", window, "--timeout-ms", "20000")).json
  expect((await run("click", 'cell "H6"')).ok).toBe(true)
  const { data } = await run("click", 'button in "Font Name"')
  const font = nodesOf(data.popup).find(({ name }) => name === "DejaVu Serif")
  expect(font?.ref_id).toBeDefined()
  const { surfaces } = (await desktop.run("list-surfaces", "--app", "soffice", "--timeout-ms", "20000")).json
    .data
  expect(surfaces.map(({ type }: Json) => type)).toContain("popover")
  const shown = nodesOf((await run("snapshot", "--surface", "popover")).data.tree)
  expect(shown.map(({ name }) => name)).toContain("DejaVu Serif")
  expect((await run("click", 'cell "DejaVu Serif"')).ok).toBe(true)
  await until(
    async () => (await run("get", 'textfield in "Font Name"', "value")).data?.value === "DejaVu Serif",
    20_000,
  )
  await press("ctrl+s")
  await until(async () => /font-name="DejaVu Serif1?"/.test(await Bun.file(file).text()), 20_000)
})
