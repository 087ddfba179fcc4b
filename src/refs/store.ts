import { closeSync, linkSync, lstatSync, readdirSync, renameSync, statSync, unlinkSync } from "node:fs"
import type { RefStore, SaveOptions } from "../command.ts"
import { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Numbering } from "../node.ts"
import {
  errorCode,
  inWords,
  openLockFile,
  openPrivateDirectory,
  readPrivateFile,
  refuseUnlessOwn,
  writePrivateFile,
} from "../private-files.ts"
import { type BusHint, EMPTY_MAP, MAX_REF, type RefEntry, type RefMap } from "../refmap.ts"
import { appendEntries, hasLostProof, refuseAbove } from "./append.ts"
import { formatRefMap, isDamage, numberOf, parseRefMap } from "./refmap-json.ts"
import { isRunning, randomLetters, type SessionPaths, sessionPaths } from "./session-paths.ts"
import { survivorsOf } from "./survivors.ts"

/**
 * The maps of one session: `last_refmap.json`, and in `snapshots` a copy for each of the latest snapshot ids, with
 * their trees in `trees`. A file is replaced, never changed, so that readers need no lock: they see the old map or
 * the new one. Writers of the same session take turns.
 */
export function openRefStore({
  root,
  session,
  numbering = "fresh",
}: {
  readonly root: string
  readonly session?: string
  readonly numbering?: Numbering
}): RefStore {
  const paths = sessionPaths(root, session)
  const isStable = numbering === "stable"
  return {
    numbering,
    prepare: async () => void (await locking()).prepareLocks(),
    load: async (snapshotId) =>
      snapshotId === undefined ? (readMap(paths.current) ?? EMPTY_MAP) : readKept(paths, snapshotId),
    number: async (entries, after = 0) =>
      isStable ? numberStable(paths, entries) : entries.map((_, index) => `@e${after + 1 + index}`),
    save: (entries, options = {}) => (isStable ? saveBeside : save)(paths, entries, options),
    tree: async (snapshotId) => readTree(paths, snapshotId),
    append: (entries, snapshotId, reachedBy) =>
      append(paths, isStable ? appendStable : appendEntries, entries, snapshotId, reachedBy),
    notifications: async (listed) => {
      if (!listed) return readPrivateFile(paths.notifications, MAX_BYTES)?.split("\n").filter(Boolean)
      return writing(paths, async () => {
        using file = writeTemporary(paths, Buffer.from(listed.join("\n")))
        file.move(paths.notifications)
        return listed
      })
    },
  }
}

const MAX_BYTES = 1_048_576

async function save(
  paths: SessionPaths,
  entries: readonly RefEntry[],
  options: SaveOptions,
): Promise<string> {
  return writing(paths, async () => {
    const id = freshId(paths)
    const bytes = encode(newMap(id, entries, options))
    if (options.tree !== undefined) writeTree(paths, id, options.tree)
    // Only the last step takes the lock, so that other writers do not wait for our disk.
    using whole = writeTemporary(paths, bytes)
    using copy = duplicate(paths, whole, bytes)
    await inTurn(paths, () => {
      refuseUnlessOwn(paths.current)
      copy.move(keptPath(paths, id))
      if (!options.aside) whole.move(paths.current)
    })
    prune(paths)
    return id
  })
}

/** The refs that stay valid beside those of a new snapshot. The map must stay small: every command reads all of it. */
const KEPT_BESIDE = 500

/** Like `save`, but the refs of the current map stay in it, which works because a number never means two things. */
async function saveBeside(
  paths: SessionPaths,
  entries: readonly RefEntry[],
  options: SaveOptions,
): Promise<string> {
  if (options.aside) return save(paths, entries, options)
  return writing(paths, async () => {
    const id = freshId(paths)
    if (options.tree !== undefined) writeTree(paths, id, options.tree)
    await inTurn(paths, () => {
      refuseUnlessOwn(paths.current)
      const map = newMap(id, entries, options)
      const current = readUsable(paths.current)
      const older = [...current.inner].filter(([ref]) => !map.inner.has(ref)).slice(-KEPT_BESIDE)
      const counter = Math.max(map.counter, current.counter)
      const inner = new Map([...older, ...map.inner].sort(([a], [b]) => numberOf(a) - numberOf(b)))
      const both = { ...map, counter, inner }
      const text = formatRefMap(both)
      const bytes = Buffer.from(text)
      // Without room for both, the snapshot is enough.
      publish(paths, id, bytes.length > MAX_BYTES ? encode({ ...map, counter }) : bytes)
      // If no other process replaces the file, the next snapshot need not parse it.
      lastUsable = { text, map: both }
    })
    prune(paths)
    return id
  })
}

