import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import type { Rect } from "../../src/node.ts"
import { type Fixture, startRows } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

const NOT_DELIVERED = { delivery: "not_delivered", retry: "safe" }
const AWAY = ["mouse-move", "--xy", "1200,1000"]

let desktop: TestDesktop
let app: Fixture

beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop.close())

interface Node {
  readonly ref_id?: string
  readonly role?: string
  readonly name?: string
  readonly bounds?: Rect
  readonly children?: readonly Node[]
}

const all = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(all)]

async function refOf(name: string, of = "rows.py"): Promise<string> {
  return until(async () => {
    const { json } = await desktop.run("snapshot", "--app", of)
    const ref = json?.ok && all(json.data.tree).find((node) => node.name === name && node.ref_id)?.ref_id
    return ref && `@${json.data.snapshot_id}:${ref.slice(1)}`
  })
}

/** Runs a command with a long timeout, because other tests may keep the machine busy. */
const act = async (...args: readonly string[]): Promise<Json> =>
  (await desktop.run(...args, "--timeout-ms", "30000")).json

/** The app's own note of what was done to the rows of a table since the last call of `forget`. */
const done = async (table: string): Promise<readonly (readonly [string, unknown])[]> =>
  (await app.events())
    .slice(forgotten)
    .filter(({ event, name }) => name === table && event !== "done")
    .map(({ event, value }) => [event, value])

let forgotten = 0
const forget = async (): Promise<void> => {
  forgotten = (await app.events()).length
}

const start = async (): Promise<void> => {
  app = await startRows(desktop)
  forgotten = 0
}

/** The commands that act on a row. */
const COMMANDS = ["click", "double-click", "right-click"] as const

describe("rows that a click on a header has sorted", () => {
  beforeAll(async () => {
    await start()
    // GTK 3 keeps the texts from here on.
    await refOf("big.bin")
    expect(await act("click", await refOf("Size"))).toMatchObject({ ok: true })
  })
  beforeEach(forget)

  test("are shown by a snapshot with a warning", async () => {
    const snapshot = await act("snapshot", "--app", "rows.py")
    expect(snapshot.data.note).toContain("another order on the screen")
    const found = await act("find", "--app", "rows.py", "--name", "big.bin", "--first")
    expect(found.data).toMatchObject({ match: { name: "big.bin" }, note: snapshot.data.note })
    const { data } = await act("snapshot", "--app", "rows.py", "--diff")
    expect(data).toMatchObject({ changes: {}, note: snapshot.data.note })
    expect((await act("find", "--app", "rows.py", "--name", "Fixture rows")).data.note).toBeUndefined()
  })

  test("are shown by table with a warning", async () => {
    const { data } = await act("table", await refOf("big.bin"))
    expect(data.doubt).toContain("do not report that their rows were reordered")
  })
  afterAll(() => void process.kill(app.pid))

  for (const command of [...COMMANDS, "drag", "focus", "press x --to"])
    for (const name of ["big.bin", "alpha.txt", "delta.png"]) {
      test(`${command} refuses "${name}" if the screen shows another row`, async () => {
        const to = command === "drag" ? ["--to-xy", "600,900"] : []
        const { ok, error } = await act(...command.split(" "), await refOf(name), ...to)
        expect({ ok, error }).toMatchObject({
          ok: false,
          error: {
            code: "ACTION_FAILED",
            disposition: NOT_DELIVERED,
            suggestion: expect.stringContaining("screenshot"),
          },
        })
        expect(await done("Shares")).toEqual([])
      })
    }

  test("a row whose visible text matches its reported text can be clicked", async () => {
    const ref = await refOf("c")
    await forget()
    // "c" is the third by name and the second by size; "alpha.txt" is third now.
    expect(await act("click", ref)).toMatchObject({ ok: false })
    expect(await act("click", await refOf("Name"))).toMatchObject({ ok: true })
    await forget()
    expect(await act("click", await refOf("c"))).toMatchObject({
      ok: true,
      data: { disposition: { delivery: "delivered_verified" } },
    })
    expect((await done("Shares")).at(-1)).toEqual(["select", ["c"]])
  })

  test("a row whose texts are as long as those of another is not verified", async () => {
    await refOf("IMG_1.jpg")
    const bytes = await act("click", await refOf("Bytes"))
    expect(bytes).toMatchObject({ ok: true, data: { doubt: expect.stringContaining("screenshot") } })
    const { ok, data, error } = await act("click", await refOf("IMG_1.jpg"))
    expect({ ok, error, data }).toMatchObject({
      ok: true,
      data: {
        disposition: { delivery: "delivered_unverified" },
        doubt: expect.stringContaining("screenshot"),
      },
    })
  })

  test("an app that reports the new order is trusted", async () => {
    expect(await act("click", await refOf("Weight"))).toMatchObject({ ok: true })
    for (const name of ["first.odt", "second.odt", "third.odt"]) {
      const ref = await refOf(name)
      await forget()
      const isAlike = name !== "second.odt"
      expect(await act("click", ref)).toMatchObject({
        ok: true,
        data: { disposition: { delivery: isAlike ? "delivered_unverified" : "delivered_verified" } },
      })
      expect(await done("Files")).toEqual([["select", [name]]])
    }
  })
})

