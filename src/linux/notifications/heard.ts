import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { type Bus, DBUS, DBUS_PATH, DBusError, method } from "../dbus/bus.ts"
import { ERROR, METHOD_CALL, METHOD_RETURN, SIGNAL } from "../dbus/message.ts"
import { Reader, unmarshal } from "../dbus/read.ts"
import { isVariant } from "../dbus/wire.ts"
import type { Session } from "../host/session.ts"
import { NOTIFICATIONS, NOTIFY_SIGNATURE } from "./names.ts"
import { type NotificationTexts, textsOf } from "./text.ts"

/**
 * Notifications sent while this process listens. There is no other way for a daemon that does not list what it shows.
 * Earlier ones stay unknown.
 */
export interface Heard {
  /** Sent since we listen and not closed yet, by id; the newest last. */
  showing(owner: string): ReadonlyMap<number, NotificationTexts>
  /** True if it was sent since we listen. */
  has(owner: string, id: number): boolean
  /**
   * True for a while after we start to listen. An earlier notification that turns up in that time must not look new to
   * a wait. A process that lives longer than any wait or batch may list it afterwards.
   */
  readonly isYoung: boolean
}

/** Listens to the session bus from the first call on. */
export function hear(session: Session, deadline: Deadline): Promise<Heard> {
  const open = monitors.get(session)
  if (open && !open.bus?.failure) return open.heard
  const monitor: Monitoring = { heard: listen(session, deadline, (bus) => (monitor.bus = bus)) }
  monitors.set(session, monitor)
  monitor.heard.catch(() => monitors.delete(session))
  return monitor.heard
}

interface Monitoring {
  bus?: Bus
  readonly heard: Promise<Heard>
}

const monitors = new WeakMap<Session, Monitoring>()

async function listen(session: Session, deadline: Deadline, opened: (bus: Bus) => void): Promise<Heard> {
  const bus = await session.openUser(deadline)
  opened(bus)
  const self = await bus.name
  const journal = new Journal()
  bus.overhear((bytes, start, end) => {
    const message = readMessage(bytes, start, end)
    if (message.destination === self) return true
    journal.note(message)
    return false
  })
  try {
    await bus.call(BECOME_MONITOR, DBUS, DBUS_PATH, deadline)
  } catch (error) {
    bus.close()
    if (!(error instanceof DBusError)) throw error
    throw new AppError(
      "PLATFORM_NOT_SUPPORTED",
      "This session bus does not allow monitoring of notifications",
      {
        suggestion: "Use xfce4-notifyd, or an isolated desktop ('desktop-start')",
        platformDetail: `${error.code}: ${error.message}`,
      },
    )
  }
  return journal
}

const BECOME_MONITOR = method(`${DBUS}.Monitoring.BecomeMonitor`, "asu", [
  [
    `type='method_call',interface='${NOTIFICATIONS}',member='Notify'`,
    `type='method_return',sender='${NOTIFICATIONS}'`,
    `type='error',sender='${NOTIFICATIONS}'`,
    `type='signal',interface='${NOTIFICATIONS}',member='NotificationClosed'`,
  ],
  0,
])

/** The notifications of one daemon. */
interface Log {
  readonly showing: Map<number, NotificationTexts>
  readonly ids: Set<number>
}

class Journal implements Heard {
  /** Calls without an answer yet, by caller and serial. */
  readonly #asked = new Map<string, NotificationTexts>()
  readonly #logs = new Map<string, Log>()
  readonly #opened = performance.now()

  get isYoung(): boolean {
    return performance.now() - this.#opened < YOUNG_MS
  }

  showing(owner: string): ReadonlyMap<number, NotificationTexts> {
    return this.#log(owner).showing
  }

  has(owner: string, id: number): boolean {
    return this.#log(owner).ids.has(id)
  }

  note(message: Monitored): void {
    if (message.type === METHOD_CALL && message.signature === NOTIFY_SIGNATURE)
      this.#ask(`${message.sender} ${message.serial}`, message.body)
    else if (message.type === METHOD_RETURN || message.type === ERROR)
      this.#answer(`${message.destination} ${message.replySerial}`, message)
    else if (message.type === SIGNAL && message.signature === "uu")
      this.#log(message.sender).showing.delete(message.body.u32())
  }

  #ask(call: string, body: Reader): void {
    const app = body.string()
    body.u32()
    body.skipString()
    const [title, text] = [body.string(), body.string()]
    this.#asked.set(
      call,
      textsOf(
        app,
        title,
        text,
        body.array(4, (reader) => reader.string()),
      ),
    )
    bound(this.#asked)
  }

  #answer(call: string, { type, sender, signature, body }: Monitored): void {
    const texts = this.#asked.get(call)
    if (!texts || !this.#asked.delete(call) || type === ERROR || signature !== "u") return
    const id = body.u32()
    const { showing, ids } = this.#log(sender)
    showing.delete(id)
    showing.set(id, texts)
    ids.add(id)
    bound(showing)
    bound(ids)
  }

  #log(owner: string): Log {
    const log = this.#logs.get(owner) ?? { showing: new Map(), ids: new Set() }
    this.#logs.set(owner, log)
    return log
  }
}

const MAX_HEARD = 1000
const YOUNG_MS = 300_000

function bound(heard: {
  readonly size: number
  keys(): Iterable<unknown>
  delete(key: unknown): boolean
}): void {
  for (const oldest of heard.keys()) {
    if (heard.size <= MAX_HEARD) return
    heard.delete(oldest)
  }
}

interface Monitored {
  readonly type: number
  readonly serial: number
  readonly replySerial: number
  readonly sender: string
  readonly destination: string
  readonly signature: string
  readonly body: Reader
}

/** With the fields that only a monitor needs: the call that a reply belongs to, and its destination. */
function readMessage(bytes: Buffer, start: number, end: number): Monitored {
  const little = bytes[start] === LITTLE
  const [, type, , , length, serial, fields] = unmarshal("yyyyuua(yv)", new Reader(bytes, little, start, end))
  const values = new Map<unknown, unknown>()
  for (const field of Array.isArray(fields) ? fields : []) {
    const [code, value] = Array.isArray(field) ? field : []
    if (value !== undefined && isVariant(value)) values.set(code, value.value)
  }
  const text = (code: number): string => String(values.get(code) ?? "")
  return {
    type: Number(type),
    serial: Number(serial),
    replySerial: Number(values.get(REPLY_SERIAL) ?? 0),
    sender: text(SENDER),
    destination: text(DESTINATION),
    signature: text(SIGNATURE),
    body: new Reader(bytes, little, end - Number(length), end),
  }
}

const LITTLE = 0x6c
const REPLY_SERIAL = 5
const DESTINATION = 6
const SENDER = 7
const SIGNATURE = 8
