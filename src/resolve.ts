import type { Adapter, Seen, SeenWindow } from "./adapter.ts"
import type { Context } from "./command.ts"
import { AppError, NOTHING_DELIVERED, staleRef } from "./errors.ts"
import { boundsHash } from "./fxhash.ts"
import { nameForIdentity, parseRef, type RefEntry } from "./refmap.ts"
import { contextOf, nameIsValue, type Place, walk } from "./tree.ts"

export interface RefChoice {
  readonly ref_id: string
  readonly snapshot?: string
}

/** A ref and the live element it was found to mean. */
export interface Target {
  readonly ref: string
  readonly entry: RefEntry
  readonly seen: Seen
}

/**
 * The element that a ref names, or an error: never a look-alike. The process must be the same one;
 * then the platform's own address, then the stored path, are each verified; then one search of the
 * same window, in which exactly one element may fit.
 */
export async function resolve(ctx: Context, choice: RefChoice): Promise<Target> {
  const { ref, entry } = await lookUp(ctx, choice)
  const start = await ctx.adapter.processStart(entry.pid)
  if (start === undefined) throw staleRef(ref, `process ${entry.pid}${ofApp(entry)} has ended`)
  if (entry.process_start !== undefined && entry.process_start !== start) {
    throw staleRef(ref, `process ${entry.pid} is another one now; ${entry.source_app ?? "the app"} was restarted`)
  }
  const route = entry.address !== undefined ? "address" : entry.path ? "path" : undefined
  const there = route && (await ctx.adapter.open(entry, route))
  if (there && isSame(entry, there) && (route === "address" || standsWhereItWas(entry, there))) {
    return { ref, entry, seen: there }
  }
  const seen = await search(ctx.adapter, ref, entry, there)
  return { ref, entry, seen }
}

/** The stored entry, without a look at the desktop. */
export async function lookUp(ctx: Context, choice: RefChoice): Promise<{ ref: string; entry: RefEntry }> {
  const { ref, snapshotId } = parseRef(choice.ref_id)
  if (snapshotId !== undefined && choice.snapshot !== undefined && snapshotId !== choice.snapshot) {
    throw new AppError("INVALID_ARGS", `'${choice.ref_id}' names another snapshot than --snapshot ${choice.snapshot}`, {
      suggestion: `Leave out --snapshot, or use ${ref}`,
    })
  }
  const map = await ctx.refs.load(snapshotId ?? choice.snapshot)
  const entry = map.inner.get(ref)
  if (!entry) throw staleRef(choice.ref_id)
  return { ref: choice.ref_id, entry }
}

/** What an element says of itself has not changed. Values, states and places are no identity. */
function isSame(entry: RefEntry, seen: Seen): boolean {
  return changedEvidence(entry, seen) === undefined
}

function changedEvidence(entry: RefEntry, seen: Seen): string | undefined {
  if (entry.role !== seen.role) return `it was a ${entry.role} and is a ${seen.role} now`
  if (entry.identifier !== undefined && seen.identifier !== undefined && entry.identifier !== seen.identifier) {
    return `its identifier was '${entry.identifier}' and is '${seen.identifier}' now`
  }
  if (nameIsValue(entry) || nameIsValue(seen)) return undefined
  const before = entry.name || undefined
  const now = seen.name ? nameForIdentity(seen.name) : undefined
  return before === now ? undefined : `its name was ${quoted(before)} and is ${quoted(seen.name)} now`
}

/** By its path alone a nameless element, or one with look-alikes, is known only while it has not moved. */
function standsWhereItWas(entry: RefEntry, seen: Seen): boolean {
  return (
    (!entry.twins && Boolean(entry.name || entry.identifier)) ||
    (entry.bounds_hash !== undefined && seen.bounds !== undefined && boundsHash(seen.bounds) === entry.bounds_hash)
  )
}

async function search(adapter: Adapter, ref: string, entry: RefEntry, there: Seen | undefined): Promise<Seen> {
  const evidence = there
    ? (changedEvidence(entry, there) ?? "something else stands in its place")
    : entry.address !== undefined || entry.path
      ? `the ${entry.role}${entry.name ? ` ${quoted(entry.name)}` : ""} is gone`
      : "nothing tells where it was"
  // What had look-alikes, or no name, cannot be told from them by a search: whatever is found may be another one.
  if (entry.twins || !(entry.name || entry.identifier)) throw staleRef(ref, evidence)
  const window = (await adapter.windows()).find((one) => one.id === entry.window_id)
  if (!window) throw staleRef(ref, `${evidence}, and so is its window ${entry.window_id ?? ""}`.trimEnd())
  const fits = await lookAlikes(adapter, window, entry)
  const [only, ...others] = fits
  if (!only) throw staleRef(ref, evidence)
  if (others.length > 0) throw ambiguous(ref, entry, fits)
  if (contextOf(only.ancestors) !== entry.context) {
    throw staleRef(ref, `${evidence}; a look-alike stands in another place of the window`)
  }
  return only.node
}

async function lookAlikes(adapter: Adapter, window: SeenWindow, entry: RefEntry): Promise<Place[]> {
  const { root, complete } = await adapter.tree(
    { kind: "surface", window, surface: "window" },
    { maxDepth: 50, bounds: "interactive", includeHidden: false, interactiveOnly: true },
  )
  // An absence, or a uniqueness, that was not read to the end is not a fact.
  if (!complete) {
    throw new AppError("TIMEOUT", `The window ${window.id} could not be searched to its end`, {
      suggestion: "Retry with a longer --timeout-ms, or run 'snapshot' to get a new ref",
      details: { kind: "search" },
      disposition: NOTHING_DELIVERED,
    })
  }
  return [...walk(root)].filter((place) => isSame(entry, place.node))
}

function ambiguous(ref: string, entry: RefEntry, fits: readonly Place[]): AppError {
  return new AppError("AMBIGUOUS_TARGET", `${ref} is one of ${fits.length} ${entry.role} elements named ${quoted(entry.name)}`, {
    suggestion: "Run 'snapshot' to get a ref for the one you mean",
    details: {
      candidates: fits.slice(0, 10).map(({ node }) => ({ role: node.role, name: node.name, bounds: node.bounds })),
    },
    disposition: NOTHING_DELIVERED,
  })
}

const quoted = (name: string | undefined): string => (name === undefined ? "empty" : `'${name}'`)

const ofApp = (entry: RefEntry): string => (entry.source_app ? ` of ${entry.source_app}` : "")
