import type { SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node } from "../node.ts"
import { appendEntries, nameForIdentity, type RefEntry, type RefMap, sameElement } from "../refmap.ts"
import { countRefs, entriesFor, type Source, takersOf, toNode, withoutBounds } from "../refs/allocate.ts"
import { qualified } from "../refs/resolve.ts"
import { isInteractive, type Position, walk } from "../tree.ts"
import { type Changed, type Changes, diffTrees } from "./diff.ts"
import { formatKept, type Kept, parseKept, toKept } from "./kept-tree.ts"
import { type ReadOptions, readSurface, refRule } from "./surface.ts"
import { chooseWindow } from "./windows.ts"

/** The differences between a window now and an earlier snapshot of it. */
export interface Difference {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly ref_count: number
  readonly snapshot_id: string
  readonly since?: string
  readonly complete: boolean
  readonly changes: Changes
}

/** The earlier state that a window is compared with. */
export interface Baseline {
  readonly kept: Kept
  /** The snapshot whose refs stay valid; undefined if there is none. */
  readonly id?: string
  /** True if it is not the current snapshot: the result must not replace the current map. */
  readonly isAside: boolean
}

export interface DiffFlags {
  readonly interactive_only: boolean
  readonly include_bounds: boolean
}

/** Compares a window with an earlier snapshot of it, read in the same way. Elements keep their refs. */
export async function observeSince(
  ctx: Context,
  choice: { readonly snapshot?: string; readonly app?: string; readonly window_id?: string },
  flags: DiffFlags,
): Promise<Difference> {
  const { map, isCurrent } = await loadMap(ctx, choice.snapshot)
  const kept = await loadKept(ctx, map)
  if (!kept) throw nothingToCompare(map.snapshot_id)
  const isChosen = choice.app !== undefined || choice.window_id !== undefined
  const window = await chooseWindow(ctx.adapter, isChosen ? choice : { window_id: kept.window_id })
  if (window.id !== kept.window_id) throw otherWindow(map.snapshot_id, kept.window_id, window)
  return difference(ctx, window, { kept, id: map.snapshot_id, isAside: !isCurrent }, flags)
}

/** Compares a window with a baseline, and saves the result as a new snapshot. */
export async function difference(
  ctx: Context,
  window: SeenWindow,
  { kept, id, isAside }: Baseline,
  flags: DiffFlags,
): Promise<Difference> {
  const reading = { ...kept.reading, include_bounds: flags.include_bounds }
  const { seen, source } = await readSurface(ctx, window, reading)
  const { places, takers } = takersIn(seen, reading)
  const entries = entriesFor(takers, places, source)
  // Loaded only now: an action may have added refs since the baseline was read.
  const map = await ctx.refs.load(id)
  const { refs, map: carried } = carryRefs(map, entries, stillThere(places, source, map))
  const names = new Map(takers.map(({ node }, i) => [node, refs[i]]))
  const tree = toNode(seen.root, (node) => names.get(node))
  const snapshotId = await ctx.refs.save([...carried.inner.values()], {
    refs: [...carried.inner.keys()],
    counter: carried.counter,
    tree: formatKept(toKept(window, kept.reading, seen.complete, tree)),
    aside: isAside,
    reachedBy: source.reachedBy,
  })
  const changes = diffTrees(kept.tree, flags.include_bounds ? tree : withoutBounds(tree), {
    complete: seen.complete,
    interactive_only: flags.interactive_only,
    addresses: {
      before: (ref) => map.inner.get(ref)?.address,
      after: (ref) => carried.inner.get(ref)?.address,
    },
  })
  return {
    app: seen.app,
    window: { id: seen.window.id, title: seen.window.title },
    ref_count: [...(changes.added ?? []), ...(changes.changed ?? [])].reduce(
      (sum, node) => sum + countRefs(node),
      0,
    ),
    snapshot_id: snapshotId,
    ...(id === undefined ? {} : { since: id }),
    complete: seen.complete,
    changes: isAside ? qualifyRefs(changes, snapshotId, id) : changes,
  }
}

function takersIn(
  seen: SeenTree,
  options: ReadOptions,
): { readonly places: readonly Position[]; readonly takers: readonly Position[] } {
  const places = [...walk(seen.root)]
  return { places, takers: takersOf(places, refRule(options)) }
}

/**
 * Tells for a ref that is not among the new ones whether it stays: refs of other windows do, and refs to drill into
 * if their element was seen again.
 */
