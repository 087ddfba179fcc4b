/** What is called how on the session bus. */

export const NOTIFICATIONS = "org.freedesktop.Notifications"
export const NOTIFICATIONS_PATH = "/org/freedesktop/Notifications"

/** How our own daemon introduces itself, and its own interface. */
export const SERVER_NAME = "agent-desktop"
export const TRAY = "agent_desktop.Tray"
/** Of List: id, serial, app, title, body and names of actions; the newest first. */
export const LIST_SIGNATURE = "a(uusssas)"
/** The notification is no longer there, or its application has changed what it says. */
export const GONE = `${TRAY}.Gone`

/** Of Notify: application, id to replace, icon, title, body, actions, hints, time to live. */
export const NOTIFY_SIGNATURE = "susssasa{sv}i"
