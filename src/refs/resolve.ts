import {
  type Absence,
  type Adapter,
  MAX_LEVELS,
  type Seen,
  type SeenNode,
  type SeenTree,
  type SeenWindow,
  type TreeOptions,
} from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type ErrorCode, NOTHING_DELIVERED, staleRef } from "../errors.ts"
import { boundsHash } from "../fxhash.ts"
import { isRow } from "../node.ts"
import { type BusHint, cut, parseRef, type RefEntry, type RefMap, sameSurroundings } from "../refmap.ts"
import { type Position, walk } from "../tree.ts"
import {
  changedEvidence,
  isSameRow,
  lookAlikeKey,
  neighbourhoodOf,
  ownName,
  quoted,
  standsIn,
} from "./identity.ts"

export interface RefChoice {
  readonly ref_id: string
  readonly snapshot?: string
}

/** A ref as the store holds it. */
export interface StoredRef {
  /** The spelling for messages and results: `@e3`, or `@<snapshot_id>:e3` if the caller spelled it so. */
  readonly ref: string
  readonly entry: RefEntry
  /** The snapshot that the caller named, in the ref or beside it. */
  readonly snapshotId?: string
  /** From its map. */
  readonly hint?: BusHint
  /** Addresses of all elements that its snapshot gave a ref. */
  readonly addresses: () => ReadonlySet<string | undefined>
}

/** A ref and the live element that it names. */
export interface Target extends StoredRef {
  readonly seen: Seen
  /** Set if no user can reach the element now. It can be read, but not acted on. */
  readonly absence?: Exclude<Absence, "removed">
}

/** Finds the live element that a ref names; see `resolveStored` for when it fails. */
export async function resolve(ctx: Context, choice: RefChoice): Promise<Target> {
  return resolveStored(ctx, await lookUp(ctx, choice))
}

/** Reads the stored entry of a ref, without looking at the desktop. */
export async function lookUp(ctx: Context, choice: RefChoice): Promise<StoredRef> {
  const { ref, snapshotId } = parseRef(choice.ref_id)
  if (snapshotId !== undefined && choice.snapshot !== undefined && snapshotId !== choice.snapshot) {
    throw new AppError(
      "INVALID_ARGS",
      `'${choice.ref_id}' names a different snapshot than --snapshot ${choice.snapshot}`,
      { suggestion: `Leave out --snapshot, or use ${ref}`, details: { argument: "snapshot" } },
    )
  }
  const named = snapshotId ?? choice.snapshot
  const spelled = snapshotId === undefined ? ref : qualified(ref, snapshotId)
  const map = await ctx.refs.load(named)
  const entry = map.inner.get(ref)
  if (!entry) throw staleRef(spelled, named === undefined ? undefined : `snapshot ${named} has no ${ref}`)
  const addresses = () => addressesBeside(map, ref, entry)
  return { ref: spelled, entry, snapshotId: named, hint: map.reached_by, addresses }
}

/**
 * Addresses of the elements in a map. An object that has another ref for the same content is left out: with stable
 * numbers the map also holds elements that were created after this ref was issued.
 */
function addressesBeside(map: RefMap, ref: string, entry: RefEntry): ReadonlySet<string | undefined> {
  const others = [...map.inner].filter(([other, one]) => other === ref || !hasSameContent(one, entry))
  return new Set(others.map(([, { address }]) => address))
}

const hasSameContent = (a: RefEntry, b: RefEntry): boolean =>
  a.pid === b.pid &&
  lookAlikeKey(a) === lookAlikeKey(b) &&
  (a.context && b.context ? sameSurroundings(a.context, b.context) : a.context === b.context)

/** Spells a ref so that it names the same element after later snapshots, too. */
export const qualified = (ref: string, snapshotId: string | undefined): string =>
  snapshotId === undefined ? ref : `@${snapshotId}:${ref.slice(1)}`

