import { describe, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { actedText } from "../../src/look/outline.ts"
import { desk } from "../support/fake-desk.ts"
import type { FakeElement, Spec } from "../support/fake-world.ts"

const root = (element: FakeElement): FakeElement => (element.parent ? root(element.parent) : element)

const FORM: readonly Spec[] = [
  {
    role: "button",
    name: "Delete",
    does: (element) =>
      root(element).add({
        role: "dialog",
        name: "Sure?",
        children: [
          { role: "button", name: "Yes" },
          { role: "button", name: "No", does: (no) => no.parent?.remove() },
        ],
      }),
  },
  { role: "checkbox", name: "Agree", states: ["enabled", "unchecked"] },
  { role: "statictext", name: "0 selected" },
  { role: "textfield", name: "Search", value: "", states: ["enabled", "focused"] },
]

function form(more: readonly Spec[] = []) {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  const window = app.window("Order", [...FORM, ...more], { id: "w-1" })
  return { ...it, app, window }
}

test("an action returns the changes it caused, with refs that can be used at once", async () => {
  const { ok, error, world, ref } = form()
  const { snapshot_id: since } = await ok("snapshot")
  const { changes, ...result } = await ok("click", { ref_id: await ref("Delete"), changes: true })
  expect(result).toMatchObject({ action: "click", ref_id: "@e1", method: "fake:click" })
  expect(changes).toEqual({
    snapshot_id: expect.stringMatching(/^s\w{8}$/),
    since,
    added: [
      {
        role: "dialog",
        name: "Sure?",
        children: [
          { ref_id: "@e4", role: "button", name: "Yes" },
          { ref_id: "@e5", role: "button", name: "No" },
        ],
      },
    ],
  })
  const closed = await ok("click", { ref_id: "@e5", changes: true })
  expect(closed.changes).toEqual({
    snapshot_id: expect.any(String),
    since: changes.snapshot_id,
    removed: [{ role: "dialog", name: "Sure?" }],
  })
  expect((await error("click", { ref_id: "@e4" })).code).toBe("STALE_REF")
  await ok("check", { ref_id: "@e2" })
  expect(world.sent("Agree")).toEqual(["semantic check"])
})

test("without --changes nothing is read for it", async () => {
  const { ok, world, ref } = form()
  await ok("snapshot")
  world.calls.length = 0
  expect(await ok("click", { ref_id: await ref("Agree") })).not.toHaveProperty("changes")
  expect(world.calls).not.toContain("tree")
  expect(world.calls).not.toContain("windows")
})

test("no difference is reported as an answer without changes", async () => {
  const { ok, ref } = form()
  await ok("snapshot")
  const { changes } = await ok("check", { ref_id: await ref("Agree"), changes: true })
  expect(changes.changed).toEqual([
    {
      ref_id: "@e2",
      role: "checkbox",
      name: "Agree",
      states: ["enabled", "checked"],
      was: { states: ["enabled", "unchecked"] },
    },
  ])
  const again = await ok("check", { ref_id: "@e2", changes: true })
  expect(again.changes).toEqual({ snapshot_id: expect.any(String), since: changes.snapshot_id })
})

describe("settling", () => {
  test("ends once nothing more happens: late changes in a row are included", async () => {
    const { ok, world, ref } = form([
      {
        role: "button",
        name: "Search now",
        does: () => {
          const field = world.at("Search")
          const steps = ["c", "ca", "cat"]
          const next = (): void => {
            const value = steps.shift()
            if (value === undefined) return
            field.set({ value })
            setTimeout(next, 40)
          }
          setTimeout(next, 40)
        },
      },
    ])
    await ok("snapshot")
    const { changes } = await ok("click", { ref_id: await ref("Search now"), changes: true })
    expect(changes.changed).toMatchObject([{ name: "Search", value: "cat" }])
    expect(changes).not.toHaveProperty("settled")
  })

  test("is bounded for an app that never rests, and reports settled: false", async () => {
    const { ok, world, ref } = form()
    await ok("snapshot")
    const clock = setInterval(() => world.emit(), 5)
    try {
      const { changes } = await ok("check", { ref_id: await ref("Agree"), changes: true, timeout_ms: 600 })
      expect(changes.settled).toBe(false)
      expect(changes.changed).toHaveLength(1)
    } finally {
      clearInterval(clock)
    }
  })

  test("ends at once if the timeout is 0", async () => {
    const { ok, ref } = form()
    await ok("snapshot")
    const { changes } = await ok("check", { ref_id: await ref("Agree"), changes: true, timeout_ms: 0 })
    expect(changes).toMatchObject({ settled: false, changed: [{ name: "Agree" }] })
  })
})

describe("windows", () => {
  test("that opened or closed are reported", async () => {
    const { ok, app, ref, window } = form([
      { role: "button", name: "Preview", does: () => app.window("Print preview", [], { id: "w-2" }) },
      { role: "button", name: "Close", does: () => window.close() },
    ])
    await ok("snapshot")
    const opened = await ok("click", { ref_id: await ref("Preview"), changes: true })
    expect(opened.changes.opened).toEqual([{ id: "w-2", title: "Print preview", app_name: "Shop" }])
    const closed = await ok("click", { ref_id: await ref("Close"), changes: true })
    expect(closed.changes).toEqual({ closed: [{ id: "w-1", title: "Order", app_name: "Shop" }] })
  })

  test("report their open menus", async () => {
    const { ok, app, ref } = form([
      {
        role: "menubutton",
        name: "More",
        does: () =>
          app.show("menu", { role: "menu", name: "More", children: [{ role: "menuitem", name: "Cut" }] }),
      },
    ])
    await ok("snapshot")
    const { changes } = await ok("click", { ref_id: await ref("More"), changes: true })
    expect(changes.surfaces).toEqual([{ type: "menu", id: "menu-1", title: "More" }])
  })
})

describe("the comparison", () => {
  test("uses a look before the action if there is no snapshot of that window", async () => {
    const { ok, app, world } = form()
    app.window("Other", [{ role: "checkbox", name: "Sync", states: ["unchecked"] }], { id: "w-2" })
    await ok("snapshot", { window_id: "w-1" })
    const { match } = await ok("find", { window_id: "w-2", role: "checkbox", first: true })
    const { changes } = await ok("check", { ref_id: match.ref_id, changes: true })
    expect(changes.changed).toMatchObject([
      { ref_id: match.ref_id, name: "Sync", was: { states: ["unchecked"] } },
    ])
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Delete")).toEqual(["semantic click"])
  })

  test("uses the snapshot that the ref names, and the newest one stays current", async () => {
    const { ok, window, refs } = form()
    const old = await ok("snapshot")
    window.root.add({ role: "button", name: "First" }, 0)
    const newest = await ok("snapshot")
    const { changes } = await ok("check", { ref_id: `@${old.snapshot_id}:e2`, changes: true })
    expect(changes.since).toBe(old.snapshot_id)
    expect(changes.added).toMatchObject([{ ref_id: `@${changes.snapshot_id}:e4`, name: "First" }])
    expect(changes.changed).toMatchObject([{ ref_id: `@${changes.snapshot_id}:e2`, name: "Agree" }])
    expect((await refs.load()).snapshot_id).toBe(newest.snapshot_id)
  })
})

test("the action is reported even if the look after it fails", async () => {
  const { ok, world, ref } = form()
  await ok("snapshot")
  world.fail("tree", new AppError("APP_UNRESPONSIVE", "App 'Shop' did not answer in time"))
  const result = await ok("check", { ref_id: await ref("Agree"), changes: true })
  expect(result.disposition.delivery).toBe("delivered_verified")
  expect(result.changes).toEqual({ complete: false, reason: "App 'Shop' did not answer in time" })
})

test("a failed action reports its error and leaves the refs unchanged", async () => {
  const { ok, error, refs, ref } = form()
  const { snapshot_id } = await ok("snapshot")
  const failed = await error("toggle", { ref_id: await ref("Delete"), changes: true })
  expect(failed).toMatchObject({ code: "ACTION_NOT_SUPPORTED", disposition: { delivery: "not_delivered" } })
  expect((await error("click", { ref_id: "@e99", changes: true })).disposition).toEqual({
    delivery: "not_delivered",
    retry: "safe",
  })
  expect((await refs.load()).snapshot_id).toBe(snapshot_id)
})

test("keys and the pointer report their changes too", async () => {
  const { ok, world } = form()
  await ok("snapshot")
  const stop = world.listen(() => {})
  world.later(() => world.at("Search").set({ value: "x" }))
  const { changes, action } = await ok("press", { combo: "x", changes: true })
  stop()
  expect(action).toBe("press")
  expect(changes.changed).toMatchObject([{ ref_id: "@e3", value: "x", was: { value: "" } }])
})

test("a context menu keeps the refs it was given", async () => {
  const { ok, app, ref, world } = form([
    {
      role: "button",
      name: "Item",
      does: (_, { kind }) => {
        if (kind === "right-click")
          app.show("menu", { role: "menu", children: [{ role: "menuitem", name: "Copy" }] }, { id: "menu-1" })
      },
    },
  ])
  await ok("snapshot")
  const { menu, changes } = await ok("right-click", { ref_id: await ref("Item"), changes: true })
  expect(menu.children[0].name).toBe("Copy")
  expect(changes.snapshot_id).toBeDefined()
  await ok("click", { ref_id: menu.children[0].ref_id })
  expect(world.sent("Copy")).toEqual(["semantic click"])
})

test("as text, changes are a heading and one line per change", async () => {
  const { ok, ref } = form()
  await ok("snapshot")
  const data = await ok("check", { ref_id: await ref("Agree"), changes: true })
  expect(actedText(data)).toBe(
    `check checkbox "Agree" [@e2] delivered_verified ${data.changes.snapshot_id}\n~ checkbox "Agree" [@e2] checked was unchecked\n`,
  )
})
