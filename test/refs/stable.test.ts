import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { openRefStore } from "../../src/refs/store.ts"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"

afterAll(clearDesks)

const FORM: readonly Spec[] = [
  { role: "button", name: "New", states: ["enabled"] },
  { role: "button", name: "Save", states: ["enabled"] },
  { role: "textfield", name: "Search", value: "", states: ["enabled"] },
]

function form(): Desk & { readonly root: string; readonly window: FakeElement } {
  const it = desk({}, "stable")
  const app = it.world.app("Shop", { pid: 10 })
  return { ...it, window: app.window("Order", FORM, { id: "w-1" }).root }
}

const refsIn = (node: Json): readonly Json[] => [
  ...(node.ref_id ? [node] : []),
  ...(node.children ?? []).flatMap(refsIn),
]

/** `@e3 Save` for every ref of a tree. */
const named = ({ tree }: Json): readonly string[] =>
  refsIn(tree).map(({ ref_id, name }) => `${ref_id} ${name}`)

describe("with --refs stable", () => {
  test("an element keeps its number, a new one gets a new number, and a lost number is not given again", async () => {
    const { ok, error, world, window } = form()
    expect(named(await ok("snapshot"))).toEqual(["@e1 New", "@e2 Save", "@e3 Search"])
    world.at("New").remove()
    window.add({ role: "button", name: "Print" }, 0)
    expect(named(await ok("snapshot"))).toEqual(["@e4 Print", "@e2 Save", "@e3 Search"])
    world.at("Print").remove()
    window.add({ role: "button", name: "Close" }, 0)
    expect(named(await ok("snapshot"))).toEqual(["@e5 Close", "@e2 Save", "@e3 Search"])
    for (const ref_id of ["@e1", "@e4"])
      expect(await error("click", { ref_id })).toMatchObject({
        code: "STALE_REF",
        disposition: { delivery: "not_delivered", retry: "safe" },
      })
    await ok("click", { ref_id: "@e2" })
    expect(world.deliveries.map(({ name }) => name)).toEqual(["Save"])
  })

  test("menus, other windows and other flags leave every number as it is", async () => {
    const { ok, world } = form()
    const app = world.app("Mail", { pid: 11 })
    app.window("Inbox", [{ role: "button", name: "Reply" }], { id: "w-2" })
    await ok("snapshot", { window_id: "w-1" })
    expect(named(await ok("snapshot", { window_id: "w-2" }))).toEqual(["@e4 Reply"])
    app.show("menu", { role: "menu", name: "File", children: [{ role: "menuitem", name: "Open" }] })
    expect(named(await ok("snapshot", { surface: "menu", app: "Mail" }))).toEqual(["@e5 Open"])
    expect(named(await ok("snapshot", { window_id: "w-1", interactive_only: true, compact: true }))).toEqual([
      "@e1 New",
      "@e2 Save",
      "@e3 Search",
    ])
    for (const ref_id of ["@e4", "@e5", "@e1"]) await ok("click", { ref_id })
    expect(world.deliveries.map(({ name }) => name)).toEqual(["Reply", "Open", "New"])
  })

  test("find, batch, --diff, --budget and --root continue with the same numbers", async () => {
    const { ok, world, window } = form()
    await ok("snapshot")
    window.add({ role: "button", name: "Print" }, 0)
    expect((await ok("find", { name: "Print", first: true })).match.ref_id).toBe("@e4")
    window.add({ role: "group", name: "More", children: [{ role: "button", name: "Send" }] })
    const [{ data }] = (await ok("batch", { commands: [{ command: "snapshot", args: { app: "Shop" } }] }))
      .results
    expect(named(data)).toEqual(["@e4 Print", "@e1 New", "@e2 Save", "@e3 Search", "@e5 Send"])
    world.at("New").remove()
    window.add({ role: "button", name: "Close" }, 0)
    const { changes } = await ok("snapshot", { diff: "last" })
    expect(changes.added).toEqual([{ ref_id: "@e6", role: "button", name: "Close" }])
    expect(changes.removed).toMatchObject([{ ref_id: "@e1", name: "New" }])
    const small = await ok("snapshot", { budget: 110 })
    const drills = refsIn(small.tree).filter(({ children_count }) => children_count)
    expect(drills.map(({ ref_id }) => ref_id)).toEqual(["@e7"])
    const again = await ok("snapshot", { budget: 110 })
    expect(named(again)).toEqual(named(small))
    expect(named(await ok("snapshot", { root: "@e7" }))).toContain("@e6 Close")
    expect(named(await ok("snapshot"))).toEqual([
      "@e6 Close",
      "@e4 Print",
      "@e2 Save",
      "@e3 Search",
      "@e5 Send",
    ])
  })

  test("a number that find gave is not given again by a snapshot from @e1 and a stable one after it", async () => {
    const { ok, root, world, window, door, error } = form()
    await ok("snapshot")
    window.add({ role: "button", name: "Print" })
    await ok("find", { name: "Print" })
    const fresh = desk({ ...door, refs: openRefStore({ root }) })
    world.at("Print").remove()
    expect(named(await fresh.ok("snapshot"))).toEqual(["@e1 New", "@e2 Save", "@e3 Search"])
    window.add({ role: "button", name: "Close" })
    expect(named(await ok("snapshot"))).toEqual(["@e1 New", "@e2 Save", "@e3 Search", "@e5 Close"])
    expect((await error("click", { ref_id: "@e4" })).code).toBe("STALE_REF")
  })

  test("a damaged map costs the refs in it, and no number is given twice", async () => {
    const { ok, error, root } = form()
    await ok("snapshot")
    writeFileSync(`${root}/last_refmap.json`, "{", { mode: 0o600 })
    expect(named(await ok("snapshot"))).toEqual(["@e4 New", "@e5 Save", "@e6 Search"])
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("snapshots at the same time give every element one number, and all of them act", async () => {
    const { ok, world } = form()
    const windows = Array.from({ length: 6 }, (_, i) => `w-${i + 20}`)
    for (const [i, id] of windows.entries())
      world
        .app(`App ${i}`, { pid: 100 + i })
        .window(`Title ${i}`, [{ role: "button", name: `Go ${i}` }], { id })
    const seen = await Promise.all(windows.map((window_id) => ok("snapshot", { window_id })))
    const refs = seen.map(({ tree }) => refsIn(tree)[0].ref_id)
    expect(new Set(refs).size).toBe(windows.length)
    for (const ref_id of refs) await ok("click", { ref_id })
    expect(world.deliveries.map(({ name }) => name)).toEqual(windows.map((_, i) => `Go ${i}`))
  })

  test("a long session keeps the newest numbers, in a map that stays small", async () => {
    const { ok, error, root, world, window } = form()
    await ok("snapshot")
    for (let round = 0; round < 8; round++) {
      for (const child of [...window.children]) child.remove()
      for (let i = 0; i < 100; i++) window.add({ role: "button", name: `Button ${round} ${i}` })
      await ok("snapshot")
    }
    const { inner, counter } = JSON.parse(readFileSync(`${root}/last_refmap.json`, "utf8"))
    expect(counter).toBe(803)
    expect(Object.keys(inner)).toHaveLength(600)
    expect((await error("click", { ref_id: "@e1" })).message).toBe("@e1 not found in current RefMap")
    await ok("click", { ref_id: "@e803" })
    expect(world.deliveries.map(({ name }) => name)).toEqual(["Button 7 99"])
  })
})

/** A row of a list, with a button in it. */
const row = (text: string, isRecycled: boolean): Spec => ({
  role: "row",
  name: "",
  isRecycled,
  children: [
    { role: "statictext", name: text },
    { role: "button", name: "Delete" },
  ],
})

function list(isRecycled: boolean, ...texts: readonly string[]) {
  const it = desk({}, "stable")
  const children = texts.map((text) => row(text, isRecycled))
  const { root } = it.world
    .app("Mail", { pid: 10 })
    .window("Inbox", [{ role: "list", name: "Mails", children }])
  return { ...it, list: root.children[0]! }
}

describe("of a list that is drawn again, with --refs stable,", () => {
  test("rows that changed places keep their numbers", async () => {
    const { ok, list: mails } = list(false, "Ada", "Bob", "Cleo")
    await ok("snapshot")
    mails.children[2]!.moveTo(mails, 0)
    const received: string[] = []
    for (const one of mails.children) one.children[1]!.does = () => received.push(one.children[0]!.name!)
    expect(refsIn((await ok("snapshot")).tree).map(({ ref_id }) => ref_id)).toEqual(["@e3", "@e1", "@e2"])
    for (const ref_id of ["@e1", "@e2", "@e3"]) await ok("click", { ref_id })
    expect(received).toEqual(["Ada", "Bob", "Cleo"])
  })

  test("a row keeps its number if the list shows it in an object that another row had", async () => {
    const { ok, error, list: mails } = list(true, "Ada", "Bob", "Cleo")
    await ok("snapshot")
    // Scrolled by one: every object shows the next row.
    for (const [i, text] of ["Bob", "Cleo", "Dora"].entries()) mails.children[i]!.children[0]!.name = text
    expect(refsIn((await ok("snapshot")).tree).map(({ ref_id }) => ref_id)).toEqual(["@e2", "@e3", "@e4"])
    const received: string[] = []
    for (const one of mails.children) one.children[1]!.does = () => received.push(one.children[0]!.name!)
    for (const ref_id of ["@e2", "@e3", "@e4"]) await ok("click", { ref_id })
    expect(received).toEqual(["Bob", "Cleo", "Dora"])
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  })

  test("a newer row that shows the same text is another row, with another number", async () => {
    const { ok, error, list: mails, world } = list(false, "Ada", "Bob")
    await ok("snapshot")
    for (const one of [...mails.children]) one.remove()
    for (const text of ["Ada", "Bob"]) mails.add(row(text, false))
    expect(refsIn((await ok("snapshot")).tree).map(({ ref_id }) => ref_id)).toEqual(["@e3", "@e4"])
    for (const ref_id of ["@e1", "@e2"]) expect((await error("click", { ref_id })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })

  test("an old number does not move to a new row, even if the row reuses the object", async () => {
    const { ok, error, list: mails, world } = list(false, "Ada", "Bob")
    await ok("snapshot")
    mails.children[0]!.children[0]!.name = "Cleo"
    mails.add(row("Ada", false))
    expect(refsIn((await ok("snapshot")).tree).map(({ ref_id }) => ref_id)).toEqual(["@e3", "@e2", "@e4"])
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    expect(world.deliveries).toEqual([])
  })
})
