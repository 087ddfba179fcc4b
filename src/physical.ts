import { notSupported } from "./actions.ts"
import type { Action, Performed, Seen, SeenNode } from "./adapter.ts"
import type { Context } from "./command.ts"
import { AppError, NOTHING_DELIVERED, staleRef } from "./errors.ts"
import type { Point, Rect } from "./node.ts"
import type { Target } from "./resolve.ts"
import { walk } from "./tree.ts"
import { until } from "./until.ts"

/** How long a popup may take to open after the click that opens it. */
const POPUP_MS = 1500

/** The action by synthesised pointer and keyboard, after proof that it will reach the element. */
export async function physically(ctx: Context, target: Target, action: Action): Promise<Performed> {
  switch (action.kind) {
    case "click":
    case "toggle":
    case "check":
    case "uncheck":
    case "expand":
    case "collapse":
      return click(ctx, target, "left", 1)
    case "double-click":
      return click(ctx, target, "left", 2)
    case "triple-click":
      return click(ctx, target, "left", 3)
    case "right-click":
      return click(ctx, target, "right", 1)
    case "focus":
      if (target.seen.role !== "textfield" && target.seen.role !== "combobox") throw notSupported(target.ref, target.seen, action)
      return click(ctx, target, "left", 1)
    case "type":
      await takeFocus(ctx, target)
      await ctx.adapter.input({ kind: "text", text: action.text })
      return { method: "keyboard", delivery: "delivered_unverified" }
    case "clear":
    case "set-value":
      if (target.seen.role !== "textfield" && target.seen.role !== "combobox" && target.seen.role !== "incrementor") {
        throw notSupported(target.ref, target.seen, action)
      }
      await takeFocus(ctx, target)
      await ctx.adapter.input({ kind: "key", combo: selectAll(), phase: "press" })
      await (action.kind === "clear" || action.value === ""
        ? ctx.adapter.input({ kind: "key", combo: { modifiers: [], key: "delete" }, phase: "press" })
        : ctx.adapter.input({ kind: "text", text: action.value }))
      return { method: "keyboard", delivery: "delivered_unverified" }
    case "select":
      return select(ctx, target, action.value)
    case "scroll": {
      const at = await clickablePoint(ctx, target)
      const steps = action.direction === "up" || action.direction === "left" ? -action.amount : action.amount
      const sideways = action.direction === "left" || action.direction === "right"
      await ctx.adapter.input({ kind: "wheel", at, dx: sideways ? steps : 0, dy: sideways ? 0 : steps })
      return { method: "wheel", delivery: "delivered_unverified" }
    }
    case "scroll-to":
      throw notSupported(target.ref, target.seen, action)
    default:
      return action satisfies never
  }
}

