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

/**
 * The maps of one session: `last_refmap.json`, and in `snapshots` a copy for each of the latest snapshot ids, with
 * their trees in `trees`. A file is replaced, never changed, so that readers need no lock: they see the old map or
 * the new one. Writers of the same session take turns.
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
  /** The directories above the session's own, from the root down. */
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
    // Only the last step is done in turn, so that other writers do not wait for our disk.
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
      // The copy first: after a crash between the two, no caller knows the numbers that are only in the copy.
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
  // No caller knows the id before the file is complete. A power loss costs one comparison at most.
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

// The id becomes part of a path, so nothing else may pass.
const isSnapshotId = (id: string | undefined): id is string => id !== undefined && /^s[a-z2-7]{8}$/.test(id)

function freshId(place: Place): string {
  for (;;) {
    const id = `s${randomLetters()}`
    if (lstatSync(keptPath(place, id), { throwIfNoEntry: false }) === undefined) return id
  }
}

/** Differs in every process. The ids need not be secret. */
const randomLetters = () =>
  Array.from({ length: 8 }, () => "abcdefghijklmnopqrstuvwxyz234567"[Math.floor(Math.random() * 32)]).join("")

/** Runs the work with the directories in place and private, and syncs its changes to the disk. */
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

// Some file systems cannot sync a directory. The names are in place without it, but may be lost with the power,
// and so are the apps that the refs are of.
function syncDirectory(fd: number): void {
  try {
    fsyncSync(fd)
  } catch (error) {
    if (errorCode(error) !== "EINVAL" && errorCode(error) !== "ENOTSUP") throw error
  }
}

const TURN_MS = 2000

/** Only writers load a C library. */
const locking = () => import("../../ffi/libsystem.ts")

/** Runs the work while no other process or store writes to the session. The work must not wait for anything. */
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
  /** Gives the file its final path. */
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
    // Some file systems have no hard links, and each reports that with an error of its own.
    if (errorCode(error) === "ENOENT") throw error
    return writeTemporary(place, bytes)
  }
}

const KEPT = 32
const KEPT_AT_MOST = 40
const ABANDONED_MS = 60_000
/** Longer than any running writer takes. */
const WRITING_MS = 2000

/** Removes files of writers that have died, once that is certain. */
function sweep({ directory }: Place): void {
  for (const name of readdirSync(directory)) {
    const writer = /^\.tmp-(\d+)-/.exec(name)?.[1]
    if (writer === undefined) continue
    const path = `${directory}/${name}`
    const age = ageOf(path, Date.now())
    // A writer in another container has a pid that means nothing here, so that only the age counts.
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

/** Removes the oldest copies and their trees. Runs only above a limit, because it reads the age of every file. */
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
    // A young tree without a map may be about to get one; an old one is of a writer that died.
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
  // A time in the future: the clock was set back since. Such a copy would outlive all new ones.
  return written === undefined || written > now + 1000 ? Number.MAX_VALUE : now - written
}
