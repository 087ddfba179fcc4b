import { afterAll, afterEach, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { homedir, tmpdir } from "node:os"
import { AppError } from "../../src/errors.ts"
import { stateRoot } from "../../src/private-files.ts"
import type { RefEntry, RefMap } from "../../src/refmap.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { appended, generation } from "./store-writer.ts"

const scratch = mkdtempSync(`${realpathSync(tmpdir())}/refstore-`)
const children: Bun.Subprocess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let roots = 0
const newRoot = () => `${scratch}/root-${++roots}`

const button = (name: string): RefEntry => ({
  pid: 7,
  role: "button",
  name,
  states: ["enabled"],
  available_actions: ["Click"],
  address: name,
})

const namesOf = (map: RefMap) => [...map.inner].map(([ref, entry]) => `${ref} ${entry.name}`)
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)
const temporaries = (directory: string) => readdirSync(directory).filter((name) => name.startsWith(".tmp-"))

async function failure(run: () => unknown): Promise<AppError> {
  try {
    await run()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

test("before the first snapshot there are no refs, and nothing is made to find that out", async () => {
  const root = newRoot()
  const map = await openRefStore({ root }).load()
  expect(namesOf(map)).toEqual([])
  expect(map.counter).toBe(0)
  expect(existsSync(root)).toBe(false)
})

test("a saved map is the current one, and stays under its id when others follow", async () => {
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

test("the map is where the contract says, and another program can read it", async () => {
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

test("a map says how the desktop of its refs was reached, and newer refs say it anew", async () => {
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
  "%j is no session name",
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
])("snapshot id %j, which names none, is not found", async (id) => {
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

test("append gives new elements the next numbers and leaves the others theirs", async () => {
  const store = openRefStore({ root: newRoot() })
  const id = await store.save([button("Save"), button("Close")])
  expect(await store.append([button("Menu"), button("Close"), button("Menu")])).toEqual(["@e3", "@e2", "@e3"])
  const current = await store.load()
  expect(namesOf(current)).toEqual(["@e1 Save", "@e2 Close", "@e3 Menu"])
  expect(current.snapshot_id).toBe(id)
  expect(namesOf(await store.load(id))).toEqual(namesOf(current))
})

test("append to a snapshot of the past changes only that one", async () => {
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

test("append where there is no map yet makes one, with an id", async () => {
  const store = openRefStore({ root: newRoot() })
  expect(await store.append([button("Found")])).toEqual(["@e1"])
  const map = await store.load()
  expect(namesOf(map)).toEqual(["@e1 Found"])
  expect(namesOf(await store.load(map.snapshot_id))).toEqual(["@e1 Found"])
})

test("append of what is all there leaves the file as it is", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  const { ino } = statSync(`${root}/last_refmap.json`)
  expect(await store.append([button("Save")])).toEqual(["@e1"])
  expect(await store.append([])).toEqual([])
  expect(statSync(`${root}/last_refmap.json`).ino).toBe(ino)
})

test("a map without a usable id gets one when something is appended, and its file stays in its folder", async () => {
  for (const id of ["", ',"snapshot_id":null', ',"snapshot_id":"../../escaped"']) {
    const root = newRoot()
    const store = openRefStore({ root })
    await store.save([])
    writeFileSync(`${root}/last_refmap.json`, `{"inner":{"@e1":{"pid":7,"role":"button"}},"counter":1${id}}`)
    expect(await store.append([button("Menu")])).toEqual(["@e2"])
    const map = await store.load()
    expect(map.snapshot_id).toMatch(/^s[a-z2-7]{8}$/)
    expect(namesOf(await store.load(map.snapshot_id))).toEqual(["@e1 undefined", "@e2 Menu"])
    expect(existsSync(`${scratch}/escaped.json`)).toBe(false)
  }
})

test("stores of one process that append at once lose nothing", async () => {
  const root = newRoot()
  const stores = [openRefStore({ root }), openRefStore({ root })]
  const names = Array.from({ length: 30 }, (_, index) => `Button ${index}`)
  const refs = await Promise.all(names.map((name, index) => stores[index % 2]!.append([button(name)])))
  const { inner } = await stores[0]!.load()
  expect(inner.size).toBe(30)
  for (const [index, [ref]] of refs.entries()) expect(inner.get(ref!)?.name).toBe(names[index])
})

test.each(["000", "022", "077", "777"])(
  "under umask %s only the user can reach what is written",
  async (umask) => {
    const root = newRoot()
    const store = openRefStore({ root, session: "s" })
    const before = process.umask(Number.parseInt(umask, 8))
    try {
      const id = await store.save([button("Save")])
      await store.append([button("Menu")], id)
    } finally {
      process.umask(before)
    }
    for (const directory of ["", "/sessions", "/sessions/s", "/sessions/s/snapshots"])
      expect(modeOf(root + directory)).toBe("700")
    const files = ["last_refmap.json", ".lock", `snapshots/${readdirSync(`${root}/sessions/s/snapshots`)[0]}`]
    for (const file of files) expect(modeOf(`${root}/sessions/s/${file}`)).toBe("600")
  },
)

test("the way to a state root that is not there yet is made", async () => {
  const root = `${newRoot()}/new/state`
  await openRefStore({ root }).save([button("Save")])
  expect(namesOf(await openRefStore({ root }).load())).toEqual(["@e1 Save"])
  expect(modeOf(root)).toBe("700")
})

test("directories of ours that stand open are closed to others", async () => {
  const root = newRoot()
  const store = openRefStore({ root, session: "s" })
  await openRefStore({ root }).save([])
  await store.save([button("Save")])
  const directories = [root, `${root}/sessions`, `${root}/sessions/s`, `${root}/sessions/s/snapshots`]
  for (const directory of directories) chmodSync(directory, 0o777)
  await store.save([button("Save")])
  for (const directory of directories) expect(modeOf(directory)).toBe("700")
})

test("an empty directory that was made for us is closed to others", async () => {
  const root = newRoot()
  mkdirSync(root)
  chmodSync(root, 0o755)
  await openRefStore({ root }).save([])
  expect(modeOf(root)).toBe("700")
})

test("a directory that others use as well is refused and keeps its mode", async () => {
  for (const mode of [0o755, 0o1777]) {
    const root = newRoot()
    mkdirSync(root)
    if (mode === 0o755) writeFileSync(`${root}/thesis.txt`, "")
    chmodSync(root, mode)
    const error = await failure(() => openRefStore({ root }).save([]))
    expect(error.code).toBe("INTERNAL")
    expect(error.message).toContain(root)
    expect(error.suggestion).toContain("AGENT_DESKTOP_HOME")
    expect(modeOf(root)).toBe(mode.toString(8))
    expect(existsSync(`${root}/last_refmap.json`)).toBe(false)
  }
})

test("a symbolic link in place of a directory of ours is refused", async () => {
  for (const link of ["", "/sessions", "/sessions/s", "/sessions/s/snapshots"]) {
    const root = newRoot()
    const elsewhere = newRoot()
    mkdirSync(elsewhere, { mode: 0o755 })
    const store = openRefStore({ root, session: "s" })
    await store.save([button("Save")])
    renameSync(root + link, `${elsewhere}/moved`)
    symlinkSync(elsewhere, root + link)
    const before = readdirSync(elsewhere)
    for (const run of [() => store.save([button("x")]), () => store.append([button("x")])]) {
      const error = await failure(run)
      expect(error.code).toBe("INTERNAL")
      expect(error.message).toContain(`${root}${link} is a symbolic link`)
      expect(error.suggestion).toContain("Remove")
    }
    expect(readdirSync(elsewhere)).toEqual(before)
    expect(modeOf(elsewhere)).toBe("755")
  }
})

test("a symbolic link in place of a file of ours is neither read nor replaced nor followed", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const id = await store.save([button("Save")])
  const target = `${scratch}/target.json`
  for (const file of ["last_refmap.json", `snapshots/${id}.json`, ".lock"]) {
    writeFileSync(target, '{"inner":{},"counter":0}', { mode: 0o600 })
    renameSync(`${root}/${file}`, `${root}/aside`)
    symlinkSync(target, `${root}/${file}`)
    const runs = {
      "last_refmap.json": [() => store.load(), () => store.save([]), () => store.append([button("x")])],
      ".lock": [() => store.save([]), () => store.append([button("x")])],
    }[file] ?? [() => store.load(id)]
    for (const run of runs) {
      const error = await failure(run)
      expect(error.code).toBe("INTERNAL")
      expect(error.message).toContain(`${root}/${file}`)
      expect(error.suggestion).toContain("Remove")
    }
    expect(readFileSync(target, "utf8")).toBe('{"inner":{},"counter":0}')
    expect(temporaries(root)).toEqual([])
    renameSync(`${root}/aside`, `${root}/${file}`)
  }
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
})

test("what belongs to another user is refused", async () => {
  const isRoot = process.getuid?.() === 0
  const root = isRoot ? newRoot() : "/usr"
  if (isRoot) {
    mkdirSync(root, { mode: 0o700 })
    chownSync(root, 12345, 12345)
  }
  const error = await failure(() => openRefStore({ root }).save([]))
  expect(error.code).toBe("INTERNAL")
  expect(error.message).toBe(`${root} belongs to another user`)
  expect(error.suggestion).toContain("AGENT_DESKTOP_HOME")
  if (!isRoot) return
  chownSync(root, 0, 0)
  await openRefStore({ root }).save([])
  chownSync(`${root}/last_refmap.json`, 12345, 12345)
  for (const run of [() => openRefStore({ root }).load(), () => openRefStore({ root }).save([])])
    expect((await failure(run)).message).toBe(`${root}/last_refmap.json belongs to another user`)
})

test("a map that others can write is not believed", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  chmodSync(`${root}/last_refmap.json`, 0o622)
  expect((await failure(() => store.load())).message).toContain("can be written by other users")
  await store.save([button("Save")])
  expect(modeOf(`${root}/last_refmap.json`)).toBe("600")
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
})

test("a pipe or a directory in the map's place is refused without waiting", async () => {
  for (const make of ["mkfifo", "mkdir"]) {
    const root = newRoot()
    const store = openRefStore({ root })
    await store.save([])
    rmSync(`${root}/last_refmap.json`)
    expect(Bun.spawnSync([make, `${root}/last_refmap.json`]).exitCode).toBe(0)
    for (const run of [() => store.load(), () => store.save([])]) {
      const error = await failure(run)
      expect(error.code).toBe("INTERNAL")
      expect(error.message).toBe(`${root}/last_refmap.json is not a regular file`)
    }
  }
})

test("a damaged map is named as such until the next snapshot", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  await store.save([button("Save")])
  const whole = readFileSync(`${root}/last_refmap.json`, "utf8")
  for (const content of [
    "",
    whole.slice(0, -10),
    '{"version":"2.0"}',
    whole.replace('"pid":7', '"pid":"seven"'),
    "\0".repeat(500),
  ]) {
    writeFileSync(`${root}/last_refmap.json`, content)
    const runs = [async () => [...(await store.load()).inner], () => store.append([button("x")])]
    for (const run of runs) {
      const error = await failure(run)
      expect(error.code).toBe("INTERNAL")
      expect(error.message).toStartWith("The ref map is damaged")
      expect(error.suggestion).toStartWith("Run 'snapshot'")
    }
    expect(readFileSync(`${root}/last_refmap.json`, "utf8")).toBe(content)
  }
  await store.save([button("Save")])
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
})

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => button(`Button ${index} ${"x".repeat(200)}`))

test("a map over the limit is refused, and what was there stays", async () => {
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
  expect(temporaries(root)).toEqual([])
})

test("the limit counts bytes, to the last one", async () => {
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

test("the newest 32 snapshots stay, and at most 8 more", async () => {
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

test("snapshots from the future do not push out the new ones", async () => {
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

test("what dead writers left is removed by the next one, what is being written is not", async () => {
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
  expect(temporaries(root).toSorted()).toEqual([`.tmp-${dead}-fresh`, `.tmp-${process.pid}-ours`].toSorted())
})

test("a tree whose map was never written goes with the next prune", async () => {
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

test.each<[Record<string, string>, string]>([
  [{ AGENT_DESKTOP_HOME: "/srv/state", HOME: "/home/u" }, "/srv/state"],
  [{ AGENT_DESKTOP_HOME: "/srv//a/../state/", HOME: "/home/u" }, "/srv/state"],
  [{ AGENT_DESKTOP_HOME: "", HOME: "/home/u" }, "/home/u/.agent-desktop"],
  [{ HOME: "/home/u/" }, "/home/u/.agent-desktop"],
  [{}, `${homedir()}/.agent-desktop`],
  [{ HOME: "" }, `${homedir()}/.agent-desktop`],
])("with %j the state is in %s", (env, root) => {
  expect(stateRoot(env)).toBe(root)
})

test.each(["state", "./state", "~/state", "/", "//", "/a/..", " "])(
  "AGENT_DESKTOP_HOME=%j is refused",
  async (root) => {
    const error = await failure(() => stateRoot({ AGENT_DESKTOP_HOME: root, HOME: "/home/u" }))
    expect(error.code).toBe("INVALID_ARGS")
    expect(error.message).toContain(`'${root}'`)
    expect(error.suggestion).toContain("absolute path")
  },
)

test("a place where nothing can be written is an error with words", async () => {
  const file = `${scratch}/file`
  writeFileSync(file, "")
  const error = await failure(() => openRefStore({ root: `${file}/state` }).save([]))
  expect(error.code).toBe("INTERNAL")
  expect(error.message).toContain(`${file}/state`)
  expect(error.suggestion).toContain("AGENT_DESKTOP_HOME")
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

/** Throws unless the map is one save, whole, with nothing but appended entries after it. */
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

test("four processes that save and append at once never show a reader half a map", async () => {
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
    // One that was pruned since is the only excuse.
    await store
      .load(kept)
      .then(expectWhole, (error) => expect(error).toMatchObject({ code: "SNAPSHOT_NOT_FOUND" }))
    await Bun.sleep(0)
  }
  expect(await ended).toEqual([0, 0, 0, 0])
  expect(reads).toBeGreaterThan(10)
  expect(seen.size).toBeGreaterThan(3)
  expect(temporaries(root)).toEqual([])
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

test("a writer killed at any instant leaves a whole map, and the next one can write", async () => {
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

test("a lock is waited for a while, and free as soon as its holder is dead", async () => {
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
  expect(temporaries(root)).toEqual([])
  const appending = store.append([button("Menu")])
  child.kill("SIGKILL")
  expect(await appending).toEqual(["@e2"])
  expect(namesOf(await store.load())).toEqual(["@e1 Save", "@e2 Menu"])
}, 60_000)
