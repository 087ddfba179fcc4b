import type { Performed } from "../adapter.ts"
import { type Atspi, INTERFACE, type Interfaces, type Ref } from "./atspi.ts"
import { DBusClosed, DBusError, type Method, method, readAs } from "./dbus.ts"
import { unlessRefused } from "./element.ts"

/** One call that changes something: sent once, with what is known of its fate. */

export const NOT_DELIVERED: Performed = { method: "none", delivery: "not_delivered" }
export const ALREADY: Performed = { ...NOT_DELIVERED, already: true }

/**
 * true or false: the application's answer. "refused": it has no such method, and did nothing.
 * "begun": it answers others meanwhile, so it is at work on it. undefined: it may have been done.
 */
type Sent = boolean | "refused" | "begun" | undefined

/** How long an answer may take before somebody asks whether the application is still there. */
const PROMPT_MS = 250

/** A silent application fails it at the deadline, like every other call. */
export async function send(atspi: Atspi, ref: Ref, called: Method): Promise<Sent> {
  const answer = atspi
    .call(ref, called)
    .then((reply): Sent => (reply.signature === "b" ? readAs(reply, "b").bool() : true), fateOf)
  const soon = await within(PROMPT_MS, answer)
  if (soon !== LATE) return soon
  // What opens a modal dialog or a menu answers only when that closes, and until then runs a loop of its own.
  const others = atspi.states(ref).then(
    () => "begun" as const,
    () => answer,
  )
  return Promise.race([answer, others])
}

const LATE = Symbol()

async function within<T>(ms: number, answer: Promise<T>): Promise<T | typeof LATE> {
  const late = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => late.resolve(LATE), ms)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function fateOf(error: unknown): Sent {
  if (error instanceof DBusError) return NOT_THERE.has(error.code) ? "refused" : undefined
  // The application may have ended because of it, and taken the answer along.
  if (error instanceof DBusClosed) return undefined
  throw error
}

const NOT_THERE: ReadonlySet<string> = new Set(
  [
    "UnknownMethod",
    "UnknownInterface",
    "UnknownObject",
    "NotSupported",
    "ServiceUnknown",
    "NameHasNoOwner",
  ].map((name) => `org.freedesktop.DBus.Error.${name}`),
)

/** A call that sets something which can be set again: a plain no means that nothing was done. */
export async function request(atspi: Atspi, ref: Ref, how: string, called: Method): Promise<Performed> {
  const sent = await send(atspi, ref, called)
  if (sent === undefined) return { method: `atspi:${how}`, delivery: "delivery_uncertain" }
  if (sent === false || sent === "refused") return NOT_DELIVERED
  return { method: `atspi:${how}`, delivery: "delivered_unverified" }
}

/** Does the first of the wanted actions that the object offers, by names as `plain` spells them. */
export async function act(atspi: Atspi, ref: Ref, wanted: readonly string[]): Promise<Performed> {
  if (!(await can(atspi, ref, INTERFACE.Action))) return NOT_DELIVERED
  const names = ((await unlessRefused(atspi.actionNames(ref))) ?? []).map(plain)
  const name = wanted.find((one) => names.includes(one))
  if (name === undefined) return NOT_DELIVERED
  const called = method("org.a11y.atspi.Action.DoAction", "i", [names.indexOf(name)])
  const sent = await send(atspi, ref, called)
  if (sent === "refused") return NOT_DELIVERED
  // A no may come from an application that did it all the same.
  const delivery = sent === true || sent === "begun" ? "delivered_unverified" : "delivery_uncertain"
  return { method: `atspi:${name}`, delivery }
}

/** Without case, blanks and dots, since toolkits spell them differently. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")

export async function can(atspi: Atspi, ref: Ref, bit: Interfaces): Promise<boolean> {
  return ((await atspi.interfaces(ref)) & bit) !== 0
}
