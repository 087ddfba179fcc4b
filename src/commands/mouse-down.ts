import { defineCommand } from "../command.ts"
import { button, xy } from "../inputs.ts"

export default defineCommand({
  name: "mouse-down",
  summary: "Hold a mouse button down at a point until mouse-up",
  group: "input",
  input: { xy, button },
  examples: ["agent-desktop mouse-down --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "button", at: args.xy, button: args.button, phase: "down" })
    return { action: "mouse-down", ...args.xy }
  },
})
