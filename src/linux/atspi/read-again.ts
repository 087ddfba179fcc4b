import type { Bus, Message, Method } from "../dbus/bus.ts"
import { type Ahead, type Atspi, type Ref, refKey } from "./atspi.ts"

/**
 * The questions of the last reading of a tree, asked again all at once.
 *
 * A reading asks step by step, because the answers decide what it asks next. While a window stays the same, its next
 * reading asks the same questions. Sent together, they take one round trip instead of a dozen. Only questions are kept from
 * one reading to the next: every answer is new, and one that the reading does not ask for is dropped.
 */
export async function readAgain<T>(
  atspi: Atspi,
  { bus, path }: Ref,
  options: object,
  read: (atspi: Atspi) => Promise<T>,
): Promise<T> {
  const known = plans.get(atspi.bus) ?? new Map<string, Plan>()
  plans.set(atspi.bus, known)
  const key = `${refKey({ bus, path })} ${JSON.stringify(options)}`
  const ahead = new SentAhead(atspi, bus, known.get(key) ?? [])
  const result = await read(atspi.ahead(ahead))
  known.delete(key)
  if (ahead.asked.length <= MOST_QUESTIONS) known.set(key, ahead.asked)
  for (const oldest of known.keys()) if (known.size > MOST_PLANS) known.delete(oldest)
  return result
}

type Plan = readonly Question[]

interface Question {
  readonly path: string
  readonly called: Method
}

/** Names on a bus are never given twice, and a bridge numbers its objects: a path means the same object or none. */
const plans = new WeakMap<Bus, Map<string, Plan>>()
const MOST_PLANS = 8
/** A tree that takes more is a page, which rarely stays the same. */
const MOST_QUESTIONS = 1000

class SentAhead implements Ahead {
  /** The questions of this reading. */
  readonly asked: Question[] = []
  readonly #bus: string
  readonly #coming = new Map<string, Coming[]>()

  constructor(atspi: Atspi, bus: string, plan: Plan) {
    this.#bus = bus
    for (const { path, called } of plan) {
      const answer = atspi.bus.call(called, bus, path, atspi.deadline)
      // It may be an answer that is not needed any more.
      answer.catch(() => {})
      const others = this.#coming.get(path)
      if (others) others.push({ called, answer })
      else this.#coming.set(path, [{ called, answer }])
    }
  }

  /** The answer to a question that was asked ahead; undefined if it was not. Each counts for one asking. */
  take({ bus, path }: Ref, called: Method): Promise<Message> | undefined {
    if (bus !== this.#bus) return undefined
    this.asked.push({ path, called })
    const coming = this.#coming.get(path)
    const at = coming?.findIndex((one) => isSame(one.called, called)) ?? -1
    return at < 0 ? undefined : coming?.splice(at, 1)[0]?.answer
  }
}

interface Coming {
  readonly called: Method
  readonly answer: Promise<Message>
}

const isSame = (one: Method, other: Method): boolean =>
  one === other || (one.head === other.head && one.body.equals(other.body))
