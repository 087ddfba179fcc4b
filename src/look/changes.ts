import type { SeenTree, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Node, SurfaceInfo } from "../node.ts"
import { toNode, withoutBounds } from "../refs/allocate.ts"
import { lookUp, windowOf } from "../refs/resolve.ts"
import { type Position, walk } from "../tree.ts"
import { inTime, until } from "../until.ts"
import type { Watch } from "../watch.ts"
import { compact } from "./compact.ts"
import {
  type Baseline,
  type Difference,
  type DiffFlags,
  difference,
  loadMap,
  type Read,
  readBaseline,
} from "./compare.ts"
import type { ActionChanges, Closed, Opened, ShownWindow } from "./fit-changes.ts"
import { isSame } from "./search.ts"
import { appendRefs, PLAIN, readSurface, refSource, shownPart, treeOptions } from "./surface.ts"
import { chooseWindow } from "./windows.ts"

export interface ActChoice {
  readonly ref_id?: string
  readonly snapshot?: string
  readonly app?: string
  readonly window_id?: string
}

/** Runs an action. It may ask for another look at the window if it had to wait before it could start. */
export type Acting<T> = (lookAgain?: () => Promise<void>) => Promise<T>

/** A window is quiet if the app reports nothing for this long. The wait for that is limited, too. */
const QUIET_MS = 150
const RESTLESS_MS = 2000
/**
 * How long an app may take to show the first difference. Thunar, for example, closes its dialog only after a thread has
 * renamed the file.
 */
const FIRST_MS = 700
/** How long a window that has just opened may take to have a tree. */
const OPENING_MS = 300

/** Looks, acts, looks again until the app is quiet, and adds the differences to the result. */
export async function withChanges<T extends object>(
  ctx: Context,
  choice: ActChoice,
  act: Acting<T>,
): Promise<T & { readonly changes: ActionChanges }> {
  const place = await placeOf(ctx, choice)
  const opening = ctx.adapter.watch(place.pid === undefined ? undefined : [place.pid], {
    windows: true,
    ignoresMoves: true,
  })
  opening.catch(() => {})
  let before = await momentOf(ctx, place)
  const watch = await opening
  try {
    // Events up to now are not reactions. Some apps send events because they are being read.
    await watch.changed(0)
    const result = await act(async () => {
      before = await momentOf(ctx, place)
    })
    return { ...result, changes: await changesSince(ctx, watch, before) }
  } finally {
    await watch.close()
  }
}

/** The window that an action is meant for. */
interface ActedWindow {
  readonly pid?: number
  readonly window?: SeenWindow
  readonly map: Awaited<ReturnType<typeof loadMap>>
}

async function placeOf(ctx: Context, choice: ActChoice): Promise<ActedWindow> {
  const known =
    choice.ref_id === undefined ? undefined : await lookUp(ctx, { ...choice, ref_id: choice.ref_id })
  const map = await loadMap(ctx, known?.snapshotId)
  const window = known
    ? await windowOf(ctx.adapter, known.entry)
    : choice.app === undefined && choice.window_id === undefined
      ? (await ctx.adapter.windows("focused")).find(({ is_focused }) => is_focused)
      : await chooseWindow(ctx.adapter, choice)
  return { map, window, pid: known?.entry.pid ?? window?.pid }
}

/** The desktop at one moment. */
interface Moment {
  readonly place: ActedWindow
  readonly windows: readonly SeenWindow[]
  readonly base?: Baseline
  /** The reason why the window could not be read. */
  readonly reason?: string
  readonly popups: readonly SurfaceInfo[]
}

async function momentOf(ctx: Context, place: ActedWindow): Promise<Moment> {
  const { window, map, pid } = place
  const reading =
    window && window.accessible !== false
      ? inHalfTheTime(ctx, readBaseline(ctx, window, map))
      : Promise.resolve(undefined)
  const [windows, popups, base] = await Promise.all([
    ctx.adapter.windows(),
    popupsOf(ctx, pid),
    // The action does not depend on it: a window without a tree takes keys, too.
    reading.catch((error: unknown) => {
      if (error instanceof AppError) return error
      throw error
    }),
  ])
  return base instanceof AppError
    ? { place, windows, popups, reason: base.message }
    : { place, windows, popups, base }
}

/** The result, unless it takes more than half of the remaining time: the action needs the rest. */
function inHalfTheTime<T>(ctx: Context, work: Promise<T>): Promise<T> {
  // It may still be running, and fail later.
  work.catch(() => {})
  return inTime(work, ctx.deadline.remaining / 2, notReadInTime)
}

const notReadInTime = (): never => {
  throw new AppError("TIMEOUT", "The window could not be read in time before the action", {
    details: { kind: "baseline" },
  })
}

/**
 * Menus, popovers and dialogs of a process. Asks the app only if the screen shows one of its popups, or cannot be
 * checked.
 */
