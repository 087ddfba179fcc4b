import { expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../src/errors.ts"
import { ACTION_NAMES, allRoles, STATES } from "../src/node.ts"
import {
  nameForIdentity,
  parseRef,
  type RefEntry,
  type RefMap,
  type Surroundings,
  valueForMap,
} from "../src/refmap.ts"
import { appendEntries } from "../src/refs/append.ts"
import { formatRefMap, parseRefMap } from "../src/refs/refmap-json.ts"
import { mapOf, save } from "./support/ref-entries.ts"

function failure(run: () => unknown): AppError {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

// Reads every entry, so that an error shows even if it is found lazily.
const readAll = (text: string) => [...parseRefMap(text).inner]

test.each([
  ["@e3", { ref: "@e3" }],
  ["e3", { ref: "@e3" }],
  ["@e1234567890", { ref: "@e1234567890" }],
  ["@sab34xyz7:e12", { ref: "@e12", snapshotId: "sab34xyz7" }],
  ["sab34xyz7:e12", { ref: "@e12", snapshotId: "sab34xyz7" }],
])("%s is a ref", (text, ref) => {
  expect(parseRef(text)).toEqual(ref)
})

test.each([
  "",
  "@",
  "e",
  "@e",
  "@e0",
  "@e03",
  "@e12345678901",
  "@3",
  "3",
  "@e3 ",
  " @e3",
  "@e3\n",
  "@E3",
  "@@e3",
  "@e-1",
  "@e1.5",
  "@e٣",
  ":e3",
  "@:e3",
  "@s1:@e3",
  "@s1:e0",
  "@../x:e3",
  "@s/1:e3",
  "@s.1:e3",
  "@a:b:e3",
  `@${"s".repeat(65)}:e3`,
  "Save",
  "__proto__",
])("%j is not a ref", (text) => {
  const error = failure(() => parseRef(text))
  expect(error.code).toBe("INVALID_ARGS")
  expect(error.message).toContain(`'${text}'`)
  expect(error.suggestion).toContain("@e3")
})

test("the message about a very long ref stays short", () => {
  expect(failure(() => parseRef("x".repeat(1_000_000))).message.length).toBeLessThan(120)
})

test("a map is written in the documented format, with null for absent members", () => {
  expect(formatRefMap(mapOf(save))).toBe(
    '{"inner":{"@e1":{"pid":1234,"role":"button","name":"Save","value":null,"states":["enabled"],' +
      '"bounds":{"x":100,"y":50,"width":80,"height":30},"bounds_hash":7255865167679474841,' +
      '"available_actions":["Click"],"source_app":"TextEdit"}},"counter":1}',
  )
  expect(
    formatRefMap({
      ...mapOf({ pid: 1, role: "cell", states: [], available_actions: [] }),
      snapshot_id: "sabc",
    }),
  ).toBe(
    '{"inner":{"@e1":{"pid":1,"role":"cell","name":null,"value":null,"states":[],"bounds":null,' +
      '"bounds_hash":null,"available_actions":[],"source_app":null}},"counter":1,"snapshot_id":"sabc"}',
  )
})

test("evidence for finding the element again follows the documented members, if known", () => {
  const evidence = {
    process_start: "99",
    window_id: "w-7",
    address: ":1.5/a/b",
    path: [0, 3, 1],
    identifier: "save-button",
    context: { above: "1x2y", around: "3z", levels: 2 },
    has_twin: true,
    row: ":1.5/row",
    neighbours: "3z4",
    is_recycled: true,
  } as const
  const { inner } = JSON.parse(formatRefMap(mapOf({ ...save, ...evidence })))
  expect(Object.keys(inner["@e1"]).slice(9)).toEqual(Object.keys(evidence))
  expect(inner["@e1"]).toMatchObject(evidence)
})

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    maxLength: 40,
  }),
  fc.constantFrom(
    "__proto__",
    '","bounds_hash":1,"',
    '"bounds_hash": 12',
    "\\",
    '\\"',
    "\u2028",
    "null",
    "",
    "\ud800",
    "\udfff",
  ),
)

const length = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

