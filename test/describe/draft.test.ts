import { describe, expect, test } from "bun:test"
import { type Handle, MAX_LEVELS, type Seen } from "../../src/adapter.ts"
import {
  depthBelow,
  describeElement,
  describeTree,
  isWithin,
  newBelow,
  textsInside,
  wantsDetails,
} from "../../src/describe/draft.ts"
import type { Role } from "../../src/node.ts"

interface Sketch {
  readonly name: string
  readonly parts: readonly Sketch[]
  readonly isCut: boolean
  readonly count: number | undefined
}

const sketch = (name: string, parts: readonly Sketch[] = [], more: Partial<Sketch> = {}): Sketch => ({
  name,
  parts,
  isCut: false,
  count: undefined,
  ...more,
})

const handle: Handle = Object.create(null)

/** Named by itself and by the names inside it. */
const words = ({ name }: Sketch, inside: readonly Seen[]): Seen => ({
  handle,
  role: "group",
  states: [],
  name: [name, ...inside.map((node) => node.name)].join(" "),
})

describe("the description of a draft", () => {
  test("starts with the lowest objects, so that they can name those above", () => {
    const root = describeTree(sketch("a", [sketch("b", [sketch("c")]), sketch("d")]), words)
    expect(root).toEqual({
      handle,
      role: "group",
      states: [],
      name: "a b c d",
      children: [
        {
          handle,
          role: "group",
          states: [],
          name: "b c",
          children: [{ handle, role: "group", states: [], name: "c", children: [] }],
        },
        { handle, role: "group", states: [], name: "d", children: [] },
      ],
    })
  })

  test("takes names from parts beyond the depth, but does not list them", () => {
    const cut = sketch("a", [sketch("b"), sketch("c")], { isCut: true, count: 2 })
    expect(describeTree(cut, words)).toEqual({
      handle,
      role: "group",
      states: [],
      name: "a b c",
      children: [],
      children_count: 2,
    })
  })

  test("of a single element is the same as in the tree, without its children", () => {
    const draft = sketch("a", [sketch("b")], { count: 9 })
    const { children: _, children_count: __, ...seen } = describeTree(draft, words)
    expect(describeElement(draft, words)).toEqual(seen)
  })

  test("omits the number of children if all are shown, or if there are none", () => {
    expect(describeTree(sketch("a"), words)).not.toHaveProperty("children_count")
    expect(describeTree(sketch("a", [], { count: 0 }), words)).not.toHaveProperty("children_count")
  })
})

test("a nameless wrapper costs no depth, anything else costs one", () => {
  const at = { level: 7, depth: 3 }
  expect(depthBelow(at, { role: "group" })).toBe(3)
  expect(depthBelow(at, { role: "unknown", name: "" })).toBe(3)
  expect(depthBelow(at, { role: "group", name: "Tools" })).toBe(4)
  expect(depthBelow(at, { role: "group", description: "All tools" })).toBe(4)
  expect(depthBelow(at, { role: "toolbar" })).toBe(4)
})

test("children are read down to the depth, and never below the last level", () => {
  expect(isWithin(2, { level: 1, depth: 1 }, { maxDepth: 2 })).toBe(true)
  expect(isWithin(3, { level: 2, depth: 2 }, { maxDepth: 2 })).toBe(false)
  expect(isWithin(0, { level: MAX_LEVELS - 1, depth: 0 }, { maxDepth: 1000 })).toBe(true)
  expect(isWithin(0, { level: MAX_LEVELS, depth: 0 }, { maxDepth: 1000 })).toBe(false)
})

test("a child is read once, and an ancestor is never read as a child", () => {
  interface Place {
    readonly key: string
    readonly parent: Place | undefined
  }
  const root: Place = { key: "root", parent: undefined }
  const isNew = newBelow<Place, string>({ key: "group", parent: root })
  expect(["a", "root", "a", "group", "b"].filter(isNew)).toEqual(["a", "b"])
})

test("details are read of objects that stay in the tree, and of those that a name needs", () => {
  expect(wantsDetails({ interactiveOnly: false }, false)).toBe(true)
  expect(wantsDetails({ interactiveOnly: true }, false)).toBe(false)
  expect(wantsDetails({ interactiveOnly: true }, true)).toBe(true)
})

describe("the texts inside a control", () => {
  interface Part {
    readonly role: Role
    readonly text?: string
    readonly children: readonly Part[]
  }
  const text = (words: string): Part => ({ role: "statictext", text: words, children: [] })
  const box = (role: Role, ...children: readonly Part[]): Part => ({ role, children })
  const rules = {
    levels: 2,
    isText: (role: Role) => role === "statictext",
    isThrough: (role: Role) => role === "group",
    textOf: (part: Part) => part.text,
  }

  test("come in order, through wrappers and not deeper than the rules say", () => {
    const deep = box("group", box("group", text("too deep")), text("b"))
    expect(textsInside([text("a"), deep, text("c")], rules)).toEqual(["a", "b", "c"])
    expect(textsInside([deep], { ...rules, levels: 3 })).toEqual(["too deep", "b"])
  })

  test("are not those of another control", () => {
    expect(textsInside([box("button", text("Other"))], rules)).toEqual([])
  })

  test("are looked for among the first children only, if the rules say so", () => {
    const many = ["a", "b", "c"].map(text)
    expect(textsInside([...many, box("group", ...many)], { ...rules, most: 2 })).toEqual(["a", "b"])
    expect(textsInside([box("group", ...many)], { ...rules, most: 2 })).toEqual(["a", "b"])
  })
})
