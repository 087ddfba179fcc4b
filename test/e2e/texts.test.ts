import { afterAll, describe, expect, test } from "bun:test"
import { chromium, type Fixture, firefox, startPage } from "../fixtures/fixture.ts"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Texts of a page, and the fields that only they name. Firefox has no objects for such texts; Chromium has. */

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
      // While its window starts, Firefox may move the focus away. Then nothing is typed.
      const set = await until(async () => {
        const result = await desktop.run("set-value", ref_id, `Some 🙂 ${id}`, "--timeout-ms", "15000")
        return result.json.error?.details?.kind === "not_focused" ? undefined : result
      })
      expect(set.json.data?.disposition.delivery, set.stdout).toBe("delivered_verified")
      const hasAll = async () => (await page.seen("input", id)).value === `Some 🙂 ${id}`
      expect(await until(hasAll)).toBe(true)
    }
  }, 60_000)

  test("a box without a label is named by the text behind it, or before it", async () => {
    const { json } = await desktop.run("snapshot", ...window, "--max-depth", "50")
    const boxes = nodesOf(json.data?.tree).filter(({ role }) => role === "checkbox" || role === "radiobutton")
    expect(boxes.map(({ name, name_inferred }) => [name, name_inferred])).toEqual([
      ["I agree", true],
      ["I know", true],
      [undefined, undefined],
      ["Newsletter", true],
      ["Red", true],
      ["Green", true],
      ["Left", true],
      ["Right", true],
    ])
    for (const [name, id] of Object.entries({ Newsletter: "news", Green: "green", Right: "right" })) {
      const role = name === "Green" ? "radiobutton" : "checkbox"
      const { json, stdout } = await desktop.run("click", `${role} "${name}"`, ...window)
      expect(json.ok, `${name} ${stdout}`).toBe(true)
      expect(await until(async () => (await page.seen("click", id)) !== undefined)).toBe(true)
    }
  }, 60_000)

  test("text directly in the page is in the tree, and a click on it uses the pointer", async () => {
    const { stdout } = await desktop.run("snapshot", ...window, "--max-depth", "50", "--format", "text")
    const lines = stdout.split("\n").map((line) => line.trim().replace(/ \[@e\d+\]$/, ""))
    const start = lines.indexOf('statictext "Loose words"')
    // Chromium has a text in the link, and one for each line break.
    const shown = lines.slice(start).filter((line) => line !== "statictext")
    expect(shown.slice(0, 4)).toEqual([
      'statictext "Loose words"',
      'link "and a link"',
      'statictext "between 🙂 them"',
      'statictext "A line of its own"',
    ])
    const { json } = await desktop.run("click", 'statictext "A line of its own"', ...window)
    expect(json.data?.method).toBe("pointer")
    expect(await until(async () => (await page.seen("click", "BODY")) !== undefined)).toBe(true)
  }, 60_000)

  test("text directly in the page is not clicked if an element of the page covers it", async () => {
    const { json } = await desktop.run("click", 'statictext "Covered words"', ...window)
    expect(json.error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("button Cover"),
      disposition: { delivery: "not_delivered" },
    })
  }, 60_000)

  test("a compact snapshot prints such a text once", async () => {
    const words = ["--max-depth", "50", "--compact", "--format", "text"]
    const { stdout } = await desktop.run("snapshot", ...window, ...words)
    for (const word of ["City", "Street", "Region", "Phone", "Newsletter", "Loose words"])
      expect(stdout.match(new RegExp(`"${word}"`, "g"))).toHaveLength(1)
  })
})
