import { changing } from "../act/act.ts"
import { aim } from "../act/pointer.ts"
import { defineCommand } from "../command.ts"
import { changes, durationMs, fitInto, oneOf, optionalRef, optionalXy, snapshotId } from "../inputs.ts"
import { pause } from "../until.ts"

export default defineCommand({
  name: "hover",
  summary: "Move the pointer over an element or a point, and stay there for a while if asked",
  group: "input",
  input: {
    ref_id: optionalRef("Element, such as @e3", { position: 0, aliases: ["ref"] }),
    snapshot: snapshotId,
    xy: optionalXy("Point of the screen"),
    duration_ms: durationMs("Stay this long before answering", 0),
    changes,
  },
  examples: ["agent-desktop hover @e3", "agent-desktop hover --xy 400,300 --duration 500"],
  check(args) {
    oneOf(args, ["ref_id", "xy"])
    fitInto(args.timeout_ms, args.duration_ms, "--duration")
  },
  run: (args, ctx) =>
    changing(ctx, args, async () => {
      const { point: at } = await aim(ctx, { xy: args.xy, ref: args.ref_id, snapshot: args.snapshot })
      await ctx.adapter.input({ kind: "move", at })
      await pause(args.duration_ms, ctx.deadline)
      return { action: "hover", ...at }
    }),
})
