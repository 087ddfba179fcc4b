import { afterAll, describe, expect, test } from "bun:test"
import { chromium, type Fixture, firefox, startPage } from "../fixtures/fixture.ts"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Fields that only the texts of a page name. Firefox has no objects for such texts; Chromium has. */

const FIELDS: ReadonlySet<string> = new Set(["textfield", "combobox", "datefield"])

describe.each([
  ["Firefox", firefox],
  ["Chromium", chromium],
] as const)("in %s", (_, browser) => {
  let desktop: TestDesktop
  let page: Fixture
  let window: readonly string[]
  afterAll(() => desktop?.close())

  test("a field without a label is named by the text before it, and one without such a text is not", async () => {
    desktop = await openDesktop()
    page = await startPage(desktop, browser, "texts.html")
    window = await until(async () => {
      const { json } = await desktop.run("list-windows")
      const found = json.data?.windows.find(({ title }: { title: string }) => title === page.title)
      return found && ["--window-id", found.id]
    })
    const fields = await until(async () => {
      const { json } = await desktop.run("snapshot", ...window, "--max-depth", "50")
      const content = nodesOf(json.data?.tree).find(({ role }) => role === "webarea")
      const found = content ? nodesOf(content).filter(({ role }) => FIELDS.has(role)) : []
      return found.length === 17 && found
    }, 30_000)
    const inferred = (name: string) => `${name} (inferred)`
    const nameless = undefined
    expect(fields.map(({ name, name_inferred }) => (name_inferred ? inferred(`${name}`) : name))).toEqual([
      ...["City", "Street", "Zip", "Town", "Region", "Phone", "Country", "Birth", "Notes"].map(inferred),
      nameless,
      nameless,
      inferred("Limit:"),
      "Price",
      nameless,
      nameless,
      nameless,
      inferred("Mail"),
    ])
  }, 90_000)

  test("text goes to the field with that name", async () => {
    for (const [name, id] of Object.entries({
      City: "city",
      Town: "town",
      Region: "region",
      Phone: "phone",
    })) {
      const query = ["--role", "textfield", "--name", name, "--first"]
      const { json } = await desktop.run("find", ...window, ...query)
      const { ref_id, name_inferred } = json.data.match
      expect(name_inferred).toBe(true)
      // As long as its window starts, Firefox may move the focus away. Then nothing is typed.
      const set = await until(async () => {
        const result = await desktop.run("set-value", ref_id, `Some 🙂 ${id}`, "--timeout-ms", "15000")
        return result.json.error?.details?.kind === "not_focused" ? undefined : result
      })
      expect(set.json.data?.disposition.delivery, set.stdout).toBe("delivered_verified")
      const hasAll = async () => (await page.seen("input", id)).value === `Some 🙂 ${id}`
      expect(await until(hasAll)).toBe(true)
    }
  }, 60_000)

  test("a compact snapshot prints such a text once", async () => {
    const words = ["--max-depth", "50", "--compact", "--format", "text"]
    const { stdout } = await desktop.run("snapshot", ...window, ...words)
    for (const word of ["City", "Street", "Region", "Phone"])
      expect(stdout.match(new RegExp(`"${word}"`, "g"))).toHaveLength(1)
  })
})
