import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { AppError } from "../../src/errors.ts"
import { SURFACES } from "../../src/node.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"

afterAll(clearDesks)

/** A window with structure, wrappers, hidden parts and every kind of text. */
const FORM: readonly Spec[] = [
  { role: "statictext", name: "Welcome" },
  {
    role: "toolbar",
    children: [
      { role: "button", name: "Back", states: ["enabled"] },
      { role: "button", name: "Forward", states: ["disabled"] },
    ],
  },
  {
    role: "group",
    children: [
      {
        role: "group",
        children: [{ role: "textfield", name: "Search", value: "", states: ["enabled", "focused"] }],
      },
    ],
  },
  { role: "group", name: "Empty", children: [{ role: "separator" }] },
  { role: "menu", name: "Closed", hidden: true, children: [{ role: "menuitem", name: "Hidden item" }] },
  { role: "image", name: "Logo", actions: ["Click"] },
  {
    role: "scrollarea",
    actions: ["SetFocus", "Scroll"],
    children: [{ role: "checkbox", name: "Agree", states: ["enabled", "unchecked"] }],
  },
]

function form() {
  const it = desk()
  const app = it.world.app("Shop", { pid: 10 })
  const window = app.window("Order", FORM, { id: "w-1" })
  return { ...it, app, window }
}

/** All nodes of a printed tree, depth first. */
const nodes = (tree: Json): Json[] => [tree, ...(tree.children ?? []).flatMap(nodes)]
const refsOf = (tree: Json): Record<string, string> =>
  Object.fromEntries(nodes(tree).flatMap((node) => (node.ref_id ? [[node.name, node.ref_id]] : [])))

describe("numbering", () => {
  test("refs are given to interactive elements, depth first, parents before children", async () => {
    const { ok } = form()
    const { tree, ref_count } = await ok("snapshot")
    expect(refsOf(tree)).toEqual({ Back: "@e1", Forward: "@e2", Search: "@e3", Logo: "@e4", Agree: "@e5" })
    expect(ref_count).toBe(5)
  })

  test("@e5 is the same element with and without -i and --compact", async () => {
    const { ok } = form()
    const plain = refsOf((await ok("snapshot")).tree)
    for (const flags of [
      { interactive_only: true },
      { compact: true },
      { interactive_only: true, compact: true },
    ]) {
      const { tree, ref_count } = await ok("snapshot", flags)
      expect(refsOf(tree)).toEqual(plain)
      expect(ref_count).toBe(5)
    }
  })

  test("the root of a surface gets a ref if its role is interactive", async () => {
    const { ok, app } = form()
    app.show("focused", { role: "textfield", name: "Search", value: "" })
    const { tree, ref_count } = await ok("snapshot", { surface: "focused" })
    expect(tree).toEqual({ ref_id: "@e1", role: "textfield", name: "Search", value: "" })
    expect(ref_count).toBe(1)
  })
})

