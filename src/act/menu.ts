import { type SeenNode, type SeenWindow, WHOLE_TREE } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { isSameName } from "../look/description.ts"
import { refsFor, type Surveyed } from "../look/reachable.ts"
import { chooseWindow, type WindowChoice } from "../look/windows.ts"
import { hasTrait, type Surface, type SurfaceInfo } from "../node.ts"
import { quoted } from "../shown-text.ts"
import { isInteractive, type Position, walk, wordsOf } from "../tree.ts"
import { until } from "../until.ts"
import { actOnRef } from "./act.ts"
import type { ActionResult } from "./result.ts"

export interface Chosen extends Omit<ActionResult, "action"> {
  readonly action: "menu"
  /** The names of the items on the way, as the app shows them. */
  readonly path: readonly string[]
  /** The window that has the menu. */
  readonly window: Pick<SeenWindow, "id" | "title" | "app_name">
}

/** The window whose menu bar serves the chosen window: a dialog of an app uses the bar of its document. */
export async function menuWindow(ctx: Context, choice: WindowChoice): Promise<SeenWindow> {
  const window = await chooseWindow(ctx.adapter, choice, { orApp: true })
  return ownerOf(ctx, window, await survey(ctx, window, "menubar"))
}

async function ownerOf(ctx: Context, window: SeenWindow, bar: Surveyed | undefined): Promise<SeenWindow> {
  const id = bar?.tree.window.id ?? window.id
  if (id === window.id) return window
  return (await ctx.adapter.windows(id)).find((one) => one.id === id) ?? window
}

/**
 * Chooses a menu item by its path. An item of a closed menu is pressed without opening the menu, if the app has created
 * the item and accepts the press. Otherwise the menus are opened as a user would. No menu stays open, even on failure.
 */
export async function chooseFromMenu(
  ctx: Context,
  choice: WindowChoice,
  path: readonly string[],
): Promise<Chosen> {
  const window = await chooseWindow(ctx.adapter, choice, { orApp: true })
  const bar = await survey(ctx, window, "menubar", true)
  const owner = await ownerOf(ctx, window, bar)
  const { id, title, app_name } = owner
  return { ...(await choose(ctx, { ...window, owner: id }, bar, path)), window: { id, title, app_name } }
}

/** The choice without its place. */
type Choice = Omit<Chosen, "window">

/** The window that was chosen, and the one that has the menu bar. */
interface MenuWindow extends SeenWindow {
  readonly owner: string
}

async function choose(
  ctx: Context,
  window: MenuWindow,
  bar: Surveyed | undefined,
  path: readonly string[],
): Promise<Choice> {
  const closed = bar && wayDown(bar, path)
  const first = closed?.way[0]
  if (closed?.isWhole && bar) {
    const chosen = await pressClosed(ctx, bar, closed.way)
    if (chosen?.popup) await refuseMenu(ctx, window, path)
    if (chosen) return chosen
  }
  // A menu without items is filled when it opens. One that has items may lack this one: apps create some items only
  // then.
  if (bar && first) return open(ctx, window, path, bar, first)
  const content = await survey(ctx, window, "window")
  const openers = content ? await openersIn(ctx, window, content) : []
  const found = called(openers, path[0]!)
  if (content && found.length === 1) return open(ctx, window, path, content, found[0]!)
  if (content && found.length > 1) throw severalButtons(path[0]!, await refsFor(ctx, content, found))
  throw missing(path, 0, [...(bar ? itemsOf(bar, bar.places[0]!) : []), ...openers], window)
}

/** Presses an item that is not visible; undefined if that is impossible, and nothing was sent. */
async function pressClosed(
  ctx: Context,
  bar: Surveyed,
  way: readonly Position[],
): Promise<Choice | undefined> {
  const item = way.at(-1)!
  // Apps update the states of items when the menu opens.
  if (item.node.needsOpenMenu || item.node.states.includes("disabled") || itemsOf(bar, item).length > 0)
    return undefined
  try {
    return await press(ctx, bar, way, "semantic")
  } catch (error) {
    const isUnsent = error instanceof AppError && error.disposition?.delivery === "not_delivered"
    if (isUnsent && UNREACHED.has(error.code)) return undefined
    throw error
  }
}

