import type { SeenNode, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Deadline } from "../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { hasTrait, isList, type WindowInfo } from "../node.ts"
import { cut, FOCUSED, type RefEntry } from "../refmap.ts"
import { lookUp, type RefChoice } from "../refs/resolve.ts"
import { quoted } from "../shown-text.ts"
import { isInteractive, nameAndValue, type Position } from "../tree.ts"
import { until } from "../until.ts"
import { type Description, parseDescription } from "./description.ts"
import { matching, nearMisses, surroundingsOf } from "./matching.ts"
import { isSheetCell } from "./printed-rows.ts"
import {
  type Find,
  isOf,
  refsFor,
  type Seeing,
  see,
  seeIn,
  seeOverDialog,
  unlessClosed,
} from "./reachable.ts"
import { rowsIn } from "./rows.ts"
import { type Gaps, gapsOf } from "./search.ts"
import { addressIn, isOutsideSheets, seeCell, seeFocusedCell } from "./sheet-cell.ts"
import { chooseWindow, noWindowHasFocus, type WindowChoice, windowsOfApp } from "./windows.ts"

/** Turns a caller's words into a ref: the only matching element among those that a user could act on now. */

export interface FoundTarget {
  /** In the current map. When a command acts, it proves the ref like any other. */
  readonly ref_id: string
  readonly window: Pick<WindowInfo, "id" | "title" | "app_name">
  /** Parts of the window that were not searched, if another match may be there. */
  readonly unsearched?: Gaps["unsearched"]
}

/**
 * Finds the one element that a description or `@focused` names. If there is none, waits for it. Fails with
 * ELEMENT_NOT_FOUND if none appears, with AMBIGUOUS_TARGET if several match, and with TIMEOUT if the window could not
 * be read completely: an unread element may match as well.
 */
export async function findTarget(
  ctx: Context,
  target: string,
  choice: WindowChoice,
  reveal?: Reveal,
): Promise<FoundTarget> {
  const isFocus = target === FOCUSED
  const description = isFocus ? undefined : parseDescription(target)
  const find = description ? describedInRows(ctx, description) : focusIn
  const { found, last, silence, revealed } = await lookUntilFound(ctx, { choice, description, find, reveal })
  if (!found)
    throw last
      ? await missing(ctx, target, last, isFocus)
      : (silence ?? noWindowHasFocus({ disposition: NOTHING_DELIVERED }))
  const [only, ...others] = found.found
  if (!only || others.length > 0) throw await ambiguous(ctx, target, found)
  if (ctx.isFlow && !isFocus && choice.window_id === undefined) await refuseTwins(ctx, target, found, find)
  const [ref] = await refsFor(ctx, found, [only])
  // The address of a cell is one of a kind.
  const isSure = revealed === "only" || isSheetCell(only.node)
  const gaps = !isSure && mayHide(found, only, isFocus) ? await gapsOf(ctx, found) : undefined
  return {
    ref_id: ref!,
    window: shownWindow(found.window),
    ...(gaps ? { unsearched: gaps.unsearched } : {}),
  }
}

/** A search for one element. */
interface Quest {
  readonly choice: WindowChoice
  /** Absent: the element with the focus. */
  readonly description?: Description
  readonly find: Find
  readonly reveal?: Reveal
}

/** The outcome of repeated looks. */
interface Looked {
  /** A look that saw everything and a match; for the focus, several only at the end. Absent: the time is up. */
  found?: Seeing
  /** The last look that saw a window; rather one that saw all of it. */
  last?: Seeing
  /** The reason why a look saw no window. */
  silence?: AppError
  /** Set if a row had to be brought into view. */
  revealed?: Revealed
}

/** Looks until something matches. Brings a row that is out of view into view, but only once. */
async function lookUntilFound(ctx: Context, quest: Quest): Promise<Looked> {
  const { choice, description, find, reveal } = quest
  const looked: Looked = {}
  let hasRevealed = false
  let several: Seeing | undefined
  const look = async (): Promise<Seeing | undefined> => {
    try {
      return await (description
        ? see(ctx, choice, find, isOutsideSheets(description))
        : seeFocus(ctx, choice))
    } catch (error) {
      looked.silence = silenceIn(ctx, error)
      return undefined
    }
  }
  const lookFurther = async (): Promise<Seeing | undefined> => {
    const seen = await look()
    // A page loses the focus a moment after the toolbar of its browser has got it.
    if (!description && seen && seen.found.length > 1) {
      several = ifFound(seen) ?? several
      return undefined
    }
    if (seen) several = undefined
    // The last look may have had too little time to see everything.
    if (seen?.tree.complete || !looked.last?.tree.complete) looked.last = seen ?? looked.last
    const isMissing = seen?.tree.complete && seen.found.length === 0
    if (!isMissing || !description || hasRevealed) return ifFound(seen)
    // A sheet has a million rows to scroll through, and knows each cell by its address.
    const address = addressIn(seen, description)
    if (address !== undefined) return seeCell(ctx, seen, address, find)
    if (!reveal || !(await ctx.adapter.caughtUp(seen.window))) return undefined
    hasRevealed = true
    looked.revealed = await revealIn(ctx, seen, description, reveal)
    return looked.revealed && ifFound(await look())
  }
  const deadline = description ? appearBy(ctx) : ctx.deadline.slice(FOCUS_MS)
  looked.found = (await until(ctx, lookFurther, { deadline })) ?? several
  return looked
}

