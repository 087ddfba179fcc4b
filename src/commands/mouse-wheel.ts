import * as v from "valibot"
import { changing } from "../act/act.ts"
import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { changes, whole, xy } from "../inputs.ts"

export default defineCommand({
  name: "mouse-wheel",
  summary: "Turn the wheel at a point of the screen; positive is down and right",
  group: "input",
  input: {
    xy,
    dx: v.optional(whole("Steps to the right", -100, 100, { value: "N" }), 0),
    dy: v.optional(whole("Steps down", -100, 100, { value: "N" }), 0),
    changes,
  },
  examples: ["agent-desktop mouse-wheel --xy 400,300 --dy 3"],
  check(args) {
    if (args.dx === 0 && args.dy === 0) {
      throw new AppError("INVALID_ARGS", "One of --dx, --dy must not be 0", {
        suggestion: `agent-desktop mouse-wheel --xy ${args.xy.x},${args.xy.y} --dy 3`,
      })
    }
  },
  run: (args, ctx) =>
    changing(ctx, args, async () => {
      await ctx.adapter.input({ kind: "wheel", at: args.xy, dx: args.dx, dy: args.dy })
      return { action: "mouse-wheel", ...args.xy, dx: args.dx, dy: args.dy }
    }),
})