/** Error codes of an item that cannot be pressed while its menu is closed. */
const UNREACHED: ReadonlySet<string> = new Set(["ACTION_NOT_SUPPORTED", "ACTION_FAILED", "STALE_REF"])

async function press(
  ctx: Context,
  seen: Surveyed,
  way: readonly Position[],
  input: "auto" | "semantic",
): Promise<Choice> {
  const [ref_id] = await refsFor(ctx, seen, [way.at(-1)!])
  const result = await actOnRef(ctx, { ref_id: ref_id!, input }, { kind: "click" })
  return { ...result, action: "menu", path: way.map(({ node }) => wordsOf(node) ?? "") }
}

/** Opens one menu after the other, and presses the last item. */
async function open(
  ctx: Context,
  window: MenuWindow,
  path: readonly string[],
  start: Surveyed,
  first: Position,
): Promise<Choice> {
  const before = await closeOwn(ctx, window, path)
  let isChosen = false
  const isOpen = async (): Promise<boolean> =>
    (await openPopups(ctx, window)).length > before &&
    // The item itself may have opened a popup, which stays.
    (!isChosen || (await isShown(ctx, window, path)))
  // Reserves time to close the menus.
  const working = { ...ctx, deadline: ctx.deadline.sparing(CLOSING_MS, 1 / 3) }
  try {
    const opened = await press(working, start, [first], "auto")
    if (path.length === 1) {
      const seen = await openMenu(working, window)
      if (seen) throw isMenu(path, seen, seen.places[0]!)
      return opened
    }
    let names: readonly string[] = [wordsOf(first.node) ?? path[0]!]
    for (let depth = 1; ; depth++) {
      const { seen, way, isLast } = await whenOpen(working, window, path, depth)
      const item = way.at(-1)!
      // From the menu itself, or from the menu that the item before it has opened.
      names = [...names.slice(0, way.length > 1 ? 1 : depth), ...way.map(({ node }) => wordsOf(node) ?? "")]
      if (isLast && itemsOf(seen, item).length > 0) throw isMenu(path, seen, item)
      if (item.node.states.includes("disabled")) throw disabled(path, depth)
      const chosen = await press(working, seen, way, "auto")
      if (isLast && chosen.popup) await refuseMenu(working, window, path)
      isChosen = isLast
      if (isLast) return { ...chosen, path: names }
    }
  } finally {
    await closeMenus(ctx, window, path.length, isOpen)
  }
}

/** Closes the menu again, and fails, if the last name of the path is a menu that had no items before it opened. */
async function refuseMenu(ctx: Context, window: MenuWindow, path: readonly string[]): Promise<void> {
  const isBar = path.length === 1
  const seen = await (isBar ? survey(ctx, window, "menu") : openMenu(ctx, window))
  const down = seen && wayDown(seen, path.slice(1))
  const item = isBar ? seen?.places[0] : down?.way.at(-1)
  if (!seen || !down?.isWhole || !item || itemsOf(seen, item).length === 0) return
  await closeMenus(ctx, window, path.length, async () =>
    isBar ? (await openPopups(ctx, window)).length > 0 : isShown(ctx, window, path),
  )
  throw isMenu(path, seen, item)
}

/** How long a menu may take to open and to fill. */
const OPEN_MS = 2000
/** How long a menu may take to close by itself, and all of them to be closed. */
const CLOSE_MS = 500
const CLOSING_MS = 2000

/**
 * Waits until the open menu shows the item at this depth of the path, or its last item: some appear directly in their
 * menu.
 */
async function whenOpen(
  ctx: Context,
  window: SeenWindow,
  path: readonly string[],
  depth: number,
): Promise<{ readonly seen: Surveyed; readonly way: readonly Position[]; readonly isLast: boolean }> {
  const isLast = depth === path.length - 1
  const wanted = path.slice(1, depth + 1)
  let last: Surveyed | undefined
  const found = await until(
    ctx,
    async () => {
      last = (await openMenu(ctx, window)) ?? last
      const down = last && wayDown(last, wanted)
      if (last && down?.isWhole) {
        const whole = isLast ? down : wayDown(last, path.slice(1))
        return whole.isWhole
          ? { seen: last, way: whole.way, isLast: true }
          : { seen: last, way: down.way, isLast }
      }
      // Some apps show each submenu as a separate menu.
      const alone = last && depth > 1 ? wayDown(last, wanted.slice(-1)) : undefined
      return last && alone?.isWhole ? { seen: last, way: alone.way, isLast } : undefined
    },
    { pids: [window.pid], deadline: ctx.deadline.slice(OPEN_MS) },
  )
  if (found) return found
  if (!last) throw notOpened(path, depth)
  const { way } = wayDown(last, wanted)
  throw missing(path, way.length + 1, itemsOf(last, way.at(-1) ?? last.places[0]!), window)
}