const newMap = (id: string, entries: readonly RefEntry[], options: SaveOptions): RefMap => ({
  inner: new Map(entries.map((entry, index) => [options.refs?.[index] ?? `@e${index + 1}`, entry])),
  counter: options.counter ?? entries.length,
  snapshot_id: id,
  reached_by: options.reachedBy,
})

/** Publishes the map under its id and, if it is the current one, as the newest. The caller must hold the lock. */
function publish(paths: SessionPaths, id: string, bytes: Uint8Array, isCurrent = true): void {
  using whole = writeTemporary(paths, bytes)
  using copy = duplicate(paths, whole, bytes)
  // The copy first: after a crash between the two, no caller knows numbers that are only in the copy.
  copy.move(keptPath(paths, id))
  if (isCurrent) whole.move(paths.current)
}

/** The refs that elements already have in the session, and unused numbers for the others. */
function numberStable(paths: SessionPaths, entries: readonly RefEntry[]): Promise<readonly string[]> {
  return inDirectories(paths, () =>
    inTurn(paths, () => {
      const current = readUsable(paths.current)
      const known = survivorsOf(current, entries, "stable")
      const next = reserve(paths, known.filter((one) => one === undefined).length, current.counter)
      return known.map((one) => one?.ref ?? `@e${next()}`)
    }),
  )
}

/** Adds entries to a map. `refs` has one ref per entry. */
type Append = (
  map: RefMap,
  entries: readonly RefEntry[],
  paths: SessionPaths,
) => { readonly map: RefMap; readonly refs: readonly string[] }

const appendStable: Append = (map, entries, paths) => {
  const known = survivorsOf(map, entries, "stable")
  const isCurrent = known.map(
    (one, i) => one?.isMoved === false && !hasLostProof(map.inner.get(one.ref)!, entries[i]!),
  )
  if (isCurrent.every(Boolean)) return { map, refs: known.map((one) => one!.ref) }
  const next = reserve(paths, known.filter((one) => one === undefined).length, map.counter)
  const refs = known.map((one) => one?.ref ?? `@e${next()}`)
  const renewed = refs.flatMap((ref, i): [string, RefEntry][] => (isCurrent[i] ? [] : [[ref, entries[i]!]]))
  const counter = Math.max(map.counter, ...refs.map((ref) => Number(ref.slice(2))))
  return { map: { ...map, inner: new Map([...map.inner, ...renewed]), counter }, refs }
}

/**
 * Takes numbers that no caller has seen, and records the highest of them first: a number taken by a writer that died is
 * lost, and never issued again. The caller must hold the lock.
 */
function reserve(paths: SessionPaths, count: number, counter: number): () => number {
  const given = Number(readPrivateFile(paths.highest, MAX_BYTES) ?? 0)
  // A damaged file is ignored; the map knows all numbers that are still in use.
  let last = Math.max(Number.isSafeInteger(given) && given <= MAX_REF ? given : 0, counter)
  refuseAbove(last + count)
  if (count > 0) {
    using file = temporary(paths)
    writePrivateFile(file.path, Buffer.from(String(last + count)))
    file.move(paths.highest)
  }
  return () => ++last
}

/**
 * The map in a file, for numbering only: the refs of a damaged map are unusable. A snapshot needs it twice, and
 * each of the two reads the file, since another process may have replaced it.
 */
function readUsable(path: string): RefMap {
  const text = readText(path)
  if (text === undefined) return EMPTY_MAP
  if (lastUsable?.text !== text) lastUsable = { text, map: parseUsable(text) }
  return lastUsable.map
}

let lastUsable: { readonly text: string; readonly map: RefMap } | undefined

