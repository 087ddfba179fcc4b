import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { firefox } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** A table whose cells have the titles of their columns for names, as the message list of Thunderbird has. */

setDefaultTimeout(180_000)

const ROWS = [
  ["Invoice 11", "Ada", "6/12/26"],
  ["Report 9", "Bob", "6/10/26"],
]
const TITLES = ["Subject", "From", "Date"]
const PAGE = `<!doctype html><title>Labelled</title><table aria-label="Messages">${ROWS.map(
  (row) => `<tr>${row.map((text, at) => `<td aria-label="${TITLES[at]}">${text}</td>`).join("")}</tr>`,
).join("")}</table>`

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
  mkdirSync(`${desktop.directory}/profile`)
  const page = `${desktop.directory}/labelled.html`
  await Bun.write(page, PAGE)
  desktop.spawnApp(firefox(`${desktop.directory}/profile`, `file://${page}`).command)
}, 120_000)
afterAll(() => desktop?.close())

test("a cell that is named by its column is read by its text", async () => {
  const rows = await until(async () => {
    const { json } = await desktop.run("list-windows")
    const window = json?.data?.windows.find(({ title }: { title: string }) => title.startsWith("Labelled"))
    return (
      window && (await desktop.run("table", 'table "Messages"', "--window-id", window.id)).json?.data?.rows
    )
  }, 120_000)
  expect(rows).toEqual(ROWS)
})
