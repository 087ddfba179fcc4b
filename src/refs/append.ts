import { AppError } from "../errors.ts"
import { MAX_REF, placesOf, type RefEntry, type RefMap, sameElement } from "../refmap.ts"

/**
 * Adds the entries that the map does not hold yet. `refs` has one ref per entry; an element that already has a ref
 * keeps it, unless its entry is out of date.
 */
export function appendEntries(
  map: RefMap,
  entries: readonly RefEntry[],
): { readonly map: RefMap; readonly refs: readonly string[] } {
  const inner = new Map(map.inner)
  const refsAt = new Map<string, string[]>()
  const note = (ref: string, entry: RefEntry) => {
    for (const place of placesOf(entry)) refsAt.set(place, [...(refsAt.get(place) ?? []), ref])
  }
  for (const [ref, entry] of inner) note(ref, entry)
  let counter = map.counter
  const refs = entries.map((entry) => {
    const near = placesOf(entry).flatMap((place) => refsAt.get(place) ?? [])
    const known = near.find(
      (ref) => sameElement(inner.get(ref)!, entry) && !hasLostProof(inner.get(ref)!, entry),
    )
    if (known !== undefined) return known
    counter += 1
    const ref = `@e${counter}`
    inner.set(ref, entry)
    note(ref, entry)
    return ref
  })
  refuseAbove(counter)
  if (counter === map.counter) return { map, refs }
  return { map: { ...map, inner, counter }, refs }
}

/**
 * True if a ref's own entry no longer proves its element, which was seen again: another row showed the same texts, and
 * the list has changed since.
 */
export const hasLostProof = (old: RefEntry, { neighbours }: RefEntry): boolean =>
  old.neighbours !== undefined && old.neighbours !== neighbours

/** Fails if a number exceeds the highest ref. */
export function refuseAbove(counter: number): void {
  if (counter <= MAX_REF) return
  throw new AppError("INTERNAL", "The ref map has no numbers left", {
    suggestion: "Run 'snapshot --refs fresh' to start numbering again",
  })
}