/** A point of the screen where input reaches the element: shown, steady, not covered by something else. */
export async function clickablePoint(ctx: Context, target: Target): Promise<Point> {
  await raise(ctx, target)
  let obstacle = "not visible"
  const point = await until(
    ctx,
    async () => {
      const seen = await ctx.adapter.read(target.seen.handle)
      if (!seen) throw staleRef(target.ref, "it went away before it could be acted on")
      const bounds = visibleBounds(seen)
      if (!bounds) {
        obstacle = seen.states.includes("hidden") ? "hidden" : "not visible on the screen"
        // Bringing it into view changes nothing in the app's data, so it may be tried again.
        await ctx.adapter.perform(seen.handle, { kind: "scroll-to" })
        return undefined
      }
      const centre = { x: Math.floor(bounds.x + bounds.width / 2), y: Math.floor(bounds.y + bounds.height / 2) }
      const hit = await ctx.adapter.hit(seen.handle, centre)
      if (hit.kind === "occluded") {
        obstacle = `covered by ${hit.by}`
        return undefined
      }
      return centre
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

async function click(ctx: Context, target: Target, button: "left" | "right", count: number): Promise<Performed> {
  const at = await clickablePoint(ctx, target)
  await ctx.adapter.input({ kind: "click", at, button, count })
  return { method: "pointer", delivery: "delivered_unverified" }
}

function visibleBounds(seen: Seen): Rect | undefined {
  const { bounds, states } = seen
  if (states.includes("hidden") || states.includes("offscreen")) return undefined
  return bounds && bounds.width >= 1 && bounds.height >= 1 ? bounds : undefined
}

/** Keys go to the focused window: an element of another window must not get them by chance. */
async function takeFocus(ctx: Context, target: Target): Promise<void> {
  await raise(ctx, target)
  if (target.seen.states.includes("focused")) return
  const performed = await ctx.adapter.perform(target.seen.handle, { kind: "focus" })
  if (performed.delivery === "not_delivered") await click(ctx, target, "left", 1)
  const focused = await until(
    ctx,
    async () => {
      const seen = await ctx.adapter.read(target.seen.handle)
      return seen?.states.includes("focused") ? true : undefined
    },
    { pids: [target.entry.pid], deadline: ctx.deadline.slice(POPUP_MS) },
  )
  if (focused) return
  throw new AppError("ACTION_FAILED", `${target.ref} did not take the keyboard focus`, {
    suggestion: `Click it first: agent-desktop click ${target.ref} --input physical`,
    details: { kind: "not_focused" },
    disposition: { delivery: "not_delivered", retry: "safe" },
  })
}

async function raise(ctx: Context, target: Target): Promise<void> {
  const id = target.entry.window_id
  const window = (await ctx.adapter.windows()).find((one) => one.id === id)
  if (window && !window.is_focused) await ctx.adapter.window(window.id, { kind: "focus" })
}

/** Opens the list, finds the one option of that name, and clicks it. */
async function select(ctx: Context, target: Target, value: string): Promise<Performed> {
  if (target.seen.role !== "combobox" && target.seen.role !== "menubutton") {
    throw notSupported(target.ref, target.seen, { kind: "select", value })
  }
  if (!target.seen.states.includes("expanded")) await click(ctx, target, "left", 1)
  const options = await until(ctx, () => shownOptions(ctx, target), {
    pids: [target.entry.pid],
    deadline: ctx.deadline.slice(POPUP_MS),
  })
  const fitting = options?.filter((node) => node.name === value) ?? []
  const [only, ...others] = fitting
  if (!only?.bounds || others.length > 0) {
    await ctx.adapter.input({ kind: "key", combo: { modifiers: [], key: "escape" }, phase: "press" })
    throw new AppError(
      others.length > 0 ? "AMBIGUOUS_TARGET" : "ELEMENT_NOT_FOUND",
      others.length > 0
        ? `${fitting.length} options of ${target.ref} are named '${value}'`
        : `${target.ref} shows no option '${value}'`,
      {
        suggestion: `Run 'expand ${target.ref}' and 'snapshot' to see its options`,
        details: { candidates: options?.slice(0, 20).map((node) => node.name) ?? [] },
        disposition: { delivery: "not_delivered", retry: "safe" },
      },
    )
  }
  const { x, y, width, height } = only.bounds
  await ctx.adapter.input({
    kind: "click",
    at: { x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) },
    button: "left",
    count: 1,
  })
  return { method: "pointer", delivery: "delivered_unverified" }
}

const OPTION_ROLES: ReadonlySet<string> = new Set(["option", "menuitem", "cell", "treeitem"])

async function shownOptions(ctx: Context, target: Target): Promise<SeenNode[] | undefined> {
  const window = (await ctx.adapter.windows()).find((one) => one.id === target.entry.window_id)
  if (!window) return undefined
  for (const surface of ["menu", "popover", "window"] as const) {
    const tree = await ctx.adapter
      .tree(
        { kind: "surface", window, surface },
        { maxDepth: 50, bounds: "interactive", includeHidden: false, interactiveOnly: true },
      )
      .catch((error: unknown) => {
        // There may be no such surface; the next one is tried.
        if (error instanceof AppError) return undefined
        throw error
      })
    if (!tree) continue
    const options = [...walk(tree.root)]
      .map((place) => place.node)
      .filter((node) => OPTION_ROLES.has(node.role) && node.name && visibleBounds(node))
    if (options.length > 0) return options
  }
  return undefined
}

const selectAll = () => ({
  modifiers: [process.platform === "darwin" ? ("cmd" as const) : ("ctrl" as const)],
  key: "a",
})
