import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Node } from "../../src/node.ts"
import { answersOf, nodesOf, windowTitled } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { popupsOn } from "../support/popups.ts"
import { until } from "../support/until.ts"

/** The lists that LibreOffice drops down are popovers. The saved files prove the choices. */

let desktop: TestDesktop
let book: string
let letter: string
let calc: string
let writer: string

beforeAll(async () => {
  desktop = await openDesktop({ width: 1600 })
  book = `${desktop.directory}/book.fods`
  letter = `${desktop.directory}/letter.fodt`
  await Promise.all([Bun.write(book, BOOK), Bun.write(letter, LETTER)])
  const profile = `-env:UserInstallation=file://${desktop.directory}/office`
  desktop.spawnApp(["soffice", "--norestore", "--nologo", "--nofirststartwizard", profile, book, letter])
  calc = await titled("book.fods")
  writer = await titled("letter.fodt")
}, 120_000)
afterAll(() => desktop?.close())

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"`

const BOOK = `${HEAD} office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Sheet">
${["Fruit", "Apple", "Pear"]
  .map(
    (text) =>
      `<table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`,
  )
  .join("")}
</table:table><table:named-expressions>
<table:named-range table:name="Prices" table:base-cell-address="$Sheet.$A$1" table:cell-range-address="$Sheet.$C$7"/>
<table:named-range table:name="Totals" table:base-cell-address="$Sheet.$A$1" table:cell-range-address="$Sheet.$B$6"/>
</table:named-expressions><table:database-ranges><table:database-range table:name="Fruits"
 table:target-range-address="Sheet.A1:Sheet.A3" table:display-filter-buttons="true"/></table:database-ranges>
</office:spreadsheet></office:body></office:document>`

const LETTER = `${HEAD} office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>Hello</text:p></office:text></office:body></office:document>`

const ok = answersOf(() => desktop, 30_000)

const titled = (title: string): Promise<string> => windowTitled(ok, title, 90_000)

const surfaces = async (): Promise<readonly string[]> =>
  (await ok("list-surfaces", "--app", "soffice")).surfaces.map(({ type }: { type: string }) => type)

const popover = async (id: string): Promise<Node> =>
  (await ok("snapshot", "--window-id", id, "--surface", "popover")).tree

const refIn = (tree: Node, name: string): string =>
  nodesOf(tree).find((one) => one.name === name && one.ref_id)?.ref_id ?? ""

/** Names of the cells of a list. */
const entriesOf = (tree: Node): readonly string[] =>
  nodesOf(tree).flatMap(({ role, name }) => (role === "cell" && name ? [name] : []))

const opened = () => until(async () => (await surfaces()).includes("popover"), 20_000)
const closed = () => until(async () => (await popupsOn(desktop)).length === 0, 20_000)

/** The button that drops the list of a box in a toolbar down. LibreOffice names neither the button nor the Name Box. */
const dropDown = (id: string, isBox: (one: Node) => boolean): Promise<string> =>
  until(async () => {
    const { tree } = await ok("snapshot", "--window-id", id, "--compact")
    return nodesOf(nodesOf(tree).find(isBox) ?? { role: "group" }).find(({ role }) => role === "button")
      ?.ref_id
  }, 60_000)

/** Saves, and returns the file once it matches. */
async function saved(file: string, id: string, wanted: RegExp): Promise<string> {
  await ok("press", "ctrl+s", "--window-id", id)
  return until(async () => {
    const text = await Bun.file(file).text()
    return wanted.test(text) ? text : undefined
  }, 30_000)
}

test("the menu bar of Calc is listed once", async () => {
  await ok("focus-window", calc)
  const all = (await ok("list-surfaces", "--app", "soffice")).surfaces
  expect(
    all.filter((one: { type: string; id: string }) => one.type === "menubar" && one.id === calc),
  ).toHaveLength(1)
}, 60_000)

test("Calc's Name Box drops a list down, and the chosen range is selected", async () => {
  await ok("focus-window", calc)
  const button = await dropDown(calc, ({ children = [] }) =>
    children.some(({ role, value }) => role === "textfield" && value === "A1"),
  )
  const { popup } = await ok("click", button)
  expect(entriesOf(popup)).toEqual(expect.arrayContaining(["Prices", "Totals"]))
  await opened()
  const tree = await popover(calc)
  expect(entriesOf(tree)).toEqual(entriesOf(popup))
  await ok("click", refIn(tree, "Totals"))
  await closed()
  expect(await surfaces()).not.toContain("popover")
  await ok("type", "@focused", "here", "--window-id", calc)
  await ok("press", "return", "--window-id", calc)
  // B6: five rows above, and one cell before.
  const text = await saved(book, calc, /<text:p>here<\/text:p>/)
  const at = await ok("find", "--window-id", calc, "--role", "cell", "--name", "B6", "--exact", "--first")
  expect(at.match.value).toBe("here")
  expect(text).toMatch(
    /number-rows-repeated="2".*?<table:table-cell\/>\s*<table:table-cell[^>]*>\s*<text:p>here/s,
  )
}, 180_000)

test("Calc's AutoFilter is a popover, and a value that is unchecked there is filtered out", async () => {
  await ok("press", "ctrl+home", "--window-id", calc)
  await ok("press", "alt+down", "--window-id", calc)
  await opened()
  const tree = await popover(calc)
  expect(entriesOf(tree)).toEqual(expect.arrayContaining(["Sort Ascending", "Apple", "Pear"]))
  const row = nodesOf(tree).find(({ children = [] }) => children.some(({ name }) => name === "Apple"))
  const box = row?.children?.find(({ states }) => states?.includes("checked"))?.ref_id ?? ""
  // LibreOffice does nothing if the box is toggled through accessibility, so it gets a real click.
  expect((await ok("get", box, "actions")).value).toContain("Uncheck")
  for (const [command, state] of [
    ["uncheck", "unchecked"],
    ["check", "checked"],
    ["uncheck", "unchecked"],
  ] as const) {
    const { post_state, disposition } = await ok(command, box)
    expect(post_state.states).toContain(state)
    expect(disposition.delivery).toBe("delivered_verified")
  }
  await ok("click", refIn(tree, "OK"))
  await closed()
  expect(await saved(book, calc, /table:visibility="filter"/)).toMatch(
    /table:visibility="filter"[^>]*>.*?Apple/s,
  )
}, 180_000)

test("Writer's font name box drops a list down, and the chosen font is the text's", async () => {
  await ok("focus-window", writer)
  await ok("press", "ctrl+a", "--window-id", writer)
  const button = await dropDown(
    writer,
    ({ name, children }) => name === "Font Name" && children !== undefined,
  )
  await ok("click", button)
  await opened()
  const tree = await popover(writer)
  const fonts = nodesOf(tree).filter(
    ({ name, ref_id, states }) => name && ref_id && !states?.includes("selected"),
  )
  const font = fonts.find(({ name }) => name === "DejaVu Sans Mono") ?? fonts[0]
  await ok("click", font?.ref_id ?? "")
  await closed()
  await saved(letter, writer, new RegExp(`style:font-name="${font?.name}"`))
}, 180_000)

test("a menu item that opens a dialog is proved by it", async () => {
  const { disposition, observed, popup } = await ok("menu", "Format > Paragraph…", "--window-id", writer)
  expect(disposition.delivery).toBe("delivered_verified")
  await titled("Paragraph")
  if (popup) expect(observed).toBe("a dialog opened")
  await ok("press", "escape", "--app", "soffice")
}, 120_000)