describe("rows in the order in which they were read", () => {
  beforeAll(start)
  beforeEach(forget)
  afterAll(() => void process.kill(app.pid))

  test("a click in a table that can be sorted hits its row, and leaves no doubt about the order", async () => {
    for (const name of ["big.bin", "zeta.tar", "alpha.txt", "c"]) {
      const ref = await refOf(name)
      expect((await act("snapshot", "--app", "rows.py")).data.note).toBeUndefined()
      await forget()
      const { ok, data, error } = await act("click", ref)
      expect({ ok, error, data }).toMatchObject({
        ok: true,
        data: {
          method: "pointer",
          disposition: { delivery: "delivered_verified" },
        },
      })
      expect((await done("Shares")).at(-1)).toEqual(["select", [name]])
    }
  })

  test("a click in a table that cannot be sorted is verified", async () => {
    const { ok, data } = await act("click", await refOf("Call"))
    expect(ok).toBe(true)
    expect(data).toMatchObject({ disposition: { delivery: "delivered_verified" } })
    expect(data.doubt).toBeUndefined()
    expect(await done("Tasks")).toEqual([["select", ["Call"]]])
  })

  test("a double click opens its row alone, whatever else is selected", async () => {
    await app.command({ do: "only", at: [3, 4] })
    await forget()
    const ref = await refOf("c")
    expect(await act("double-click", ref)).toMatchObject({ ok: true, data: { method: "pointer" } })
    await until(async () => (await done("Shares")).some(([event]) => event === "activate"))
    expect(await done("Shares")).toEqual([
      ["select", ["c"]],
      ["activate", "c"],
    ])
    expect(await act("double-click", ref, "--input", "semantic")).toMatchObject({
      ok: false,
      error: { code: "ACTION_NOT_SUPPORTED", disposition: NOT_DELIVERED },
    })
  })

  test("a right click hits its row", async () => {
    expect(await act("right-click", await refOf("delta.png"))).toMatchObject({ ok: true })
    expect(await done("Shares")).toContainEqual(["menu", "delta.png"])
  })

  test("a row that the pointer is on, or below, can be clicked", async () => {
    for (const name of ["zeta.tar", "zeta.tar", "one.txt", "alpha.txt"]) {
      const ref = await refOf(name)
      expect(await act("right-click", ref)).toMatchObject({ ok: true })
      expect((await done("Shares")).findLast(([event]) => event === "menu")).toEqual(["menu", name])
    }
  })
})

describe("rows that the app has reversed", () => {
  beforeAll(async () => {
    await start()
    await refOf("Call")
    await app.command({ do: "turn" })
  })
  beforeEach(forget)
  afterAll(() => void process.kill(app.pid))

  for (const command of COMMANDS)
    test(`${command} refuses a row that shows something else`, async () => {
      await desktop.run(...AWAY)
      const { ok, error } = await act(command, await refOf("Buy milk"))
      expect({ ok, error }).toMatchObject({
        ok: false,
        error: { code: "ACTION_FAILED", disposition: NOT_DELIVERED },
      })
      expect(await done("Tasks")).toEqual([])
    })

  test("a click on a row with texts of the same lengths is not verified, although a user cannot sort the table", async () => {
    await app.command({ do: "turn" })
    await app.command({ do: "swap" })
    await forget()
    expect(await act("click", await refOf("Sleep"))).toMatchObject({
      ok: true,
      data: {
        disposition: { delivery: "delivered_unverified" },
        doubt: expect.stringContaining("screenshot"),
      },
    })
    // The click reached the row that shows there. The program could not know that.
    expect(await done("Tasks")).toEqual([["select", ["Paint"]]])
  })
})

