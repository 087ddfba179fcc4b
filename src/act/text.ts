import type { Context } from "../command.ts"
import type { TextAccess, TextRange } from "../content/text.ts"
import { AppError, type Disposition, NOTHING_DELIVERED } from "../errors.ts"
import { findRange, outside, type TextWanted, textAccess } from "../look/text-range.ts"
import { withArticle } from "../node.ts"
import { type RefChoice, resolve, type Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { keepFocus, reportFocus } from "./keep-focus.ts"
import { type ActedOn, actedOn } from "./result.ts"
import { refuseUnreachable } from "./unreachable.ts"

/** Selects text and places the caret, only through the accessibility interface: no key can hit anything else. */

export interface TextActed extends TextRange {
  readonly action: string
  readonly ref_id: string
  readonly element: ActedOn
  readonly text?: string
  readonly method: string
  readonly already?: true
  readonly disposition: Disposition
  readonly focused?: boolean
  readonly focus_reason?: string
}

export async function select(ctx: Context, choice: RefChoice, wanted: TextWanted): Promise<TextActed> {
  const target = await reach(ctx, choice)
  const text = await textAccess(ctx, target.ref, target.seen)
  const range = await findRange(target.ref, text, wanted)
  return place(ctx, target, text, range, "select-text")
}

export async function placeCaret(ctx: Context, choice: RefChoice, offset: number): Promise<TextActed> {
  const target = await reach(ctx, choice)
  const text = await textAccess(ctx, target.ref, target.seen)
  if (offset > text.length) throw outside(target.ref, text.length, offset)
  return place(ctx, target, text, { start: offset, end: offset }, "caret")
}

async function reach(ctx: Context, choice: RefChoice): Promise<Target> {
  const target = await resolve(ctx, choice)
  await refuseUnreachable(ctx, target)
  if (ctx.patient && ctx.deadline.expired)
    throw new AppError("TIMEOUT", `${target.ref} was found too late to act on it`, {
      suggestion: "Retry with a larger --timeout-ms",
      disposition: NOTHING_DELIVERED,
    })
  return target
}

async function place(
  ctx: Context,
  target: Target,
  text: TextAccess,
  range: TextRange,
  action: string,
): Promise<TextActed> {
  const { ref, seen, entry } = target
  // Focus first: some fields select their whole text when they get the focus.
  const focus = await keepFocus(ctx, target)
  const isThere = async (): Promise<true | undefined> => {
    const selection = await text.selection()
    if (range.start < range.end)
      return selection?.start === range.start && selection.end === range.end ? true : undefined
    return !selection && (await text.caret()) === range.start ? true : undefined
  }
  const already = await isThere()
  const sent = already ? undefined : await ctx.adapter.selectText(seen.handle, range)
  if (sent?.delivery === "not_delivered") throw notTaken(ref, seen.role, action)
  const isDone =
    already ?? (await until(ctx, isThere, { pids: [entry.pid], deadline: ctx.deadline.slice(EFFECT_MS) }))
  if (!isDone) throw notShown(target, action, focus.reason)
  const after = await ctx.adapter.read(seen.handle)
  return {
    action,
    ref_id: ref,
    element: actedOn(seen),
    ...range,
    ...(range.start < range.end ? { text: await text.read(shortened(range)) } : {}),
    method: sent?.method ?? "none",
    ...(already ? { already } : {}),
    disposition: { delivery: already ? "not_delivered" : "delivered_verified", retry: "safe" },
    ...reportFocus(focus, after ?? "gone"),
  }
}

/** How long the selection may take to show. */
const EFFECT_MS = 1500

/** The answer shows the start of a long selection. */
const shortened = ({ start, end }: TextRange): TextRange => ({
  start,
  end: Math.min(end, start + MOST_SHOWN),
})
const MOST_SHOWN = 200

function notTaken(ref: string, role: string, action: string): AppError {
  return new AppError(
    "ACTION_NOT_SUPPORTED",
    `${ref} is ${withArticle(role)} whose app does not support a ${action}`,
    {
      suggestion: `Use the keys: agent-desktop focus ${ref}, then press home, shift+right and so on; or triple-click ${ref} for a paragraph`,
      disposition: NOTHING_DELIVERED,
    },
  )
}

function notShown({ ref, entry }: Target, action: string, reason: string | undefined): AppError {
  const what = action === "caret" ? "caret" : "selection"
  const why = reason === undefined ? "" : `: ${reason}`
  return new AppError("ACTION_FAILED", `The app accepted the ${what}, but ${ref} does not show it${why}`, {
    suggestion:
      reason === undefined
        ? `See what it shows: agent-desktop get ${ref} selection`
        : `Bring its window to the front first: agent-desktop focus-window ${entry.window_id ?? ""}`,
    details: { kind: "not_shown" },
    disposition: { delivery: "delivered_unverified", retry: "safe" },
  })
}
