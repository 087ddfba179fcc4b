import type { SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type ErrorCode } from "../errors.ts"
import { hasTrait, type Surface } from "../node.ts"
import type { RefEntry } from "../refmap.ts"
import { entriesFor } from "../refs/allocate.ts"
import { type Position, walk } from "../tree.ts"
import { look, type Searched } from "./search.ts"
import { isStarting, refSource, requireContent } from "./surface.ts"
import { chooseWindow, type WindowChoice } from "./windows.ts"

/** The elements that a user could act on now: those of a window, of its open menu, or of the dialog over it. */

/** Picks the matches among the elements of a surface. */
export type Find = (places: readonly Position[]) => readonly Position[] | Promise<readonly Position[]>

/** A surface that was read. */
export interface Surveyed extends Pick<Searched, "tree" | "places" | "processStart"> {
  readonly surface: Surface
}

export interface Seeing extends Searched, Surveyed {
  readonly window: SeenWindow
}

/**
 * Reads what a user could act on, once, and looks for matches. undefined: no window has the focus, or the window is
 * starting.
 */
export async function see(
  ctx: Context,
  choice: WindowChoice,
  find: Find,
  skipsSheets?: boolean,
): Promise<Seeing | undefined> {
  const window = await windowFor(ctx, choice)
  if (!window || isStarting(window)) return undefined
  requireContent(window)
  const popups = await ctx.adapter.popups(window.pid)
  const open = popups === 0 ? [] : await ctx.adapter.surfaces(window.pid)
  for (const surface of ["menu", "popover"] as const) {
    if (!open.some(({ type }) => type === surface)) continue
    const seen = await unlessClosed(seeIn(ctx, window, surface, find))
    // An open menu takes all input. A popup, such as a list of suggestions, leaves the rest of the window usable.
    if (seen && (surface === "menu" || seen.found.length > 0)) return seen
  }
  const seen = await seeIn(ctx, window, "window", find, skipsSheets)
  return choice.window_id === undefined ? seeOverDialog(ctx, seen, find) : seen
}

async function windowFor(ctx: Context, choice: WindowChoice): Promise<SeenWindow | undefined> {
  try {
    return await chooseWindow(ctx.adapter, choice, { orApp: true })
  } catch (error) {
    // Between two windows, none has the focus for a moment.
    const isNamed = choice.app !== undefined || choice.window_id !== undefined
    if (!isNamed && isOf(error, ["WINDOW_NOT_FOUND"])) return undefined
    throw error
  }
}

export async function seeIn(
  ctx: Context,
  window: SeenWindow,
  surface: Surface,
  find: Find,
  skipsSheets?: boolean,
): Promise<Seeing> {
  const seen = await look(ctx, window, { includeHidden: false, fits: () => false, surface, skipsSheets })
  const places = surface === "window" ? titled(window, seen) : seen.places
  return { ...seen, places, found: await find(inModal(places)), isBusy: false, window, surface }
}

/** The positions in a window, with the window's title: GTK 4 does not include window titles in its trees. */
export function titled(
  { title }: SeenWindow,
  { tree, places }: Pick<Searched, "tree" | "places">,
): readonly Position[] {
  const { root } = tree
  return root.name || title === "" ? places : [...walk({ ...root, name: title })]
}

/** A modal dialog inside the window leaves nothing else to act on. */
function inModal(places: readonly Position[]): readonly Position[] {
  const modal = places.findLast(
    ({ node, ancestors }) =>
      ancestors.length > 0 && hasTrait(node.role, "dialog") && node.states.includes("modal"),
  )
  return modal
    ? places.filter(({ node, ancestors }) => node === modal.node || ancestors.includes(modal.node))
    : places
}

/** The same look at the modal dialog that covers the window, if there is one. */
export async function seeOverDialog(ctx: Context, seen: Seeing, find: Find): Promise<Seeing> {
  const { tree, window } = seen
  const [root] = entriesFor(seen.places.slice(0, 1), [], refSource(tree, seen.processStart))
  const dialog = root && (await ctx.adapter.dialogOver(root, tree.reachedBy))
  if (!dialog || dialog.id === window.id) return seen
  const over = (await ctx.adapter.windows(dialog.id)).find(({ id }) => id === dialog.id)
  return over && over.accessible !== false ? seeIn(ctx, over, "window", find) : seen
}

export async function unlessClosed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isOf(error, ["ELEMENT_NOT_FOUND", "WINDOW_NOT_FOUND"])) return undefined
    throw error
  }
}

export const isOf = (error: unknown, codes: readonly ErrorCode[]): error is AppError =>
  error instanceof AppError && codes.includes(error.code)

/** Gives elements refs in the current map, after the existing ones. */
export async function refsFor(
  ctx: Context,
  { tree, places, processStart, surface }: Surveyed,
  chosen: readonly Position[],
): Promise<readonly string[]> {
  if (chosen.length === 0) return []
  const start = processStart ?? (await ctx.adapter.processStart(tree.pid))
  const source = refSource(tree, start)
  const entries: readonly RefEntry[] = entriesFor(
    chosen,
    places,
    surface === "window" ? { ...source, rootPath: [] } : source,
  )
  return ctx.refs.append(entries, undefined, source.reachedBy)
}
