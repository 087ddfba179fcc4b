import { afterAll, describe, expect, test } from "bun:test"
import { commands } from "../../src/commands/index.ts"
import { AppError } from "../../src/errors.ts"
import { toText } from "../../src/look/text.ts"
import { canonicalRole } from "../../src/match.ts"
import type { Role } from "../../src/node.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"

afterAll(clearDesks)

const SHOP: readonly Spec[] = [
  { role: "statictext", name: "Total: 12 €" },
  {
    role: "toolbar",
    name: "Tools",
    children: [
      { role: "button", name: "Save", states: ["enabled"] },
      { role: "button", name: "Save as…", states: ["disabled"] },
      { role: "button", name: "save", states: ["enabled"], description: "Stores the total" },
    ],
  },
  {
    role: "group",
    children: [
      { role: "textfield", name: "Amount", value: "Total 7", states: ["enabled", "focused"] },
      { role: "textfield", name: "Password", value: "total secret", states: ["enabled", "secure"] },
    ],
  },
  { role: "menu", name: "Closed", hidden: true, children: [{ role: "menuitem", name: "Save hidden" }] },
]

function shop() {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  app.window("Order", SHOP, { id: "w-1" })
  app.window("Other", [{ role: "button", name: "Save" }], { id: "w-2" })
  return { ...it, app }
}

const names = (data: Json): string[] => data.matches.map(({ name, value }: Json) => name ?? value)

