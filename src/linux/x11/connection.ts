import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import {
  type Env,
  type Link,
  lostServer,
  openLink,
  parseDisplay,
  readCookie,
  type Setup,
  serverTimeout,
  timeIsUp,
} from "./setup.ts"
import { brokenProtocol, encodeLatin1, Packet, Request, XError } from "./wire.ts"

export interface Extension {
  readonly opcode: number
  readonly firstEvent: number
  readonly firstError: number
}

export interface XEvent {
  readonly code: number
  /** True if another client sent it with SendEvent. */
  readonly sent: boolean
  readonly packet: Packet
}

/** Events since the subscription was opened, in order. */
export interface EventQueue extends Disposable {
  /** The next event; undefined if none arrives before the deadline. */
  next(deadline: Deadline): Promise<XEvent | undefined>
}

/** A caller that waits for the answer to a request, or to several consecutive ones. */
interface Pending {
  readonly deadline: Deadline
  readonly answer: (reply: Packet | XError) => void
  readonly reject: (error: Error) => void
}

/** One connection to an X server. Requests are sent at once and do not wait for one another. */
export class X11 {
  readonly name: string
  readonly setup: Setup
  readonly #link: Link
  readonly #pending = new Map<number, Pending>()
  readonly #queues = new Set<(event: XEvent | AppError) => void>()
  readonly #wanted = new Map<number, Set<{ readonly mask: number }>>()
  readonly #interning = new Map<string, Promise<void>>()
  readonly #knownAtoms = new Map<string, number>()
  readonly #extensions = new Map<string, Promise<Extension | undefined>>()
  /** Errors of requests that have no reply, for `check`. */
  #strays: { readonly sequence: number; readonly error: XError }[] = []
  readonly #signals = new WeakSet<AbortSignal>()
  #outbox: Uint8Array[] = []
  #sent = 0
  #seen = 0
  #lastAsked = 0
  #ids = 0
  #maxWords: number
  #big = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #failure: AppError | undefined

  private constructor(name: string, link: Link) {
    this.name = name
    this.#link = link
    this.setup = link.setup
    this.#maxWords = link.setup.maxRequestWords
    link.attach({
      packet: (raw) => this.#receive(raw),
      drain: () => this.#flush(),
      end: (error) => this.#fail(error),
    })
  }

  /** Connects to the environment's DISPLAY with its cookie. */
  static async connect(env: Env, deadline: Deadline): Promise<X11> {
    const target = parseDisplay(env.DISPLAY)
    const cookie = readCookie(env, target)
    return new X11(target.name, await openLink(target, cookie, deadline))
  }

  get root(): number {
    return this.setup.screen.root
  }

  get closed(): boolean {
    return this.#failure !== undefined
  }

