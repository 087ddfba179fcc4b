import { closeSync, fsyncSync, linkSync, lstatSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import type { RefStore, SaveOptions } from "../command.ts"
import { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import {
  errorCode,
  inWords,
  openLockFile,
  openPrivateDirectory,
  readPrivateFile,
  refuseUnlessOwn,
  writePrivateFile,
} from "../private-files.ts"
import { appendEntries, type BusHint, EMPTY_MAP, type RefEntry, type RefMap } from "../refmap.ts"
import { formatRefMap, parseRefMap } from "./refmap-json.ts"

export { stateRoot } from "../private-files.ts"

/**
 * The maps of one session: `last_refmap.json`, and in `snapshots` a copy of it for each of the latest
 * snapshot ids, in `trees` what else was kept with those. A file is replaced, never changed: readers need
 * no lock and see the old map or the new. Writers of the same session take turns.
 */
export function openRefStore({
  root,
  session,
}: {
  readonly root: string
  readonly session?: string
}): RefStore {
  const place = placeOf(root, session)
  return {
    prepare: async () => void (await locking()).prepareLocks(),
    load: async (snapshotId) =>
      snapshotId === undefined ? (readMap(place.current) ?? EMPTY_MAP) : readKept(place, snapshotId),
    save: (entries, options = {}) => save(place, entries, options),
    tree: async (snapshotId) => readTree(place, snapshotId),
    append: (entries, snapshotId, reachedBy) => append(place, entries, snapshotId, reachedBy),
  }
}

interface Place {
  readonly root: string
  /** From the root down to where the session's own directory is. */
  readonly parents: readonly string[]
  readonly directory: string
  readonly snapshots: string
  readonly trees: string
  readonly current: string
}

function placeOf(root: string, session: string | undefined): Place {
  if (session !== undefined && !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(session))
    throw new AppError("INVALID_ARGS", `Invalid session name '${session.slice(0, 80)}'`, {
      suggestion: "Use 1 to 64 letters, digits, '.', '_' or '-', the first of them not a dot",
    })
  const directory = session === undefined ? root : `${root}/sessions/${session}`
  return {
    root,
    parents: session === undefined ? [] : [root, `${root}/sessions`],
    directory,
    snapshots: `${directory}/snapshots`,
    trees: `${directory}/trees`,
    current: `${directory}/last_refmap.json`,
  }
}

const MAX_BYTES = 1_048_576

async function save(place: Place, entries: readonly RefEntry[], options: SaveOptions): Promise<string> {
  return writing(place, async () => {
    const id = freshId(place)
    const inner = new Map(entries.map((entry, index) => [options.refs?.[index] ?? `@e${index + 1}`, entry]))
    const { counter = entries.length, reachedBy } = options
    const bytes = encode({ inner, counter, snapshot_id: id, reached_by: reachedBy })
    if (options.tree !== undefined) writeTree(place, id, options.tree)
    // Only the last step needs our turn: others do not wait for our disk.
    using whole = writeTemporary(place, bytes)
    using copy = duplicate(place, whole, bytes)
    await inTurn(place, () => {
      refuseUnlessOwn(place.current)
      copy.move(keptPath(place, id))
      if (!options.aside) whole.move(place.current)
    })
    prune(place)
    return id
  })
}

async function append(
  place: Place,
  entries: readonly RefEntry[],
  snapshotId: string | undefined,
  reachedBy: BusHint | undefined,
): Promise<readonly string[]> {
  return writing(place, () =>
    inTurn(place, () => {
      const current = readMap(place.current)
      const isCurrent = snapshotId === undefined || snapshotId === current?.snapshot_id
      const before = isCurrent ? (current ?? EMPTY_MAP) : readKept(place, snapshotId)
      const { map, refs } = appendEntries(before, entries)
      if (map.counter === before.counter) return refs
      const id = isSnapshotId(map.snapshot_id) ? map.snapshot_id : freshId(place)
      const bytes = encode({ ...map, snapshot_id: id, reached_by: reachedBy ?? map.reached_by })
      using whole = writeTemporary(place, bytes)
      using copy = duplicate(place, whole, bytes)
      // The copy first: a crash between the two leaves numbers that nobody was told.
      copy.move(keptPath(place, id))
      if (isCurrent) whole.move(place.current)
      return refs
    }),
  )
}

const keptPath = (place: Place, id: string) => `${place.snapshots}/${id}.json`
const treePath = (place: Place, id: string) => `${place.trees}/${id}.json`

function writeTree(place: Place, id: string, tree: string): void {
  const bytes = Buffer.from(tree)
  if (bytes.length > MAX_BYTES) return
  closeSync(openPrivateDirectory(place.trees, "inner"))
  // Nobody knows the id before all of it is there; a loss of power costs no more than a comparison.
  writePrivateFile(treePath(place, id), bytes, true)
}

function readTree(place: Place, id: string): string | undefined {
  try {
    return isSnapshotId(id) ? readPrivateFile(treePath(place, id), MAX_BYTES) : undefined
  } catch (error) {
    throw inWords(error, `Cannot read ${treePath(place, id)}`)
  }
}

function readMap(path: string): RefMap | undefined {
  try {
    const text = readPrivateFile(path, MAX_BYTES)
    return text === undefined ? undefined : parseRefMap(text)
  } catch (error) {
    throw inWords(error, `Cannot read ${path}`)
  }
}

function readKept(place: Place, id: string): RefMap {
  const map = isSnapshotId(id) ? readMap(keptPath(place, id)) : undefined
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
    },
  )
}

