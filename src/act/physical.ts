import type { Action, Performed, Seen, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED, staleRef } from "../errors.ts"
import { hasTrait, type Point, type Rect, type Role } from "../node.ts"
import { changedEvidence } from "../refs/identity.ts"
import { resolve, type Target, windowOf } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { input, perform } from "./deliver.ts"
import { notSupported } from "./expect.ts"
import { pickOption } from "./pick.ts"

/** How long the keyboard focus may take to arrive. */
const FOCUS_MS = 1500

/** The action by synthesised pointer and keyboard, after proof that it will reach the element. */
export async function physically(ctx: Context, target: Target, action: Action): Promise<Performed> {
  const { role } = target.seen
  switch (action.kind) {
    case "click":
    case "toggle":
    case "check":
    case "uncheck":
      return click(ctx, target, action)
    case "expand":
    case "collapse":
      if (target.seen.disclosure === "arrow keys") return discloseByKey(ctx, target, action)
      if (target.seen.disclosure) return click(ctx, target, action, { pointOf: disclosureOf })
      // To click a row in its middle is to select it.
      if (!OPENED_BY_CLICK.has(role)) throw notSupported(target.ref, target.seen, action)
      return click(ctx, target, action)
    case "double-click":
      return click(ctx, target, action, { count: 2 })
    case "triple-click":
      return click(ctx, target, action, { count: 3 })
    case "right-click":
      return click(ctx, target, action, { button: "right" })
    case "focus":
      if (!takesText(role)) throw notSupported(target.ref, target.seen, action)
      return click(ctx, target, action)
    case "type":
      if (PRESSED_BY_KEYS.has(role)) throw notSupported(target.ref, target.seen, action)
      if ((await takeFocus(ctx, target, action)) && target.seen.value) await goToEnd(ctx, target, action)
      await input(ctx, { kind: "text", text: action.text, secret: isSecret(target) }, action)
      return { method: "keyboard", delivery: "delivered_unverified" }
    case "clear":
      return replaceText(ctx, target, action, "")
    case "set-value":
      return replaceText(ctx, target, action, action.value)
    case "select":
      return pickOption(ctx, target, action, click)
    case "scroll": {
      const at = await clickablePoint(ctx, target)
      const steps = action.direction === "up" || action.direction === "left" ? -action.amount : action.amount
      const sideways = action.direction === "left" || action.direction === "right"
      await input(ctx, { kind: "wheel", at, dx: sideways ? steps : 0, dy: sideways ? 0 : steps }, action)
      return { method: "wheel", delivery: "delivered_unverified" }
    }
    case "scroll-to":
      throw notSupported(target.ref, target.seen, action)
    default:
      return action satisfies never
  }
}

const OPENED_BY_CLICK: ReadonlySet<Role> = new Set([
  "button",
  "menubutton",
  "combobox",
  "menuitem",
  "link",
  "disclosure",
])
/** True if a click only places the caret, also in an office document or a page that can be edited. */
const takesText = (role: Role): boolean => hasTrait(role, "typable") || role === "document"
/** Typed letters and blanks would press, choose or move something. */
const PRESSED_BY_KEYS: ReadonlySet<Role> = new Set([
  "button",
  "menubutton",
  "checkbox",
  "radiobutton",
  "switch",
  "link",
  "menuitem",
  "tab",
  "slider",
  "colorwell",
  "dockitem",
])