function parseUsable(text: string): RefMap {
  try {
    const map = parseRefMap(text)
    // Entries are parsed when they are asked for.
    return { ...map, inner: new Map(map.inner) }
  } catch (error) {
    if (isDamage(error)) return EMPTY_MAP
    throw error
  }
}

async function append(
  paths: SessionPaths,
  add: Append,
  entries: readonly RefEntry[],
  snapshotId: string | undefined,
  reachedBy: BusHint | undefined,
): Promise<readonly string[]> {
  return writing(paths, () =>
    inTurn(paths, () => {
      const current = readMap(paths.current)
      const isCurrent = snapshotId === undefined || snapshotId === current?.snapshot_id
      const before = isCurrent ? (current ?? EMPTY_MAP) : readKept(paths, snapshotId)
      const { map, refs } = add(before, entries, paths)
      if (map === before) return refs
      const id = isSnapshotId(map.snapshot_id) ? map.snapshot_id : freshId(paths)
      const bytes = encode({ ...map, snapshot_id: id, reached_by: reachedBy ?? map.reached_by })
      publish(paths, id, bytes, isCurrent)
      return refs
    }),
  )
}

const keptPath = (paths: SessionPaths, id: string) => `${paths.snapshots}/${id}.json`
const treePath = (paths: SessionPaths, id: string) => `${paths.trees}/${id}.json`

function writeTree(paths: SessionPaths, id: string, tree: string): void {
  const bytes = Buffer.from(tree)
  if (bytes.length > MAX_BYTES) return
  closeSync(openPrivateDirectory(paths.trees, "inner"))
  // No caller knows the id before the file is complete.
  writePrivateFile(treePath(paths, id), bytes)
}

function readTree(paths: SessionPaths, id: string): string | undefined {
  try {
    return isSnapshotId(id) ? readPrivateFile(treePath(paths, id), MAX_BYTES) : undefined
  } catch (error) {
    throw inWords(error, `Cannot read ${treePath(paths, id)}`)
  }
}