function stillThere(places: readonly Position[], source: Source, map: RefMap): (entry: RefEntry) => boolean {
  const isDrill = (entry: RefEntry): boolean =>
    entry.window_id === source.windowId &&
    !isInteractive({ role: entry.role, actions: entry.available_actions })
  const seen = [...map.inner.values()].some(isDrill) ? entriesFor(places, places, source) : []
  return (entry) =>
    entry.window_id !== source.windowId || (isDrill(entry) && seen.some((one) => sameElement(one, entry)))
}

/** Puts the snapshot id into every ref: a bare number would mean an element of the current snapshot. */
function qualifyRefs(changes: Changes, id: string, since: string | undefined): Changes {
  const qualify = <N extends Node>(node: N, snapshotId: string | undefined): N => ({
    ...node,
    ...(node.ref_id ? { ref_id: qualified(node.ref_id, snapshotId) } : {}),
    ...(node.children ? { children: node.children.map((child) => qualify(child, snapshotId)) } : {}),
  })
  return {
    ...changes,
    ...(changes.added ? { added: changes.added.map((node) => qualify(node, id)) } : {}),
    ...(changes.removed ? { removed: changes.removed.map((node) => qualify(node, since)) } : {}),
    ...(changes.changed
      ? {
          changed: changes.changed.map((node) => ({
            ...qualify(node, id),
            was: qualifyWas(node.was, since),
          })),
        }
      : {}),
  }
}

const qualifyWas = (was: Changed["was"], since: string | undefined): Changed["was"] =>
  was.ref_id ? { ...was, ref_id: qualified(was.ref_id, since) } : was

/** Reads the window as it is now, for a comparison without an earlier snapshot of it. */
export async function readBaseline(ctx: Context, window: SeenWindow, map: RefMap): Promise<Kept> {
  const { seen, source } = await readSurface(ctx, window, PLAIN)
  const { places, takers } = takersIn(seen, PLAIN)
  const { refs } = carryRefs(map, entriesFor(takers, places, source), () => true)
  // A number that the caller has never seen is not printed.
  const names = new Map(takers.map(({ node }, i) => [node, map.inner.has(refs[i]!) ? refs[i] : undefined]))
  return toKept(
    window,
    PLAIN,
    seen.complete,
    toNode(seen.root, (node) => names.get(node)),
  )
}

const PLAIN: ReadOptions = {
  surface: "window",
  max_depth: 10,
  include_hidden: false,
  include_bounds: false,
  interactive_only: false,
  skeleton: false,
}

export async function loadMap(
  ctx: Context,
  snapshotId: string | undefined,
): Promise<{ readonly map: RefMap; readonly isCurrent: boolean }> {
  const current = await ctx.refs.load()
  const isCurrent = snapshotId === undefined || snapshotId === current.snapshot_id
  return { map: isCurrent ? current : await ctx.refs.load(snapshotId), isCurrent }
}

/** undefined: no tree was kept for the snapshot. */
export async function loadKept(ctx: Context, { snapshot_id }: RefMap): Promise<Kept | undefined> {
  const text = snapshot_id === undefined ? undefined : await ctx.refs.tree(snapshot_id)
  return text === undefined ? undefined : parseKept(text)
}

function nothingToCompare(id: string | undefined): AppError {
  return new AppError(
    "SNAPSHOT_NOT_FOUND",
    id === undefined ? "There is no snapshot to compare with" : `Of snapshot '${id}' only the refs were kept`,
    { suggestion: "Run 'snapshot' now, and 'snapshot --diff' after the next change" },
  )
}

function otherWindow(id: string | undefined, windowId: string, asked: SeenWindow): AppError {
  return new AppError("INVALID_ARGS", `Snapshot '${id}' is of window '${windowId}', not of '${asked.id}'`, {
    suggestion: `Run 'snapshot --window-id ${asked.id}' to have something to compare with`,
    details: { argument: "diff" },
  })
}

export interface Carried {
  /** The ref of each entry. */
  readonly refs: readonly string[]
  /** Every ref that is still valid, each with its newest evidence. */
  readonly map: RefMap
}

/**
 * Numbers the elements of a window that was read again. An element that had a ref keeps it, a new one gets a number
 * that was never used. `stays` decides about all other refs.
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
 * Pairs earlier refs with entries that have another address, or none. An element is the same if it was and is the
 * only one with its name and identifier; an element with look-alikes, if it is at the same place. The same evidence
 * proves a ref when a command acts on it.
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

/** The entries that no other entry has the evidence of. */
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
