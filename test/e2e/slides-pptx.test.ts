import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { deckWith, openInOffice } from "../support/office.ts"
import { until } from "../support/until.ts"

/** A table on a slide of a pptx file. Text that is written in the way that the refusal names is in the saved file. */

setDefaultTimeout(240_000)

let desktop: TestDesktop
let file: string
let window: string

beforeAll(async () => {
  desktop = await openDesktop()
  const source = `${desktop.directory}/deck.fodp`
  const rows = [
    ["Item", "Count"],
    ["Pens", "12"],
  ]
  await Bun.write(source, deckWith(rows))
  const profile = `-env:UserInstallation=file://${desktop.directory}/converter`
  const made = Bun.spawn(
    ["soffice", "--headless", profile, "--convert-to", "pptx", "--outdir", desktop.directory, source],
    { env: desktop.env, stdio: ["ignore", "ignore", "ignore"] },
  )
  await made.exited
  file = `${desktop.directory}/deck.pptx`
  window = await openInOffice(desktop, { part: "impress", file })
})
afterAll(() => desktop?.close())

const run = async (...args: readonly string[]) =>
  (await desktop.run(...args, "--window-id", window, "--timeout-ms", "60000")).json

/** The texts of the slide in the file. */
async function texts(): Promise<string> {
  const slide = Bun.spawn(["unzip", "-p", file, "ppt/slides/slide1.xml"], { stderr: "ignore" })
  const xml = await new Response(slide.stdout).text()
  return [...xml.matchAll(/<a:t>(.*?)<\/a:t>/gs)].map(([, text]) => text).join("|")
}

test("text that is typed into a table of a slide is in the saved pptx", async () => {
  expect(await texts()).toBe("Item|Count|Pens|12")
  const { ref_id } = await until(async () => {
    const { data } = await run("table")
    return data?.rows?.length === 2 ? data : undefined
  }, 60_000)
  const refused = (await run("set-cells", ref_id, "B2", "x")).error
  expect(refused).toMatchObject({ details: { kind: "not_saved" } })
  const { cell_refs } = (await run("table", ref_id, "--cells")).data
  // The slide moves when toolbars come: until it stands still, a click is refused.
  for (const verb of ["click", "double-click"])
    await until(async () => (await run(verb, cell_refs[1][1])).ok || undefined, 60_000)
  for (const combos of ["ctrl+a", "shift+l i m a", "escape"])
    expect(await run("press", combos)).toMatchObject({ ok: true })
  expect((await run("press", "ctrl+s")).ok).toBe(true)
  await until(async () => (await texts()) === "Item|Count|Pens|Lima", 90_000).catch(async () =>
    expect(await texts()).toBe("Item|Count|Pens|Lima"),
  )
})
