import { NOT_DELIVERED, type Performed } from "../../adapter.ts"
import { Bus, DBusClosed, DBusError, type Method, method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Interfaces, type Ref, ROOT_PATH } from "./atspi.ts"
import { unlessRefused } from "./element.ts"
import type { Traits } from "./toolkits.ts"

/**
 * true or false: the app's answer. "refused": the app has no such method, and did nothing. "begun": the app answers
 * other questions meanwhile, so the call is under way. undefined: the call may have had its effect.
 */
type Sent = boolean | "refused" | "begun" | undefined

/** The longest wait for an answer before another question tests if the app is still there. */
const PROMPT_MS = 250

/** Sends calls that change something: each once. The result says what is known of its effect. */
export class Sender {
  /** For questions, which may be repeated. */
  readonly atspi: Atspi
  readonly traits: Traits
  /** True once a call that may change something has been sent. */
  hasSent = false
  #door: Promise<Bus | undefined> | undefined

  constructor(atspi: Atspi, traits: Traits) {
    this.atspi = atspi
    this.traits = traits
  }

  async close(): Promise<void> {
    const door = await this.#door
    door?.close()
  }

  /** Sets something. `false` from the app means that it changed nothing. */
  async request(ref: Ref, how: string, called: Method): Promise<Performed> {
    const sent = await this.#send(ref, called)
    if (sent === undefined) return { method: `atspi:${how}`, delivery: "delivery_uncertain" }
    if (sent === false || sent === "refused") return NOT_DELIVERED
    return { method: `atspi:${how}`, delivery: "delivered_unverified" }
  }

  /** Does the first of the wanted actions that the object offers. Names are as `plain` spells them. */
  async act(ref: Ref, wanted: readonly string[]): Promise<Performed> {
    const [can, named] = await Promise.all([
      this.can(ref, INTERFACE.Action),
      unlessRefused(this.atspi.actionNames(ref)),
      // Opened here, so that no wait comes between the names and the action.
      this.#sideDoor(ref),
    ])
    const names = can ? (named ?? []).map(plain) : []
    const name = wanted.find((one) => names.includes(one))
    if (name === undefined) return NOT_DELIVERED
    const sent = await this.#send(ref, method("org.a11y.atspi.Action.DoAction", "i", [names.indexOf(name)]))
    if (sent === "refused") return NOT_DELIVERED
    const how = `atspi:${name}`
    if (sent === true || sent === "begun") return { method: how, delivery: "delivered_unverified" }
    const uncertain = { method: how, delivery: "delivery_uncertain" } as const
    return sent === false ? { ...uncertain, refusal: "Action.DoAction answered false" } : uncertain
  }

  async can(ref: Ref, bit: Interfaces): Promise<boolean> {
    return ((await this.atspi.interfaces(ref)) & bit) !== 0
  }

  /** Fails at the deadline if the app is silent, like every other call. */
  async #send(ref: Ref, called: Method): Promise<Sent> {
    const bus = (await this.#sideDoor(ref)) ?? this.atspi.bus
    this.hasSent = true
    const answer = bus.call(called, ref.bus, ref.path, this.atspi.deadline).then(answerOf, fateOf)
    const soon = await within(PROMPT_MS, answer)
    if (soon !== LATE) return soon
    // A call that opens a modal dialog or a menu may return only when that closes; the app answers other calls meanwhile.
    const others = this.atspi.states(ref).then(
      () => "begun" as const,
      () => answer,
    )
    return Promise.race([answer, others])
  }

  /**
   * A connection to the app itself, for an app that reads nothing more from a connection during a call. If the call
   * opens a modal dialog and came by the bus, no client could reach the app until the dialog closes.
   */
  #sideDoor(ref: Ref): Promise<Bus | undefined> {
    if (this.traits.callBlocksConnection) this.#door ??= openDoor(this.atspi, ref).catch(() => undefined)
    return this.#door ?? Promise.resolve(undefined)
  }
}

/**
 * The address is the app's own word, and may lead anywhere. The connection is used only if the object answers there at
 * most a moment later than on the bus: a call into a silent one would be lost.
 */
async function openDoor(atspi: Atspi, ref: Ref): Promise<Bus | undefined> {
  const called = method("org.a11y.atspi.Application.GetApplicationBusAddress")
  const reply = await atspi.call({ bus: ref.bus, path: ROOT_PATH }, called)
  const door = await Bus.open(readAs(reply, "s").string(), atspi.deadline)
  const answer = door.call(GET_ROLE, ref.bus, ref.path, atspi.deadline).then(
    (role) => role.signature === "u",
    () => false,
  )
  await atspi.role(ref)
  if ((await within(PROMPT_MS, answer)) === true) return door
  door.close()
  return undefined
}

const GET_ROLE = method("org.a11y.atspi.Accessible.GetRole")

type Reply = Awaited<ReturnType<Bus["call"]>>

const answerOf = (reply: Reply): Sent => (reply.signature === "b" ? readAs(reply, "b").bool() : true)

function fateOf(error: unknown): Sent {
  if (error instanceof DBusError) return NOT_THERE.has(error.code) ? "refused" : undefined
  // The app may have ended because of the call, before it answered.
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

/** Lower-case letters only: toolkits differ in case, blanks and dots. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")
