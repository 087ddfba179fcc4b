import { afterAll, beforeAll, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** LibreOffice writes no log, so the effect of a command is read from the saved file. */

let desktop: TestDesktop
let file: string
let window: string

beforeAll(async () => {
  desktop = await openDesktop()
  file = `${desktop.directory}/letter.fodt`
  await Bun.write(file, LETTER)
  const profile = `-env:UserInstallation=file://${desktop.directory}/office`
  desktop.spawnApp(["soffice", "--norestore", "--nologo", "--nofirststartwizard", profile, "--writer", file])
  window = await windowTitled("letter.fodt")
  await until(() => refOf(window, "--value", "First"), 60_000)
})
afterAll(() => desktop?.close())

const LETTER = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>First</text:p>
<table:table table:name="Orders"><table:table-column table:number-columns-repeated="2"/>
${[
  ["Item", "Price"],
  ["Apple", "1.20"],
  ["Pear", ""],
]
  .map(
    (row) =>
      `<table:table-row>${row.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join("")}</table:table-row>`,
  )
  .join("")}
</table:table><text:p/></office:text></office:body></office:document>`

const windowTitled = (title: string): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows")
    const windows: { id: string; title: string }[] = json?.data?.windows ?? []
    return windows.find((one) => one.title.includes(title))?.id
  }, 60_000)

async function refOf(id: string, ...query: readonly string[]): Promise<string | undefined> {
  const { json } = await desktop.run("find", "--window-id", id, ...query, "--first")
  return json?.data?.match?.ref_id
}

const seen = (id: string, role: string, name: string): Promise<string> =>
  until(() => refOf(id, "--role", role, "--name", name, "--exact"), 20_000)

/** Runs a command and returns its result. Throws unless the result says that the effect was seen. */
async function act(...args: readonly string[]): Promise<{ readonly method: string }> {
  const { json, stdout } = await desktop.run(...args, "--timeout-ms", "15000")
  if (json?.data?.disposition.delivery !== "delivered_verified") throw new Error(stdout)
  return json.data
}

/** Saves the document and returns its text once it matches. */
async function saved(wanted: RegExp): Promise<string> {
  expect((await desktop.run("press", "ctrl+s", "--app", "soffice")).json.ok).toBe(true)
  return until(async () => {
    // LibreOffice may put text into spans even if they look the same.
    const text = (await Bun.file(file).text()).replaceAll(/<\/?text:span[^>]*>/g, "")
    return wanted.test(text) ? text : undefined
  }, 30_000)
}

test("text in a document is typed, set, cleared and typed again, each time once", async () => {
  const paragraph = (await refOf(window, "--value", "First")) ?? ""
  expect((await act("type", paragraph, "Né ✓ ")).method).toStartWith("atspi:")
  await saved(/>Né ✓ (<text:s\/>)?First</)
  expect((await act("set-value", paragraph, "Zwei 日本")).method).toStartWith("atspi:")
  await saved(/>Zwei 日本</)
  await act("clear", paragraph)
  await act("type", paragraph, "Drei")
  const text = await saved(/>Drei</)
  expect(text.match(/Drei/g)).toHaveLength(1)
  expect((await act("type", paragraph, "vier", "--input", "physical")).method).toBe("keyboard")
  await saved(/>(Dreivier|vierDrei)</i)
})

test("a table in a document is read, written and saved, and a block that does not fit is refused before anything is written", async () => {
  const table = async () => (await desktop.run("table", "--window-id", window)).json.data
  const { ref_id, rows } = await until(async () => {
    const read = await table()
    return read?.rows?.length === 3 ? read : undefined
  })
  expect(rows).toEqual([
    ["Item", "Price"],
    ["Apple", "1.20"],
    ["Pear", ""],
  ])
  const set = async (at: string, tsv: string) => (await desktop.run("set-cells", ref_id, at, tsv)).json
  expect((await set("B3", "a\tb")).error).toMatchObject({
    code: "ACTION_NOT_SUPPORTED",
    message: expect.stringContaining("The table has no cell C3"),
    details: { kind: "not_writable", cells: ["C3"] },
    disposition: { delivery: "not_delivered" },
  })
  await act("set-cells", ref_id, "A3", 'Plum "ü"\t0.75')
  expect((await table()).rows[2]).toEqual(['Plum "ü"', "0.75"])
  const inRow = ["find", "--window-id", window, "--in-row", "Plum", "--role", "cell"]
  expect((await desktop.run(...inRow)).json.data.matches.map(({ name }: { name: string }) => name)).toContain(
    "B3",
  )
  await saved(/<text:p[^>]*>Plum (?:"|&quot;)ü(?:"|&quot;)<\/text:p>.*<text:p[^>]*>0\.75<\/text:p>/s)
})

test("a toggle button in the toolbar is checked, left alone if already checked, and unchecked", async () => {
  const bold = await seen(window, "button", "Bold")
  await act("check", bold)
  const { json } = await desktop.run("check", bold)
  expect(json.data).toMatchObject({ method: "none", disposition: { delivery: "not_delivered" } })
  await act("uncheck", bold)
  await act("toggle", bold)
  await act("click", bold)
})

test("a dialog is opened from a menu, filled in through different kinds of controls, and accepted", async () => {
  await act("click", await seen(window, "menuitem", "Format"))
  expect((await desktop.run("wait", "--menu", "--app", "soffice", "--timeout", "20000")).json.ok).toBe(true)
  const { json } = await desktop.run("snapshot", "--window-id", window, "--surface", "menu")
  const item = flatten(json.data.tree).find(({ name }) => /^Paragraph/.test(name ?? ""))
  await act("click", item?.ref_id ?? "")
  const dialog = await windowTitled("Paragraph")
  await act("set-value", await seen(dialog, "incrementor", "Before text:"), "1.5")
  await act("check", await seen(dialog, "checkbox", "Automatic"))
  await act("click", await seen(dialog, "tab", "Alignment"))
  await act("check", await seen(dialog, "radiobutton", "Center"))
  await act("click", await seen(dialog, "button", "OK"))
  const text = await saved(/fo:text-align="center"/)
  expect(text).toMatch(/fo:margin-left="1.5in"/)
  expect(text).toMatch(/style:auto-text-indent="true"/)
})

test("a colour that is selected in a palette is the one that the document gets", async () => {
  await act("click", await seen(window, "menuitem", "Format"))
  expect((await desktop.run("wait", "--menu", "--app", "soffice", "--timeout", "20000")).json.ok).toBe(true)
  const { json } = await desktop.run("snapshot", "--window-id", window, "--surface", "menu")
  const item = flatten(json.data.tree).find(({ name }) => /^Page Style/.test(name ?? ""))
  await act("click", item?.ref_id ?? "")
  const dialog = await windowTitled("Page Style")
  await act("click", await seen(dialog, "tab", "Area"))
  await act("click", await seen(dialog, "button", "Color"))
  // A selection through accessibility marks the colour in the palette, but does not reach the dialog.
  expect((await act("select", await seen(dialog, "listbox", "Custom Palette"), "Light Green 2")).method).toBe(
    "pointer",
  )
  await act("click", await seen(dialog, "button", "OK"))
  await saved(/draw:fill-color="#77bc65"/i)
})

interface Printed {
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Printed[]
}

const flatten = (node: Printed): readonly Printed[] => [node, ...(node.children ?? []).flatMap(flatten)]