describe("pruning", () => {
  test("-i drops nodes without a ref and without remaining children; ancestors stay", async () => {
    const { ok } = form()
    expect((await ok("snapshot", { interactive_only: true })).tree).toEqual({
      role: "window",
      name: "Order",
      children: [
        {
          role: "toolbar",
          children: [
            { ref_id: "@e1", role: "button", name: "Back", states: ["enabled"] },
            { ref_id: "@e2", role: "button", name: "Forward", states: ["disabled"] },
          ],
        },
        {
          role: "group",
          children: [
            {
              role: "group",
              children: [
                {
                  ref_id: "@e3",
                  role: "textfield",
                  name: "Search",
                  value: "",
                  states: ["enabled", "focused"],
                },
              ],
            },
          ],
        },
        { ref_id: "@e4", role: "image", name: "Logo" },
        {
          role: "scrollarea",
          children: [{ ref_id: "@e5", role: "checkbox", name: "Agree", states: ["enabled", "unchecked"] }],
        },
      ],
    })
  })

  test("--compact replaces meaningless wrappers of one child, bottom up, but never the root", async () => {
    const { ok } = form()
    const { tree } = await ok("snapshot", { compact: true })
    expect(tree.role).toBe("window")
    expect(tree.children.map((node: Json) => node.name ?? node.value ?? node.role)).toEqual([
      "Welcome",
      "toolbar",
      "Search",
      "Empty",
      "Logo",
      "Agree",
    ])
  })

  test("the root stays even if it is a meaningless wrapper of one child", async () => {
    const { ok, app } = form()
    app.show("sheet", {
      role: "sheet",
      children: [{ role: "group", children: [{ role: "button", name: "OK" }] }],
    })
    expect((await ok("snapshot", { surface: "sheet", compact: true })).tree).toEqual({
      role: "sheet",
      children: [{ ref_id: "@e1", role: "button", name: "OK" }],
    })
  })

  test("an empty value is a value: such a node is kept", async () => {
    const { ok, app } = form()
    app.show("sheet", {
      role: "sheet",
      children: [{ role: "progressbar", value: "", children: [{ role: "statictext", name: "0 %" }] }],
    })
    const { tree } = await ok("snapshot", { surface: "sheet", compact: true })
    expect(tree.children[0]).toEqual({
      role: "progressbar",
      value: "",
      children: [{ role: "statictext", value: "0 %" }],
    })
  })

  test("hidden elements are left out unless asked for, and then numbered in their place", async () => {
    const { ok } = form()
    expect(nodes((await ok("snapshot")).tree).map((node) => node.name)).not.toContain("Hidden item")
    const all = refsOf((await ok("snapshot", { include_hidden: true })).tree)
    expect(all).toMatchObject({ Search: "@e3", "Hidden item": "@e4", Logo: "@e5" })
  })
})

describe("a node", () => {
  test("has its members in the contract's order, without absent ones and empty lists", async () => {
    const { run, app } = form()
    app.show("sheet", {
      role: "sheet",
      children: [
        {
          role: "button",
          name: "Save",
          value: "1",
          description: "Saves",
          hint: "Cmd+S",
          states: ["enabled"],
          bounds: { x: 1, y: 2, width: 3, height: 4 },
          children: [{ role: "image" }],
        },
        { role: "button", name: "", states: [] },
      ],
    })
    const { data } = await run("snapshot", { surface: "sheet", include_bounds: true })
    expect(JSON.stringify(data.tree.children)).toBe(
      '[{"ref_id":"@e1","role":"button","name":"Save","value":"1","description":"Saves","hint":"Cmd+S",' +
        '"states":["enabled"],"bounds":{"x":1,"y":2,"width":3,"height":4},"children":[{"role":"image"}]},' +
        '{"ref_id":"@e2","role":"button"}]',
    )
  })

  test("has bounds only on request, and coordinates that are not numbers become 0", async () => {
    const { ok, window } = form()
    window.root.children[1]!.children[0]!.bounds = { x: Number.NaN, y: 5, width: 10, height: 10 }
    expect(JSON.stringify(await ok("snapshot"))).not.toContain("bounds")
    const { tree } = await ok("snapshot", { include_bounds: true })
    expect(nodes(tree).find((node) => node.name === "Back").bounds).toEqual({
      x: 0,
      y: 5,
      width: 10,
      height: 10,
    })
    expect(tree.bounds).toEqual({ x: 0, y: 0, width: 1000, height: 800 })
  })

  test("never shows the value of a secure field, and does not store it", async () => {
    const { ok, app, root } = form()
    const password: Spec = {
      role: "textfield",
      name: "Password",
      value: "hunter2",
      states: ["enabled", "secure"],
    }
    app.show("sheet", { role: "sheet", children: [password] })
    const data = await ok("snapshot", { surface: "sheet" })
    expect(data.tree.children[0]).toEqual({
      ref_id: "@e1",
      role: "textfield",
      name: "Password",
      states: ["enabled", "secure"],
    })
    expect(readFileSync(`${root}/last_refmap.json`, "utf8")).not.toContain("hunter2")
  })

  test("in a splitter has its column as a hint, after its own hint", async () => {
    const { ok, app } = form()
    app.show("sheet", {
      role: "sheet",
      children: [
        {
          role: "splitter",
          children: [
            { role: "outline" },
            { role: "separator" },
            { role: "group", name: "Preview", hint: "Cmd+Y" },
          ],
        },
      ],
    })
    expect((await ok("snapshot", { surface: "sheet" })).tree.children[0].children).toEqual([
      { role: "outline", hint: "column 1 of 2" },
      { role: "separator" },
      { role: "group", name: "Preview", hint: "Cmd+Y; column 2 of 2" },
    ])
  })
})

