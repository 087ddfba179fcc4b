import type { Deadline } from "../../deadline.ts"
import { authRequest, Handshake, parseAddresses } from "./auth.ts"
import {
  callSize,
  ERROR,
  expectsReply,
  METHOD_CALL,
  METHOD_RETURN,
  type Message,
  MessageStream,
  type Method,
  message,
  method,
  parseMessage,
  SIGNAL,
  writeCall,
} from "./message.ts"
import { viewOf } from "./read.ts"
import { type Value, WireError } from "./wire.ts"

export type { Message, Method } from "./message.ts"
export { method } from "./message.ts"
export { WireError } from "./wire.ts"

/** The peer answered with an error; `code` is its D-Bus name. */
export class DBusError extends Error {
  override readonly name = "DBusError"
  readonly code: string

  constructor(code: string, text: string) {
    super(text || code)
    this.code = code
  }
}

/** The peer did not answer before the call's deadline. */
export class DBusTimeout extends Error {
  override readonly name = "DBusTimeout"
  /** The bus has never sent anything, so the bus itself hangs, not the peer behind it. */
  readonly silentBus: boolean

  constructor(text: string, silentBus = false) {
    super(text)
    this.silentBus = silentBus
  }
}

/** The connection could not be opened or has ended; the message says why. */
export class DBusClosed extends Error {
  override readonly name = "DBusClosed"
}

/** The answer of an object that this process serves. */
export type Answer =
  | { readonly signature?: string; readonly values?: readonly Value[] }
  | { readonly error: string; readonly text?: string }

export const DBUS = "org.freedesktop.DBus"
export const DBUS_PATH = "/org/freedesktop/DBus"

/**
 * A connection to a message bus. Calls do not wait for one another and share writes. Each call ends with its
 * reply, at its deadline, or with the connection.
 */
export class Bus {
  /** Our unique name, once the bus has assigned it. */
  readonly name: Promise<string>
  /** The guid of the bus, once it has accepted us. */
  guid = ""
  readonly address: string
  readonly #socket: Bun.Socket<undefined>
  readonly #stream = new MessageStream()
  readonly #pending = new Map<number, Pending>()
  /** Calls that wait because too many others are in flight. */
  readonly #waiting: Waiting[] = []
  readonly #listeners = new Set<(signal: Message) => void>()
  readonly #signals = new WeakSet<AbortSignal>()
  readonly #ended = Promise.withResolvers<DBusClosed>()
  #handshake: Handshake | undefined = new Handshake()
  #serve: ((call: Message) => Answer | Promise<Answer> | undefined) | undefined
  #overhear: ((bytes: Buffer, start: number, end: number) => boolean) | undefined
  #failure: DBusClosed | undefined
  #serial = 0
  #out = Buffer.allocUnsafeSlow(OUT_SIZE)
  #outView = viewOf(this.#out)
  #outEnd = 0
  #backlog: Buffer[] = []
  #flushing = false
  #alarm: ReturnType<typeof setTimeout> | undefined
  #alarmAt = Number.POSITIVE_INFINITY

