import type { Action, Performed } from "../action.ts"
import type { HitCare, InputTarget, Proof, Seen, SeenNode, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { hasTrait, type Point, type Rect, type Role } from "../node.ts"
import { contains, intersection, middle } from "../rect.ts"
import { readSame, readSameRow, resolve, type Target, windowOf } from "../refs/resolve.ts"
import { isInteractive } from "../tree.ts"
import { inTime, pause, until } from "../until.ts"
import { sendAction, sendInput } from "./deliver.ts"
import { type ActedOn, actedOn } from "./result.ts"
import { refuseUnreachable } from "./unreachable.ts"

/** Completes the message of a ref that went stale between the proof and the input. */
export const BEFORE_ACTING = "before it could be acted on"

type PointOf = (seen: Seen, window?: SeenWindow) => Point | undefined

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
  const reached = await reach(ctx, target, pointOf)
  const inList = hasTrait(target.seen.role, "item")
  const modifiers = "modifiers" in action ? action.modifiers : undefined
  const room = pointOf === clickPointOf ? roomOf(target.seen) : undefined
  const opens = hasTrait(target.seen.role, "opensMenu") || target.seen.states.includes("haspopup")
  // Not in a browser, which would answer with an old place. Not for a right press, which opens its menu at once.
  const isProvable =
    button === "left" && ACT_ON_RELEASE.has(target.seen.role) && !opens && !target.seen.tellsLate
  const proveRelease =
    isProvable && count === 1 ? (_?: boolean, at = reached.at) => proveStill(ctx, target, at) : undefined
  const click = {
    kind: "click",
    ...reached,
    button,
    count,
    inList,
    room,
    modifiers,
    opens,
    proveRelease,
  } as const
  await sendInput(ctx, click, action)
  return { method: "pointer", delivery: "delivered_unverified" }
}

/** Controls that do nothing until the button comes up over them. */
const ACT_ON_RELEASE: ReadonlySet<Role> = new Set(["button", "checkbox", "radiobutton", "switch"])

/**
 * Throws if the element is not at the point any more, with the button down there: it may have moved, or have become
 * another one, between the last look and the press.
 */
async function proveStill(ctx: Context, target: Target, at: Point): Promise<void> {
  // The button must not stay down for an app that does not answer.
  const evidence = await inTime(whyElsewhere(ctx, target, at), SETTLING_MS, () => undefined)
  if (evidence === undefined) return
  throw new AppError(
    "ACTION_FAILED",
    `${target.ref} changed as it was pressed, and the press was taken back: ${evidence}`,
    {
      suggestion: "Run 'snapshot' to see that nothing else was pressed, then retry",
      details: { kind: "not_actionable", reason: "moving" },
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    },
  )
}

/** undefined: it is still there, or does not answer in time. */
async function whyElsewhere({ adapter }: Context, target: Target, at: Point): Promise<string | undefined> {
  try {
    const bounds = visibleBounds(await readSame(adapter, target, "with the button down"))
    return bounds && contains(bounds, at) ? undefined : "it is somewhere else"
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === "STALE_REF" ? error.message : undefined
  }
}

/** Turns the wheel over an element. */
export async function turnWheel(
  ctx: Context,
  target: Target,
  action: Extract<Action, { kind: "scroll" }>,
): Promise<Performed> {
  const reached = await reach(ctx, target, wheelPointOf)
  const { direction, amount } = action
  const steps = direction === "up" || direction === "left" ? -amount : amount
  const isSideways = direction === "left" || direction === "right"
  const [dx, dy] = isSideways ? [steps, 0] : [0, steps]
  await sendInput(ctx, { kind: "wheel", ...reached, dx, dy }, action)
  return { method: "wheel", delivery: "delivered_unverified" }
}

/** Names the app whose element the input is meant for, for the adapter and the policy. */
export const inputTarget = ({ entry, seen }: Target): InputTarget => ({ pid: entry.pid, handle: seen.handle })