describe("depth and completeness", () => {
  const deep = (levels: number): Spec =>
    levels === 0
      ? { role: "button", name: "Deepest" }
      : {
          role: "group",
          name: `Level ${levels}`,
          children: [deep(levels - 1), { role: "statictext", name: "x" }],
        }

  test("a node at the maximum depth reports how many children were not read", async () => {
    const { ok, app } = form()
    app.show("sheet", { role: "sheet", children: [deep(5)] })
    const { tree, complete, ref_count } = await ok("snapshot", { surface: "sheet", max_depth: 3 })
    const cut = nodes(tree).filter((node) => node.children_count !== undefined)
    expect(cut).toEqual([{ role: "group", name: "Level 3", children_count: 2 }])
    expect(complete).toBe(true)
    expect(ref_count).toBe(0)
  })

  test("a cut node stays under -i, since there is more below it", async () => {
    const { ok, app } = form()
    app.show("sheet", { role: "sheet", children: [deep(5)] })
    const { tree } = await ok("snapshot", {
      surface: "sheet",
      max_depth: 3,
      interactive_only: true,
      compact: true,
    })
    expect(nodes(tree).at(-1)).toEqual({ role: "group", name: "Level 3", children_count: 2 })
  })

  test("wrappers without a name do not count as depth", async () => {
    const wrapped = (levels: number): Spec =>
      levels === 0 ? { role: "button", name: "Inside" } : { role: "group", children: [wrapped(levels - 1)] }
    const { ok, app } = form()
    app.show("sheet", { role: "sheet", children: [wrapped(30)] })
    expect((await ok("snapshot", { surface: "sheet", max_depth: 2 })).ref_count).toBe(1)
  })

  test("a tree that was only partly read is returned with complete: false", async () => {
    const { ok, world } = form()
    world.nodeLimit = 4
    const { tree, complete, ref_count } = await ok("snapshot")
    expect(complete).toBe(false)
    expect(refsOf(tree)).toEqual({ Back: "@e1" })
    expect(ref_count).toBe(1)
    expect(tree.children_count).toBe(6)
  })
})

