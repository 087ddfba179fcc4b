import type { Context } from "../command.ts"
import type { SeenNotification } from "../desktop.ts"
import { AppError } from "../errors.ts"
import type { NotificationInfo } from "../node.ts"
import { whole } from "../schema/inputs.ts"

export const notificationIndex = whole("Index, from list-notifications", 0, 100_000, {
  position: 0,
  value: "INDEX",
})

export async function listNotifications(
  ctx: Context,
  filter: { readonly app?: string; readonly text?: string },
): Promise<readonly SeenNotification[]> {
  const app = filter.app?.toLowerCase()
  const text = filter.text?.toLowerCase()
  return (await ctx.adapter.notifications()).filter(
    (one) =>
      (app === undefined || one.app_name.toLowerCase() === app) &&
      (text === undefined || `${one.title}\n${one.body ?? ""}`.toLowerCase().includes(text)),
  )
}

/** The notification with that index. Fails if it is not from the named app: indexes shift. */
export async function notificationAt(ctx: Context, index: number, app?: string): Promise<SeenNotification> {
  const all = await ctx.adapter.notifications()
  const found = all.find((one) => one.index === index)
  if (found && (app === undefined || found.app_name.toLowerCase() === app.toLowerCase())) return found
  throw new AppError(
    "NOTIFICATION_NOT_FOUND",
    found
      ? `Notification ${index} is of '${found.app_name}', not of '${app}'`
      : `Notification ${index} not found`,
    { suggestion: "Use 'list-notifications' to see what there is" },
  )
}

export function publicNotification({
  index,
  app_name,
  title,
  body,
  actions,
}: SeenNotification): NotificationInfo {
  return { index, app_name, title, body, actions: actions?.length ? actions : undefined }
}
