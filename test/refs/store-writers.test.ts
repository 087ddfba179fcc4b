import { afterEach, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import type { RefMap } from "../../src/refmap.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { appended, generation } from "./store-writer.ts"
import { button, failure, namesOf, rootsForFile, unfinished } from "./stores.ts"

const children: Bun.Subprocess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
})

const newRoot = rootsForFile()

test("a reader never sees half a map while four processes save and append", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save(generation(9, 0))
  const writers = ["both", "save", "append", "both"].map((mode, tag) =>
    startWriter(root, mode, String(tag), "100"),
  )
  const ended = Promise.all(writers.map(({ child }) => child.exited))
  let running = true
  ended.then(() => {
    running = false
  })
  let reads = 0
  const seen = new Set<string | undefined>()
  while (running) {
    const map = await store.load()
    expectWhole(map)
    seen.add(map.snapshot_id)
    reads += 1
    const kept = readdirSync(`${root}/snapshots`)[reads % 32]?.slice(0, -".json".length)
    // It may have been pruned meanwhile.
    await store
      .load(kept)
      .then(expectWhole, (error) => expect(error).toMatchObject({ code: "SNAPSHOT_NOT_FOUND" }))
    await Bun.sleep(0)
  }
  expect(await ended).toEqual([0, 0, 0, 0])
  expect(reads).toBeGreaterThan(10)
  expect(seen.size).toBeGreaterThan(3)
  expect(unfinished(root)).toEqual([])
  expectWhole(await store.load())
}, 240_000)

test("four processes that append at once lose nothing and use no number twice", async () => {
  const root = newRoot()
  const writers = [1, 2, 3, 4].map((tag) => startWriter(root, "append", String(tag), "60"))
  const told = await Promise.all(
    writers.map(async ({ child, line }): Promise<Record<string, string>> => {
      expect(await line()).toBe("started")
      const refs = JSON.parse((await line()) ?? "{}")
      expect(await child.exited).toBe(0)
      return refs
    }),
  )
  const map = await openRefStore({ root }).load()
  const refs = told.flatMap((refs) => Object.entries(refs))
  expect(new Set(refs.map(([, ref]) => ref)).size).toBe(240)
  expect(map.inner.size).toBe(240)
  for (const [name, ref] of refs) expect(map.inner.get(ref)?.name).toBe(name)
  expect(namesOf(await openRefStore({ root }).load(map.snapshot_id))).toEqual(namesOf(map))
}, 240_000)

test("a writer killed at any moment leaves a whole map, and the next one can write", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  for (let turn = 0; turn < 30; turn++) {
    const { child, line } = startWriter(root, "both", String(turn))
    expect(await line()).toBe("started")
    await Bun.sleep(Math.random() * 25)
    child.kill("SIGKILL")
    await child.exited
    const map = await store.load()
    expectWhole(map)
    expect(map.inner.size).toBeGreaterThan(0)
    expectWhole(await store.load(map.snapshot_id))
    const [ref] = await store.append([appended(1000, turn)])
    expect((await store.load()).inner.get(String(ref))?.name).toBe(`appended 1000.${turn}`)
    await store.save(generation(1000, turn))
    expectWhole(await store.load())
  }
}, 240_000)

test("a writer waits for a lock, and gets it as soon as its holder is dead", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  const { child, line } = startWriter(root, "hold")
  expect(await line()).toBe("held")
  child.kill("SIGSTOP")
  for (const run of [() => store.append([button("Menu")]), () => store.save([button("Other")])]) {
    const error = await failure(run)
    expect(error.code).toBe("TIMEOUT")
    expect(error.details).toEqual({ kind: "refmap_lock" })
    expect(error.suggestion).toContain(`${root}/.lock`)
  }
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
  expect(unfinished(root)).toEqual([])
  const appending = store.append([button("Menu")])
  child.kill("SIGKILL")
  expect(await appending).toEqual(["@e2"])
  expect(namesOf(await store.load())).toEqual(["@e1 Save", "@e2 Menu"])
})

function startWriter(...args: string[]) {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/store-writer.ts`, ...args], {
    stdout: "pipe",
    stderr: "inherit",
  })
  children.push(child)
  const lines = linesOf(child.stdout)
  return { child, line: async () => (await lines.next()).value }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = parts.pop() ?? ""
    yield* parts
  }
  return undefined
}

/** Expects that the map is one whole save, followed only by appended entries. */
function expectWhole(map: RefMap): void {
  const entries = [...map.inner]
  expect(entries.map(([ref]) => ref)).toEqual(entries.map((_, index) => `@e${index + 1}`))
  expect(map.counter).toBe(entries.length)
  const [tag, turn] =
    /^generation (\d+)\.(\d+) /
      .exec(entries[0]?.[1].name ?? "")
      ?.slice(1)
      .map(Number) ?? []
  const saved = tag === undefined || turn === undefined ? [] : generation(tag, turn)
  expect(entries.slice(0, saved.length).map(([, entry]) => entry)).toEqual(saved)
  for (const [, entry] of entries.slice(saved.length)) expect(entry.name).toBe(entry.address)
}
