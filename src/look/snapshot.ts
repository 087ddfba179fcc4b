import type { SeenNode, SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { success, toLine } from "../envelope.ts"
import { AppError, workBySight } from "../errors.ts"
import { isSurface, type Node } from "../node.ts"
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
  withRefs,
} from "../refs/allocate.ts"
import { qualified, type RefChoice, resolve, windowOf } from "../refs/resolve.ts"
import { walk } from "../tree.ts"
import { compact } from "./compact.ts"
import { formatKept, toKept } from "./kept-tree.ts"
import { countOffscreen } from "./offscreen.ts"
import { appendRefs, type ReadOptions, readSurface, refSource, shownPart, treeOptions } from "./surface.ts"

/** The result of a snapshot, in the contract's words. */
export interface Observation {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly ref_count: number
  /** How many more elements with a ref `--offscreen` would show. */
  readonly offscreen_count?: number
  /** There may be more: counting them all would have taken too long. */
  readonly offscreen_at_least?: true
  readonly snapshot_id?: string
  readonly complete: boolean
  /** Advice if the tree is empty because the window draws its content itself, or if the tree may be out of date. */
  readonly note?: string
  readonly tree: Node
}

export interface ObserveOptions extends ReadOptions {
  readonly compact: boolean
  /** Tokens that the answer may take. */
  readonly budget?: number
}

/** Takes a snapshot of a surface of a window. Its refs replace the current map. */
export async function observe(
  ctx: Context,
  window: SeenWindow,
  options: ObserveOptions,
): Promise<Observation> {
  const [{ seen, source }] = await Promise.all([
    readSurface(ctx, window, options),
    whileWaiting(() => ctx.refs.prepare()),
  ])
  // Asked now and needed last: the app and the screen answer while refs are given.
  const doubt = seen.doubt?.()
  doubt?.catch(() => {})
  for (let part: SeenTree = doubt ? { ...seen, doubt: () => doubt } : seen; ; ) {
    try {
      return await keepAndShow(ctx, window, part, source, options)
    } catch (error) {
      const share = shareThatFits(error)
      if (share === undefined) throw error
      part = cutTree(part, share)
    }
  }
}

async function keepAndShow(
  ctx: Context,
  window: SeenWindow,
  seen: SeenTree,
  source: Source,
  options: ObserveOptions,
): Promise<Observation> {
  const part = shownPart(seen.root, options)
  const { tree: counted, entries } = allocateRefs(seen, source, part.getsRef)
  const given = await ctx.refs.number(entries)
  const tree = renumbered(part.of(counted), given)
  const counter = highest(given)
  const spell = (index: number): string => `@e${counter + 1 + index}`
  const presenting = present(ctx, seen, tree, options, spell)
  // Only a budget adds refs. Without one, the refs are saved while an answer is still missing.
  presenting.catch(() => {})
  const drills = options.budget === undefined ? [] : (await presenting).drills
  const added = drillEntries(drills, seen.root, source)
  const refs = [...given, ...(added.length > 0 ? await ctx.refs.number(added, counter) : [])]
  const drilled = new Map(drills.map((node, i) => [node.ref_id, refs[given.length + i]!]))
  const snapshotId = await ctx.refs.save([...entries, ...added], {
    refs,
    counter: highest(refs),
    tree: formatKept(toKept(window, options, seen.complete, tree)),
    reachedBy: source.reachedBy,
  })
  const { drills: _, ...shown } = await presenting
  return {
    ...shown,
    snapshot_id: snapshotId,
    tree: drilled.size > 0 ? withRefs(shown.tree, drilled) : shown.tree,
  }
}

/** Replaces the refs of a tree that was counted from @e1 with the refs that its elements were given. */
function renumbered(tree: Node, refs: readonly string[]): Node {
  const given = new Map(refs.flatMap((ref, i) => (ref === `@e${i + 1}` ? [] : [[`@e${i + 1}`, ref]])))
  return given.size === 0 ? tree : withRefs(tree, given)
}

const highest = (refs: readonly string[]): number =>
  refs.reduce((most, ref) => Math.max(most, Number(ref.slice(2))), 0)

/** Starts the work only after all requests have been sent, so that it runs while their answers are pending. */
async function whileWaiting(work: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  return work()
}

/**
 * Takes a snapshot of the subtree of a ref. Its refs are added to the map that the ref is from. Fails with TIMEOUT if
 * the subtree cannot be read completely.
 */
