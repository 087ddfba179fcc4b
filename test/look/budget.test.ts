import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base"
import { success, toLine } from "../../src/envelope.ts"
import { type Budget, fitTree } from "../../src/look/budget.ts"
import { outline, snapshotText } from "../../src/look/outline.ts"
import { estimateTokens } from "../../src/look/tokens.ts"
import { type Node, OMITTED, type State } from "../../src/node.ts"
import { nodesOf } from "../support/answers.ts"
import { desk } from "../support/fake-desk.ts"
import type { Spec } from "../support/fake-world.ts"
import type { Json } from "../support/json.ts"

const own = ({ children: _, children_count: __, ...rest }: Node): string => JSON.stringify(rest)

const budgetOf = (tokens: number, print: (tree: Node) => string = outline): Budget => ({
  tokens,
  cost: (tree) => estimateTokens(print(tree)),
  spell: (index) => `@e${9001 + index}`,
})

/** Random trees with all kinds of nodes. */
const { plain } = fc.letrec<{ plain: Node }>((tie) => ({
  plain: fc.record(
    {
      role: fc.constantFrom("group", "toolbar", "list", "statictext", "button", "option"),
      name: fc.constantFrom("Open", "Überschrift", "a rather long name that goes on"),
      states: fc.subarray<State>(["focused", "selected", "disabled"], { minLength: 1 }),
      children_count: fc.integer({ min: 20, max: 30 }),
      children: fc.oneof(
        { maxDepth: 2, depthIdentifier: "tree" },
        fc.constant<readonly Node[]>([]),
        fc.array(tie("plain"), { minLength: 1, maxLength: 12, depthIdentifier: "tree" }),
      ),
    },
    { requiredKeys: ["role"] },
  ),
}))

/** Gives interactive nodes a ref and every node a hint of its own. */
function number(tree: Node): Node {
  let last = 0
  const visit = ({ role, name, states, children_count, children }: Node): Node => {
    const id = ++last
    return {
      ...(role === "button" || role === "option" ? { ref_id: `@e${id}` } : {}),
      role,
      ...(name ? { name } : {}),
      hint: `h${id}`,
      ...(states ? { states } : {}),
      ...(children_count === undefined ? {} : { children_count }),
      ...(children?.length ? { children: children.map(visit) } : {}),
    }
  }
  return visit({ ...tree, role: "window", states: undefined, children_count: undefined })
}

const aTree = plain.map(number)
const forms = [outline, (tree: Node) => JSON.stringify(tree)]

