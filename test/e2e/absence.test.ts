import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appNamed, type StartedApp, startApp } from "../../bench/apps.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** A search says that something is absent only of what it has searched, and only of an app that is not busy. */

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop({ width: 1000, height: 700 })
})

afterAll(() => desktop?.close(), 30_000)

describe("a tree view of 100,000 rows", () => {
  let list: ReturnType<TestDesktop["spawnApp"]>
  let window: string

  beforeAll(async () => {
    list = desktop.spawnApp(
      ["/usr/bin/python3", new URL("../fixtures/big-list.py", import.meta.url).pathname, "tree", "100000"],
      { env: { FIXTURE_LOG: `${desktop.directory}/list.log` } },
    )
    window = await windowTitled("Big tree")
    await until(async () => (await found(window, "--name", "Row 1", "--exact")).total_matches === 1, 30_000)
  })

  test.each([[[]], [["--include-hidden"]]])(
    "with %j, says how many cells it did not search",
    async (more) => {
      const { complete, unsearched, ...data } = await found(window, "--name", "Row 50000", ...more)
      expect({ ...data, complete }).toEqual({ matches: [], total_matches: 0, complete: false })
      expect(unsearched.count).toBeGreaterThan(199_000)
      expect(unsearched.count).toBeLessThanOrEqual(200_002)
      expect(unsearched.in).toEqual([{ ref_id: expect.any(String), role: "table", count: unsearched.count }])
      expect(unsearched.suggestion).toContain(`agent-desktop scroll ${unsearched.in[0].ref_id} --until TEXT`)
      const { stdout } = await desktop.run(
        "find",
        "--window-id",
        window,
        "--name",
        "Row 50000",
        ...more,
        "--timeout-ms",
        "30000",
        "--format",
        "text",
      )
      expect(stdout).toStartWith(`no match\nincomplete: ${unsearched.count} elements were not searched\n`)
    },
  )

  test("the suggested step shows rows that were not searched before", async () => {
    const before = await lastRange()
    const row = `Row ${before.last + 20}`
    const { unsearched } = await found(window, "--name", row, "--exact")
    await desktop.run(...stepIn(unsearched.suggestion, row))
    await until(async () => (await lastRange()).last >= before.last + 20)
    await until(async () => (await found(window, "--name", row, "--exact")).total_matches === 1)
  })

  test("wait says the same of a text that does not appear, and of one that is gone", async () => {
    const wait = async (...args: readonly string[]): Promise<Json> =>
      (await desktop.run("wait", "--window-id", window, "--text", "Row 50000", ...args)).json
    const { error } = await wait("--timeout", "8000")
    expect(error).toMatchObject({ code: "TIMEOUT", details: { kind: "text", complete: false } })
    expect(error.message).toMatch(/; \d+ elements were not searched$/)
    const { data } = await wait("--gone")
    expect(data).toMatchObject({ found: true, complete: false })
    expect(data.unsearched.count).toBeGreaterThan(199_000)
    // It is there: the list itself shows it.
    list.stdin.write("50000\n")
    await list.stdin.flush()
    expect(await wait("--timeout", "20000")).toMatchObject({ data: { match: { name: "Row 50000" } } })
    expect((await lastRange()).first).toBeLessThanOrEqual(50_000)
  })

  /** The rows that the list itself reports as visible. */
  async function lastRange(): Promise<{ readonly first: number; readonly last: number }> {
    return until(async () => {
      const text = await Bun.file(`${desktop.directory}/list.log`).text()
      return text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .findLast(({ event }) => event === "range")
    }, 60_000)
  }
})