/** A point of the screen where input reaches the element: shown, steady, not covered by something else. */
export async function clickablePoint(
  ctx: Context,
  target: Target,
  pointOf: (seen: Seen) => Point | undefined = middleOf,
): Promise<Point> {
  const window = await raise(ctx, target)
  let obstacle = "not visible"
  let broughtIntoView = false
  const point = await until(
    ctx,
    async () => {
      const seen = await readSame(ctx, target)
      const point = pointOf(seen)
      const inTheWay = point ? await obstacleAt(ctx, seen, point, window) : whyNoPoint(seen)
      if (!point || inTheWay) {
        obstacle = inTheWay ?? "not visible on the screen"
        // What covers it may be the edge of the pane that it is scrolled out of.
        if (!broughtIntoView) await perform(ctx, seen.handle, { kind: "scroll-to" })
        broughtIntoView = true
        return undefined
      }
      obstacle = "moving"
      const again = pointOf(await readSame(ctx, target))
      return again && again.x === point.x && again.y === point.y ? point : undefined
    },
    { pids: [target.entry.pid] },
  )
  if (point) return point
  throw new AppError("ACTION_FAILED", `${target.ref} is ${obstacle}`, {
    suggestion: `Bring it into view ('scroll-to ${target.ref}', 'focus-window ${target.entry.window_id ?? ""}'), then retry`,
    details: { kind: "not_actionable", reason: obstacle },
    disposition: NOTHING_DELIVERED,
  })
}

interface Clicking {
  readonly button?: "left" | "right"
  readonly count?: number
  readonly pointOf?: (seen: Seen) => Point | undefined
}

export async function click(
  ctx: Context,
  target: Target,
  action: Action,
  { button = "left", count = 1, pointOf = middleOf }: Clicking = {},
): Promise<Performed> {
  const at = await clickablePoint(ctx, target, pointOf)
  await input(ctx, { kind: "click", at, button, count, inList: hasTrait(target.seen.role, "item") }, action)
  return { method: "pointer", delivery: "delivered_unverified" }
}

/** The element as it is now, if it is still the one that was meant. */
async function readSame(ctx: Context, { ref, entry, seen }: Target): Promise<Seen> {
  const now = await ctx.adapter.read(seen.handle)
  if (!now) throw staleRef(ref, "it went away before it could be acted on")
  const changed = changedEvidence(entry, now)
  if (changed) throw staleRef(ref, `${changed}, which happened before it could be acted on`)
  return now
}

/** What would get a click at this point instead; undefined when nothing would. */
async function obstacleAt(
  ctx: Context,
  seen: Seen,
  point: Point,
  window: SeenWindow | undefined,
): Promise<string | undefined> {
  const displays = await ctx.adapter.displays()
  if (!displays.some(({ bounds }) => isInside(point, bounds))) return "outside every display"
  const hit = await ctx.adapter.hit(seen.handle, point)
  if (hit.kind === "occluded") return `covered by ${hit.by}`
  // Where nobody can tell what is at the point, it must at least be in the window in front.
  if (hit.kind === "hit" || !window || window.is_focused) return undefined
  return `in window ${window.id}, which did not come to the front`
}

function visibleBounds({ bounds, states }: Seen): Rect | undefined {
  if (states.includes("hidden") || states.includes("offscreen")) return undefined
  return bounds && bounds.width >= 1 && bounds.height >= 1 ? bounds : undefined
}

function middleOf(seen: Seen): Point | undefined {
  const bounds = visibleBounds(seen)
  if (bounds && seen.clickPoint) return seen.clickPoint
  return bounds && { x: Math.floor(bounds.x + bounds.width / 2), y: Math.floor(bounds.y + bounds.height / 2) }
}

function disclosureOf(seen: Seen): Point | undefined {
  return visibleBounds(seen) && seen.disclosure !== "arrow keys" ? seen.disclosure : undefined
}

const whyNoPoint = ({ states }: Seen): string =>
  states.includes("hidden") ? "hidden" : "not visible on the screen"

const isInside = ({ x, y }: Point, rect: Rect): boolean =>
  x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height

/** Its window in front and as it is then; undefined when the element is in none that is listed, such as a menu. */
async function raise(ctx: Context, { entry }: Target): Promise<SeenWindow | undefined> {
  // From here on, what is found out about focus and place stays true as far as it depends on us.
  await ctx.adapter.takeTurn()
  const window = await windowOf(ctx.adapter, entry)
  if (!window || window.is_focused || window.id !== entry.window_id) return window
  return ctx.adapter.window(window.id, { kind: "focus" })
}