/** A point for input. `target` and `prove` are absent if the caller named the point itself. */
export interface Aim {
  readonly at: Point
  readonly target?: InputTarget
  readonly prove?: Proof
}

/** Finds the point that a command means: the given one, or the middle of an element that input can reach. */
export async function aim(
  ctx: Context,
  given: { readonly xy?: Point; readonly ref?: string; readonly snapshot?: string },
): Promise<Aim & { readonly element?: ActedOn }> {
  if (given.xy) return { at: given.xy }
  const target = await resolve(ctx, { ref_id: given.ref ?? "", snapshot: given.snapshot })
  await refuseUnreachable(ctx, target)
  return { ...(await reach(ctx, target)), element: actedOn(target.seen) }
}

export async function refuseCovered(ctx: Context, { at, target }: Aim): Promise<void> {
  const hit = target && (await ctx.adapter.hit(target.handle, at))
  if (hit?.kind === "occluded") throw covered(at, hit.by, NOTHING_DELIVERED)
}

/**
 * Throws if a drop would go to another app, or to another element that has come in the place of the one that is meant.
 * An element that is dragged over may also open, light up, or make room for the dragged one: that does not matter.
 */
export async function refuseOtherDrop(ctx: Context, { at, target }: Aim, dragged?: ActedOn): Promise<void> {
  const hit = target && (await ctx.adapter.hit(target.handle, at))
  if (hit?.kind !== "occluded" || !(hit.isOtherApp || (hit.name && hit.name !== dragged?.name))) return
  const now = hit.isOtherApp ? undefined : await ctx.adapter.read(target!.handle)
  if (now?.bounds && contains(now.bounds, at)) return
  if (hit.isOtherApp || now) throw covered(at, hit.by, { delivery: "delivery_uncertain", retry: "unsafe" })
}

function covered({ x, y }: Point, by: string, disposition: Disposition): AppError {
  return new AppError("ACTION_FAILED", `The drop point ${x},${y} is covered by ${by}`, {
    suggestion: "Move the windows so that both ends are visible ('move-window'), then retry",
    details: { kind: "not_actionable", reason: `covered by ${by}` },
    disposition,
  })
}

/**
 * Brings the element's window to the front and returns its new state. undefined: the element is not in a listed window,
 * e.g. in a menu. From here on this command has the input turn: no other command of ours changes focus or positions.
 */
export async function bringToFront(
  ctx: Context,
  { entry }: Target,
  forPointer = false,
): Promise<SeenWindow | undefined> {
  await ctx.adapter.takeTurn()
  const window = await windowOf(ctx.adapter, entry)
  if (forPointer && window && !window.bounds) throw placeless(window.id)
  if (!window || window.is_focused || window.id !== entry.window_id) return window
  return ctx.adapter.window(window.id, { kind: "focus" }).catch((error: unknown) => {
    throw error instanceof AppError ? ofPreparation(error) : error
  })
}

function placeless(id: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", `The position of window '${id}' on this screen is unknown`, {
    suggestion:
      "Use commands that work by accessibility (click, type, set-value), or 'press tab'; 'doctor' says how to get window positions",
    disposition: NOTHING_DELIVERED,
  })
}

/** The window may have come to the front or not. Nothing of the action itself was delivered. */
export const ofPreparation = ({ code, message, suggestion, platformDetail, details }: AppError): AppError =>
  new AppError(code, message, { suggestion, platformDetail, details, disposition: NOTHING_DELIVERED })

/**
 * Waits for a screen point where input reaches the element: the element is visible, does not move, and nothing covers
 * it. Scrolls it into view once if needed.
 */
