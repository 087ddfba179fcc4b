import type { Action, Performed, Seen, SeenNode, TreeTarget } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { hasTrait, type Point, type Role } from "../node.ts"
import { nameForIdentity } from "../refmap.ts"
import { quoted } from "../refs/identity.ts"
import { type Target, windowOf } from "../refs/resolve.ts"
import { walk } from "../tree.ts"
import { until } from "../until.ts"
import { input } from "./deliver.ts"
import { notSupported } from "./expect.ts"

/** How long a list may take to open after the click that opens it. */
const POPUP_MS = 1500

type Select = Extract<Action, { kind: "select" }>
type Click = (
  ctx: Context,
  target: Target,
  action: Action,
  options?: { readonly pointOf: (seen: Seen) => Point | undefined },
) => Promise<Performed>

/** Opens the list of a combobox, finds the one option of that name, and clicks it. */
export async function pickOption(
  ctx: Context,
  target: Target,
  action: Select,
  click: Click,
): Promise<Performed> {
  const { ref, entry, seen } = target
  if (!hasTrait(seen.role, "opensMenu")) throw notSupported(ref, seen, action)
  const before = new Set((await optionsInWindow(ctx, target)).map(keyOf))
  const wasOpen = seen.states.includes("expanded")
  if (!wasOpen) await click(ctx, target, { kind: "expand" }, { pointOf: arrowOf })
  const options = await until(ctx, () => shownOptions(ctx, target, wasOpen ? new Set() : before), {
    pids: [entry.pid],
    deadline: ctx.deadline.slice(POPUP_MS),
  })
  const fitting = options?.filter((node) => node.name === action.value) ?? []
  const [only, ...others] = fitting
  const close = async (): Promise<void> => {
    // Without an open list the key would go to the dialog or the window around it.
    if (options || (await hasPopup(ctx, entry.pid)))
      await input(ctx, { kind: "key", combo: { modifiers: [], key: "escape" }, phase: "press" }, action)
  }
  if (only && others.length === 0) {
    // Not in the window but in what it opened.
    const found = { ...entry, ...identityOf(only), window_id: undefined }
    return click(ctx, { ...target, seen: only, entry: found }, action).catch(async (error: unknown) => {
      if (error instanceof AppError && error.disposition?.delivery === "not_delivered") await close()
      throw error
    })
  }
  await close()
  throw new AppError(
    only ? "AMBIGUOUS_TARGET" : "ELEMENT_NOT_FOUND",
    only
      ? `${fitting.length} options of ${ref} are named ${quoted(action.value)}`
      : `${ref} shows no option ${quoted(action.value)}`,
    {
      suggestion: `Run 'expand ${ref}' and 'snapshot' to see its options, or 'set-value' if it can be typed into`,
      details: { candidates: options?.slice(0, 20).map((node) => node.name) ?? [] },
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** A list that shows no options may be open all the same. */
async function hasPopup(ctx: Context, pid: number): Promise<boolean> {
  return (await ctx.adapter.surfaces(pid)).some(({ type }) => type === "popover" || type === "menu")
}

/** A click in the middle of one that can be typed into would only place the caret. */
function arrowOf({ bounds, states }: Seen): Point | undefined {
  if (!bounds || bounds.width < 1 || bounds.height < 1 || states.includes("hidden")) return undefined
  const fromEnd = Math.min(ARROW_WIDTH, bounds.height, bounds.width) / 2
  return { x: Math.floor(bounds.x + bounds.width - fromEnd), y: Math.floor(bounds.y + bounds.height / 2) }
}

const ARROW_WIDTH = 24

const identityOf = ({ role, name, value, identifier }: SeenNode) => ({
  role,
  name: nameForIdentity(name),
  value,
  identifier,
})

/** The options below the element itself, in a menu or popover, or those that the window did not show before. */
async function shownOptions(
  ctx: Context,
  target: Target,
  before: ReadonlySet<string>,
): Promise<readonly SeenNode[] | undefined> {
  const isFresh = (node: SeenNode): boolean => !before.has(keyOf(node))
  const own = await optionsIn(ctx, { kind: "element", handle: target.seen.handle })
  // Firefox shows the one that is chosen there all the time.
  if (own.some(isFresh)) return own
  const window = await windowOf(ctx.adapter, target.entry)
  if (!window) return undefined
  for (const surface of ["menu", "popover"] as const) {
    const options = await optionsIn(ctx, { kind: "surface", window, surface })
    if (options.length > 0) return options
  }
  const fresh = (await optionsInWindow(ctx, target)).filter(isFresh)
  return fresh.length > 0 ? fresh : undefined
}

async function optionsInWindow(ctx: Context, { entry }: Target): Promise<readonly SeenNode[]> {
  const window = await windowOf(ctx.adapter, entry)
  return window ? optionsIn(ctx, { kind: "surface", window, surface: "window" }) : []
}

/** A role of options in a menu, a list, a table or a tree. The cells of a table's row are options, the row is not. */
const isOption = (role: Role): boolean =>
  role === "menuitem" || (hasTrait(role, "item") && hasTrait(role, "interactive"))

async function optionsIn(ctx: Context, target: TreeTarget): Promise<readonly SeenNode[]> {
  const tree = await ctx.adapter
    .tree(target, { maxDepth: 50, bounds: "interactive", includeHidden: false, interactiveOnly: true })
    .catch((error: unknown) => {
      // There may be no such surface.
      if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
      throw error
    })
  if (!tree) return []
  return [...walk(tree.root)]
    .map((place) => place.node)
    .filter((node) => isOption(node.role) && node.name && !node.states.includes("hidden"))
}

/** Not by address: Qt makes new objects for the rows of its lists whenever it is asked. */
const keyOf = ({ role, name, bounds }: SeenNode): string => `${role} ${name} ${bounds?.x},${bounds?.y}`