const hash = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 64n - 1n),
)

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const surroundings: fc.Arbitrary<Surroundings> = fc.oneof(
  fc.record({ above: text }),
  fc.record({ above: text, around: text, levels: fc.integer({ min: 1, max: 50 }) }),
)

const anEntry: fc.Arbitrary<RefEntry> = fc.record({
  pid: fc.nat(),
  role: fc.constantFrom(...allRoles()),
  name: optional(text),
  value: optional(text),
  states: fc.uniqueArray(fc.constantFrom(...STATES.filter((state) => state !== "secure"))),
  bounds: optional(fc.record({ x: length, y: length, width: length, height: length })),
  bounds_hash: optional(hash),
  available_actions: fc.uniqueArray(fc.constantFrom(...ACTION_NAMES)),
  source_app: optional(text),
  process_start: optional(text),
  window_id: optional(text),
  address: optional(text),
  path: optional(fc.array(fc.nat(), { maxLength: 5 })),
  identifier: optional(text),
  context: optional(surroundings),
  has_twin: optional(fc.constant(true as const)),
  row: optional(text),
  neighbours: optional(text),
  is_recycled: optional(fc.constant(true as const)),
})

const aMap: fc.Arbitrary<RefMap> = fc
  .record({
    inner: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9_999_999_999 }), anEntry), {
      selector: ([n]) => n,
      maxLength: 12,
    }),
    more: fc.nat({ max: 5 }),
    snapshot_id: optional(text),
    reached_by: optional(text),
  })
  .map(({ inner, more, snapshot_id, reached_by }) => ({
    inner: new Map(inner.map(([number, entry]) => [`@e${number}`, entry])),
    counter: Math.min(Math.max(0, ...inner.map(([number]) => number)) + more, 9_999_999_999),
    snapshot_id,
    reached_by,
  }))

test("a map reads back as written, for any texts and numbers", () => {
  fc.assert(
    fc.property(aMap, (map) => {
      // A file stores the text as UTF-8.
      const read = parseRefMap(new TextDecoder().decode(new TextEncoder().encode(formatRefMap(map))))
      expect(Object.fromEntries(read.inner)).toEqual(Object.fromEntries(map.inner))
      const { counter, snapshot_id, reached_by } = map
      expect(read).toMatchObject({ counter, snapshot_id, reached_by })
      expect(formatRefMap(read)).toBe(formatRefMap(map))
    }),
    { numRuns: 300 },
  )
})

test("refs are sorted by number", () => {
  const inner = new Map([10, 2, 1, 9].map((number) => [`@e${number}`, save]))
  const written = formatRefMap({ inner, counter: 10 })
  expect(Object.keys(JSON.parse(written).inner)).toEqual(["@e1", "@e2", "@e9", "@e10"])
  const edited = `{"inner":{"@e10":${JSON.stringify(plain)},"@e9":${JSON.stringify(plain)}},"counter":10}`
  expect([...parseRefMap(edited).inner.keys()]).toEqual(["@e9", "@e10"])
})

const plain = { pid: 1, role: "button" }

const entryText = (entry: object) => `{"inner":{"@e1":${JSON.stringify(entry)}},"counter":1}`

test("missing, null and unknown members are accepted", () => {
  const nothing: RefEntry = { pid: 1, role: "button", states: [], available_actions: [] }
  const nulls = {
    ...plain,
    name: null,
    value: null,
    states: null,
    bounds: null,
    bounds_hash: null,
    available_actions: null,
    source_app: null,
    process_start: null,
    window_id: null,
    address: null,
    path: null,
    identifier: null,
    context: null,
    has_twin: null,
    row: null,
    neighbours: null,
    is_recycled: null,
  }
  expect(readAll(entryText(plain))).toEqual([["@e1", nothing]])
  expect(readAll(entryText(nulls))).toEqual([["@e1", nothing]])
  expect(readAll(entryText({ ...plain, states: ["enabled", "levitating"], mood: { deep: [1] } }))).toEqual([
    ["@e1", { ...nothing, states: ["enabled"] }],
  ])
  expect(readAll(entryText({ ...plain, role: "hologram" }))).toEqual([
    ["@e1", { ...nothing, role: "unknown" }],
  ])
  expect(readAll('{"inner":{},"counter":null,"snapshot_id":null,"extra":[]}')).toEqual([])
})

