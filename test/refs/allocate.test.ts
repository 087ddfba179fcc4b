import { describe, expect, test } from "bun:test"
import type { Handle, SeenNode, SeenTree } from "../../src/adapter.ts"
import { compact } from "../../src/look/compact.ts"
import { allRoles, hasTrait, type Node, type Role } from "../../src/node.ts"
import { allocateRefs, countRefs, entriesFor, keepInteractive, toNode } from "../../src/refs/allocate.ts"
import { contextOf, ownName } from "../../src/refs/identity.ts"
import { isInteractive, isWrapper, walk } from "../../src/tree.ts"

// No function under test looks inside a handle.
const handle = {} as unknown as Handle

function node(role: Role, facts: Partial<SeenNode> = {}): SeenNode {
  return { handle, role, states: [], children: [], ...facts }
}

const treeOf = (root: SeenNode): SeenTree => ({
  root,
  window: { id: "w-1", title: "Window" },
  app: "App",
  pid: 10,
  complete: true,
})
const source = { pid: 10, app: "App", windowId: "w-1", processStart: "99", rootPath: [] }

describe("refs are given to", () => {
  test("the interactive roles of the contract, not to structural ones", () => {
    const roles =
      "button textfield checkbox link menuitem tab slider combobox treeitem cell radiobutton incrementor " +
      "menubutton switch colorwell dockitem listbox option canvas datefield timefield"
    const interactive = allRoles().filter((role) => hasTrait(role, "interactive"))
    expect(interactive.toSorted().join(" ")).toBe(roles.split(" ").sort().join(" "))
    for (const role of allRoles()) expect(isInteractive({ role })).toBe(interactive.includes(role))
    const structural = "window group statictext label separator toolbar scrollbar image container"
    expect(allRoles()).toEqual(expect.arrayContaining(structural.split(" ")))
  })

  test("any node with a real action; taking the focus and scrolling do not count", () => {
    expect(isInteractive({ role: "image", actions: ["Click"] })).toBe(true)
    expect(isInteractive({ role: "row", actions: ["SetFocus", "Expand"] })).toBe(true)
    expect(isInteractive({ role: "group", actions: ["SetFocus", "Scroll", "ScrollTo", "RightClick"] })).toBe(
      false,
    )
    expect(isInteractive({ role: "group", actions: [] })).toBe(false)
  })

  test("no window, even if it has actions", () => {
    const root = node("window", { actions: ["Click"], children: [node("button")] })
    expect(allocateRefs(treeOf(root), source).tree).toEqual({
      role: "window",
      children: [{ ref_id: "@e1", role: "button" }],
    })
  })
})

describe("entries", () => {
  test("have the documented members, and evidence for finding the element again", () => {
    const save = node("button", {
      name: "Save",
      states: ["enabled"],
      bounds: { x: 100, y: 50, width: 80, height: 30 },
      actions: ["Click"],
      address: ":1.5/a",
      identifier: "save",
      index: 4,
    })
    const { entries } = allocateRefs(
      treeOf(node("window", { children: [node("group", { index: 2, children: [save] })] })),
      source,
    )
    expect(entries).toEqual([
      {
        pid: 10,
        role: "button",
        name: "Save",
        value: undefined,
        states: ["enabled"],
        bounds: { x: 100, y: 50, width: 80, height: 30 },
        bounds_hash: 7255865167679474841n,
        available_actions: ["Click"],
        source_app: "App",
        process_start: "99",
        window_id: "w-1",
        address: ":1.5/a",
        path: [2, 4],
        identifier: "save",
        context: { above: "" },
        has_twin: undefined,
      },
    ])
  })

  test("have paths that start at the root's path and count hidden siblings", () => {
    const root = node("group", { children: [node("group"), node("group", { children: [node("button")] })] })
    const places = [...walk(root)]
    const [entry] = entriesFor([places.at(-1)!], places, { ...source, rootPath: [7] })
    expect(entry?.path).toEqual([7, 1, 0])
    expect(entriesFor([places.at(-1)!], places, { ...source, rootPath: undefined })[0]?.path).toBeUndefined()
  })

  test("record whether other elements had the same role, name and identifier", () => {
    const root = node("window", {
      children: [
        node("button", { name: "Delete" }),
        node("button", { name: "Delete" }),
        node("button", { name: "Delete", identifier: "main" }),
        node("link", { name: "Delete" }),
        node("combobox", { name: "10", value: "10" }),
        node("combobox", { name: "12", value: "12" }),
        node("textfield", { name: "Name", value: "x" }),
      ],
    })
    const { entries } = allocateRefs(treeOf(root), source)
    expect(entries.map((entry) => entry.has_twin ?? false)).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ])
  })

  test("never hold the value of a secure field", () => {
    const root = node("window", { children: [node("textfield", { value: "hunter2", states: ["secure"] })] })
    const { entries, tree } = allocateRefs(treeOf(root), source)
    expect(entries[0]?.value).toBeUndefined()
    expect(JSON.stringify(tree)).not.toContain("hunter2")
  })
})

