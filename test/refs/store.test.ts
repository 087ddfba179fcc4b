import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { RefEntry } from "../../src/refmap.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { button, failure, namesOf, rootsForFile, unfinished } from "./stores.ts"

const newRoot = rootsForFile()

test("before the first snapshot there are no refs, and loading creates no files", async () => {
  const root = newRoot()
  const map = await openRefStore({ root }).load()
  expect(namesOf(map)).toEqual([])
  expect(map.counter).toBe(0)
  expect(existsSync(root)).toBe(false)
})

test("a saved map is the current one, and can be loaded by its id after later ones", async () => {
  const store = openRefStore({ root: newRoot() })
  const first = await store.save([button("Save"), button("Close")])
  const second = await store.save([button("Open")])
  expect(first).toMatch(/^s[a-z2-7]{8}$/)
  expect(second).not.toBe(first)
  const current = await store.load()
  expect(namesOf(current)).toEqual(["@e1 Open"])
  expect(current.snapshot_id).toBe(second)
  const kept = await store.load(first)
  expect(namesOf(kept)).toEqual(["@e1 Save", "@e2 Close"])
  expect(kept.snapshot_id).toBe(first)
  expect(namesOf(await store.load(second))).toEqual(["@e1 Open"])
})

test("equal elements of one snapshot have a ref each", async () => {
  const store = openRefStore({ root: newRoot() })
  await store.save([button("Twin"), button("Twin")])
  expect(namesOf(await store.load())).toEqual(["@e1 Twin", "@e2 Twin"])
})

test("the map is a JSON file in the place that the contract names", async () => {
  const root = newRoot()
  const id = await openRefStore({ root }).save([button("Save")])
  const written = JSON.parse(readFileSync(`${root}/last_refmap.json`, "utf8"))
  expect(written).toMatchObject({
    inner: { "@e1": { pid: 7, name: "Save", value: null } },
    counter: 1,
    snapshot_id: id,
  })
  expect(readFileSync(`${root}/snapshots/${id}.json`, "utf8")).toBe(
    readFileSync(`${root}/last_refmap.json`, "utf8"),
  )
})

test("a map says how its desktop was reached, and later refs update it", async () => {
  const store = openRefStore({ root: newRoot() })
  const id = await store.save([button("Save")], { reachedBy: "by road" })
  for (const snapshot of [undefined, id]) expect((await store.load(snapshot)).reached_by).toBe("by road")
  await store.append([button("Close")], undefined, "by sea")
  expect((await store.load()).reached_by).toBe("by sea")
  await store.append([button("Open")])
  expect((await store.load()).reached_by).toBe("by sea")
  await store.save([button("Save")])
  expect((await store.load()).reached_by).toBeUndefined()
})

test("sessions do not see each other's refs", async () => {
  const root = newRoot()
  const shared = openRefStore({ root })
  const named = openRefStore({ root, session: "agent-1.a_b" })
  const id = await shared.save([button("Shared")])
  expect(namesOf(await named.load())).toEqual([])
  expect((await failure(() => named.load(id))).code).toBe("SNAPSHOT_NOT_FOUND")
  const own = await named.save([button("Own")])
  expect(namesOf(await shared.load())).toEqual(["@e1 Shared"])
  expect((await failure(() => shared.load(own))).code).toBe("SNAPSHOT_NOT_FOUND")
  expect(existsSync(`${root}/sessions/agent-1.a_b/last_refmap.json`)).toBe(true)
  expect(existsSync(`${root}/sessions/agent-1.a_b/snapshots/${own}.json`)).toBe(true)
})

test.each(["", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n", "ä", "x".repeat(65), "a\0b"])(
  "%j is not a session name",
  async (session) => {
    const error = await failure(() => openRefStore({ root: newRoot(), session }))
    expect(error.code).toBe("INVALID_ARGS")
    expect(error.suggestion).toBeString()
  },
)

test.each([
  "",
  "s",
  "sabcdefg",
  "sabcdefgh",
  "../last_refmap",
  "s../../../",
  "/etc/passwd",
  "sABCDEFGH",
  "sabcdefg\0",
])("snapshot id %j is not found", async (id) => {
  const store = openRefStore({ root: newRoot() })
  await store.save([button("Save")])
  for (const error of [
    await failure(() => store.load(id)),
    await failure(() => store.append([button("x")], id)),
  ]) {
    expect(error.code).toBe("SNAPSHOT_NOT_FOUND")
    expect(error.message).toContain(id)
    expect(error.suggestion).toBe("Run 'snapshot' to get a new one")
  }
})

test("append numbers new elements after the others, whose numbers stay", async () => {
  const store = openRefStore({ root: newRoot() })
  const id = await store.save([button("Save"), button("Close")])
  expect(await store.append([button("Menu"), button("Close"), button("Menu")])).toEqual(["@e3", "@e2", "@e3"])
  const current = await store.load()
  expect(namesOf(current)).toEqual(["@e1 Save", "@e2 Close", "@e3 Menu"])
  expect(current.snapshot_id).toBe(id)
  expect(namesOf(await store.load(id))).toEqual(namesOf(current))
})

test("append to an older snapshot changes only that one", async () => {
  const store = openRefStore({ root: newRoot() })
  const past = await store.save([button("Save")])
  const now = await store.save([button("Open")])
  expect(await store.append([button("Menu")], past)).toEqual(["@e2"])
  expect(namesOf(await store.load(past))).toEqual(["@e1 Save", "@e2 Menu"])
  expect(namesOf(await store.load())).toEqual(["@e1 Open"])
  expect(await store.append([button("Menu")], now)).toEqual(["@e2"])
  expect(namesOf(await store.load())).toEqual(["@e1 Open", "@e2 Menu"])
  expect(namesOf(await store.load(now))).toEqual(["@e1 Open", "@e2 Menu"])
})

test("append without a map creates one with an id", async () => {
  const store = openRefStore({ root: newRoot() })
  expect(await store.append([button("Found")])).toEqual(["@e1"])
  const map = await store.load()
  expect(namesOf(map)).toEqual(["@e1 Found"])
  expect(namesOf(await store.load(map.snapshot_id))).toEqual(["@e1 Found"])
})

test("append of known elements does not write the file", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  const { ino } = statSync(`${root}/last_refmap.json`)
  expect(await store.append([button("Save")])).toEqual(["@e1"])
  expect(await store.append([])).toEqual([])
  expect(statSync(`${root}/last_refmap.json`).ino).toBe(ino)
})