describe("for any tree", () => {
  test("the output never costs more than the budget", () => {
    fc.assert(
      fc.property(
        aTree,
        fc.integer({ min: 1, max: 600 }),
        fc.constantFrom(...forms),
        (tree, tokens, print) => {
          const fitted = fitTree(tree, budgetOf(tokens, print))
          if (fitted) expect(estimateTokens(print(fitted.tree))).toBeLessThanOrEqual(tokens)
          else
            expect(estimateTokens(print({ role: "window", children_count: 1 }))).toBeGreaterThan(tokens - 40)
        },
      ),
    )
  })

  test("the same tree and budget give the same bytes", () => {
    fc.assert(
      fc.property(aTree, fc.integer({ min: 40, max: 400 }), (tree, tokens) => {
        const once = JSON.stringify(fitTree(tree, budgetOf(tokens)))
        expect(JSON.stringify(fitTree(structuredClone(tree), budgetOf(tokens)))).toBe(once)
      }),
    )
  })

  test("nodes keep their content and order, and with enough budget none is missing", () => {
    fc.assert(
      fc.property(aTree, fc.integer({ min: 40, max: 400 }), (tree, tokens) => {
        const before = nodesOf(tree).map(own)
        let at = 0
        const drills = new Set(fitTree(tree, budgetOf(tokens))?.drills.map(({ ref_id }) => ref_id))
        for (const node of nodesOf(fitTree(tree, budgetOf(tokens))?.tree ?? tree)) {
          if (node.role === OMITTED) continue
          const { ref_id, ...rest } = node
          at = before.indexOf(own(drills.has(ref_id) ? rest : node), at) + 1
          expect(at).toBeGreaterThan(0)
        }
        const all = fitTree(tree, budgetOf(1_000_000))
        expect(nodesOf(all?.tree ?? tree).map(({ role }) => role)).toEqual(
          nodesOf(tree).map(({ role }) => role),
        )
      }),
    )
  })

  test("omitted nodes are counted exactly once, in their place", () => {
    fc.assert(
      fc.property(aTree, fc.integer({ min: 40, max: 300 }), (tree, tokens) => {
        const fitted = fitTree(tree, budgetOf(tokens))
        if (!fitted) return
        const printed = new Set(nodesOf(fitted.tree).map(({ hint }) => hint))
        const shows = (node: Node): boolean => printed.has(node.hint) || (node.children ?? []).some(shows)
        const missing = (node: Node): number =>
          (node.children ?? []).reduce(
            (sum, child) => sum + (printed.has(child.hint) ? 0 : shows(child) ? missing(child) : 1),
            Math.max(0, (node.children_count ?? 0) - (node.children?.length ?? 0)),
          )
        const byHint = new Map(nodesOf(tree).map((node) => [node.hint, node]))
        for (const node of nodesOf(fitted.tree)) {
          if (node.role === OMITTED) continue
          const there = node.children?.filter(({ role }) => role !== OMITTED).length ?? 0
          const left = missing(byHint.get(node.hint)!)
          expect(node.children_count).toBe(left > 0 ? there + left : undefined)
          if (left > 0) expect(node.ref_id).toBeDefined()
        }
        expect(fitted.complete).toBe(nodesOf(tree).every(({ hint }) => printed.has(hint)))
      }),
    )
  })
})

const button = (name: string, i: number): Node => ({ ref_id: `@e${i + 1}`, role: "button", name })
const rows = (count: number): Node[] =>
  Array.from({ length: count }, (_, i) => ({ ref_id: `@e${i + 1}`, role: "option", name: `Row ${i + 1}` }))

describe("priorities", () => {
  test("the focused element comes first, at any depth", () => {
    const deep: Node = {
      role: "group",
      children: [{ role: "statictext", name: "here", states: ["focused"] }],
    }
    const tree: Node = { role: "window", children: [...rows(9), { role: "group", children: [deep] }] }
    expect(nodesOf(fitTree(tree, budgetOf(45))?.tree ?? tree).map(({ name }) => name)).toContain("here")
  })

  test("interactive elements come before named ones, and those before structure", () => {
    const part = (i: number): Node => ({
      role: "group",
      children: [{ role: "heading", name: `Title ${i}` }, { role: "list" }, button(`Save ${i}`, i)],
    })
    const tree: Node = { role: "window", children: [0, 1, 2, 3].map(part) }
    const seen = new Set<number>()
    for (let tokens = 30; tokens < 140; tokens++) {
      const roles = nodesOf(fitTree(tree, budgetOf(tokens))!.tree).map(({ role }) => role)
      const count = (role: string) => roles.filter((one) => one === role).length
      seen.add(count("button") * 100 + count("heading") * 10 + count("group"))
      if (count("heading") > 0) expect(count("button")).toBe(4)
      if (count("group") > 0) expect(count("heading")).toBe(4)
    }
    for (const step of [200, 400, 420, 440, 444]) expect(seen).toContain(step)
  })

  test("a long list keeps its head, tail and selection, with the gaps counted in their places", () => {
    const all = rows(1000)
    all[500] = { ...all[500]!, states: ["selected"] }
    const tree: Node = { role: "window", children: [{ role: "listbox", ref_id: "@e1001", children: all }] }
    const fitted = fitTree(tree, budgetOf(135))!
    expect(outline(fitted.tree)).toBe(
      [
        "window",
        "  listbox [@e1001] … 1000 children",
        '    option "Row 1" [@e1]',
        '    option "Row 2" [@e2]',
        '    option "Row 3" [@e3]',
        '    option "Row 4" [@e4]',
        '    option "Row 5" [@e5]',
        "    … 495 more",
        '    option "Row 501" [@e501] selected',
        "    … 497 more",
        '    option "Row 999" [@e999]',
        '    option "Row 1000" [@e1000]',
        "",
      ].join("\n"),
    )
    expect(fitted.drills).toEqual([])
  })

  test("a toolbar that does not fit keeps one line to drill into", () => {
    const bar = (name: string, from: number): Node => ({
      role: "toolbar",
      name,
      children: Array.from({ length: 30 }, (_, i) => button(`Tool ${from + i}`, from + i)),
    })
    const tree: Node = {
      role: "window",
      children: ["One", "Two", "Three"].map((name, i) => bar(name, i * 30)),
    }
    const fitted = fitTree(tree, budgetOf(110))!
    expect(
      fitted.tree.children?.map(({ name, ref_id, children_count }) => [name, ref_id, children_count]),
    ).toEqual([
      ["One", "@e9001", 30],
      ["Two", "@e9002", 30],
      ["Three", "@e9003", 30],
    ])
    expect(fitted.drills.map(({ name }) => name)).toEqual(["One", "Two", "Three"])
  })
})