describe("a printed node", () => {
  const print = (seen: SeenNode): Node => toNode(seen, () => undefined)

  test("omits absent and empty members, but not an empty value", () => {
    expect(print(node("textfield", { name: "", value: "", description: "", hint: "" }))).toEqual({
      role: "textfield",
      value: "",
    })
  })

  test("has children_count only if some children were not read", () => {
    expect(print(node("group", { children_count: 3 }))).toEqual({ role: "group", children_count: 3 })
    expect(print(node("group", { children_count: 1, children: [node("image")] }))).toEqual({
      role: "group",
      children: [{ role: "image" }],
    })
    expect(print(node("group", { children_count: 0 }))).toEqual({ role: "group" })
  })

  test("in a splitter of one column is column 1 of 1", () => {
    expect(print(node("splitter", { children: [node("list")] })).children).toEqual([
      { role: "list", hint: "column 1 of 1" },
    ])
  })
})

describe("compact", () => {
  const wrap = (facts: Partial<Node>): Node => ({
    role: "window",
    children: [{ role: "group", ...facts, children: [{ role: "button", ref_id: "@e1" }] }],
  })

  test.each<Partial<Node>>([
    { ref_id: "@e9" },
    { name: "x" },
    { value: "" },
    { description: "x", value: "" },
    { description: "x", states: ["busy"] },
    { states: ["busy"] },
    { children_count: 5 },
  ])("keeps a wrapper with %j", (facts) => {
    expect(compact(wrap(facts))).toEqual(wrap(facts))
  })

  test.each<Partial<Node>>([
    {},
    { states: [] },
    { hint: "column 1 of 2" },
    { bounds: { x: 0, y: 0, width: 1, height: 1 } },
  ])("drops a wrapper with %j", (facts) => {
    expect(compact(wrap(facts)).children).toEqual([{ role: "button", ref_id: "@e1" }])
  })

  test("a control takes over the description of the group around it, in the order of the members", () => {
    const inside = (child: Node): Node => ({
      role: "window",
      children: [{ role: "group", description: "Go back", children: [child] }],
    })
    const back: Node = { ref_id: "@e1", role: "button", name: "Back", states: ["disabled"] }
    expect(JSON.stringify(compact(inside(back)).children)).toBe(
      '[{"ref_id":"@e1","role":"button","name":"Back","description":"Go back","states":["disabled"]}]',
    )
    for (const child of [
      { ...back, description: "Another" },
      { role: "statictext", value: "Text" },
    ] satisfies Node[])
      expect(compact(inside(child))).toEqual(inside(child))
  })

  test("a wrapper around wrappers only is replaced by them", () => {
    const group = (...children: Node[]): Node => ({ role: "group", children })
    const button = (ref_id: string): Node => ({ role: "button", ref_id })
    const [a, b] = [group(button("@e1"), button("@e2")), group(button("@e3"), button("@e4"))]
    const end = button("@e5")
    expect(compact({ role: "window", children: [group(a, b), end] }).children).toEqual([a, b, end])
    const mixed: Node = { role: "window", children: [group(a, end), b] }
    expect(compact(mixed)).toEqual(mixed)
  })

  test("works bottom up and keeps nodes with several children", () => {
    const text: Node = { role: "statictext", name: "x" }
    const list: Node = { role: "list" }
    const tree: Node = {
      role: "window",
      children: [
        { role: "group", children: [{ role: "group", children: [{ role: "group", children: [text] }] }] },
        { role: "group", children: [text, list] },
      ],
    }
    expect(compact(tree)).toEqual({
      role: "window",
      children: [text, { role: "group", children: [text, list] }],
    })
  })

  const pruned = (...children: Node[]) => compact({ role: "window", name: "W", children }).children

  test("drops decorative leaves, and groups of nothing else", () => {
    expect(
      pruned(
        { role: "separator" },
        { role: "group", children: [{ role: "image" }, { role: "group", children: [{ role: "unknown" }] }] },
        { role: "list" },
        { role: "progressbar" },
        { role: "image", description: "A cat" },
        { role: "image", hint: "Ctrl+L" },
        { role: "scrollbar", value: "0" },
        { role: "group", states: ["busy"] },
        { role: "image", ref_id: "@e1" },
      )?.map(({ role }) => role),
    ).toEqual(["list", "progressbar", "image", "image", "scrollbar", "group", "image"])
  })

  test("drops a text that only repeats the name of its parent or neighbour", () => {
    expect(
      pruned(
        { ref_id: "@e1", role: "button", name: "Save", children: [{ role: "label", name: "Save" }] },
        { role: "label", name: "Name:" },
        { ref_id: "@e2", role: "textfield", name: "Name", value: "" },
        { ref_id: "@e3", role: "cell", name: "Ada", children: [{ role: "statictext", name: "Ada" }] },
        { role: "group", children: [{ role: "heading", name: "W" }] },
        { role: "columnheader", name: "Type", children: [{ role: "group", name: "Type" }] },
      ),
    ).toEqual([
      { ref_id: "@e1", role: "button", name: "Save" },
      { ref_id: "@e2", role: "textfield", name: "Name", value: "" },
      { ref_id: "@e3", role: "cell", name: "Ada" },
      { role: "columnheader", name: "Type" },
    ])
  })

  test("keeps a text that adds something to the name, or that nothing else repeats", () => {
    const kept: Node[] = [
      { role: "label", name: "Save" },
      { role: "label", name: "Save" },
      { ref_id: "@e1", role: "button", name: "Save as" },
      { role: "statictext", name: "Open", description: "recently" },
      { role: "statictext", name: "Open", states: ["busy"] },
      { ref_id: "@e2", role: "button", name: "Open" },
      { ref_id: "@e3", role: "link", name: "W" },
      { role: "list", name: "W" },
    ]
    expect(pruned(...kept)).toEqual(kept)
  })

  test("drops a toolbar whose only child has the same name, but not a dialog or a list", () => {
    const styles: Node = { ref_id: "@e1", role: "button", name: "Styles (Ctrl+2)" }
    expect(pruned({ role: "toolbar", name: "Styles", children: [styles] })).toEqual([styles])
    const all: readonly Node[] = [
      { role: "toolbar", name: "Style", children: [styles] },
      { role: "dialog", name: "Styles", children: [styles] },
      {
        role: "toolbar",
        name: "Styles",
        children: [styles, { ref_id: "@e2", role: "button", name: "Styles" }],
      },
    ]
    for (const kept of all) expect(pruned(kept)).toEqual([kept])
  })

  test("replaces a wrapper that is an only child by its children", () => {
    const two: Node[] = [
      { ref_id: "@e1", role: "button", name: "a" },
      { ref_id: "@e2", role: "button", name: "b" },
    ]
    const bar = (...children: Node[]): Node => ({ role: "toolbar", name: "Tools", children })
    expect(pruned(bar({ role: "group", children: [{ role: "group", children: two }] }))).toEqual([
      bar(...two),
    ])
    const busy: Node = { role: "group", states: ["busy"], children: two }
    expect(pruned(bar(busy))).toEqual([bar(busy)])
    const list: Node = { role: "list", children: two }
    expect(pruned(bar(list))).toEqual([bar(list)])
  })

  test("ignores a name that an ancestor has too, if the node wraps one child", () => {
    const inner: Node = { role: "group", name: "Tools", children: [{ role: "list", name: "All" }] }
    expect(pruned({ role: "toolbar", name: "Tools", children: [inner] })).toEqual([
      { role: "toolbar", name: "Tools", children: [{ role: "list", name: "All" }] },
    ])
  })
})

