import { defineCommand } from "../command.ts"
import { app } from "../inputs.ts"
import { notificationAt, notificationIndex } from "../look/notifications.ts"

export default defineCommand({
  name: "dismiss-notification",
  summary: "Dismiss one notification by its index",
  group: "notification",
  input: { index: notificationIndex, app },
  examples: ["agent-desktop dismiss-notification 0"],
  async run(args, ctx) {
    const target = await notificationAt(ctx, args.index, args.app)
    await ctx.adapter.notification(target, { kind: "dismiss" })
    return {
      action: "dismiss-notification",
      index: args.index,
      app_name: target.app_name,
      title: target.title,
    }
  },
})
