import { afterAll, expect, test } from "bun:test"
import fc from "fast-check"
import { commands } from "../../src/commands/index.ts"
import { failure, success, toLine } from "../../src/envelope.ts"
import { AppError } from "../../src/errors.ts"
import { outline } from "../../src/look/outline.ts"
import { toText } from "../../src/look/text.ts"
import type { Node, State } from "../../src/node.ts"
import { readyDesk, samplesOf } from "../support/every-command.ts"
import { clearDesks } from "../support/fake-desk.ts"

afterAll(clearDesks)

/** The output of a command with `--format text`. */
const printed = async (name: string, data: object): Promise<string> =>
  toText(success(name, data), await commands[name]!())

const tree: Node = {
  role: "window",
  name: "Notes",
  children: [
    { ref_id: "@e1", role: "button", name: "Save", states: ["enabled", "focused"], value: "value" },
    {
      role: "list",
      name: "Rows",
      children_count: 12,
      children: [{ ref_id: "@e2", role: "option", states: ["disabled"] }],
    },
  ],
}

test("a snapshot is a heading and one line per node, indented by two spaces per level", async () => {
  const data = {
    app: "notes",
    window: { id: "w-7", title: "Notes" },
    ref_count: 2,
    snapshot_id: "sabc",
    complete: true,
    tree,
  }
  expect(await printed("snapshot", data)).toBe(
    [
      '"notes" w-7 "Notes" sabc',
      "window",
      '  button "Save" [@e1] focused = "value"',
      '  list "Rows" … 12 children',
      "    option [@e2] disabled",
      "",
    ].join("\n"),
  )
})

test("default states and descriptions that repeat the name are omitted", () => {
  const said = (node: Node) => outline(node).trim()
  expect(said({ role: "combobox", states: ["enabled", "collapsed", "haspopup"] })).toBe("combobox")
  expect(said({ role: "combobox", states: ["enabled", "expanded"] })).toBe("combobox expanded")
  expect(said({ role: "treeitem", states: ["collapsed"] })).toBe("treeitem collapsed")
  expect(said({ role: "cell", states: ["multiselectable"] })).toBe("cell")
  expect(said({ role: "listbox", states: ["multiselectable"] })).toBe("listbox multiselectable")
  expect(said({ role: "menuitem", name: "File", description: "File menu" })).toBe('menuitem "File"')
  expect(said({ role: "button", name: "New", description: "New document" })).toBe(
    'button "New" ("New document")',
  )
})

test("a row is one line, and cells need no role", () => {
  const row = {
    role: "row",
    children: [
      { role: "cell", ref_id: "@e1", name: "Ada" },
      { role: "cell", ref_id: "@e2", states: ["enabled", "unchecked"] as const },
      { role: "cell", ref_id: "@e3", children: [{ role: "button", ref_id: "@e4", name: "Delete" }] },
      { role: "link", ref_id: "@e5", name: "More" },
    ],
  }
  expect(outline({ role: "table", name: "People", empty_cells: 3, children: [row] })).toBe(
    `table "People" … 3 empty cells
  row: "Ada" [@e1] | [@e2] unchecked | [@e3] button "Delete" [@e4] | link "More" [@e5]
`,
  )
})

test("a nameless cell around other cells is a row, too", () => {
  const row = {
    role: "cell",
    ref_id: "@e1",
    states: ["enabled", "selected"] as const,
    children: [
      { role: "cell", ref_id: "@e2", name: "a.txt", states: ["enabled"] as const },
      { role: "cell", ref_id: "@e3", name: "3", states: ["enabled"] as const },
    ],
  }
  expect(outline({ role: "table", children: [row] })).toBe(
    'table\n  cell [@e1] selected: "a.txt" [@e2] | "3" [@e3]\n',
  )
  expect(outline({ role: "table", children: [{ ...row, name: "a" }] })).toContain('\n    cell "a.txt"')
})