const openMenu = async (ctx: Context, window: SeenWindow): Promise<Surveyed | undefined> =>
  (await survey(ctx, window, "menu")) ?? survey(ctx, window, "popover")

/**
 * Closes the menu that is open before the first press, which would only close it. Returns the number of popups that
 * stay: this command leaves others alone, such as a tip that lasts.
 */
async function closeOwn(ctx: Context, window: MenuWindow, path: readonly string[]): Promise<number> {
  const open = await openPopups(ctx, window)
  const isMenu = open.some(({ type }) => type === "menu")
  if (isMenu || (open.length > 0 && (await isShown(ctx, window, path))))
    await closeMenus(
      ctx,
      window,
      path.length,
      async () => (await openPopups(ctx, window)).length >= open.length,
    )
  return (await openPopups(ctx, window)).length
}

/** True if an open menu or popup shows an item of the path. */
async function isShown(ctx: Context, window: SeenWindow, path: readonly string[]): Promise<boolean> {
  const seen = await openMenu(ctx, window)
  return path
    .slice(1)
    .some((name) => called(seen?.places.filter(({ node }) => isItem(node)) ?? [], name).length > 0)
}

/** Closes menus, with one key for each. A menu that a choice has closed needs none. */
async function closeMenus(
  ctx: Context,
  window: MenuWindow,
  most: number,
  isOpen: () => Promise<boolean>,
): Promise<void> {
  const closes = (): Promise<true | undefined> =>
    until(ctx, async () => ((await isOpen()) ? undefined : true), {
      pids: [window.pid],
      deadline: ctx.deadline.slice(CLOSE_MS),
    })
  try {
    for (let i = 0; i <= most; i++) {
      if (!(await isOpen()) || (await closes())) return
      // An open menu leaves the focus where it was, or gives it to the window of its bar. A dialog that the item has
      // opened must not get the key.
      const focused = await ctx.adapter.windows("focused")
      const owner = focused.find((one) => one.id === window.owner && one.is_focused)
      await ctx.adapter.input({
        kind: "key",
        combo: { modifiers: [], key: "escape" },
        phase: "press",
        window: owner ?? window,
      })
    }
    await closes()
  } catch (error) {
    // The choice counts, and its own error is more helpful.
    if (!(error instanceof AppError)) throw error
  }
}

async function openPopups(ctx: Context, { pid }: SeenWindow): Promise<readonly SurfaceInfo[]> {
  if ((await ctx.adapter.popups(pid)) === 0) return []
  return (await ctx.adapter.surfaces(pid)).filter(({ type }) => type === "menu" || type === "popover")
}

/** Reads a surface; undefined if there is none. */
async function survey(
  ctx: Context,
  window: SeenWindow,
  surface: Surface,
  includeHidden = false,
): Promise<Surveyed | undefined> {
  try {
    const tree = await ctx.adapter.tree(
      { kind: "surface", window, surface },
      { ...WHOLE_TREE, includeHidden },
    )
    return { tree, places: [...walk(tree.root)], surface }
  } catch (error) {
    if (error instanceof AppError && error.code === "ELEMENT_NOT_FOUND") return undefined
    throw error
  }
}

interface Way {
  /** The items found so far, starting with the first name. */
  readonly way: readonly Position[]
  readonly isWhole: boolean
}

/** Follows the names of a path down a tree. Throws if a name matches several items of one menu. */
function wayDown(seen: Surveyed, path: readonly string[]): Way {
  const way: Position[] = []
  for (const [depth, name] of path.entries()) {
    const found = called(itemsOf(seen, way.at(-1) ?? seen.places[0]!), name)
    const [only, ...others] = found
    if (others.length > 0) throw several(path, depth, found)
    if (!only) return { way, isWhole: false }
    way.push(only)
  }
  return { way, isWhole: true }
}

