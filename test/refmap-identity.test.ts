import { expect, test } from "bun:test"
import fc from "fast-check"
import { EMPTY_MAP, type RefEntry, type RefMap, sameElement } from "../src/refmap.ts"
import { appendEntries } from "../src/refs/append.ts"
import { formatRefMap, parseRefMap } from "../src/refs/refmap-json.ts"
import { mapOf, save } from "./support/ref-entries.ts"

const placed: RefEntry = {
  ...save,
  process_start: "99",
  window_id: "w-7",
  path: [0, 3, 1],
  identifier: "save",
}

const addressed: RefEntry = { ...placed, address: ":1.5/a/b" }

test("the same address in the same process is the same element, even after it moved", () => {
  expect(sameElement(addressed, addressed)).toBe(true)
  expect(sameElement(addressed, { ...addressed, value: "new", states: ["disabled"] })).toBe(true)
  expect(
    sameElement(addressed, { ...addressed, path: [9], window_id: "w-8", bounds: undefined, bounds_hash: 5n }),
  ).toBe(true)
})

test.each<Partial<RefEntry>>([
  { address: ":1.5/a/c" },
  { pid: 4321 },
  { process_start: "100" },
  { process_start: undefined },
  { role: "checkbox" },
  { name: "Delete" },
  { name: undefined },
  { identifier: "delete" },
  { identifier: undefined },
])("with %j it is another element", (change) => {
  expect(sameElement(addressed, { ...addressed, ...change })).toBe(false)
  expect(sameElement({ ...addressed, ...change }, addressed)).toBe(false)
})

test("the same address in another context is another element: its row shows other content", () => {
  const context = { above: "a", around: "b", levels: 2 }
  const inRow = { ...addressed, context }
  expect(sameElement(inRow, { ...inRow, context: { ...context, above: "x" } })).toBe(false)
  expect(sameElement(inRow, { ...inRow, context: { ...context, around: "x" } })).toBe(false)
  expect(sameElement(inRow, { ...inRow, context: { ...context, levels: 3 } })).toBe(false)
  expect(sameElement(inRow, { ...inRow, context: { above: "a" } })).toBe(false)
  expect(sameElement(inRow, { ...inRow, context: { ...context }, value: "new" })).toBe(true)
  expect(sameElement(inRow, addressed)).toBe(true)
})

test("without an address, the place, bounds, name, role and identifier must all match", () => {
  expect(sameElement(placed, { ...placed, value: "new", states: [] })).toBe(true)
  expect(sameElement(addressed, placed)).toBe(true)
  const changes: Partial<RefEntry>[] = [
    { window_id: "w-8" },
    { window_id: undefined },
    { path: [0, 3] },
    { path: [0, 3, 2] },
    { path: [0, 3, 1, 0] },
    { path: undefined },
    { bounds_hash: 5n },
    { name: "Delete" },
    { role: "cell" },
    { identifier: "x" },
    { pid: 2 },
    { process_start: "1" },
  ]
  for (const change of changes) {
    expect(sameElement(placed, { ...placed, ...change })).toBe(false)
    expect(sameElement({ ...placed, ...change }, placed)).toBe(false)
  }
})

test("two elements without a known position never count as the same", () => {
  expect(sameElement(save, save)).toBe(false)
  expect(appendEntries(EMPTY_MAP, [save, save]).refs).toEqual(["@e1", "@e2"])
})

test("a known element keeps its ref, and a new element gets the next number", () => {
  const map = mapOf(addressed, { ...addressed, address: ":1.5/a/c" })
  const found = [
    { ...addressed, address: ":1.5/n" },
    { ...addressed, value: "now" },
    { ...addressed, address: ":1.5/n" },
    placed,
  ]
  const { map: more, refs } = appendEntries(map, found)
  expect(refs).toEqual(["@e3", "@e1", "@e3", "@e1"])
  expect(more.counter).toBe(3)
  expect(more.inner.get("@e1")).toEqual(addressed)
  expect(map.inner.size).toBe(2)
})

test("a ref that no longer proves its element, one of two equal rows in a list that has changed, is not given again", () => {
  const known: RefEntry = { ...addressed, has_twin: true, neighbours: "before" }
  expect(appendEntries(mapOf(known), [known]).refs).toEqual(["@e1"])
  const { map, refs } = appendEntries(mapOf(known), [{ ...known, neighbours: "after" }])
  expect(refs).toEqual(["@e2"])
  expect(appendEntries(map, [{ ...known, neighbours: "after" }]).refs).toEqual(["@e2"])
  expect(appendEntries(mapOf(known), [addressed]).refs).toEqual(["@e2"])
})

test("a stored long name is recognized when the element is found again", () => {
  const long = { ...addressed, name: "x".repeat(5000) }
  const stored = parseRefMap(formatRefMap(mapOf(long)))
  expect(appendEntries(stored, [long]).refs).toEqual(["@e1"])
  expect(appendEntries(stored, [{ ...long, name: `${"x".repeat(4999)}y` }]).refs).toEqual(["@e2"])
})

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

test("appendEntries and sameElement agree on which elements are the same", () => {
  const few = fc.record({
    pid: fc.constantFrom(1, 2),
    role: fc.constant("button"),
    name: optional(fc.constantFrom("a", "b")),
    states: fc.constant([]),
    available_actions: fc.constant([]),
    window_id: optional(fc.constant("w-1")),
    address: optional(fc.constantFrom("x", "y")),
    path: optional(fc.constantFrom([0], [1])),
    context: optional(fc.constantFrom({ above: "c" }, { above: "d" })),
  })
  fc.assert(
    fc.property(fc.array(few, { maxLength: 6 }), few, (entries, entry) => {
      const inner = new Map(entries.map((known, index) => [`@e${index + 1}`, known]))
      const expected = entries.some((known) => sameElement(known, entry))
      const { refs, map } = appendEntries({ inner, counter: entries.length }, [entry])
      expect(refs[0] !== `@e${entries.length + 1}`).toBe(expected)
      expect(sameElement(map.inner.get(refs[0]!)!, entry) || !expected).toBe(true)
    }),
  )
})

test("when the numbers run out, nothing is appended", () => {
  const full: RefMap = { inner: new Map(), counter: 9_999_999_999 }
  expect(() => appendEntries(full, [save])).toThrow(expect.objectContaining({ code: "INTERNAL" }))
})