describe("a list of GTK 4", () => {
  const LIST = new URL("../fixtures/list-view.py", import.meta.url).pathname
  const open = async (kind: string, count: number) => {
    const app = desktop.spawnApp(["/usr/bin/python3", LIST, kind, String(count)])
    const window = await windowTitled(`GTK 4 ${kind} ${count}`)
    await until(async () => (await found(window, "--name", "Row 1", "--exact")).total_matches > 0, 30_000)
    return {
      window,
      [Symbol.asyncDispose]: async () => {
        app.kill("SIGKILL")
        await app.exited
      },
    }
  }
  const missing = async (window: string, ...more: readonly string[]): Promise<number | undefined> => {
    const { total_matches, complete, unsearched } = await found(window, "--name", "Row 9999", ...more)
    expect(total_matches).toBe(0)
    if (complete === undefined) return undefined
    expect(unsearched.suggestion).toContain(`agent-desktop scroll ${unsearched.in[0].ref_id} --until TEXT`)
    return unsearched.count
  }

  test("with widgets for some of its rows says how many it did not search", async () => {
    await using list = await open("view", 240)
    const inView = (await found(list.window, "--role", "option")).total_matches
    expect(inView).toBeLessThan(60)
    expect(await missing(list.window)).toBe(240 - inView)
    const made = (await found(list.window, "--role", "option", "--include-hidden")).total_matches
    expect(made).toBeLessThan(240)
    expect(await missing(list.window, "--include-hidden")).toBe(240 - made)
    // The suggested step leads to a row that had no widget.
    const { unsearched } = await found(list.window, "--name", "Row 239")
    const step = stepIn(unsearched.suggestion, "Row 239")
    await until(async () => {
      await desktop.run(...step)
      return (await found(list.window, "--name", "Row 239", "--exact")).total_matches > 0
    }, 60_000)
    // The list keeps a widget for its first row, which reports the place where it was.
    const { matches } = await found(list.window, "--role", "option")
    const numbers = matches.map(({ name }: Json) => Number(name.slice(4)))
    expect(numbers).toEqual(Array.from(numbers, (_, i) => 240 - numbers.length + i))
  })

  test("that shows all of its rows, or has a widget for each, is searched as a whole", async () => {
    await using short = await open("view", 12)
    expect(await missing(short.window)).toBeUndefined()
    await using box = await open("box", 230)
    expect(await missing(box.window)).toBeUndefined()
    await using longer = await open("view", 150)
    expect(await missing(longer.window, "--include-hidden")).toBeUndefined()
  })

  test("in columns says the same", async () => {
    await using grid = await open("grid", 900)
    const count = await missing(grid.window, "--include-hidden")
    // The number of lines is known, and the last of them may not be full.
    expect(count).toBeGreaterThan(500)
    expect(count).toBeLessThan(900)
  })
})

/** The command line in a suggestion, with the text to look for. */
const stepIn = (suggestion: string, text: string): readonly string[] =>
  suggestion
    .replace(/^.*agent-desktop /, "")
    .split(" ")
    .map((word) => (word === "TEXT" ? text : word))

describe("a spreadsheet", () => {
  let calc: StartedApp
  let window: string

  beforeAll(async () => {
    calc = startApp(desktop, appNamed("calc"))
    window = await until(async () => {
      calc.revive()
      return windowTitled("Calc", 5_000).catch(() => undefined)
    }, 90_000)
    // Calc does not answer in the first seconds after its start.
    await until(async () => (await cell("A1").catch(() => [])).length === 1, 60_000)
  }, 120_000)

  test("is searched while one of its cells is edited", async () => {
    await keys("key ctrl+Home", "type --delay 0 =SU")
    try {
      // Its input line shows the typed text.
      await until(async () => (await found(window, "--text", "=SU")).total_matches > 0, 20_000)
      expect(await cell("B3")).toHaveLength(1)
    } finally {
      await keys("key Escape")
    }
  })

  test("that is busy with many keys is searched when it has handled them", async () => {
    await keys("key ctrl+Home")
    await until(async () => (await cell("A1")).length === 1, 20_000)
    expect(await cell("A41", "--timeout-ms", "0")).toEqual([])
    // xdotool does not wait until the app has read its keys. The last keys bring A41 into view.
    const lines = Array.from({ length: 40 }, () => ["type --delay 0 =B1", "key --delay 0 Return"])
    await keys(...lines.flat())
    const { matches, unsearched } = await found(window, ...CELL, "A41", "--timeout-ms", "60000")
    expect({ names: matches.map((match: Json) => match.name), reason: unsearched?.reason }).toEqual({
      names: ["A41"],
      reason: expect.stringMatching(/^\d+ elements were not searched$/),
    })
  })

  const cell = async (name: string, ...more: readonly string[]): Promise<readonly string[]> => {
    const { matches } = await found(window, ...CELL, name, ...more)
    return matches.map((match: Json) => match.name)
  }

  async function keys(...lines: readonly string[]): Promise<void> {
    const command = ["xdotool", "-"]
    const typist = Bun.spawn(command, { env: { ...desktop.env }, stdin: new Blob([`${lines.join("\n")}\n`]) })
    expect(await typist.exited).toBe(0)
  }
})

const CELL = ["--exact", "--role", "cell", "--name"]

const windowTitled = (title: string, ms = 30_000): Promise<string> =>
  until(async () => {
    const { json } = await desktop.run("list-windows")
    const windows: { id: string; title: string }[] = json?.data?.windows ?? []
    return windows.find((one) => one.title.includes(title))?.id
  }, ms)

async function found(window: string, ...query: readonly string[]): Promise<Json> {
  // An app on a busy machine is busy, too, and a search of it takes longer.
  const time = query.includes("--timeout-ms") ? [] : ["--timeout-ms", "30000"]
  const { json } = await desktop.run("find", "--window-id", window, ...query, ...time)
  if (!json.ok) throw new Error(JSON.stringify(json.error))
  return json.data
}
