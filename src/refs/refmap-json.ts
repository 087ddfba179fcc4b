import { AppError } from "../errors.ts"
import { ACTION_NAMES, type ActionName, isRole, type Rect, STATES, type State } from "../node.ts"
import {
  cut,
  MAX_REF,
  nameForIdentity,
  type RefEntry,
  type RefMap,
  type Surroundings,
  valueForMap,
} from "../refmap.ts"

export function formatRefMap(map: RefMap): string {
  const inner = [...map.inner]
    .sort(([a], [b]) => numberOf(a) - numberOf(b))
    .map(([ref, entry]) => `"${ref}":${formatEntry(entry)}`)
  const { counter, snapshot_id, reached_by } = map
  return `{"inner":{${inner.join(",")}},${JSON.stringify({ counter, snapshot_id, reached_by }).slice(1)}`
}

/**
 * Reads a ref map. Throws INTERNAL if the text is not one. An entry is parsed, and may throw the same error, only when
 * it is needed: an action needs one of hundreds. Entries of earlier versions are dropped, so their refs are unknown and
 * a new snapshot is needed; the numbering continues.
 */
export function parseRefMap(text: string): RefMap {
  const map = parseJson(text)
  if (!isRecord(map) || !isRecord(map.inner)) throw damaged("it holds no refs")
  const refs: string[] = []
  let highest = 0
  let ordered = true
  for (const ref of Object.keys(map.inner)) {
    if (!REF.test(ref)) throw damaged(`'${cut(ref, 80)}' is not a ref`)
    const number = numberOf(ref)
    ordered &&= number > highest
    highest = Math.max(number, highest)
    if (!isOutdated(map.inner[ref])) refs.push(ref)
  }
  if (!ordered) refs.sort((a, b) => numberOf(a) - numberOf(b))
  const counter = map.counter ?? 0
  if (!isIndex(counter) || counter > MAX_REF) throw damaged("its counter is not a count")
  return {
    inner: new Entries(refs, map.inner),
    // A counter that fell behind its refs would give out a number twice.
    counter: Math.max(counter, highest),
    snapshot_id: readText(map, "snapshot_id", "the map"),
    reached_by: readText(map, "reached_by", "the map"),
  }
}

/** Up to 0.1.0 the context was one string. Every entry that such a version wrote has one. */
const isOutdated = (entry: unknown): boolean => isRecord(entry) && typeof entry.context === "string"

class Entries implements ReadonlyMap<string, RefEntry> {
  readonly #refs: ReadonlySet<string>
  readonly #unread: Members

  constructor(refs: readonly string[], unread: Members) {
    this.#refs = new Set(refs)
    this.#unread = unread
  }

  get size(): number {
    return this.#refs.size
  }

  has(ref: string): boolean {
    return this.#refs.has(ref)
  }

