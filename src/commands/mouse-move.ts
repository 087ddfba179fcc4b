import { defineCommand } from "../command.ts"
import { xy } from "../inputs.ts"

export default defineCommand({
  name: "mouse-move",
  summary: "Move the pointer to a point of the screen",
  group: "input",
  input: { xy },
  examples: ["agent-desktop mouse-move --xy 400,300"],
  async run(args, ctx) {
    await ctx.adapter.input({ kind: "move", at: args.xy })
    return { action: "mouse-move", ...args.xy }
  },
})
