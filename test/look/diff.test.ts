import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import fc from "fast-check"
import { diffTrees } from "../../src/look/diff.ts"
import { snapshotText } from "../../src/look/outline.ts"
import type { Node, State } from "../../src/node.ts"
import { nodesOf } from "../support/answers.ts"
import { desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"

const diff = (before: Node, after: Node, more = {}) =>
  diffTrees(before, after, { complete: true, interactive_only: false, ...more })
const window = (...children: Node[]): Node => ({ role: "window", name: "W", children })
const button = (ref_id: string, name: string, ...states: State[]): Node => ({
  ref_id,
  role: "button",
  name,
  ...(states.length ? { states } : {}),
})
const text = (name: string): Node => ({ role: "statictext", name })

describe("between two trees", () => {
  test("new nodes are reported with their new children and their path, without meaningless ones", () => {
    const before = window({ role: "toolbar", name: "Tools", children: [button("@e1", "Save")] })
    const dialog: Node = {
      role: "group",
      children: [{ role: "group", children: [text("Sure?"), button("@e2", "Yes"), { role: "separator" }] }],
    }
    const after = window({ role: "toolbar", name: "Tools", children: [button("@e1", "Save"), dialog] })
    expect(diff(before, after)).toEqual({
      added: [
        { ...text("Sure?"), path: ["Tools"] },
        { ...button("@e2", "Yes"), path: ["Tools"] },
      ],
    })
    expect(diff(before, after, { interactive_only: true })).toEqual({
      added: [{ ...button("@e2", "Yes"), path: ["Tools"] }],
    })
  })

  test("of removed nodes only the topmost meaningful one is reported", () => {
    const dialog: Node = {
      role: "dialog",
      name: "Sure?",
      children: [button("@e2", "Yes"), button("@e3", "No")],
    }
    const before = window(button("@e1", "Save"), { role: "group", children: [dialog] })
    expect(diff(before, window(button("@e1", "Save")))).toEqual({
      removed: [{ role: "dialog", name: "Sure?" }],
    })
    expect(diff(before, window(button("@e1", "Save")), { interactive_only: true })).toEqual({
      removed: [button("@e2", "Yes"), button("@e3", "No")],
    })
  })

  test("a changed node is reported with its new content and the old members that changed", () => {
    const before = window(
      button("@e1", "Agree", "enabled", "unchecked"),
      text("0 items"),
      button("@e2", "Same"),
    )
    const after = window(button("@e1", "Agree", "checked", "enabled"), text("1 item"), button("@e2", "Same"))
    expect(diff(before, after)).toEqual({
      changed: [
        { ...button("@e1", "Agree", "checked", "enabled"), was: { states: ["enabled", "unchecked"] } },
        { role: "statictext", name: "1 item", was: { name: "0 items" } },
      ],
    })
    expect(diff(before, after, { interactive_only: true }).changed).toHaveLength(1)
  })

  test("a value that appears or disappears counts as a change from or to an empty one", () => {
    const field = (value?: string): Node => ({
      ref_id: "@e1",
      role: "textfield",
      ...(value ? { value } : {}),
    })
    expect(diff(window(field()), window(field("x"))).changed?.[0]?.was).toEqual({ value: "" })
    expect(diff(window(field("x")), window(field())).changed?.[0]?.was).toEqual({ value: "x" })
  })

  test("a moved element is the same, and a new wrapper around it is not reported", () => {
    const before = window(button("@e1", "A"), { role: "group", name: "G", children: [button("@e2", "B")] })
    const after = window({
      role: "group",
      name: "G",
      children: [button("@e2", "B"), { role: "group", children: [button("@e1", "A")] }],
    })
    expect(diff(before, after)).toEqual({})
  })

  test("rows inserted before others do not change the others", () => {
    const row = (i: number): Node => ({ role: "row", children: [text(`Row ${i}`), button(`@e${i}`, "Open")] })
    const rows = Array.from({ length: 50 }, (_, i) => row(i + 1))
    const after = window(row(51), ...rows.slice(0, 20), ...rows.slice(21))
    expect(diff(window(...rows), after)).toEqual({
      added: [row(51)],
      removed: [text("Row 21"), button("@e21", "Open")],
    })
  })

  test("an object with a new name is a change, with its old and new ref; another object is not", () => {
    const before = window(button("@e1", "Play"), button("@e2", "Stop"))
    const after = window(button("@e3", "Pause"), button("@e2", "Stop"))
    expect(diff(before, after)).toEqual({ added: [button("@e3", "Pause")], removed: [button("@e1", "Play")] })
    const address = (ref: string) => (ref === "@e2" ? "stop" : "play")
    expect(diff(before, after, { addresses: { before: address, after: address } })).toEqual({
      changed: [{ ...button("@e3", "Pause"), was: { ref_id: "@e1", name: "Play" } }],
    })
  })

  test("nodes of a subtree that was not read completely are not reported as removed", () => {
    const list = (count: number, ...children: Node[]): Node => ({
      role: "list",
      children_count: count,
      children,
    })
    const before = window({ role: "list", children: [text("a"), text("b"), text("c")] }, text("d"))
    const cut = diff(before, window(list(3, text("a"))), { complete: false })
    expect(cut.removed).toEqual([text("d")])
    expect(diff(before, window(list(3, text("a")))).removed).toEqual([text("b"), text("c"), text("d")])
  })
})

const { plain } = fc.letrec<{ plain: Node }>((tie) => ({
  plain: fc.record(
    {
      role: fc.constantFrom("group", "list", "statictext", "button", "textfield"),
      name: fc.constantFrom("a", "b", "c"),
      value: fc.constantFrom("", "x".repeat(300)),
      children: fc.oneof(
        { maxDepth: 3, depthIdentifier: "tree" },
        fc.constant<readonly Node[]>([]),
        fc.array(tie("plain"), { maxLength: 5, depthIdentifier: "tree" }),
      ),
    },
    { requiredKeys: ["role"] },
  ),
}))

const numbered = (tree: Node): Node => {
  let last = 0
  const visit = ({ role, name, value, children }: Node): Node => {
    const ref = role === "button" || role === "textfield" ? { ref_id: `@e${++last}` } : {}
    const below = children?.length ? { children: children.map(visit) } : {}
    return { ...ref, role, ...(name ? { name } : {}), ...(value === undefined ? {} : { value }), ...below }
  }
  return visit({ ...tree, role: "window" })
}
const mapNodes = (tree: Node, change: (node: Node) => Node[]): Node => ({
  ...tree,
  children: tree.children?.flatMap((child) => change(child).map((one) => mapNodes(one, change))),
})

describe("for any tree", () => {
  const aTree = plain.map(numbered)

  test("a tree does not differ from itself", () => {
    fc.assert(fc.property(aTree, (tree) => expect(diff(tree, structuredClone(tree))).toEqual({})))
  })

  test("one more element is one added, one less is one removed, and nothing else", () => {
    fc.assert(
      fc.property(aTree, fc.nat(), fc.nat(), (tree, at, where) => {
        const parents = nodesOf(tree)
        const parent = parents[at % parents.length]!
        const extra = button("@e9999", "New")
        const grow = (node: Node): Node => {
          const children = (node.children ?? []).map(grow)
          if (node === parent) children.splice(where % (children.length + 1), 0, extra)
          return children.length ? { ...node, children } : node
        }
        const grown = grow(tree)
        const path = expect.any(Array)
        const { added = [], ...rest } = diff(tree, grown)
        expect(rest).toEqual({})
        expect(added).toHaveLength(1)
        expect([added[0], { ...added[0], path }]).toContainEqual({
          ...extra,
          ...(added[0]?.path ? { path } : {}),
        })
        expect(diff(grown, tree)).toEqual({ removed: [extra] })
      }),
    )
  })

  test("a new value of one element is one change", () => {
    fc.assert(
      fc.property(aTree, fc.nat(), (tree, at) => {
        const refs = nodesOf(tree).filter(({ ref_id }) => ref_id)
        fc.pre(refs.length > 0)
        const chosen = refs[at % refs.length]!
        const after = mapNodes(tree, (node) => [node === chosen ? { ...node, value: "another" } : node])
        const { changed, ...rest } = diff(tree, after)
        expect(rest).toEqual({})
        expect(changed?.map(({ ref_id, was }) => [ref_id, Object.keys(was)])).toEqual([
          [chosen.ref_id, ["value"]],
        ])
      }),
    )
  })
})

const FORM: readonly Spec[] = [
  { role: "statictext", name: "Ready" },
  {
    role: "toolbar",
    name: "Tools",
    children: [
      { role: "button", name: "Save", states: ["enabled"] },
      { role: "button", name: "Print", states: ["disabled"] },
    ],
  },
  { role: "textfield", name: "Search", value: "", states: ["enabled"] },
  { role: "textfield", name: "Password", value: "hunter2", states: ["secure"] },
]

describe("snapshot --diff", () => {
  function form() {
    const it = desk()
    const app = it.world.app("Shop", { pid: 10 })
    const one = app.window("Order", FORM, { id: "w-1" })
    return { ...it, app, one }
  }

  test("reports the difference to the newest snapshot, and becomes the newest itself", async () => {
    const { ok, world, one } = form()
    const first = await ok("snapshot")
    world.at("Search").set({ value: "cat" })
    one.root.add({ role: "button", name: "Clear" }, 0)
    world.at("Print").remove()
    const second = await ok("snapshot", { diff: "last" })
    expect(second).toEqual({
      app: "Shop",
      window: { id: "w-1", title: "Order" },
      ref_count: 2,
      snapshot_id: expect.stringMatching(/^s/),
      since: first.snapshot_id,
      complete: true,
      changes: {
        added: [{ ref_id: "@e5", role: "button", name: "Clear" }],
        removed: [{ ref_id: "@e2", role: "button", name: "Print", states: ["disabled"] }],
        changed: [
          {
            ref_id: "@e3",
            role: "textfield",
            name: "Search",
            value: "cat",
            states: ["enabled"],
            was: { value: "" },
          },
        ],
      },
    })
    expect(second.snapshot_id).not.toBe(first.snapshot_id)
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({})
    expect((await ok("snapshot", { diff: first.snapshot_id })).changes).toEqual({
      ...second.changes,
      added: [{ ref_id: expect.stringMatching(/^@s\w{8}:e5$/), role: "button", name: "Clear" }],
      removed: [{ ...second.changes.removed[0], ref_id: `@${first.snapshot_id}:e2` }],
      changed: [{ ...second.changes.changed[0], ref_id: expect.stringMatching(/^@s\w{8}:e3$/) }],
    })
  })

  test("no ref changes its meaning: known elements keep theirs, new ones get new ones, removed ones fail", async () => {
    const { ok, error, world, one } = form()
    await ok("snapshot")
    const save = world.at("Save")
    one.root.add({ role: "button", name: "First" }, 0)
    world.at("Print").remove()
    await ok("snapshot", { diff: "last" })
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
    expect((await error("click", { ref_id: "@e2" })).code).toBe("STALE_REF")
    save.remove()
    one.root.add({ role: "button", name: "Second" }, 0)
    const { changes } = await ok("snapshot", { diff: "last" })
    expect(changes.added).toEqual([{ ref_id: "@e6", role: "button", name: "Second" }])
    expect((await error("click", { ref_id: "@e1" })).code).toBe("STALE_REF")
    await ok("click", { ref_id: "@e5" })
    expect(world.sent("First")).toEqual(["semantic click"])
  })

  test("after a comparison with an older snapshot, the newest keeps its place and its refs", async () => {
    const { ok, world, one, refs } = form()
    const old = await ok("snapshot")
    one.root.add({ role: "button", name: "First" }, 0)
    const newest = await ok("snapshot")
    const { changes, snapshot_id } = await ok("snapshot", { diff: old.snapshot_id })
    expect((await refs.load()).snapshot_id).toBe(newest.snapshot_id)
    expect(changes.added).toEqual([{ ref_id: `@${snapshot_id}:e5`, role: "button", name: "First" }])
    await ok("click", { ref_id: "@e1" })
    await ok("click", { ref_id: changes.added[0].ref_id })
    expect(world.sent("First")).toEqual(["semantic click", "semantic click"])
  })

  test("refs of other windows and of drilled subtrees stay valid", async () => {
    const { ok, app, world } = form()
    app.window("Other", [{ role: "button", name: "Elsewhere" }], { id: "w-2" })
    await ok("snapshot", { window_id: "w-1", budget: 120 })
    const found = await ok("find", { window_id: "w-2", name: "Elsewhere" })
    await ok("snapshot", { window_id: "w-1", diff: "last" })
    await ok("click", { ref_id: found.matches[0].ref_id })
    expect(world.sent("Elsewhere")).toEqual(["semantic click"])
  })

  test("without addresses, a moved element is recognized by its content if that is unique", async () => {
    const { ok, world, one } = form()
    world.hasAddresses = false
    await ok("snapshot")
    one.root.add({ role: "statictext", name: "Welcome" }, 0)
    for (const element of one.root.all()) element.bounds = { x: 1, y: 2, width: 3, height: 4 }
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({
      added: [{ role: "statictext", value: "Welcome" }],
    })
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
  })

  test("an element that gets a new address at every look is still the same", async () => {
    const { ok, world, one } = form()
    await ok("snapshot")
    for (const name of ["Save", "Search"]) {
      const { role, value, states, parent } = world.at(name)
      const at = parent!.children.indexOf(world.at(name))
      world.at(name).remove()
      parent!.add({ role, name, value, states }, at)
    }
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({})
    await ok("click", { ref_id: "@e1" })
    expect(world.sent("Save")).toEqual(["semantic click"])
    one.root.add({ role: "button", name: "Save" }, 0)
    world.at("Tools").children[0]!.remove()
    // An element of the same name in another place is another one.
    expect((await ok("snapshot", { diff: "last" })).changes.added ?? []).toHaveLength(1)
  })

  test("reads the same surface as the earlier snapshot", async () => {
    const { ok, app } = form()
    app.show("menu", { role: "menu", name: "File", children: [{ role: "menuitem", name: "Open" }] })
    await ok("snapshot", { surface: "menu", app: "Shop" })
    app.surfaces.get("menu")!.root.add({ role: "menuitem", name: "Close" })
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({
      added: [{ ref_id: "@e2", role: "menuitem", name: "Close" }],
    })
  })

  test("as text, the difference is one line per change", async () => {
    const { ok, world, one } = form()
    const { snapshot_id: since } = await ok("snapshot")
    world.at("Tools").add({ role: "menubutton", name: "More", children: [{ role: "image", name: "Dots" }] })
    world.at("Print").remove()
    world.at("Ready").set({ name: "Done" })
    const data = await ok("snapshot", { diff: "last" })
    expect(snapshotText(data)).toBe(
      [
        `"Shop" w-1 "Order" ${data.snapshot_id} since ${since}`,
        '+ menubutton "More" [@e5] in "Tools"',
        '    image "Dots"',
        '- button "Print" [@e2] disabled',
        '~ statictext "Done" was "Ready"',
        "",
      ].join("\n"),
    )
    expect(one.root.children.length).toBe(4)
    expect(snapshotText(await ok("snapshot", { diff: "last" }))).toEndWith("\nno changes\n")
  })

  test("stored trees are private, contain no secure values, and are deleted together with their map", async () => {
    const { ok, root, world } = form()
    world.at("Search").set({ value: "y".repeat(10_000) })
    const { snapshot_id } = await ok("snapshot")
    const path = `${root}/trees/${snapshot_id}.json`
    const kept = readFileSync(path, "utf8")
    expect(kept).not.toContain("hunter2")
    expect(kept.length).toBeLessThan(2000)
    expect([statSync(path).mode & 0o777, statSync(`${root}/trees`).mode & 0o777]).toEqual([0o600, 0o700])
    for (let i = 0; i < 50; i++) await ok("snapshot")
    const names = readdirSync(`${root}/snapshots`)
    expect(readdirSync(`${root}/trees`).sort()).toEqual(names.sort())
    expect((await ok("snapshot", { diff: "last" })).changes).toEqual({})
    world.at("Search").set({ value: `${"y".repeat(9_999)}z` })
    expect((await ok("snapshot", { diff: "last" })).changes.changed).toHaveLength(1)
  })

  test("a missing snapshot, another window and conflicting flags are refused", async () => {
    const { ok, error, app, refs } = form()
    expect((await error("snapshot", { diff: "last" })).code).toBe("SNAPSHOT_NOT_FOUND")
    expect((await error("snapshot", { diff: "saaaaaaaa" })).code).toBe("SNAPSHOT_NOT_FOUND")
    await refs.save([])
    expect((await error("snapshot", { diff: "last" })).code).toBe("SNAPSHOT_NOT_FOUND")
    await ok("snapshot")
    app.window("Other", [], { id: "w-2" })
    expect((await error("snapshot", { diff: "last", window_id: "w-2" })).message).toContain(
      "is of window 'w-1'",
    )
    for (const args of [{ root: "@e1" }, { skeleton: true }, { budget: 400 }])
      expect((await error("snapshot", { diff: "last", ...args })).code).toBe("INVALID_ARGS")
  })
})
