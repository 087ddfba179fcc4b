import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { chromium, firefox } from "../fixtures/fixture.ts"
import { openDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Grids of pages that show only some of their rows, and count all of them with aria-rowcount and aria-rowindex. */

const row = (index: number, role: string, ...cells: readonly string[]): string =>
  `<div role="row" aria-rowindex="${index}">${cells.map((cell) => `<span role="${role}">${cell}</span>`).join("")}</div>`

const PAGE = `<title>Counted rows</title><div role="grid" aria-label="Scrolled" aria-rowcount="501">
${row(1, "columnheader", "Name", "Size")}${row(101, "gridcell", "row 100", "1")}${row(102, "gridcell", "row 101", "2")}</div>
<div role="grid" aria-label="Top" aria-rowcount="3">${row(1, "columnheader", "Name")}${row(2, "gridcell", "row 1")}</div>
<div role="grid" aria-label="Bare" aria-rowcount="9">${row(5, "gridcell", "row 5")}</div>`

test.each([
  ["Chromium", chromium],
  ["Firefox", firefox],
] as const)(
  "in %s the rows of a grid have the numbers that the page counts, from below the header",
  async (_, browser) => {
    await using desktop = await openDesktop()
    const page = `${desktop.directory}/counted.html`
    const profile = `${desktop.directory}/profile`
    await Bun.write(page, PAGE)
    mkdirSync(profile)
    desktop.spawnApp(browser(profile, `file://${page}`).command)
    const read = async (name: string, ...args: readonly string[]): Promise<Json> =>
      (await desktop.run("table", `table "${name}"`, ...args)).json?.data
    // A page that is being loaded reports its attributes last.
    const whole = await until(async () => {
      const data = await read("Scrolled", "--header")
      return data?.row_count > 2 ? data : undefined
    }, 60_000)
    const rows = [
      ["row 100", "1"],
      ["row 101", "2"],
    ]
    expect(whole).toMatchObject({ header: ["Name", "Size"], rows, row_count: 500, first_row: 100 })
    expect((await read("Scrolled", "--rows", "100-101")).rows).toEqual(rows)
    expect(await read("Top")).toMatchObject({ rows: [["row 1"]], row_count: 2, first_row: 1 })
    expect(await read("Bare")).toMatchObject({ rows: [["row 5"]], row_count: 9, first_row: 5 })
  },
  180_000,
)
