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
 * Where the platform has no addresses, an element is known by its place; one that has moved is the same
 * if nothing else, then and now, says what it says.
 */
function movedTo(before: RefMap, entries: readonly RefEntry[]): ReadonlyMap<string, RefEntry> {
  const now = new Map(entries.flatMap((entry) => (isDistinct(entry) ? [[keyOf(entry), entry]] : [])))
  if (now.size === 0) return now
  return new Map(
    [...before.inner].flatMap(([ref, entry]) => {
      const same = isDistinct(entry) ? now.get(keyOf(entry)) : undefined
      return same ? [[ref, same]] : []
    }),
  )
}

const isDistinct = (entry: RefEntry): boolean =>
  entry.address === undefined && !entry.twins && Boolean(entry.name ?? entry.identifier)

const keyOf = (entry: RefEntry): string =>
  JSON.stringify([
    entry.pid,
    entry.process_start,
    entry.window_id,
    entry.role,
    nameForIdentity(entry.name),
    entry.identifier,
    entry.context,
  ])