test("-i keeps the root, even if nothing in it is interactive", () => {
  expect(
    keepInteractive({ role: "window", children: [{ role: "group", children: [{ role: "image" }] }] }),
  ).toEqual({
    role: "window",
  })
  expect(countRefs({ role: "window" })).toBe(0)
})

test("only groups without a name are wrappers", () => {
  for (const role of ["group", "container", "unknown"] as const) expect(isWrapper({ role })).toBe(true)
  expect(isWrapper({ role: "group", name: "" })).toBe(true)
  expect(isWrapper({ role: "group", name: "x" })).toBe(false)
  expect(isWrapper({ role: "group", description: "x" })).toBe(false)
  expect(isWrapper({ role: "toolbar" })).toBe(false)
})

test.each<[role: Role, name: string, value: string, ownName: string | undefined]>([
  ["combobox", "10", "10", undefined],
  ["combobox", "Size", "10", "Size"],
  ["textfield", "a", "a", undefined],
  ["textfield", "", "", undefined],
  ["cell", "App", "App", "App"],
  ["button", "OK", "OK", "OK"],
  ["slider", "50", "50", undefined],
  ["textfield", "y".repeat(600), "y".repeat(256), undefined],
])("the own name of a %s named %s with the value %s is %j", (role, name, value, expected) => {
  expect(ownName({ role, name, value })).toBe(expected)
})

