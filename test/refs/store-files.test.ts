import { expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { homedir } from "node:os"
import { stateRoot } from "../../src/private-files.ts"
import { openRefStore } from "../../src/refs/store.ts"
import { button, failure, modeOf, namesOf, rootsForFile, unfinished } from "./stores.ts"

const newRoot = rootsForFile()

test.each(["000", "022", "077", "777"])("under umask %s only the user can read the files", async (umask) => {
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
})

test("missing directories above the state root are created", async () => {
  const root = `${newRoot()}/new/state`
  await openRefStore({ root }).save([button("Save")])
  expect(namesOf(await openRefStore({ root }).load())).toEqual(["@e1 Save"])
  expect(modeOf(root)).toBe("700")
})

test("our directories are made private again if their mode was opened", async () => {
  const root = newRoot()
  const store = openRefStore({ root, session: "s" })
  await openRefStore({ root }).save([])
  await store.save([button("Save")])
  const directories = [root, `${root}/sessions`, `${root}/sessions/s`, `${root}/sessions/s/snapshots`]
  for (const directory of directories) chmodSync(directory, 0o777)
  await store.save([button("Save")])
  for (const directory of directories) expect(modeOf(directory)).toBe("700")
})

test("an existing empty directory is made private", async () => {
  const root = newRoot()
  mkdirSync(root)
  chmodSync(root, 0o755)
  await openRefStore({ root }).save([])
  expect(modeOf(root)).toBe("700")
})

test("a directory with files of others is refused and keeps its mode", async () => {
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

test("a symbolic link in place of one of our directories is refused", async () => {
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

test("a symbolic link in place of one of our files is neither read nor replaced nor followed", async () => {
  const root = newRoot()
  const store = openRefStore({ root })
  const id = await store.save([button("Save")])
  const target = `${newRoot()}.json`
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
    expect(unfinished(root)).toEqual([])
    renameSync(`${root}/aside`, `${root}/${file}`)
  }
  expect(namesOf(await store.load())).toEqual(["@e1 Save"])
})

test("files and directories of another user are refused", async () => {
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

test("a map that other users can write is refused", async () => {
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

test("a place that cannot be written is an error that names it", async () => {
  const file = newRoot()
  writeFileSync(file, "")
  const error = await failure(() => openRefStore({ root: `${file}/state` }).save([]))
  expect(error.code).toBe("INTERNAL")
  expect(error.message).toContain(`${file}/state`)
  expect(error.suggestion).toContain("AGENT_DESKTOP_HOME")
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
