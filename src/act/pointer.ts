import type { Action, InputTarget, Performed, Seen, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import { hasTrait, type Point, type Rect } from "../node.ts"
import { contains, middle } from "../rect.ts"
import { readSame, resolve, type Target, windowOf } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { sendAction, sendInput } from "./deliver.ts"

/** Completes the message of a ref that went stale between the proof and the input. */
export const BEFORE_ACTING = "before it could be acted on"

type PointOf = (seen: Seen) => Point | undefined

interface Clicking {
  readonly button?: "left" | "right"
  readonly count?: number
  readonly pointOf?: PointOf
}

/** Clicks an element as a part of this action, once it can be reached. */
export async function clickElement(
  ctx: Context,
  target: Target,
  action: Action,
  { button = "left", count = 1, pointOf = clickPointOf }: Clicking = {},
): Promise<Performed> {
  const at = await reachablePoint(ctx, target, pointOf)
  const inList = hasTrait(target.seen.role, "item")
  await sendInput(ctx, { kind: "click", at, target: inputTarget(target), button, count, inList }, action)
  return { method: "pointer", delivery: "delivered_unverified" }
}

/** Turns the wheel over an element. */
export async function turnWheel(
  ctx: Context,
  target: Target,
  action: Extract<Action, { kind: "scroll" }>,
): Promise<Performed> {
  const at = await reachablePoint(ctx, target)
  const { direction, amount } = action
  const steps = direction === "up" || direction === "left" ? -amount : amount
  const isSideways = direction === "left" || direction === "right"
  const [dx, dy] = isSideways ? [steps, 0] : [0, steps]
  await sendInput(ctx, { kind: "wheel", at, target: inputTarget(target), dx, dy }, action)
  return { method: "wheel", delivery: "delivered_unverified" }
}

/** Tells a policy whose element the input is meant for. */
export const inputTarget = ({ entry, seen }: Target): InputTarget => ({ pid: entry.pid, handle: seen.handle })

export interface Aim {
  readonly point: Point
  /** The element in whose middle the point is. */
  readonly target?: Target
}

/** Finds the point that a command means: the given one, or the middle of an element that input can reach. */
export async function aim(
  ctx: Context,
  given: { readonly xy?: Point; readonly ref?: string; readonly snapshot?: string },
): Promise<Aim> {
  if (given.xy) return { point: given.xy }
  const target = await resolve(ctx, { ref_id: given.ref ?? "", snapshot: given.snapshot })
  return { point: await reachablePoint(ctx, target), target }
}

export async function refuseCovered(ctx: Context, { point, target }: Aim): Promise<void> {
  if (!target) return
  const hit = await ctx.adapter.hit(target.seen.handle, point)
  if (hit.kind !== "occluded") return
  throw new AppError("ACTION_FAILED", `${target.ref} is covered by ${hit.by}`, {
    suggestion: "Move the windows so that both ends can be seen ('move-window'), then retry",
    details: { kind: "not_actionable", reason: `covered by ${hit.by}` },
    disposition: NOTHING_DELIVERED,
  })
}

/**
 * Brings the element's window to the front and returns it as it is then; undefined if the element is not in a listed
 * window, such as an element of a menu. From here on this command has the input turn: no other command of ours
 * changes focus or positions.
 */
export async function bringToFront(ctx: Context, { entry }: Target): Promise<SeenWindow | undefined> {
  await ctx.adapter.takeTurn()
  const window = await windowOf(ctx.adapter, entry)
  if (!window || window.is_focused || window.id !== entry.window_id) return window
  return ctx.adapter.window(window.id, { kind: "focus" })
}

/**
 * Waits for a point of the screen where input reaches the element: it is visible, does not move, and nothing covers
 * it. Scrolls the element into view once if it has to.
 */
async function reachablePoint(ctx: Context, target: Target, pointOf: PointOf = clickPointOf): Promise<Point> {
  const { ref, entry } = target
  const window = await bringToFront(ctx, target)
  let obstacle = "not visible"
  let isBroughtIntoView = false
  const point = await until(
    ctx,
    async () => {
      const seen = await readSame(ctx.adapter, target, BEFORE_ACTING)
      const point = pointOf(seen)
      const inTheWay = point ? await obstacleAt(ctx, seen, point, window) : whyNoPoint(seen)
      if (!point || inTheWay) {
        obstacle = inTheWay ?? "not visible on the screen"
        // An element that is scrolled out of its pane may look covered by the pane's edge.
        if (!isBroughtIntoView) await sendAction(ctx, seen.handle, { kind: "scroll-to" })
        isBroughtIntoView = true
        return undefined
      }
      obstacle = "moving"
      const again = pointOf(await readSame(ctx.adapter, target, BEFORE_ACTING))
      return again && again.x === point.x && again.y === point.y ? point : undefined
    },
    { pids: [entry.pid] },
  )
  if (point) return point
  throw new AppError("ACTION_FAILED", `${ref} is ${obstacle}`, {
    suggestion: `Bring it into view ('scroll-to ${ref}', 'focus-window ${entry.window_id ?? ""}'), then retry`,
    details: { kind: "not_actionable", reason: obstacle },
    disposition: NOTHING_DELIVERED,
  })
}

/** Says what a click at this point would hit instead of the element; undefined if it hits the element. */
async function obstacleAt(
  ctx: Context,
  seen: Seen,
  point: Point,
  window: SeenWindow | undefined,
): Promise<string | undefined> {
  const displays = await ctx.adapter.displays()
  if (!displays.some(({ bounds }) => contains(bounds, point))) return "outside every display"
  const hit = await ctx.adapter.hit(seen.handle, point)
  if (hit.kind === "occluded") return `covered by ${hit.by}`
  // If the platform cannot tell what is at the point, it must at least be in the window in front.
  if (hit.kind === "hit" || !window || window.is_focused) return undefined
  return `in window ${window.id}, which did not come to the front`
}

function visibleBounds({ bounds, states }: Seen): Rect | undefined {
  if (states.includes("hidden") || states.includes("offscreen")) return undefined
  return bounds && bounds.width >= 1 && bounds.height >= 1 ? bounds : undefined
}

/** The point that a click on the element means: its own click point, or else its middle. */
function clickPointOf(seen: Seen): Point | undefined {
  const bounds = visibleBounds(seen)
  if (!bounds) return undefined
  if (seen.clickPoint) return seen.clickPoint
  const { x, y } = middle(bounds)
  return { x: Math.floor(x), y: Math.floor(y) }
}

/** The point of the sign that expands and collapses the element. */
export const disclosurePoint: PointOf = (seen) =>
  visibleBounds(seen) && seen.disclosure !== "arrow keys" ? seen.disclosure : undefined

const whyNoPoint = ({ states }: Seen): string =>
  states.includes("hidden") ? "hidden" : "not visible on the screen"
