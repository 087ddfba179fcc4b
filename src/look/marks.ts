import { MAX_LEVELS, type Picture, type SeenWindow } from "../adapter.ts"
import type { Context } from "../command.ts"
import type { Rect } from "../node.ts"
import { annotate, type Mark } from "../picture/annotate.ts"
import { walk } from "../tree.ts"
import { appendRefs, readSurface } from "./surface.ts"

export interface Marked {
  readonly picture: Picture
  readonly snapshot_id?: string
}

/** A picture of a window with its refs drawn in; what can be acted on and has none yet gets one, as with find. */
export async function markedPicture(ctx: Context, window: SeenWindow): Promise<Marked> {
  const [{ seen, source }, picture] = await Promise.all([
    readSurface(ctx, window, WHOLE),
    ctx.adapter.screenshot({ kind: "window", window }),
  ])
  const refOf = await appendRefs(ctx, seen.root, source)
  const scale = scaleOf(picture, window)
  const marks = [...walk(seen.root)].flatMap(({ node }): Mark[] => {
    const label = refOf(node)
    const isShown = !node.states.includes("hidden") && !node.states.includes("offscreen")
    return label && node.bounds && isShown ? [{ label, box: inPicture(node.bounds, picture, scale) }] : []
  })
  const png = annotate(picture.png, marks, scale)
  return { picture: { ...picture, png }, snapshot_id: (await ctx.refs.load()).snapshot_id }
}

const WHOLE = {
  surface: "window",
  max_depth: MAX_LEVELS,
  include_bounds: false,
  include_hidden: false,
  interactive_only: true,
  skeleton: false,
} as const

/** Pixels of the picture to a pixel of the screen: a window cut off by the screen's edge has fewer, never more. */
function scaleOf({ width }: Picture, { bounds }: SeenWindow): number {
  return bounds ? Math.max(1, Math.round(width / bounds.width)) : 1
}

const inPicture = ({ x, y, width, height }: Rect, { origin }: Picture, scale: number): Rect => ({
  x: (x - origin.x) * scale,
  y: (y - origin.y) * scale,
  width: width * scale,
  height: height * scale,
})
