import type { SeenWindow, Watch } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError } from "../errors.ts"
import type { SurfaceInfo } from "../node.ts"
import { lookUp, windowOf } from "../refs/resolve.ts"
import { type Baseline, type DiffFlags, difference, loadKept, loadMap, readBaseline } from "./compare.ts"
import type { Changes } from "./diff.ts"
import { chooseWindow } from "./windows.ts"

/** The member that `--changes` adds to the result of a command that acts. */
export interface ActionChanges extends Changes {
  readonly snapshot_id?: string
  readonly since?: string
  readonly opened?: readonly ShownWindow[]
  readonly closed?: readonly ShownWindow[]
  /** Menus and dialogs that are open now; `snapshot --surface` shows them. */
  readonly surfaces?: readonly SurfaceInfo[]
  /** false: the window was still changing when it was read. */
  readonly settled?: boolean
  readonly complete?: boolean
  /** Why the window could not be read. */
  readonly reason?: string
}

type ShownWindow = Pick<SeenWindow, "id" | "title" | "app_name">

export interface ActChoice {
  readonly ref_id?: string
  readonly snapshot?: string
  readonly app?: string
  readonly window_id?: string
}

/** A window is quiet if the app announces nothing for so long. The wait for that is limited, too. */
const QUIET_MS = 150
const RESTLESS_MS = 2000

/** Acts, waits until the app is quiet, and adds the differences from the last snapshot to the result. */
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
  base: Baseline | undefined,
): Promise<ActionChanges> {
  try {
    const settled = await untilQuiet(ctx, watch)
    const after = await ctx.adapter.windows()
    const opened = after.filter((one) => !before.some(({ id }) => id === one.id)).map(shown)
    const closed = before.filter((one) => !after.some(({ id }) => id === one.id)).map(shown)
    const now = after.find(({ id }) => id === window?.id)
    const seen = now && base ? await difference(ctx, now, base, WHOLE) : undefined
    const surfaces = now ? (await ctx.adapter.surfaces(now.pid)).filter(isTransient) : []
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
    // The action was delivered, even if the window cannot be read afterwards.
    if (error instanceof AppError) return { complete: false, reason: error.message }
    throw error
  }
}

const WHOLE: DiffFlags = { interactive_only: false, include_bounds: false }

const shown = ({ id, title, app_name }: SeenWindow): ShownWindow => ({ id, title, app_name })

const isTransient = ({ type }: SurfaceInfo): boolean =>
  type === "menu" || type === "sheet" || type === "popover" || type === "alert"

/** True if the app became quiet in time. */
async function untilQuiet(ctx: Context, watch: Watch): Promise<boolean> {
  if (!ctx.patient) return false
  const deadline = ctx.deadline.slice(Math.min(RESTLESS_MS, ctx.deadline.remaining / 2))
  for (;;) {
    const left = deadline.remaining
    if (left <= 0) return false
    // A silence shorter than QUIET_MS proves nothing.
    if (!(await watch.changed(Math.min(QUIET_MS, left)))) return left >= QUIET_MS
  }
}

interface ActBase {
  readonly window?: SeenWindow
  readonly base?: Baseline
  readonly pid?: number
}

/** The snapshot that the ref is from, if it shows the window that the action is for; otherwise the window as it is now. */
async function baseFor(ctx: Context, choice: ActChoice, windows: readonly SeenWindow[]): Promise<ActBase> {
  const known =
    choice.ref_id === undefined ? undefined : await lookUp(ctx, { ...choice, ref_id: choice.ref_id })
  const { map, isCurrent } = await loadMap(ctx, known?.snapshotId)
  const window = known
    ? await windowOf(ctx.adapter, known.entry)
    : choice.app === undefined && choice.window_id === undefined
      ? windows.find(({ is_focused }) => is_focused)
      : await chooseWindow(ctx.adapter, choice)
  if (!window) return { pid: known?.entry.pid }
  const pid = known?.entry.pid ?? window.pid
  const kept = await loadKept(ctx, map)
  const isOf = kept?.window_id === window.id && kept.reading.surface === "window"
  if (window.accessible === false) return { window, pid }
  const base = { id: map.snapshot_id, isAside: !isCurrent }
  return { window, pid, base: { ...base, kept: isOf ? kept : await readBaseline(ctx, window, map) } }
}