test("append gives a map with a bad id a new one, and writes only to its folder", async () => {
  for (const id of ["", ',"snapshot_id":null', ',"snapshot_id":"../../escaped"']) {
    const root = newRoot()
    const store = openRefStore({ root })
    await store.save([])
    writeFileSync(`${root}/last_refmap.json`, `{"inner":{"@e1":{"pid":7,"role":"button"}},"counter":1${id}}`)
    expect(await store.append([button("Menu")])).toEqual(["@e2"])
    const map = await store.load()
    expect(map.snapshot_id).toMatch(/^s[a-z2-7]{8}$/)
    expect(namesOf(await store.load(map.snapshot_id))).toEqual(["@e1 undefined", "@e2 Menu"])
    expect(existsSync(`${dirname(root)}/escaped.json`)).toBe(false)
  }
})

test("two stores of one process that append at once lose nothing", async () => {
  const root = newRoot()
  const stores = [openRefStore({ root }), openRefStore({ root })]
  const names = Array.from({ length: 30 }, (_, index) => `Button ${index}`)
  const refs = await Promise.all(names.map((name, index) => stores[index % 2]!.append([button(name)])))
  const { inner } = await stores[0]!.load()
  expect(inner.size).toBe(30)
  for (const [index, [ref]] of refs.entries()) expect(inner.get(ref!)?.name).toBe(names[index])
})

test.each([
  ["an empty file", () => ""],
  ["half a map", (whole: string) => whole.slice(0, -10)],
  ["something else", () => '{"version":"2.0"}'],
  ["nothing but zeros", () => "\0".repeat(500)],
])("%s, as a power cut may leave it, reads as no map", async (_, contentOf) => {
  const root = newRoot()
  const store = openRefStore({ root })
  const id = await store.save([button("Save")])
  const whole = readFileSync(`${root}/last_refmap.json`, "utf8")
  writeFileSync(`${root}/last_refmap.json`, contentOf(whole))
  writeFileSync(`${root}/snapshots/${id}.json`, contentOf(whole))
  expect((await store.load()).inner.size).toBe(0)
  expect((await failure(() => store.load(id))).code).toBe("SNAPSHOT_NOT_FOUND")
  expect(await store.append([button("x")])).toEqual(["@e1"])
  await store.save([button("Save")])
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
})

test("a damaged entry is an error until the next snapshot", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  const content = readFileSync(`${root}/last_refmap.json`, "utf8").replace('"pid":7', '"pid":"seven"')
  writeFileSync(`${root}/last_refmap.json`, content)
  for (const run of [async () => [...(await store.load()).inner], () => store.append([button("x")])]) {
    const error = await failure(run)
    expect(error.code).toBe("INTERNAL")
    expect(error.message).toStartWith("The ref map is damaged")
    expect(error.suggestion).toStartWith("Run 'snapshot'")
  }
  expect(readFileSync(`${root}/last_refmap.json`, "utf8")).toBe(content)
})

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => button(`Button ${index} ${"x".repeat(200)}`))

test("a map over the limit is refused, and the old one stays", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const id = await store.save([button("Save")])
  const before = readFileSync(`${root}/last_refmap.json`, "utf8")
  for (const run of [() => store.save(many(5000)), () => store.append(many(5000))]) {
    const error = await failure(run)
    expect(error.code).toBe("INTERNAL")
    expect(error.message).toMatch(/ \d{7} bytes, more than the limit of 1048576$/)
    for (const word of ["--max-depth", "--root", "-i"]) expect(error.suggestion).toContain(word)
  }
  expect(readFileSync(`${root}/last_refmap.json`, "utf8")).toBe(before)
  expect(namesOf(await store.load(id))).toEqual(["@e1 Save"])
  expect(readdirSync(`${root}/snapshots`)).toEqual([`${id}.json`])
  expect(unfinished(root)).toEqual([])
})

test("the limit counts bytes exactly", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const filled = (length: number): RefEntry => ({ ...button("é"), identifier: "é".repeat(length) })
  await store.save([filled(0)])
  const fixed = statSync(`${root}/last_refmap.json`).size
  const room = Math.floor((1_048_576 - fixed) / 2)
  await store.save([filled(room)])
  expect(statSync(`${root}/last_refmap.json`).size).toBeGreaterThan(1_048_574)
  expect((await store.load()).inner.size).toBe(1)
  expect((await failure(() => store.save([filled(room + 1)]))).code).toBe("INTERNAL")
})