const ifFound = (seen: Seeing | undefined): Seeing | undefined =>
  seen?.tree.complete && seen.found.length > 0 ? seen : undefined

/** Looks for the element with the focus. All cells of a sheet are asked only if it is not known which one has it. */
async function seeFocus(ctx: Context, choice: WindowChoice): Promise<Seeing | undefined> {
  const seen = await see(ctx, choice, focusIn, true)
  return seen && ((await seeFocusedCell(ctx, seen, focusIn)) ?? see(ctx, choice, focusIn))
}

/** Throws if the element of a ref is not in the app or window that the caller also named. */
export async function requirePlace(ctx: Context, choice: RefChoice & WindowChoice): Promise<void> {
  const { ref, entry } = await lookUp(ctx, choice)
  const { app, window_id } = choice
  const isThere =
    window_id === undefined
      ? windowsOfApp(await ctx.adapter.windows({ app: app ?? "", orApp: true }), app ?? "").some(
          ({ id, pid }) => id === entry.window_id || pid === entry.pid,
        )
      : isIn(entry, await chooseWindow(ctx.adapter, choice, { orApp: true }))
  if (isThere) return
  const owner = entry.source_app === undefined ? "" : ` of ${quoted(entry.source_app)}`
  throw new AppError(
    "INVALID_ARGS",
    `${ref} is in window ${entry.window_id ?? "?"}${owner}, and not in ${window_id ?? quoted(app ?? "")}`,
    {
      suggestion: "Leave out --app and --window-id, since a ref names its window; or describe the element",
      details: { argument: window_id === undefined ? "app" : "window_id" },
      disposition: NOTHING_DELIVERED,
    },
  )
}

/** A menu's id is not that of its window. */
const isIn = (entry: RefEntry, { id, pid }: SeenWindow): boolean =>
  entry.window_id === id || (entry.pid === pid && !entry.window_id?.startsWith("w-"))

/** Throws AMBIGUOUS_TARGET if an element in another window of the app matches, too, and a user could act on it now. */
async function refuseTwins(ctx: Context, target: string, seen: Seeing, find: Find): Promise<void> {
  const { id, pid } = seen.window
  for (const window of await ctx.adapter.windows({ pid })) {
    if (window.pid !== pid || window.id === id || window.accessible === false) continue
    const other = await unlessClosed(seeIn(ctx, window, "window", find))
    const isBehind = other && (await seeOverDialog(ctx, other, find)) !== other
    if (other?.found.length && !isBehind)
      throw new AppError(
        "AMBIGUOUS_TARGET",
        `${target} matches in ${placeOf(seen)} and in ${placeOf(other)}`,
        {
          suggestion: 'Close the other window, or say which one: in dialog "NAME"',
          details: { windows: [seen.window, window].map(shownWindow) },
          disposition: NOTHING_DELIVERED,
        },
      )
  }
}

/**
 * An app that is too busy to report its name may do so later. In a flow, which may run right after an app starts, a
 * window without a tree may get one. Throws any other failure.
 */
function silenceIn({ isFlow }: Context, error: unknown): AppError {
  if (isOf(error, ["APP_NOT_FOUND"]) && error.details?.certain === false) return error
  if (isFlow && isOf(error, ["PLATFORM_NOT_SUPPORTED"])) return error
  throw error
}

/** The outcome of one look. */
export type Sought =
  | { readonly kind: "one"; readonly ref_id: string }
  | { readonly kind: "several"; readonly error: AppError }
  /** `gaps`: parts of the window that were not searched. */
  | { readonly kind: "none"; readonly gaps?: Gaps }
  /** The window is not ready, could not be read completely, or its app is busy. */
  | { readonly kind: "unsure" }

