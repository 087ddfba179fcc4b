import { MAX_LEVELS, type Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type ErrorCode } from "../errors.ts"
import { matches } from "../match.ts"
import { lookUp, resolve } from "../refs/resolve.ts"
import { walk } from "../tree.ts"
import { pause, until } from "../until.ts"
import { toMatches } from "./find.ts"
import { listNotifications, publicNotification } from "./notifications.ts"
import { flagValue, isVisible } from "./properties.ts"
import { isStarting, requireContent } from "./surface.ts"
import { chooseWindow, publicWindow, windowsOfApp } from "./windows.ts"

export const PREDICATES = ["exists", "visible", "enabled", "actionable", "gone", "value"] as const
export type Predicate = (typeof PREDICATES)[number]

export interface WaitArgs {
  readonly ms?: number
  readonly element?: string
  readonly predicate: Predicate
  readonly value?: string
  readonly window?: string
  readonly text?: string
  readonly gone: boolean
  readonly menu: boolean
  readonly menu_closed: boolean
  readonly notification: boolean
  readonly app?: string
  readonly window_id?: string
  readonly snapshot?: string
}

/** Waits for the one condition that the arguments name. Fails with a TIMEOUT that names the condition. */
export async function waitFor(ctx: Context, args: WaitArgs): Promise<object> {
  const start = performance.now()
  const elapsed = (): number => Math.round(performance.now() - start)
  if (args.ms !== undefined) {
    await pause(args.ms, ctx.deadline)
    if (elapsed() < args.ms - 1) throw timedOut("time", `${args.ms} ms did not pass`, elapsed())
    return { found: true, elapsed_ms: elapsed() }
  }
  const { kind, look } = await condition(ctx, args)
  let silence: AppError | undefined
  const found = await until(ctx, async () => {
    try {
      silence = undefined
      return await look()
    } catch (error) {
      // An app that is too busy to answer now may answer later.
      if (!isSilence(error)) throw error
      silence = error
      return undefined
    }
  })
  if (found) return { found: true, elapsed_ms: elapsed(), ...found }
  throw timedOut(kind, describe(args), elapsed(), silence)
}

const isSilence = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === "APP_UNRESPONSIVE" || error.code === "TIMEOUT")

function timedOut(kind: string, what: string, elapsed: number, silence?: AppError): AppError {
  const why = silence ? `; ${silence.message}` : ""
  return new AppError("TIMEOUT", `${what} after ${elapsed} ms${why}`, {
    suggestion: "Run 'snapshot' to see what is there instead, or wait longer with --timeout",
    platformDetail: silence?.platformDetail,
    details: { kind, elapsed_ms: elapsed },
  })
}

type Look = () => Promise<object | undefined>

async function condition(ctx: Context, args: WaitArgs): Promise<{ kind: string; look: Look }> {
  if (args.element !== undefined) return { kind: "element", look: await element(ctx, args.element, args) }
  if (args.window !== undefined) return { kind: "window", look: titled(ctx, args.window, args) }
  if (args.notification) return { kind: "notification", look: await notified(ctx, args) }
  if (args.menu || args.menu_closed)
    return { kind: args.menu ? "menu" : "menu_closed", look: menu(ctx, args) }
  return { kind: args.gone ? "text_gone" : "text", look: shown(ctx, args.text ?? "", args) }
}

async function element(ctx: Context, ref_id: string, args: WaitArgs): Promise<Look> {
  const predicate = args.gone ? "gone" : args.predicate
  const choice = { ref_id, snapshot: args.snapshot }
  // Fails at once for a ref that no snapshot has given.
  const { ref } = await lookUp(ctx, choice)
  return async () => {
    try {
      const { seen } = await resolve(ctx, choice)
      return predicate !== "gone" && holds(predicate, seen, args.value)
        ? { element: ref, predicate }
        : undefined
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "STALE_REF") throw error
      // An element with look-alikes may still be there.
      const isGone = predicate === "gone" && error.details?.certain !== false
      return isGone ? { element: ref, predicate } : undefined
    }
  }
}

function holds(predicate: Exclude<Predicate, "gone">, seen: Seen, value?: string): boolean {
  switch (predicate) {
    case "exists":
      return true
    case "visible":
      return isVisible(seen) === true
    case "enabled":
      return flagValue(seen, "enabled") === true
    case "actionable":
      return (
        isVisible(seen) !== false && flagValue(seen, "enabled") !== false && !seen.states.includes("busy")
      )
    case "value":
      return seen.value === value
    default:
      return predicate satisfies never
  }
}

const titled =
  (ctx: Context, title: string, args: WaitArgs): Look =>
  async () => {
    const part = title.toLowerCase()
    const windows = await ctx.adapter.windows(args.app === undefined ? undefined : { app: args.app })
    const own = args.app === undefined ? windows : windowsOfApp(windows, args.app)
    const window = own.find((one) => one.title.toLowerCase().includes(part))
    if (args.gone) return window ? undefined : {}
    return window && { window: publicWindow(window) }
  }

function shown(ctx: Context, text: string, args: WaitArgs): Look {
  return async () => {
    const window = await unlessMissing(chooseWindow(ctx.adapter, args))
    if (!window) return args.gone ? { text } : undefined
    if (isStarting(window)) return undefined
    requireContent(window)
    const tree = await unlessMissing(
      ctx.adapter.tree(
        { kind: "surface", window, surface: "window" },
        { maxDepth: MAX_LEVELS, bounds: "interactive", includeHidden: false, interactiveOnly: false },
      ),
    )
    if (!tree) return args.gone ? { text } : undefined
    const places = [...walk(tree.root)]
    const place = places.find((one) => matches(one, { text }))
    // The text may be in a part of the tree that was not read.
    if (args.gone) return place || !tree.complete ? undefined : { text }
    return place && { text, match: (await toMatches(ctx, tree, [place], places))[0] }
  }
}

const menu =
  (ctx: Context, args: WaitArgs): Look =>
  async () => {
    const window = await unlessMissing(chooseWindow(ctx.adapter, args))
    const surfaces = window ? await ctx.adapter.surfaces(window.pid) : []
    const open = surfaces.find((surface) => surface.type === "menu")
    return args.menu ? open && { menu: open } : open ? undefined : {}
  }

/** Waits for a notification that was not there when the wait, or the batch that it is part of, started. */
async function notified(ctx: Context, args: WaitArgs): Promise<Look> {
  const known = new Set((ctx.baseline ?? (await ctx.adapter.notifications())).map((one) => one.id))
  return async () => {
    const fresh = (await listNotifications(ctx, args)).find((one) => !known.has(one.id))
    return fresh && { notification: publicNotification(fresh) }
  }
}

const MISSING: ReadonlySet<ErrorCode> = new Set(["APP_NOT_FOUND", "WINDOW_NOT_FOUND", "ELEMENT_NOT_FOUND"])

/** undefined: the app, window or element is not there yet. Other failures are thrown. */
async function unlessMissing<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt
  } catch (error) {
    if (error instanceof AppError && MISSING.has(error.code)) return undefined
    throw error
  }
}

function describe(args: WaitArgs): string {
  if (args.element !== undefined) return `${args.element} was not '${args.gone ? "gone" : args.predicate}'`
  if (args.window !== undefined)
    return `The window '${args.window}' ${args.gone ? "was still there" : "did not appear"}`
  if (args.notification) return "No new notification came"
  if (args.menu) return "No menu opened"
  if (args.menu_closed) return "A menu was still open"
  return `The text '${args.text ?? ""}' ${args.gone ? "was still there" : "did not appear"}`
}
