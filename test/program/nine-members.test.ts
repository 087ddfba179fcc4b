import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { startFixture } from "../fixtures/fixture.ts"
import { answersOf, windowTitled } from "../support/answers.ts"
import { openDesktop } from "../support/desktop.ts"

const MEMBERS = "pid role name value states bounds bounds_hash available_actions source_app".split(" ")

/** Leaves in each entry of a map what the format defines. The digits of a hash are kept as they are. */
function reduceMap(path: string): void {
  const text = readFileSync(path, "utf8").replaceAll(/"bounds_hash":(\d+)/g, '"bounds_hash":"#$1"')
  const { inner, counter } = JSON.parse(text, (key, value) =>
    /^@e/.test(key)
      ? Object.fromEntries(Object.entries(value).filter(([member]) => MEMBERS.includes(member)))
      : value,
  )
  writeFileSync(path, JSON.stringify({ inner, counter }).replaceAll(/"#(\d+)"/g, "$1"), { mode: 0o600 })
}

test.each(["gtk3", "gtk4", "qt6", "web"] as const)(
  "%s: a map with nothing but the nine members of the format is acted on",
  async (toolkit) => {
    await using desktop = await openDesktop({ name: `nine-${toolkit}` })
    const fixture = await startFixture(desktop, toolkit)
    const id = await windowTitled(
      answersOf(() => desktop),
      fixture.title,
      60_000,
    )
    await desktop.run("snapshot", "--window-id", id)
    const path = `${desktop.home}/last_refmap.json`
    const entries: [string, { name: string }][] = Object.entries(JSON.parse(readFileSync(path, "utf8")).inner)
    const ref = (name: string): string => entries.find(([, entry]) => entry.name === name)![0]
    reduceMap(path)
    const clicked = await desktop.run("click", ref("Press me"))
    expect(clicked.json).toMatchObject({ ok: true, data: { action: "click", ref_id: ref("Press me") } })
    await fixture.seen("press", "Press me")
    expect((await desktop.run("set-value", ref("Name"), "Ada")).json.ok).toBe(true)
    expect((await desktop.run("get", ref("Name"), "value")).json.data.value).toBe("Ada")
    expect((await fixture.events()).filter(({ event }) => event === "press")).toHaveLength(1)
  },
  60_000,
)