describe("find", () => {
  test("a match has the members needed to choose and act, in the contract's order", async () => {
    const { ok } = shop()
    const data = await ok("find", { role: "button", name: "Save", exact: true })
    expect(JSON.stringify(data)).toBe(
      '{"matches":[{"ref_id":"@e1","role":"button","name":"Save","states":["enabled"],"interactive":true,' +
        '"path":["Order","Tools"]}],"total_matches":1}',
    )
    expect((await ok("find", { text: "12 €" })).matches).toEqual([
      { role: "statictext", value: "Total: 12 €", interactive: false, path: ["Order"] },
    ])
  })

  test.each([
    [{ role: "button" }, ["Save", "Save as…", "save"]],
    [{ role: "BUTTON" }, ["Save", "Save as…", "save"]],
    [{ name: "save" }, ["Save", "Save as…", "save"]],
    [{ name: "save", exact: true }, ["save"]],
    [{ name: "SAVE AS" }, ["Save as…"]],
    [{ value: "total" }, ["Total: 12 €", "Amount"]],
    [{ name: "total" }, ["Total: 12 €"]],
    [{ value: "Total 7", exact: true }, ["Amount"]],
    [{ text: "total" }, ["Total: 12 €", "save", "Amount"]],
    [{ text: "Stores the total", exact: true }, ["save"]],
    [{ state: "disabled" }, ["Save as…"]],
    [{ role: "button", state: "enabled", name: "save" }, ["Save", "save"]],
    [{ role: "textbox" }, ["Amount", "Password"]],
    [{ name: "hidden" }, []],
    [{ name: "hidden", include_hidden: true }, ["Save hidden"]],
    [{ role: "slider" }, []],
    [{ role: "window" }, ["Order"]],
  ])("%j finds %j", async (query, expected) => {
    const { ok } = shop()
    const data = await ok("find", query)
    expect(names(data)).toEqual(expected)
    expect(data.total_matches).toBe(expected.length)
  })

  test("the value of a secure field is neither searched nor shown", async () => {
    const { ok } = shop()
    expect(names(await ok("find", { text: "secret" }))).toEqual([])
    expect(JSON.stringify(await ok("find", { name: "Password" }))).not.toContain("secret")
  })

  test("--count, --first, --last, --nth and --limit choose the matches to return", async () => {
    const { ok } = shop()
    expect(await ok("find", { role: "button", count: true })).toEqual({ count: 3 })
    expect(await ok("find", { role: "slider", count: true })).toEqual({ count: 0 })
    expect((await ok("find", { role: "button", first: true })).match.name).toBe("Save")
    expect((await ok("find", { role: "button", last: true })).match.name).toBe("save")
    expect((await ok("find", { role: "button", nth: 1 })).match.name).toBe("Save as…")
    expect(await ok("find", { role: "button", nth: 3 })).toEqual({ match: null })
    expect(await ok("find", { role: "slider", first: true })).toEqual({ match: null })
    expect(await ok("find", { role: "slider", last: true })).toEqual({ match: null })
    const some = await ok("find", { role: "button", limit: 2 })
    expect(names(some)).toEqual(["Save", "Save as…"])
    expect(some.total_matches).toBe(3)
    expect(await ok("find", { role: "slider" })).toEqual({ matches: [], total_matches: 0 })
  })

  test("refs are added to the map, never replaced, and a known element keeps its ref", async () => {
    const { ok, refs, world } = shop()
    const { snapshot_id } = await ok("snapshot", { window_id: "w-1" })
    const before = await refs.load()
    expect((await ok("find", { name: "Save as" })).matches[0].ref_id).toBe("@e2")
    expect((await ok("find", { window_id: "w-2", role: "button" })).matches[0].ref_id).toBe("@e6")
    expect((await ok("find", { window_id: "w-2", role: "button" })).matches[0].ref_id).toBe("@e6")
    const after = await refs.load()
    expect(after.snapshot_id).toBe(snapshot_id)
    expect([...after.inner.keys()]).toEqual([...before.inner.keys(), "@e6"])
    for (const [ref, entry] of before.inner) expect(after.inner.get(ref)).toEqual(entry)
    await ok("click", { ref_id: "@e6" })
    expect(world.sent("Save").length).toBe(1)
  })

  test("works without a snapshot", async () => {
    const { ok, world } = shop()
    const { match } = await ok("find", { name: "Save as", first: true })
    expect(match.ref_id).toBe("@e1")
    world.at("Save as…").states = ["enabled"]
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save as…")).toEqual(["semantic click"])
  })

  test("only returned matches get a ref", async () => {
    const { ok, refs } = shop()
    await ok("find", { role: "button", count: true })
    expect((await refs.load()).inner.size).toBe(0)
    await ok("find", { role: "button", last: true })
    expect((await refs.load()).inner.size).toBe(1)
  })

  test("an incomplete tree is reported: a missing match does not prove absence", async () => {
    const { ok, world } = shop()
    world.nodeLimit = 3
    const unsearched = {
      reason: "4 elements were not searched; not everything could be read",
      count: 4,
      in: [
        { ref_id: "@e1", role: "toolbar", name: "Tools", count: 3 },
        { ref_id: "@e2", role: "window", name: "Order", count: 1 },
      ],
      suggestion: "Retry with a larger --timeout-ms",
    }
    expect(await ok("find", { name: "Amount", first: true })).toEqual({
      match: null,
      complete: false,
      unsearched,
    })
    expect(await ok("find", { name: "Amount", count: true })).toEqual({
      count: 0,
      complete: false,
      unsearched,
    })
    expect((await ok("find", { name: "Amount" })).complete).toBe(false)
  })

  test("rows for which a large list has no objects are counted, with the next step", async () => {
    const { ok, world, run } = shop()
    world.at("Tools").add({
      role: "table",
      name: "Orders",
      total: 100_000,
      children: [{ role: "cell", name: "item 1" }],
    })
    const missed = {
      complete: false,
      unsearched: {
        reason: "99999 elements were not searched",
        count: 99_999,
        in: [{ ref_id: "@e1", role: "table", name: "Orders", count: 99_999 }],
        suggestion: "Find the row that shows it: agent-desktop scroll @e1 --until TEXT --timeout-ms 60000",
      },
    }
    expect(await ok("find", { name: "item 50000" })).toEqual({ matches: [], total_matches: 0, ...missed })
    expect(await ok("find", { name: "item 50000", count: true })).toEqual({ count: 0, ...missed })
    expect(await ok("find", { name: "item 50000", last: true })).toEqual({ match: null, ...missed })
    expect(await ok("find", { role: "cell" })).toMatchObject({
      total_matches: 1,
      complete: false,
      unsearched: { reason: "99999 elements were not searched", count: 99_999 },
    })
    // The first match is what was asked for.
    expect(Object.keys(await ok("find", { role: "cell", first: true }))).toEqual(["match"])
    expect(await toText(await run("find", { name: "item 50000" }), await commands.find!())).toBe(
      `no match
incomplete: 99999 elements were not searched
  table "Orders" [@e1] 99999 not searched
suggestion: Find the row that shows it: agent-desktop scroll @e1 --until TEXT --timeout-ms 60000
`,
    )
  })

  test("no match is reported only after the app has handled its input", async () => {
    const { ok, world } = shop()
    world.onCaughtUp = () => {
      world.onCaughtUp = () => {}
      world.at("Tools").add({ role: "button", name: "Late" })
    }
    expect((await ok("find", { name: "Late" })).total_matches).toBe(1)
    expect((await ok("find", { name: "Nowhere" })).complete).toBeUndefined()
  })

  test("searches again while the app changes", async () => {
    const { ok, world } = shop()
    world.onCaughtUp = () => {
      world.onCaughtUp = () => {}
      setTimeout(() => world.at("Tools").add({ role: "button", name: "Late" }), 30)
      let count = 0
      const change = () => world.at("Amount").set({ value: String(count++) })
      const changing = setInterval(change, 1)
      setTimeout(() => clearInterval(changing), 60)
      change()
    }
    expect((await ok("find", { name: "Late" })).total_matches).toBe(1)
  })

  test("an app that is never quiet is not searched forever", async () => {
    const { ok, world } = shop()
    let count = 0
    const noise = setInterval(() => world.at("Amount").set({ value: String(count++) }), 1)
    const start = performance.now()
    expect(await ok("find", { name: "Nowhere", timeout: 20_000 })).toEqual({ matches: [], total_matches: 0 })
    expect(performance.now() - start).toBeLessThan(10_000)
    clearInterval(noise)
  })

  test("an app that does not finish reading its input is reported", async () => {
    const { ok, world } = shop()
    world.isBusy = true
    expect(await ok("find", { name: "Nowhere", timeout: 300 })).toEqual({
      matches: [],
      total_matches: 0,
      complete: false,
      unsearched: { reason: "the app was still busy", suggestion: "Retry with a larger --timeout-ms" },
    })
    // One try is one look.
    world.calls.length = 0
    await ok("find", { name: "Nowhere", timeout: 0 })
    expect(world.calls.filter((call) => call === "tree")).toHaveLength(1)
    world.calls.length = 0
    await ok("find", { name: "Save" })
    expect(world.calls).not.toContain("caughtUp")
  })

  test.each([
    [{ role: "buton" }, "role"],
    [{ role: "" }, "role"],
    [{ name: "" }, "name"],
    [{ value: "" }, "value"],
    [{ text: "" }, "text"],
    [{ state: "shiny" }, "state"],
    [{ limit: 0 }, "limit"],
    [{ nth: -1 }, "nth"],
    [{ nth: 1.5 }, "nth"],
    [{ colour: "red" }, "colour"],
  ])("%j is refused before anything is read", async (query, argument) => {
    const { error, world } = shop()
    const refused = await error("find", query)
    expect(refused.code).toBe("INVALID_ARGS")
    expect(refused.message).toContain(argument)
    expect(refused.details.argument).toBe(argument)
    expect(world.calls).toEqual([])
  })

  test("options that choose one match exclude each other", async () => {
    const { error } = shop()
    expect(await error("find", { role: "button", first: true, last: true })).toMatchObject({
      code: "INVALID_ARGS",
      message: "--first and --last exclude each other",
      suggestion: "Run 'agent-desktop help find' to see what it takes",
    })
  })
})

test.each<[given: string, role: Role]>([
  ["button", "button"],
  ["Radio", "radiobutton"],
  ["radio button", "radiobutton"],
  ["radio-button", "radiobutton"],
  ["textarea", "textfield"],
  ["img", "image"],
  ["tree", "outline"],
  ["list_item", "option"],
  ["statictext", "statictext"],
])("%s is accepted as a role", (given, role) => {
  expect(canonicalRole(given)).toBe(role)
})

test.each(["", "knob", "constructor", "__proto__", "toString"])("%j is not a role", (given) => {
  expect(() => canonicalRole(given)).toThrow(AppError)
})
