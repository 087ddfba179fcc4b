import type { Context } from "./command.ts"
import type { Point } from "./node.ts"
import { clickablePoint } from "./physical.ts"
import { resolve } from "./resolve.ts"

/** The point that a command means: given as such, or the middle of an element that input can reach. */
export async function pointOf(ctx: Context, given: { xy?: Point; ref?: string; snapshot?: string }): Promise<Point> {
  if (given.xy) return given.xy
  const target = await resolve(ctx, { ref_id: given.ref ?? "", snapshot: given.snapshot })
  return clickablePoint(ctx, target)
}
