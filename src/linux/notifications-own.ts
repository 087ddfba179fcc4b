import { DBusError, method, readAs } from "./dbus.ts"
import { GONE, LIST_SIGNATURE, NOTIFICATIONS_PATH, TRAY } from "./notification-names.ts"
import { type Entry, type NotificationDaemon, notificationGone } from "./notifications.ts"

/** What our own daemon keeps. It checks itself that a notification is still the one that was listed. */
export async function listOwn({ bus, owner, deadline }: NotificationDaemon): Promise<readonly Entry[]> {
  const reply = readAs(await bus.call(LIST, owner, NOTIFICATIONS_PATH, deadline), LIST_SIGNATURE)
  return reply.array(8, (reader): Entry => {
    reader.align(8)
    const [id, serial] = [reader.u32(), reader.u32()]
    const [app_name, title, body] = [reader.string(), reader.string(), reader.string()]
    const keys = new Map(
      reader.array(8, (pair): [string, string] => {
        pair.align(8)
        const key = pair.string()
        return [pair.string(), key]
      }),
    )
    const send = async (name: string, signature: string, ...more: string[]): Promise<void> => {
      try {
        const called = method(`${TRAY}.${name}`, signature, [id, serial, ...more])
        await bus.call(called, owner, NOTIFICATIONS_PATH, deadline)
      } catch (error) {
        if (error instanceof DBusError && error.code === GONE) throw notificationGone({ title })
        throw error
      }
    }
    return {
      id: `${owner} ${id} ${serial}`,
      app_name,
      title,
      ...(body ? { body } : {}),
      ...(keys.size > 0 ? { actions: [...keys.keys()] } : {}),
      dismiss: () => send("Dismiss", "uu"),
      press: (action) => send("Invoke", "uus", keys.get(action) ?? ""),
    }
  })
}

const LIST = method(`${TRAY}.List`)
