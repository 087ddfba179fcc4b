import {
  type Action,
  MAX_LEVELS,
  type Performed,
  type Seen,
  type SeenNode,
  type TreeTarget,
} from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import { chooseByName } from "../match.ts"
import { hasTrait, type Point, type Role } from "../node.ts"
import { nameForIdentity } from "../refmap.ts"
import { type Target, windowOf } from "../refs/resolve.ts"
import { walk } from "../tree.ts"
import { until } from "../until.ts"
import { notSupported } from "./expect.ts"
import { pressKey } from "./keyboard.ts"
import { clickElement } from "./pointer.ts"

/** How long a list may take to open after the click that opens it. */
const POPUP_MS = 1500

type Select = Extract<Action, { kind: "select" }>

/** Opens the list of a combobox, finds the one option with the name, and clicks it. */
export async function pickOption(ctx: Context, target: Target, action: Select): Promise<Performed> {
  const { ref, seen } = target
  if (!hasTrait(seen.role, "opensMenu")) throw notSupported(ref, seen, action)
  const options = await openList(ctx, target)
  try {
    const option = chooseByName(options ?? [], action.value, ref)
    return await clickElement(ctx, optionTarget(target, option), action)
  } catch (error) {
    if (error instanceof AppError && error.disposition?.delivery === "not_delivered")
      await closeList(ctx, target, action, options)
    throw error
  }
}

/** Opens the list, unless it is open, and waits for its options; undefined if none show. */
async function openList(ctx: Context, target: Target): Promise<readonly SeenNode[] | undefined> {
  const before = new Set((await optionsInWindow(ctx, target)).map(keyOf))
  const wasOpen = target.seen.states.includes("expanded")
  if (!wasOpen) await clickElement(ctx, target, { kind: "expand" }, { pointOf: arrowPoint })
  return until(ctx, () => shownOptions(ctx, target, wasOpen ? new Set() : before), {
    pids: [target.entry.pid],
    deadline: ctx.deadline.slice(POPUP_MS),
  })
}

/** Closes the list if it is open. Without an open list, Escape would go to the dialog or the window around it. */
async function closeList(
  ctx: Context,
  target: Target,
  action: Select,
  options: readonly SeenNode[] | undefined,
): Promise<void> {
  if (options || (await hasPopup(ctx, target.entry.pid)))
    await pressKey(ctx, target, { modifiers: [], key: "escape" }, action)
}

/** A list may be open although it shows no options. */
async function hasPopup(ctx: Context, pid: number): Promise<boolean> {
  return (await ctx.adapter.surfaces(pid)).some(({ type }) => type === "popover" || type === "menu")
}

/** The option as a target of a click. It is not in the window but in the list that the window opened. */
function optionTarget(target: Target, option: SeenNode): Target {
  const { role, name, value, identifier } = option
  const entry = {
    ...target.entry,
    role,
    name: nameForIdentity(name),
    value,
    identifier,
    window_id: undefined,
    context: undefined,
    neighbours: undefined,
  }
  return { ...target, seen: option, entry }
}

/** The arrow at the end of a combobox. In one that can be typed into, a click in the middle only places the caret. */
function arrowPoint({ bounds, states }: Seen): Point | undefined {
  if (!bounds || bounds.width < 1 || bounds.height < 1 || states.includes("hidden")) return undefined
  const fromEnd = Math.min(ARROW_WIDTH, bounds.height, bounds.width) / 2
  return { x: Math.floor(bounds.x + bounds.width - fromEnd), y: Math.floor(bounds.y + bounds.height / 2) }
}

const ARROW_WIDTH = 24

/**
 * The options that show: those below the element itself, or in a menu or popover, or those in the window that were
 * not there before.
 */
async function shownOptions(
  ctx: Context,
  target: Target,
  before: ReadonlySet<string>,
): Promise<readonly SeenNode[] | undefined> {
  const isNew = (node: SeenNode): boolean => !before.has(keyOf(node))
  const own = await optionsIn(ctx, { kind: "element", handle: target.seen.handle })
  // Firefox always has the chosen option there.
  if (own.some(isNew)) return own
  const window = await windowOf(ctx.adapter, target.entry)
  if (!window) return undefined
  for (const surface of ["menu", "popover"] as const) {
    const options = await optionsIn(ctx, { kind: "surface", window, surface })
    if (options.length > 0) return options
  }
  const opened = (await optionsInWindow(ctx, target)).filter(isNew)
  return opened.length > 0 ? opened : undefined
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
    .tree(target, {
      maxDepth: MAX_LEVELS,
      bounds: "interactive",
      includeHidden: false,
      interactiveOnly: true,
    })
    .catch((error: unknown) => {
      // The app may show no such surface.
      if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
      throw error
    })
  if (!tree) return []
  return [...walk(tree.root)]
    .map((place) => place.node)
    .filter((node) => isOption(node.role) && node.name && !node.states.includes("hidden"))
}

/** Identifies an option by its text and place. Not by address: Qt makes new objects for list rows at every read. */
const keyOf = ({ role, name, bounds }: SeenNode): string => `${role} ${name} ${bounds?.x},${bounds?.y}`