describe("surfaces", () => {
  test("each surface is read with its own root and title", async () => {
    const { ok, app } = form()
    for (const surface of SURFACES.filter((one) => one !== "window")) {
      app.show(surface, {
        role: surface === "focused" ? "window" : surface,
        name: `The ${surface}`,
        children: [{ role: "menuitem", name: "Open…" }],
      })
      const data = await ok("snapshot", { surface })
      expect(data).toMatchObject({ app: "Shop", ref_count: 1, window: { title: `The ${surface}` } })
      expect(data.tree.children[0]).toEqual({ ref_id: "@e1", role: "menuitem", name: "Open…" })
    }
  })

  test("a surface that is not open is not found", async () => {
    const { error } = form()
    expect((await error("snapshot", { surface: "menu" })).code).toBe("ELEMENT_NOT_FOUND")
  })

  test("a window without accessible content fails: an empty tree would look like an empty window", async () => {
    const { error, app } = form()
    app.window("Canvas", [], { id: "w-2", accessible: false, reason: "it was started without accessibility" })
    for (const [name, args] of [
      ["snapshot", {}],
      ["find", { role: "button" }],
      ["wait", { text: "x", timeout_ms: 0 }],
    ] as const) {
      const refused = await error(name, { ...args, window_id: "w-2" })
      expect(refused.code).toBe("PLATFORM_NOT_SUPPORTED")
      expect(refused.message).toBe(
        "Window 'w-2' of 'Shop' exposes no accessibility tree: it was started without accessibility",
      )
      expect(refused.suggestion).toContain("screenshot --window-id w-2")
    }
  })

  test("a window of a process that has just started gets some time to show its content", async () => {
    const { ok, error, app } = form()
    let looks = 0
    app.window("New", [{ role: "button", name: "Go" }], {
      id: "w-2",
      starting: true,
      get accessible() {
        return ++looks % 4 ? false : undefined
      },
    })
    expect((await ok("snapshot", { window_id: "w-2" })).ref_count).toBe(1)
    expect((await ok("wait", { window_id: "w-2", text: "Go" })).found).toBe(true)
    app.window("Never", [], { id: "w-3", starting: true, accessible: false, reason: "it is not there" })
    expect((await error("snapshot", { window_id: "w-3" })).code).toBe("PLATFORM_NOT_SUPPORTED")
  })

  test("a denied permission keeps the platform's message", async () => {
    const { run, world } = form()
    world.fail(
      "windows",
      new AppError("PERM_DENIED", "Accessibility permission not granted", {
        suggestion: "Open System Settings",
      }),
    )
    expect(await run("snapshot")).toEqual({
      version: "1.0",
      ok: false,
      command: "snapshot",
      error: {
        code: "PERM_DENIED",
        message: "Accessibility permission not granted",
        suggestion: "Open System Settings",
      },
    })
  })
})

describe("--root", () => {
  const cards: Spec[] = ["A", "B"].map((name) => ({
    role: "option",
    name: `Card ${name}`,
    children: [{ role: "button", name: `Open ${name}` }],
  }))

  function list() {
    const it = desk()
    const app = it.world.app("List", { pid: 10 })
    const window = app.window("All", [{ role: "list", name: "Cards", children: cards }], { id: "w-1" })
    return { ...it, app, window }
  }

  test("reads only the subtree; its refs are added, and all others stay the same", async () => {
    const { ok, world, refs } = list()
    const whole = await ok("snapshot")
    expect(refsOf(whole.tree)).toEqual({ "Card A": "@e1", "Open A": "@e2", "Card B": "@e3", "Open B": "@e4" })
    const before = await refs.load()
    world.at("Card A").add({ role: "button", name: "Share A" })
    const below = await ok("snapshot", { root: "@e1" })
    expect(refsOf(below.tree)).toEqual({ "Card A": "@e1", "Open A": "@e2", "Share A": "@e5" })
    expect(below).toMatchObject({
      app: "List",
      window: { id: "w-1", title: "All" },
      ref_count: 3,
      snapshot_id: whole.snapshot_id,
      complete: true,
    })
    const after = await refs.load()
    for (const [ref, entry] of before.inner) expect(after.inner.get(ref)).toEqual(entry)
  })

  test("gives refs that can be acted on like others, even after the element moved", async () => {
    const { ok, world } = list()
    world.hasAddresses = false
    await ok("snapshot")
    world.at("Card A").add({ role: "button", name: "Share A" })
    await ok("snapshot", { root: "@e1" })
    await ok("click", { ref_id: "@e5" })
    world.at("Cards").add({ role: "option", name: "Card 0" }, 0)
    await ok("click", { ref_id: "@e5" })
    expect(world.sent("Share A")).toEqual(["semantic click", "semantic click"])
  })

  test("gives refs with the snapshot id if the root ref had one", async () => {
    const { ok, world } = list()
    const old = await ok("snapshot")
    world.at("Card B").add({ role: "button", name: "Share B" })
    const newer = await ok("snapshot", { window_id: "w-1" })
    expect(newer.snapshot_id).not.toBe(old.snapshot_id)
    const id = old.snapshot_id
    for (const choice of [{ root: `@${id}:e3` }, { root: "@e3", snapshot: id }]) {
      const below = await ok("snapshot", choice)
      expect(below.snapshot_id).toBe(id)
      expect(refsOf(below.tree)).toEqual({
        "Card B": `@${id}:e3`,
        "Open B": `@${id}:e4`,
        "Share B": `@${id}:e5`,
      })
    }
    await ok("click", { ref_id: `@${id}:e5` })
    expect(world.sent("Share B")).toEqual(["semantic click"])
  })

  test("reads a subtree completely or fails", async () => {
    const { ok, error, world, refs } = list()
    await ok("snapshot")
    const before = [...(await refs.load()).inner.keys()]
    world.nodeLimit = 1
    expect(await error("snapshot", { root: "@e1" })).toMatchObject({
      code: "TIMEOUT",
      details: { kind: "subtree" },
    })
    expect([...(await refs.load()).inner.keys()]).toEqual(before)
  })

  test("excludes --app and --window-id, and --snapshot needs it", async () => {
    const { error } = list()
    for (const args of [
      { root: "@e1", app: "List" },
      { root: "@e1", window_id: "w-1" },
      { snapshot: "sabcdefgh" },
    ])
      expect((await error("snapshot", args)).code).toBe("INVALID_ARGS")
  })
})

