import type { PopupWatch, SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node, Surface } from "../node.ts"
import { toNode, withoutBounds } from "../refs/allocate.ts"
import { type StoredRef, windowOf } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { fitTree } from "./budget.ts"
import { compact } from "./compact.ts"
import { appendRefs, refSource } from "./surface.ts"
import { estimateTokens } from "./tokens.ts"

/** How long a popup may take to open if the element is known to open one. */
const OPENING_MS = 400
/** How long the app may take to list a popup that the screen shows. */
const LISTING_MS = 600
/** A long list is cut, as with `--budget`. */
const MOST_TOKENS = 1500

/**
 * The popup that an action opened, with refs added to the map of the action's own ref; undefined if none has opened.
 * `watch` was there before the action. `isExpected`: the element usually opens one, so it is waited for.
 */
export async function openedPopup(
  ctx: Context,
  stored: StoredRef,
  watch: PopupWatch,
  isExpected: boolean,
): Promise<Node | undefined> {
  const { pid } = stored.entry
  const deadline = ctx.deadline.slice(isExpected ? OPENING_MS : 0)
  const seen = await until(ctx, () => watch.look(pid), { pids: [pid], deadline })
  return seen === "opened" ? shownPopup(ctx, stored) : undefined
}

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
