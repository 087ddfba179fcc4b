import type { Adapter, Seen, SeenTree, SeenWindow } from "./adapter.ts"
import type { Context } from "./command.ts"
import { AppError, NOTHING_DELIVERED, staleRef } from "./errors.ts"
import { boundsHash } from "./fxhash.ts"
import { changedEvidence, contextOf, isInRow, isRow, isSameRow, ownName, quoted } from "./identity.ts"
import { cut, parseRef, type RefEntry } from "./refmap.ts"
import { type Place, walk } from "./tree.ts"

export interface RefChoice {
  readonly ref_id: string
  readonly snapshot?: string
}

/** A ref as it is stored. */
export interface Known {
  /** As messages and results spell it: `@e3`, or `@<snapshot_id>:e3` where the caller named a snapshot so. */
  readonly ref: string
  readonly entry: RefEntry
  /** The snapshot that the caller named, in either way. */
  readonly snapshotId?: string
}

/** A ref and the live element it was found to mean. */
export interface Target extends Known {
  readonly seen: Seen
}

/**
 * The element that a ref names, or an error: never a look-alike. The process must be the same one;
 * then the platform's own address, then the stored path, are each verified; then one search of the
 * same window, in which exactly one element may fit.
 */
export async function resolve(ctx: Context, choice: RefChoice): Promise<Target> {
  return resolveKnown(ctx, await lookUp(ctx, choice))
}

export async function resolveKnown(ctx: Context, known: Known): Promise<Target> {
  const { ref, entry } = known
  await refuseOtherProcess(ctx.adapter, known)
  let there: Seen | undefined
  for (const route of routesOf(entry)) {
    const seen = await ctx.adapter.open(entry, route)
    there ??= seen
    if (!seen || changedEvidence(entry, seen) !== undefined) continue
    if (route === "path" && !standsWhereItWas(entry, seen)) continue
    if (!(await isInItsRow(ctx.adapter, entry))) continue
    await refuseClosed(ctx.adapter, known, seen)
    return { ...known, seen }
  }
  return { ...known, seen: await search(ctx.adapter, ref, entry, there) }
}

/** Some toolkits keep a window that was closed, and everything in it, to show it again. */
async function refuseClosed(adapter: Adapter, { ref, entry }: Known, seen: Seen): Promise<void> {
  const { window_id } = entry
  if (!seen.states.includes("hidden") || !window_id?.startsWith("w-")) return
  if ((await adapter.windows()).some(({ id }) => id === window_id)) return
  throw staleRef(ref, `its window ${window_id} is closed`)
}

/** The stored entry, without a look at the desktop. */
export async function lookUp(ctx: Context, choice: RefChoice): Promise<Known> {
  const { ref, snapshotId } = parseRef(choice.ref_id)
  if (snapshotId !== undefined && choice.snapshot !== undefined && snapshotId !== choice.snapshot) {
    throw new AppError(
      "INVALID_ARGS",
      `'${choice.ref_id}' names another snapshot than --snapshot ${choice.snapshot}`,
      { suggestion: `Leave out --snapshot, or use ${ref}`, details: { argument: "snapshot" } },
    )
  }
  const named = snapshotId ?? choice.snapshot
  const spelled = snapshotId === undefined ? ref : qualified(ref, snapshotId)
  const entry = (await ctx.refs.load(named)).inner.get(ref)
  if (!entry) throw staleRef(spelled, named === undefined ? undefined : `snapshot ${named} has no ${ref}`)
  return { ref: spelled, entry, snapshotId: named }
}

/** A ref that means the same element whatever the newest snapshot is. */
export const qualified = (ref: string, snapshotId: string | undefined): string =>
  snapshotId === undefined ? ref : `@${snapshotId}:${ref.slice(1)}`

/** The window an element is in; for an element of a menu, any window of its app, since a menu hangs on none. */
export async function windowOf(adapter: Adapter, entry: RefEntry): Promise<SeenWindow | undefined> {
  const windows = await adapter.windows()
  if (surfaceOf(entry) === "window") return windows.find((one) => one.id === entry.window_id)
  const own = windows.filter((one) => one.pid === entry.pid)
  return own.find((one) => one.is_focused) ?? own[0]
}

function surfaceOf({ window_id }: RefEntry): "window" | "menu" | "menubar" {
  if (window_id?.startsWith("menubar-")) return "menubar"
  return window_id?.startsWith("menu-") ? "menu" : "window"
}

async function refuseOtherProcess(adapter: Adapter, { ref, entry }: Known): Promise<void> {
  const start = await adapter.processStart(entry.pid)
  const app = entry.source_app ? ` of ${entry.source_app}` : ""
  if (start === undefined) throw staleRef(ref, `process ${entry.pid}${app} has ended`)
  if (entry.process_start !== undefined && entry.process_start !== start) {
    throw staleRef(
      ref,
      `process ${entry.pid} is another one now; ${entry.source_app ?? "the app"} was restarted`,
    )
  }
}

function routesOf(entry: RefEntry): readonly ("address" | "path")[] {
  return [
    ...(entry.address === undefined ? [] : (["address"] as const)),
    ...(entry.path ? (["path"] as const) : []),
  ]
}

/** Whether it says something of itself that no other element of its window said. */
const isDistinct = (entry: RefEntry): boolean => !entry.twins && Boolean(ownName(entry) ?? entry.identifier)

