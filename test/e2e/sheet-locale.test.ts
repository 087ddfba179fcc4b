import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"

/** Numbers in a sheet of another language. The saved file shows which cells hold numbers. */

setDefaultTimeout(240_000)

let desktop: TestDesktop
let window: string
let file: string
beforeAll(async () => {
  desktop = await openDesktop()
  file = `${desktop.directory}/numbers.xlsx`
  python("new")
  window = await openInOffice(desktop, { part: "calc", file, locale: "de-DE" })
}, 240_000)
afterAll(() => desktop?.close())

const SAVED = new URL("../fuzz/saved.py", import.meta.url).pathname
const python = (verb: string): string =>
  Bun.spawnSync(["/usr/bin/python3", SAVED, verb, file]).stdout.toString()

test("a number that the sheet reads as text is reported as a difference, and a number in the sheet's format is not", async () => {
  const ref: string = await until(async () => {
    const { json } = await desktop.run("table", "--window-id", window, "--range", "A1")
    return json?.data?.ref_id
  }, 120_000)
  const args = ["set-cells", ref, "A1", "1.5\t2,5\t3\t'4,5\t05", "--timeout-ms", "120000"]
  const { json } = await desktop.run(...args)
  expect(json.data?.differences ?? json.error).toEqual([
    { cell: "A1", wanted: "1.5", shows: "1.5", is: "text" },
    { cell: "E1", wanted: "05", shows: "5" },
  ])
  expect(json.data.disposition.delivery).toBe("delivered_unverified")
  expect((await desktop.run("press", "ctrl+s", "--window-id", window)).json.ok).toBe(true)
  const cells = await until(() => {
    const read = JSON.parse(python("read") || "{}")
    return read.E1 ? read : undefined
  }, 60_000)
  expect(cells).toMatchObject({
    A1: { text: "1.5" },
    B1: { number: 2.5 },
    C1: { number: 3 },
    D1: { text: "4,5" },
    E1: { number: 5 },
  })
})
