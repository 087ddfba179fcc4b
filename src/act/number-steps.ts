import { type Action, ALREADY, type Performed } from "../action.ts"
import type { Context } from "../command.ts"
import { AppError, NOTHING_DELIVERED } from "../errors.ts"
import type { Target } from "../refs/resolve.ts"
import { until } from "../until.ts"
import { afterSending } from "./deliver.ts"
import { dispositionOf, notSupported, numberIn } from "./expect.ts"
import { pressKey, proveFocus, TYPED, takeFocus } from "./keyboard.ts"

/**
 * Sets a number with the arrow keys, in the element's own steps. The first press shows how large a step is. Each
 * further round of presses is checked against the element's value: if it is not as expected, no key follows.
 */
export async function stepTo(ctx: Context, target: Target, action: Action, text: string): Promise<Performed> {
  const want = numberIn(text)
  const first = numberIn(target.seen.value ?? "")
  if (!Number.isFinite(first)) throw notSupported(target.ref, target.seen, action)
  if (!Number.isFinite(want)) throw notANumber(text)
  await takeFocus(ctx, target, action)
  if (isNear(first, want)) return ALREADY
  const { up, down } = target.seen.role === "slider" ? SIDEWAYS : UPRIGHT
  const key = want > first ? up : down
  await press(ctx, target, action, key, 1)
  return afterSending(action, () =>
    stepFrom(ctx, target, action, { first, want, key, back: key === up ? down : up }),
  )
}

interface Steps {
  readonly first: number
  readonly want: number
  /** The key that was pressed once, and the one that takes it back. */
  readonly key: string
  readonly back: string
}

/** Presses the rest of the keys, once the first one shows how large a step is. */
async function stepFrom(
  ctx: Context,
  target: Target,
  action: Action,
  { first, want, key, back }: Steps,
): Promise<Performed> {
  const second = await whenValue(ctx, target, (value) => !isNear(value, first))
  // If the value does not move, the caller judges the key press like any other action.
  if (second === undefined) return TYPED
  const step = second - first
  const steps = Math.round((want - second) / step)
  if (!isNear(second + steps * step, want)) {
    await press(ctx, target, action, back, 1)
    throw outOfStep(target, action, { want, first, step: Math.abs(step) })
  }
  if (Math.abs(steps) > MOST_STEPS) {
    await press(ctx, target, action, back, 1)
    throw tooFar(target, action, Math.abs(steps))
  }
  for (let left = Math.abs(steps), now = second; left > 0; ) {
    const count = Math.min(left, AT_ONCE)
    await press(ctx, target, action, steps > 0 ? key : back, count)
    now += Math.sign(steps) * count * step
    const aim = now
    if ((await whenValue(ctx, target, (value) => isNear(value, aim))) === undefined) return TYPED
    left -= count
  }
  return TYPED
}

/** Both pairs mean the same to most widgets; these are the ones that the ARIA pattern of each role names first. */
const SIDEWAYS = { up: "right", down: "left" } as const
const UPRIGHT = { up: "up", down: "down" } as const

/** Keys sent before the next look. */
const AT_ONCE = 20
const MOST_STEPS = 1000
/** How long the value may take to show a press. */
const STEP_MS = 2000

async function press(
  ctx: Context,
  target: Target,
  action: Action,
  key: string,
  count: number,
): Promise<void> {
  for (let done = 0; done < count; done++) {
    if (done === 0) await proveFocus(ctx, target)
    await pressKey(ctx, target, { modifiers: [], key }, action)
  }
}

async function whenValue(
  ctx: Context,
  { entry, seen }: Target,
  isWanted: (value: number) => boolean,
): Promise<number | undefined> {
  const look = async () => {
    const now = numberIn((await ctx.adapter.read(seen.handle))?.value ?? "")
    return Number.isFinite(now) && isWanted(now) ? { now } : undefined
  }
  return (await until(ctx, look, { pids: [entry.pid], deadline: ctx.deadline.slice(STEP_MS) }))?.now
}

const isNear = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b))

function outOfStep(
  { ref }: Target,
  action: Action,
  { want, first, step }: { readonly want: number; readonly first: number; readonly step: number },
): AppError {
  const near = first + Math.round((want - first) / step) * step
  return new AppError(
    "ACTION_FAILED",
    `${ref} moves in steps of ${step} from ${first}, so it cannot reach ${want}`,
    {
      suggestion: `Pass a value that it can have: agent-desktop set-value ${ref} ${near}`,
      details: { kind: "out_of_step", step, nearest: near },
      disposition: dispositionOf(action, "delivered_unverified"),
    },
  )
}

function tooFar({ ref }: Target, action: Action, steps: number): AppError {
  return new AppError("ACTION_FAILED", `${ref} is ${steps} arrow key presses away from that value`, {
    suggestion: `Go most of the way with larger steps first: agent-desktop press pageup --to ${ref}; or home, end`,
    details: { kind: "too_far", steps },
    disposition: dispositionOf(action, "delivered_unverified"),
  })
}

const notANumber = (text: string): AppError =>
  new AppError("ACTION_FAILED", `'${text}' is not a number, which this element needs`, {
    suggestion: "Pass a number: agent-desktop set-value REF 50",
    details: { kind: "not_a_number" },
    disposition: NOTHING_DELIVERED,
  })
