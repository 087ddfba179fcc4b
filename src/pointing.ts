import type { Context } from "./command.ts"
import { AppError, NOTHING_DELIVERED } from "./errors.ts"
import type { Point } from "./node.ts"
import { clickablePoint } from "./physical.ts"
import { resolve, type Target } from "./resolve.ts"

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
