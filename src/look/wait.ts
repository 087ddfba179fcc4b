import type { Seen, SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import { AppError, type ErrorCode } from "../errors.ts"
import { matches } from "../match.ts"
import { cut, REF_SYNTAX } from "../refmap.ts"
import { lookUp, resolve } from "../refs/resolve.ts"
import type { Position } from "../tree.ts"
import { pause, until } from "../until.ts"
import { toMatches } from "./find.ts"
import { listNotifications, publicNotification, showNotifications } from "./notifications.ts"
import { flagValue, isVisible } from "./properties.ts"
import { type Gaps, gapsOf, look as readOnce, type Searched, search } from "./search.ts"
import { isStarting, requireContent } from "./surface.ts"
import { chooseWindow, nameless, publicWindow, windowsOfApp } from "./windows.ts"

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
  const { kind, look, missed, doubt, facts } = await condition(ctx, args)
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
  throw timedOut(kind, doubt?.() ?? describe(args), elapsed(), silence, {
    ...facts?.(),
    ...(await missed?.()),
  })
}

const isSilence = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === "APP_UNRESPONSIVE" || error.code === "TIMEOUT")

function timedOut(
  kind: string,
  what: string,
  elapsed: number,
  silence?: AppError,
  missed?: Partial<Gaps>,
): AppError {
  const why = [silence?.message, missed?.unsearched?.reason].flatMap((reason) =>
    reason ? `; ${reason}` : [],
  )
  return new AppError("TIMEOUT", `${what} after ${elapsed} ms${why.join("")}`, {
    suggestion: missed?.unsearched?.count
      ? missed.unsearched.suggestion
      : kind === "window"
        ? "Use a title of 'list-windows', or wait longer with --timeout"
        : "Run 'snapshot' to see what is there instead, or wait longer with --timeout",
    platformDetail: silence?.platformDetail,
    details: {
      kind,
      elapsed_ms: elapsed,
      ...missed,
    },
  })
}

type Check = () => Promise<object | undefined>

interface Condition {
  readonly kind: string
  readonly look: Check
  /** Parts of the window that the last look did not cover. */
  missed?(): Promise<Gaps | undefined>
  /** Details for the error when the time is up. */
  facts?(): Readonly<Record<string, unknown>>
  /** The outcome if the last look was inconclusive; undefined if it was not. */
  doubt?(): string | undefined
}

async function condition(ctx: Context, args: WaitArgs): Promise<Condition> {
  if (args.element !== undefined) return { kind: "element", look: await element(ctx, args.element, args) }
  if (args.window !== undefined) return titled(ctx, args.window, args)
  if (args.notification) return { kind: "notification", look: await notified(ctx, args) }
  if (args.menu || args.menu_closed)
    return { kind: args.menu ? "menu" : "menu_closed", look: menu(ctx, args) }
  return shown(ctx, args.text ?? "", args)
}

async function element(ctx: Context, ref_id: string, args: WaitArgs): Promise<Check> {
  const predicate = args.gone ? "gone" : args.predicate
  if (!REF_SYNTAX.test(ref_id)) return described(ctx, ref_id, predicate, args)
  const choice = { ref_id, snapshot: args.snapshot }
  // Fails at once for a ref that no snapshot has issued.
  const { ref } = await lookUp(ctx, choice)
  return async () => {
    try {
      const { seen } = await resolve(ctx, choice)
      return predicate !== "gone" && holds(predicate, seen, args.value)
        ? { element: ref, predicate }
        : undefined
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "STALE_REF") throw error
      // An element that has look-alikes may still be there.
      const isGone = predicate === "gone" && error.details?.certain !== false
      return isGone ? { element: ref, predicate } : undefined
    }
  }
}

