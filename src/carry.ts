import { appendEntries, nameForIdentity, type RefEntry, type RefMap } from "./refmap.ts"

export interface Carried {
  /** The ref of each entry. */
  readonly refs: readonly string[]
  /** Every ref that still means something, each with its newest evidence. */
  readonly map: RefMap
}

/**
 * The numbers that a new look at a window gives to what it saw: what had a ref keeps it, what is new gets
 * a number that was never given. Other refs stay or go.
 */
export function carryRefs(
  before: RefMap,
  entries: readonly RefEntry[],
  stays: (entry: RefEntry) => boolean,
): Carried {
  const moved = movedTo(before, entries)
  const inner = new Map([...before.inner].map(([ref, entry]) => [ref, moved.get(ref) ?? entry]))
  const { map, refs } = appendEntries({ ...before, inner }, entries)
  const kept = [...before.inner].filter(([, entry]) => stays(entry))
  return {
    refs,
    map: {
      ...map,
      inner: new Map([...kept, ...refs.map((ref, i): [string, RefEntry] => [ref, entries[i]!])]),
    },
  }
}

/**
 * Where the platform has no addresses, or gives the same element another one at every look, an element is
 * the same if nothing else, then and now, says what it says; one with look-alikes, if it stands where it
 * stood. The same evidence proves a ref when it is acted on.
 */
function movedTo(before: RefMap, entries: readonly RefEntry[]): ReadonlyMap<string, RefEntry> {
  const then = new Set([...before.inner.values()].flatMap(({ address }) => address ?? []))
  const open = byEvidence(entries.filter(({ address }) => address === undefined || !then.has(address)))
  if (open.size === 0) return new Map()
  const now = new Set(entries.flatMap(({ address }) => address ?? []))
  const lost = [...before.inner].filter(([, { address }]) => address === undefined || !now.has(address))
  const kept = byEvidence(lost.map(([, entry]) => entry))
  return new Map(
    lost.flatMap(([ref, entry]) => {
      const key = evidenceOf(entry)
      const same = key !== undefined && kept.get(key) === entry ? open.get(key) : undefined
      return same ? [[ref, same]] : []
    }),
  )
}

/** What can be told from all others by its evidence. */
function byEvidence(entries: readonly RefEntry[]): ReadonlyMap<string, RefEntry> {
  const alike = Map.groupBy(entries, evidenceOf)
  return new Map(
    [...alike].flatMap(([key, [first, ...others]]) =>
      key !== undefined && first && others.length === 0 ? [[key, first]] : [],
    ),
  )
}

function evidenceOf(entry: RefEntry): string | undefined {
  const { pid, process_start, window_id, role, identifier, context, path, bounds_hash } = entry
  const isDistinct = !entry.twins && Boolean(entry.name ?? identifier)
  if (!isDistinct && (path === undefined || bounds_hash === undefined)) return undefined
  const place = isDistinct ? [] : [path, String(bounds_hash)]
  return JSON.stringify([
    pid,
    process_start,
    window_id,
    role,
    nameForIdentity(entry.name),
    identifier,
    context,
    ...place,
  ])
}