/**
 * Finds the live element that a ref names, or throws. It never returns a look-alike.
 *
 * First the process must be the one that the ref was given for; otherwise the ref is stale. Then up to three routes
 * lead to the element, tried in the order of the table. Each ends in a verdict:
 *
 *   same        The element is there. Its role, name and identifier are the stored ones. If it is part of a row,
 *               the row shows the same texts. By path, an element that has look-alikes or no name must also not
 *               have moved. By search, it must also have the same names above it.
 *   changed     Another element is in its place, or it cannot be distinguished from another one.
 *   recycled    The toolkit uses the object for another row now. The element may be in another object.
 *   gone        Nothing is there.
 *   ambiguous   Several elements match, and nothing distinguishes them.
 *
 * The consequence depends on the route:
 *
 *   route             same  changed            recycled        gone            ambiguous
 *   lasting address   done  stale              try the search  stale           -
 *   reused address    done  try the path       try the path    try the path    -
 *   path              done  try the search     try the search  try the search  -
 *   search            done  stale, uncertain   -               stale           AMBIGUOUS_TARGET
 *   all windows       done  -                  -               stale           AMBIGUOUS_TARGET
 *
 * A lasting address belongs to an object that lives as long as its element, so its loss is proof. A reused address
 * belongs to an object that the toolkit makes again, or gives to other content. An entry has at most one of the two;
 * without an address the path is first. A path is stored for elements below a window only; without one the search is
 * next. The search reads the whole window. It is tried only for an element whose name or identifier distinguished it from all
 * others; for any other the ref is stale once the routes before have failed, and uncertain if it has no address.
 * After a lasting address, the search finds only objects that the snapshot gave a ref.
 *
 * An entry of another program may have only the nine members that the format defines, and none that says where the
 * element was. Then all windows of its process are searched for its role, name and bounds; that is its only route.
 *
 * "done" is refused in two cases. An element that has left its window is stale, though its app keeps its object and
 * may put it back. A hidden element whose window is closed is stale, because some toolkits keep both.
 * "stale" is STALE_REF. "uncertain" adds `certain: false` to its details: the element may be there, unproven.
 * A read that fails or does not finish throws its own error, because unknown is not gone.
 */
export async function resolveStored(ctx: Context, stored: StoredRef): Promise<Target> {
  const { ref, entry } = stored
  await refuseOtherProcess(ctx.adapter, stored)
  // Messages name the first thing found instead of the element.
  let found: string | undefined
  for (const route of routesOf(entry)) {
    const verdict = await take(ctx.adapter, stored, route, found ?? goneEvidence(entry))
    switch (verdict.kind) {
      case "same":
        return {
          ...stored,
          entry: { ...entry, ...verdict.place },
          seen: verdict.seen,
          absence: await refuseGone(ctx.adapter, stored, verdict.seen),
        }
      case "changed":
        if (route === "lasting address") throw staleRef(ref, verdict.evidence)
        if (route === "search") throw uncertain(ref, verdict.evidence)
        found ??= verdict.evidence
        break
      case "recycled":
        found ??= verdict.evidence
        break
      case "gone":
        if (route !== "reused address" && route !== "path") throw staleRef(ref, verdict.evidence)
        break
      case "ambiguous":
        throw ambiguous(ref, entry, verdict.candidates)
      default:
        verdict satisfies never
    }
  }
  // No search: the element has look-alikes or no name, so any match may be another element.
  const evidence = found ?? goneEvidence(entry)
  throw entry.address === undefined ? uncertain(ref, evidence) : staleRef(ref, evidence)
}

type Route = "lasting address" | "reused address" | "path" | "search" | "all windows"

type Verdict =
  /** `place`: where it is, if the entry does not say so. */
  | { readonly kind: "same"; readonly seen: Seen; readonly place?: Pick<RefEntry, "window_id"> }
  | { readonly kind: "changed" | "recycled" | "gone"; readonly evidence: string }
  | { readonly kind: "ambiguous"; readonly candidates: readonly SeenNode[] }

/** Follows one route. `evidence` says why the earlier routes did not find the element. */
function take(adapter: Adapter, stored: StoredRef, route: Route, evidence: string): Promise<Verdict> {
  if (route === "all windows") return searchAll(adapter, stored)
  return route === "search" ? search(adapter, stored, evidence) : follow(adapter, stored, route)
}

function routesOf(entry: RefEntry): readonly Route[] {
  if (isPlaceless(entry)) return ["all windows"]
  const search: readonly Route[] = isDistinct(entry) ? ["search"] : []
  if (hasLastingAddress(entry)) return ["lasting address", ...search]
  return [
    ...(entry.address === undefined ? [] : (["reused address"] as const)),
    ...(entry.path ? (["path"] as const) : []),
    ...search,
  ]
}

/** True if only its bounds say where the element was. */
const isPlaceless = ({ window_id, address, path }: RefEntry): boolean =>
  window_id === undefined && address === undefined && path === undefined

