import type { Context } from "../command.ts"
import type { SeenNotification } from "../desktop.ts"
import { AppError } from "../errors.ts"
import type { NotificationInfo } from "../node.ts"
import { whole } from "../schema/inputs.ts"

export const notificationIndex = whole("Index, from list-notifications", 0, 100_000, {
  position: 0,
  value: "INDEX",
})

interface Filter {
  readonly app?: string
  readonly text?: string
}

export const listNotifications = async (ctx: Context, filter: Filter): Promise<readonly SeenNotification[]> =>
  (await ctx.adapter.notifications()).filter((one) => fits(one, filter))

function fits({ app_name, title, body = "" }: SeenNotification, { app, text }: Filter): boolean {
  return (
    (app === undefined || app_name.toLowerCase() === app.toLowerCase()) &&
    (text === undefined || `${title}\n${body}`.toLowerCase().includes(text.toLowerCase()))
  )
}

/** The same for a caller that sees the indexes: from now on these indexes mean these notifications. */
export async function showNotifications(ctx: Context, filter: Filter): Promise<readonly SeenNotification[]> {
  const all = await ctx.adapter.notifications()
  await ctx.refs.notifications(all.map(keyOf))
  return all.filter((one) => fits(one, filter))
}

/** A restarted daemon counts its notifications from the start. */
const keyOf = ({ id, app_name, title }: SeenNotification): string =>
  Bun.hash([id, app_name, title].join("\0")).toString(36)

/**
 * The notification that had this index when the session last listed them. Its index may have changed since: a new one
 * comes first and shifts the others. Without such a list, the one that has the index now. Fails if it is gone, or not
 * from the named app.
 */
export async function notificationAt(ctx: Context, index: number, app?: string): Promise<SeenNotification> {
  const [all, listed] = await Promise.all([ctx.adapter.notifications(), ctx.refs.notifications()])
  const found = all.find((one) => (listed ? keyOf(one) === listed[index] : one.index === index))
  if (found && (app === undefined || found.app_name.toLowerCase() === app.toLowerCase())) return found
  const isGone = listed?.[index] !== undefined
  throw new AppError(
    "NOTIFICATION_NOT_FOUND",
    found
      ? `Notification ${index} is of '${found.app_name}', not of '${app}'`
      : `Notification ${index}${isGone ? " of the last list is gone" : " not found"}`,
    { suggestion: "Use 'list-notifications' to see the current ones" },
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