describe("Thunar's icons, which are in no tree", () => {
  const title = async (): Promise<string | undefined> =>
    (await act("list-windows")).data.windows.find((one: Json) => one.app_name === "thunar")?.title

  beforeAll(async () => {
    const home = `${desktop.directory}/home/icons`
    mkdirSync(`${home}/Letters`, { recursive: true })
    writeFileSync(`${home}/one.txt`, "1")
    desktop.spawnApp(["thunar", home])
    await until(async () => (await title())?.startsWith("icons"))
    await act("press", "ctrl+1", "--app", "thunar")
  })
  afterAll(() => act("press", "ctrl+q", "--app", "thunar"))

  test("their view has a ref, and an error about a file says how to see it", async () => {
    const canvas = await until(async () => {
      const { data } = await act("snapshot", "--app", "thunar", "-i")
      return data && all(data.tree).find(({ role }) => role === "canvas")?.ref_id
    })
    expect((await act("right-click", canvas)).data.menu).toBeDefined()
    await act("press", "escape", "--app", "thunar")
    const { error } = (await desktop.run("click", '"one.txt"', "--app", "thunar", "--timeout-ms", "2000"))
      .json
    expect(error.code).toBe("ELEMENT_NOT_FOUND")
    expect(error.suggestion).toMatch(/@e\d+, a canvas, .*'screenshot --window-id w-\d+'/)
  })

  test("keys reach them", async () => {
    await act("type", "canvas", "Letters", "--app", "thunar")
    // The first key ends the search for a name, the second one opens the match.
    await act("press", "return", "--app", "thunar")
    await act("press", "return", "--app", "thunar")
    await until(async () => (await title())?.startsWith("Letters"))
  })
})

describe("Thunar, which sorts its rows without reporting it to GTK", () => {
  const title = async (): Promise<string | undefined> =>
    (await act("list-windows")).data.windows.find((one: Json) => one.app_name === "thunar")?.title

  /** The ref of an element of Thunar by its name. */
  const named = (name: string): Promise<string> => refOf(name, "thunar")

  beforeAll(async () => {
    const home = `${desktop.directory}/home/files`
    mkdirSync(`${home}/Folder`, { recursive: true })
    const sizes = {
      "biggest.bin": 3_000_000,
      "delta.png": 40_000,
      "one.txt": 1,
      "two.txt": 2,
      "alphabet.txt": 30,
    }
    for (const [name, size] of Object.entries(sizes)) writeFileSync(`${home}/${name}`, Buffer.alloc(size))
    desktop.spawnApp(["thunar", home])
    await until(async () => (await title())?.startsWith("files"))
    // The view with columns.
    await act("press", "ctrl+2", "--app", "thunar")
    await named("biggest.bin")
  })

  test("a double click opens its row alone, whatever else is selected", async () => {
    expect(await act("click", await named("one.txt"))).toMatchObject({ ok: true })
    await act("key-down", "ctrl")
    expect(await act("click", await named("two.txt"))).toMatchObject({ ok: true })
    await act("key-up", "ctrl")
    expect(await act("double-click", await named("Folder"))).toMatchObject({ ok: true })
    await until(async () => (await title())?.startsWith("Folder"))
    await act("press", "alt+up", "--app", "thunar")
    await until(async () => (await title())?.startsWith("files"))
    await named("biggest.bin")
    const { data } = await act("snapshot", "--app", "thunar")
    expect(data.note).toBeUndefined()
  })

  test("no row is clicked that shows another file after a sort", async () => {
    await named("biggest.bin")
    expect(await act("click", await named("Size"))).toMatchObject({
      ok: true,
      data: { doubt: expect.stringContaining("screenshot") },
    })
    for (const name of ["biggest.bin", "alphabet.txt", "delta.png"])
      expect(await act("click", await named(name))).toMatchObject({
        ok: false,
        error: { code: "ACTION_FAILED", disposition: NOT_DELIVERED },
      })
    const sorted = await act("snapshot", "--app", "thunar")
    expect(sorted.data.note).toContain("another order on the screen")
    // The folder is the first in every order.
    const { ok, data } = await act("click", await named("Folder"))
    expect(ok).toBe(true)
    expect(data.doubt).toBeUndefined()
  })
})
