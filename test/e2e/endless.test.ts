import { afterAll, beforeAll, expect, test } from "bun:test"
import { openDesktop, type TestDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** An app that shows more than a reader can use: a tree without an end, a title of 60,000 characters. */

let desktop: TestDesktop

beforeAll(async () => {
  desktop = await openDesktop()
  const fixture = new URL("../fixtures/endless.py", import.meta.url).pathname
  desktop.spawnApp(["/usr/bin/python3", fixture, "T".repeat(60_000)])
  await until(async () => (await desktop.run("list-windows")).json.data.windows.length > 0, 30_000)
})
afterAll(() => desktop?.close(), 30_000)

const TITLE = `${"T".repeat(2000)}…`

test("its title is cut like a name", async () => {
  const { json, stdout } = await desktop.run("list-windows")
  expect(json.data.windows).toMatchObject([{ title: TITLE, app_name: "endless" }])
  expect(stdout.length).toBeLessThan(5000)
})

for (const flags of [[], ["-i"], ["--compact"], ["--timeout-ms", "12000"]])
  test(`snapshot ${flags.join(" ")} gives a part of the tree and says so`, async () => {
    const { json } = await desktop.run("snapshot", "--app", "endless", ...flags)
    expect(json).toMatchObject({ ok: true, data: { complete: false, window: { title: TITLE } } })
    // How much depends on the machine.
    expect(json.data.ref_count).toBeGreaterThan(0)
    const buttons = nodes(json.data.tree).filter(({ role }) => role === "button")
    expect(buttons[0]?.name).toStartWith("Press x")
  })

interface Shown {
  readonly role: string
  readonly name?: string
  readonly children?: readonly Shown[]
}

const nodes = (node: Shown): Shown[] => [node, ...(node.children ?? []).flatMap(nodes)]