const hasLastingAddress = (entry: RefEntry): boolean => entry.address !== undefined && !entry.is_recycled

/** True if its name or identifier distinguished the element from all others in its window. */
const isDistinct = (entry: RefEntry): boolean =>
  !entry.has_twin && Boolean(ownName(entry) ?? entry.identifier)

/** Judges the object at the stored address or path. */
async function follow(
  adapter: Adapter,
  { entry, hint }: StoredRef,
  route: Exclude<Route, "search" | "all windows">,
): Promise<Verdict> {
  const seen = await adapter.open(entry, route === "path" ? "path" : "address", hint)
  if (!seen) return { kind: "gone", evidence: goneEvidence(entry) }
  const changed = changedEvidence(entry, seen)
  // A row with another name: the toolkit has reused the row for other content.
  if (changed) return { kind: isRow(entry) ? "recycled" : "changed", evidence: changed }
  if (route === "path" && !standsWhereItWas(entry, seen)) {
    return { kind: "changed", evidence: entry.context?.around === undefined ? MOVED : OTHER_ROW }
  }
  return judgeRow(adapter, entry, seen)
}

/** A path leads to an element with look-alikes, or without a name, only while the element has not moved. */
function standsWhereItWas(entry: RefEntry, seen: Seen): boolean {
  return (
    isDistinct(entry) ||
    (entry.bounds_hash !== undefined &&
      seen.bounds !== undefined &&
      boundsHash(seen.bounds) === entry.bounds_hash)
  )
}

/**
 * Judges an element with the same role, name and identifier by its row. Lists show other rows in the same places, some
 * of them in the same objects. The element is the same only while its row shows the same texts; if other rows show
 * those texts, too, only while the whole list is unchanged.
 */
async function judgeRow(adapter: Adapter, entry: RefEntry, seen: Seen): Promise<Verdict> {
  const { context, neighbours } = entry
  if (context?.levels === undefined) return { kind: "same", seen }
  const row = await lookAbove(adapter, seen, context.levels, (one) => isSameRow(context, one))
  if (!row.fits) {
    const isSameObject = row.node?.address !== undefined && row.node.address === entry.row
    return { kind: isSameObject ? "recycled" : "changed", evidence: OTHER_ROW }
  }
  if (neighbours === undefined) return { kind: "same", seen }
  const list = await lookAbove(
    adapter,
    seen,
    context.levels + 1,
    (one) => neighbourhoodOf(one) === neighbours,
  )
  return list.fits ? { kind: "same", seen } : { kind: "changed", evidence: OTHER_ROW }
}

/**
 * Reads the ancestor this many levels up, and compares it. If it does not match, reads it again with its parts that are
 * scrolled out of view, and then with everything hidden: a snapshot or a search may have seen them.
 */
async function lookAbove(
  adapter: Adapter,
  seen: Seen,
  levels: number,
  fits: (node: SeenNode) => boolean,
): Promise<{ readonly node: SeenNode | undefined; readonly fits: boolean }> {
  let node: SeenNode | undefined
  for (const part of [{}, { offscreen: "read" }, { includeHidden: true }] as const) {
    node = await readAbove(adapter, seen, levels, part)
    if (!node || fits(node)) return { node, fits: node !== undefined }
  }
  return { node, fits: false }
}

/** Searches the whole window for the element. `evidence` says why the earlier routes did not find it. */
async function search(adapter: Adapter, { entry, addresses }: StoredRef, evidence: string): Promise<Verdict> {
  const window = await windowOf(adapter, entry)
  if (!window) {
    return {
      kind: "gone",
      evidence: `${evidence}, and so is its window ${entry.window_id ?? ""}`.trimEnd(),
    }
  }
  const root = await readSurface(adapter, window, entry)
  if (!root) return { kind: "gone", evidence: `${evidence}, and so is its ${surfaceOf(entry)}` }
  const fits = [...walk(root)].filter(({ node }) => changedEvidence(entry, node) === undefined)
  const placed = fits.filter((place) => standsInContext(entry, place))
  // In rows, look-alikes are normal, and the texts of its row distinguish an element from them.
  const [only, ...others] = entry.context?.around === undefined ? fits : placed
  if (others.length > 0) return { kind: "ambiguous", candidates: fits.map(({ node }) => node) }
  if (fits.length === 0) return { kind: "gone", evidence }
  if (!only || !placed.includes(only)) {
    return {
      kind: "changed",
      evidence: `${evidence}; a look-alike is elsewhere in the window`,
    }
  }
  // A toolkit that reuses objects takes old ones. An object created since is another element.
  if (hasLastingAddress(entry) && !addresses().has(only.node.address)) return { kind: "gone", evidence }
  return { kind: "same", seen: only.node }
}

