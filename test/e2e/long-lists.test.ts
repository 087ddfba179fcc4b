import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chromium } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Rows of long lists, which have no objects before they are scrolled to. The apps log the row that an action hit. */

setDefaultTimeout(180_000)

const FIXTURES = new URL("../fixtures/", import.meta.url).pathname
/** Lists of the web and of GTK 4 are searched by scrolling through them; the others answer by row and column. */
const LISTS = [
  { kind: "gtk3", rows: 1500, row: 1200, isSearchedWhole: true },
  { kind: "qt6", rows: 1500, row: 1200, isSearchedWhole: true },
  { kind: "gtk4", rows: 1000, row: 700, isSearchedWhole: false },
  { kind: "web", rows: 80, row: 60, isSearchedWhole: false },
] as const
type Kind = (typeof LISTS)[number]["kind"]

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
  for (const { kind, rows } of LISTS) start(kind, rows)
})
afterAll(() => desktop?.close())

const logOf = (kind: Kind): string => `${desktop.directory}/long-${kind}.log`

function start(kind: Kind, rows: number): void {
  const page = `file://${FIXTURES}long-list.html?rows=${rows}&counted`
  desktop.spawnApp(
    kind === "web"
      ? chromium(`${desktop.directory}/long-profile`, page).command
      : ["/usr/bin/python3", `${FIXTURES}long-list.py`, kind, String(rows)],
    { env: { FIXTURE_LOG: logOf(kind) } },
  )
}

const windowOf = (kind: Kind): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows")
    return json?.data?.windows.find(({ title }: { title: string }) => title.startsWith(`Long list ${kind}`))
      ?.id
  }, 60_000)

const run = async (...args: readonly string[]): Promise<Json> =>
  (await desktop.run(...args, "--timeout-ms", "90000")).json

/** The ref of the only table, once a row shows. */
async function tableOf(window: string): Promise<string> {
  let answer = ""
  const ref = async (): Promise<string | undefined> => {
    const { json, stdout } = await desktop.run("table", "--window-id", window)
    answer = stdout
    return /^Row \d+$/.test(json?.data?.rows?.[0]?.[0]) ? json.data.ref_id : undefined
  }
  return until(ref, 60_000).catch(() => {
    throw new Error(`No row in 60 s, but ${answer.slice(0, 500)}`)
  })
}

/** The rows that the app says were chosen or deleted. */
const hits = async (kind: Kind, window: string): Promise<string> =>
  kind === "web"
    ? String(
        (await run("find", "--window-id", window, "--text", "deleted", "--first")).data?.match?.value ?? "",
      )
    : Bun.file(logOf(kind))
        .text()
        .catch(() => "")

describe.each(LISTS)("in $kind", ({ kind, row, isSearchedWhole }) => {
  test("a list is scrolled until a row shows a text, and only searched rows are reported to lack it", async () => {
    const window = await windowOf(kind)
    const table = await tableOf(window)
    const { data, error } = await run("scroll", table, "--until", `Value ${row}`, "--exact")
    expect(data?.found ?? error).toMatchObject({
      texts: expect.arrayContaining([`Row ${row}`, `Value ${row}`]),
    })
    if (isSearchedWhole) expect(data.found.row).toBe(row + 1)
    // The row is in view, and its ref means it.
    const ref: string = data.found.ref_id
    expect((await run("get", ref, "name")).data.value).toMatch(new RegExp(`^(Row|Value) ${row}`))
    expect((await run("is", ref, "visible")).data.result).toBe(true)
    // GTK 4 keeps the row with the focus, which is the first one.
    const missing = await run("scroll", table, "--until", "Row 2", "--exact")
    expect(missing.error).toMatchObject({
      code: "ELEMENT_NOT_FOUND",
      details: { kind: "no_row" },
      suggestion: expect.stringContaining(`scroll ${table} up --until`),
    })
    const back = await run("scroll", table, "up", "--until", "Row 0", "--exact")
    expect(back.data?.found ?? back.error).toMatchObject({ texts: expect.arrayContaining(["Row 0"]) })
    const { rows } = (await run("table", "--window-id", window)).data
    expect(rows[0][0]).toBe("Row 0")
  })

  test("find looks in rows with a text, and a target acts in the row, which is scrolled to", async () => {
    const window = await windowOf(kind)
    await tableOf(window)
    const inRow = await run("find", "--window-id", window, "--in-row", "Row 1", "--exact", "--role", "cell")
    const names = inRow.data.matches.map(({ name }: { name: string }) => name).slice(0, 2)
    // Without a match, show the rows in view: they explain it.
    const seen = names.length > 0 ? names : { ...inRow, table: await run("table", "--window-id", window) }
    expect(seen).toEqual(["Row 1", "Value 1"])
    const ofAnyRole = await run("find", "--window-id", window, "--in-row", "Row 1", "--exact")
    expect(ofAnyRole.data.matches.map(({ name }: { name: string }) => name)).toContain("Value 1")
    const has = isSearchedWhole ? 'cell "Value %" in "Row %"' : 'button "Delete" in "Row %"'
    const target = has.replaceAll("%", String(row))
    const before = await hits(kind, window)
    const { ok, data, error } = await run("click", target, "--window-id", window)
    expect(ok ? data.disposition.delivery : error).toStartWith("delivered")
    const fresh = async (): Promise<string> => (await hits(kind, window)).slice(before.length)
    const done = await until(async () => (await fresh()) || undefined, 20_000)
    // No other row was hit.
    expect([...new Set(done.match(/Row \d+/g))]).toEqual([`Row ${row}`])
  })
})

test("a target in a row that has no such element is refused, and nothing is clicked", async () => {
  const window = await windowOf("gtk3")
  const before = await hits("gtk3", window)
  const { json } = await desktop.run("click", 'cell "Value 9" in "Row 2"', "--window-id", window)
  expect(json.error).toMatchObject({ code: "ELEMENT_NOT_FOUND", disposition: { delivery: "not_delivered" } })
  expect(await hits("gtk3", window)).toBe(before)
})
