import type { SeenTree, SeenWindow } from "../adapter.ts"
import type { Context, RefStore } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node } from "../node.ts"
import { type RefEntry, type RefMap, sameElement } from "../refmap.ts"
import { countRefs, entriesFor, type Source, takersOf, toNode, withoutBounds } from "../refs/allocate.ts"
import { qualified } from "../refs/resolve.ts"
import { survivorsOf } from "../refs/survivors.ts"
import { isInteractive, type Position, walk } from "../tree.ts"
import { coverOf, withoutCover } from "./cover.ts"
import { type Changed, type Changes, diffTrees } from "./diff.ts"
import { formatKept, type KeptTree, parseKept, toKept } from "./kept-tree.ts"
import { PLAIN, type ReadOptions, readSurface, type ShownPart, shownPart } from "./surface.ts"
import { chooseWindow } from "./windows.ts"

/** The differences between a window now and an earlier snapshot of it. */
export interface Difference {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly ref_count: number
  readonly snapshot_id: string
  readonly since?: string
  readonly complete: boolean
  readonly note?: string
  readonly changes: Changes
  /** True if an element of the tree is this object. */
  holds(address: string | undefined): boolean
}

/** The earlier state that a window is compared with. */
export interface Baseline {
  readonly kept: KeptTree
  /** The snapshot whose refs stay valid; undefined if there is none. */
  readonly id?: string
  /** True if it is not the current snapshot: the result must not replace the current map. */
  readonly isAside: boolean
  /** All nodes, if this command read them itself; see `readBaseline`. */
  readonly live?: readonly Position[]
}

/** A surface as it was read. */
export type Read = Awaited<ReturnType<typeof readSurface>>

export interface DiffFlags {
  readonly interactive_only: boolean
  readonly include_bounds: boolean
}

/** Compares a window with an earlier snapshot of it, read in the same way. Elements keep their refs. */
export async function observeSince(
  ctx: Context,
  choice: { readonly snapshot?: string; readonly app?: string; readonly window_id?: string },
  flags: DiffFlags,
): Promise<Omit<Difference, "holds">> {
  const { map, isCurrent } = await loadMap(ctx, choice.snapshot)
  const kept = await loadKept(ctx, map)
  if (!kept) throw nothingToCompare(map.snapshot_id)
  const isChosen = choice.app !== undefined || choice.window_id !== undefined
  const window = await chooseWindow(ctx.adapter, isChosen ? choice : { window_id: kept.window_id })
  if (window.id !== kept.window_id) throw otherWindow(map.snapshot_id, kept.window_id, window)
  const { holds: _, ...seen } = await difference(
    ctx,
    window,
    { kept, id: map.snapshot_id, isAside: !isCurrent },
    flags,
  )
  return seen
}

/** Compares a window with a baseline, and saves the result as a new snapshot. `read`: the window, if it was read already. */
export async function difference(
  ctx: Context,
  window: SeenWindow,
  { kept, id, isAside, live }: Baseline,
  flags: DiffFlags,
  read?: Read,
): Promise<Difference> {
  const isLive = live !== undefined
  const reading = { ...kept.reading, include_bounds: flags.include_bounds }
  const { seen, source } = read ?? (await readSurface(ctx, window, reading))
  const { places, takers, part } = takersIn(seen, reading)
  const entries = entriesFor(takers, places, source)
  // Loaded only now: an action may have added refs since the baseline was read.
  const map = await ctx.refs.load(id)
  const cover = isLive && coverOf(kept.tree, seen.root)
  // An element that does not show may be scrolled away, covered by a dialog, or deeper than the comparison reads. A ref
  // to one that is gone is refused when a command uses it.
  const stays = isLive ? () => true : stillThere(places, source, map)
  const { refs, map: carried } = await carryRefs(ctx.refs, map, entries, stays)
  const names = new Map(takers.map(({ node }, i) => [node, refs[i]]))
  const tree = part.of(toNode(seen.root, (node) => names.get(node)))
  const snapshotId = await ctx.refs.save([...carried.inner.values()], {
    refs: [...carried.inner.keys()],
    counter: carried.counter,
    tree: formatKept(toKept(window, kept.reading, seen.complete, tree)),
    aside: isAside,
    reachedBy: source.reachedBy,
  })
  const differing = diffTrees(kept.tree, flags.include_bounds ? tree : withoutBounds(tree), {
    complete: seen.complete,
    interactive_only: flags.interactive_only,
    isLive,
    addresses: {
      before: (ref) => map.inner.get(ref)?.address,
      after: (ref) => carried.inner.get(ref)?.address,
    },
  })
  const note = isLive ? undefined : await seen.doubt?.()
  const changes = cover ? withoutCover(differing, cover, (ref) => map.inner.has(ref)) : differing
  return {
    app: seen.app,
    window: { id: seen.window.id, title: seen.window.title },
    holds: (address) => address !== undefined && places.some(({ node }) => node.address === address),
    ref_count: [...(changes.added ?? []), ...(changes.changed ?? [])].reduce(
      (sum, node) => sum + countRefs(node),
      0,
    ),
    snapshot_id: snapshotId,
    ...(id === undefined ? {} : { since: id }),
    complete: seen.complete,
    ...(note === undefined ? {} : { note }),
    changes: isAside ? qualifyRefs(changes, snapshotId, id) : changes,
  }
}

