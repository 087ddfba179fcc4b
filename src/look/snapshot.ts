import type { SeenNode, SeenTree, SeenWindow, TreeOptions } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node } from "../node.ts"
import type { RefEntry } from "../refmap.ts"
import {
  allocateRefs,
  countRefs,
  entriesFor,
  keepInteractive,
  originOf,
  type Source,
  toNode,
  withoutBounds,
} from "../refs/allocate.ts"
import { qualified, type RefChoice, resolve, windowOf } from "../refs/resolve.ts"
import { isInteractive, walk } from "../tree.ts"
import { until } from "../until.ts"
import { compact } from "./compact.ts"
import { formatKept, type Kept, type Reading } from "./kept-tree.ts"

export interface Observation {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly ref_count: number
  readonly snapshot_id?: string
  readonly complete: boolean
  readonly tree: Node
}

/** What is read of a surface. */
export interface ReadOptions extends Reading {
  readonly include_bounds: boolean
}

export interface ObserveOptions extends ReadOptions {
  readonly compact: boolean
  readonly budget?: number
}

/** Reads a surface of a window and replaces the current map of refs by its own. */
export async function observe(
  ctx: Context,
  window: SeenWindow,
  options: ObserveOptions,
): Promise<Observation> {
  const [{ seen, source }] = await Promise.all([
    readSurface(ctx, window, options),
    whileWaiting(() => ctx.refs.prepare()),
  ])
  const { tree, entries } = allocateRefs(seen, source, refTaker(options))
  const spell = (index: number): string => `@e${entries.length + 1 + index}`
  const { drills, ...shown } = await present(ctx, seen, tree, options, spell)
  const added = drills.length ? entriesOf(drills.flatMap(originsOf), seen.root, source) : []
  const kept = formatKept(keptOf(window, options, seen.complete, tree))
  return { ...shown, snapshot_id: await ctx.refs.save([...entries, ...added], { tree: kept }) }
}

/** Once everything is asked that can be asked now, and the answers are still to come. */
async function whileWaiting(work: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  return work()
}

export function keptOf(window: SeenWindow, options: Reading, complete: boolean, tree: Node): Kept {
  const { surface, max_depth, include_hidden, interactive_only, skeleton } = options
  const reading = { surface, max_depth, include_hidden, interactive_only, skeleton }
  return { window_id: window.id, reading, complete, tree }
}

/** A surface as it is now, and what the entries made from it have in common. */
export async function readSurface(
  ctx: Context,
  window: SeenWindow,
  options: ReadOptions,
): Promise<{ readonly seen: SeenTree; readonly source: Source }> {
  const awake = await whenAwake(ctx, window)
  refuseMute(awake)
  const { surface } = options
  const [seen, start] = await Promise.all([
    ctx.adapter.tree({ kind: "surface", window: awake, surface }, treeOptions(options)),
    ctx.adapter.processStart(window.pid),
  ])
  // A window may be drawn by one process and filled by another.
  const processStart = seen.pid === window.pid ? start : await ctx.adapter.processStart(seen.pid)
  const source = sourceOf(seen, processStart)
  return { seen, source: surface === "window" ? { ...source, rootPath: [] } : source }
}

/** Reads what is below a ref, all or nothing; the refs it gives are added to the map that the ref is from. */
export async function observeBelow(
  ctx: Context,
  choice: RefChoice,
  options: ObserveOptions,
): Promise<Observation> {
  const { ref, entry, snapshotId, seen: root } = await resolve(ctx, choice)
  const window = await windowOf(ctx.adapter, entry)
  const seen = await ctx.adapter.tree({ kind: "element", handle: root.handle, window }, treeOptions(options))
  if (!seen.complete) {
    throw new AppError("TIMEOUT", `The subtree of ${ref} could not be read to its end`, {
      suggestion: "Retry with a longer --timeout-ms or a smaller --max-depth",
      details: { kind: "subtree" },
    })
  }
  const source = {
    ...sourceOf(seen, entry.process_start),
    windowId: entry.window_id ?? seen.window.id,
    rootPath: entry.path,
    rootContext: entry.context,
  }
  const refOf = await appendRefs(ctx, seen.root, source, snapshotId, refTaker(options))
  const map = await ctx.refs.load(snapshotId)
  const observed = { ...seen, window: { ...seen.window, id: source.windowId } }
  const own = qualified(ref.replace(/^@.*:/, "@"), snapshotId)
  const tree = toNode(seen.root, (node) => refOf(node) ?? (node === seen.root ? own : undefined))
  const spell = (index: number): string => qualified(`@e${map.counter + 1 + index}`, snapshotId)
  const { drills, ...shown } = await present(ctx, observed, tree, options, spell)
  if (drills.length === 0) return { ...shown, snapshot_id: map.snapshot_id }
  const added = entriesOf(drills.flatMap(originsOf), seen.root, source)
  const refs = await ctx.refs.append(added, snapshotId)
  // One that was drilled into before has its number from then.
  const given = new Map(drills.map((node, i) => [node.ref_id, qualified(refs[i]!, snapshotId)]))
  return { ...shown, snapshot_id: map.snapshot_id, tree: renamed(shown.tree, given) }
}