test("plain cells of a sheet show their values, and their addresses if those cannot be counted", () => {
  const cell = (name: string, value: string, states: readonly State[] = ["enabled"]) => ({
    role: "cell",
    ref_id: "@e1",
    name,
    value,
    states,
  })
  const rows = [
    {
      role: "row",
      children: [cell("A2", "Ada"), cell("B2", "36"), cell("D2", "1.5 | x"), cell("E2", "-2.5")],
    },
    { role: "row", children: [cell("Z3", "a", ["enabled", "focused"]), cell("AA3", "b"), cell("AC3", "c")] },
    // Words that could be taken for something else keep their quotes.
    {
      role: "row",
      children: ["Article 5", "button 2", "D2 x", "Zoë", "x, y", " a", "אב"].map((value, at) =>
        cell(`${"ABCDEFG"[at]}4`, value),
      ),
    },
  ]
  expect(outline({ role: "table", children: rows })).toBe(
    `table, targets: cell "A2", …
  row A2: Ada | 36 | D2 "1.5 | x" | -2.5
  row: "Z3" [@e1] focused = "a" | b | AC3 "c"
  row A4: Article 5 | "button 2" | "D2 x" | Zoë | "x, y" | " a" | "אב"
`,
  )
})

test("numbers need no quotes, and a radio button that is not chosen does not say so", () => {
  const node = (role: string, value?: string, states: readonly State[] = ["enabled"]) => ({
    role,
    value,
    states,
  })
  const children = [
    node("slider", "0.9"),
    node("incrementor", "10 pt"),
    node("textfield", "10"),
    node("radiobutton", undefined, ["unchecked"]),
    node("checkbox", undefined, ["unchecked"]),
  ]
  expect(outline({ role: "group", children })).toBe(
    `group
  slider = 0.9
  incrementor = "10 pt"
  textfield = "10"
  radiobutton
  checkbox unchecked
`,
  )
})

test("an alert and its only text are one line", () => {
  const text = { role: "statictext", value: "The disk\nis full" }
  const button = { role: "button", ref_id: "@e1", name: "OK" }
  expect(outline({ role: "alert", name: "Warning", children: [text] })).toBe(
    'alert "Warning": "The disk\\nis full"\n',
  )
  expect(outline({ role: "alert", children: [text, button] })).toBe(
    'alert\n  statictext "The disk\\nis full"\n  button "OK" [@e1]\n',
  )
})

test("elements out of view are counted before and after the children", () => {
  const children = [{ role: "button", ref_id: "@e1", name: "Two" }]
  expect(outline({ role: "list", offscreen: { above: 1, below: 18 }, children })).toBe(
    `list
  … 1 more above
  button "Two" [@e1]
  … 18 more below
`,
  )
  expect(outline({ role: "list", offscreen: { left: 0, right: 4, at_least: true } })).toBe(
    `list
  … more to the left
  … at least 4 more to the right
`,
  )
})

test("omitted nodes and characters are counted in their place", () => {
  const cut: Node = {
    role: "list",
    children_count: 9,
    children: [
      { role: "option", name: "a" },
      { role: "omitted", children_count: 7 },
      { role: "option", value: "b…", characters_omitted: 40 },
    ],
  }
  expect(outline(cut)).toBe('list … 9 children\n  option "a"\n  … 7 more\n  option = "b…" … 40 characters\n')
})

test("matches show their path, and how many were left out", async () => {
  const data = {
    matches: [{ ref_id: "@e1", role: "button", name: "Save", path: ["Notes", "toolbar"] }],
    total_matches: 3,
  }
  expect(await printed("find", data)).toBe('button "Save" [@e1] in "Notes" > "toolbar"\n… 2 more\n')
  expect(await printed("find", { match: null })).toBe("no match\n")
  expect(await printed("find", { count: 4 })).toBe("4 matches\n")
})

test("lists are printed line by line, and an empty one as 'none'", async () => {
  const window = { id: "w-1", title: "A", app_name: "a", pid: 9, is_focused: true }
  expect(await printed("list-windows", { windows: [window] })).toBe('w-1 "A" "a" pid 9 focused\n')
  expect(await printed("list-apps", { apps: [] })).toBe("none\n")
})

