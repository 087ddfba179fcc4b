import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chromium, type Fixture, firefox, startPage } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Fields that are scrolled out of view, and that only the texts beside them name. The log of the page decides. */

describe.each([
  ["Firefox", firefox],
  ["Chromium", chromium],
] as const)("in %s", (name, browser) => {
  let desktop: TestDesktop
  let page: Fixture
  let window: readonly string[]
  afterAll(() => desktop?.close())

  const run = async (...args: readonly string[]) =>
    (await desktop.run(...args, ...window, "--timeout-ms", "20000")).json

  beforeAll(async () => {
    desktop = await openDesktop()
    page = await startPage(desktop, browser, "far-fields.html")
    window = await until(async () => {
      const { json } = await desktop.run("list-windows")
      const found = json.data?.windows.find(({ title }: { title: string }) => title === page.title)
      return found && ["--window-id", found.id]
    }, 60_000)
  })

  test("find names them by the texts beside them, and an empty number is empty", async () => {
    // While it starts, Firefox has fields without the texts around them.
    const grams = await until(async () => {
      const match = (await run("find", "--role", "incrementor", "--first")).data?.match
      return match?.name && match
    })
    expect(grams).toMatchObject({ name: "Grams", name_inferred: true, value: "" })
    expect(grams.states).toContain("offscreen")
    const { match } = (await run("find", "--role", "checkbox", "--first")).data
    expect(match).toMatchObject({ name: "Send me news", name_inferred: true })
  })

  test.each([
    ["set-value", 'incrementor "Grams"', ["250"], "grams", "250"],
    ["select", 'combobox "Kind"', ["Gouda"], "kind", "Gouda"],
    ["check", 'checkbox "Send me news"', [], "news", true],
  ] as const)("%s %s reaches its field in one call", async (command, target, args, id, value) => {
    const { ok, data, error } = await run(command, target, ...args)
    expect(ok ? data.disposition.delivery : error).toBe("delivered_verified")
    // A number is reported when its field loses the focus.
    await run("press", "tab")
    expect(await until(async () => (await page.seen("change", id)).value === value)).toBe(true)
  })

  test("the pointer reaches a control that is above a box which comes later in the page", async () => {
    const { ok, data, error } = await run("check", 'radiobutton "Above"', "--input", "physical")
    expect(ok ? data.disposition.delivery : error).toBe("delivered_verified")
    expect(await until(async () => (await page.seen("change", "above")).value === "on")).toBe(true)
  })

  test("scroll-to brings a text directly in the page into view, although an object beside it is higher", async () => {
    const words = 'statictext "Words above a high box"'
    const isInView = async () =>
      (await desktop.run("snapshot", ...window, "--max-depth", "50", "--format", "text")).stdout.includes(
        words,
      )
    await run("scroll-to", 'checkbox "Send me news"')
    expect(await until(async () => !(await isInView()))).toBe(true)
    const { ok, data, error } = await run("scroll-to", words)
    expect(ok ? data.disposition.delivery : error).toBe("delivered_verified")
    expect(await until(isInView)).toBe(true)
  })

  // Chromium shows the page in a window without an address bar.
  test.if(name === "Firefox")(
    "@focused is the address bar as soon as it has the focus, although the page still has one",
    async () => {
      await run("focus", 'incrementor "Grams"')
      await run("press", "ctrl+l")
      const { data, error } = await run("get", "@focused", "name")
      expect(data?.value ?? error).toMatch(/address/i)
    },
  )
})
