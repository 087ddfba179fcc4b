import * as v from "valibot"
import { defineCommand } from "../command.ts"
import { app, whole, words } from "../inputs.ts"
import { listNotifications, publicNotification } from "../look/notifications.ts"

export default defineCommand({
  name: "list-notifications",
  summary: "List the notifications that are showing or kept",
  group: "notification",
  readOnly: true,
  input: {
    app,
    text: words("Part of the title or body", { value: "TEXT" }),
    limit: v.optional(whole("At most this many", 1, 10_000, { value: "N" }), 50),
  },
  async run(args, ctx) {
    const found = await listNotifications(ctx, args)
    const unlisted = (await ctx.adapter.unlistedNotifications?.()) ?? 0
    return {
      count: found.length,
      notifications: found.slice(0, args.limit).map(publicNotification),
      ...(unlisted > 0 ? { unlisted } : {}),
    }
  },
})