test("long texts are cut and report the number of omitted characters", () => {
  const tree: Node = {
    role: "window",
    children: [{ role: "textfield", ref_id: "@e1", value: "x".repeat(5000), states: ["focused"] }],
  }
  const fitted = fitTree(tree, budgetOf(400))!
  expect(fitted.tree.children?.[0]).toEqual({
    role: "textfield",
    ref_id: "@e1",
    value: `${"x".repeat(100)}…`,
    states: ["focused"],
    characters_omitted: 4900,
  })
  expect(fitted.complete).toBe(false)
  expect(outline(fitted.tree)).toContain("… 4900 characters")
})

describe("snapshot --budget", () => {
  const tool = (name: string): Spec => ({ role: "button", name, states: ["enabled"] })
  const WINDOW: readonly Spec[] = [
    {
      role: "toolbar",
      name: "Tools",
      children: Array.from({ length: 40 }, (_, i) => tool(`Tool ${i + 1}`)),
    },
    {
      role: "group",
      children: [{ role: "textfield", name: "Search", value: "", states: ["enabled", "focused"] }],
    },
    {
      role: "list",
      children: Array.from({ length: 60 }, (_, i) => ({ role: "option", name: `Item ${i + 1}` })),
    },
  ]

  function office(format?: "text" | "json") {
    const it = desk({ format })
    it.world.app("Office", { pid: 10 }).window("Letter", WINDOW, { id: "w-1" })
    return it
  }

  const printed = {
    json: (data: Json) => toLine(success("snapshot", data)),
    text: snapshotText,
  }

  test.each(["json", "text"] as const)("counts the whole output as %s, heading included", async (format) => {
    const { ok } = office(format)
    for (const budget of [120, 200, 400, 1000, 5000]) {
      const data = await ok("snapshot", { budget })
      const text = printed[format](data)
      expect(estimateTokens(text)).toBeLessThanOrEqual(budget)
      expect(o200k(text).length).toBeLessThanOrEqual(budget)
      expect(data.complete).toBe(budget === 5000)
      expect(data.ref_count).toBe(nodesOf(data.tree).filter(({ ref_id }) => ref_id).length)
    }
    const { tree } = await ok("snapshot", { budget: 5000 })
    expect(tree).toEqual((await ok("snapshot", { compact: true })).tree)
  })

  test("numbers interactive elements as without a budget, and drill targets after them", async () => {
    const { ok } = office("text")
    const whole = new Map<string, string>(
      nodesOf((await ok("snapshot")).tree).flatMap(({ name, ref_id }) => (ref_id ? [[name!, ref_id]] : [])),
    )
    const { tree } = await ok("snapshot", { budget: 300 })
    const shown: Json[] = nodesOf(tree).filter(({ ref_id }) => ref_id)
    for (const node of shown) {
      if (whole.has(node.name)) expect(node.ref_id).toBe(whole.get(node.name)!)
      else expect(Number(node.ref_id.slice(2))).toBeGreaterThan(whole.size)
    }
    expect(shown.map(({ name }) => name)).toContain("Search")
  })

  test("omitted parts can be read with --root, again with a budget", async () => {
    const { ok, world } = office("text")
    const { tree, snapshot_id } = await ok("snapshot", { budget: 250 })
    const list = nodesOf(tree).find(({ role }) => role === "list")!
    const some = await ok("snapshot", { root: list.ref_id, budget: 150 })
    expect(some.tree).toMatchObject({ ref_id: list.ref_id, role: "list", children_count: 60 })
    const all = await ok("snapshot", { root: list.ref_id })
    expect(all.snapshot_id).toBe(snapshot_id)
    expect(all.tree.children.map(({ name }: Json) => name)).toEqual(
      Array.from({ length: 60 }, (_, i) => `Item ${i + 1}`),
    )
    const tools = nodesOf(tree).find(({ name }) => name === "Tools")!
    await ok("snapshot", { root: tools.ref_id, budget: 200 })
    await ok("click", { ref_id: all.tree.children[33].ref_id })
    expect(world.sent("Item 34")).toEqual(["semantic click"])
  })

  test("a budget too small for the window is refused, with the smallest that works", async () => {
    for (const format of ["json", "text"] as const) {
      const { error, ok } = office(format)
      const { code, details } = await error("snapshot", { budget: 10 })
      expect(code).toBe("INVALID_ARGS")
      expect((await ok("snapshot", { budget: details.least })).tree.role).toBe("window")
    }
  })

  test.each(["text", "json"] as const)("counts %s inside a batch that prints it", async (format) => {
    const { ok } = office(format)
    const commands = JSON.stringify([{ command: "snapshot", args: { budget: 300 } }])
    const { results } = await ok("batch", { commands })
    expect(estimateTokens(printed[format](results[0].data))).toBeLessThanOrEqual(300)
  })
})

