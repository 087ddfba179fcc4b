import { type Action, ALREADY, type Performed } from "../action.ts"
import type { Handle, Seen } from "../adapter.ts"
import type { Context } from "../command.ts"
import { type DatePart, type DateParts, exampleOf, parseDate } from "../content/dates.ts"
import { AppError, NOTHING_DELIVERED, withDisposition } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { sendAction, sendInput } from "./deliver.ts"
import { dispositionOf } from "./expect.ts"
import { frontWindow, TYPED } from "./keyboard.ts"

type DateField = NonNullable<Seen["date"]>

/**
 * Fills in a date or time field as a user does: goes to each part and types its digits. An empty text clears every
 * part. The value of the field proves the result.
 */
export async function fillDate(
  ctx: Context,
  target: Target,
  action: Action,
  { kind, parts }: DateField,
  text: string,
): Promise<Performed> {
  const date = text === "" ? {} : parseDate(kind, text)
  if (!date) throw notADate(target, kind, text)
  refuseUnknownParts(target, parts, date)
  await frontWindow(ctx, target)
  let isBegun = false
  for (const [at, { part, handle, shown }] of parts.entries()) {
    const want = text === "" ? undefined : shownAs(part, date, parts)
    if (shown === want) continue
    try {
      await typePart(ctx, target, handle, action, want === undefined ? undefined : keysOf(part, want))
      isBegun = true
      // Keys still on their way would go to the next part. A part that does not change fails the whole action.
      if (!(await whenShown(ctx, target, at, want))) break
    } catch (error) {
      throw isBegun && error instanceof AppError ? halfDone(target, action, error) : error
    }
  }
  return isBegun ? TYPED : ALREADY
}

/** How long a part may take to get the keyboard focus, and to show its digits. */
const PART_MS = 2000

async function typePart(
  ctx: Context,
  { entry }: Target,
  handle: Handle,
  action: Action,
  keys: string | undefined,
): Promise<void> {
  const isFocused = async () => (await ctx.adapter.read(handle))?.states.includes("focused") || undefined
  const prove = async () => {
    if (!(await isFocused())) throw notFocused()
  }
  if (!(await isFocused())) {
    await sendAction(ctx, handle, { kind: "focus" })
    const deadline = ctx.deadline.slice(PART_MS)
    if (!(await until(ctx, isFocused, { pids: [entry.pid], deadline }))) throw notFocused()
  }
  const target = { pid: entry.pid, handle }
  const combo = { modifiers: [], key: "backspace" }
  if (keys === undefined) await sendInput(ctx, { kind: "key", combo, phase: "press", target, prove }, action)
  else await sendInput(ctx, { kind: "text", text: keys, target, prove }, action)
}

async function whenShown(
  ctx: Context,
  { entry, seen }: Target,
  at: number,
  want: number | undefined,
): Promise<boolean> {
  const isShown = async () => {
    const parts = (await ctx.adapter.read(seen.handle))?.date?.parts
    return (parts !== undefined && parts[at]?.shown === want) || undefined
  }
  return (await until(ctx, isShown, { pids: [entry.pid], deadline: ctx.deadline.slice(PART_MS) })) === true
}

/** The number that a part shows for this date. */
function shownAs(part: DatePart, date: DateParts, parts: DateField["parts"]): number {
  const { hour = 0 } = date
  if (part === "half") return hour < 12 ? 1 : 2
  const isHalfDay = part === "hour" && parts.some((one) => one.part === "half")
  return isHalfDay ? hour % 12 || 12 : (date[part] ?? 0)
}

function keysOf(part: DatePart, want: number): string {
  if (part === "half") return want === 1 ? "a" : "p"
  return String(want).padStart(part === "year" ? 4 : part === "millisecond" ? 3 : 2, "0")
}

/** A field without seconds cannot take seconds. */
function refuseUnknownParts(target: Target, parts: DateField["parts"], date: DateParts): void {
  const lacks = (["second", "millisecond"] as const).find(
    (part) => (date[part] ?? 0) > 0 && !parts.some((one) => one.part === part),
  )
  if (lacks)
    throw new AppError("ACTION_FAILED", `${target.ref} has no ${lacks}s`, {
      suggestion: `Leave them out: agent-desktop set-value ${target.ref} ${exampleOf(target.seen.date?.kind ?? "time")}`,
      details: { kind: "not_a_date" },
      disposition: NOTHING_DELIVERED,
    })
}

function notADate({ ref }: Target, kind: DateField["kind"], text: string): AppError {
  return new AppError("ACTION_FAILED", `'${text}' is not a value for a ${kind} field`, {
    suggestion: `Pass it in this form: agent-desktop set-value ${ref} ${exampleOf(kind)}`,
    details: { kind: "not_a_date", form: exampleOf(kind) },
    disposition: NOTHING_DELIVERED,
  })
}

const notFocused = (): AppError =>
  new AppError("ACTION_FAILED", "A part of the field did not take the keyboard focus", {
    suggestion: "Bring its window to the front first: agent-desktop focus-window WINDOW_ID",
    details: { kind: "not_focused" },
    disposition: NOTHING_DELIVERED,
  })

/** Some parts have their digits. A retry types all of them again, so it is safe. */
const halfDone = ({ ref }: Target, action: Action, error: AppError): AppError =>
  withDisposition(
    error.with({
      suggestion: `A part of the date was typed. See the field's value: agent-desktop get ${ref} value`,
    }),
    dispositionOf(action, "delivery_uncertain"),
  )