describe("context", () => {
  const button = node("button", { name: "Delete" })
  const row = (...texts: string[]) =>
    node("row", {
      children: [...texts.map((name) => node("cell", { name })), node("cell", { children: [button] })],
    })
  const inRow = (one: SeenNode) =>
    contextOf(button, [node("window", { name: "W" }), one, one.children.at(-1)!])

  test("depends on the names above, not on window titles, wrappers, numbers or values", () => {
    const under = (...ancestors: SeenNode[]) => contextOf(button, ancestors)
    const form = node("group", { name: "Form" })
    expect(under(node("window", { name: "A" }), form)).toEqual(under(node("window", { name: "B" }), form))
    expect(under(node("window"), node("group"), form)).toEqual(under(node("window"), form))
    expect(under(node("window"), node("sheet", { name: "S" }), form)).toEqual(under(form))
    expect(under(node("group", { name: "Inbox (3)" }))).toEqual(under(node("group", { name: "Inbox (12)" })))
    expect(under(node("combobox", { name: "1", value: "1" }))).toEqual(
      under(node("combobox", { name: "2", value: "2" })),
    )
    // A look for interactive elements does not read the text of a label.
    expect(under(form, node("label", { name: "City" }))).toEqual(under(form, node("label")))
    expect(under(form)).not.toEqual(under(node("group", { name: "Draft" })))
    expect(under(form, node("group", { name: "A" }))).not.toEqual(under(node("group", { name: "A" }), form))
  })

  test("continues from the context of a tree's root", () => {
    const [a, b, c] = ["A", "B", "C"].map((name) => node("group", { name }))
    const window = node("window", { name: "W" })
    const whole = contextOf(button, [window, a!, b!, c!])
    expect(contextOf(button, [b!, c!], contextOf(b!, [window, a!]))).toEqual(whole)
    const line = row("x")
    const cell = line.children.at(-1)!
    expect(contextOf(button, [cell], contextOf(cell, [window, a!, line]))).toEqual(
      contextOf(button, [window, a!, line, cell]),
    )
  })

  test("depends on the subject of the row, not on clocks and counters in it", () => {
    expect(inRow(row("a")).levels).toBe(2)
    expect(inRow(row("a", "12:00"))).toEqual(inRow(row("a", "9:41")))
    expect(inRow(row("a", "done"))).not.toEqual(inRow(row("a", "failed")))
    expect(inRow(row("Invoice 1"))).not.toEqual(inRow(row("Invoice 2")))
    expect(inRow(row())).toEqual(inRow(row()))
  })

  test("does not depend on the names of controls in the row, nor on nested rows", () => {
    const item = (...children: SeenNode[]) =>
      node("treeitem", { name: "src", children: [button, ...children] })
    const at = (one: SeenNode) => contextOf(button, [node("outline"), one])
    expect(at(item(node("button", { name: "Play" })))).toEqual(at(item(node("button", { name: "Pause" }))))
    expect(at(item())).toEqual(at(item(node("treeitem", { name: "new" }))))
    expect(at(item())).not.toEqual(at(node("treeitem", { name: "lib", children: [button] })))
  })

  test("of a row does not depend on its neighbours", () => {
    const child = node("treeitem", { name: "main" })
    const parent = (...others: SeenNode[]) => node("treeitem", { name: "src", children: [child, ...others] })
    expect(contextOf(child, [parent()])).toEqual(contextOf(child, [parent(node("treeitem", { name: "x" }))]))
    expect(contextOf(child, [parent()]).around).toBeUndefined()
  })
})