/** Looks once for the element that a description or `@focused` names. */
export async function seekTarget(ctx: Context, target: string, choice: WindowChoice): Promise<Sought> {
  const seen =
    target === FOCUSED
      ? await seeFocus(ctx, choice)
      : await see(ctx, choice, describedInRows(ctx, parseDescription(target)))
  if (!seen?.tree.complete) return { kind: "unsure" }
  const [only, ...others] = seen.found
  if (others.length > 0) return { kind: "several", error: await ambiguous(ctx, target, seen) }
  if (only) return { kind: "one", ref_id: (await refsFor(ctx, seen, [only]))[0]! }
  if (!(await ctx.adapter.caughtUp(seen.window))) return { kind: "unsure" }
  return { kind: "none", gaps: await gapsOf(ctx, seen) }
}

/** How long the focus may take to arrive. */
const FOCUS_MS = 500
/** How long an element may take to appear, unless the caller says how long the command may take. */
const APPEAR_MS = 5000
/** Time reserved for the command itself. */
const ACT_MS = 1000

const appearBy = ({ deadline, isTimed }: Context): Deadline =>
  (isTimed ? deadline : deadline.slice(APPEAR_MS)).sparing(ACT_MS, 1 / 5)

/** The matching elements. On platforms that list cells without rows, rows are added. */
export const describedInRows =
  (ctx: Context, description: Description): Find =>
  async (places) => {
    if (!description.within.some(({ name }) => name !== undefined)) return matching(places, description)
    const { inTheirRows } = await import("./places-in-rows.ts")
    const found = new Set(matching(await inTheirRows(ctx, places), description).map(({ node }) => node))
    return places.filter(({ node }) => found.has(node))
  }

/** Brings the row of a list that shows a text into view. `only`: all rows were searched. undefined: there is none. */
export type Reveal = (list: string, text: string) => Promise<Revealed | undefined>
export type Revealed = "only" | "first"

/**
 * Searches lists that do not have objects for all rows, for the row that a description names: the element itself if it
 * is a row or cell, otherwise the container that it is in.
 */
async function revealIn(
  ctx: Context,
  seen: Seeing,
  { role, name, within }: Description,
  reveal: Reveal,
): Promise<Revealed | undefined> {
  const isItem = role !== undefined && hasTrait(role, "item")
  const names = [...(isItem ? [name] : []), ...within.map((holder) => holder.name)].flatMap(
    (one) => one ?? [],
  )
  if (names.length === 0) return undefined
  const lists = await unmadeLists(ctx, seen)
  if (lists.length === 0) return undefined
  const refs = await refsFor(ctx, seen, lists.slice(0, MOST_LISTS))
  for (const text of names) {
    for (const ref of refs) {
      const revealed = await reveal(ref, text)
      if (revealed) return revealed
    }
  }
  return undefined
}

/** Lists that do not have objects for all rows. A page's list may only count its rows, with aria-rowcount. */
async function unmadeLists(ctx: Context, { places }: Seeing): Promise<readonly Position[]> {
  const lists = places.filter(({ node }) => isList(node))
  const isUnmade = await Promise.all(
    lists.map(async ({ node }) => {
      if ((node.children_count ?? 0) > node.children.length) return true
      const grid = await ctx.adapter.grid(node.handle)
      return grid?.kind === "tree" && (grid.rowCount ?? 0) > rowsIn(node).rows.length
    }),
  )
  const found = lists.filter((_, at) => isUnmade[at])
  return found.filter(({ ancestors }) => !found.some(({ node }) => ancestors.includes(node)))
}

const MOST_LISTS = 3

/** The element that gets the keys: one for each part of the window that claims them. */
export const focusIn = (places: readonly Position[]): readonly Position[] => {
  const focused = places.filter(
    ({ node, ancestors }) => ancestors.length > 0 && node.states.includes("focused"),
  )
  const outermost = focused.filter(({ ancestors }) => !focused.some(({ node }) => ancestors.includes(node)))
  return outermost.map((outer) =>
    focused
      .filter(({ ancestors }) => ancestors.includes(outer.node))
      .reduce((found, inner) => {
        // GTK 4 puts a nameless field into its fields, and Qt a nameless group into its editors.
        const isPart = hasTrait(inner.node.role, "wrapper") || found.node.name
        return inner.node.name || !isPart ? inner : found
      }, outer),
  )
}

/** True if another match may be in a part of the tree that was not read, such as rows out of view. */
function mayHide({ places }: Seeing, { node, ancestors }: Position, isFocus: boolean): boolean {
  if (isFocus) return false
  const holes = places.filter((place) => (place.node.children_count ?? 0) > place.node.children.length)
  return hasTrait(node.role, "item") ? holes.length > 0 : holes.some((hole) => ancestors.includes(hole.node))
}

