import type { Context } from "./command.ts"
import { AppError } from "./errors.ts"
import type { Node } from "./node.ts"
import { lookUp, type RefChoice } from "./resolve.ts"
import { entriesFor, isInteractive, toNode, walk } from "./tree.ts"
import { until } from "./until.ts"

/** How long a context menu may take to open. */
const MENU_MS = 1000

/** The menu that an action on a ref opened, with refs added to the current map; undefined when none shows. */
export async function openedMenu(ctx: Context, choice: RefChoice): Promise<Node | undefined> {
  const { entry } = await lookUp(ctx, choice)
  const window = (await ctx.adapter.windows()).find((one) => one.id === entry.window_id)
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
  const places = [...walk(menu.root)]
  const chosen = places.filter(({ node }) => isInteractive(node))
  const refs = await ctx.refs.append(
    entriesFor(chosen, places, {
      pid: menu.pid,
      app: menu.app,
      windowId: menu.window.id,
      processStart: entry.process_start,
    }),
  )
  const numbers = new Map(chosen.map(({ node }, i) => [node, refs[i]]))
  return toNode(menu.root, (node) => numbers.get(node))
}
