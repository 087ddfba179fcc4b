import { expect, test } from "bun:test"
import fc from "fast-check"
import { failure, success, toLine } from "../src/envelope.ts"
import { AppError } from "../src/errors.ts"
import type { Node } from "../src/node.ts"
import { outline } from "../src/outline.ts"
import { toText } from "../src/text.ts"

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

test("a snapshot is a heading and one line a node, two spaces a level", () => {
  const data = {
    app: "notes",
    window: { id: "w-7", title: "Notes" },
    ref_count: 2,
    snapshot_id: "sabc",
    complete: true,
    tree,
  }
  expect(toText(success("snapshot", data))).toBe(
    [
      '"notes" w-7 "Notes" sabc 2 refs',
      'window "Notes"',
      '  button "Save" [@e1] focused = "value"',
      '  list "Rows" … 12 children',
      "    option [@e2] disabled",
      "",
    ].join("\n"),
  )
})

test("matches say where they are, and what was left out", () => {
  const data = {
    matches: [{ ref_id: "@e1", role: "button", name: "Save", path: ["Notes", "toolbar"] }],
    total_matches: 3,
  }
  expect(toText(success("find", data))).toBe('button "Save" [@e1] in "Notes" > "toolbar"\n… 2 more\n')
  expect(toText(success("find", { match: null }))).toBe("no match\n")
  expect(toText(success("find", { count: 4 }))).toBe("4 matches\n")
})

test("lists are lines, and an empty one says so", () => {
  const window = { id: "w-1", title: "A", app_name: "a", pid: 9, is_focused: true }
  expect(toText(success("list-windows", { windows: [window] }))).toBe('w-1 "A" "a" pid 9 focused\n')
  expect(toText(success("list-apps", { apps: [] }))).toBe("none\n")
})

test("an error is a line with its code and a line with what to do", () => {
  const error = new AppError("STALE_REF", "@e7 is stale:\nits name changed", { suggestion: "Run 'snapshot'" })
  expect(toText(failure("click", error))).toBe(
    "error STALE_REF: @e7 is stale:\\nits name changed\nsuggestion: Run 'snapshot'\n",
  )
})

test("what has no lines of its own stays JSON", () => {
  const envelope = success("click", { action: "click", ref_id: "@e1" })
  expect(toText(envelope)).toBe(toLine(envelope))
})

test("no text of an application can forge a line, turn it around or reach the terminal", () => {
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
