import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { AppError } from "../../src/errors.ts"
import { clearDesks, desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import { form, nodes, refsOf } from "../support/form.ts"
import type { Json } from "../support/json.ts"

afterAll(clearDesks)

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

  test("--compact leaves out the text of a shortcut that is the hint of its menu item", async () => {
    const { ok, app } = form()
    const texts = ["Save", "Ctrl+S"].map((name) => ({ role: "statictext", name }) as const)
    app.show("menu", {
      role: "menu",
      children: [{ role: "menuitem", name: "Save", hint: "Ctrl+S", children: texts }],
    })
    expect((await ok("snapshot", { surface: "menu", compact: true })).tree).toEqual({
      role: "menu",
      children: [{ ref_id: "@e1", role: "menuitem", name: "Save", hint: "Ctrl+S" }],
    })
  })

  test("--compact leaves out a label around the field that it names", async () => {
    const { ok, app } = form()
    const label = (text: string, field: string) =>
      ({ role: "label", value: text, children: [{ role: "textfield", name: field }] }) as const
    app.show("sheet", { role: "sheet", children: [label("City:", "City"), label("Now", "Date")] })
    expect((await ok("snapshot", { surface: "sheet", compact: true })).tree.children).toEqual([
      { ref_id: "@e1", role: "textfield", name: "City" },
      { role: "label", value: "Now", children: [{ ref_id: "@e2", role: "textfield", name: "Date" }] },
    ])
  })

  test("-i keeps the message of an alert or a small dialog, and not the texts inside its buttons", async () => {
    const { ok, app } = form()
    const box = (role: "alert" | "dialog", buttons: number): Spec => ({
      role,
      children: [
        { role: "group", children: [{ role: "statictext", name: "Erase everything?" }] },
        ...Array.from({ length: buttons }, (_, i) => ({
          role: "button" as const,
          name: `B${i}`,
          children: [{ role: "statictext" as const, name: `B${i}` }],
        })),
      ],
    })
    const texts = async (spec: Spec): Promise<unknown[]> => {
      app.show("alert", spec)
      const { tree } = await ok("snapshot", { surface: "alert", interactive_only: true })
      return nodes(tree).flatMap(({ role, value }) => (role === "statictext" ? [value] : []))
    }
    expect(await texts(box("alert", 2))).toEqual(["Erase everything?"])
    expect(await texts(box("dialog", 3))).toEqual(["Erase everything?"])
    expect(await texts(box("dialog", 20))).toEqual([])
  })

  test("--compact puts the cells of a table into rows, and leaves empty ones out", async () => {
    const { ok, app } = form()
    const cell = (name: string | undefined, value?: string, children: readonly Spec[] = []): Spec => ({
      role: "cell",
      name,
      value,
      children,
    })
    const look = async (...children: readonly Spec[]) => {
      app.show("sheet", { role: "sheet", children: [{ role: "table", name: "T", children }] })
      const { tree, ref_count } = await ok("snapshot", { surface: "sheet", compact: true })
      const [table] = tree.children
      return { ref_count, empty: table.empty_cells, rows: table.children.map(namesIn) }
    }
    const namesIn = (node: Json): unknown =>
      node.role === "row" ? node.children.map(namesIn) : `${node.ref_id} ${node.name}`
    expect(
      await look(cell("A1", "x"), cell("B1", ""), cell("A2", ""), cell("B2", "1"), cell("C2", "2")),
    ).toEqual({
      ref_count: 3,
      empty: 2,
      rows: ["@e1 A1", ["@e4 B2", "@e5 C2"]],
    })
    const selected = (one: Spec): Spec => ({ ...one, states: ["enabled", "selected"] })
    const picture = selected(cell(undefined))
    const chosen = selected(cell(undefined, undefined, [picture, selected(cell("c.txt"))]))
    expect((await look(chosen, cell("9 KB"))).rows).toEqual(["@e3 c.txt", "@e4 9 KB"])
    const header = (name: string): Spec => ({ role: "columnheader", name })
    const file = cell(undefined, undefined, [cell(undefined), cell("a.txt")])
    expect(
      await look(header("Name"), header("Size"), file, cell("3 KB"), cell("b"), cell(undefined)),
    ).toEqual({
      ref_count: 3,
      empty: 1,
      rows: ["undefined Name", "undefined Size", ["@e3 a.txt", "@e4 3 KB"], "@e5 b"],
    })
  })

  test("a truncated value reports its whole length", async () => {
    const { ok, app } = form()
    app.show("sheet", {
      role: "sheet",
      children: [{ role: "textfield", name: "Log", value: "abc…", valueLength: 1_800_000 }],
    })
    const { tree } = await ok("snapshot", { surface: "sheet" })
    expect(tree.children[0]).toMatchObject({ value: "abc…", value_length: 1_800_000 })
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

describe("elements that are scrolled out of view", () => {
  const out = (name: string): Spec => ({ role: "button", name, states: ["enabled", "offscreen"] })
  const list = (...children: readonly Spec[]): Spec => ({
    role: "sheet",
    children: [{ role: "scrollarea", children }],
  })
  const look = async (spec: Spec, args: object = {}) => {
    const { ok, app } = form()
    app.show("sheet", spec)
    return ok("snapshot", { surface: "sheet", ...args })
  }
  const MANY = list(
    out("One"),
    { role: "button", name: "Two" },
    {
      role: "group",
      name: "Rest",
      states: ["offscreen"],
      children: [out("Three"), { role: "statictext", value: "x", states: ["offscreen"] }],
    },
  )

  test("are counted at their place, by side, and not shown", async () => {
    const { tree, ref_count, offscreen_count, offscreen_at_least } = await look(MANY)
    expect([ref_count, offscreen_count, offscreen_at_least]).toEqual([1, 2, undefined])
    expect(tree.children).toEqual([
      {
        role: "scrollarea",
        offscreen: { above: 1, below: 1 },
        children: [{ ref_id: "@e1", role: "button", name: "Two" }],
      },
    ])
  })

  test("are shown with --offscreen, with their state, and as many as were counted", async () => {
    const { tree, ref_count, offscreen_count } = await look(MANY, { offscreen: true })
    expect(offscreen_count).toBeUndefined()
    expect(refsOf(tree)).toEqual({ One: "@e1", Two: "@e2", Three: "@e3" })
    expect(ref_count).toBe(3)
    expect(tree.children[0].children[0].states).toEqual(["enabled", "offscreen"])
  })

  test("do not change with -i and --compact", async () => {
    for (const args of [{ interactive_only: true }, { compact: true }, { budget: 400 }])
      expect(await look(MANY, args)).toMatchObject({ ref_count: 1, offscreen_count: 2 })
  })

  test("keep the parent of a visible element, even if the parent reports that it is hidden", async () => {
    const { tree } = await look(
      list({ role: "group", states: ["offscreen"], children: [{ role: "button", name: "Shown" }] }),
    )
    expect(refsOf(tree)).toEqual({ Shown: "@e1" })
  })

  test("of nested containers count once, below the one that scrolls", async () => {
    const { tree } = await look(
      list({ role: "list", children: [{ role: "button", name: "A" }, out("B")] }, out("C")),
    )
    expect(tree.children[0]).toMatchObject({ offscreen: { below: 2 } })
    expect(tree.children[0].children[0].offscreen).toBeUndefined()
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
    expect(nodes(tree).find(({ name }) => name === "Level 3")).toEqual({
      role: "group",
      name: "Level 3",
      children_count: 2,
    })
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
