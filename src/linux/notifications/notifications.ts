import type { Deadline } from "../../deadline.ts"
import type { NotificationOp, SeenNotification } from "../../desktop.ts"
import { AppError, type Disposition } from "../../errors.ts"
import {
  type Bus,
  DBUS,
  DBUS_PATH,
  DBusClosed,
  DBusError,
  DBusTimeout,
  method,
  readAs,
  WireError,
} from "../dbus/bus.ts"
import type { Session } from "../host/session.ts"
import {
  type Entry,
  GONE,
  LIST_SIGNATURE,
  NOTIFICATIONS,
  NOTIFICATIONS_PATH,
  type NotificationDaemon,
  notificationGone,
  SERVER_NAME,
  TRAY,
} from "./names.ts"

/** Lists notifications, the newest first. */
export async function listNotifications(
  session: Session,
  deadline: Deadline,
): Promise<readonly SeenNotification[]> {
  return (await entries(session, deadline)).map(({ dismiss: _, press: __, ...seen }, index) => ({
    index,
    ...seen,
  }))
}

/** Counts the notifications that the daemon does not list. */
export async function countUnlisted(session: Session, deadline: Deadline): Promise<number> {
  const bus = await openBus(session, deadline)
  return answered(count(session, bus, deadline))
}

async function count(session: Session, bus: Bus, deadline: Deadline): Promise<number> {
  const daemon = await findDaemon(session, bus, deadline)
  return daemon?.name === "dunst" ? (await import("./dunst.ts")).countShown(daemon) : 0
}

/** Acts on a notification if its text is still the same, even if its index has changed. */
export async function operateNotification(
  session: Session,
  target: SeenNotification,
  op: NotificationOp,
  deadline: Deadline,
): Promise<void> {
  if (isOwn(target)) {
    const bus = await openBus(session, deadline)
    return answered(operateOwn(bus, target, op, deadline), UNCERTAIN)
  }
  const entry = (await entries(session, deadline)).find(({ id }) => id === target.id)
  if (!entry) throw notificationGone(target)
  await answered(op.kind === "dismiss" ? entry.dismiss() : entry.press(op.action), UNCERTAIN)
}

const UNCERTAIN: Disposition = { delivery: "delivery_uncertain", retry: "unknown" }

async function entries(session: Session, deadline: Deadline): Promise<readonly Entry[]> {
  const bus = await openBus(session, deadline)
  return answered(list(session, bus, deadline))
}

async function findDaemon(
  session: Session,
  bus: Bus,
  deadline: Deadline,
): Promise<(NotificationDaemon & { readonly name: string }) | undefined> {
  const owner = await findOwner(bus, deadline)
  if (owner === undefined) return undefined
  const reply = readAs(await bus.call(GET_SERVER, owner, NOTIFICATIONS_PATH, deadline), "ssss")
  const [name, , version] = [reply.string(), reply.string(), reply.string()]
  return { name, owner, version, session, bus, deadline }
}

async function list(session: Session, bus: Bus, deadline: Deadline): Promise<readonly Entry[]> {
  const daemon = await findDaemon(session, bus, deadline)
  if (!daemon) {
    // Without a daemon nothing is shown. The first notification would start one, and must not be missed.
    if (!(await canBeStarted(bus, deadline))) throw noDaemon()
    await (await import("./heard.ts")).hear(session, deadline)
    return []
  }
  const { name, version } = daemon
  if (name === SERVER_NAME) return listOwn(daemon)
  if (name === "dunst") return (await import("./dunst.ts")).listDunst(daemon)
  if (name === "Xfce Notify Daemon") return (await import("./xfce.ts")).listXfce(daemon)
  throw new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `The notification daemon '${name}' does not list its notifications`,
    {
      suggestion: SUPPORTED,
      platformDetail: `${name} ${version}`,
    },
  )
}

const SUPPORTED =
  "Notifications can be read from xfce4-notifyd and dunst, and on isolated desktops ('desktop-start')"

const GET_SERVER = method(`${NOTIFICATIONS}.GetServerInformation`)
const GET_OWNER = method(`${DBUS}.GetNameOwner`, "s", [NOTIFICATIONS])
const LIST_ACTIVATABLE = method(`${DBUS}.ListActivatableNames`)

async function openBus(session: Session, deadline: Deadline): Promise<Bus> {
  try {
    return await session.user(deadline)
  } catch (error) {
    throw new AppError(
      deadline.expired ? "TIMEOUT" : "PLATFORM_NOT_SUPPORTED",
      "The session bus, which carries notifications, cannot be reached",
      {
        suggestion: "Run inside the desktop session, or use 'desktop-start'; 'doctor' shows what is missing",
        platformDetail: String(error),
        ...(deadline.expired ? { details: { kind: "notifications" } } : {}),
      },
    )
  }
}

async function findOwner(bus: Bus, deadline: Deadline): Promise<string | undefined> {
  try {
    return readAs(await bus.call(GET_OWNER, DBUS, DBUS_PATH, deadline), "s").string()
  } catch (error) {
    if (error instanceof DBusError && error.code === `${DBUS}.Error.NameHasNoOwner`) return undefined
    throw error
  }
}

async function canBeStarted(bus: Bus, deadline: Deadline): Promise<boolean> {
  const reply = readAs(await bus.call(LIST_ACTIVATABLE, DBUS, DBUS_PATH, deadline), "as")
  return reply.array(4, (reader) => reader.string()).includes(NOTIFICATIONS)
}

function noDaemon(): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", "No notification daemon runs in this session", {
    suggestion: `Start one. ${SUPPORTED}`,
  })
}

/** Translates failures of the daemon or the bus into errors of the contract. */
async function answered<T>(asked: Promise<T>, disposition?: Disposition): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const facts = { platformDetail: String(error), disposition }
    if (error instanceof DBusTimeout)
      throw new AppError("APP_UNRESPONSIVE", "The notification daemon does not answer", facts)
    if (error instanceof DBusClosed) throw new AppError("ACTION_FAILED", "The session bus went away", facts)
    if (error instanceof DBusError || error instanceof WireError)
      throw new AppError("ACTION_FAILED", "The notification daemon refused", {
        ...facts,
        platformDetail: error instanceof DBusError ? `${error.code}: ${error.message}` : error.message,
      })
    throw error
  }
}

/** Lists the notifications of our own daemon. */
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

/** True for a notification of our own daemon, which checks it before it acts: no second list is needed. */
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

/** Errors for a notification that is gone, or whose daemon is gone. */
const LOST: ReadonlySet<string> = new Set([
  GONE,
  `${DBUS}.Error.ServiceUnknown`,
  `${DBUS}.Error.NameHasNoOwner`,
])

const LIST = method(`${TRAY}.List`)
