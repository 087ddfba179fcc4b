import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { readNumber } from "../atspi/atspi.ts"
import { DBusError, type Message, method, readAs } from "../dbus/bus.ts"
import { type Reader, unmarshal } from "../dbus/read.ts"
import { isVariant } from "../dbus/wire.ts"
import { hear } from "./heard.ts"
import {
  type Entry,
  NOTIFICATIONS,
  NOTIFICATIONS_PATH,
  type NotificationDaemon,
  notificationGone,
} from "./names.ts"
import { type NotificationTexts, textsOf } from "./text.ts"

const DUNST = "org.dunstproject.cmd0"

/**
 * dunst lists only its history: notifications that were closed or have expired. A visible one is known only if it was
 * sent while this process runs, as in a wait, a batch or a server. A button could be pressed only by its position on
 * the screen, where another notification may appear at any time, so buttons are never pressed.
 */
export async function listDunst(daemon: NotificationDaemon): Promise<readonly Entry[]> {
  const { session, owner, deadline } = daemon
  const heard = await hear(session, deadline)
  const history = await readHistory(daemon)
  const known = earlier.get(heard) ?? new Set(history.keys())
  earlier.set(heard, known)
  // A notification that showed before this process started and has expired since is not new.
  const past = [...history].filter(([id]) => known.has(id) || heard.has(owner, id) || !heard.isYoung)
  const shown = [...heard.showing(owner)].filter(([id, texts]) => !isIn(history, id, texts))
  return [
    ...shown.map(([id, texts]) => ({
      id,
      entry: toEntry(daemon, id, texts, () => closeShown(daemon, id, texts)),
    })),
    ...past.map(([id, texts]) => ({
      id,
      entry: toEntry(daemon, id, texts, () => removePast(daemon, id, texts)),
    })),
  ]
    .sort((one, other) => other.id - one.id)
    .map(({ entry }) => entry)
}

/** Counts the notifications that dunst shows or holds back without listing them. */
export async function countShown({ session, bus, owner, deadline }: NotificationDaemon): Promise<number> {
  const counts = await Promise.all(
    ["displayedLength", "waitingLength"].map(async (name) => {
      const called = method("org.freedesktop.DBus.Properties.Get", "ss", [DUNST, name])
      try {
        return readNumber(await bus.call(called, owner, NOTIFICATIONS_PATH, deadline))
      } catch (error) {
        // dunst before 1.7 does not count.
        if (error instanceof DBusError) return 0
        throw error
      }
    }),
  )
  const known = (await hear(session, deadline)).showing(owner).size
  return Math.max(0, counts.reduce((sum, one) => sum + one, 0) - known)
}

/** The history from before this process began to listen. */
const earlier = new WeakMap<object, ReadonlySet<number>>()

function toEntry(
  daemon: NotificationDaemon,
  id: number,
  texts: NotificationTexts,
  dismiss: () => Promise<void>,
): Entry {
  const { app, title, body, actions } = texts
  return {
    id: `${daemon.owner} ${id} ${contentOf(texts)}`,
    app_name: app,
    title,
    ...(body ? { body } : {}),
    ...(actions.length > 0 ? { actions: actions.map(({ name }) => name) } : {}),
    dismiss,
    press: async () => {
      throw new AppError(
        "PLATFORM_NOT_SUPPORTED",
        "dunst cannot press a button of a particular notification",
        {
          suggestion: "Use 'dismiss-notification', or do in the application what the button would do",
          platformDetail: `dunst ${daemon.version}`,
          disposition: NOTHING_DELIVERED,
        },
      )
    },
  }
}

/** True for a notification that has just been closed, before the signal of that arrives. */
function isIn(
  history: ReadonlyMap<number, NotificationTexts>,
  id: number,
  texts: NotificationTexts,
): boolean {
  const past = history.get(id)
  return past !== undefined && contentOf(past) === contentOf(texts)
}

const contentOf = ({ app, title, body }: NotificationTexts): string => JSON.stringify([app, title, body])

async function closeShown(
  { session, bus, owner, deadline }: NotificationDaemon,
  id: number,
  texts: NotificationTexts,
) {
  const now = (await hear(session, deadline)).showing(owner).get(id)
  if (!now || contentOf(now) !== contentOf(texts)) throw notificationGone(texts)
  await bus.call(method(`${NOTIFICATIONS}.CloseNotification`, "u", [id]), owner, NOTIFICATIONS_PATH, deadline)
}

/** Since dunst 1.10. */
async function removePast(daemon: NotificationDaemon, id: number, texts: NotificationTexts): Promise<void> {
  const { bus, owner, deadline, version } = daemon
  try {
    const called = method(`${DUNST}.NotificationRemoveFromHistory`, "u", [id])
    await bus.call(called, owner, NOTIFICATIONS_PATH, deadline)
  } catch (error) {
    if (!(error instanceof DBusError) || !error.code.endsWith(".UnknownMethod")) throw error
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      `'${texts.title}' is in dunst's history, and this version of dunst cannot remove it`,
      {
        suggestion: "It no longer shows. Set history_length in dunstrc to keep fewer",
        platformDetail: `dunst ${version}: ${error.message}`,
        disposition: NOTHING_DELIVERED,
      },
    )
  }
}

const LIST_HISTORY = method(`${DUNST}.NotificationListHistory`)

async function readHistory({
  bus,
  owner,
  deadline,
}: NotificationDaemon): Promise<ReadonlyMap<number, NotificationTexts>> {
  return parseHistory(await bus.call(LIST_HISTORY, owner, NOTIFICATIONS_PATH, deadline))
}

function parseHistory(reply: Message): ReadonlyMap<number, NotificationTexts> {
  return new Map(
    readAs(reply, "aa{sv}").array(4, (reader): [number, NotificationTexts] => {
      const fields = readFields(reader)
      const text = (name: string) => String(fields.get(name) ?? "")
      return [Number(fields.get("id")), textsOf(text("appname"), text("summary"), text("body"), [])]
    }),
  )
}

function readFields(reader: Reader): ReadonlyMap<string, unknown> {
  return new Map(
    reader.array(8, (entry): [string, unknown] => {
      entry.align(8)
      const name = entry.string()
      const [value] = unmarshal("v", entry)
      return [name, value !== undefined && isVariant(value) ? value.value : undefined]
    }),
  )
}