async function popupsOf(ctx: Context, pid: number | undefined): Promise<readonly SurfaceInfo[]> {
  if (pid === undefined || (await ctx.adapter.popups(pid)) === 0) return []
  return (await ctx.adapter.surfaces(pid)).filter(({ type }) => type === "menu" || type === "popover")
}

async function changesSince(ctx: Context, watch: Watch, before: Moment): Promise<ActionChanges> {
  try {
    const { after, isQuiet } = await lookUntilQuiet(ctx, watch, before)
    const changes = await compare(ctx, before, after)
    const { fitChanges } = await import("./fit-changes.ts")
    return fitChanges({ ...changes, ...(isQuiet ? {} : { settled: false }) }, ctx.format === "text")
  } catch (error) {
    // The action was delivered, even if the window cannot be read afterwards.
    if (error instanceof AppError) return { complete: false, reason: error.message }
    throw error
  }
}

/** The desktop after the action. */
interface After extends DesktopLook {
  /** The window of the action, if it still shows. */
  readonly window?: SeenWindow
  readonly read?: Read
}

interface DesktopLook extends Pick<Moment, "windows" | "popups"> {
  /** The nodes of the window; undefined if it was not read. */
  readonly places?: readonly Position[]
}

async function lookAfter(ctx: Context, { place, base }: Moment): Promise<After> {
  const [windows, popups] = await Promise.all([ctx.adapter.windows(), popupsOf(ctx, place.pid)])
  const window = windows.find(({ id }) => id === place.window?.id)
  const read = window && base ? await readSurface(ctx, window, PLAIN) : undefined
  return { windows, popups, window, read, places: read && [...walk(read.seen.root)] }
}

/** Looks until the app is quiet. An app that shows no difference yet gets more time. */
async function lookUntilQuiet(
  ctx: Context,
  watch: Watch,
  before: Moment,
): Promise<{ readonly after: After; readonly isQuiet: boolean }> {
  if (!ctx.patient) return { after: await lookAfter(ctx, before), isQuiet: false }
  const patience = ctx.deadline.slice(Math.min(FIRST_MS, ctx.deadline.remaining / 2))
  const start: DesktopLook = { ...before, places: before.base?.live }
  if (!(await watch.changed(0))) await watch.changed(Math.min(QUIET_MS, patience.remaining))
  for (;;) {
    const seen = await steadyLook(ctx, watch, before)
    if (!seen.isQuiet || patience.expired || !looksSame(start, seen.after)) return seen
    if (!(await watch.changed(patience.remaining))) return seen
  }
}

/**
 * Looks while listening, which costs no time. A look counts if the app has reported nothing since it started, or if the
 * previous look saw the same: some apps send events because they are being read.
 */
async function steadyLook(
  ctx: Context,
  watch: Watch,
  before: Moment,
): Promise<{ readonly after: After; readonly isQuiet: boolean }> {
  const bound = ctx.deadline.slice(Math.min(RESTLESS_MS, ctx.deadline.remaining / 2))
  let last: After | undefined
  while (!bound.expired) {
    // A window that closes or rebuilds itself may fail to be read.
    const looking = lookAfter(ctx, before).catch(unlessFailed)
    const [early, heard] = await Promise.all([looking, listen(watch, bound)])
    last = early ?? last
    if (heard === "restless") break
    if (early && heard === "silent" && !(await watch.changed(0))) return { after: early, isQuiet: true }
    const after = await lookAfter(ctx, before).catch(unlessFailed)
    const isSteady = after && early && looksSame(early, after)
    if (after && (!(await watch.changed(0)) || isSteady)) return { after, isQuiet: true }
    last = after ?? last
  }
  // For another look there may be no time left.
  const after = await lookAfter(ctx, before).catch((error: unknown) => unlessFailed(error) ?? last)
  if (!after) throw notReadAfter()
  return { after, isQuiet: false }
}

const notReadAfter = (): AppError =>
  new AppError("TIMEOUT", "The window could not be read in time after the action", {
    details: { kind: "changes" },
  })

