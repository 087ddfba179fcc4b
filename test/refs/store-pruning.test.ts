import { expect, test } from "bun:test"
import { readdirSync, utimesSync, writeFileSync } from "node:fs"
import { openRefStore } from "../../src/refs/store.ts"
import { button, failure, namesOf, rootsForFile, unfinished } from "./stores.ts"

const newRoot = rootsForFile()

test("the newest 32 snapshots are kept, and at most 8 more", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const ids: string[] = []
  for (let turn = 1; turn <= 49; turn++) {
    const id = await store.save([button(`Turn ${turn}`)])
    ids.push(id)
    // A file system's clock may be too coarse to tell one save from the next.
    const when = Date.now() / 1000 - 1000 + turn
    utimesSync(`${root}/snapshots/${id}.json`, when, when)
    const count = readdirSync(`${root}/snapshots`).length
    expect(count).toBeGreaterThanOrEqual(Math.min(turn, 32))
    expect(count).toBeLessThanOrEqual(40)
  }
  for (const [index, id] of ids.slice(-32).entries())
    expect(namesOf(await store.load(id))).toEqual([`@e1 Turn ${49 - 32 + index + 1}`])
  expect((await failure(() => store.load(ids[0]))).code).toBe("SNAPSHOT_NOT_FOUND")
})

test("snapshots with times in the future do not displace new ones", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  for (let turn = 0; turn < 40; turn++) {
    const id = await store.save([])
    const when = Date.now() / 1000 + 100_000 + turn
    utimesSync(`${root}/snapshots/${id}.json`, when, when)
  }
  const id = await store.save([button("Now")])
  expect(readdirSync(`${root}/snapshots`).length).toBe(32)
  expect(namesOf(await store.load(id))).toEqual(["@e1 Now"])
})

test("the next writer removes temporary files of dead processes, and no others", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([])
  const dead = Bun.spawnSync(["true"]).pid
  const left = (name: string, secondsAgo: number) => {
    writeFileSync(`${root}/${name}`, "half")
    utimesSync(`${root}/${name}`, Date.now() / 1000 - secondsAgo, Date.now() / 1000 - secondsAgo)
  }
  left(`.tmp-${dead}-dead`, 5)
  left(`.tmp-${dead}-fresh`, 0)
  left(`.tmp-${process.pid}-ours`, 5)
  left(`.tmp-${process.pid}-forgotten`, 100)
  await store.append([button("Save")])
  expect(unfinished(root).toSorted()).toEqual([`.tmp-${dead}-fresh`, `.tmp-${process.pid}-ours`].toSorted())
})

test("pruning removes a tree without a map", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const id = await store.save([], { tree: "{}" })
  writeFileSync(`${root}/trees/saaaaaaaa.json`, "half")
  utimesSync(`${root}/trees/saaaaaaaa.json`, 1000, 1000)
  let last = id
  for (let turn = 0; turn < 45; turn++) last = await store.save([], { tree: "{}" })
  const trees = readdirSync(`${root}/trees`)
  expect(trees).not.toContain("saaaaaaaa.json")
  expect(trees).not.toContain(`${id}.json`)
  expect(trees).toContain(`${last}.json`)
  expect(trees.toSorted()).toEqual(readdirSync(`${root}/snapshots`).toSorted())
})
