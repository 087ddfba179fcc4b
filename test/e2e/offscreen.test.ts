import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Fixture, firefox, startFixture, startPage, TOOLKITS } from "../fixtures/fixture.ts"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import type { Json } from "../support/json.ts"
import { until } from "../support/until.ts"

/** Elements that are scrolled out of view are not hidden: they are counted, found and acted on. */

setDefaultTimeout(180_000)

let desktop: TestDesktop
beforeAll(async () => {
  desktop = await openDesktop()
})
afterAll(() => desktop?.close())

interface Node {
  readonly ref_id?: string
  readonly name?: string
  readonly states?: readonly string[]
  readonly children?: readonly Node[]
}

const all = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(all)]

async function idOf(fixture: Fixture): Promise<string> {
  const { json } = await desktop.run("list-windows")
  return json.data.windows.find((one: Json) => one.title.startsWith(fixture.title))?.id
}

const APPS = [
  ...TOOLKITS.map((toolkit) => [toolkit, () => startFixture(desktop, toolkit)] as const),
  ["firefox", () => startPage(desktop, firefox)] as const,
]

describe.each(APPS)("in %s", (toolkit, start) => {
  let fixture: Fixture
  let id: string
  const look = async (...flags: readonly string[]): Promise<Json> =>
    (await desktop.run("snapshot", "--window-id", id, "--timeout-ms", "30000", ...flags)).json.data

  beforeAll(async () => {
    fixture = await start()
    id = await until(() => idOf(fixture))
    await until(async () => all((await look()).tree).some(({ name }) => name === "Row 2"))
  })

  test("a snapshot counts the elements out of view, and --offscreen shows exactly those", async () => {
    const shown = await look()
    const whole = await look("--offscreen")
    const names = all(whole.tree).flatMap(({ name }) => name ?? [])
    expect(all(shown.tree).some(({ name }) => name === "Row 40")).toBe(false)
    expect(all(shown.tree).some(({ states }) => states?.includes("offscreen"))).toBe(false)
    const added = whole.ref_count - shown.ref_count
    expect(added).toBeGreaterThan(40)
    if (shown.offscreen_at_least) expect(shown.offscreen_count).toBeLessThanOrEqual(added)
    else expect(shown.offscreen_count).toBe(added)
    // Counting is exact except in Firefox, which has to be asked about every element.
    if (toolkit !== "firefox") expect(shown.offscreen_at_least).toBeUndefined()
    expect(names.filter((name) => name === "Row 40").length).toBeGreaterThan(0)
    const row = all(whole.tree).find(({ name, ref_id }) => name === "Row 40" && ref_id)
    expect(row?.states).toContain("offscreen")
    for (const hidden of ["Hidden", "Second page", "More about it", "Quit"])
      expect(names).not.toContain(hidden)
    const { stdout } = await desktop.run("snapshot", "--window-id", id, "-i", "--compact", "--format", "text")
    expect(stdout).toMatch(/… (at least )?\d+ more below/)
  })

  test("find and wait search out of view in one call, and their matches can be acted on", async () => {
    const { json } = await desktop.run(
      "find",
      "--window-id",
      id,
      "--name",
      "Row 40",
      "--role",
      "button",
      "--first",
    )
    expect(json.data.match).toMatchObject({ role: "button", name: "Row 40" })
    expect(json.data.match.states).toContain("offscreen")
    const waited = await desktop.run("wait", "--window-id", id, "--text", "Row 41", "--timeout", "10000")
    expect(waited.json).toMatchObject({ ok: true, data: { match: { name: "Row 41" } } })
    const hidden = await desktop.run("find", "--window-id", id, "--name", "Hidden", "--exact", "--count")
    expect(hidden.json.data.count).toBe(0)
    const { ref_id } = json.data.match
    const states = await desktop.run("get", ref_id, "states")
    // Qt and GTK 4 report a single element as shown even if it is out of view.
    if (toolkit !== "qt6" && toolkit !== "qt5" && toolkit !== "gtk4")
      expect(states.json.data.value).toContain("offscreen")
    const clicked = await desktop.run("click", ref_id, "--timeout-ms", "15000")
    expect(clicked.json.ok).toBe(true)
    expect(await fixture.seen("press", "Row 40")).toBeDefined()
  })
})
