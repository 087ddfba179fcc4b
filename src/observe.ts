import type { SeenNode, SeenTree, SeenWindow, TreeOptions } from "./adapter.ts"
import type { Context } from "./command.ts"
import { compact } from "./compact.ts"
import { AppError } from "./errors.ts"
import type { Node, Surface } from "./node.ts"
import { qualified, type RefChoice, resolve, windowOf } from "./resolve.ts"
import {
  allocateRefs,
  countRefs,
  entriesFor,
  isInteractive,
  keepInteractive,
  type Source,
  toNode,
  walk,
  withoutBounds,
} from "./tree.ts"

export interface Observation {
  readonly app: string
  readonly window: { readonly id: string; readonly title: string }
  readonly ref_count: number
  readonly snapshot_id?: string
  readonly complete: boolean
  readonly tree: Node
}

export interface ObserveOptions {
  readonly max_depth: number
  readonly include_bounds: boolean
  readonly interactive_only: boolean
  readonly compact: boolean
  readonly include_hidden: boolean
  readonly surface: Surface
}

/** Reads a surface of a window and replaces the current map of refs by its own. */
export async function observe(
  ctx: Context,
  window: SeenWindow,
  options: ObserveOptions,
): Promise<Observation> {
  refuseMute(window)
  const target = { kind: "surface" as const, window, surface: options.surface }
  const [seen, start] = await Promise.all([
    ctx.adapter.tree(target, treeOptions(options)),
    ctx.adapter.processStart(window.pid),
  ])
  // A window may be drawn by one process and filled by another.
  const processStart = seen.pid === window.pid ? start : await ctx.adapter.processStart(seen.pid)
  const rootPath = options.surface === "window" ? [] : undefined
  const refs = allocateRefs(seen, { ...sourceOf(seen, processStart), rootPath })
  const snapshotId = await ctx.refs.save(refs.entries)
  return present(seen, refs.tree, snapshotId, options)
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
  const refOf = await appendRefs(ctx, seen.root, source, snapshotId)
  const map = await ctx.refs.load(snapshotId)
  const observed = { ...seen, window: { ...seen.window, id: source.windowId } }
  return present(observed, toNode(seen.root, refOf), map.snapshot_id, options)
}

/** Adds what can be acted on to a map of refs; gives the ref of each such node. */
export async function appendRefs(
  ctx: Context,
  root: SeenNode,
  source: Source,
  snapshotId?: string,
): Promise<(node: SeenNode) => string | undefined> {
  const places = [...walk(root)]
  const chosen = places.filter(({ node }) => isInteractive(node))
  const refs = chosen.length ? await ctx.refs.append(entriesFor(chosen, places, source), snapshotId) : []
  // Where the caller named a snapshot, a bare number could mean another element of a newer one.
  const named = new Map(chosen.map(({ node }, i) => [node, qualified(refs[i]!, snapshotId)]))
  return (node) => named.get(node)
}

function present(
  seen: Pick<SeenTree, "app" | "window" | "complete">,
  tree: Node,
  snapshotId: string | undefined,
  options: ObserveOptions,
): Observation {
  const kept = options.interactive_only ? keepInteractive(tree) : tree
  const small = options.compact ? compact(kept) : kept
  return {
    app: seen.app,
    window: { id: seen.window.id, title: seen.window.title },
    ref_count: countRefs(small),
    snapshot_id: snapshotId,
    complete: seen.complete,
    tree: options.include_bounds ? small : withoutBounds(small),
  }
}

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
  return { pid: seen.pid, app: seen.app, windowId: seen.window.id, processStart }
}

function treeOptions(options: ObserveOptions): TreeOptions {
  return {
    maxDepth: options.max_depth,
    bounds: options.include_bounds ? "all" : "interactive",
    includeHidden: options.include_hidden,
    interactiveOnly: options.interactive_only,
  }
}
