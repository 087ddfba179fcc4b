import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { firefox, startFixture, startPage, TOOLKITS } from "../fixtures/fixture.ts"
import { nodesOf } from "../support/answers.ts"
import { CHROMIUM } from "../support/chromium.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** A ref that was just given answers: every ref of every window is asked right after its snapshot. */

/** A batch has a limit. */
const AT_ONCE = 200

/** The refs of a window that do not answer, each with the error. */
async function silentRefs(desktop: TestDesktop, id: string, flags: readonly string[]): Promise<Json> {
  const { json } = await desktop.run("snapshot", "--window-id", id, "--timeout-ms", "60000", ...flags)
  const { tree, snapshot_id, complete } = json.data
  expect(complete).toBe(true)
  const nodes = nodesOf(tree).filter((one) => one.ref_id)
  expect(nodes.length).toBeGreaterThan(0)
  const silent: Json[] = []
  for (let i = 0; i < nodes.length; i += AT_ONCE) {
    const part = nodes.slice(i, i + AT_ONCE)
    const items = part.map(({ ref_id }) => ({
      command: "get",
      args: { ref_id: `@${snapshot_id}:${ref_id?.slice(1)}`, property: "role" },
    }))
    const asked = await desktop.run("batch", JSON.stringify(items), "--timeout-ms", "200000")
    for (const [at, { ok, error }] of (asked.json.data.results as Json[]).entries())
      if (!ok) silent.push({ ...part[at], children: undefined, error: `${error.code}: ${error.message}` })
  }
  return silent
}

/** The window whose app and title, such as "gedit: Untitled", match. */
const windowOf = (desktop: TestDesktop, fits: RegExp): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows", "--timeout-ms", "20000")
    const windows: readonly Listed[] = json?.data?.windows ?? []
    return windows.find((one) => fits.test(`${one.app_name}: ${one.title}`))?.id
  }, 60_000)

interface Listed {
  readonly id: string
  readonly app_name: string
  readonly title: string
}

/** Asks until all refs answer: an app that is starting replaces its elements between the snapshot and the questions. */
async function expectAnswers(desktop: TestDesktop, id: string, flags: readonly string[]): Promise<void> {
  let last: Json
  await until(async () => {
    // The tree of a starting app may not be complete yet.
    last = await silentRefs(desktop, id, flags).catch((error: unknown) => [String(error)])
    return last.length === 0
  }, 60_000).catch(() => {})
  expect(last).toEqual([])
}

const LOOKS: readonly [what: string, flags: readonly string[]][] = [
  ["of what is shown", []],
  ["with all that is hidden", ["--include-hidden"]],
]

describe.each([...TOOLKITS, "firefox"] as const)("the fixture of %s", (toolkit) => {
  let desktop: TestDesktop
  let id: string
  beforeAll(async () => {
    desktop = await openDesktop()
    const fixture =
      toolkit === "firefox" ? await startPage(desktop, firefox) : await startFixture(desktop, toolkit)
    id = await windowOf(desktop, new RegExp(fixture.title))
  }, 60_000)
  afterAll(() => desktop?.close())

  test.each(LOOKS)("every ref answers, %s", (_, flags) => expectAnswers(desktop, id, flags), 200_000)
})

describe("stock apps", () => {
  let desktop: TestDesktop
  beforeAll(async () => {
    desktop = await openDesktop()
    mkdirSync(`${desktop.directory}/office`)
    await Bun.write(`${desktop.directory}/sheet.fods`, SHEET)
    await Bun.write(`${desktop.directory}/shop.html`, SHOP)
  })
  afterAll(() => desktop?.close())

  test.each<[app: string, title: RegExp, command: (directory: string) => string[]]>([
    ["mousepad", /Mousepad/, () => ["mousepad"]],
    ["gnome-calculator", /Calculator/, () => ["gnome-calculator"]],
    ["gedit", /gedit/, () => ["gedit"]],
    ["gnome-text-editor", /Text Editor/, () => ["gnome-text-editor"]],
    ["gtk4-widget-factory", /gtk4-widget-factory/, () => ["gtk4-widget-factory"]],
    ["gtk3-widget-factory", /gtk3-widget-factory/, () => ["gtk3-widget-factory"]],
    ["featherpad", /FeatherPad/, () => ["featherpad", "--standalone"]],
    ["kcalc", /KCalc/, () => ["kcalc"]],
    ["a page with lists in Chromium", /Shop - Chromium/, (directory) => [...shopIn(directory)]],
    [
      "LibreOffice Calc",
      /sheet.fods/,
      (directory) => [
        "soffice",
        "--norestore",
        "--nologo",
        `-env:UserInstallation=file://${directory}/office`,
        `${directory}/sheet.fods`,
      ],
    ],
  ])(
    "every ref of %s answers",
    async (app, title, command) => {
      const running = desktop.spawnApp(command(desktop.directory))
      const id = await windowOf(desktop, title)
      await expectAnswers(desktop, id, [])
      if (WITH_HIDDEN.has(app)) await expectAnswers(desktop, id, ["--include-hidden"])
      running.kill()
    },
    240_000,
  )
})

/**
 * The others have thousands of hidden elements that keep them busy for minutes, or, like gedit, hidden look-alikes
 * without any difference.
 */
const WITH_HIDDEN: ReadonlySet<string> = new Set([
  "mousepad",
  "gnome-calculator",
  "a page with lists in Chromium",
])

const shopIn = (directory: string): readonly string[] => [
  ...CHROMIUM,
  "--window-size=700,500",
  `--user-data-dir=${directory}/chromium`,
  `file://${directory}/shop.html`,
]

const SHOP = `<title>Shop</title><h1>Shop</h1><ul></ul><ol></ol><table></table><script>
for (let i = 1; i <= 40; i++) {
  for (const list of ["ul", "ol"])
    document.querySelector(list).insertAdjacentHTML("beforeend", \`<li>Article \${i} <button>Buy</button></li>\`)
  document.querySelector("table").insertAdjacentHTML("beforeend",
    \`<tr><td>\${i}</td><td>Article</td><td><button>Buy</button></td></tr>\`)
}
</script>`

const SHEET = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>
  <table:table table:name="Sheet1"><table:table-row><table:table-cell office:value-type="string"><text:p>Region</text:p>
  </table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>`
