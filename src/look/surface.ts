import type { SeenNode, SeenTree, SeenWindow, TreeOptions } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, noTree } from "../errors.ts"
import type { Node } from "../node.ts"
import { entriesFor, type Source, toNode, withoutBounds } from "../refs/allocate.ts"
import { lookUp, qualified, type RefChoice, windowOf } from "../refs/resolve.ts"
import { isInteractive, walk } from "../tree.ts"
import { until } from "../until.ts"
import type { ReadSettings } from "./kept-tree.ts"
import { leaveOut, outOfView } from "./offscreen.ts"

/** Reads a surface of a window, and gives refs to its elements. */

export interface ReadOptions extends ReadSettings {
  readonly include_bounds: boolean
}

/** The window as a user sees it, for comparisons within a command. */
export const PLAIN: ReadOptions = {
  surface: "window",
  max_depth: 10,
  include_hidden: false,
  offscreen: false,
  include_bounds: false,
  interactive_only: false,
  skeleton: false,
}

/** Reads a surface as it is now. `source` holds the facts that all entries made from it share. */
export async function readSurface(
  ctx: Context,
  window: SeenWindow,
  options: ReadOptions,
): Promise<{ readonly seen: SeenTree; readonly source: Source }> {
  const ready = await waitForContent(ctx, window)
  const { surface } = options
  const [seen, start] = await Promise.all([
    ctx.adapter.tree({ kind: "surface", window: ready, surface }, treeOptions(options)),
    ctx.adapter.processStart(window.pid),
  ])
  // One process may draw a window, and another fill it.
  const processStart = seen.pid === window.pid ? start : await ctx.adapter.processStart(seen.pid)
  const source = refSource(seen, processStart)
  return { seen, source: surface === "window" ? { ...source, rootPath: [] } : source }
}

/** Levels of a skeleton. */
const SKELETON_DEPTH = 3

export function treeOptions(options: ReadOptions): TreeOptions {
  return {
    maxDepth: options.skeleton ? Math.min(SKELETON_DEPTH, options.max_depth) : options.max_depth,
    bounds: options.include_bounds ? "all" : "interactive",
    includeHidden: options.include_hidden,
    offscreen: options.offscreen || options.include_hidden ? "read" : "count",
    interactiveOnly: options.interactive_only,
  }
}

export function refSource(seen: SeenTree, processStart: string | undefined): Source {
  const { pid, app, window, rootPath, reachedBy } = seen
  return { pid, app, windowId: window.id, processStart, rootPath, reachedBy }
}

/** The part of a tree that the caller wants to see. */
export interface ShownPart {
  getsRef(node: SeenNode): boolean
  /** A printed tree without the nodes that are scrolled out of view; they are counted instead. */
  of(tree: Node): Node
}

export function shownPart(root: SeenNode, options: ReadOptions): ShownPart {
  const rule = refRule(options)
  // Below an element that is out of view, everything is.
  const isWhole = options.offscreen || options.include_hidden || root.states.includes("offscreen")
  if (isWhole) return { getsRef: rule, of: (tree) => tree }
  const out = outOfView(root)
  return { getsRef: (node) => !out.has(node) && rule(node), of: (tree) => leaveOut(tree, out, rule) }
}

/** The rule for which nodes get a ref: all that can be acted on; in a skeleton, also those with unread children. */
function refRule({ skeleton }: ReadOptions): (node: SeenNode) => boolean {
  return skeleton
    ? (node) => isInteractive(node) || (node.children_count ?? 0) > node.children.length
    : isInteractive
}

/** Adds the elements that get a ref to a map of refs. Returns the ref of each of them. */
export async function appendRefs(
  ctx: Context,
  root: SeenNode,
  source: Source,
  snapshotId?: string,
  getsRef: (node: SeenNode) => boolean = isInteractive,
): Promise<(node: SeenNode) => string | undefined> {
  const places = [...walk(root)]
  const chosen = places.filter(({ node }) => getsRef(node))
  const refs = chosen.length
    ? await ctx.refs.append(entriesFor(chosen, places, source), snapshotId, source.reachedBy)
    : []
  // If the caller named a snapshot, a bare number could mean another element of a newer one.
  const named = new Map(chosen.map(({ node }, i) => [node, qualified(refs[i]!, snapshotId)]))
  return (node) => named.get(node)
}