/** The map in a file; undefined if there is none, or if it is damaged, e.g. by a power cut. */
function readMap(path: string): RefMap | undefined {
  const text = readText(path)
  try {
    return text === undefined ? undefined : parseRefMap(text)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

function readText(path: string): string | undefined {
  try {
    return readPrivateFile(path, MAX_BYTES)
  } catch (error) {
    throw inWords(error, `Cannot read ${path}`)
  }
}

function readKept(paths: SessionPaths, id: string): RefMap {
  const map = isSnapshotId(id) ? readMap(keptPath(paths, id)) : undefined
  if (map !== undefined) return map
  throw new AppError("SNAPSHOT_NOT_FOUND", `Snapshot '${id.slice(0, 80)}' not found`, {
    suggestion: "Run 'snapshot' to get a new one",
  })
}

function encode(map: RefMap): Uint8Array {
  const bytes = Buffer.from(formatRefMap(map))
  if (bytes.length <= MAX_BYTES) return bytes
  throw new AppError(
    "INTERNAL",
    `The ref map would take ${bytes.length} bytes, more than the limit of ${MAX_BYTES}`,
    {
      suggestion: "Run 'snapshot' with a smaller --max-depth, with --root REF, or with -i",
      details: { kind: "ref_map", bytes: bytes.length, limit: MAX_BYTES },
    },
  )
}

// The id becomes part of a path, so nothing else may pass.
const isSnapshotId = (id: string | undefined): id is string => id !== undefined && /^s[a-z2-7]{8}$/.test(id)

function freshId(paths: SessionPaths): string {
  for (;;) {
    const id = `s${randomLetters()}`
    if (lstatSync(keptPath(paths, id), { throwIfNoEntry: false }) === undefined) return id
  }
}

/** Runs the work with private directories in place, then removes the leftovers of killed writers. */
function writing<T>(paths: SessionPaths, work: () => Promise<T>): Promise<T> {
  return inDirectories(paths, async () => {
    const result = await work()
    sweep(paths)
    return result
  })
}

async function inDirectories<T>(paths: SessionPaths, work: () => Promise<T>): Promise<T> {
  try {
    for (const path of [...paths.parents, paths.directory])
      closeSync(openPrivateDirectory(path, path === paths.root ? "root" : "inner"))
    closeSync(openPrivateDirectory(paths.snapshots, "inner"))
    return await work()
  } catch (error) {
    throw inWords(error, `Cannot write the ref map in ${paths.directory}`)
  }
}

const TURN_MS = 2000

/** Only writers load a C library. */
const locking = () => import("../../ffi/libsystem.ts")

/** Runs the work while no other process or store writes to the session. The work must not wait for anything. */
async function inTurn<T>(paths: SessionPaths, work: () => T): Promise<T> {
  const { tryLock } = await locking()
  const path = `${paths.directory}/.lock`
  const fd = openLockFile(path)
  try {
    const deadline = Deadline.in(TURN_MS)
    for (let pause = 1; !tryLock(fd); pause = Math.min(pause * 2, 8)) {
      if (deadline.expired)
        throw new AppError("TIMEOUT", `Another process has kept the ref map locked for ${TURN_MS} ms`, {
          suggestion: `Retry; end the process that holds ${path}, or use your own --session`,
          details: { kind: "refmap_lock" },
        })
      await Bun.sleep(Math.random() * pause)
    }
    return work()
  } finally {
    closeSync(fd)
  }
}

interface Temporary extends Disposable {
  readonly path: string
  /** Gives the file its final path. */
  move(to: string): void
}

const temporary = (paths: SessionPaths): Temporary => {
  const path = `${paths.directory}/.tmp-${process.pid}-${randomLetters()}`
  let isMoved = false
  return {
    path,
    move: (to) => {
      renameSync(path, to)
      isMoved = true
    },
    [Symbol.dispose]: () => {
      if (!isMoved) remove(path)
    },
  }
}

function writeTemporary(paths: SessionPaths, bytes: Uint8Array): Temporary {
  const file = temporary(paths)
  writePrivateFile(file.path, bytes)
  return file
}

function duplicate(paths: SessionPaths, whole: Temporary, bytes: Uint8Array): Temporary {
  const file = temporary(paths)
  try {
    linkSync(whole.path, file.path)
    return file
  } catch (error) {
    // Some file systems have no hard links, and each reports that with a different error.
    if (errorCode(error) === "ENOENT") throw error
    return writeTemporary(paths, bytes)
  }
}

const KEPT = 32
const KEPT_AT_MOST = 40
const ABANDONED_MS = 60_000
/** Longer than any running writer takes. */
const WRITING_MS = 2000

/** Removes files of writers that have died, once that is certain. */
function sweep({ directory }: SessionPaths): void {
  for (const name of readdirSync(directory)) {
    const writer = /^\.tmp-(\d+)-/.exec(name)?.[1]
    if (writer === undefined) continue
    const path = `${directory}/${name}`
    const age = ageOf(path, Date.now())
    // The pid of a writer in another container means nothing here, so only the age counts.
    if (age > ABANDONED_MS || (age > WRITING_MS && !isRunning(Number(writer)))) remove(path)
  }
}

/** Removes the oldest copies and their trees. Runs only above a limit, because it reads the age of every file. */
function prune(paths: SessionPaths): void {
  const copies = readdirSync(paths.snapshots)
  if (copies.length <= KEPT_AT_MOST) return
  const now = Date.now()
  const aged = copies.map((name) => ({ name, age: ageOf(`${paths.snapshots}/${name}`, now) }))
  const oldest = aged.sort((a, b) => a.age - b.age).splice(KEPT)
  const kept = new Set(aged.map(({ name }) => name))
  for (const { name } of oldest) remove(`${paths.snapshots}/${name}`)
  for (const name of namesIn(paths.trees)) {
    const path = `${paths.trees}/${name}`
    // A young tree without a map may be about to get one; an old one belongs to a writer that died.
    const isOurs =
      kept.has(name) || (ageOf(path, now) <= ABANDONED_MS && !oldest.some((one) => one.name === name))
    if (!isOurs) remove(path)
  }
}

/** Removes a file. Another process may have done so already. */
function remove(path: string): void {
  try {
    // rmSync takes ten times as long.
    unlinkSync(path)
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw error
  }
}

function ageOf(path: string, now: number): number {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  // A time in the future: the clock was set back since. Such a copy would outlive all new ones.
  return written === undefined || written > now + 1000 ? Number.MAX_VALUE : now - written
}