export async function observeBelow(
  ctx: Context,
  choice: RefChoice,
  options: ObserveOptions,
): Promise<Observation> {
  const { ref, entry, snapshotId, seen: root } = await resolve(ctx, choice)
  const window = await windowOf(ctx.adapter, entry)
  const offscreen = options.offscreen || root.states.includes("offscreen")
  const reading = { ...options, offscreen }
  const seen = await ctx.adapter.tree({ kind: "element", handle: root.handle, window }, treeOptions(reading))
  if (!seen.complete) throw subtreeIncomplete(ref)
  const source = {
    ...refSource(seen, entry.process_start),
    windowId: entry.window_id ?? seen.window.id,
    rootPath: entry.path,
    rootContext: entry.context,
    rootPage: entry.page,
  }
  const part = shownPart(seen.root, reading)
  const refOf = await appendRefs(ctx, seen.root, source, snapshotId, part.getsRef)
  const map = await ctx.refs.load(snapshotId)
  const observed = { ...seen, window: { ...seen.window, id: source.windowId } }
  const own = qualified(ref.replace(/^@.*:/, "@"), snapshotId)
  const tree = part.of(toNode(seen.root, (node) => refOf(node) ?? (node === seen.root ? own : undefined)))
  const spell = (index: number): string => qualified(`@e${map.counter + 1 + index}`, snapshotId)
  const { drills, ...shown } = await present(ctx, observed, tree, options, spell)
  if (drills.length === 0) return { ...shown, snapshot_id: map.snapshot_id }
  const refs = await ctx.refs.append(drillEntries(drills, seen.root, source), snapshotId, source.reachedBy)
  // A node that was drilled into before keeps its number.
  const given = new Map(drills.map((node, i) => [node.ref_id, qualified(refs[i]!, snapshotId)]))
  return { ...shown, snapshot_id: map.snapshot_id, tree: withRefs(shown.tree, given) }
}

function subtreeIncomplete(ref: string): AppError {
  return new AppError("TIMEOUT", `The subtree of ${ref} could not be read completely`, {
    suggestion: "Retry with a longer --timeout-ms or a smaller --max-depth",
    details: { kind: "subtree" },
  })
}

interface Presented extends Observation {
  /** Nodes that got a ref only because some of their children were omitted: `--root REF` shows those. */
  readonly drills: readonly Node[]
}

/** Prunes the tree as the flags ask, and fits it into the budget. `spell` writes the refs to drill into. */
async function present(
  ctx: Context,
  seen: Pick<SeenTree, "app" | "window" | "complete" | "doubt">,
  tree: Node,
  options: ObserveOptions,
  spell: (index: number) => string,
): Promise<Presented> {
  const offscreen = countOffscreen(tree)
  // A part of a window may be a control without parts.
  const mayBeEmpty = isSurface(tree) || tree.role === "canvas"
  const isEmpty = mayBeEmpty && !offscreen && (tree.children ?? []).every(isBlank)
  const note = isEmpty ? workBySight(seen.window.id) : await seen.doubt?.()
  const whole = prune(tree, { ...options, compact: options.compact || options.budget !== undefined })
  const show = (shown: Node, complete: boolean): Observation => ({
    app: seen.app,
    window: { id: seen.window.id, title: seen.window.title },
    ref_count: countRefs(shown),
    ...offscreen,
    snapshot_id: COSTLY_ID,
    complete: seen.complete && complete,
    ...(note === undefined ? {} : { note }),
    tree: shown,
  })
  if (options.budget === undefined) return { ...show(whole, true), drills: [] }
  const [{ fitOrRefuse }, { estimateTokens }, { snapshotText }] = await Promise.all([
    import("./budget.ts"),
    import("./tokens.ts"),
    import("./outline.ts"),
  ])
  const isText = ctx.format === "text"
  const print = (data: Observation): string =>
    isText ? snapshotText(data) : toLine(success("snapshot", data))
  const cost = (shown: Node): number => estimateTokens(print(show(shown, false)))
  const advice = isText ? "" : ", or --format text"
  const fitted = fitOrRefuse(whole, { tokens: options.budget, cost, spell }, advice)
  return { ...show(fitted.tree, fitted.complete), drills: fitted.drills }
}

/** True if neither the node nor anything in it has words or can be acted on. */
function isBlank({ ref_id, name, value, description, children = [], children_count }: Node): boolean {
  if (ref_id !== undefined || children_count !== undefined) return false
  return !name && !value && !description && children.every(isBlank)
}

/** Stands for the id that `save` will return. No id costs more tokens. */
const COSTLY_ID = "s2b3c4d5f"

function prune(
  tree: Node,
  options: Pick<ObserveOptions, "interactive_only" | "compact" | "include_bounds">,
): Node {
  const kept = options.interactive_only ? keepInteractive(tree) : tree
  const small = options.compact ? compact(kept) : kept
  return options.include_bounds ? small : withoutBounds(small)
}

function drillEntries(drills: readonly Node[], root: SeenNode, source: Source): readonly RefEntry[] {
  if (drills.length === 0) return []
  const places = [...walk(root)]
  const byNode = new Map(places.map((place) => [place.node, place]))
  const chosen = drills.flatMap((drill) => {
    const origin = originOf(drill)
    return (origin && byNode.get(origin)) ?? []
  })
  return entriesFor(chosen, places, source)
}

/** The share of a tree whose refs fit into a map. undefined: the error has another cause. */
function shareThatFits(error: unknown): number | undefined {
  const { kind, bytes, limit } = (error instanceof AppError && error.details) || {}
  if (kind !== "ref_map" || typeof bytes !== "number" || typeof limit !== "number") return undefined
  // Entries differ in size.
  return (0.9 * limit) / bytes
}

/** Cuts a tree in reading order. Nodes that lose children say how many they have. */
function cutTree(seen: SeenTree, share: number): SeenTree {
  let left = Math.floor(share * [...walk(seen.root)].length)
  const cut = (node: SeenNode): SeenNode => {
    const children: SeenNode[] = []
    for (const child of node.children) if (left-- > 0) children.push(cut(child))
    if (children.length === node.children.length) return { ...node, children }
    return { ...node, children, children_count: node.children_count ?? node.children.length }
  }
  return { ...seen, root: cut(seen.root), complete: false }
}