async function reach(ctx: Context, target: Target, pointOf: PointOf = clickPointOf): Promise<Required<Aim>> {
  const { ref, entry } = target
  const window = await bringToFront(ctx, target, true)
  let obstacle = "not visible"
  let isBroughtIntoView = false
  let isSure = false
  const at = await until(
    ctx,
    async () => {
      const seen = await readSame(ctx.adapter, target, BEFORE_ACTING)
      const point = pointOf(seen, window)
      // The proof asks again, more thoroughly, once the pointer is there.
      const guess = point && (await lookAt(ctx, seen, point, window, "quick"))
      const isClear = guess?.isSure || guess?.obstacle !== undefined
      const look = point && !isClear ? await lookAt(ctx, seen, point, window, "sure") : guess
      const inTheWay = look ? look.obstacle : whyNoPoint(seen)
      if (!point || inTheWay) {
        obstacle = inTheWay ?? "not visible on the screen"
        // An element scrolled out of its pane may look covered by the pane's edge.
        if (!isBroughtIntoView) await sendAction(ctx, seen.handle, { kind: "scroll-to" })
        isBroughtIntoView = true
        return undefined
      }
      obstacle = "moving"
      isSure = look?.isSure ?? false
      const again = pointOf(await readSame(ctx.adapter, target, BEFORE_ACTING), window)
      return again && again.x === point.x && again.y === point.y ? point : undefined
    },
    { pids: [entry.pid] },
  )
  if (!at)
    throw notActionable(`${ref} is ${obstacle}`, obstacle, {
      suggestion: `Bring it into view ('scroll-to ${ref}', 'focus-window ${entry.window_id ?? ""}'), then retry`,
    })
  const place = { at, pointOf, window, isSure }
  const prove: Proof = (isQuiet, aside) =>
    proveArrival(ctx, target, aside ? { ...place, at: aside, isAside: true } : place, isQuiet)
  return { at, target: inputTarget(target), prove }
}

/** The element's place before the pointer came. */
interface Expected {
  readonly at: Point
  readonly pointOf: PointOf
  readonly window: SeenWindow | undefined
  /** True if the platform knew what is at the point. */
  readonly isSure: boolean
  /** True if this is not the point that a plain click would use. */
  readonly isAside?: boolean
}

/** How long something that the pointer triggers may be in the way, e.g. a sliding highlight or a tooltip. */
const SETTLING_MS = 500
/** Toolkits react in their next frame. Between two looks this far apart there is at least one frame. */
const FRAMES_MS = 40

/**
 * Proves, with the pointer there, that a press reaches the element: it is the same one, at the same point, and nothing
 * covers it. Unless the app is known to be quiet, that takes two looks with time for a reaction in between. Throws with
 * nothing delivered.
 */
async function proveArrival(ctx: Context, target: Target, place: Expected, isQuiet = false): Promise<void> {
  const { ref } = target
  const patience = ctx.deadline.slice(SETTLING_MS)
  let goodSince: number | undefined
  for (;;) {
    const start = performance.now()
    const obstacle = await obstacleNow(ctx, target, place)
    const isLate = start - (goodSince ?? start) >= FRAMES_MS
    if (!obstacle && (isLate || (isQuiet && !target.seen.tellsLate))) return
    goodSince = obstacle ? undefined : (goodSince ?? start)
    if (obstacle && patience.expired)
      throw notActionable(`${ref} is ${obstacle}, now that the pointer is there`, obstacle, {
        suggestion:
          "Run 'snapshot' to see what the pointer has brought up; or leave the pointer out: --input semantic",
      })
    const passed = performance.now() - start
    if (passed < FRAMES_MS) await pause(FRAMES_MS - passed, ctx.deadline)
  }
}

const WHEN_IT_CAME = "when the pointer came"

