import { expect, test } from "bun:test"
import fc from "fast-check"
import type { Handle, SeenNode, SeenTree } from "../../src/adapter.ts"
import { compact } from "../../src/look/compact.ts"
import type { ActionName } from "../../src/node.ts"
import { hasTrait, type Node, type State } from "../../src/node.ts"
import { allocateRefs, countRefs, keepInteractive, withoutBounds } from "../../src/refs/allocate.ts"
import { isInteractive, walk } from "../../src/tree.ts"
import { nodesOf } from "../support/answers.ts"

// No function under test looks inside a handle.
const handle = {} as unknown as Handle

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const word = optional(fc.constantFrom("", "a", "b", "c"))

/** Random trees with everything that decides about refs and pruning. */
const { seen } = fc.letrec<{ seen: SeenNode }>((tie) => ({
  seen: fc
    .record({
      role: fc.constantFrom(
        "group",
        "window",
        "statictext",
        "splitter",
        "row",
        "button",
        "textfield",
        "cell",
        "combobox",
      ),
      name: word,
      value: word,
      description: word,
      states: fc.uniqueArray(fc.constantFrom<State>("enabled", "focused", "secure"), { maxLength: 2 }),
      actions: optional(
        fc.uniqueArray(fc.constantFrom<ActionName>("Click", "SetFocus", "Scroll"), { maxLength: 2 }),
      ),
      bounds: optional(
        fc.record({ x: fc.double(), y: fc.double(), width: fc.double(), height: fc.double() }),
      ),
      children_count: optional(fc.nat({ max: 3 })),
      children: fc.oneof(
        { maxDepth: 5, depthIdentifier: "tree" },
        fc.constant<readonly SeenNode[]>([]),
        fc.array(tie("seen"), { maxLength: 4, depthIdentifier: "tree" }),
      ),
    })
    .map((facts) => ({ ...facts, handle })),
}))

const treeOf = (root: SeenNode): SeenTree => ({
  root: { ...root, role: "window" },
  window: { id: "w-1", title: "" },
  app: "App",
  pid: 1,
  complete: true,
})
const source = { pid: 1, app: "App", windowId: "w-1", rootPath: [] }

const aTree = seen.map((root) => {
  const tree = treeOf(root)
  return { seen: tree, ...allocateRefs(tree, source) }
})

const refsOf = (tree: Node): string[] => [
  ...(tree.ref_id ? [tree.ref_id] : []),
  ...(tree.children ?? []).flatMap(refsOf),
]

test("refs are @e1 to @en in depth-first order, one for each interactive element", () => {
  fc.assert(
    fc.property(aTree, ({ seen, tree, entries }) => {
      const wanted = [...walk(seen.root)].filter(({ node }) => node !== seen.root && isInteractive(node))
      expect(refsOf(tree)).toEqual(wanted.map((_, i) => `@e${i + 1}`))
      expect(entries.map(({ role, name }) => [role, name])).toEqual(
        wanted.map(({ node }) => [node.role, node.name]),
      )
      expect(countRefs(tree)).toBe(entries.length)
    }),
    { numRuns: 300 },
  )
})

test("pruning keeps all refs and their order, and ref_count matches the printed tree", () => {
  fc.assert(
    fc.property(aTree, ({ tree, entries }) => {
      const refs = refsOf(tree)
      for (const pruned of [keepInteractive(tree), withoutBounds(tree)]) {
        expect(refsOf(pruned)).toEqual(refs)
        expect(countRefs(pruned)).toBe(entries.length)
      }
      // --compact leaves out cells that say nothing, or only hold another one.
      const cells = new Set(
        nodesOf(tree).flatMap(({ role, ref_id }) => (role === "cell" && ref_id ? ref_id : [])),
      )
      for (const pruned of [compact(tree), compact(keepInteractive(tree))]) {
        const kept = refsOf(pruned)
        expect(kept).toEqual(refs.filter((ref) => kept.includes(ref)))
        expect(refs.filter((ref) => !kept.includes(ref) && !cells.has(ref))).toEqual([])
        expect(countRefs(pruned)).toBe(kept.length)
      }
    }),
    { numRuns: 300 },
  )
})

test("-i keeps only nodes with a ref or with children, and the root", () => {
  fc.assert(
    fc.property(aTree, ({ tree }) => {
      const [, ...rest] = nodesOf(keepInteractive(tree))
      for (const node of rest) expect(node.ref_id ?? node.children ?? node.children_count).toBeDefined()
    }),
    { numRuns: 300 },
  )
})

test("--compact drops every meaningless wrapper except the root", () => {
  fc.assert(
    fc.property(aTree, ({ tree }) => {
      const [, ...rest] = nodesOf(compact(tree))
      for (const node of rest) {
        if (node.children?.length !== 1) continue
        expect(
          node.ref_id ?? node.name ?? node.value ?? node.description ?? node.states ?? node.children_count,
        ).toBeDefined()
      }
    }),
    { numRuns: 300 },
  )
})

test("pruning twice gives the same as pruning once", () => {
  fc.assert(
    fc.property(aTree, ({ tree }) => {
      expect(compact(compact(tree))).toEqual(compact(tree))
      expect(keepInteractive(keepInteractive(tree))).toEqual(keepInteractive(tree))
      const both = compact(keepInteractive(tree))
      expect(compact(keepInteractive(both))).toEqual(both)
    }),
    { numRuns: 200 },
  )
})

test("pruning does not change the nodes it keeps", () => {
  fc.assert(
    fc.property(aTree, ({ tree }) => {
      const own = ({ children: _, ...rest }: Node) => JSON.stringify(rest)
      const before = nodesOf(tree).map(own)
      for (const pruned of [keepInteractive(tree), compact(tree)]) {
        const after = nodesOf(pruned).map(own)
        let at = 0
        for (const node of after) {
          at = before.indexOf(node, at) + 1
          expect(at).toBeGreaterThan(0)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test("no printed node has an empty list, an empty name or a coordinate that is not a number", () => {
  fc.assert(
    fc.property(aTree, ({ tree }) => {
      for (const node of nodesOf(tree)) {
        expect(node.children?.length).not.toBe(0)
        expect(node.states?.length).not.toBe(0)
        expect(node.name).not.toBe("")
        for (const length of Object.values(node.bounds ?? {})) expect(Number.isFinite(length)).toBe(true)
        if (node.states?.includes("secure")) expect(node.value).toBeUndefined()
        if (hasTrait(node.role, "interactive")) expect(node.ref_id).toBeDefined()
      }
    }),
    { numRuns: 300 },
  )
})
