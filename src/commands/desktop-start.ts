import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { optionalText, text } from "../inputs.ts"

export default defineCommand({
  name: "desktop-start",
  summary: "Linux: start an isolated desktop (display, buses, window manager) to run apps in",
  group: "desktop",
  timeoutMs: 15_000,
  input: {
    name: optionalText("Name of the desktop; made up if left out", { value: "NAME" }),
    size: v.optional(text("Width and height of its screen", { value: "WxH" }), "1920x1080"),
  },
  examples: ["agent-desktop desktop-start --name test", "agent-desktop --desktop test launch mousepad"],
  check: (args) => void parseSize(args.size),
  async run(args, ctx) {
    const [started] = await ctx.adapter.desktops({ kind: "start", name: args.name, ...parseSize(args.size) })
    return { ...started }
  },
})

function parseSize(text: string): { width: number; height: number } {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/i.exec(text) ?? []
  const size = { width: Number(width), height: Number(height) }
  if (size.width >= 320 && size.width <= 8192 && size.height >= 200 && size.height <= 8192) return size
  throw new AppError("INVALID_ARGS", `--size '${text}' must be WxH, from 320x200 to 8192x8192`, {
    suggestion: "agent-desktop desktop-start --size 1280x800",
  })
}
