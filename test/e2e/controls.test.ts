import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Node } from "../../src/node.ts"
import { chromium, type Fixture, firefox, startBlind, startControls, startPage } from "../fixtures/fixture.ts"
import { nodesOf } from "../support/answers.ts"
import { openDesktop, type RunResult, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Controls that a user can act on and that toolkits describe badly. The log of the page or program proves each effect. */

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
}, 60_000)
afterAll(() => desktop?.close())

class Stage {
  readonly fixture: Fixture
  readonly id: string

  constructor(fixture: Fixture, id: string) {
    this.fixture = fixture
    this.id = id
  }

  static async of(fixture: Fixture): Promise<Stage> {
    const id = await until(async () => {
      const { json } = await desktop.run("list-windows")
      return json.data.windows.find((one: { title: string }) => one.title === fixture.title)?.id
    }, 60_000)
    return new Stage(fixture, id)
  }

  run(command: string, target: string, ...args: readonly string[]): Promise<RunResult> {
    const where = target.startsWith("@") ? [] : ["--window-id", this.id]
    return desktop.run(command, target, ...args, ...where, "--timeout-ms", "20000")
  }

  async ok(command: string, target: string, ...args: readonly string[]) {
    const { json, stdout } = await this.run(command, target, ...args)
    if (!json?.ok) throw new Error(`${command} ${target} ${args.join(" ")}: ${stdout}`)
    return json.data
  }

  async nodes(): Promise<readonly Node[]> {
    const { json } = await desktop.run(
      "snapshot",
      "--window-id",
      this.id,
      "--max-depth",
      "50",
      "--include-bounds",
    )
    return nodesOf(json.data.tree)
  }

  /** The values that a control has had, in the order of the log. */
  async values(name: string): Promise<readonly unknown[]> {
    const events = await this.fixture.events()
    return events.filter((one) => one.event === "value" && one.name === name).map(({ value }) => value)
  }
}

describe.each([
  ["Chromium", chromium],
  ["Firefox", firefox],
] as const)("in %s", (name, browser) => {
  const isChromium = name === "Chromium"
  let page: Stage
  beforeAll(async () => {
    page = await Stage.of(await startPage(desktop, browser, "controls.html"))
    await until(async () => (await page.nodes()).some((node) => node.name === "Heat"), 60_000)
  }, 120_000)
  afterAll(() => page && process.kill(page.fixture.pid))

  const fields: readonly (readonly [string, string])[] = [
    ["Day", "1985-12-10"],
    // From January 31st: on the way there it is a day that the month does not have.
    ["Due", "2023-02-28"],
    ["Alarm", "00:05"],
    ["Lap", "12:00:07"],
    ["Start", "2026-01-31T23:45"],
    ...(isChromium
      ? ([
          ["Month", "2024-11"],
          ["Week", "2020-W53"],
        ] as const)
      : []),
  ]
  test.each(fields)("the field %s accepts %s and shows it", async (field, value) => {
    const target = `datefield "${field}"`
    const done = await page.ok("set-value", target, value)
    expect(done.post_state.value).toBe(value)
    expect(done).toMatchObject({ focused: true, disposition: { delivery: "delivered_verified" } })
    expect(await until(async () => (await page.values(field)).at(-1) === value)).toBe(true)
    expect((await page.ok("set-value", target, value)).already).toBe(true)
  })

  test("a date that does not exist, or a part that the field lacks, is refused before any key", async () => {
    const before = await page.values("Day")
    for (const [field, value] of [
      ["Day", "1985-02-30"],
      ["Day", "tomorrow"],
      ["Alarm", "09:05:07"],
    ] as const) {
      const { json } = await page.run("set-value", `datefield "${field}"`, value)
      expect(json.error).toMatchObject({
        code: "ACTION_FAILED",
        details: { kind: "not_a_date" },
        disposition: { delivery: "not_delivered" },
      })
    }
    const semantic = await page.run("set-value", 'datefield "Day"', "2020-01-01", "--input", "semantic")
    expect(semantic.json.error.code).toBe("ACTION_NOT_SUPPORTED")
    expect(await page.values("Day")).toEqual(before)
  })

  test("clear empties a date", async () => {
    expect((await page.ok("clear", 'datefield "Due"')).post_state.value).toBe("")
    expect(await until(async () => (await page.values("Due")).at(-1) === "")).toBe(true)
  })

  test("a number that a page has built is set by its own steps, one key each", async () => {
    expect((await page.ok("set-value", 'slider "Heat"', "24")).disposition.delivery).toBe(
      "delivered_verified",
    )
    expect(await page.values("Heat")).toEqual([21, 22, 23, 24])
    expect((await page.ok("set-value", 'incrementor "Guests"', "1")).post_state.value).toBe("1")
    expect(await page.values("Guests")).toEqual([1])
    expect((await page.ok("set-value", 'incrementor "Guests"', "1")).already).toBe(true)
    expect((await page.ok("set-value", 'slider "Coarse"', "35")).post_state.value).toBe("35")
    expect(await page.values("Coarse")).toEqual([25, 30, 35])
  })

  test("a number out of range gets no key, one between two steps is taken back, and a slider that ignores keys is reported", async () => {
    const beyond = await page.run("set-value", 'incrementor "Guests"', "9")
    expect(beyond.json.error.details).toMatchObject({ kind: "out_of_range", max: 8 })
    expect(await page.values("Guests")).toEqual([1])
    const between = await page.run("set-value", 'slider "Coarse"', "42")
    expect(between.json.error.details).toEqual({ kind: "out_of_step", step: 5, nearest: 40 })
    expect(await until(async () => (await page.values("Coarse")).length === 5)).toBe(true)
    expect(await page.values("Coarse")).toEqual([25, 30, 35, 40, 35])
    const deaf = await page.run("set-value", 'slider "Deaf"', "30")
    expect(deaf.json.error.details.kind).toBe("contradicted")
  })

  test("a row of a treegrid is expanded and collapsed, and every row has a ref", async () => {
    const rows = (await page.nodes()).filter(({ role }) => role === "row")
    expect(rows.map((row) => [row.name, row.ref_id !== undefined])).toEqual([
      ["Inbox 3", true],
      ["Sent 1", true],
    ])
    expect((await page.ok("expand", 'row "Inbox 3"')).disposition.delivery).toBe("delivered_verified")
    expect((await page.ok("expand", 'row "Inbox 3"')).already).toBe(true)
    expect((await page.ok("collapse", 'row "Inbox 3"')).disposition.delivery).toBe("delivered_verified")
    const events = (await page.fixture.events()).filter(({ event }) => event === "expand")
    expect(events.map(({ value }) => value)).toEqual(["true", "false"])
  })

  test("a canvas has a ref, and a click hits its middle", async () => {
    const canvas = (await page.nodes()).find(({ role }) => role === "canvas")?.ref_id
    await page.ok("click", canvas ?? "")
    expect((await page.fixture.seen("canvas")).value).toEqual([60, 30])
  })

  // On the bus, Firefox does not mark elements that can be dragged.
  test.if(isChromium)("an element that can be dragged has a ref, and is dragged", async () => {
    const nodes = await page.nodes()
    const card = nodes.find((node) => node.ref_id && nodesOf(node).some(({ value }) => value === "Card"))
    expect((await desktop.run("get", card?.ref_id ?? "", "actions")).json.data.value).toContain("Drag")
    const place = nodes.find(({ value }) => value === "Drop here")?.bounds ?? { x: 0, y: 0 }
    const to = `${place.x + 20},${place.y + 5}`
    expect((await desktop.run("drag", card?.ref_id ?? "", "--to-xy", to)).json.ok).toBe(true)
    expect((await page.fixture.seen("drop")).value).toBe("card")
  })
})

