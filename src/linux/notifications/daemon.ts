import type { Env } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import { VERSION } from "../../version.ts"
import {
  type Answer,
  Bus,
  DBUS,
  DBUS_PATH,
  DBusClosed,
  type Message,
  method,
  readAs,
  WireError,
} from "../dbus/bus.ts"
import { type Reader, unmarshal } from "../dbus/read.ts"
import { isVariant, typeEnd, type Value } from "../dbus/wire.ts"
import {
  GONE,
  LIST_SIGNATURE,
  NOTIFICATIONS,
  NOTIFICATIONS_PATH,
  NOTIFY_SIGNATURE,
  SERVER_NAME,
  TRAY,
} from "./names.ts"
import { type NotificationTexts, textsOf } from "./text.ts"

/**
 * A notification daemon without popups, for isolated desktops: Desktop Notifications Specification 1.2, plus our own
 * interface to list notifications and act on them.
 */

/** Serves until the bus goes away. Returns at once if another daemon serves already. */
export async function serveNotifications(env: Env): Promise<number> {
  const deadline = Deadline.in(START_MS)
  const bus = await Bus.open(env.DBUS_STARTER_ADDRESS || env.DBUS_SESSION_BUS_ADDRESS || "", deadline)
  const tray = new NotificationTray((id, reason) => signal(bus, "NotificationClosed", "uu", [id, reason]))
  bus.serve((call) => answer(bus, tray, call))
  try {
    const owned = await bus.call(REQUEST_NAME, DBUS, DBUS_PATH, deadline)
    if (readAs(owned, "u").u32() === PRIMARY_OWNER) await bus.ended
  } catch (error) {
    // The bus may end before the name is ours.
    if (!(error instanceof DBusClosed)) throw error
  }
  bus.close()
  return 0
}

const START_MS = 10_000
/** The lifetime of a transient notification whose app does not set one. */
const TRANSIENT_MS = 10_000
const DO_NOT_QUEUE = 4
const PRIMARY_OWNER = 1
const REQUEST_NAME = method(`${DBUS}.RequestName`, "su", [NOTIFICATIONS, DO_NOT_QUEUE])

interface Served {
  readonly in: string
  readonly out: string
  run(args: Reader, tray: NotificationTray, bus: Bus): readonly Value[] | Refusal
}

interface Refusal {
  readonly error: string
  readonly text: string
}

const METHODS: Readonly<Record<string, Readonly<Record<string, Served>>>> = {
  [NOTIFICATIONS]: {
    Notify: { in: NOTIFY_SIGNATURE, out: "u", run: (args, tray) => [tray.add(readArrival(args))] },
    CloseNotification: {
      in: "u",
      out: "",
      run: (args, tray) =>
        tray.close(args.u32(), REASON.CLOSED) ? [] : { error: `${NOTIFICATIONS}.Error`, text: "" },
    },
    GetCapabilities: { in: "", out: "as", run: () => [["actions", "body", "body-markup", "persistence"]] },
    GetServerInformation: { in: "", out: "ssss", run: () => [SERVER_NAME, SERVER_NAME, VERSION, "1.2"] },
  },
  [TRAY]: {
    List: { in: "", out: LIST_SIGNATURE, run: (_, tray) => [tray.list().map(toStruct)] },
    Dismiss: {
      in: "uu",
      out: "",
      run(args, tray) {
        const kept = tray.find(args.u32(), args.u32())
        return kept && tray.close(kept.id, REASON.DISMISSED) ? [] : gone()
      },
    },
    Invoke: {
      in: "uus",
      out: "",
      run(args, tray, bus) {
        const kept = tray.find(args.u32(), args.u32())
        const name = args.string()
        const action = kept?.actions.find((one) => one.name === name)
        if (!kept || !action) return gone()
        signal(bus, "ActionInvoked", "us", [kept.id, action.key])
        if (!kept.resident) tray.close(kept.id, REASON.DISMISSED)
        return []
      },
    },
  },
  "org.freedesktop.DBus.Peer": { Ping: { in: "", out: "", run: () => [] } },
  "org.freedesktop.DBus.Introspectable": { Introspect: { in: "", out: "s", run: () => [describe()] } },
}

function answer(bus: Bus, tray: NotificationTray, call: Message): Answer {
  const served = call.path === NOTIFICATIONS_PATH ? find(call) : undefined
  if (!served) return refuse("UnknownMethod", `there is no ${call.interface}.${call.member} at ${call.path}`)
  if (call.signature !== served.in) return refuse("InvalidArgs", `${call.member} takes '${served.in}'`)
  try {
    const result = served.run(call.body, tray, bus)
    return "error" in result ? result : { signature: served.out, values: result }
  } catch (error) {
    // Bytes that contradict their signature. One bad sender must not end the service for the others.
    if (error instanceof WireError || error instanceof RangeError) return refuse("InvalidArgs", error.message)
    throw error
  }
}

