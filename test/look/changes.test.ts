import { describe, expect, test } from "bun:test"
import { AppError } from "../../src/errors.ts"
import { actedText } from "../../src/look/outline.ts"
import { estimateTokens } from "../../src/look/tokens.ts"
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

const PREVIEW: readonly Spec[] = [{ role: "button", name: "Print" }]

function form(more: readonly Spec[] = []) {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  const window = app.window("Order", [...FORM, ...more], { id: "w-1" })
  return { ...it, app, window }
}

test("the window is read once before the action, and once after it", async () => {
  const { ok, world, ref } = form()
  await ok("snapshot")
  const ref_id = await ref("Agree")
  const readsOf = async (changes: boolean): Promise<readonly string[]> => {
    world.calls.length = 0
    await ok("toggle", { ref_id, changes })
    return world.calls.filter((call) => /^(tree|perform)/.test(call)).map((call) => call.split(" ")[0]!)
  }
  expect(await readsOf(false)).toEqual(["perform"])
  expect(await readsOf(true)).toEqual(["tree", "perform", "tree"])
})

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

  test("waits for the first difference, even if the app announces nothing for a while", async () => {
    const { ok, window, world } = form()
    await ok("snapshot")
    world.onKey = () => void setTimeout(() => window.close(), 400)
    const { changes, disposition } = await ok("press", { combo: "return", changes: true })
    expect(changes).toEqual({ closed: [{ id: "w-1", title: "Order", app_name: "Shop" }] })
    expect(disposition.delivery).toBe("delivered_verified")
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
      { role: "button", name: "Preview", does: () => app.window("Print preview", PREVIEW, { id: "w-2" }) },
      { role: "button", name: "Close", does: () => window.close() },
    ])
    await ok("snapshot")
    const opened = await ok("click", { ref_id: await ref("Preview"), changes: true })
    expect(opened.changes.opened).toEqual([
      {
        id: "w-2",
        title: "Print preview",
        app_name: "Shop",
        tree: {
          role: "window",
          name: "Print preview",
          children: [{ ref_id: "@e6", role: "button", name: "Print" }],
        },
      },
    ])
    expect(opened.disposition.delivery).toBe("delivered_verified")
    const closed = await ok("click", { ref_id: await ref("Close"), changes: true })
    expect(closed.changes).toEqual({ closed: [{ id: "w-1", title: "Order", app_name: "Shop" }] })
  })

  test("of other apps take one line", async () => {
    const { ok, world, ref } = form([
      {
        role: "button",
        name: "Browse",
        does: () => world.app("Web", { pid: 20 }).window("Page", PREVIEW, { id: "w-9" }),
      },
    ])
    await ok("snapshot")
    const { changes, disposition } = await ok("click", { ref_id: await ref("Browse"), changes: true })
    expect(changes.opened).toEqual([{ id: "w-9", title: "Page", app_name: "Web" }])
    expect(disposition.delivery).toBe("delivered_unverified")
  })

  test("that have no tree take keys, and new windows are reported", async () => {
    const { ok, world } = desk()
    const app = world.app("Game", { pid: 10 })
    app.window("Start", [], { id: "w-1", accessible: false })
    world.onKey = () => app.window("Level 1", [], { id: "w-2", accessible: false })
    const { changes, disposition } = await ok("press", { combo: "return", changes: true })
    expect(changes).toEqual({ opened: [{ id: "w-2", title: "Level 1", app_name: "Game" }] })
    // No tree says that it is the window of the app that got the key.
    expect(disposition.delivery).toBe("delivered_unverified")
  })

  test("show their new menus whole, and a closed one is one line", async () => {
    const { ok, app, ref, world } = form([
      {
        role: "menubutton",
        name: "More",
        does: () =>
          app.show("menu", { role: "menu", name: "More", children: [{ role: "menuitem", name: "Cut" }] }),
      },
    ])
    await ok("snapshot")
    const { changes } = await ok("click", { ref_id: await ref("More"), changes: true })
    expect(changes.opened).toEqual([
      {
        type: "menu",
        id: "menu-1",
        title: "More",
        tree: { role: "menu", name: "More", children: [{ ref_id: "@e5", role: "menuitem", name: "Cut" }] },
      },
    ])
    await ok("click", { ref_id: "@e5" })
    expect(world.sent("Cut")).toEqual(["semantic click"])
    world.onKey = () => app.hide("menu")
    const after = await ok("press", { combo: "escape", changes: true })
    expect(after.changes).toMatchObject({ closed: [{ type: "menu", title: "More" }] })
    expect(after.changes).not.toHaveProperty("removed")
  })
})