test("coordinates that are null read as 0", () => {
  expect(
    parseRefMap(entryText({ ...plain, bounds: { x: null, y: 5, width: 1.5 } })).inner.get("@e1")?.bounds,
  ).toEqual({
    x: 0,
    y: 5,
    width: 1.5,
    height: 0,
  })
  const written = formatRefMap(
    mapOf({ ...save, bounds: { x: Number.NaN, y: Number.POSITIVE_INFINITY, width: 1, height: 2 } }),
  )
  expect(parseRefMap(written).inner.get("@e1")?.bounds).toEqual({ x: 0, y: 0, width: 1, height: 2 })
})

test("a counter lower than its refs does not give out a number twice", () => {
  const read = parseRefMap(`{"inner":{"@e7":${JSON.stringify(plain)}},"counter":2}`)
  expect(appendEntries(read, [save]).refs).toEqual(["@e8"])
})

const whole = formatRefMap({ ...mapOf(save, { ...save, name: "Close" }), snapshot_id: "sabc" })

test("every truncated map is refused", () => {
  for (let end = 0; end < whole.length; end++) {
    const error = failure(() => readAll(whole.slice(0, end)))
    expect(error.code).toBe("INTERNAL")
    expect(error.suggestion).toStartWith("Run 'snapshot'")
  }
})

test.each([
  "",
  "null",
  "[]",
  "3",
  '"text"',
  "{}",
  "\0\0\0\0",
  "<html>",
  `${whole}${whole}`,
  '{"version":2,"refs":[]}',
  '{"inner":[],"counter":0}',
  '{"inner":null,"counter":0}',
  '{"inner":"x"}',
  '{"inner":{},"counter":-1}',
  '{"inner":{},"counter":1.5}',
  '{"inner":{},"counter":"1"}',
  '{"inner":{},"counter":1e300}',
  '{"inner":{},"counter":1,"snapshot_id":5}',
  '{"inner":{"e1":{"pid":1,"role":"button"}}}',
  '{"inner":{"@e0":{"pid":1,"role":"button"}}}',
  '{"inner":{"__proto__":{"pid":1,"role":"button"}}}',
  '{"inner":{"@e1":null}}',
  '{"inner":{"@e1":[]}}',
  '{"inner":{"@e1":5}}',
  entryText({ role: "button" }),
  entryText({ pid: "1", role: "button" }),
  entryText({ pid: -1, role: "button" }),
  entryText({ pid: 1.5, role: "button" }),
  entryText({ pid: 1 }),
  entryText({ pid: 1, role: 5 }),
  ...[
    "name",
    "value",
    "source_app",
    "process_start",
    "window_id",
    "address",
    "identifier",
    "context",
    "row",
    "neighbours",
  ].map((member) => entryText({ ...plain, [member]: 5 })),
  entryText({ ...plain, states: "enabled" }),
  entryText({ ...plain, states: [1] }),
  entryText({ ...plain, available_actions: {} }),
  entryText({ ...plain, bounds: [] }),
  entryText({ ...plain, bounds: { x: "1" } }),
  ...[
    {},
    { above: 5 },
    { around: "a", levels: 1 },
    { above: "a", around: "b" },
    { above: "a", levels: 1 },
    { above: "a", around: 5, levels: 1 },
    { above: "a", around: "b", levels: 0 },
    { above: "a", around: "b", levels: "1" },
  ].map((context) => entryText({ ...plain, context })),
  entryText({ ...plain, path: "0" }),
  entryText({ ...plain, path: [-1] }),
  entryText({ ...plain, path: [0.5] }),
  entryText({ ...plain, bounds_hash: -1 }),
  entryText({ ...plain, bounds_hash: 1.5 }),
  entryText({ ...plain, bounds_hash: true }),
  entryText({ ...plain, bounds_hash: "12x" }),
  '{"inner":{"@e1":{"pid":1,"role":"button","bounds_hash":18446744073709551616}}}',
  '{"inner":{"@e1":{"pid":1,"role":"button","bounds_hash":1e3}}}',
])("%j is refused as a map", (content) => {
  const error = failure(() => readAll(content))
  expect(error.code).toBe("INTERNAL")
  expect(error.message).toStartWith("The ref map is damaged")
  expect(error.suggestion).toStartWith("Run 'snapshot'")
})