test("every snapshot replaces the map, and a failed one keeps it", async () => {
  const { ok, error, world, refs } = form()
  const first = await ok("snapshot")
  expect((await refs.load()).snapshot_id).toBe(first.snapshot_id)
  world.fail("tree", new AppError("APP_UNRESPONSIVE", "No answer"))
  expect((await error("snapshot")).code).toBe("APP_UNRESPONSIVE")
  expect((await refs.load()).snapshot_id).toBe(first.snapshot_id)
  const second = await ok("snapshot")
  expect((await refs.load()).snapshot_id).toBe(second.snapshot_id)
  expect((await refs.load(first.snapshot_id)).inner.size).toBe(5)
})

test("refs in a window that another process fills belong to that process", async () => {
  const { ok, error, app, world } = form()
  const renderer = world.app("Renderer", { pid: 11 })
  app.window("Page", [{ role: "link", name: "Next" }], { id: "w-2", filledBy: renderer })
  await ok("snapshot", { window_id: "w-2" })
  await ok("click", { ref_id: "@e1" })
  expect(world.sent("Next")).toEqual(["semantic click"])
  renderer.start = "another life"
  expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
})

test("a tree whose refs do not fit into a map is cut in reading order, and every ref that is shown works", async () => {
  const it = desk()
  const many = Array.from({ length: 40 }, (_, row): Spec => {
    const buttons = Array.from(
      { length: 50 },
      (_, i): Spec => ({ role: "button", name: `${row}-${i} ${"x".repeat(1000)}`, states: ["enabled"] }),
    )
    return { role: "list", name: `Part ${row}`, children: buttons }
  })
  it.world.app("Shop", { pid: 10 }).window("Order", many, { id: "w-1" })
  const { tree, ref_count, complete } = await it.ok("snapshot")

  expect(complete).toBe(false)
  expect(ref_count).toBeGreaterThan(200)
  const shown = nodes(tree).filter(({ role }) => role === "button")
  expect(shown.map(({ name }) => name.split(" ")[0])).toEqual(
    Array.from({ length: ref_count }, (_, i) => `${Math.floor(i / 50)}-${i % 50}`),
  )
  const cut = nodes(tree).filter(({ children_count }) => children_count !== undefined)
  expect(cut.map(({ role, children_count }) => [role, children_count])).toContainEqual(["window", 40])
  const last = shown.at(-1)!
  expect((await it.ok("get", { ref_id: last.ref_id, property: "name" })).value).toBe(last.name)
})
