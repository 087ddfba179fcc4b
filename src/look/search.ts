import { type SeenTree, type SeenWindow, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { hasTrait, type Role, type Surface } from "../node.ts"
import { entriesFor } from "../refs/allocate.ts"
import { quoted } from "../shown-text.ts"
import { nameAndValue, type Position, walk } from "../tree.ts"
import type { Watch } from "../watch.ts"
import { refSource } from "./surface.ts"

/** Searches a window. Reports something as absent only if everything was searched. */

export interface Query {
  readonly includeHidden: boolean
  readonly fits: (place: Position) => boolean
  /** Drops matches that are not where the caller wants them. */
  readonly narrow?: (found: readonly Position[], places: readonly Position[]) => Promise<readonly Position[]>
  /** With this many matches, no further look is needed. */
  readonly enough: number
}

export interface Searched {
  readonly tree: SeenTree
  /** All nodes of the tree. */
  readonly places: readonly Position[]
  readonly found: readonly Position[]
  /** True if matches may be missing only because the app was still busy. */
  readonly isBusy: boolean
  /** The start time of the app's process, for refs to it. Read together with the tree: later there may be no time. */
  readonly processStart?: string
}

/** How long to search an app again that answers but is never quiet, e.g. because of an animation. */
const NOISE_MS = 500
/** How long to wait for the next change before looking again anyway. */
const POLL_MS = 100

/**
 * Reads the window and looks for matches. If there are too few, it looks again until the app has handled its input,
 * everything could be read, and nothing changed meanwhile: a busy app shows an old state, or half of a new one.
 */
export async function search(ctx: Context, window: SeenWindow, query: Query): Promise<Searched> {
  const start = performance.now()
  const first = await look(ctx, window, query)
  if (first.found.length >= query.enough || !ctx.patient) return { ...first, isBusy: false }
  let last = { ...first, isBusy: true }
  let took = performance.now() - start
  let watch: Watch | undefined
  try {
    // Before the watch: sending events to a listener would slow down a busy app even more.
    const isIdle = await ctx.adapter.caughtUp(window)
    watch = await ctx.adapter.watch([first.tree.pid])
    const noise = ctx.deadline.slice(NOISE_MS)
    // A look that does not end in time would only replace a better one.
    while (ctx.deadline.remaining > took) {
      const begun = performance.now()
      const before = last
      last = { ...(await look(ctx, window, query)), isBusy: true }
      took = performance.now() - begun
      // Some apps report changes that are not, even because they are being read.
      const isQuiet = !(await watch.changed(0)) || isSame(before.places, last.places)
      const isSure = isIdle && (isQuiet || (noise.expired && last.tree.complete))
      if (isSure || last.found.length >= query.enough) return { ...last, isBusy: false }
      await watch.changed(Math.min(POLL_MS, ctx.deadline.remaining))
    }
    return last
  } catch (error) {
    // Only this look had too little time; the one before it counts.
    if (error instanceof AppError && LATE.has(error.code)) return last
    throw error
  } finally {
    await watch?.close()
  }
}

/** True if both looks saw the same. */
export function isSame(a: readonly Position[], b: readonly Position[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ node }, i) => {
      const other = b[i]!.node
      return (
        node.role === other.role &&
        node.name === other.name &&
        node.value === other.value &&
        node.states.join() === other.states.join()
      )
    })
  )
}

const LATE: ReadonlySet<string> = new Set(["TIMEOUT", "APP_UNRESPONSIVE"])

interface Looking extends Omit<Query, "enough"> {
  readonly surface?: Surface
  readonly skipsSheets?: boolean
}

