import type { Deadline } from "../../deadline.ts"
import type { SeenNotification } from "../../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Bus } from "../dbus/bus.ts"
import type { Session } from "../host/session.ts"

/** Names on the session bus, and the types that all daemons share. */

export const NOTIFICATIONS = "org.freedesktop.Notifications"
export const NOTIFICATIONS_PATH = "/org/freedesktop/Notifications"

/** The name of our own daemon, and its own interface. */
export const SERVER_NAME = "agent-desktop"
export const TRAY = "agent_desktop.Tray"
/** Of List: id, serial, app, title, body and names of actions; the newest first. */
export const LIST_SIGNATURE = "a(uusssas)"
/** The notification is gone, or its app has changed its text. */
export const GONE = `${TRAY}.Gone`

/** Of Notify: app, id to replace, icon, title, body, actions, hints, time to live. */
export const NOTIFY_SIGNATURE = "susssasa{sv}i"

/** A running notification daemon. The specification has no call to list, so each daemon is read in its own way. */
export interface NotificationDaemon {
  /** Its unique name on the session bus: calls to it never reach a successor. */
  readonly owner: string
  readonly version: string
  readonly session: Session
  readonly bus: Bus
  readonly deadline: Deadline
}

/** A notification, and the actions on exactly this one. */
export interface Entry extends Omit<SeenNotification, "index"> {
  dismiss(): Promise<void>
  press(action: string): Promise<void>
}

/** The notification was dismissed or closed, or has another text now. */
export function notificationGone({ title }: Pick<SeenNotification, "title">): AppError {
  return new AppError("NOTIFICATION_NOT_FOUND", `The notification '${title}' is gone`, {
    suggestion: "Use 'list-notifications' to see the current ones",
    disposition: NOTHING_DELIVERED,
  })
}