describe("the comparison", () => {
  test("starts at the moment before the action: earlier changes are not reported", async () => {
    const { ok, world, ref, window } = form()
    await ok("snapshot")
    window.root.add({ role: "button", name: "Earlier" })
    world.at("0 selected").set({ name: "5 selected" })
    const { changes } = await ok("check", { ref_id: await ref("Agree"), changes: true })
    expect(changes.added).toBeUndefined()
    expect(changes.changed).toMatchObject([{ name: "Agree", was: { states: ["enabled", "unchecked"] } }])
    expect(changes.changed).toHaveLength(1)
  })

  test("starts when a disabled element has become enabled, if the command waited for it", async () => {
    const { ok, world, ref } = form([{ role: "button", name: "Send", states: ["disabled"] }])
    await ok("snapshot")
    setTimeout(() => {
      world.at("0 selected").set({ name: "ready" })
      world.at("Send").set({ states: ["enabled"] })
    }, 50)
    const { changes } = await ok("click", { ref_id: await ref("Send"), changes: true })
    expect(changes).toEqual({ snapshot_id: expect.any(String), since: expect.any(String) })
  })

  test("needs no snapshot of that window", async () => {
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

  test("keeps refs that it does not show", async () => {
    const { ok, world, ref } = form([{ role: "button", name: "Folded", hidden: true }])
    await ok("snapshot", { include_hidden: true })
    const folded = await ref("Folded")
    await ok("check", { ref_id: await ref("Agree"), changes: true })
    expect((await ok("get", { ref_id: folded, property: "role" })).value).toBe("button")
    expect(world.sent("Folded")).toEqual([])
  })

  test("of a ref with its own snapshot leaves the newest one current", async () => {
    const { ok, window, refs } = form()
    const old = await ok("snapshot")
    window.root.add({ role: "button", name: "First" }, 0)
    const newest = await ok("snapshot")
    const { changes } = await ok("check", { ref_id: `@${old.snapshot_id}:e2`, changes: true })
    expect(changes.since).toBe(old.snapshot_id)
    expect(changes.changed).toMatchObject([{ ref_id: `@${changes.snapshot_id}:e2`, name: "Agree" }])
    expect((await refs.load()).snapshot_id).toBe(newest.snapshot_id)
  })

  test("does not take a nameless element that stays for one that is gone and a new one", async () => {
    const { ok, ref, world } = form([
      { role: "button", bounds: { x: 5, y: 200, width: 30, height: 30 } },
      { role: "button", name: "Go", does: () => world.at("0 selected").set({ name: "gone" }) },
    ])
    // The snapshot is of nothing that the comparison shows, so that no element has a ref.
    await ok("find", { role: "button", name: "Go", first: true })
    world.hasAddresses = false
    const { changes } = await ok("click", { ref_id: await ref("Go"), changes: true })
    expect(changes.added).toBeUndefined()
    expect(changes.removed).toBeUndefined()
  })
})

describe("a modal dialog inside the window", () => {
  const PAGE: readonly Spec[] = [
    { role: "button", name: "Buy" },
    { role: "textfield", name: "Search", value: "" },
    { role: "button", name: "Pay", does: (pay) => openOver(pay) },
  ]
  /** Hides all other elements, as web pages do. */
  function openOver(element: FakeElement): void {
    const page = root(element)
    const others = [...page.children]
    for (const one of others) one.set({ hidden: true })
    page.add({
      role: "dialog",
      name: "Sure?",
      states: ["modal"],
      children: [
        {
          role: "button",
          name: "No",
          does: (no) => {
            for (const one of others) one.set({ hidden: false })
            no.parent?.remove()
          },
        },
      ],
    })
  }

  test("is new, and the elements that it covers are reported neither as gone nor as new, and keep their refs", async () => {
    const { ok, world, ref } = (() => {
      const it = desk()
      it.world.app("Shop", { pid: 10 }).window("Order", PAGE, { id: "w-1" })
      return it
    })()
    await ok("snapshot")
    const { changes, disposition } = await ok("click", { ref_id: await ref("Pay"), changes: true })
    expect(changes.added).toMatchObject([{ role: "dialog", children: [{ ref_id: "@e4", name: "No" }] }])
    expect(changes.removed).toBeUndefined()
    expect(disposition.delivery).toBe("delivered_verified")
    const after = await ok("click", { ref_id: "@e4", changes: true })
    expect(after.changes.added).toBeUndefined()
    expect(after.changes.removed).toMatchObject([{ role: "dialog", name: "Sure?" }])
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Buy")).toEqual(["semantic click"])
  })
})

describe("the size", () => {
  const many = (count: number): readonly Spec[] =>
    Array.from({ length: count }, (_, i) => ({ role: "button", name: `Item number ${i + 1}` }))

  test("is limited: the rest of the changes is counted", async () => {
    const { ok, window, ref, world } = form(many(400))
    window.root.add({
      role: "button",
      name: "Rename all",
      does: () => {
        for (let i = 1; i <= 400; i++) world.at(`Item number ${i}`).set({ name: `Renamed item ${i}` })
      },
    })
    await ok("snapshot")
    const data = await ok("click", { ref_id: await ref("Rename all"), changes: true })
    const { changed = [], added = [], removed = [], omitted } = data.changes
    expect(estimateTokens(JSON.stringify(data.changes))).toBeLessThan(1600)
    expect(changed.length + added.length + removed.length).toBeGreaterThan(20)
    expect(omitted).toBeGreaterThan(300)
    expect(actedText(data)).toContain(`… ${omitted} more changes`)
  })

  test("of a large window that opened is limited, and omitted nodes are counted", async () => {
    const { ok, app, ref } = form([
      { role: "button", name: "Options", does: () => app.window("Options", many(400), { id: "w-2" }) },
    ])
    await ok("snapshot")
    const { changes } = await ok("click", { ref_id: await ref("Options"), changes: true })
    expect(estimateTokens(JSON.stringify(changes))).toBeLessThan(1600)
    const [{ tree }] = changes.opened
    expect(tree.children.length).toBeGreaterThan(20)
    expect(tree.children_count).toBeGreaterThan(300)
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

test("as text, an action without --changes is one line, with its menu below", async () => {
  const { ok, app, ref } = form([
    {
      role: "button",
      name: "Item",
      does: (_, { kind }) => {
        if (kind === "right-click")
          app.show("menu", { role: "menu", children: [{ role: "menuitem", name: "Copy" }] })
      },
    },
  ])
  await ok("snapshot")
  expect(actedText(await ok("check", { ref_id: await ref("Agree") }))).toBe(
    'check checkbox "Agree" [@e2] checked delivered_verified\n',
  )
  expect(actedText(await ok("check", { ref_id: await ref("Agree") }))).toBe(
    'check checkbox "Agree" [@e2] not_delivered\nnothing had to be sent\n',
  )
  expect(actedText(await ok("click", { ref_id: await ref("Item") }))).toBe(
    'click button "Item" [@e4] delivered_unverified (retry unsafe)\n',
  )
  expect(actedText(await ok("right-click", { ref_id: await ref("Item") }))).toBe(
    'right-click button "Item" [@e4] delivered_verified\nmenu\n  menuitem "Copy" [@e5]\n',
  )
})