async function obstacleNow(ctx: Context, target: Target, place: Expected): Promise<string | undefined> {
  const { at, window, isSure, isAside } = place
  try {
    const seen = await readSame(ctx.adapter, target, WHEN_IT_CAME)
    // A browser answers a quick test with the result of the previous one, and so would miss something that has just
    // appeared.
    const look = await lookAt(ctx, seen, at, window, "sure")
    if (isAside && (await holdsControlAt(ctx, seen, at))) return "covered by a control in it"
    // Identity comes last, because a browser's hit test is slow.
    const now = await readSameRow(ctx.adapter, target, WHEN_IT_CAME)
    if (!isStillAt(now, place)) return "somewhere else"
    // GTK 4 does not name what has just appeared; it only stops reporting the element.
    return look.obstacle ?? (isSure && !look.isSure ? "covered by something without a name" : undefined)
  } catch (error) {
    throw error instanceof AppError ? error.with({ disposition: NOTHING_DELIVERED }) : error
  }
}

/** A small move, e.g. of a highlighted card, does not matter if the whole element takes clicks. */
function isStillAt(seen: Seen, { at, pointOf, window }: Expected): boolean {
  const now = pointOf(seen, window)
  if (now?.x === at.x && now.y === at.y) return true
  const bounds = visibleBounds(seen)
  return pointOf === clickPointOf && !seen.clickPoint && bounds !== undefined && contains(bounds, at)
}

function notActionable(message: string, reason: string, facts: { readonly suggestion: string }): AppError {
  return new AppError("ACTION_FAILED", message, {
    ...facts,
    details: { kind: "not_actionable", reason },
    disposition: NOTHING_DELIVERED,
  })
}

interface PointReport {
  /** The object that a click at the point would hit instead of the element; undefined if it hits the element. */
  readonly obstacle?: string
  /** True if the platform knows what is at the point. */
  readonly isSure: boolean
}

async function lookAt(
  ctx: Context,
  seen: Seen,
  point: Point,
  window: SeenWindow | undefined,
  care: HitCare,
): Promise<PointReport> {
  const displays = await ctx.adapter.displays()
  if (!displays.some(({ bounds }) => contains(bounds, point)))
    return { obstacle: "outside every display", isSure: true }
  const hit = await ctx.adapter.hit(seen.handle, point, care)
  if (hit.kind === "hit") return { isSure: true }
  if (hit.kind === "occluded") return { obstacle: `covered by ${hit.by}`, isSure: true }
  // If the platform does not know what is at the point, the point must at least be in the front window.
  if (!window || window.is_focused) return { isSure: false }
  return { obstacle: `in window ${window.id}, which did not come to the front`, isSure: false }
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

/** A page's list may be much higher than its window. The wheel turns over the part of it that is in the window. */
const wheelPointOf: PointOf = (seen, window) => {
  const point = clickPointOf(seen)
  if (!point || !seen.bounds || !window?.bounds || contains(window.bounds, point)) return point
  const part = intersection(seen.bounds, window.bounds)
  if (part.width < 1 || part.height < 1) return point
  const { x, y } = middle(part)
  return { x: Math.floor(x), y: Math.floor(y) }
}

/** The bounds of an element that reacts the same at all its points, except at controls inside it. */
function roomOf(seen: Seen): Rect | undefined {
  return seen.clickPoint || !(hasTrait(seen.role, "item") || hasTrait(seen.role, "pressable"))
    ? undefined
    : visibleBounds(seen)
}

/** True unless it is certain that no control inside the element is at the point. */
async function holdsControlAt(ctx: Context, { handle }: Seen, point: Point): Promise<boolean> {
  const { root, complete } = await ctx.adapter.tree({ kind: "element", handle }, INSIDE)
  const isThere = ({ bounds, children, ...one }: SeenNode): boolean =>
    (isInteractive(one) && (!bounds || contains(bounds, point))) || children.some(isThere)
  return !complete || root.children.some(isThere)
}

const INSIDE = { maxDepth: 5, bounds: "interactive", includeHidden: false, interactiveOnly: true } as const

/** The point of the sign that expands and collapses the element. */
export const disclosurePoint: PointOf = (seen) =>
  visibleBounds(seen) && seen.disclosure !== "arrow keys" ? seen.disclosure : undefined

const whyNoPoint = ({ states }: Seen): string =>
  states.includes("hidden") ? "hidden" : "not visible on the screen"