/** Searches all windows of the process for the only element with the stored role, name and bounds. */
async function searchAll(adapter: Adapter, { entry }: StoredRef): Promise<Verdict> {
  const evidence = `${goneEvidence(entry)}${entry.bounds_hash === undefined ? "" : ", or has moved"}`
  const isKnown = entry.bounds_hash !== undefined || isDistinct(entry)
  if (!isKnown) return { kind: "gone", evidence: "neither a name nor bounds identify the element" }
  const windows = (await adapter.windows({ pid: entry.pid })).filter(
    (one) => one.pid === entry.pid && one.accessible !== false,
  )
  const roots = await Promise.all(windows.map((window) => readSurface(adapter, window, entry)))
  const fits = roots.flatMap((root, i) =>
    [...(root ? walk(root) : [])]
      .filter(({ node }) => changedEvidence(entry, node) === undefined && isAtBounds(entry, node))
      .map(({ node }) => ({ node, place: { window_id: windows[i]!.id } })),
  )
  const [only, ...others] = fits
  if (!only) return { kind: "gone", evidence }
  if (others.length > 0) return { kind: "ambiguous", candidates: fits.map(({ node }) => node) }
  return { kind: "same", seen: only.node, place: only.place }
}

const isAtBounds = ({ bounds_hash }: RefEntry, { bounds }: SeenNode): boolean =>
  bounds_hash === undefined || (bounds !== undefined && boundsHash(bounds) === bounds_hash)

const standsInContext = (entry: RefEntry, { node, ancestors }: Position): boolean =>
  entry.context === undefined || standsIn(entry.context, node, ancestors)

const OTHER_ROW = "its row is gone or shows something else now"
const MOVED = "it has moved, and nothing else distinguishes it from others"

function goneEvidence({ role, name }: RefEntry): string {
  return `the ${role}${name ? ` ${quoted(name)}` : ""} is gone`
}

/**
 * Reads the element of a target again. Throws STALE_REF if it is gone or another one now; `when` completes the
 * message: "while it was waited for".
 */
export async function readSame(adapter: Adapter, { ref, entry, seen }: Target, when: string): Promise<Seen> {
  const now = await adapter.read(seen.handle)
  if (!now) throw staleRef(ref, `it went away ${when}`)
  const changed = changedEvidence(entry, now)
  if (changed) throw staleRef(ref, `${changed}, which happened ${when}`)
  return now
}

/**
 * The same, and also reads the row of an element again: a list may show another row in the same objects. For the last
 * look before input is sent.
 */
export async function readSameRow(adapter: Adapter, target: Target, when: string): Promise<Seen> {
  const now = await readSame(adapter, target, when)
  const verdict = await judgeRow(adapter, target.entry, now)
  if (verdict.kind === "same") return now
  throw staleRef(
    target.ref,
    `${"evidence" in verdict ? verdict.evidence : OTHER_ROW}, which happened ${when}`,
  )
}

async function refuseOtherProcess(adapter: Adapter, { ref, entry }: StoredRef): Promise<void> {
  const start = await adapter.processStart(entry.pid)
  const app = entry.source_app ? ` of ${entry.source_app}` : ""
  if (start === undefined) throw staleRef(ref, `process ${entry.pid}${app} has ended`)
  if (entry.process_start !== undefined && entry.process_start !== start) {
    throw staleRef(
      ref,
      `process ${entry.pid} is a different one now; ${entry.source_app ?? "the app"} was restarted`,
    )
  }
}

/** Refuses an element that has left its window, and one whose window is closed: toolkits keep both for later. */
async function refuseGone(
  adapter: Adapter,
  { ref, entry }: StoredRef,
  seen: Seen,
): Promise<Target["absence"]> {
  const absence = await adapter.absence(seen, entry)
  const { window_id } = entry
  const mayBeClosed = seen.states.includes("hidden") && window_id?.startsWith("w-")
  if (mayBeClosed && !(await adapter.windows({ pid: entry.pid })).some(({ id }) => id === window_id))
    throw staleRef(ref, `its window ${window_id} is closed`)
  if (absence === "removed") throw staleRef(ref, "it is no longer in its window")
  return absence
}

