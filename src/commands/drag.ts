import { changing } from "../act/act.ts"
import { aim, refuseCovered } from "../act/pointer.ts"
import { defineCommand } from "../command.ts"
import { changes, durationMs, fitInto, oneOf, optionalRef, optionalXy, snapshotId } from "../inputs.ts"

export default defineCommand({
  name: "drag",
  summary: "Drag from an element or point to another",
  group: "input",
  input: {
    from: optionalRef("Element to drag", { position: 0, aliases: ["ref_id", "ref"] }),
    from_xy: optionalXy("Point to drag from", { aliases: ["xy"] }),
    to: optionalRef("Element to drop on"),
    to_xy: optionalXy("Point to drop on"),
    snapshot: snapshotId,
    duration_ms: durationMs("How long the movement takes", 300),
    changes,
  },
  examples: ["agent-desktop drag @e3 --to @e7", "agent-desktop drag --from-xy 100,100 --to-xy 300,100"],
  check(args) {
    oneOf(args, ["from", "from_xy"])
    oneOf(args, ["to", "to_xy"])
    fitInto(args.timeout_ms, args.duration_ms, "--duration")
  },
  run: (args, ctx) =>
    changing(ctx, { ...args, ref_id: args.from }, async () => {
      const to = await aim(ctx, { xy: args.to_xy, ref: args.to, snapshot: args.snapshot })
      const from = await aim(ctx, { xy: args.from_xy, ref: args.from, snapshot: args.snapshot })
      // The window that came to the front for the one may cover the other.
      await refuseCovered(ctx, to)
      await ctx.adapter.input({ kind: "drag", from: from.point, to: to.point, durationMs: args.duration_ms })
      return { action: "drag", from: from.point, to: to.point }
    }),
})