  get(ref: string): RefEntry | undefined {
    return this.has(ref) ? readEntry(ref, this.#unread[ref]) : undefined
  }

  keys() {
    return this.#refs.values()
  }

  values() {
    return this.#refs.values().map((ref) => readEntry(ref, this.#unread[ref]))
  }

  entries() {
    return this.#refs.values().map((ref): [string, RefEntry] => [ref, readEntry(ref, this.#unread[ref])])
  }

  [Symbol.iterator]() {
    return this.entries()
  }

  forEach(visit: (entry: RefEntry, ref: string, map: ReadonlyMap<string, RefEntry>) => void): void {
    for (const [ref, entry] of this) visit(entry, ref, this)
  }
}

const damaged = (what: string) =>
  new AppError("INTERNAL", `The ref map is damaged: ${what}`, {
    suggestion: "Run 'snapshot' to write a new one",
    details: { kind: "damaged" },
  })

export const isDamage = (error: unknown): boolean =>
  error instanceof AppError && error.details?.kind === "damaged"

const REF = /^@e[1-9][0-9]{0,9}$/

export const numberOf = (ref: string): number => Number(ref.slice(2))

function formatEntry(entry: RefEntry): string {
  const { pid, role, states, bounds, bounds_hash, available_actions, source_app } = entry
  const name = nameForIdentity(entry.name) ?? null
  const before = { pid, role, name, value: valueForMap(entry) ?? null, states, bounds: formatRect(bounds) }
  const { process_start, window_id, address, path, identifier } = entry
  const { context, has_twin, row, page, neighbours, is_recycled } = entry
  const after = {
    available_actions,
    source_app: source_app ?? null,
    process_start,
    window_id,
    address,
    path,
    identifier,
    context,
    has_twin,
    row,
    page,
    neighbours,
    is_recycled,
  }
  // Bare digits: a JavaScript number would lose the last of them.
  const hash = bounds_hash === undefined ? "null" : BigInt.asUintN(64, bounds_hash)
  return `${JSON.stringify(before).slice(0, -1)},"bounds_hash":${hash},${JSON.stringify(after).slice(1)}`
}

function formatRect(rect: Rect | undefined): Rect | null {
  if (rect === undefined) return null
  return { x: finite(rect.x), y: finite(rect.y), width: finite(rect.width), height: finite(rect.height) }
}

function parseJson(text: string): unknown {
  try {
    // Quotes the digits, since a JavaScript number would lose the last of them. A string cannot hold this
    // sequence: its own quotes are escaped. (A reviver with access to the source takes five times as long.)
    return JSON.parse(text.replace(/"bounds_hash"\s*:\s*(0|[1-9][0-9]*)/g, '"bounds_hash":"$1"'))
  } catch {
    throw damaged("it is not JSON")
  }
}

function readEntry(ref: string, entry: unknown): RefEntry {
  if (!isRecord(entry)) throw damaged(`${ref} is not an entry`)
  const { pid } = entry
  if (!isIndex(pid)) throw damaged(`${ref} has no usable pid`)
  const role = readText(entry, "role", ref)
  if (role === undefined) throw damaged(`${ref} has no role`)
  const states = readWords(entry, "states", ref).filter(isState)
  return {
    pid,
    // Another version of the program may know more roles.
    role: isRole(role) ? role : "unknown",
    name: readText(entry, "name", ref),
    value: valueForMap({ value: readText(entry, "value", ref), states }),
    states,
    bounds: readRect(entry, "bounds", ref),
    bounds_hash: readHash(entry, "bounds_hash", ref),
    available_actions: readWords(entry, "available_actions", ref).filter(isActionName),
    source_app: readText(entry, "source_app", ref),
    process_start: readText(entry, "process_start", ref),
    window_id: readText(entry, "window_id", ref),
    address: readText(entry, "address", ref),
    path: readPath(entry, "path", ref),
    identifier: readText(entry, "identifier", ref),
    context: readContext(entry, "context", ref),
    has_twin: entry.has_twin === true ? true : undefined,
    row: readText(entry, "row", ref),
    page: readText(entry, "page", ref),
    neighbours: readText(entry, "neighbours", ref),
    is_recycled: entry.is_recycled === true ? true : undefined,
  }
}

interface Members {
  readonly [member: string]: unknown
}

function readText(from: Members, member: string, where: string): string | undefined {
  const text = from[member] ?? undefined
  if (text === undefined || typeof text === "string") return text
  throw damaged(`${member} of ${where} is not text`)
}

function readWords(from: Members, member: string, where: string): readonly string[] {
  const words = from[member] ?? []
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words
  throw damaged(`${member} of ${where} is not a list of words`)
}

function readPath(from: Members, member: string, where: string): readonly number[] | undefined {
  const path = from[member] ?? undefined
  if (path === undefined || (Array.isArray(path) && path.every(isIndex))) return path
  throw damaged(`${member} of ${where} is not a list of indexes`)
}

function readContext(from: Members, member: string, where: string): Surroundings | undefined {
  const context = from[member] ?? undefined
  if (context === undefined) return undefined
  if (!isRecord(context)) throw damaged(`${member} of ${where} is not an object`)
  const { above, around, levels } = context
  if (typeof above !== "string") throw damaged(`${member} of ${where} has no text 'above'`)
  if (around === undefined && levels === undefined) return { above }
  if (typeof around === "string" && isIndex(levels) && levels > 0) return { above, around, levels }
  throw damaged(`${member} of ${where} has no usable 'around' and 'levels'`)
}

function readHash(from: Members, member: string, where: string): bigint | undefined {
  const digits = from[member] ?? undefined
  if (digits === undefined) return undefined
  if (typeof digits === "string" && /^[0-9]{1,20}$/.test(digits)) {
    const hash = BigInt(digits)
    if (hash < 2n ** 64n) return hash
  }
  throw damaged(`${member} of ${where} is not a 64-bit number`)
}

function readRect(from: Members, member: string, where: string): Rect | undefined {
  const rect = from[member] ?? undefined
  if (rect === undefined) return undefined
  if (!isRecord(rect)) throw damaged(`${member} of ${where} is not a rectangle`)
  const [x, y, width, height] = [rect.x ?? 0, rect.y ?? 0, rect.width ?? 0, rect.height ?? 0]
  if (
    typeof x === "number" &&
    typeof y === "number" &&
    typeof width === "number" &&
    typeof height === "number"
  )
    return formatRect({ x, y, width, height }) ?? undefined
  throw damaged(`${member} of ${where} is not a rectangle`)
}

const finite = (length: number) => (Number.isFinite(length) ? length : 0)

const isRecord = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const KNOWN_STATES: ReadonlySet<string> = new Set(STATES)

const isState = (word: string): word is State => KNOWN_STATES.has(word)

const KNOWN_ACTIONS: ReadonlySet<string> = new Set(ACTION_NAMES)

const isActionName = (word: string): word is ActionName => KNOWN_ACTIONS.has(word)
