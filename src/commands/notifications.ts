import * as v from "valibot"
import { type Context, defineCommand } from "../command.ts"
import type { SeenNotification } from "../desktop.ts"
import { AppError } from "../errors.ts"
import {
  listNotifications as findNotifications,
  notificationAt,
  notificationIndex,
  publicNotification,
  showNotifications,
} from "../look/notifications.ts"
import { lines } from "../look/outline.ts"
import type { NotificationInfo } from "../node.ts"
import { app, text, whole, words } from "../schema/inputs.ts"
import { acted, count, described, notification } from "../schema/outputs.ts"
import { quoted } from "../shown-text.ts"

export const listNotifications = defineCommand({
  name: "list-notifications",
  summary: "List the notifications that are showing or kept",
  group: "notification",
  effect: "reads",
  tool: "all",
  trace: "pictures",
  input: {
    app,
    text: words("Part of the title or body", { value: "TEXT" }),
    limit: v.optional(whole("At most this many", 1, 10_000, { value: "N" }), 50),
  },
  output: () =>
    v.object({
      count: count(),
      notifications: v.array(notification()),
      unlisted: v.optional(
        described(count(), "Number of further ones that the daemon shows but does not describe"),
      ),
    }),
  print: ({ notifications, unlisted }) =>
    [
      lines(notifications, notificationLine),
      unlisted ? `${unlisted} more show, but the daemon does not describe them` : "",
    ]
      .filter(Boolean)
      .join("\n"),
  sample: {},
  async run(args, ctx) {
    const found = await showNotifications(ctx, args)
    const unlisted = await ctx.adapter.unlistedNotifications()
    return {
      count: found.length,
      notifications: found.slice(0, args.limit).map(publicNotification),
      ...(unlisted > 0 ? { unlisted } : {}),
    }
  },
})

function notificationLine({ index, app_name, title, body, actions }: NotificationInfo): string {
  const words = [index, quoted(app_name), quoted(title), body && quoted(body), actions?.map(quoted).join(" ")]
  return words.filter((word) => word !== undefined && word !== "").join(" ")
}

export const dismissNotification = defineCommand({
  name: "dismiss-notification",
  summary: "Dismiss one notification by its index",
  group: "notification",
  effect: "changes",
  tool: "all",
  trace: "pictures",
  input: { index: notificationIndex, app },
  output: () => acted("dismiss-notification", { index: count(), app_name: v.string(), title: v.string() }),
  print: "facts",
  sample: { index: 0 },
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

export const dismissAllNotifications = defineCommand({
  name: "dismiss-all-notifications",
  summary: "Dismiss every notification, or all of one app",
  group: "notification",
  effect: "changes",
  repeatable: true,
  tool: "all",
  trace: "pictures",
  input: { app },
  output: () => acted("dismiss-all-notifications", { dismissed: count() }),
  print: "facts",
  sample: {},
  async run(args, ctx) {
    const found = await findNotifications(ctx, args)
    let dismissed = 0
    for (const one of found) if (await wasThere(ctx, one)) dismissed++
    return { action: "dismiss-all-notifications", dismissed }
  },
})

/** Dismisses a notification; false if it was already gone. */
async function wasThere(ctx: Context, one: SeenNotification): Promise<boolean> {
  try {
    await ctx.adapter.notification(one, { kind: "dismiss" })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === "NOTIFICATION_NOT_FOUND") return false
    throw error
  }
}

export const notificationAction = defineCommand({
  name: "notification-action",
  summary: "Press a button of a notification",
  group: "notification",
  effect: "changes",
  tool: "all",
  trace: "pictures",
  input: {
    index: notificationIndex,
    action: text("Name of the button", { position: 1, value: "ACTION", traced: true }),
    app,
  },
  output: () => acted("notification-action", { index: count(), title: v.string(), pressed: v.string() }),
  print: "facts",
  sample: { index: 0, action: "Reply" },
  examples: ['agent-desktop notification-action 0 "Reply"'],
  async run(args, ctx) {
    const target = await notificationAt(ctx, args.index, args.app)
    const action = target.actions?.find((name) => name === args.action)
    if (action === undefined) {
      throw new AppError(
        "ACTION_NOT_SUPPORTED",
        `Notification ${args.index} '${target.title}' has no action '${args.action}'`,
        {
          suggestion: target.actions?.length ? "Use one of details.candidates" : "Use 'dismiss-notification'",
          details: { candidates: target.actions ?? [] },
        },
      )
    }
    await ctx.adapter.notification(target, { kind: "action", action })
    return { action: "notification-action", index: args.index, title: target.title, pressed: action }
  },
})
