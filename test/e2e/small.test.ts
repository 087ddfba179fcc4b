import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base"
import type { Node, Rect } from "../../src/node.ts"
import { type Fixture, startFixture, type Toolkit } from "../fixtures/fixture.ts"
import { nodesOf, windowTitled } from "../support/answers.ts"
import { openDesktop, type RunResult, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** The cost of snapshots of real apps. A smaller snapshot must still be enough to act. */

const tokens = (text: string): number => Math.max(o200k(text).length, cl100k(text).length)

describe.each<Toolkit>(["gtk3", "gtk4", "qt6", "web"])("%s", (toolkit) => {
  let desktop: TestDesktop
  let fixture: Fixture
  let id: string

  const run = (...args: string[]): Promise<RunResult> => desktop.run(...args, "--timeout-ms", "20000")
  const ok = async (...args: string[]): Promise<Json> => {
    const { json, stdout } = await run(...args)
    if (!json?.ok) throw new Error(`${args.join(" ")}: ${stdout}`)
    return json.data
  }
  const snapshot = (...args: string[]) => ok("snapshot", "--window-id", id, ...args)
  const refOf = async (name: string): Promise<string> => {
    const node = nodesOf((await snapshot()).tree).find((one) => one.name === name && one.ref_id)
    if (!node?.ref_id) throw new Error(`Nothing to act on is named ${name}`)
    return node.ref_id
  }

  beforeAll(async () => {
    desktop = await openDesktop()
    fixture = await startFixture(desktop, toolkit)
    id = await windowTitled(ok, fixture.title, 30_000)
    // A window that is still being filled differs from one snapshot to the next.
    await until(async () => {
      await snapshot()
      return Object.keys((await ok("snapshot", "--diff")).changes).length === 0
    }, 30_000)
  })
  afterAll(() => desktop?.close())

  test.each([150, 300, 800])("a budget of %i tokens is kept as text and as JSON", async (budget) => {
    for (const format of ["text", "json"]) {
      const { stdout } = await run(
        "snapshot",
        "--window-id",
        id,
        "--budget",
        String(budget),
        "--format",
        format,
      )
      expect(tokens(stdout)).toBeLessThanOrEqual(budget)
      expect(tokens(stdout)).toBeGreaterThan(budget / 2)
    }
  })

  test("two snapshots of the same window are equal except for the snapshot id", async () => {
    const looks = await Promise.all(
      [1, 2].map(
        async () => (await run("snapshot", "--window-id", id, "--budget", "300", "--format", "text")).stdout,
      ),
    )
    const [one, two] = looks.map((text) => text.replace(/ s[a-z2-7]{8} /, " "))
    expect(one).toBe(two!)
  })

  test("an element that --budget or --skeleton leaves out is found with --root and clicked", async () => {
    await fixture.command({ do: "reset" })
    for (const flags of [["--budget", "250"], ["--skeleton"]]) {
      const { tree, snapshot_id } = await snapshot(...flags)
      let found: Node | undefined
      const cut = nodesOf(tree).filter((node) => node.ref_id && node.children_count)
      for (const node of cut.filter(({ role }) => role !== "window")) {
        const below = await ok("snapshot", "--root", node.ref_id!, "-i")
        expect(below.snapshot_id).toBe(snapshot_id)
        found ??= nodesOf(below.tree).find(({ name }) => name === "Press me")
      }
      found ??= nodesOf(tree).find(({ name }) => name === "Press me")
      if (!found)
        found = nodesOf((await ok("snapshot", "--root", cut[0]!.ref_id!)).tree).find(
          ({ name }) => name === "Press me",
        )
      const before = (await fixture.events()).filter(({ event }) => event === "press").length
      await ok("click", found!.ref_id!)
      await until(
        async () => (await fixture.events()).filter(({ event }) => event === "press").length > before,
      )
    }
  })

  test("-i --compact keeps every element that has a ref", async () => {
    const refs = (tree: Node) =>
      nodesOf(tree).flatMap(({ ref_id, name }) => (ref_id ? [`${ref_id} ${name}`] : []))
    expect(refs((await snapshot("-i", "--compact")).tree)).toEqual(refs((await snapshot()).tree))
  })

  test("--diff reports changes made by the app, and earlier refs stay valid", async () => {
    await fixture.command({ do: "reset" })
    const agree = await refOf("Agree")
    await fixture.command({ do: "enable", name: "Press me", value: false })
    const { changed } = await until(async () => {
      const { changes } = await ok("snapshot", "--diff", "-i")
      return changes.changed && changes
    })
    expect(changed.find(({ name }: Node) => name === "Press me").states).toContain("disabled")
    await fixture.command({ do: "enable", name: "Press me", value: true })
    await ok("check", agree)
    expect((await fixture.seen("check", "Agree")).value).toBe(true)
  })

  test("--changes reports the effect of an action on its target and elsewhere in the window", async () => {
    await fixture.command({ do: "reset" })
    const { changes } = await ok("check", await refOf("Agree"), "--changes")
    const agree = changes.changed.find(({ name }: Node) => name === "Agree")
    expect(agree.states).toContain("checked")
    expect(agree.was.states).toContain("unchecked")
    // The fixture shows the event in its status line. In the page, that line is below the visible part.
    if (toolkit !== "web") expect(JSON.stringify(changes)).toMatch(/check Agree/)
    expect(changes.settled).toBeUndefined()
    expect(changes.removed).toBeUndefined()
  })

  test("--changes shows the dialog that a click opens whole, and nothing that it covers as gone", async () => {
    await fixture.command({ do: "reset" })
    const { changes, disposition } = await ok("click", await refOf("Open dialog"), "--changes")
    expect(disposition.delivery).toBe("delivered_verified")
    expect(changes.removed).toBeUndefined()
    const trees: Node[] = [...(changes.added ?? []), ...(changes.opened ?? []).map(({ tree }: Json) => tree)]
    const cancel = trees.flatMap(nodesOf).find(({ name }) => name === "Cancel")
    await ok("click", cancel?.ref_id ?? "")
    expect(await fixture.seen("dialog", "Confirm")).toMatchObject({ value: "cancel" })
    await fixture.command({ do: "reset" })
  })

  test("--annotate draws a box at the place of each element", async () => {
    await fixture.command({ do: "reset" })
    await ok("focus-window", id)
    const { tree } = await snapshot("--include-bounds")
    const { bounds: window } = (await ok("list-windows")).windows.find((one: { id: string }) => one.id === id)
    const path = `${desktop.directory}/marked.png`
    await ok("screenshot", path, "--window-id", id, "--annotate")
    for (const name of ["Press me", "Agree"]) {
      const { x, y, width, height } = nodesOf(tree).find((one) => one.name === name && one.ref_id)!
        .bounds as Rect
      // The lower edge of the box, which is drawn in one of six strong colours.
      const colours = await pixels(path, x - window.x + width / 4, y - window.y + height - 1, width / 2)
      expect(new Set(colours).size).toBeLessThanOrEqual(2)
      expect(COLOURS).toContain(colours[0]!)
    }
  })
})

const COLOURS = ["#C2185B", "#1565C0", "#2E7D32", "#6A1B9A", "#BF360C", "#00695C"]

/** The colours of a row of pixels, read by ImageMagick. */
async function pixels(path: string, x: number, y: number, count: number): Promise<string[]> {
  const area = `${Math.round(count)}x1+${Math.round(x)}+${Math.round(y)}`
  const child = Bun.spawn(["convert", path, "-crop", area, "+repage", "-depth", "8", "txt:-"], {
    stdout: "pipe",
  })
  const text = await new Response(child.stdout).text()
  return [...text.matchAll(/#[0-9A-F]{6}/g)].map(([colour]) => colour)
}