/** Reads the window, or another surface of its app, once. */
export async function look(
  ctx: Context,
  window: SeenWindow,
  { includeHidden, fits, narrow, surface = "window", skipsSheets = false }: Looking,
): Promise<Omit<Searched, "isBusy">> {
  const [tree, start] = await Promise.all([
    ctx.adapter.tree({ kind: "surface", window, surface }, { ...WHOLE_TREE, includeHidden, skipsSheets }),
    ctx.adapter.processStart(window.pid),
  ])
  const places = [...walk(tree.root)]
  const processStart = tree.pid === window.pid ? start : undefined
  const fitting = places.filter(fits)
  return { tree, places, found: narrow ? await narrow(fitting, places) : fitting, processStart }
}

/** The parts of a window that a search did not cover, as members of a result. */
export interface Gaps {
  readonly complete: false
  readonly unsearched: {
    readonly reason: string
    /** The number of elements that were not searched, and the containers that have most of them. */
    readonly count?: number
    readonly in?: readonly { ref_id?: string; role: Role; name?: string; count: number }[]
    readonly suggestion?: string
  }
}

/** The largest containers are named, the others only counted. */
const MOST = 5

/**
 * undefined if everything was searched. If nothing was found, the containers get refs in the current map, for the next
 * step. `words`: the text that was searched for.
 */
export async function gapsOf(ctx: Context, searched: Searched, words?: string): Promise<Gaps | undefined> {
  const { tree, places, isBusy } = searched
  const holes = places
    .map((place) => ({ place, count: (place.node.children_count ?? 0) - place.node.children.length }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
  if (holes.length === 0 && tree.complete && !isBusy) return undefined
  const count = holes.reduce((sum, hole) => sum + hole.count, 0)
  const reason = reasonOf(searched, count)
  if (searched.found.length > 0)
    return { complete: false, unsearched: { reason, ...(count > 0 ? { count } : {}) } }
  const named = holes.slice(0, MOST)
  const refs = named.length > 0 ? await refsOf(ctx, searched, named) : []
  const containers = named.map(({ place, count }, i) => {
    const { name } = nameAndValue(place.node)
    return { ref_id: refs[i], role: place.node.role, ...(name ? { name } : {}), count }
  })
  const [most] = containers
  const suggestion =
    isBusy || !tree.complete || !most
      ? "Retry with a larger --timeout-ms"
      : hasTrait(most.role, "list")
        ? words === undefined
          ? `Show other rows, then search again: agent-desktop scroll ${most.ref_id} down 20`
          : `Find the row that shows it: agent-desktop scroll ${most.ref_id} --until TEXT --timeout-ms 60000`
        : `Look into it: agent-desktop snapshot --root ${most.ref_id}`
  return {
    complete: false,
    unsearched: { reason, ...(most ? { count, in: containers } : {}), suggestion },
  }
}

function reasonOf({ tree, isBusy }: Searched, count: number): string {
  const reasons = [
    count > 0 && `${count} element${count === 1 ? " was" : "s were"} not searched`,
    !tree.complete && "not everything could be read",
    isBusy && "the app was still busy",
  ]
  return reasons.filter(Boolean).join("; ")
}

async function refsOf(
  ctx: Context,
  { tree, places, processStart }: Searched,
  holes: readonly { readonly place: Position }[],
): Promise<readonly string[]> {
  const source = refSource(tree, processStart ?? (await ctx.adapter.processStart(tree.pid)))
  const chosen = holes.map(({ place }) => place)
  return ctx.refs.append(entriesFor(chosen, places, { ...source, rootPath: [] }), undefined, source.reachedBy)
}

/** The gaps as lines of text. */
export function gapsText({ unsearched }: Partial<Gaps>): string {
  if (!unsearched) return ""
  const parts = (unsearched.in ?? []).map(
    ({ role, name, ref_id, count }) =>
      `  ${[role, name && quoted(name), `[${ref_id}]`].filter(Boolean).join(" ")} ${count} not searched`,
  )
  const said = [["incomplete", unsearched.reason], ...parts, ["suggestion", unsearched.suggestion]]
  const lines = said.flatMap((line) => (typeof line === "string" ? line : line[1] ? line.join(": ") : []))
  return `${lines.join("\n")}\n`
}
