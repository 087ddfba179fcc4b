import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { Node } from "../node.ts"
import { toNode, withoutBounds } from "../refs/allocate.ts"
import { lookUp, type RefChoice, windowOf } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { appendRefs, sourceOf } from "./snapshot.ts"

/** How long a context menu may take to open. */
const MENU_MS = 1000

/** The menu that an action on a ref opened, with refs added to the ref's own map; undefined when none shows. */
export async function openedMenu(ctx: Context, choice: RefChoice): Promise<Node | undefined> {
  const { entry, snapshotId } = await lookUp(ctx, choice)
  const window = await windowOf(ctx.adapter, entry)
  if (!window) return undefined
  const menu = await until(
    ctx,
    () =>
      ctx.adapter
        .tree(
          { kind: "surface", window, surface: "menu" },
          { maxDepth: 10, bounds: "interactive", includeHidden: false, interactiveOnly: false },
        )
        .catch((error: unknown) => {
          // No menu yet.
          if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
          throw error
        }),
    { pids: [entry.pid], deadline: ctx.deadline.slice(MENU_MS) },
  )
  if (!menu) return undefined
  const start = menu.pid === entry.pid ? entry.process_start : await ctx.adapter.processStart(menu.pid)
  const refOf = await appendRefs(ctx, menu.root, sourceOf(menu, start), snapshotId)
  return withoutBounds(toNode(menu.root, refOf))
}