function unlessFailed(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

function looksSame(one: DesktopLook, other: DesktopLook): boolean {
  return (
    isSameList(one.windows, other.windows) &&
    isSameList(one.popups, other.popups) &&
    (!one.places || !other.places || isSame(one.places, other.places))
  )
}

async function compare(ctx: Context, before: Moment, after: After): Promise<ActionChanges> {
  const { windows, popups, window, read } = after
  const seen = window && before.base ? await difference(ctx, window, before.base, WHOLE, read) : undefined
  const opened = await openedSince(ctx, before, after, seen)
  const isListed = ({ title }: SurfaceInfo): boolean =>
    seen?.changes.removed?.some(({ role, name }) => role === "menu" && name === title) ?? false
  const closed = [
    ...gone(before.windows, windows).map(shown),
    ...gone(before.popups, popups)
      .filter((one) => !isListed(one))
      .map(kindOf),
  ]
  const isIncomplete = seen?.complete === false || before.reason !== undefined
  return {
    ...(seen ? { snapshot_id: seen.snapshot_id, since: seen.since } : {}),
    ...seen?.changes,
    ...(opened.length ? { opened } : {}),
    ...(closed.length ? { closed } : {}),
    ...(isIncomplete ? { complete: false } : {}),
    ...(before.reason === undefined ? {} : { reason: before.reason }),
  }
}

const WHOLE: DiffFlags = { interactive_only: false, include_bounds: false }

const shown = ({ id, title, app_name }: SeenWindow): ShownWindow => ({ id, title, app_name })

const kindOf = ({ type, title }: SurfaceInfo): Closed => ({ type, ...(title ? { title } : {}) })

const isSameList = (list: Listed, other: Listed): boolean =>
  gone(list, other).length === 0 && gone(other, list).length === 0

type Listed = Parameters<typeof gone>[0]

/** The members of the first list that are not in the second. A menu has no id; its title identifies it. */
function gone<T extends { readonly id?: string; readonly title?: string; readonly type?: string }>(
  list: readonly T[],
  other: readonly T[],
): readonly T[] {
  const key = ({ type, id, title }: T): string => (type === undefined ? `${id}` : `${type} ${title ?? ""}`)
  const known = new Set(other.map(key))
  return list.filter((one) => !known.has(key(one)))
}

async function openedSince(
  ctx: Context,
  before: Moment,
  after: After,
  seen: Difference | undefined,
): Promise<readonly Opened[]> {
  const { pid } = before.place
  const snapshotId = before.base?.isAside ? before.base.id : undefined
  const opened: Opened[] = []
  for (const one of gone(after.windows, before.windows)) {
    const tree = one.pid === pid ? await treeOfWindow(ctx, one, snapshotId) : undefined
    opened.push({ ...shown(one), ...(tree ? { tree } : {}) })
  }
  const owner = after.window ?? after.windows.find((one) => one.pid === pid)
  for (const { type, ...one } of owner ? gone(after.popups, before.popups) : []) {
    const read =
      owner && (await unlessClosed(ctx.adapter.tree({ kind: "surface", window: owner, surface: type }, MENU)))
    // Some toolkits have the menu in the window's tree, where the comparison has already found it.
    if (!read || seen?.holds(read.root.address)) continue
    const start = await ctx.adapter.processStart(read.pid)
    const tree = await withRefsOf(ctx, read, refSource(read, start), snapshotId)
    opened.push({ type, ...one, tree })
  }
  return opened
}

const MENU = treeOptions(PLAIN)

/** undefined if the window shows no content. */
async function treeOfWindow(
  ctx: Context,
  window: SeenWindow,
  snapshotId: string | undefined,
): Promise<Node | undefined> {
  const look = async (): Promise<SeenWindow | undefined> => {
    const now = (await ctx.adapter.windows(window.id)).find(({ id }) => id === window.id)
    return now?.accessible === false ? undefined : now
  }
  const ready =
    window.accessible === false
      ? await until(ctx, look, { deadline: ctx.deadline.slice(OPENING_MS) })
      : window
  const read = ready && (await unlessClosed(readSurface(ctx, ready, PLAIN)))
  return read && withRefsOf(ctx, read.seen, read.source, snapshotId)
}

async function withRefsOf(
  ctx: Context,
  seen: SeenTree,
  source: Parameters<typeof appendRefs>[2],
  snapshotId: string | undefined,
): Promise<Node> {
  const part = shownPart(seen.root, PLAIN)
  const refOf = await appendRefs(ctx, seen.root, source, snapshotId, part.getsRef)
  return compact(withoutBounds(part.of(toNode(seen.root, refOf))))
}

/** undefined if the window or menu has closed in the meantime. */
async function unlessClosed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof AppError && CLOSED.has(error.code)) return undefined
    throw error
  }
}

const CLOSED: ReadonlySet<string> = new Set([
  "WINDOW_NOT_FOUND",
  "ELEMENT_NOT_FOUND",
  "PLATFORM_NOT_SUPPORTED",
])

/** True if the app became quiet in time. */
export async function untilQuiet(ctx: Context, watch: Watch, mostMs = RESTLESS_MS): Promise<boolean> {
  if (!ctx.patient) return false
  const deadline = ctx.deadline.slice(Math.min(mostMs, ctx.deadline.remaining / 2))
  return (await listen(watch, deadline)) !== "restless"
}

/** Listens until the app is quiet. `stirred`: it has reported something before. `restless`: the time was up. */
async function listen(watch: Watch, deadline: Deadline): Promise<"silent" | "stirred" | "restless"> {
  for (let stirs = 0; ; stirs++) {
    // A silence shorter than QUIET_MS proves nothing.
    if (deadline.remaining < QUIET_MS) return "restless"
    if (!(await watch.changed(QUIET_MS))) return stirs === 0 ? "silent" : "stirred"
  }
}
