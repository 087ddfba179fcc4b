import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Apps that are killed while a cell is edited in place, and two agents that edit cells of one table at once. */

setDefaultTimeout(180_000)

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop?.close())

const KINDS = ["gtk3", "qt6"] as const
type Kind = (typeof KINDS)[number]

const TABLE = {
  name: "Edit",
  header: ["First", "Second"],
  rows: Array.from({ length: 6 }, (_, row) => [`a${row}`, `b${row}`]),
  editable: true,
}

/** Starts an app with this table alone. */
async function start(kind: Kind, more: object = {}) {
  const name = `${kind}-${Object.values(more)[0] ?? "plain"}`
  const [file, log] = [`${desktop.directory}/${name}.json`, `${desktop.directory}/${name}.log`]
  await Bun.write(file, JSON.stringify([{ ...TABLE, ...more }]))
  const script = new URL("../fixtures/tables.py", import.meta.url).pathname
  const app = desktop.spawnApp(["/usr/bin/python3", script, kind, file], { env: { FIXTURE_LOG: log } })
  const run = async (...args: readonly string[]): Promise<Json> =>
    (await desktop.run(...args, "--app", `tables-${kind}`, "--timeout-ms", "60000")).json
  await until(async () => (await run("table", "--rows", "1")).ok, 60_000)
  /** The texts that the app's model got. */
  const edits = async (): Promise<readonly Json[]> => {
    const text = await Bun.file(log)
      .text()
      .catch(() => "")
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  }
  return { app, run, edits }
}

describe.each(KINDS)("in %s", (kind) => {
  test.each(["opening", "typing", "ending"])(
    "an app that dies while the editor of a cell is %s got the text at most once, and nothing claims more",
    async (dies) => {
      const { app, run, edits } = await start(kind, { dies })
      const { data, error } = await run("set-value", 'cell "a2"', "new")
      await app.exited
      const written = await edits()
      expect(written).toEqual(dies === "ending" ? [{ table: "Edit", row: 2, column: 0, text: "new" }] : [])
      // Return was pressed in one case only. In the others, the program cannot prove that it was not.
      expect(data ?? error).toMatchObject({
        code: "ACTION_FAILED",
        details: { kind: "app_ended", signal: "SIGKILL" },
        disposition: { delivery: "delivery_uncertain" },
      })
    },
  )

  test("two agents that write cells of one table at once lose, double and misplace nothing", async () => {
    const { app, run, edits } = await start(kind)
    const set = (at: string, tsv: string): Promise<Json> => run("set-cells", "table", at, tsv)
    const [left, right] = await Promise.all([set("A1", "w\nx\ny"), set("B1", "1\n2\n3")])
    for (const { data, error } of [left, right])
      expect(data ?? error).toMatchObject({ cells: 3, disposition: { delivery: "delivered_verified" } })
    const cells = (await edits()).map(({ row, column, text }) => [column, row, text])
    expect(cells.toSorted()).toEqual([
      [0, 0, "w"],
      [0, 1, "x"],
      [0, 2, "y"],
      [1, 0, "1"],
      [1, 1, "2"],
      [1, 2, "3"],
    ])
    expect((await run("table", "--rows", "1-4")).data.rows).toEqual([
      ["w", "1"],
      ["x", "2"],
      ["y", "3"],
      ["a3", "b3"],
    ])
    // Both write the same cell: each text gets there at most once, and one of them stays.
    const both = await Promise.all([set("A5", "one"), set("A5", "two")])
    const isDone = ({ data }: Json): boolean => data?.disposition.delivery === "delivered_verified"
    expect(both.some(isDone)).toBe(true)
    for (const { data, error } of both)
      expect((data ?? error).disposition.delivery).toMatch(/^(delivered_verified|not_delivered)$/)
    const same = (await edits()).filter(({ row }) => row === 4).map(({ text }) => text)
    expect(same).toHaveLength(both.filter(isDone).length)
    expect((await run("table", "--range", "A5")).data.rows).toEqual([[same.at(-1)]])
    app.kill("SIGKILL")
    await app.exited
  })
})