/** Items with this name; exact matches win. */
function called(items: readonly Position[], name: string): readonly Position[] {
  const same = items.filter(({ node }) => isSameName(node.role, wordsOf(node) ?? "", name))
  const exact = same.filter(({ node }) => wordsOf(node) === name)
  return exact.length > 0 ? exact : same
}

/** The items directly in a menu: not those of the menus inside it. */
function itemsOf({ places }: Surveyed, { node: menu }: Position): readonly Position[] {
  return places.filter(({ node, ancestors }) => {
    const at = ancestors.indexOf(menu)
    return at >= 0 && isItem(node) && !ancestors.slice(at + 1).some(isItem)
  })
}

/** In a popup that an app calls a menu, buttons and check boxes are items, too. */
const isItem = (node: SeenNode): boolean =>
  wordsOf(node) !== undefined && isInteractive(node) && !hasTrait(node.role, "surface")

/** Elements of the window that open a menu. */
async function openersIn(
  ctx: Context,
  window: SeenWindow,
  { places }: Surveyed,
): Promise<readonly Position[]> {
  const openers = new Set(await ctx.adapter.popoverOpeners(window))
  return places.filter(
    ({ node }) =>
      node.role === "menubutton" ||
      node.states.includes("haspopup") ||
      (node.address !== undefined && openers.has(node.address)),
  )
}

const MOST_NAMES = 50

const namesOf = (items: readonly Position[]): readonly string[] =>
  [...new Set(items.flatMap(({ node }) => wordsOf(node) ?? []))].slice(0, MOST_NAMES)

const shown = (path: readonly string[], depth: number): string =>
  depth === 0 ? "the menu bar" : quoted(path.slice(0, depth).join(" > "))

function missing(
  path: readonly string[],
  depth: number,
  items: readonly Position[],
  { id }: SeenWindow,
): AppError {
  const names = namesOf(items)
  return new AppError(
    "ELEMENT_NOT_FOUND",
    `There is no ${quoted(path[depth] ?? "")} in ${shown(path, depth)}`,
    {
      suggestion:
        names.length > 0
          ? "Use one of details.candidates in its place"
          : `Window ${id} shows no menus: use 'press' with a shortcut, or look with 'snapshot -i'`,
      details: { kind: "menu", candidates: names },
      disposition: NOTHING_DELIVERED,
    },
  )
}

function several(path: readonly string[], depth: number, items: readonly Position[]): AppError {
  return new AppError(
    "AMBIGUOUS_TARGET",
    `${items.length} items of ${shown(path, depth)} are called ${quoted(path[depth] ?? "")}`,
    {
      suggestion: "Open the menu with 'click', then click the item by its ref",
      details: { kind: "menu", candidates: namesOf(items) },
      disposition: NOTHING_DELIVERED,
    },
  )
}

const severalButtons = (name: string, refs: readonly string[]): AppError =>
  new AppError("AMBIGUOUS_TARGET", `${refs.length} menu buttons are called ${quoted(name)}`, {
    suggestion: `Click the one you mean (${refs.join(", ")}): the answer has its items with refs`,
    details: { kind: "menu", candidates: refs },
    disposition: NOTHING_DELIVERED,
  })

const isMenu = (path: readonly string[], seen: Surveyed, item: Position): AppError =>
  new AppError("ELEMENT_NOT_FOUND", `${quoted(path.join(" > "))} is a menu, not an item`, {
    suggestion: "Add one of details.candidates to the path",
    details: { kind: "menu", candidates: namesOf(itemsOf(seen, item)) },
    disposition: NOTHING_DELIVERED,
  })

const disabled = (path: readonly string[], depth: number): AppError =>
  new AppError("ACTION_FAILED", `${shown(path, depth + 1)} is disabled`, {
    suggestion: "Do what it needs first, such as a selection; 'snapshot -i' shows the window",
    details: { kind: "not_actionable", reason: "disabled" },
    disposition: NOTHING_DELIVERED,
  })

const notOpened = (path: readonly string[], depth: number): AppError =>
  new AppError("ACTION_FAILED", `${shown(path, depth)} was pressed, but no menu opened`, {
    suggestion: "Look with 'snapshot --surface menu', or use 'press' with a shortcut",
    details: { kind: "menu" },
    disposition: { delivery: "delivered_unverified", retry: "unknown" },
  })
