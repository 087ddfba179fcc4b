import { defineCommand } from "../command.ts"
import { button, xy } from "../inputs.ts"

export default defineCommand({
  name: "mouse-up",
  summary: "Release a mouse button at a point",
  group: "input",
  input: { xy, button },
  examples: ["agent-desktop mouse-up --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "button", at: args.xy, button: args.button, phase: "up" })
    return { action: "mouse-up", ...args.xy }
  },
})