/** Searches again each time: another element may match the description by now. */
async function described(ctx: Context, target: string, predicate: Predicate, args: WaitArgs): Promise<Check> {
  const { seekTarget } = await import("./target.ts")
  return async () => {
    const sought = await unlessMissing(seekTarget(ctx, target, args))
    if (predicate === "gone") {
      if (sought && sought.kind !== "none") return undefined
      return { element: target, predicate, ...sought?.gaps }
    }
    if (sought?.kind === "several") throw sought.error
    if (sought?.kind !== "one") return undefined
    try {
      const { ref, seen } = await resolve(ctx, sought)
      return holds(predicate, seen, args.value) ? { element: ref, predicate } : undefined
    } catch (error) {
      if (error instanceof AppError && error.code === "STALE_REF") return undefined
      throw error
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

function titled(ctx: Context, title: string, args: WaitArgs): Condition {
  const part = title.toLowerCase()
  let own: readonly SeenWindow[] = []
  return {
    kind: "window",
    facts: () => (args.gone ? {} : { windows: own.slice(0, MOST_WINDOWS).map(titleOf) }),
    async look() {
      const windows = await ctx.adapter.windows(args.app === undefined ? undefined : { app: args.app })
      own = args.app === undefined ? windows : windowsOfApp(windows, args.app)
      const window = own.find((one) => one.title.toLowerCase().includes(part))
      // An app that does not answer may be the wanted one.
      const isUnsure = args.app !== undefined && nameless(windows).length > 0
      if (args.gone) return window || isUnsure ? undefined : {}
      return window && { window: publicWindow(window) }
    },
  }
}

const MOST_WINDOWS = 20

const titleOf = ({ id, title, app_name }: SeenWindow) => ({ id, title, app_name })

function shown(ctx: Context, text: string, args: WaitArgs): Condition {
  const query = { includeHidden: false, fits: (one: Position) => matches(one, { text }), enough: 1 }
  let last: Searched | undefined
  return {
    kind: args.gone ? "text_gone" : "text",
    missed: async () => last && gapsOf(ctx, last),
    doubt: () =>
      args.gone && last?.found.length === 0
        ? `It is not certain that the text '${brief(text)}' is gone`
        : undefined,
    async look() {
      const window = await unlessMissing(chooseWindow(ctx.adapter, args))
      if (!window) return args.gone ? { text } : undefined
      if (isStarting(window)) return undefined
      requireContent(window)
      const looking = args.gone ? search(ctx, window, query) : readOnce(ctx, window, query)
      const seen = await unlessMissing(looking)
      if (!seen) return args.gone ? { text } : undefined
      const now: Searched = { isBusy: false, ...seen }
      const { tree, places, found, isBusy } = now
      // The last look may have had too little time to see anything.
      if (!last || tree.complete || found.length > 0) last = now
      const [place] = found
      if (!args.gone) return place && { text, match: (await toMatches(ctx, tree, [place], places))[0] }
      // The text may be in a part of the tree that could not be read now. Rows out of view are never read; the error
      // says so.
      return place || isBusy || !tree.complete ? undefined : { text, ...(await gapsOf(ctx, now)) }
    },
  }
}

const menu =
  (ctx: Context, args: WaitArgs): Check =>
  async () => {
    const window = await unlessMissing(chooseWindow(ctx.adapter, args))
    const surfaces = window ? await ctx.adapter.surfaces(window.pid) : []
    const open = surfaces.find((surface) => surface.type === "menu")
    return args.menu ? open && { menu: open } : open ? undefined : {}
  }

/** Waits for a notification that was not there when the wait, or the batch that it is part of, started. */
async function notified(ctx: Context, args: WaitArgs): Promise<Check> {
  const known = new Set((ctx.baseline ?? (await ctx.adapter.notifications())).map((one) => one.id))
  return async () => {
    const fresh = (await listNotifications(ctx, args)).find((one) => !known.has(one.id))
    if (!fresh) return undefined
    const shown = (await showNotifications(ctx, args)).find(({ id }) => id === fresh.id)
    return shown && { notification: publicNotification(shown) }
  }
}

const MISSING: ReadonlySet<ErrorCode> = new Set(["APP_NOT_FOUND", "WINDOW_NOT_FOUND", "ELEMENT_NOT_FOUND"])

/** undefined: the app, window or element is not there yet. Other failures are thrown. */
async function unlessMissing<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt
  } catch (error) {
    if (!(error instanceof AppError && MISSING.has(error.code))) throw error
    if (error.details?.certain === false) throw new AppError("APP_UNRESPONSIVE", error.message)
    return undefined
  }
}

/** The start of a long text: the caller knows the rest. */
const brief = (text: string): string => (text.length > BRIEF ? `${cut(text, BRIEF)}…` : text)
const BRIEF = 60

function describe(args: WaitArgs): string {
  if (args.element !== undefined) {
    if (args.gone || args.predicate === "gone") return `${args.element} was still there`
    return `${args.element} ${args.predicate === "exists" ? "did not appear" : `was not '${args.predicate}'`}`
  }
  if (args.window !== undefined)
    return `The window '${brief(args.window)}' ${args.gone ? "was still there" : "did not appear"}`
  if (args.notification) return "No new notification came"
  if (args.menu) return "No menu opened"
  if (args.menu_closed) return "A menu was still open"
  return `The text '${brief(args.text ?? "")}' ${args.gone ? "was still there" : "did not appear"}`
}