test("a damaged entry affects only its own ref", () => {
  const map = parseRefMap(`{"inner":{"@e1":${JSON.stringify(plain)},"@e2":{"pid":"x"}},"counter":2}`)
  expect(map.inner.get("@e1")?.role).toBe("button")
  expect(map.inner.size).toBe(2)
  expect(failure(() => map.inner.get("@e2")).code).toBe("INTERNAL")
  expect(map.inner.get("@e3")).toBeUndefined()
})

test("no key of a map reaches an object's prototype", () => {
  const map = parseRefMap(
    '{"__proto__":{"inner":{}},"inner":{"@e1":{"pid":1,"role":"button","__proto__":{"name":"x","polluted":1},"constructor":{}}}}',
  )
  expect(map.inner.get("@e1")).toEqual({ pid: 1, role: "button", states: [], available_actions: [] })
  expect(map.inner.get("@e1")?.name).toBeUndefined()
  for (const key of ["__proto__", "constructor", "toString", "polluted"]) {
    expect(map.inner.get(key)).toBeUndefined()
    expect(map.inner.has(key)).toBe(false)
  }
  expect("polluted" in {}).toBe(false)
})

test("any text is either a map or refused, never a crash", () => {
  const junk = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.json().map((value) => `{"inner":{"@e1":${value}},"counter":1}`),
    fc
      .tuple(fc.nat({ max: whole.length }), fc.string({ maxLength: 3 }))
      .map(([at, typed]) => whole.slice(0, at) + typed + whole.slice(at + 1)),
  )
  fc.assert(
    fc.property(junk, (content) => {
      try {
        readAll(content)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
    }),
    { numRuns: 500 },
  )
})

test("a long value is cut at 256 characters, never inside a character", () => {
  expect(valueForMap({ value: "x".repeat(1000), states: [] })).toBe("x".repeat(256))
  expect(valueForMap({ value: "x".repeat(256), states: [] })).toBe("x".repeat(256))
  expect(valueForMap({ value: `${"x".repeat(255)}😀😀`, states: [] })).toBe("x".repeat(255))
  expect(valueForMap({ value: `${"x".repeat(254)}😀😀`, states: [] })).toBe(`${"x".repeat(254)}😀`)
  expect(valueForMap({ value: "", states: [] })).toBe("")
  const written = formatRefMap(mapOf({ ...save, value: "y".repeat(2_000_000) }))
  expect(written.length).toBeLessThan(1000)
  expect(parseRefMap(written).inner.get("@e1")?.value).toBe("y".repeat(256))
})

test("the value of a secure field is never written to a map or read from one", () => {
  const secret: RefEntry = { ...save, role: "textfield", value: "hunter2", states: ["enabled", "secure"] }
  expect(formatRefMap(mapOf(secret))).not.toContain("hunter2")
  expect(
    parseRefMap(entryText({ ...plain, states: ["secure"], value: "hunter2" })).inner.get("@e1")?.value,
  ).toBeUndefined()
})

test("a name of up to 512 characters is stored unchanged", () => {
  for (const name of ["", "Save", "x".repeat(512)]) expect(nameForIdentity(name)).toBe(name)
  expect(nameForIdentity(undefined)).toBeUndefined()
})

test("long names are shortened so that they still differ, and a shortened name stays the same", () => {
  const long = "x".repeat(100_000)
  const names = [long, `${long}y`, `${long}z`, `y${long}`, "x".repeat(513), `${long}\ud800`, `${long}\udbff`]
  const stored = names.map((name) => nameForIdentity(name))
  expect(new Set(stored).size).toBe(names.length)
  for (const name of stored) {
    expect(name.length).toBeLessThanOrEqual(512)
    expect(nameForIdentity(name)).toBe(name)
  }
  expect(nameForIdentity("😀".repeat(1000)).isWellFormed()).toBe(true)
  expect(nameForIdentity(`x${"😀".repeat(1000)}`).isWellFormed()).toBe(true)
  const read = parseRefMap(formatRefMap(mapOf({ ...save, name: long }))).inner.get("@e1")
  expect(read?.name).toBe(nameForIdentity(long))
})
