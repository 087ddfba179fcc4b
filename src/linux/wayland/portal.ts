import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { type Bus, DBusError, DBusTimeout, type Method, method } from "../dbus/bus.ts"
import { type Reader, unmarshal } from "../dbus/read.ts"
import { isVariant, type Value, type Variant } from "../dbus/wire.ts"

/** The desktop portal, which asks the user for consent if the desktop wants it. */
export const PORTAL = "org.freedesktop.portal.Desktop"
export const PORTAL_PATH = "/org/freedesktop/portal/desktop"

/** Options of a request, by their names. */
export type Options = Map<string, Variant>
export type Results = ReadonlyMap<string, Value>

/** Sends a request and waits for its answer, which comes as a signal: the user may be asked in between. */
export async function askPortal(
  bus: Bus,
  request: (options: Options) => Method,
  deadline: Deadline,
): Promise<Results> {
  const token = nextToken()
  const sender = (await bus.name).slice(1).replaceAll(".", "_")
  const path = `${PORTAL_PATH}/request/${sender}/${token}`
  const rule = `type='signal',interface='${REQUEST}',member='Response',path='${path}'`
  const answer = Promise.withResolvers<Results>()
  const stop = bus.listen((signal) => {
    if (signal.path !== path || signal.member !== "Response" || signal.signature !== "ua{sv}") return
    const code = signal.body.u32()
    if (code === 0) answer.resolve(resultsOf(signal.body))
    else answer.reject(denied(code))
  })
  const timer = setTimeout(() => answer.reject(unanswered()), deadline.remaining)
  // The call below may fail first.
  answer.promise.catch(() => {})
  try {
    await bus.match(rule, deadline)
    await bus.call(request(new Map([["handle_token", text(token)]])), PORTAL, PORTAL_PATH, deadline)
    return await answer.promise
  } finally {
    stop()
    clearTimeout(timer)
    bus.unmatch(rule, deadline).catch(() => {})
  }
}

/** The version of one of the portal's interfaces. Asking starts the portal. 0: the desktop lacks it. */
export async function portalVersion(bus: Bus, name: string, deadline: Deadline): Promise<number> {
  const get = method("org.freedesktop.DBus.Properties.Get", "ss", [name, "version"], true)
  try {
    const reply = await bus.call(get, PORTAL, PORTAL_PATH, deadline)
    const [version] = unmarshal(reply.signature, reply.body)
    const value = version !== undefined && isVariant(version) ? version.value : 0
    return typeof value === "number" ? value : 0
  } catch (error) {
    if (error instanceof DBusError) return 0
    throw error
  }
}

export const text = (value: string): Variant => ({ signature: "s", value })

export const nextToken = (): string => `agent_desktop_${crypto.randomUUID().replaceAll("-", "")}`

/** The value of a result that must be a text. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : ""
}

function resultsOf(reader: Reader): Results {
  const [map] = unmarshal("a{sv}", reader)
  const entries = map instanceof Map ? [...map] : []
  return new Map(entries.map(([name, value]) => [String(name), isVariant(value) ? value.value : value]))
}

function denied(code: number): AppError {
  return new AppError(
    "PERM_DENIED",
    code === 1 ? "The user did not allow it in the desktop's dialog" : "The desktop portal refused",
    {
      suggestion:
        "Ask the user to allow it when the dialog shows, or use commands that work by accessibility",
      disposition: NOTHING_DELIVERED,
    },
  )
}

function unanswered(): AppError {
  return new AppError("TIMEOUT", "The desktop portal did not answer in time", {
    suggestion: "A dialog may ask the user for consent: allow it, or retry with a larger --timeout-ms",
    details: { kind: "portal" },
    disposition: NOTHING_DELIVERED,
  })
}

/** Translates a portal failure that happened before anything was done. */
export function portalFailure(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (error instanceof DBusTimeout) return unanswered()
  return new AppError("PLATFORM_NOT_SUPPORTED", "The desktop portal does not offer this", {
    suggestion:
      "Install xdg-desktop-portal and the part for this desktop (xdg-desktop-portal-kde, xdg-desktop-portal-gnome)",
    platformDetail: error instanceof DBusError ? `${error.code}: ${error.message}` : String(error),
    disposition: NOTHING_DELIVERED,
  })
}

const REQUEST = "org.freedesktop.portal.Request"
