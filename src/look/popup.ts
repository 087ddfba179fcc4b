import type { SeenNode, SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node, Surface } from "../node.ts"
import { toNode, withoutBounds } from "../refs/allocate.ts"
import { type StoredRef, windowOf } from "../refs/resolve.ts"
import { until, untilChanged } from "../until.ts"
import type { Appeared, PopupWatch, Watch } from "../watch.ts"
import { fitTree } from "./budget.ts"
import { compact } from "./compact.ts"
import { isDialog } from "./cover.ts"
import { appendRefs, refSource } from "./surface.ts"
import { estimateTokens } from "./tokens.ts"

/** How long a popup may take to open if the element is known to open one. */
const OPENING_MS = 400
/** How long a window that the app has made for a click may take to show. A dialog that loads something first is late. */
const SHOWING_MS = 1000
/** How long the app may take to list a popup that the screen shows. */
const LISTING_MS = 600
/** How long the popover of a pressed button may take to be listed. Most buttons that stay down have none. */
const DOWN_MS = 0
/** A long list is cut, as with `--budget`. */
const MOST_TOKENS = 1500

/** Reports about an action that may have opened something. */
export interface Signs {
  /** It was there before the action. */
  readonly popups: PopupWatch | undefined
  readonly watch: Watch
  /** Objects that have appeared since the action. */
  readonly appeared: readonly Appeared[]
  /** The element usually opens a popup, or the app has made a window. Then it is waited for. */
  readonly mayFollow: boolean
  /** The screen shows a new popup. */
  readonly hasPopup: boolean
  /** The element stays down, as a button does whose popover is open. */
  readonly isDown: boolean
}

/** Something that an action opened, with refs. */
export interface OpenedTree {
  readonly tree: Node
  /** False if it may have come by itself, or have been there before. */
  readonly isProof: boolean
}

/** The popup or dialog that an action opened, with refs added to the map of the action's own ref; undefined: none has opened. */
export async function openedBy(
  ctx: Context,
  stored: StoredRef,
  signs: Signs,
): Promise<OpenedTree | undefined> {
  const { popups, watch, mayFollow, hasPopup, isDown } = signs
  const { pid } = stored.entry
  let appeared = signs.appeared
  let opened: OpenedTree | undefined
  let usual = ctx.deadline.slice(OPENING_MS)
  const look = async (): Promise<"popup" | "dialog" | "closed" | "nothing" | undefined> => {
    const seen = hasPopup ? "opened" : await popups?.look(pid)
    if (seen === "hidden window") usual = ctx.deadline.slice(OPENING_MS)
    if (seen === "opened") return "popup"
    appeared = [...(watch.appeared?.() ?? []), ...appeared]
    opened = await openedDialog(ctx, stored, appeared, popups)
    if (opened) opened = { ...opened, isProof: opened.isProof || mayFollow }
    if (opened) return "dialog"
    if (seen === "closed") return seen
    return usual.expired ? "nothing" : undefined
  }
  const deadline = ctx.deadline.slice(SHOWING_MS)
  const found = await (mayFollow ? untilChanged(watch, look, deadline) : look())
  if (found === "dialog") return opened
  if (found !== "popup" && !isDown) return undefined
  const tree = await (found === "popup" ? shownPopup(ctx, stored) : shownPopup(ctx, stored, DOWN_MS))
  return tree && { tree, isProof: true }
}

/**
 * The dialog or popover among objects that have appeared. Waits for its window, which may show a moment later. A dialog
 * that was open before does not count: it may have become active because another one closed.
 */
async function openedDialog(
  ctx: Context,
  { entry, snapshotId }: Pick<StoredRef, "entry" | "snapshotId">,
  appeared: readonly Appeared[],
  popups: PopupWatch | undefined,
): Promise<OpenedTree | undefined> {
  const recent = appeared.filter(({ isNew }) => isNew)
  const addresses = [...new Set([...recent, ...appeared].map(({ address }) => address))]
  if (addresses.length === 0) return undefined
  const { pid, window_id } = entry
  const look = () => ctx.adapter.openedAmong(addresses, pid, LOOK)
  const whenShown = async (): Promise<SeenTree | "none" | undefined> => {
    const seen = await look()
    return seen === "opening" ? undefined : (seen ?? "none")
  }
  const isReported = ({ root }: SeenTree): boolean => recent.some(({ address }) => address === root.address)
  const isNew = (seen: SeenTree): boolean => {
    const { root, rootPath, window } = seen
    if (rootPath) return popups?.hasAppeared(window.id) ?? isReported(seen)
    // Inside a window, a dialog of another window does not count, and one around the element was there before.
    const isElsewhere = window_id?.startsWith("w-") && window.id !== window_id
    return !isElsewhere && !holds(root, entry.address)
  }
  // Most objects that appear are not dialogs, and then no watch is opened.
  const first = await look()
  const deadline = ctx.deadline.slice(LISTING_MS)
  const seen = first === "opening" ? await until(ctx, whenShown, { pids: [pid], deadline }) : first
  if (!seen || seen === "none" || !isNew(seen)) return undefined
  const refOf = await appendRefs(ctx, seen.root, refSource(seen, entry.process_start), snapshotId)
  const tree = fitting(compact(withoutBounds(toNode(seen.root, refOf))))
  // An alert in the window may have come by itself, and a dialog that only became active may have been there before.
  const isProof =
    seen.rootPath !== undefined || (isReported(seen) && (tree.role !== "alert" || isDialog(tree)))
  return { tree, isProof }
}

const holds = (node: SeenNode, address: string | undefined): boolean =>
  address !== undefined && (node.address === address || node.children.some((child) => holds(child, address)))

/** The visible popup, with refs. If it cannot be read, its description says so. */
export async function shownPopup(
  ctx: Context,
  { entry, snapshotId }: Pick<StoredRef, "entry" | "snapshotId">,
  patienceMs = LISTING_MS,
): Promise<Node | undefined> {
  const { pid } = entry
  const window = await windowOf(ctx.adapter, entry)
  if (!window) return undefined
  let unread: string | undefined
  const tree = await until(
    ctx,
    async () => {
      const read = await readPopup(ctx, window)
      if (typeof read !== "string") return read
      unread = read
      return undefined
    },
    { pids: [pid], deadline: ctx.deadline.slice(patienceMs) },
  )
  if (!tree) return unread === undefined ? undefined : { role: "popover", description: unread }
  const start = tree.pid === pid ? entry.process_start : await ctx.adapter.processStart(tree.pid)
  const refOf = await appendRefs(ctx, tree.root, refSource(tree, start), snapshotId)
  return fitting(compact(withoutBounds(toNode(tree.root, refOf))))
}

/** A string says why it cannot be read. undefined: it has closed. */
async function readPopup(ctx: Context, window: SeenWindow): Promise<SeenTree | string | undefined> {
  let why: string | undefined
  for (const surface of ["menu", "popover"] as const satisfies readonly Surface[]) {
    try {
      return await ctx.adapter.tree({ kind: "surface", window, surface }, LOOK)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "ELEMENT_NOT_FOUND") throw error
      if (error.details?.kind === "unseen_popup") why = `${error.message}. ${error.suggestion}`
    }
  }
  return why
}

const LOOK = { maxDepth: 10, bounds: "interactive", includeHidden: false, interactiveOnly: false } as const

function fitting(tree: Node): Node {
  const cost = (node: Node): number => estimateTokens(JSON.stringify(node))
  return fitTree(tree, { tokens: MOST_TOKENS, cost, spell: () => "" })?.tree ?? tree
}
