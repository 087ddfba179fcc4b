import { defineCommand } from "../command.ts"
import { app } from "../inputs.ts"
import { listNotifications } from "../notifications.ts"

export default defineCommand({
  name: "dismiss-all-notifications",
  summary: "Dismiss every notification, or all of one app",
  group: "notification",
  input: { app },
  async run(args, ctx) {
    const found = await listNotifications(ctx, args)
    for (const one of found) await ctx.adapter.notification(one, { kind: "dismiss" })
    return { action: "dismiss-all-notifications", dismissed: found.length }
  },
})