  newId(): number {
    const { idBase, idMask } = this.setup
    this.#ids += idMask & -idMask
    if (this.#ids > idMask) throw new AppError("INTERNAL", "No X resource ids are left")
    return (idBase | this.#ids) >>> 0
  }

  /** Sends a request that has no reply. Its error, if any, is only seen by `check`. */
  send(request: Request): void {
    // A reply at least every 65536 requests, or 16-bit sequence numbers become ambiguous.
    if (this.#sent - this.#lastAsked > 60_000) {
      this.#write(new Request(GET_INPUT_FOCUS))
      this.#lastAsked = this.#sent
    }
    this.#write(request)
  }

  /** Sends a request and returns its reply. */
  ask(request: Request, deadline: Deadline): Promise<Packet> {
    const { promise, resolve, reject } = Promise.withResolvers<Packet>()
    const answer = (reply: Packet | XError) => (reply instanceof XError ? reject(reply) : resolve(reply))
    this.#await([request], { deadline, answer, reject })
    return promise
  }

  /** Sends requests and returns their replies; a failed request has its error in place of a reply. */
  askAll(requests: readonly Request[], deadline: Deadline): Promise<readonly (Packet | XError)[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (Packet | XError)[]>()
    const replies: (Packet | XError)[] = []
    // The server answers in order.
    const answer = (reply: Packet | XError) => {
      if (replies.push(reply) === requests.length) resolve(replies)
    }
    if (requests.length === 0) resolve(replies)
    else this.#await(requests, { deadline, answer, reject })
    return promise
  }

  /** Resolves when the server has carried out everything sent so far. */
  async sync(deadline: Deadline): Promise<void> {
    await this.ask(new Request(GET_INPUT_FOCUS), deadline)
  }

  /** Sends requests that have no reply and throws the first of their errors. */
  async check(requests: readonly Request[], deadline: Deadline): Promise<void> {
    const first = this.#sent + 1
    for (const request of requests) this.send(request)
    const last = this.#sent
    await this.sync(deadline)
    const mine = this.#strays.filter((stray) => stray.sequence >= first && stray.sequence <= last)
    this.#strays = this.#strays.filter((stray) => !mine.includes(stray))
    if (mine[0]) throw mine[0].error
  }

  /** Interns all names in one round trip, once per connection; `atom` then returns their ids. */
  async intern(names: readonly string[], deadline: Deadline): Promise<void> {
    const missing = names.filter((name) => !this.#interning.has(name))
    const asked = this.askAll(missing.map(internAtom), deadline).then((replies) => {
      for (const [i, reply] of replies.entries()) {
        if (reply instanceof XError) throw reply
        this.#knownAtoms.set(missing[i]!, reply.u32(8))
      }
    })
    for (const name of missing) this.#interning.set(name, asked)
    asked.catch(() => {
      for (const name of missing) this.#interning.delete(name)
    })
    await Promise.all(new Set(names.map((name) => this.#interning.get(name))))
  }

  atom(name: string): number {
    const id = this.#knownAtoms.get(name)
    if (id === undefined) throw new AppError("INTERNAL", `The atom ${name} was not interned`)
    return id
  }

  /** True if this id is that atom; false also for a name that was never interned. */
  isAtom(id: number, name: string): boolean {
    return this.#knownAtoms.get(name) === id
  }

  /** The extension's opcodes; undefined if the server does not have it. */
  extension(name: string, deadline: Deadline): Promise<Extension | undefined> {
    const known = this.#extensions.get(name)
    if (known) return known
    const bytes = encodeLatin1(name)
    const asked = this.ask(new Request(98).u16(bytes.length).u16(0).bytes(bytes), deadline).then((reply) =>
      reply.u8(8) ? { opcode: reply.u8(9), firstEvent: reply.u8(10), firstError: reply.u8(11) } : undefined,
    )
    this.#extensions.set(name, asked)
    asked.catch(() => this.#extensions.delete(name))
    return asked
  }

  /** Allows requests beyond 256 KiB if the server supports them. Returns the limit in bytes. */
  async growRequests(deadline: Deadline): Promise<number> {
    const extension = this.#big ? undefined : await this.extension("BIG-REQUESTS", deadline)
    if (extension) {
      this.#maxWords = (await this.ask(new Request(extension.opcode), deadline)).u32(8)
      this.#big = true
    }
    return this.#maxWords * 4
  }

  /** Collects the events that `accept` accepts, from now on. */
  listen(accept: (event: XEvent) => boolean): EventQueue {
    const waiting: XEvent[] = []
    let failure = this.#failure
    let wake: (() => void) | undefined
    const take = (event: XEvent | AppError) => {
      if (event instanceof AppError) failure = event
      else if (accept(event)) waiting.push(event)
      else return
      wake?.()
    }
    this.#queues.add(take)
    return {
      next: async (deadline) => {
        while (waiting.length === 0 && !failure && !deadline.expired) {
          const { promise, resolve } = Promise.withResolvers<void>()
          wake = resolve
          const timer = setTimeout(resolve, Math.min(deadline.remaining, MAX_TIMER))
          const { signal } = deadline
          signal?.addEventListener("abort", wake)
          await promise
          clearTimeout(timer)
          signal?.removeEventListener("abort", wake)
          wake = undefined
        }
        const event = waiting.shift()
        if (!event && failure) throw failure
        return event
      },
      [Symbol.dispose]: () => void this.#queues.delete(take),
    }
  }

  /** Selects events of a window, in addition to those already selected on this connection, until disposed. */
  select(window: number, mask: number): Disposable {
    const wanted = this.#wanted.get(window) ?? new Set()
    const mine = { mask }
    const update = () => {
      const all = [...wanted].reduce((bits, one) => bits | one.mask, 0)
      if (!this.#failure) this.send(new Request(2).u32(window).u32(EVENT_MASK_ATTRIBUTE).u32(all))
    }
    this.#wanted.set(window, wanted.add(mine))
    update()
    return {
      [Symbol.dispose]: () => {
        wanted.delete(mine)
        if (wanted.size === 0) this.#wanted.delete(window)
        update()
      },
    }
  }

  close(): void {
    this.#fail(new AppError("INTERNAL", "The X connection is closed"))
  }

  #await(requests: readonly Request[], asker: Pending): void {
    const failure = this.#failure ?? (asker.deadline.expired ? timeIsUp() : undefined)
    if (failure) {
      asker.reject(failure)
      return
    }
    for (const request of requests) {
      this.#write(request)
      this.#pending.set(this.#sent, asker)
    }
    this.#lastAsked = this.#sent
    this.#watchDeadline(asker.deadline)
  }

  #write(request: Request): void {
    if (this.#failure) throw this.#failure
    const bytes = request.encode(this.#maxWords, this.#big)
    this.#sent++
    this.#outbox.push(bytes)
    // One write for all requests made in the same turn.
    if (this.#outbox.length === 1) queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    while (this.#outbox.length > 0 && !this.#failure) {
      const batch = this.#outbox.length === 1 ? this.#outbox[0]! : Buffer.concat(this.#outbox)
      const written = this.#link.write(batch)
      if (written < 0) {
        this.#fail(lostServer(this.name))
        return
      }
      this.#outbox = written < batch.length ? [batch.subarray(written)] : []
      // The rest goes out when the socket drains.
      if (written < batch.length) return
    }
  }

  #receive(raw: Uint8Array): void {
    const kind = raw[0]! & 0x7f
    // KeymapNotify alone carries no sequence number.
    if (kind !== 11) {
      this.#seen = this.#widen(raw[2]! | (raw[3]! << 8))
      if (this.#seen > this.#sent) throw brokenProtocol(`answer to request ${this.#seen} of ${this.#sent}`)
    }
    if (kind > 1) this.#dispatch(raw)
    else this.#settle(this.#seen, raw)
  }

  #settle(sequence: number, raw: Uint8Array): void {
    this.#dropUnanswered(sequence)
    const asked = this.#pending.get(sequence)
    this.#pending.delete(sequence)
    if (raw[0] === 1) {
      asked?.answer(new Packet(raw))
      return
    }
    const error = new XError(new Packet(raw))
    if (asked) asked.answer(error)
    else this.#strays = [...this.#strays.slice(-MAX_STRAYS), { sequence, error }]
  }

  #dispatch(raw: Uint8Array): void {
    const event = { code: raw[0]! & 0x7f, sent: raw[0]! > 0x7f, packet: new Packet(raw) }
    for (const take of [...this.#queues]) take(event)
  }

  #widen(low: number): number {
    const full = this.#seen - (this.#seen % 65536) + low
    return full < this.#seen ? full + 65536 : full
  }

  // The server answers in order: what is older than this answer will never get one.
  #dropUnanswered(sequence: number): void {
    for (const [older, asked] of this.#pending) {
      if (older >= sequence) return
      this.#pending.delete(older)
      asked.reject(brokenProtocol(`no answer to request ${older}`))
    }
  }

  // One timer and one listener per signal serve all pending requests.
  #watchDeadline(deadline: Deadline): void {
    const { signal } = deadline
    if (signal && !this.#signals.has(signal)) {
      this.#signals.add(signal)
      signal.addEventListener("abort", () => this.#expire(), { once: true })
    }
    if (deadline.at >= this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = deadline.at
    this.#timer = setTimeout(() => this.#expire(), Math.min(deadline.remaining, MAX_TIMER))
  }

  #expire(): void {
    clearTimeout(this.#timer)
    this.#timerAt = Number.POSITIVE_INFINITY
    for (const [sequence, asked] of [...this.#pending]) {
      if (asked.deadline.expired) {
        this.#pending.delete(sequence)
        asked.reject(serverTimeout())
      } else this.#watchDeadline(asked.deadline)
    }
  }

  #fail(error: AppError): void {
    if (this.#failure) return
    this.#failure = error
    clearTimeout(this.#timer)
    this.#outbox = []
    this.#link.end()
    const unanswered = [...this.#pending.values()]
    this.#pending.clear()
    for (const asked of unanswered) asked.reject(error)
    for (const take of [...this.#queues]) take(error)
  }
}

function internAtom(name: string): Request {
  const bytes = Buffer.from(name, "latin1")
  return new Request(16).u16(bytes.length).u16(0).bytes(bytes)
}

const GET_INPUT_FOCUS = 43
const EVENT_MASK_ATTRIBUTE = 1 << 11
const MAX_STRAYS = 64
const MAX_TIMER = 2 ** 31 - 1