/**
 * Finds the window of an element. For an element in a menu, or one whose window is unknown, a window of the same app.
 */
export async function windowOf(adapter: Adapter, entry: RefEntry): Promise<SeenWindow | undefined> {
  const { pid, window_id } = entry
  const isInWindow = !isPlaceless(entry) && surfaceOf(entry) === "window"
  const windows = await adapter.windows(
    window_id?.startsWith("app-") ? window_id : { pid, orApp: !isInWindow },
  )
  if (isInWindow) return windows.find((one) => one.id === window_id)
  const own = windows.filter((one) => one.pid === entry.pid)
  return own.find((one) => one.is_focused) ?? own[0]
}

function surfaceOf({ window_id }: RefEntry): "window" | "menu" | "menubar" | "popover" {
  if (window_id?.startsWith("menubar-")) return "menubar"
  if (window_id?.startsWith("popover-")) return "popover"
  return window_id?.startsWith("menu-") ? "menu" : "window"
}

/** Reads the whole surface that an element was in; undefined if that is gone. */
async function readSurface(
  adapter: Adapter,
  window: SeenWindow,
  entry: RefEntry,
): Promise<SeenNode | undefined> {
  const target = { kind: "surface", window, surface: surfaceOf(entry) } as const
  // An element in view has moved within the view, or is gone.
  const offscreen = entry.states?.includes("offscreen") ? "read" : undefined
  const tree = await unlessGone(
    adapter.tree(target, { ...LOOK, offscreen, maxDepth: MAX_LEVELS }),
    GONE_SURFACE,
  )
  return tree && whole(tree, `The window ${window.id}`)
}

/** Reads the ancestor this many levels above an element; undefined if there is none. */
async function readAbove(
  adapter: Adapter,
  seen: Seen,
  above: number,
  part: Partial<TreeOptions>,
): Promise<SeenNode | undefined> {
  const target = { kind: "element", handle: seen.handle, above } as const
  const options = { ...LOOK, maxDepth: ROW_DEPTH, ...part }
  const tree = await unlessGone(adapter.tree(target, options), GONE_ELEMENT)
  return tree && whole(tree, "Its surroundings")
}

async function unlessGone(
  reading: Promise<SeenTree>,
  codes: readonly ErrorCode[],
): Promise<SeenTree | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof AppError && codes.includes(error.code)) return undefined
    throw error
  }
}

const GONE_ELEMENT: readonly ErrorCode[] = ["ELEMENT_NOT_FOUND"]
const GONE_SURFACE: readonly ErrorCode[] = ["ELEMENT_NOT_FOUND", "WINDOW_NOT_FOUND"]

/** The depth of a list, its rows, and the content of those down to their cells. */
const ROW_DEPTH = 4

const LOOK = { bounds: "interactive", includeHidden: false, interactiveOnly: true } as const

/** Refuses a tree that was not read completely: a missing element may still be there. */
function whole({ root, complete }: SeenTree, what: string): SeenNode {
  if (complete) return root
  throw new AppError("TIMEOUT", `${what} could not be searched completely`, {
    suggestion: "Retry with a longer --timeout-ms, or run 'snapshot' to get a new ref",
    details: { kind: "search" },
    disposition: NOTHING_DELIVERED,
  })
}

/** A stale ref whose element may still exist, but cannot be distinguished from others. */
function uncertain(ref: string, evidence: string): AppError {
  const { code, message, suggestion, disposition } = staleRef(ref, evidence)
  return new AppError(code, message, {
    suggestion,
    details: { evidence, certain: false },
    disposition,
  })
}

function ambiguous(ref: string, entry: RefEntry, candidates: readonly SeenNode[]): AppError {
  const what = `${candidates.length} ${entry.role} elements named ${quoted(entry.name)}`
  return new AppError("AMBIGUOUS_TARGET", `${ref} is one of ${what}`, {
    suggestion: "Run 'snapshot' to get a ref for the one you mean",
    details: {
      candidates: candidates
        .slice(0, 10)
        .map(({ role, name, bounds }) => ({ role, name: cut(name ?? "", 200), bounds })),
    },
    disposition: NOTHING_DELIVERED,
  })
}
