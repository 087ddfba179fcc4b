import type { Adapter, Seen, SeenNode, SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED, staleRef } from "../errors.ts"
import { boundsHash } from "../fxhash.ts"
import { isRow } from "../node.ts"
import { cut, parseRef, type RefEntry } from "../refmap.ts"
import { type Position, walk } from "../tree.ts"
import {
  changedEvidence,
  isInRow,
  isSameRow,
  levelsUp,
  neighbourhoodOf,
  ownName,
  quoted,
  standsIn,
} from "./identity.ts"

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
  /** The addresses that its map has. */
  readonly known: () => ReadonlySet<string | undefined>
}

/** A ref and the live element it was found to mean. */
export interface Target extends Known {
  readonly seen: Seen
}

/**
 * The element that a ref names, or an error: never a look-alike. The process must be the same one, and the
 * platform's own address must lead to an element that says the same of itself, with the same around it.
 * Where addresses are no identity, the stored path, and then a search of the same window, may find it.
 */
export async function resolve(ctx: Context, choice: RefChoice): Promise<Target> {
  return resolveKnown(ctx, await lookUp(ctx, choice))
}

export async function resolveKnown(ctx: Context, known: Known): Promise<Target> {
  const { entry } = known
  await refuseOtherProcess(ctx.adapter, known)
  let there: Seen | undefined
  let isReused = false
  for (const route of routesOf(entry)) {
    const seen = await ctx.adapter.open(entry, route)
    there ??= seen
    if (!seen) continue
    const isSame = changedEvidence(entry, seen) === undefined
    const isThere = isSame && (route === "address" || standsWhereItWas(entry, seen))
    const around = isThere ? await surroundingsOf(ctx.adapter, entry, seen) : undefined
    if (around === "same") {
      await refuseClosed(ctx.adapter, known, seen)
      return { ...known, seen }
    }
    isReused ||= route === "address" && (around === "reused" || (!isSame && isRow(entry)))
  }
  return { ...known, seen: await search(ctx, known, there, isReused) }
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
  const map = await ctx.refs.load(named)
  const entry = map.inner.get(ref)
  if (!entry) throw staleRef(spelled, named === undefined ? undefined : `snapshot ${named} has no ${ref}`)
  const known = () => new Set([...map.inner.values()].map(({ address }) => address))
  return { ref: spelled, entry, snapshotId: named, known }
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

/** An address that is no more, or leads to something else, is proof enough where objects live as long as elements. */
const isProof = (entry: RefEntry): boolean => entry.address !== undefined && !entry.fleeting

function routesOf(entry: RefEntry): readonly ("address" | "path")[] {
  return [
    ...(entry.address === undefined ? [] : (["address"] as const)),
    ...(entry.path && !isProof(entry) ? (["path"] as const) : []),
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
 * Lists show other rows in the same places, and some in the very same objects. What is part of a row is the
 * same only while the row shows the same texts; where others show the same, while the whole list does.
 * `reused`: the row itself is the same object, and shows something else.
 */
async function surroundingsOf(
  adapter: Adapter,
  entry: RefEntry,
  seen: Seen,
): Promise<"same" | "reused" | "other"> {
  const { context, neighbours } = entry
  if (context === undefined || !isInRow(context)) return "same"
  const levels = levelsUp(context)
  const row = levels && (await readAbove(adapter, seen, levels))
  if (!row) return "other"
  if (!isSameRow(context, row))
    return row.address !== undefined && row.address === entry.row ? "reused" : "other"
  if (neighbours === undefined) return "same"
  const list = await readAbove(adapter, seen, levels + 1)
  return list !== undefined && neighbourhoodOf(list) === neighbours ? "same" : "other"
}

async function readAbove(adapter: Adapter, seen: Seen, above: number): Promise<SeenNode | undefined> {
  try {
    const target = { kind: "element", handle: seen.handle, above } as const
    const { root, complete } = await adapter.tree(target, { ...LOOK, maxDepth: ROW_DEPTH })
    if (complete) return root
    throw unfinished("What is around it")
  } catch (error) {
    if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
    throw error
  }
}

/** A list, its rows, and what is in them down to their cells. */
const ROW_DEPTH = 4

const LOOK = { bounds: "interactive", includeHidden: false, interactiveOnly: true } as const

async function search(
  { adapter }: Context,
  { ref, entry, known }: Known,
  there: Seen | undefined,
  isReused: boolean,
): Promise<Seen> {
  const evidence = evidenceAgainst(entry, there)
  if (isProof(entry) && !isReused) throw staleRef(ref, evidence)
  // What nothing told from others cannot be found among them: whatever is found may be another one.
  if (!isDistinct(entry)) throw unsure(ref, evidence, entry.address !== undefined)
  const window = await windowOf(adapter, entry)
  if (!window) throw staleRef(ref, `${evidence}, and so is its window ${entry.window_id ?? ""}`.trimEnd())
  const places = await readPlaces(adapter, window, ref, entry, evidence)
  const fits = places.filter(({ node }) => changedEvidence(entry, node) === undefined)
  const placed = fits.filter((place) => standsInContext(entry, place))
  const [only, ...others] = isInRow(entry.context) ? placed : fits
  if (others.length > 0) throw ambiguous(ref, entry, fits)
  if (fits.length === 0) throw staleRef(ref, evidence)
  if (!only || !placed.includes(only)) {
    throw unsure(ref, `${evidence}; a look-alike stands in another place of the window`, false)
  }
  // Objects that are handed round were there before; one that was made since is another one.
  if (isProof(entry) && !known().has(only.node.address)) throw staleRef(ref, evidence)
  return only.node
}

function evidenceAgainst(entry: RefEntry, there: Seen | undefined): string {
  if (there) return changedEvidence(entry, there) ?? (isInRow(entry.context) ? OTHER_ROW : MOVED)
  if (entry.address === undefined && !entry.path) return "nothing tells where it was"
  return `the ${entry.role}${entry.name ? ` ${quoted(entry.name)}` : ""} is gone`
}

const OTHER_ROW = "its row is gone or shows something else now"
const MOVED = "it has moved, and nothing else tells it from others"

const standsInContext = (entry: RefEntry, { node, ancestors }: Position): boolean =>
  entry.context === undefined || standsIn(entry.context, node, ancestors)

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
): Promise<Position[]> {
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
  throw unfinished(`The window ${window.id}`)
}

const unfinished = (what: string): AppError =>
  new AppError("TIMEOUT", `${what} could not be searched to its end`, {
    suggestion: "Retry with a longer --timeout-ms, or run 'snapshot' to get a new ref",
    details: { kind: "search" },
    disposition: NOTHING_DELIVERED,
  })

function ambiguous(ref: string, entry: RefEntry, fits: readonly Position[]): AppError {
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
