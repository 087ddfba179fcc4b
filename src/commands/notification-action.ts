import { defineCommand } from "../command.ts"
import { AppError } from "../errors.ts"
import { app, text } from "../inputs.ts"
import { notificationAt, notificationIndex } from "../look/notifications.ts"

export default defineCommand({
  name: "notification-action",
  summary: "Press a button of a notification",
  group: "notification",
  input: {
    index: notificationIndex,
    action: text("Name of the button", { position: 1, value: "ACTION" }),
    app,
  },
  examples: ['agent-desktop notification-action 0 "Reply"'],
  async run(args, ctx) {
    const target = await notificationAt(ctx, args.index, args.app)
    const action = target.actions?.find((name) => name === args.action)
    if (action === undefined) {
      throw new AppError(
        "ACTION_NOT_SUPPORTED",
        `Notification ${args.index} '${target.title}' has no action '${args.action}'`,
        {
          suggestion: target.actions?.length
            ? `Use one of: ${target.actions.join(", ")}`
            : "Use 'dismiss-notification'",
        },
      )
    }
    await ctx.adapter.notification(target, { kind: "action", action })
    return { action: "notification-action", index: args.index, title: target.title, pressed: action }
  },
})