/** Calls may leave out the interface. */
function find({ interface: name, member }: Message): Served | undefined {
  const names = name ? [name] : Object.keys(METHODS)
  return names.flatMap((one) =>
    Object.hasOwn(METHODS[one] ?? {}, member) ? (METHODS[one]?.[member] ?? []) : [],
  )[0]
}

const refuse = (name: string, text: string): Refusal => ({
  error: `org.freedesktop.DBus.Error.${name}`,
  text,
})

const gone = (): Refusal => ({ error: GONE, text: "the notification is gone, or its text has changed" })

function signal(bus: Bus, name: string, signature: string, values: readonly Value[]): void {
  bus.emit(NOTIFICATIONS_PATH, `${NOTIFICATIONS}.${name}`, signature, values)
}

function readArrival(args: Reader): Arrival {
  const app = args.string()
  const replaces = args.u32()
  // The icon.
  args.skipString()
  const title = args.string()
  const body = args.string()
  const actions = args.array(4, (reader) => reader.string())
  const hints = new Map(
    args.array(8, (reader): [string, Value | undefined] => {
      reader.align(8)
      return [reader.string(), unmarshal("v", reader)[0]]
    }),
  )
  const expires = args.i32()
  return {
    ...textsOf(app, title, body, actions),
    replaces,
    resident: isOn(hints.get("resident")),
    // Only transient ones expire: an agent may look much later.
    ...(isOn(hints.get("transient")) && expires !== 0
      ? { expiresMs: expires < 0 ? TRANSIENT_MS : expires }
      : {}),
  }
}

/** Hints are booleans; command line tools can only send numbers. */
function isOn(hint: Value | undefined): boolean {
  return (
    hint !== undefined &&
    isVariant(hint) &&
    (hint.value === true || (typeof hint.value === "number" && hint.value > 0))
  )
}

function toStruct({ id, serial, app, title, body, actions }: KeptNotification): Value {
  return [id, serial, app, title, body, actions.map(({ name }) => name)]
}

/** For tools that introspect before they call. */
function describe(): string {
  const args = (signature: string, direction: string) => {
    const parts: string[] = []
    for (let at = 0, end = 0; at < signature.length; at = end) {
      end = typeEnd(signature, at, 0, 0)
      parts.push(`<arg type="${signature.slice(at, end)}" direction="${direction}"/>`)
    }
    return parts.join("")
  }
  const interfaces = Object.entries(METHODS).map(([name, methods]) => {
    const served = Object.entries(methods).map(
      ([member, one]) => `<method name="${member}">${args(one.in, "in")}${args(one.out, "out")}</method>`,
    )
    return `<interface name="${name}">${served.join("")}${name === NOTIFICATIONS ? SIGNALS : ""}</interface>`
  })
  return `<node>${interfaces.join("")}</node>`
}

const SIGNALS =
  '<signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>' +
  '<signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>'

/** The specification's numbers for why a notification is gone. */
export const REASON = { EXPIRED: 1, DISMISSED: 2, CLOSED: 3 } as const

export interface KeptNotification extends NotificationTexts {
  readonly id: number
  /** Identifies this call of Notify: an app may give the same id another text at any time. */
  readonly serial: number
  /** Stays when one of its actions is invoked. */
  readonly resident: boolean
}

export interface Arrival extends NotificationTexts {
  /** 0: a new one. */
  readonly replaces: number
  readonly resident: boolean
  /** Time until it expires. Absent: it stays until it is dismissed or closed. */
  readonly expiresMs?: number
}

/** Notifications that were not dismissed or closed yet. The oldest expire if there are too many. */
export class NotificationTray {
  readonly #kept = new Map<number, KeptNotification>()
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()
  readonly #closed: (id: number, reason: number) => void
  #lastId = 0
  #lastSerial = 0

  constructor(closed: (id: number, reason: number) => void) {
    this.#closed = closed
  }

  /** Returns the id: the replaced one, or a new one. */
  add({ replaces, expiresMs, ...texts }: Arrival): number {
    const id = replaces || this.#nextId()
    this.#forget(id)
    // Inserted again, since the newest is the last of the map.
    this.#kept.set(id, { ...texts, id, serial: ++this.#lastSerial })
    if (expiresMs !== undefined)
      this.#timers.set(
        id,
        setTimeout(() => this.close(id, REASON.EXPIRED), expiresMs),
      )
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break
      this.close(oldest, REASON.EXPIRED)
    }
    return id
  }

  /** The newest first. */
  list(): readonly KeptNotification[] {
    return [...this.#kept.values()].reverse()
  }

  /** undefined: it is gone, or was replaced since it got this serial. */
  find(id: number, serial: number): KeptNotification | undefined {
    const kept = this.#kept.get(id)
    return kept?.serial === serial ? kept : undefined
  }

  /** false: the notification does not exist. */
  close(id: number, reason: number): boolean {
    if (!this.#forget(id)) return false
    this.#closed(id, reason)
    return true
  }

  #forget(id: number): boolean {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    return this.#kept.delete(id)
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % MAX_ID) + 1
    while (this.#kept.has(this.#lastId))
    return this.#lastId
  }
}

const MAX_KEPT = 200
const MAX_ID = 0xffffffff