describe("in GTK 3", () => {
  let app: Stage
  beforeAll(async () => {
    app = await Stage.of(await startControls(desktop, "gtk3"))
  }, 60_000)
  afterAll(() => app && process.kill(app.fixture.pid))

  test("a check cell has its state, and is toggled", async () => {
    const marks = async () => (await app.nodes()).filter(({ role, name }) => role === "cell" && !name)
    const states = async () => (await marks()).map((cell) => cell.states?.find((one) => /checked$/.test(one)))
    expect(await states()).toEqual(["unchecked", "checked", "unchecked"])
    const [bread, cheese] = (await marks()).map(({ ref_id = "" }) => ref_id)
    await app.ok("check", bread ?? "")
    expect(await app.fixture.seen("toggled", "Bread")).toMatchObject({ value: true })
    expect((await app.ok("check", bread ?? "")).already).toBe(true)
    await app.ok("toggle", cheese ?? "")
    expect(await app.fixture.seen("toggled", "Cheese")).toMatchObject({ value: false })
    expect((await app.run("toggle", cheese ?? "", "--input", "semantic")).json.error.code).toBe(
      "ACTION_NOT_SUPPORTED",
    )
    expect((await app.fixture.events()).filter(({ event }) => event === "toggled")).toHaveLength(2)
    expect(await states()).toEqual(["checked", "unchecked", "unchecked"])
  })

  test("a combo box says whether it is open, and expand and collapse open and close it once", async () => {
    const combo = (await app.nodes()).find(({ role }) => role === "combobox")
    expect(combo?.states).toContain("collapsed")
    const ref = combo?.ref_id ?? ""
    const opened = await app.ok("expand", ref)
    expect(opened.post_state.states).toContain("expanded")
    expect(nodesOf(opened.popup).flatMap(({ role, name }) => (role === "menuitem" ? [name] : []))).toEqual([
      "Small",
      "Large",
    ])
    expect((await app.ok("expand", ref)).already).toBe(true)
    expect((await app.ok("collapse", ref)).post_state.states).toContain("collapsed")
    const events = (await app.fixture.events()).filter(({ event }) => event === "popup")
    expect(events.map(({ value }) => value)).toEqual([true, false])
  })
})

test("a button of GTK 4 that chooses a colour is a colorwell, and opens its dialog", async () => {
  const app = await Stage.of(await startControls(desktop, "gtk4"))
  try {
    const well = (await app.nodes()).find(({ role }) => role === "colorwell")
    await app.ok("click", well?.ref_id ?? "")
    await until(async () =>
      (await desktop.run("list-windows")).json.data.windows.some(
        ({ title }: { title: string }) => title === "Pick one",
      ),
    )
  } finally {
    process.kill(app.fixture.pid)
  }
})

test("for a Tk form, the error names the toolkit and the commands that still work, and they do", async () => {
  const app = await Stage.of(await startBlind(desktop))
  try {
    for (const command of [["snapshot"], ["find", "--name", "Save"], ["click", "button"]]) {
      const { json } = await desktop.run(...command, "--window-id", app.id, "--timeout-ms", "20000")
      expect(json.error).toMatchObject({ code: "PLATFORM_NOT_SUPPORTED" })
      expect(json.error.message).toContain("it is built with Tk, which has no accessibility support")
      expect(json.error.suggestion).toContain(`type @focused TEXT --window-id ${app.id}`)
      expect(json.error.suggestion).not.toContain("launch")
    }
    await app.ok("type", "@focused", "by sight")
    expect((await desktop.run("press", "return", "--window-id", app.id)).json.ok).toBe(true)
    expect((await app.fixture.seen("saved")).value).toBe("by sight")
  } finally {
    process.kill(app.fixture.pid)
  }
})
