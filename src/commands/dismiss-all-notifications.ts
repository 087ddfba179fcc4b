import type { SeenNotification } from "../adapter.ts"
import { type Context, defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { app } from "../inputs.ts"
import { listNotifications } from "../look/notifications.ts"

export default defineCommand({
  name: "dismiss-all-notifications",
  summary: "Dismiss every notification, or all of one app",
  group: "notification",
  input: { app },
  async run(args, ctx) {
    const found = await listNotifications(ctx, args)
    let dismissed = 0
    for (const one of found) if (await dismiss(ctx, one)) dismissed++
    return { action: "dismiss-all-notifications", dismissed }
  },
})

/** false when it was gone before. */
async function dismiss(ctx: Context, one: SeenNotification): Promise<boolean> {
  try {
    await ctx.adapter.notification(one, { kind: "dismiss" })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === "NOTIFICATION_NOT_FOUND") return false
    throw error
  }
}