describe("snapshot --skeleton", () => {
  const deep: Spec = {
    role: "group",
    name: "Level 1",
    children: [
      {
        role: "group",
        name: "Level 2",
        children: [
          {
            role: "toolbar",
            children: [
              { role: "button", name: "A" },
              { role: "button", name: "B" },
            ],
          },
          { role: "list", name: "Empty" },
          { role: "button", name: "Near" },
        ],
      },
    ],
  }

  function cellar() {
    const it = desk()
    it.world.app("Cellar", { pid: 10 }).window("Stairs", [deep], { id: "w-1" })
    return it
  }

  test("reads three levels with counts and refs at the cuts, and drilling keeps all other refs", async () => {
    const { ok, refs, world } = cellar()
    const { tree, ref_count } = await ok("snapshot", { skeleton: true })
    expect(tree.children[0].children[0].children).toEqual([
      { ref_id: "@e1", role: "toolbar", children_count: 2 },
      { role: "list", name: "Empty" },
      { ref_id: "@e2", role: "button", name: "Near" },
    ])
    expect(ref_count).toBe(2)
    const before = await refs.load()
    const below = await ok("snapshot", { root: "@e1" })
    expect(below.tree).toEqual({
      ref_id: "@e1",
      role: "toolbar",
      children: [
        { ref_id: "@e3", role: "button", name: "A" },
        { ref_id: "@e4", role: "button", name: "B" },
      ],
    })
    const after = await refs.load()
    for (const [ref, entry] of before.inner) expect(after.inner.get(ref)).toEqual(entry)
    await ok("click", { ref_id: "@e4" })
    expect(world.sent("B")).toEqual(["semantic click"])
  })
})