function takersIn(
  seen: SeenTree,
  options: ReadOptions,
): { readonly places: readonly Position[]; readonly takers: readonly Position[]; readonly part: ShownPart } {
  const places = [...walk(seen.root)]
  const part = shownPart(seen.root, options)
  return { places, takers: takersOf(places, part.getsRef), part }
}

/**
 * Decides whether a ref that is not among the new ones stays valid: refs of other windows do, and refs to drill into if
 * their element was seen again.
 */
function stillThere(places: readonly Position[], source: Source, map: RefMap): (entry: RefEntry) => boolean {
  const isDrill = (entry: RefEntry): boolean =>
    entry.window_id === source.windowId &&
    !isInteractive({ role: entry.role, actions: entry.available_actions })
  const seen = [...map.inner.values()].some(isDrill) ? entriesFor(places, places, source) : []
  return (entry) =>
    entry.window_id !== source.windowId || (isDrill(entry) && seen.some((one) => sameElement(one, entry)))
}

/** Puts the snapshot id into every ref: a bare ref would mean an element of the current snapshot. */
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

/** Reads the window as it is now, for a comparison with the same window a moment later. */
export async function readBaseline(
  ctx: Context,
  window: SeenWindow,
  { map, isCurrent }: { readonly map: RefMap; readonly isCurrent: boolean },
): Promise<Baseline> {
  const { seen, source } = await readSurface(ctx, window, PLAIN)
  const { places, takers, part } = takersIn(seen, PLAIN)
  // An element without a ref gets none here, because the caller would never see its number.
  const known = survivorsOf(map, entriesFor(takers, places, source), ctx.refs.numbering)
  const names = new Map(takers.map(({ node }, i) => [node, known[i]?.ref]))
  const tree = withoutBounds(part.of(toNode(seen.root, (node) => names.get(node))))
  return {
    kept: toKept(window, PLAIN, seen.complete, tree),
    id: map.snapshot_id,
    isAside: !isCurrent,
    live: places,
  }
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
export async function loadKept(ctx: Context, { snapshot_id }: RefMap): Promise<KeptTree | undefined> {
  const text = snapshot_id === undefined ? undefined : await ctx.refs.tree(snapshot_id)
  return text === undefined ? undefined : parseKept(text)
}

function nothingToCompare(id: string | undefined): AppError {
  return new AppError(
    "SNAPSHOT_NOT_FOUND",
    id === undefined ? "There is no snapshot to compare with" : `Snapshot '${id}' was kept without its tree`,
    { suggestion: "Run 'snapshot' now, and 'snapshot --diff' after the next change" },
  )
}

function otherWindow(id: string | undefined, windowId: string, asked: SeenWindow): AppError {
  return new AppError("INVALID_ARGS", `Snapshot '${id}' is of window '${windowId}', not of '${asked.id}'`, {
    suggestion: `Run 'snapshot --window-id ${asked.id}' first`,
    details: { argument: "diff" },
  })
}

interface Carried {
  /** The ref of each entry. */
  readonly refs: readonly string[]
  /** Every ref that is still valid, each with its newest evidence. */
  readonly map: RefMap
}

/**
 * Numbers the elements of a window that was read again. An element that had a ref keeps it, a new one gets an unused
 * number. `stays` decides about all other refs.
 */
async function carryRefs(
  refs: RefStore,
  before: RefMap,
  entries: readonly RefEntry[],
  stays: (entry: RefEntry) => boolean,
): Promise<Carried> {
  const numbers = refs.numbering === "stable" ? await refs.number(entries) : numberAfter(before, entries)
  const given = new Set(numbers)
  const kept = [...before.inner].filter(([ref, entry]) => !given.has(ref) && stays(entry)).slice(-KEPT_BESIDE)
  const counter = Math.max(before.counter, ...numbers.map((ref) => Number(ref.slice(2))))
  return {
    refs: numbers,
    map: {
      ...before,
      inner: new Map([...kept, ...numbers.map((ref, i): [string, RefEntry] => [ref, entries[i]!])]),
      counter,
    },
  }
}

/** The refs that stay beside those of the window. The map must stay small: every command reads all of it. */
const KEPT_BESIDE = 500

function numberAfter(before: RefMap, entries: readonly RefEntry[]): readonly string[] {
  let counter = before.counter
  return survivorsOf(before, entries, "fresh").map((one) => one?.ref ?? `@e${++counter}`)
}
