import type { Numbering } from "../node.ts"
import { nameForIdentity, placesOf, type RefEntry, type RefMap, sameElement } from "../refmap.ts"

/** An element of an earlier map that was seen again. */
export interface Survivor {
  readonly ref: string
  /** True if it is in another object or place now: the entry of its ref is out of date. */
  readonly isMoved: boolean
}

/**
 * Finds for each entry the ref that its element had in an earlier map; undefined if it had none.
 *
 * The same object with the same role, name and surroundings is the same element. An element in another object is the
 * same if its evidence is unique before and now, and if its old object cannot disprove it. With stable numbers, a
 * missing old object disproves it if such objects last as long as their elements. A command that acts on the ref judges
 * in the same way: a number never moves on to a look-alike that was made later.
 */
export function survivorsOf(
  before: RefMap,
  entries: readonly RefEntry[],
  numbering: Numbering,
): readonly (Survivor | undefined)[] {
  const refsAt = refsByPlace(before)
  const same = entries.map((entry) =>
    placesOf(entry)
      .flatMap((place) => refsAt.get(place) ?? [])
      .find((ref) => sameElement(before.inner.get(ref)!, entry)),
  )
  const taken = new Set(same)
  const lost = [...before.inner].filter(([ref]) => !taken.has(ref))
  const open = entries.filter((_, i) => same[i] === undefined)
  const moved =
    numbering === "stable"
      ? pair(lost.filter(isStoredShortLived), open.filter(isShortLived))
      : pairNew(lost, open, before, entries)
  return entries.map((entry, i) => {
    const ref = same[i] ?? moved.get(entry)
    return ref === undefined ? undefined : { ref, isMoved: same[i] === undefined }
  })
}

type Stored = readonly [ref: string, entry: RefEntry]

function refsByPlace({ inner }: RefMap): ReadonlyMap<string, readonly string[]> {
  const refs = new Map<string, string[]>()
  for (const [ref, entry] of inner)
    for (const place of placesOf(entry)) refs.set(place, [...(refs.get(place) ?? []), ref])
  return refs
}

/** Pairs only elements whose objects are gone with elements whose objects are new. */
function pairNew(
  lost: readonly Stored[],
  open: readonly RefEntry[],
  before: RefMap,
  entries: readonly RefEntry[],
): ReadonlyMap<RefEntry, string> {
  const then = new Set([...before.inner.values()].map(({ address }) => address))
  const now = new Set(entries.map(({ address }) => address))
  return pair(
    lost.filter(([, { address }]) => address === undefined || !now.has(address)),
    open.filter(({ address }) => address === undefined || !then.has(address)),
  )
}

/** True if no object is known to live as long as the element. */
const isShortLived = ({ address, is_recycled }: RefEntry): boolean =>
  address === undefined || is_recycled === true

const isStoredShortLived = ([, entry]: Stored): boolean => isShortLived(entry)

/** The refs of entries with the same evidence, if exactly one lost and one new element have that evidence. */
function pair(lost: readonly Stored[], open: readonly RefEntry[]): ReadonlyMap<RefEntry, string> {
  if (lost.length === 0 || open.length === 0) return new Map()
  const refs = Map.groupBy(lost, ([, entry]) => evidenceOf(entry))
  const found = Map.groupBy(open, evidenceOf)
  return new Map(
    [...found].flatMap(([key, [entry, ...others]]) => {
      const [stored, ...rivals] = key === undefined ? [] : (refs.get(key) ?? [])
      return entry && stored && others.length === 0 && rivals.length === 0 ? [[entry, stored[0]]] : []
    }),
  )
}

/**
 * Everything that distinguishes an element: its content if that is unique, otherwise also its place. undefined if
 * nothing does. The same evidence proves a ref when a command acts on it.
 */
function evidenceOf(entry: RefEntry): string | undefined {
  const { pid, process_start, window_id, role, identifier, context, path, bounds_hash } = entry
  const isDistinct = !entry.has_twin && Boolean(entry.name ?? identifier)
  if (!isDistinct && (path === undefined || bounds_hash === undefined)) return undefined
  const place = isDistinct ? [] : [path, String(bounds_hash)]
  return JSON.stringify([
    pid,
    process_start,
    window_id,
    role,
    nameForIdentity(entry.name),
    identifier,
    context?.above,
    context?.around,
    context?.levels,
    ...place,
  ])
}
