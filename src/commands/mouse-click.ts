import * as v from "valibot"
import { changing } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { button, changes, whole, xy } from "../inputs.ts"

export default defineCommand({
  name: "mouse-click",
  summary: "Click at a point of the screen",
  group: "input",
  input: {
    xy,
    button,
    count: v.optional(whole("How many clicks in quick succession", 1, 3, { value: "N" }), 1),
    changes,
  },
  examples: ["agent-desktop mouse-click --xy 400,300 --button right"],
  run: (args, ctx) =>
    changing(ctx, args, async () => {
      await ctx.adapter.input({ kind: "click", at: args.xy, button: args.button, count: args.count })
      return { action: "mouse-click", ...args.xy }
    }),
})
