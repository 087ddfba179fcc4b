import { NOT_DELIVERED, type Performed } from "../../action.ts"
import { inTime } from "../../until.ts"
import { type Bus, DBusClosed, DBusError, type Method, method, readAs } from "../dbus/bus.ts"
import { type Atspi, INTERFACE, type Interfaces, type Ref } from "./atspi.ts"
import { unlessRefused } from "./element.ts"
import { leaveSideDoor, openSideDoor, type SideDoor } from "./side-door.ts"
import type { Traits } from "./toolkits.ts"

/**
 * true or false: the app's answer. "refused": the app has no such method, and did nothing. "begun": the app answers
 * other questions meanwhile, so the call is running. undefined: the call may have had its effect.
 */
type Sent = boolean | "refused" | "begun" | undefined

/** How long to wait for an answer before another question tests whether the app is still there. */
const PROMPT_MS = 250

/** Sends calls that change something, each once. The result says what is known about the effect. */
export class Sender {
  /** For questions, which may be repeated. */
  readonly atspi: Atspi
  readonly traits: Traits
  /** True once a call that may change something has been sent. */
  hasSent = false
  #door: Promise<SideDoor | undefined> | undefined
  /** The app that was called through the side door. */
  #called: string | undefined

  constructor(atspi: Atspi, traits: Traits) {
    this.atspi = atspi
    this.traits = traits
  }

  async close(): Promise<void> {
    const door = await this.#door
    if (door && this.#called) await leaveSideDoor(this.atspi, door, this.#called)
    else door?.bus.close()
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
    const bus = (await this.#sideDoor(ref))?.bus ?? this.atspi.bus
    this.hasSent = true
    this.#called = ref.bus
    const answer = bus.call(called, ref.bus, ref.path, this.atspi.deadline).then(answerOf, fateOf)
    const soon = await inTime(answer, PROMPT_MS, () => "late" as const)
    if (soon !== "late") return soon
    // A call that opens a modal dialog or a menu may return only when that closes; the app answers other calls meanwhile.
    const others = this.atspi.states(ref).then(
      () => "begun" as const,
      () => answer,
    )
    return Promise.race([answer, others])
  }

  /**
   * A direct connection to an app that reads nothing more from a connection during a call. If the call came over the
   * bus and opened a modal dialog, no client could reach the app until the dialog closes.
   */
  #sideDoor(ref: Ref): Promise<SideDoor | undefined> {
    if (this.traits.callBlocksConnection) this.#door ??= openSideDoor(this.atspi, ref).catch(() => undefined)
    return this.#door ?? Promise.resolve(undefined)
  }
}

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

/** Lower-case letters only: toolkits differ in case, blanks and dots. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")
