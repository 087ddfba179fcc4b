import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { deckWith } from "../support/office.ts"
import { until } from "../support/until.ts"

/** A table on a slide of Impress. The saved file proves what was written. */

setDefaultTimeout(180_000)

let desktop: TestDesktop
let file: string
let window: string

beforeAll(async () => {
  desktop = await openDesktop()
  file = `${desktop.directory}/deck.fodp`
  await Bun.write(file, deckWith(ROWS))
  const profile = `-env:UserInstallation=file://${desktop.directory}/office`
  desktop.spawnApp(["soffice", "--norestore", "--nologo", "--nofirststartwizard", profile, "--impress", file])
  window = await until(async () => {
    const { json } = await desktop.run("list-windows")
    const windows: { id: string; title: string }[] = json?.data?.windows ?? []
    const tip = windows.find(({ title }) => title.startsWith("Tip of the Day"))
    if (tip) await desktop.run("click", 'button "OK"', "--window-id", tip.id)
    return tip ? undefined : windows.find(({ title }) => title.startsWith("deck.fodp"))?.id
  }, 120_000)
}, 180_000)
afterAll(() => desktop?.close())

const ROWS = [
  ["Item", "Count"],
  ["Pens", "12"],
  ["", ""],
]
/** The texts of the cells in the file, once it has been saved and fits. */
async function saved(wanted: readonly string[]): Promise<void> {
  expect((await desktop.run("press", "ctrl+s", "--window-id", window)).json.ok).toBe(true)
  await until(async () => {
    const [table = ""] = /<table:table>.*?<\/table:table>/s.exec(await Bun.file(file).text()) ?? []
    const cells = [...table.matchAll(/<table:table-cell[^>]*?(?:\/>|>(.*?)<\/table:table-cell>)/gs)]
    const texts = cells.map(([, text = ""]) => text.replaceAll(/<[^>]*>|\n\s*/g, ""))
    return texts.join("|") === wanted.join("|") || undefined
  }, 60_000)
}

const run = async (...args: readonly string[]) =>
  (await desktop.run(...args, "--window-id", window, "--timeout-ms", "60000")).json

test("a table on a slide is read; writing it is refused with a way that works, which the saved file shows", async () => {
  const { ref_id, rows } = await until(async () => {
    const { data } = await run("table")
    return data?.rows?.length === 3 ? data : undefined
  }, 60_000)
  expect(rows).toEqual(ROWS)
  expect((await run("table", ref_id, "--range", "B3:B3")).data.rows).toEqual([[""]])
  expect((await run("set-cells", ref_id, "B2", "x")).error).toMatchObject({
    details: { kind: "not_saved" },
    disposition: { delivery: "not_delivered" },
    suggestion: expect.stringContaining(
      "double-click REF, press ctrl+a, press 'shift+l i m a', press escape",
    ),
  })
  const { cell_refs } = (await run("table", ref_id, "--cells")).data
  for (const [ref, keys] of [
    [cell_refs[1][1], "7 space x"],
    [cell_refs[2][0], "shift+l i m a"],
  ]) {
    // The slide moves when toolbars come: until it stands still, a click is refused.
    for (const verb of ["click", "double-click"])
      await until(async () => (await run(verb, ref)).ok || undefined, 30_000)
    for (const combos of ["ctrl+a", keys, "escape"])
      expect(await run("press", combos)).toMatchObject({ ok: true })
  }
  await saved(["Item", "Count", "Pens", "7 x", "Lima", ""])
})

test("set-value in a cell of a slide is refused, since the app would not save it", async () => {
  const { data } = await run("find", "--role", "textfield", "--value", "Pens", "--first")
  expect((await run("set-value", data.match.ref_id, "x")).error).toMatchObject({
    details: { kind: "not_saved" },
    suggestion: expect.stringContaining("double-click"),
    disposition: { delivery: "not_delivered" },
  })
  expect((await run("table")).data.rows[1][0]).toBe("Pens")
})
