import type { SeenWindow, Watch } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { SurfaceInfo } from "../node.ts"
import { lookUp, windowOf } from "../refs/resolve.ts"
import { type Base, type DiffFlags, difference, keptTree, loadMap, look } from "./compare.ts"
import type { Changes } from "./diff.ts"
import { chooseWindow } from "./windows.ts"

/** What an acting command adds to its result. */
export interface ActionChanges extends Changes {
  readonly snapshot_id?: string
  readonly since?: string
  readonly opened?: readonly ShownWindow[]
  readonly closed?: readonly ShownWindow[]
  /** Menus and dialogs that are open now, to be had by `--surface`. */
  readonly surfaces?: readonly SurfaceInfo[]
  /** false: it was still changing when this was read. */
  readonly settled?: boolean
  readonly complete?: boolean
  /** Why it could not be read. */
  readonly reason?: string
}

type ShownWindow = Pick<SeenWindow, "id" | "title" | "app_name">

export interface ActChoice {
  readonly ref_id?: string
  readonly snapshot?: string
  readonly app?: string
}

/** How long nothing must be announced for a window to be quiet, and how long that is waited for. */
const QUIET_MS = 150
const RESTLESS_MS = 2000

/** Acts, waits until nothing more happens, and adds what is different from the snapshot to the result. */
export async function withChanges<T extends object>(
  ctx: Context,
  choice: ActChoice,
  act: () => Promise<T>,
): Promise<T & { readonly changes: ActionChanges }> {
  const before = await ctx.adapter.windows()
  const { window, base, pid } = await baseFor(ctx, choice, before)
  const watch = await ctx.adapter.watch(pid === undefined ? undefined : [pid])
  try {
    const result = await act()
    return { ...result, changes: await changesAfter(ctx, watch, before, window, base) }
  } finally {
    await watch.close()
  }
}

async function changesAfter(
  ctx: Context,
  watch: Watch,
  before: readonly SeenWindow[],
  window: SeenWindow | undefined,
  base: Base | undefined,
): Promise<ActionChanges> {
  try {
    const settled = await untilQuiet(ctx, watch)
    const after = await ctx.adapter.windows()
    const opened = after.filter((one) => !before.some(({ id }) => id === one.id)).map(shown)
    const closed = before.filter((one) => !after.some(({ id }) => id === one.id)).map(shown)
    const now = after.find(({ id }) => id === window?.id)
    const seen = now && base ? await difference(ctx, now, base, WHOLE) : undefined
    const surfaces = now ? (await ctx.adapter.surfaces(now.pid)).filter(isPassing) : []
    return {
      ...(seen ? { snapshot_id: seen.snapshot_id, since: seen.since } : {}),
      ...seen?.changes,
      ...(opened.length ? { opened } : {}),
      ...(closed.length ? { closed } : {}),
      ...(surfaces.length ? { surfaces } : {}),
      ...(settled ? {} : { settled }),
      ...(seen?.complete === false ? { complete: false } : {}),
    }
  } catch (error) {
    // What was done is done, whatever became of the look at it.
    if (error instanceof AppError) return { complete: false, reason: error.message }
    throw error
  }
}

const WHOLE: DiffFlags = { interactive_only: false, include_bounds: false }

const shown = ({ id, title, app_name }: SeenWindow): ShownWindow => ({ id, title, app_name })

const isPassing = ({ type }: SurfaceInfo): boolean =>
  type === "menu" || type === "sheet" || type === "popover" || type === "alert"

/** Whether it came to rest in time. */
async function untilQuiet(ctx: Context, watch: Watch): Promise<boolean> {
  if (!ctx.patient) return false
  const deadline = ctx.deadline.slice(Math.min(RESTLESS_MS, ctx.deadline.remaining / 2))
  for (;;) {
    const left = deadline.remaining
    if (left <= 0) return false
    // Too short a silence proves nothing.
    if (!(await watch.changed(Math.min(QUIET_MS, left)))) return left >= QUIET_MS
  }
}

interface ActBase {
  readonly window?: SeenWindow
  readonly base?: Base
  readonly pid?: number
}

/** The snapshot that the ref is from, if that is of the window that is acted on; else a look at it now. */
async function baseFor(ctx: Context, choice: ActChoice, windows: readonly SeenWindow[]): Promise<ActBase> {
  const known =
    choice.ref_id === undefined ? undefined : await lookUp(ctx, { ...choice, ref_id: choice.ref_id })
  const { map, isCurrent } = await loadMap(ctx, known?.snapshotId)
  const window = known
    ? await windowOf(ctx.adapter, known.entry)
    : choice.app === undefined
      ? windows.find(({ is_focused }) => is_focused)
      : await chooseWindow(ctx.adapter, choice)
  if (!window) return { pid: known?.entry.pid }
  const pid = known?.entry.pid ?? window.pid
  const kept = await keptTree(ctx, map)
  const isOf = kept?.window_id === window.id && kept.reading.surface === "window"
  if (window.accessible === false) return { window, pid }
  const base = { id: map.snapshot_id, isAside: !isCurrent }
  return { window, pid, base: { ...base, kept: isOf ? kept : await look(ctx, window, map) } }
}
