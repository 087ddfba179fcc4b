import { AppError } from "./errors.ts"
import type { ActionName, Rect, Role, State } from "./node.ts"

/**
 * What a ref stands for. The first nine members are the seeds' format and always written (null when
 * absent); the rest is evidence for finding the same element again, written only where known.
 */
export interface RefEntry {
  readonly pid: number
  readonly role: Role
  readonly name?: string
  readonly value?: string
  readonly states: readonly State[]
  readonly bounds?: Rect
  readonly bounds_hash?: bigint
  readonly available_actions: readonly ActionName[]
  readonly source_app?: string
  /** Tells one life of the pid from the next. */
  readonly process_start?: string
  readonly window_id?: string
  /** The platform's own name for the object: bus name and object path on Linux. */
  readonly address?: string
  /** Child indexes from the window down, hidden siblings counted. */
  readonly path?: readonly number[]
  /** The application's own id for the element. */
  readonly identifier?: string
  /** A fingerprint of where it stands: what is above it, and what is around it; see identity.ts. */
  readonly context?: string
  /** There were others in the window that said the same of themselves, with the same around them. */
  readonly twins?: true
  /** The address of what its context was taken from: its row. */
  readonly row?: string
  /** For a twin in a row: a fingerprint of the whole list. */
  readonly neighbours?: string
  /** The platform may give the same element another address. */
  readonly fleeting?: true
}

export interface RefMap {
  readonly inner: ReadonlyMap<string, RefEntry>
  readonly counter: number
  readonly snapshot_id?: string
  /** How the desktop was reached that the entries are of, in the platform's own words. */
  readonly reached_by?: string
}

export interface Ref {
  /** As it stands in the map: `@e3`. */
  readonly ref: string
  readonly snapshotId?: string
}

/** `@e3`, `e3` or `@<snapshot_id>:e3`. */
export const REF_SYNTAX = /^@?(?:([A-Za-z0-9_-]{1,64}):)?(e[1-9][0-9]{0,9})$/

/** Reads `@e3`, `e3` or `@<snapshot_id>:e3`. Whether there is such a snapshot is the store's to say. */
export function parseRef(text: string): Ref {
  const [, snapshotId, ref] = REF_SYNTAX.exec(text) ?? []
  if (ref === undefined)
    throw new AppError("INVALID_ARGS", `Invalid ref '${cut(text, 80)}'`, {
      suggestion: "Give a ref as 'snapshot' prints it: @e3, or @<snapshot_id>:e3",
    })
  return snapshotId === undefined ? { ref: `@${ref}` } : { ref: `@${ref}`, snapshotId }
}

export const EMPTY_MAP: RefMap = { inner: new Map(), counter: 0 }

/** Adds what the map does not hold yet. `refs` has one ref for each entry; the element's own if it had one. */
export function appendEntries(
  map: RefMap,
  entries: readonly RefEntry[],
): { readonly map: RefMap; readonly refs: readonly string[] } {
  const inner = new Map(map.inner)
  const refsAt = new Map<string, string[]>()
  const note = (ref: string, entry: RefEntry) => {
    for (const place of places(entry)) refsAt.set(place, [...(refsAt.get(place) ?? []), ref])
  }
  for (const [ref, entry] of inner) note(ref, entry)
  let counter = map.counter
  const refs = entries.map((entry) => {
    const near = places(entry).flatMap((place) => refsAt.get(place) ?? [])
    const known = near.find((ref) => sameElement(inner.get(ref)!, entry))
    if (known !== undefined) return known
    counter += 1
    const ref = `@e${counter}`
    inner.set(ref, entry)
    note(ref, entry)
    return ref
  })
  if (counter > MAX_REF)
    throw new AppError("INTERNAL", "The ref map has no numbers left", {
      suggestion: "Run 'snapshot' to number anew",
    })
  return { map: { ...map, inner, counter }, refs }
}

// Where the same element could be found; every pair that sameElement calls one shares a place.
const places = ({ address, path }: RefEntry) => [
  ...(address === undefined ? [] : [`address ${address}`]),
  ...(path === undefined ? [] : [`path ${path}`]),
]

/**
 * Whether two entries are one and the same native object. Toolkits hand an address to the next object
 * once the first is gone, so that an address counts only with the same role, name and identifier.
 */
export function sameElement(a: RefEntry, b: RefEntry): boolean {
  if (a.pid !== b.pid || a.role !== b.role) return false
  if (a.process_start !== b.process_start || a.identifier !== b.identifier) return false
  // Lists hand the widgets of one row to the next: the same "Delete", another thing to delete.
  if (a.context !== undefined && b.context !== undefined && a.context !== b.context) return false
  if (a.address !== undefined && b.address !== undefined)
    return a.address === b.address && nameForIdentity(a.name) === nameForIdentity(b.name)
  // Without a place in a window, two nameless buttons would look like one.
  if (a.window_id === undefined || a.path === undefined || b.path === undefined) return false
  return (
    a.window_id === b.window_id &&
    a.path.length === b.path.length &&
    a.path.every((index, depth) => index === b.path?.[depth]) &&
    a.bounds_hash === b.bounds_hash &&
    nameForIdentity(a.name) === nameForIdentity(b.name)
  )
}

const LONGEST_NAME = 512
const LONGEST_VALUE = 256

/**
 * A name as the map holds it. To compare a live name with a stored one, pass it through here first:
 * a long one is cut, with its length and a hash in place of the rest.
 */
export function nameForIdentity(name: string): string
export function nameForIdentity(name: string | undefined): string | undefined
export function nameForIdentity(name: string | undefined): string | undefined {
  if (name === undefined || name.length <= LONGEST_NAME) return name
  const hash = new Bun.CryptoHasher("sha256").update(Buffer.from(name, "utf16le")).digest("hex").slice(0, 16)
  const tail = `…${name.length}:${hash}`
  // The whole stays within the limit, so that a stored name passes through unchanged.
  return cut(name, LONGEST_NAME - tail.length) + tail
}

/** A value as the map holds it: a beginning, and nothing of a secure field. */
export function valueForMap(entry: Pick<RefEntry, "value" | "states">): string | undefined {
  return entry.value === undefined || entry.states.includes("secure")
    ? undefined
    : cut(entry.value, LONGEST_VALUE)
}

export const MAX_REF = 9_999_999_999

/** At most `length` UTF-16 units, never half of a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