/** Adds what can be acted on to a map of refs; gives the ref of each such node. */
export async function appendRefs(
  ctx: Context,
  root: SeenNode,
  source: Source,
  snapshotId?: string,
  getsRef: (node: SeenNode) => boolean = isInteractive,
): Promise<(node: SeenNode) => string | undefined> {
  const places = [...walk(root)]
  const chosen = places.filter(({ node }) => getsRef(node))
  const refs = chosen.length ? await ctx.refs.append(entriesFor(chosen, places, source), snapshotId) : []
  // Where the caller named a snapshot, a bare number could mean another element of a newer one.
  const named = new Map(chosen.map(({ node }, i) => [node, qualified(refs[i]!, snapshotId)]))
  return (node) => named.get(node)
}

/** The tree as flags ask for it. */
function prune(
  tree: Node,
  options: Pick<ObserveOptions, "interactive_only" | "compact" | "include_bounds">,
): Node {
  const kept = options.interactive_only ? keepInteractive(tree) : tree
  const small = options.compact ? compact(kept) : kept
  return options.include_bounds ? small : withoutBounds(small)
}

interface Presented extends Observation {
  /** Nodes that were given a ref so that what was left out below them can be had. */
  readonly drills: readonly Node[]
}

async function present(
  ctx: Context,
  seen: Pick<SeenTree, "app" | "window" | "complete">,
  tree: Node,
  options: ObserveOptions,
  spell: (index: number) => string,
): Promise<Presented> {
  const whole = prune(tree, { ...options, compact: options.compact || options.budget !== undefined })
  const show = (shown: Node, complete: boolean): Observation => ({
    app: seen.app,
    window: { id: seen.window.id, title: seen.window.title },
    ref_count: countRefs(shown),
    snapshot_id: COSTLY_ID,
    complete: seen.complete && complete,
    tree: shown,
  })
  if (options.budget === undefined) return { ...show(whole, true), drills: [] }
  const { fitSnapshot } = await import("./budget.ts")
  const fitted = await fitSnapshot(whole, { tokens: options.budget, format: ctx.format, show, spell })
  return { ...show(fitted.tree, fitted.complete), drills: fitted.drills }
}

/** Stands for an id that is not known yet; none costs more tokens. */
const COSTLY_ID = "s2b3c4d5f"

/** What gets a ref: what can be acted on; in a skeleton also where the rest is to be found. */
export function refTaker({ skeleton }: ReadOptions): (node: SeenNode) => boolean {
  return skeleton
    ? (node) => isInteractive(node) || (node.children_count ?? 0) > node.children.length
    : isInteractive
}

const originsOf = (node: Node): readonly SeenNode[] => {
  const origin = originOf(node)
  return origin ? [origin] : []
}

function entriesOf(nodes: readonly SeenNode[], root: SeenNode, source: Source): RefEntry[] {
  const places = [...walk(root)]
  const byNode = new Map(places.map((place) => [place.node, place]))
  return entriesFor(
    nodes.flatMap((node) => byNode.get(node) ?? []),
    places,
    source,
  )
}

function renamed(tree: Node, names: ReadonlyMap<string | undefined, string>): Node {
  const ref = names.get(tree.ref_id)
  const children = tree.children?.map((child) => renamed(child, names))
  return { ...tree, ...(ref ? { ref_id: ref } : {}), ...(children ? { children } : {}) }
}

/** The window once its content shows, where that may be a matter of moments. */
async function whenAwake(ctx: Context, window: SeenWindow): Promise<SeenWindow> {
  if (!isWaking(window)) return window
  const look = async (): Promise<SeenWindow | undefined> => {
    const now = (await ctx.adapter.windows(window.id)).find(({ id }) => id === window.id)
    return now && isWaking(now) ? undefined : now
  }
  return (await until(ctx, look, { deadline: ctx.deadline.slice(AWAKE_MS) })) ?? window
}

export const isWaking = ({ accessible, starting }: SeenWindow): boolean =>
  accessible === false && starting === true

const AWAKE_MS = 1000

/** A window that shows no accessible content: an empty tree would read as an empty window. */
export function refuseMute(window: SeenWindow): void {
  if (window.accessible !== false) return
  throw new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `Window '${window.id}' of '${window.app_name}' exposes no accessibility tree${window.reason ? `: ${window.reason}` : ""}`,
    {
      suggestion: `Restart the app with accessibility on: agent-desktop close-app ${JSON.stringify(window.app_name)}, then agent-desktop launch ${JSON.stringify(window.app_name)}; or use 'screenshot --window-id ${window.id}'`,
    },
  )
}

export function sourceOf(seen: SeenTree, processStart: string | undefined): Source {
  const { pid, app, window, rootPath } = seen
  return { pid, app, windowId: window.id, processStart, rootPath }
}

/** Levels of a skeleton. */
const SKELETON_DEPTH = 3

function treeOptions(options: ReadOptions): TreeOptions {
  return {
    maxDepth: options.skeleton ? Math.min(SKELETON_DEPTH, options.max_depth) : options.max_depth,
    bounds: options.include_bounds ? "all" : "interactive",
    includeHidden: options.include_hidden,
    interactiveOnly: options.interactive_only,
  }
}
