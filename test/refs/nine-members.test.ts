import { afterAll, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { clearDesks, type Desk, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

afterAll(clearDesks)

const at = (x: number, y: number) => ({ x, y, width: 80, height: 30 })

const FORM: readonly Spec[] = [
  { role: "button", name: "Save", bounds: at(100, 50), states: ["enabled"], actions: ["Click"] },
  { role: "button", name: "Delete", bounds: at(10, 100), states: ["enabled"], actions: ["Click"] },
  { role: "button", name: "Delete", bounds: at(10, 200), states: ["enabled"], actions: ["Click"] },
  { role: "button", bounds: at(10, 300), states: ["enabled"], actions: ["Click"] },
  { role: "textfield", name: "Search", bounds: at(10, 400), value: "", states: ["enabled"] },
]

const MEMBERS = [
  "pid",
  "role",
  "name",
  "value",
  "states",
  "bounds",
  "bounds_hash",
  "available_actions",
  "source_app",
] as const

/** Takes a snapshot, and leaves the members that the format defines in each entry of its map. */
async function reduce({ ok, root }: Desk, members: readonly string[] = MEMBERS): Promise<void> {
  await ok("snapshot", { window_id: "w-1" })
  const path = `${root}/last_refmap.json`
  // Bare digits: a number of JavaScript would lose the last of them.
  const digits: string[] = []
  const text = readFileSync(path, "utf8").replaceAll(/"bounds_hash":(\d+)/g, (_, hash) => {
    digits.push(hash)
    return `"bounds_hash":"#${digits.length - 1}"`
  })
  const { inner, counter } = JSON.parse(text)
  const reduced = Object.entries(inner).map(([ref, entry]) => [
    ref,
    Object.fromEntries(Object.entries(entry as object).filter(([member]) => members.includes(member))),
  ])
  const written = JSON.stringify({ inner: Object.fromEntries(reduced), counter })
  writeFileSync(
    path,
    written.replaceAll(/"#(\d+)"/g, (_, index) => digits[Number(index)]!),
    { mode: 0o600 },
  )
}

function form() {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  const window = app.window("Order", FORM, { id: "w-1" })
  app.window("Other", [{ role: "button", name: "Elsewhere", bounds: at(500, 500) }], { id: "w-2" })
  return { ...it, app, window }
}

test("a map with nothing but the nine members is acted on, by role, name and place", async () => {
  const it = form()
  await reduce(it)
  const received: number[] = []
  for (const [i, one] of it.window.root.children.entries()) one.does = () => received.push(i)
  for (const ref_id of ["@e1", "@e2", "@e3", "@e4"]) await it.ok("click", { ref_id })
  expect(received).toEqual([0, 1, 2, 3])
  await it.ok("set-value", { ref_id: "@e5", value: "cat" })
  expect(it.world.at("Search").value).toBe("cat")
  expect((await it.ok("get", { ref_id: "@e1", property: "name" })).value).toBe("Save")
})

test("its window may have lost the focus: all windows of its process are searched", async () => {
  const it = form()
  await reduce(it)
  it.world.focused = it.app.windows.find(({ id }) => id === "w-2")
  await it.ok("click", { ref_id: "@e1", changes: true })
  expect(it.world.sent("Save")).toEqual(["semantic click"])
})

test.each([
  ["moved", { bounds: at(11, 50) }],
  ["was renamed", { name: "Store" }],
] as const)("an element that %s is not proved by the nine members", async (_, change) => {
  const it = form()
  await reduce(it)
  it.world.at("Save").set(change)
  expect(await it.error("click", { ref_id: "@e1" })).toMatchObject({
    code: "STALE_REF",
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
  expect(it.world.deliveries).toEqual([])
})

test("two windows with the same content in the same place cannot be distinguished", async () => {
  const it = form()
  await reduce(it)
  it.app.window("Order", FORM, { id: "w-3" })
  const error = await it.error("click", { ref_id: "@e1" })
  expect({ code: error.code, candidates: error.details.candidates.length }).toEqual({
    code: "AMBIGUOUS_TARGET",
    candidates: 2,
  })
  expect(it.world.deliveries).toEqual([])
})

test("a pointer click brings its own window to the front", async () => {
  const it = form()
  await reduce(it)
  it.world.focused = it.app.windows.find(({ id }) => id === "w-2")
  await it.ok("click", { ref_id: "@e1", input: "physical" })
  expect(it.world.sent("Save")).toEqual(["pointer click"])
  expect(it.world.focused?.id).toBe("w-1")
})

test("another process with the same content is not searched, and one that ended makes the ref stale", async () => {
  const it = form()
  await reduce(it)
  it.world.app("Rival", { pid: 11 }).window("Order", FORM, { id: "w-9" })
  it.window.root.children[0]!.remove()
  expect((await it.error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
  it.app.end()
  expect((await it.error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
  expect(it.world.deliveries).toEqual([])
})

test("without bounds, a unique name is enough, and an element without a name is stale", async () => {
  const it = form()
  await reduce(it, ["pid", "role", "name"])
  await it.ok("click", { ref_id: "@e1" })
  expect((await it.error("click", { ref_id: "@e2" })).code).toBe("AMBIGUOUS_TARGET")
  expect((await it.error("click", { ref_id: "@e4" })).code).toBe("STALE_REF")
  expect(it.world.deliveries.map(({ name }) => name)).toEqual(["Save"])
})
