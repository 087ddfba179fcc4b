import type { NotificationOp, SeenNotification } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { type Bus, DBUS, DBusError, method, readAs } from "./dbus.ts"
import { GONE, LIST_SIGNATURE, NOTIFICATIONS_PATH, SERVER_NAME, TRAY } from "./notification-names.ts"
import { type Entry, type NotificationDaemon, notificationGone } from "./notifications.ts"

/** What our own daemon keeps. */
export async function listOwn({ bus, owner, deadline }: NotificationDaemon): Promise<readonly Entry[]> {
  const reply = readAs(await bus.call(LIST, owner, NOTIFICATIONS_PATH, deadline), LIST_SIGNATURE)
  return reply.array(8, (reader): Entry => {
    reader.align(8)
    const id = `${SERVER_NAME} ${owner} ${reader.u32()} ${reader.u32()}`
    const [app_name, title, body] = [reader.string(), reader.string(), reader.string()]
    const actions = reader.array(4, (names) => names.string())
    const operate = (op: NotificationOp): Promise<void> => operateOwn(bus, { id, title }, op, deadline)
    return {
      id,
      app_name,
      title,
      ...(body ? { body } : {}),
      ...(actions.length > 0 ? { actions } : {}),
      dismiss: () => operate({ kind: "dismiss" }),
      press: (action) => operate({ kind: "action", action }),
    }
  })
}

/** Whether our own daemon listed it: what it is asked to do, it checks itself, so it need not list again. */
export const isOwn = ({ id }: Pick<SeenNotification, "id">): boolean => id.startsWith(`${SERVER_NAME} `)

export async function operateOwn(
  bus: Bus,
  target: Pick<SeenNotification, "id" | "title">,
  op: NotificationOp,
  deadline: Deadline,
): Promise<void> {
  const [, owner = "", id, serial] = target.id.split(" ")
  const which = [Number(id), Number(serial)]
  const called =
    op.kind === "dismiss"
      ? method(`${TRAY}.Dismiss`, "uu", which)
      : method(`${TRAY}.Invoke`, "uus", [...which, op.action])
  try {
    await bus.call(called, owner, NOTIFICATIONS_PATH, deadline)
  } catch (error) {
    if (error instanceof DBusError && LOST.has(error.code)) throw notificationGone(target)
    throw error
  }
}

/** It is not there, or the daemon that had it is not. */
const LOST: ReadonlySet<string> = new Set([
  GONE,
  `${DBUS}.Error.ServiceUnknown`,
  `${DBUS}.Error.NameHasNoOwner`,
])

const LIST = method(`${TRAY}.List`)