/** By its path alone a nameless element, or one with look-alikes, is known only while it has not moved. */
function standsWhereItWas(entry: RefEntry, seen: Seen): boolean {
  return (
    isDistinct(entry) ||
    (entry.bounds_hash !== undefined &&
      seen.bounds !== undefined &&
      boundsHash(seen.bounds) === entry.bounds_hash)
  )
}

/**
 * Lists show other rows in the same places, and some in the very same objects. What is part of a row
 * is the same only while the row at its place holds it and shows the same texts.
 */
async function isInItsRow(adapter: Adapter, entry: RefEntry): Promise<boolean> {
  const { context, path, address } = entry
  if (context === undefined || !isInRow(context) || !path) return true
  for (let depth = path.length - 1; depth > 0; depth--) {
    const above = await adapter.open({ ...entry, path: path.slice(0, depth) }, "path")
    if (!above) return false
    if (!isRow(above)) continue
    const { root, complete } = await adapter.tree(
      { kind: "element", handle: above.handle },
      { ...LOOK, maxDepth: Math.max(3, path.length - depth) },
    )
    const holdsIt = address === undefined || [...walk(root)].some(({ node }) => node.address === address)
    return complete && holdsIt && isSameRow(context, root)
  }
  return false
}

const LOOK = { bounds: "interactive", includeHidden: false, interactiveOnly: true } as const

async function search(
  adapter: Adapter,
  ref: string,
  entry: RefEntry,
  there: Seen | undefined,
): Promise<Seen> {
  const evidence = evidenceAgainst(entry, there)
  const moved = there !== undefined && there.address !== undefined && there.address === entry.address
  // What had look-alikes, or no name, cannot be told from them by a search: whatever is found may be another one.
  if (!isDistinct(entry) && !moved) throw unsure(ref, evidence, entry.address !== undefined)
  const window = await windowOf(adapter, entry)
  if (!window) throw staleRef(ref, `${evidence}, and so is its window ${entry.window_id ?? ""}`.trimEnd())
  const places = await readPlaces(adapter, window, ref, entry, evidence)
  const fits = places.filter(({ node }) => changedEvidence(entry, node) === undefined)
  const itself = moved ? fits.find(({ node }) => node.address === entry.address) : undefined
  if (itself && standsInContext(entry, itself)) return itself.node
  if (!isDistinct(entry)) throw unsure(ref, evidence, true)
  const [only, ...others] = fits
  if (!only) throw staleRef(ref, evidence)
  if (others.length > 0) throw ambiguous(ref, entry, fits)
  if (!standsInContext(entry, only)) {
    throw unsure(ref, `${evidence}; a look-alike stands in another place of the window`, false)
  }
  return only.node
}

function evidenceAgainst(entry: RefEntry, there: Seen | undefined): string {
  if (there) return changedEvidence(entry, there) ?? (isInRow(entry.context) ? OTHER_ROW : MOVED)
  if (entry.address === undefined && !entry.path) return "nothing tells where it was"
  return `the ${entry.role}${entry.name ? ` ${quoted(entry.name)}` : ""} is gone`
}

const OTHER_ROW = "its row is gone or shows something else now"
const MOVED = "it has moved, and nothing else tells it from others"

const standsInContext = (entry: RefEntry, { node, ancestors }: Place): boolean =>
  entry.context === undefined || contextOf(node, ancestors) === entry.context

/** `certain`: the element is gone or another one now, and not just impossible to tell from others. */
function unsure(ref: string, evidence: string, certain: boolean): AppError {
  const { code, message, suggestion, disposition } = staleRef(ref, evidence)
  return new AppError(code, message, {
    suggestion,
    details: { evidence, ...(certain ? {} : { certain }) },
    disposition,
  })
}

async function readPlaces(
  adapter: Adapter,
  window: SeenWindow,
  ref: string,
  entry: RefEntry,
  evidence: string,
): Promise<Place[]> {
  const surface = surfaceOf(entry)
  const { root, complete } = await adapter
    .tree({ kind: "surface", window, surface }, { ...LOOK, maxDepth: 50 })
    .catch((error: unknown): SeenTree => {
      if (!(error instanceof AppError)) throw error
      if (error.code !== "WINDOW_NOT_FOUND" && error.code !== "ELEMENT_NOT_FOUND") throw error
      throw staleRef(ref, `${evidence}, and so is its ${surface}`)
    })
  // An absence, or a uniqueness, that was not read to the end is not a fact.
  if (complete) return [...walk(root)]
  throw new AppError("TIMEOUT", `The window ${window.id} could not be searched to its end`, {
    suggestion: "Retry with a longer --timeout-ms, or run 'snapshot' to get a new ref",
    details: { kind: "search" },
    disposition: NOTHING_DELIVERED,
  })
}

function ambiguous(ref: string, entry: RefEntry, fits: readonly Place[]): AppError {
  const what = `${fits.length} ${entry.role} elements named ${quoted(entry.name)}`
  return new AppError("AMBIGUOUS_TARGET", `${ref} is one of ${what}`, {
    suggestion: "Run 'snapshot' to get a ref for the one you mean",
    details: {
      candidates: fits
        .slice(0, 10)
        .map(({ node }) => ({ role: node.role, name: cut(node.name ?? "", 200), bounds: node.bounds })),
    },
    disposition: NOTHING_DELIVERED,
  })
}
