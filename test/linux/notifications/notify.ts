import { Deadline } from "../../../src/deadline.ts"
import { Bus, DBUS, DBUS_PATH, DBusError, method, readAs } from "../../../src/linux/dbus/bus.ts"
import type { Value } from "../../../src/linux/dbus/wire.ts"
import { until } from "../../support/until.ts"

export const NOTIFICATIONS = "org.freedesktop.Notifications"
export const PATH = "/org/freedesktop/Notifications"

type Env = Readonly<Record<string, string>>

export const soon = () => Deadline.in(20_000)

/** Sends a notification and returns the output of notify-send: its id with -p, the pressed button with -A. */
export async function notify(env: Env, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn(["notify-send", ...args], { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`notify-send: ${err}`)
  return out.trim()
}

export interface Overheard extends Disposable {
  /** Bus messages as dbus-monitor prints them, one per line. */
  messages(): readonly string[]
}

/** Records all messages that match a rule, from now on. */
export async function overhear(env: Env, rule: string): Promise<Overheard> {
  const child = Bun.spawn(["dbus-monitor", "--session", rule], {
    env: { ...env },
    stdio: ["ignore", "pipe", "ignore"],
  })
  let text = ""
  const reading = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk)
  })()
  // A monitor releases its own name before it receives anything.
  await until(() => text.includes("member=NameLost"))
  return {
    messages: () => text.replaceAll(/\n +/g, " ").split("\n"),
    [Symbol.dispose]: () => {
      child.kill()
      reading.catch(() => {})
    },
  }
}

/** The line that dbus-monitor prints. */
export const closed = (id: string | number, reason: number): RegExp =>
  new RegExp(`member=NotificationClosed uint32 ${id} uint32 ${reason}$`)

export const SIGNALS = `type='signal',interface='${NOTIFICATIONS}'`

export async function openBus(address: string): Promise<Bus & Disposable> {
  const bus = await Bus.open(address, soon())
  return Object.assign(bus, { [Symbol.dispose]: () => bus.close() })
}

/** undefined if no notification daemon is running. */
export async function ownerOf(bus: Bus): Promise<string | undefined> {
  try {
    const asked = method(`${DBUS}.GetNameOwner`, "s", [NOTIFICATIONS])
    return readAs(await bus.call(asked, DBUS, DBUS_PATH, soon()), "s").string()
  } catch (error) {
    if (error instanceof DBusError) return undefined
    throw error
  }
}

export async function pidOf(bus: Bus): Promise<number> {
  const asked = method(`${DBUS}.GetConnectionUnixProcessID`, "s", [NOTIFICATIONS])
  return readAs(await bus.call(asked, DBUS, DBUS_PATH, soon()), "u").u32()
}

export interface Sent {
  readonly app?: string
  readonly replaces?: number
  readonly title?: string
  readonly body?: string
  readonly actions?: readonly string[]
  readonly hints?: ReadonlyMap<string, Value>
}

/** Sends notifications that no command line tool can send. */
export async function send(bus: Bus, sent: Sent): Promise<number> {
  const { app = "", replaces = 0, title = "", body = "", actions = [], hints = new Map() } = sent
  const values = [app, replaces, "", title, body, actions, hints, -1]
  const called = method(`${NOTIFICATIONS}.Notify`, "susssasa{sv}i", values, true)
  return readAs(await bus.call(called, NOTIFICATIONS, PATH, soon()), "u").u32()
}
