import * as v from "valibot"
import { MAX_LEVELS, type ScreenshotTarget, type SeenWindow } from "../adapter.ts"
import { type Context, defineCommand } from "../command.ts"
import type { Picture } from "../desktop.ts"
import { chooseWindow } from "../look/windows.ts"
import type { Rect } from "../node.ts"
import { app, flag, oneOf, optionalText, whole, windowId } from "../schema/inputs.ts"
import { count, described, optionalString } from "../schema/outputs.ts"
import { walk } from "../tree.ts"

export const screenshot = defineCommand({
  name: "screenshot",
  summary: "Take a PNG of the screen, a window or an app's window",
  group: "observe",
  effect: "reads",
  tool: "core",
  trace: "pictures",
  input: {
    path: optionalText("File to write; without it the picture comes as base64", {
      position: 0,
      value: "PATH",
      traced: true,
    }),
    app,
    window_id: windowId,
    screen: v.optional(whole("Which display, from 0", 0, 63, { value: "N" })),
    annotate: flag("Draw a box and the ref of each element into the picture of the window"),
  },
  output: () =>
    v.object({
      format: v.literal("png"),
      base64: optionalString(),
      path: optionalString(),
      width: count(),
      height: count(),
      snapshot_id: described(optionalString(), "With --annotate, the snapshot that the refs belong to"),
    }),
  print: "facts",
  sample: [{}, { path: "$file" }, { window_id: "$window" }],
  examples: [
    "agent-desktop screenshot shot.png --app TextEdit",
    "agent-desktop screenshot --screen 0",
    "agent-desktop screenshot shot.png --annotate",
  ],
  check(args) {
    oneOf(
      { ...args, app: args.window_id === undefined ? args.app : undefined },
      ["app", "window_id", "screen"],
      0,
    )
    oneOf(args, ["screen", "annotate"], 0)
  },
  async run(args, ctx) {
    const { picture, ...more } = args.annotate
      ? await markedPicture(ctx, await chooseWindow(ctx.adapter, args))
      : { picture: await ctx.adapter.screenshot(await targetOf(args, ctx)) }
    const size = { width: picture.width, height: picture.height, ...more }
    if (args.path === undefined) return { format: "png", base64: picture.png.toBase64(), ...size }
    await ctx.writeFile(args.path, picture.png)
    return { format: "png", path: args.path, ...size }
  },
})

async function targetOf(
  args: { readonly app?: string; readonly window_id?: string; readonly screen?: number },
  ctx: Context,
): Promise<ScreenshotTarget> {
  return args.app !== undefined || args.window_id !== undefined
    ? { kind: "window", window: await chooseWindow(ctx.adapter, args) }
    : { kind: "screen", index: args.screen }
}

interface Marked {
  readonly picture: Picture
  readonly snapshot_id?: string
}

/** A picture of a window with its refs drawn in. Interactive elements get a ref, as with find. */
async function markedPicture(ctx: Context, window: SeenWindow): Promise<Marked> {
  const [{ appendRefs, readSurface, shownPart }, { annotate }] = await Promise.all([
    import("../look/surface.ts"),
    import("../picture/annotate.ts"),
  ])
  const [{ seen, source }, picture] = await Promise.all([
    readSurface(ctx, window, WHOLE),
    ctx.adapter.screenshot({ kind: "window", window }),
  ])
  const { getsRef } = shownPart(seen.root, WHOLE)
  const refOf = await appendRefs(ctx, seen.root, source, undefined, getsRef)
  const scale = scaleOf(picture, window)
  const marks = [...walk(seen.root)].flatMap(({ node }) => {
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
  offscreen: false,
  interactive_only: true,
  skeleton: false,
} as const

/** Picture pixels per screen pixel. Rounded, since the edge of the screen may cut the window. */
function scaleOf({ width }: Picture, { bounds }: SeenWindow): number {
  return bounds ? Math.max(1, Math.round(width / bounds.width)) : 1
}

const inPicture = ({ x, y, width, height }: Rect, { origin }: Picture, scale: number): Rect => ({
  x: (x - origin.x) * scale,
  y: (y - origin.y) * scale,
  width: width * scale,
  height: height * scale,
})
