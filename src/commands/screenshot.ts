import * as v from "valibot"
import type { ScreenshotTarget } from "../adapter.ts"
import { type Context, defineCommand } from "../command.ts"
import { app, flag, oneOf, optionalText, whole, windowId } from "../inputs.ts"
import { chooseWindow } from "../look/windows.ts"

export default defineCommand({
  name: "screenshot",
  summary: "Take a PNG of the screen, a window or an app's window",
  group: "observe",
  readOnly: true,
  input: {
    path: optionalText("File to write; without it the picture comes as base64", {
      position: 0,
      value: "PATH",
    }),
    app,
    window_id: windowId,
    screen: v.optional(whole("Which display, from 0", 0, 63, { value: "N" })),
    annotate: flag("Draw a box and the ref of each element into the picture of the window"),
  },
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
      ? await (await import("../look/marks.ts")).markedPicture(ctx, await chooseWindow(ctx.adapter, args))
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