  /** Connects to the first address that accepts us. Calls may be made at once. */
  static async open(address: string, deadline: Deadline): Promise<Bus> {
    const reasons: string[] = []
    let isLate = false
    for (const { unix, text } of parseAddresses(address)) {
      try {
        return await connect(unix, text, deadline)
      } catch (error) {
        isLate ||= error instanceof DBusTimeout || deadline.expired
        reasons.push(`${text}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    if (isLate) throw new DBusTimeout(reasons.join("; "), true)
    throw new DBusClosed(reasons.join("; ") || `no usable unix socket in the bus address '${address}'`)
  }

  constructor(socket: Bun.Socket<undefined>, address: string, deadline: Deadline) {
    this.#socket = socket
    this.address = address
    this.#send(authRequest(process.getuid?.() ?? 0))
    const hello = this.call(HELLO, DBUS, DBUS_PATH, deadline)
    this.name = hello.then((reply) => readAs(reply, "s").string())
    // Only a caller that asks for the name sees its failure.
    this.name.catch(() => {})
  }

  /** The reason why the connection failed; undefined while it works. */
  get failure(): DBusClosed | undefined {
    return this.#failure
  }

  /** Resolves when the connection has failed or ended; for processes that serve on it. */
  get ended(): Promise<DBusClosed> {
    return this.#ended.promise
  }

  call(called: Method, destination: string, path: string, deadline: Deadline): Promise<Message> {
    return this.ask(called, destination, path, deadline, whole)
  }

  /** A call whose reply `read` reads on arrival. An error thrown by `read` fails the call. */
  ask<T>(
    called: Method,
    destination: string,
    path: string,
    deadline: Deadline,
    read: (reply: Message) => T,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      if (deadline.expired)
        return reject(new DBusTimeout(`no time left to call ${called.member}`, this.#handshake !== undefined))
      this.#watch(deadline)
      const take = (reply: Message): void => resolve(read(reply))
      const pending = { take, reject, deadline, member: called.member }
      if (this.#pending.size >= MAX_IN_FLIGHT) {
        this.#waiting.push({ pending, called, destination, path })
        return
      }
      this.#dispatch(pending, called, destination, path)
    })
  }

  /** Asks the bus for the signals that match a rule. */
  async match(rule: string, deadline: Deadline): Promise<void> {
    await this.call(method(`${DBUS}.AddMatch`, "s", [rule]), DBUS, DBUS_PATH, deadline)
  }

  async unmatch(rule: string, deadline: Deadline): Promise<void> {
    await this.call(method(`${DBUS}.RemoveMatch`, "s", [rule]), DBUS, DBUS_PATH, deadline)
  }

  /** Calls `listener` with every signal that arrives; returns a function that stops it. */
  listen(listener: (signal: Message) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Answers calls from other connections; undefined leaves a call unanswered. */
  serve(answer: (call: Message) => Answer | Promise<Answer> | undefined): void {
    this.#serve = answer
  }

  /** Passes every message to `take` first, which returns true if it consumed the message; for monitors. */
  overhear(take: (bytes: Buffer, start: number, end: number) => boolean): void {
    this.#overhear = take
  }

  /** `destination`: the only connection that gets the signal. */
  emit(
    path: string,
    name: string,
    signature = "",
    values: readonly Value[] = [],
    destination?: string,
  ): void {
    const dot = name.lastIndexOf(".")
    const fields = { path, interface: name.slice(0, dot), member: name.slice(dot + 1), destination }
    this.#send(message(SIGNAL, this.#nextSerial(), fields, signature, values))
  }

  close(): void {
    this.#fail(new DBusClosed("the connection was closed"))
  }

  /** Stops using the connection without hanging up: `take` passes its socket on to another process. */
  handOver(take: (socket: number) => void): void {
    if (this.#failure) return
    // Bun has the number, and does not declare it.
    take(Number(Reflect.get(this.#socket, "fd")))
    this.#fail(new DBusClosed("the connection was handed over"), "leave")
  }

  /** Called by the socket. */
  receive(chunk: Buffer): void {
    try {
      const bytes = this.#handshake ? this.#handshake.push(chunk) : chunk
      if (bytes === undefined) return
      if (this.#handshake) this.guid = this.#handshake.guid
      this.#handshake = undefined
      this.#stream.push(bytes, (...place) => this.#take(...place))
    } catch (error) {
      if (!(error instanceof WireError || error instanceof RangeError)) throw error
      this.#fail(new DBusClosed(`the bus sent bytes that are not a D-Bus message: ${error.message}`))
    }
  }

  /** Called by the socket when it accepts bytes again. */
  drain(): void {
    const backlog = this.#backlog
    this.#backlog = []
    for (const bytes of backlog) this.#send(bytes)
  }

  /** Called by the socket. */
  disconnected(reason: string): void {
    this.#fail(new DBusClosed(this.#handshake ? `${reason} during authentication` : reason))
  }

  #dispatch(pending: Pending, called: Method, destination: string, path: string): void {
    const serial = this.#nextSerial()
    this.#pending.set(serial, pending)
    const size = callSize(called, destination, path)
    if (this.#outEnd + size > this.#out.length) {
      this.#flush()
      if (size > this.#out.length) {
        const single = Buffer.allocUnsafeSlow(size)
        const end = writeCall(single, viewOf(single), 0, called, destination, path, serial)
        this.#send(single.subarray(0, end))
        return
      }
    }
    this.#outEnd = writeCall(this.#out, this.#outView, this.#outEnd, called, destination, path, serial)
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#outEnd === 0 || this.#failure) return
    const bytes = this.#out.subarray(0, this.#outEnd)
    this.#outEnd = 0
    // Bytes that the kernel did not accept stay referenced, so this buffer is not reused.
    if (this.#send(bytes)) return
    this.#out = Buffer.allocUnsafeSlow(OUT_SIZE)
    this.#outView = viewOf(this.#out)
  }

  /** Returns true if the kernel accepted all bytes at once. */
  #send(bytes: Buffer): boolean {
    if (this.#failure) return true
    if (this.#backlog.length > 0) {
      this.#backlog.push(bytes)
      return false
    }
    const written = this.#socket.write(bytes)
    if (written >= bytes.length) return true
    this.#backlog.push(bytes.subarray(Math.max(0, written)))
    return false
  }

  #nextSerial(): number {
    this.#serial = (this.#serial % 0xffffffff) + 1
    return this.#serial
  }

  #take(bytes: Buffer, view: DataView, start: number, end: number): void {
    if (this.#overhear?.(bytes, start, end) === false) return
    const got = parseMessage(bytes, view, start, end)
    if (got.type === METHOD_RETURN || got.type === ERROR) this.#answer(got)
    else if (got.type === SIGNAL) for (const listener of this.#listeners) listener(got)
    else if (got.type === METHOD_CALL) this.#serveCall(got)
    else if (got.type === 0) throw new WireError("message of type 0")
  }

  #answer(reply: Message): void {
    const pending = this.#pending.get(reply.replySerial)
    // A reply after its deadline.
    if (!pending) return
    this.#pending.delete(reply.replySerial)
    if (reply.type === ERROR) pending.reject(errorOf(reply))
    else giveReply(pending, reply)
    if (this.#waiting.length > 0) this.#admit()
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#pending.size < MAX_IN_FLIGHT) {
      const next = this.#waiting.shift()
      if (next) this.#dispatch(next.pending, next.called, next.destination, next.path)
    }
  }

  async #serveCall(call: Message): Promise<void> {
    const answer = this.#serve
      ? await this.#serve(call)
      : { error: "org.freedesktop.DBus.Error.UnknownMethod", text: "this program serves nothing" }
    if (!answer || !expectsReply(call)) return
    const fields = { destination: call.sender, replySerial: call.serial }
    this.#send(
      "error" in answer
        ? message(ERROR, this.#nextSerial(), { ...fields, errorName: answer.error }, "s", [answer.text ?? ""])
        : message(METHOD_RETURN, this.#nextSerial(), fields, answer.signature, answer.values),
    )
  }

  /** One timer serves all calls; it fires at the earliest deadline. */
  #watch(deadline: Deadline): void {
    if (deadline.signal && !this.#signals.has(deadline.signal)) {
      this.#signals.add(deadline.signal)
      deadline.signal.addEventListener("abort", () => this.#sweep(), { once: true })
    }
    if (deadline.at >= this.#alarmAt) return
    clearTimeout(this.#alarm)
    this.#alarmAt = deadline.at
    this.#alarm = setTimeout(() => this.#sweep(), Math.min(Math.ceil(deadline.remaining), MAX_TIMER))
  }

  #sweep(): void {
    clearTimeout(this.#alarm)
    this.#alarmAt = Number.POSITIVE_INFINITY
    for (const [serial, pending] of this.#pending) {
      if (!pending.deadline.expired) this.#watch(pending.deadline)
      else if (this.#pending.delete(serial)) pending.reject(this.#late(pending))
    }
    const waiting = this.#waiting.splice(0)
    for (const one of waiting) {
      if (one.pending.deadline.expired) one.pending.reject(this.#late(one.pending))
      else if (this.#waiting.push(one)) this.#watch(one.pending.deadline)
    }
    this.#admit()
  }

  #late({ member }: Pending): DBusTimeout {
    return new DBusTimeout(`no answer to ${member}`, this.#handshake !== undefined)
  }

  #fail(failure: DBusClosed, how: "hang up" | "leave" = "hang up"): void {
    if (this.#failure) return
    this.#failure = failure
    this.#ended.resolve(failure)
    clearTimeout(this.#alarm)
    // end() notifies the peer; terminate() only closes our descriptor of the socket.
    if (how === "hang up") this.#socket.end()
    else this.#socket.terminate()
    const pending = [...this.#pending.values(), ...this.#waiting.map((one) => one.pending)]
    this.#pending.clear()
    this.#waiting.length = 0
    this.#backlog = []
    for (const one of pending) one.reject(failure)
  }
}

/** The body of a reply. Throws if its signature is not the expected one. */
export function readAs(reply: Message, signature: string): Message["body"] {
  if (reply.signature === signature) return reply.body
  throw new WireError(`a reply of type '${reply.signature}' where '${signature}' was expected`)
}

const whole = (reply: Message): Message => reply

/** A malformed reply fails its own call only. */
function giveReply(pending: Pending, reply: Message): void {
  try {
    pending.take(reply)
  } catch (error) {
    pending.reject(error instanceof Error ? error : new WireError(String(error)))
  }
}

interface Pending {
  readonly take: (reply: Message) => void
  readonly reject: (error: Error) => void
  readonly deadline: Deadline
  readonly member: string
}

interface Waiting {
  readonly pending: Pending
  readonly called: Method
  readonly destination: string
  readonly path: string
}

const HELLO = method(`${DBUS}.Hello`)
const OUT_SIZE = 64 * 1024
/** Calls in flight: far below the 50,000 that a bus allows, and enough to keep any application busy. */
const MAX_IN_FLIGHT = 2000
const MAX_TIMER = 0x7fffffff

async function connect(unix: string, address: string, deadline: Deadline): Promise<Bus> {
  let bus: Bus | undefined
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new DBusTimeout("the socket did not connect in time")),
    deadline.remaining,
  )
  const open = () =>
    Bun.connect<undefined>({
      unix,
      socket: {
        data: (_, chunk) => bus?.receive(chunk),
        drain: () => bus?.drain(),
        close: () => bus?.disconnected("the bus closed the connection"),
        error: (_, error) => bus?.disconnected(error.message),
      },
    })
  const connecting = open().catch(async (error: unknown) => {
    const { connectWhileFull } = await import("./queue.ts")
    return connectWhileFull(unix, deadline, error, open)
  })
  try {
    const socket = await Promise.race([connecting, late])
    // Without time for Hello the connection is useless: a bus disconnects a client that sends anything else first.
    if (deadline.expired) throw new DBusTimeout("the socket did not connect in time")
    bus = new Bus(socket, address, deadline)
    return bus
  } catch (error) {
    connecting.then((socket) => socket.end()).catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function errorOf(reply: Message): Error {
  try {
    return new DBusError(reply.errorName, reply.signature.startsWith("s") ? reply.body.string() : "")
  } catch (error) {
    if (error instanceof WireError) return new DBusError(reply.errorName, "")
    throw error
  }
}