/** How long a context menu may take to open. */
const MENU_MS = 1000
/**
 * How long to look on after the app has handled the click, and how often at least. An app may let another process
 * open the menu. On a busy machine both take longer.
 */
const HANDLED_MS = 100
const HANDLED_LOOKS = 4
/** Time between two looks: an app does not report that it has handled the click and opened nothing. */
const LOOK_MS = 20

/** The menu that an action on a ref opened, with refs added to the ref's own map; undefined if none shows. */
export async function openedMenu(ctx: Context, choice: RefChoice): Promise<Node | undefined> {
  const { entry, snapshotId } = await lookUp(ctx, choice)
  const window = await windowOf(ctx.adapter, entry)
  if (!window) return undefined
  const phase = phaseOfClick(ctx, window, entry.page !== undefined)
  const look = async (): Promise<{ readonly menu?: SeenTree } | undefined> => {
    const now = phase()
    // Asked first, so that a menu that opens before the look counts.
    const isBare = now !== "busy" && (await ctx.adapter.popups(entry.pid)) === 0
    // Reading the tree takes long. A menu without a window of its own is found by the first and the last look.
    if (isBare && now === "watched") return undefined
    const isOver = isBare && now === "over"
    const menu = await readMenu(ctx, window)
    return menu || isOver ? { menu } : undefined
  }
  const deadline = ctx.deadline.slice(MENU_MS)
  const found = await until(ctx, look, { pids: [entry.pid], deadline, pollMs: LOOK_MS })
  const menu = found?.menu
  if (!menu) return undefined
  const start = menu.pid === entry.pid ? entry.process_start : await ctx.adapter.processStart(menu.pid)
  const refOf = await appendRefs(ctx, menu.root, refSource(menu, start), snapshotId)
  return withoutBounds(toNode(menu.root, refOf))
}

/**
 * Asked once per look. The app is busy with the click; has just handled it; is watched for what comes later, since
 * another process opens the menu of a page; has been watched for long enough.
 */
function phaseOfClick(
  ctx: Context,
  window: SeenWindow,
  ofPage: boolean,
): () => "busy" | "handled" | "watched" | "over" {
  let at = Number.POSITIVE_INFINITY
  let looks = 0
  void ctx.adapter
    .caughtUp(window, ofPage)
    .then((hasCaughtUp) => {
      if (hasCaughtUp) at = performance.now()
    })
    // Without an answer, the time limit ends the wait.
    .catch(() => {})
  return () => {
    const since = performance.now() - at
    if (since < 0) return "busy"
    looks += 1
    if (looks === 1) return "handled"
    return since >= HANDLED_MS && looks > HANDLED_LOOKS ? "over" : "watched"
  }
}

/** undefined: no menu is open yet. */
function readMenu(ctx: Context, window: SeenWindow): Promise<SeenTree | undefined> {
  return ctx.adapter
    .tree(
      { kind: "surface", window, surface: "menu" },
      { maxDepth: 10, bounds: "interactive", includeHidden: false, interactiveOnly: false },
    )
    .catch((error: unknown) => {
      if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
      throw error
    })
}

/** How long a window whose process has just started may take to show its content. */
const START_MS = 2500

/** The window once its content shows. Fails for a window without content: at once, unless its process has just started. */
export async function waitForContent(ctx: Context, window: SeenWindow): Promise<SeenWindow> {
  const ready = isStarting(window) ? await whenStarted(ctx, window) : window
  requireContent(ready)
  return ready
}

async function whenStarted(ctx: Context, window: SeenWindow): Promise<SeenWindow> {
  const look = async (): Promise<SeenWindow | undefined> => {
    const now = (await ctx.adapter.windows(window.id)).find(({ id }) => id === window.id)
    return now && isStarting(now) ? undefined : now
  }
  return (await until(ctx, look, { deadline: ctx.deadline.slice(START_MS) })) ?? window
}

/** True if the window shows no content yet, but may in a moment: its process has just started. */
export const isStarting = ({ accessible, starting }: SeenWindow): boolean =>
  accessible === false && starting === true

/** Fails for a window without accessible content: its empty tree would read as an empty window. */
export function requireContent(window: SeenWindow): void {
  if (window.accessible === false) throw noTree(window, window.reason, window.cannotShow)
}