/**
 * Keys go to the focused window: an element of another window must not get them by chance.
 * Returns whether the focus had to be moved.
 */
async function takeFocus(ctx: Context, target: Target, action: Action): Promise<boolean> {
  const window = await raise(ctx, target)
  if (window && !window.is_focused) throw notFocused(target, `its window ${window.id} is not in front`)
  if ((await readSame(ctx, target)).states.includes("focused")) return false
  const performed = await perform(ctx, target.seen.handle, { kind: "focus" })
  if (performed.delivery === "not_delivered") {
    if (!takesText(target.seen.role)) throw notSupported(target.ref, target.seen, action)
    await click(ctx, target, { kind: "focus" })
  }
  const focused = await until(
    ctx,
    async () => ((await readSame(ctx, target)).states.includes("focused") ? true : undefined),
    { pids: [target.entry.pid], deadline: ctx.deadline.slice(FOCUS_MS) },
  )
  if (!focused) throw notFocused(target, "it did not take the keyboard focus")
  return true
}

/** With the focus some fields select all they hold, and what is typed would replace it. */
async function goToEnd(ctx: Context, { seen }: Target, action: Action): Promise<void> {
  const isLong = seen.states.includes("multiline")
  const combo =
    process.platform === "darwin"
      ? { modifiers: ["cmd" as const], key: isLong ? "down" : "right" }
      : { modifiers: isLong ? (["ctrl"] as const) : [], key: "end" }
  await input(ctx, { kind: "key", combo, phase: "press" }, action)
}

/** As users of a keyboard do: the arrows open and close the item that has the focus. */
async function discloseByKey(ctx: Context, target: Target, action: Action): Promise<Performed> {
  await takeFocus(ctx, target, action)
  const key = action.kind === "expand" ? "right" : "left"
  await input(ctx, { kind: "key", combo: { modifiers: [], key }, phase: "press" }, action)
  return { method: "keyboard", delivery: "delivered_unverified" }
}

function notFocused({ ref }: Target, why: string): AppError {
  return new AppError("ACTION_FAILED", `${ref} cannot get keys: ${why}`, {
    suggestion: `Click it first: agent-desktop click ${ref} --input physical`,
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })
}

async function replaceText(ctx: Context, target: Target, action: Action, text: string): Promise<Performed> {
  const { role } = target.seen
  if (role !== "textfield" && role !== "combobox" && role !== "incrementor") {
    throw notSupported(target.ref, target.seen, action)
  }
  await takeFocus(ctx, target, action)
  await input(ctx, { kind: "key", combo: selectAll(), phase: "press" }, action)
  await input(
    ctx,
    text === ""
      ? { kind: "key", combo: { modifiers: [], key: "delete" }, phase: "press" }
      : { kind: "text", text, secret: isSecret(target) },
    action,
  )
  return { method: "keyboard", delivery: "delivered_unverified" }
}

/** Whatever goes into a secure field, also when the caller did not say that it is secret. */
const isSecret = ({ seen }: Target): boolean => seen.states.includes("secure")

const selectAll = () => ({
  modifiers: [process.platform === "darwin" ? ("cmd" as const) : ("ctrl" as const)],
  key: "a",
})

export interface Aim {
  readonly point: Point
  /** The element in whose middle the point is. */
  readonly target?: Target
}

/** The point that a command means: given as such, or the middle of an element that input can reach. */
export async function aim(
  ctx: Context,
  given: { readonly xy?: Point; readonly ref?: string; readonly snapshot?: string },
): Promise<Aim> {
  if (given.xy) return { point: given.xy }
  const target = await resolve(ctx, { ref_id: given.ref ?? "", snapshot: given.snapshot })
  return { point: await clickablePoint(ctx, target), target }
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