// A path comes of it, so nothing else may pass.
const isSnapshotId = (id: string | undefined): id is string => id !== undefined && /^s[a-z2-7]{8}$/.test(id)

function freshId(place: Place): string {
  for (;;) {
    const id = `s${randomLetters()}`
    if (lstatSync(keptPath(place, id), { throwIfNoEntry: false }) === undefined) return id
  }
}

/** Seeded anew in every process; that nobody could guess it is not asked for. */
const randomLetters = () =>
  Array.from({ length: 8 }, () => "abcdefghijklmnopqrstuvwxyz234567"[Math.floor(Math.random() * 32)]).join("")

/** Runs with the directories there and private, and waits until the disk has what it changed. */
async function writing<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    for (const path of place.parents)
      closeSync(openPrivateDirectory(path, path === place.root ? "root" : "inner"))
    const directory = openPrivateDirectory(place.directory, place.directory === place.root ? "root" : "inner")
    try {
      closeSync(openPrivateDirectory(place.snapshots, "inner"))
      const result = await work()
      syncDirectory(directory)
      sweep(place)
      return result
    } finally {
      closeSync(directory)
    }
  } catch (error) {
    throw inWords(error, `Cannot write the ref map in ${place.directory}`)
  }
}

// Some file systems cannot do this for a directory. The names are in place without it; they would only
// not be sure to survive a loss of power, as nothing that they speak of does.
function syncDirectory(fd: number): void {
  try {
    fsyncSync(fd)
  } catch (error) {
    if (errorCode(error) !== "EINVAL" && errorCode(error) !== "ENOTSUP") throw error
  }
}

const TURN_MS = 2000

/** Only writers pay for a C library. */
const locking = () => import("../../ffi/libsystem.ts")

/** Runs while no other process (and no other store of this one) writes to the session; it must not wait. */
async function inTurn<T>(place: Place, work: () => T): Promise<T> {
  const { tryLock } = await locking()
  const path = `${place.directory}/.lock`
  const fd = openLockFile(path)
  try {
    const deadline = Deadline.in(TURN_MS)
    for (let pause = 1; !tryLock(fd); pause = Math.min(pause * 2, 8)) {
      if (deadline.expired)
        throw new AppError("TIMEOUT", `Another process has kept the ref map locked for ${TURN_MS} ms`, {
          suggestion: `Retry; end the process that holds ${path}, or use a --session of your own`,
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
  /** To where it stays. */
  move(to: string): void
}

const temporary = (place: Place): Temporary => {
  const path = `${place.directory}/.tmp-${process.pid}-${randomLetters()}`
  let isMoved = false
  return {
    path,
    move: (to) => {
      renameSync(path, to)
      isMoved = true
    },
    [Symbol.dispose]: () => {
      if (!isMoved) rmSync(path, { force: true })
    },
  }
}

function writeTemporary(place: Place, bytes: Uint8Array): Temporary {
  const file = temporary(place)
  writePrivateFile(file.path, bytes)
  return file
}

function duplicate(place: Place, whole: Temporary, bytes: Uint8Array): Temporary {
  const file = temporary(place)
  try {
    linkSync(whole.path, file.path)
    return file
  } catch (error) {
    // Not every file system has hard links, and each has its own word for that.
    if (errorCode(error) === "ENOENT") throw error
    return writeTemporary(place, bytes)
  }
}

const KEPT = 32
const KEPT_AT_MOST = 40
const ABANDONED_MS = 60_000
/** Longer than any writer that is not stopped takes. */
const WRITING_MS = 2000

/** Removes what writers left that died, as soon as that is certain. */
function sweep({ directory }: Place): void {
  for (const name of readdirSync(directory)) {
    const writer = /^\.tmp-(\d+)-/.exec(name)?.[1]
    if (writer === undefined) continue
    const path = `${directory}/${name}`
    const age = ageOf(path, Date.now())
    // Whoever shares the directory from another container has pids that mean nothing here.
    if (age > ABANDONED_MS || (age > WRITING_MS && !isRunning(Number(writer)))) rmSync(path, { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) !== "ESRCH"
  }
}

/** Removes the oldest copies, and what was kept with them; rarely, since it looks at every file. */
function prune(place: Place): void {
  const copies = readdirSync(place.snapshots)
  if (copies.length <= KEPT_AT_MOST) return
  const now = Date.now()
  const aged = copies.map((name) => ({ name, age: ageOf(`${place.snapshots}/${name}`, now) }))
  const oldest = aged.sort((a, b) => a.age - b.age).splice(KEPT)
  const kept = new Set(aged.map(({ name }) => name))
  for (const { name } of oldest) rmSync(`${place.snapshots}/${name}`, { force: true })
  for (const name of namesIn(place.trees)) {
    const path = `${place.trees}/${name}`
    // One without a map may be about to get it, or its writer died before.
    const isOurs =
      kept.has(name) || (ageOf(path, now) <= ABANDONED_MS && !oldest.some((one) => one.name === name))
    if (!isOurs) rmSync(path, { force: true })
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
  // From the future: the clock was set back since. Otherwise such a copy would outlive all new ones.
  return written === undefined || written > now + 1000 ? Number.MAX_VALUE : now - written
}