test("an error is a line with its code and a line with the suggestion", async () => {
  const error = new AppError("STALE_REF", "@e7 is stale:\nits name changed", { suggestion: "Run 'snapshot'" })
  expect(await toText(failure("click", error), await commands.click!())).toBe(
    "error STALE_REF: @e7 is stale:\\nits name changed\nsuggestion: Run 'snapshot'\n",
  )
})

test("a result without a text rendering is one fact a line, and a schema stays JSON", async () => {
  expect(await printed("mouse-move", { action: "mouse-move", x: 1, y: 2 })).toBe(
    "action: mouse-move\nx: 1\ny: 2\n",
  )
  expect(await printed("get", { property: "value", ref_id: "@e1", value: "a\nfound: true" })).toBe(
    'property: value\nref_id: @e1\nvalue: "a\\nfound: true"\n',
  )
  const window = { id: "w-7", title: "Notes", bounds: { x: 0, y: 1, width: 2, height: 3 } }
  expect(await printed("maximize", { window })).toBe(
    "window:\n  id: w-7\n  title: Notes\n  bounds: 0,1 2x3\n",
  )
  const envelope = success("schema", { schema: {} })
  expect(await toText(envelope, await commands.schema!())).toBe(toLine(envelope))
})

test("the text about a started desktop leaves out its variables", async () => {
  const started = { name: "test", display: ":5", size: "800x600", pid: 9, env: { DISPLAY: ":5" } }
  const text = await printed("desktop-start", started)
  expect(text).toStartWith("name: test\ndisplay: :5\nsize: 800x600\npid: 9\n")
  expect(text).not.toContain("DISPLAY=")
  expect(text).toContain("env: 1 variables")
})

test("an error about a window lists the windows that there are", async () => {
  const details = { kind: "window", windows: [{ id: "w-1", title: "A", app_name: "b" }] }
  const error = new AppError("TIMEOUT", "It did not appear", { details })
  expect(await toText(failure("wait", error), await commands.wait!())).toBe(
    'error TIMEOUT: It did not appear\nwindows:\n  w-1 "A" "b"\n',
  )
})

test("an error lists its candidates, one line for each element or window", async () => {
  const told = async (candidates: readonly unknown[]) =>
    (
      await toText(
        failure("click", new AppError("AMBIGUOUS_TARGET", "2 fit", { details: { candidates } })),
        await commands.click!(),
      )
    ).split("\n")
  const buttons = ["Ada", "Bob"].map((around, i) => ({
    ref_id: `@e${i + 1}`,
    role: "button",
    name: "Delete",
    in: around,
  }))
  expect((await told(buttons)).slice(-4)).toEqual([
    "candidates:",
    '  button "Delete" [@e1] in "Ada"',
    '  button "Delete" [@e2] in "Bob"',
    "",
  ])
  expect((await told(["Open\n", "Save"])).at(-2)).toBe('candidates: "Open\\n", "Save"')
  expect((await told([{ id: "w-1", title: "A", app_name: "b", pid: 3 }])).at(-2)).toBe('  w-1 "A" "b" pid 3')
})

test("every sample prints text, or the JSON line if its command says so", async () => {
  for (const call of await samplesOf(commands)) {
    const { command, args } = call
    const envelope = success(command.name, await (await readyDesk()).ask(call))
    const text = await toText(envelope, command)
    if (command.print === "json") expect(text).toBe(toLine(envelope))
    const odd = /undefined|NaN|\[object|[\x00-\x08\x0b-\x1f\x7f-\x9f]/.exec(text)?.[0]
    expect({ name: command.name, args, odd }).toEqual({ name: command.name, args, odd: undefined })
  }
})

test("text of an app cannot forge a line, reverse it or send terminal codes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, value) => {
      const text = outline({ role: "window", children: [{ ref_id: "@e1", role: "button", name, value }] })
      const lines = text.split("\n")
      return (
        lines.length === 3 &&
        !/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(text.replaceAll("\n", ""))
      )
    }),
  )
  expect(outline({ role: "button", name: 'a" [@e9]\n  button "b' })).toBe(
    'button "a\\" [@e9]\\n  button \\"b"\n',
  )
  expect(outline({ role: "button", name: "\u202eevil\x1b[31m" })).toBe('button "\\u202eevil\\u001b[31m"\n')
})