const shownWindow = ({ id, title, app_name }: SeenWindow): FoundTarget["window"] => ({ id, title, app_name })

const MOST_CANDIDATES = 10
const MOST_NEAR = 5

async function candidatesOf(
  ctx: Context,
  seen: Seeing,
  chosen: readonly Position[],
): Promise<readonly object[]> {
  const refs = await refsFor(ctx, seen, chosen)
  return chosen.map((place, i) => {
    const around = surroundingsOf(place)
    const name = nameOf(place.node)
    return {
      ref_id: refs[i],
      role: place.node.role,
      ...(name === undefined ? {} : { name: cut(name, 200) }),
      ...(around === undefined ? {} : { in: cut(around, 200) }),
    }
  })
}

function nameOf(node: SeenNode): string | undefined {
  const { name, value } = nameAndValue(node)
  return name ?? (isInteractive(node) ? undefined : value)
}

async function ambiguous(ctx: Context, target: string, seen: Seeing): Promise<AppError> {
  const { found } = seen
  return new AppError("AMBIGUOUS_TARGET", `${found.length} elements match ${target} in ${placeOf(seen)}`, {
    suggestion:
      'Use the ref of a candidate; or name its container, as in \'button "Delete" in "NAME"\'; or which one, with nth 2',
    details: {
      count: found.length,
      candidates: await candidatesOf(ctx, seen, found.slice(0, MOST_CANDIDATES)),
    },
    disposition: NOTHING_DELIVERED,
  })
}

async function missing(ctx: Context, target: string, seen: Seeing, isFocus: boolean): Promise<AppError> {
  const text = isFocus ? undefined : rowTextOf(parseDescription(target))
  const gaps = await gapsOf(ctx, { ...seen, found: [] }, text)
  if (!seen.tree.complete)
    return new AppError("TIMEOUT", `${placeOf(seen)} could not be searched completely for ${target}`, {
      suggestion: "Retry with a longer --timeout-ms, or use the ref of a 'snapshot'",
      details: { kind: "search", ...gaps },
      disposition: NOTHING_DELIVERED,
    })
  if (isFocus)
    return new AppError("ELEMENT_NOT_FOUND", `No element of ${placeOf(seen)} reports the keyboard focus`, {
      suggestion:
        "Give it to one with 'focus'; 'press' and 'type @focused' reach the focused window in any case",
      details: { kind: "no_focus", window: shownWindow(seen.window) },
      disposition: NOTHING_DELIVERED,
    })
  const address = addressIn(seen, parseDescription(target))
  const { id } = seen.window
  if (address)
    return new AppError("ELEMENT_NOT_FOUND", `No sheet in ${placeOf(seen)} has a cell ${address}`, {
      suggestion: `See how large it is: agent-desktop table --rows 1 --window-id ${id}`,
      details: { kind: "no_such_cell", window: shownWindow(seen.window) },
      disposition: NOTHING_DELIVERED,
    })
  const near = nearMisses(seen.places, parseDescription(target), MOST_NEAR)
  const candidates = await candidatesOf(ctx, seen, near)
  const isMenu = seen.surface === "menu"
  const [canvas] = await refsFor(
    ctx,
    seen,
    seen.places.filter(({ node }) => node.role === "canvas").slice(0, 1),
  )
  return new AppError("ELEMENT_NOT_FOUND", `Nothing matches ${target} in ${placeOf(seen)}`, {
    suggestion: isMenu
      ? "Choose an item of the open menu, or close it: agent-desktop press escape"
      : candidates.length > 0
        ? "Use one of details.candidates, or look with 'snapshot -i'; --app and --window-id choose another window"
        : canvas
          ? `It may be in ${canvas}, a canvas, whose content is in no tree: look with 'screenshot --window-id ${id}', then use 'mouse-click --xy X,Y', or 'focus ${canvas}' and 'press'`
          : (gaps?.unsearched.suggestion ??
            "Look with 'snapshot -i'; --app and --window-id choose another window"),
    details: {
      window: shownWindow(seen.window),
      ...(candidates.length > 0 ? { candidates } : {}),
      ...gaps,
    },
    disposition: NOTHING_DELIVERED,
  })
}

/** The text of the row that a description names. */
const rowTextOf = ({ name, within }: Description): string | undefined =>
  within.find((holder) => holder.name !== undefined)?.name ?? name

function placeOf({ surface, window }: Seeing): string {
  const name = `window ${window.id} ${quoted(cut(window.title, 80))} of ${quoted(window.app_name)}`
  return surface === "window" ? name : `the open ${surface} of ${name}`
}
