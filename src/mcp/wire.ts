import {
  isInitializeRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server"
import { toJson } from "../envelope.ts"

/** The longest message that is read. A screenshot is sent, never received. */
const MOST_BYTES = 10 * 1024 * 1024
/** With more unsent bytes than this, nothing more is read: the client sends faster than it reads. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024
/** With more unanswered requests than this, quick ones are answered before the next one is read. */
const MANY_UNANSWERED = 64
/** With more unanswered requests than this, nothing is read until one is answered. */
const MOST_UNANSWERED = 8192
/** Longest wait of a closing connection for a client that does not read. */
const FLUSH_MS = 500
/** Longest time for requests that were sent before the end of the input. After it they are cancelled. */
const LAST_ANSWERS_MS = 1000
const NEWLINE = 10

/** Standard input and output, of the program or of a test. */
export interface Ends {
  readonly input: {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>
    cancel(): Promise<void>
  }
  readonly output: Pick<Bun.FileSink, "write" | "flush" | "unref">
}

/**
 * JSON-RPC over standard input and output, one message a line. Every line is answered: one that is not a message gets
 * the standard error, and the connection goes on. Reading stops while the client does not read.
 */
export class Wire implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #ends: Ends
  readonly #lines = new Lines()
  readonly #unanswered = new Set<unknown>()
  #unsent = 0
  #sending: Promise<void> = Promise.resolve()
  #isClosed = false
  #wake = (): void => {}

  constructor(ends: Ends = { input: Bun.stdin.stream().getReader(), output: Bun.stdout.writer() }) {
    this.#ends = ends
  }

  async start(): Promise<void> {
    this.#read().catch((error) => {
      this.onerror?.(error)
      return this.close()
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed"))
    if ("id" in message && !("method" in message)) this.#unanswered.delete(message.id)
    return this.#write(message)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wake()
    await this.#ends.input.cancel().catch(() => {})
    // A client that has stopped reading must not keep the program alive.
    await Promise.race([this.#sending.catch(() => {}), Bun.sleep(FLUSH_MS)])
    this.#ends.output.unref()
    this.onclose?.()
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#ends.input.read()
      if (done || !value || this.#isClosed) break
      for (const line of this.#lines.take(value)) {
        this.#receive(line)
        await this.#room()
      }
    }
    await this.#lastAnswers()
    await this.close()
  }

  /** Answers quick requests of a client that closes the input at once, such as a file. */
  async #lastAnswers(): Promise<void> {
    const end = performance.now() + LAST_ANSWERS_MS
    for (let left = LAST_ANSWERS_MS; left > 0 && this.#unanswered.size > 0 && !this.#isClosed; ) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      left = end - performance.now()
    }
  }

  #receive(line: Line): void {
    const read = readMessage(line)
    // A failure to write closes the connection.
    if (read && "error" in read) this.#write({ jsonrpc: "2.0", ...read }).catch(() => {})
    if (!read || "error" in read) return
    const { message } = read
    if ("method" in message && "id" in message) this.#unanswered.add(message.id)
    // A cancelled request gets no answer.
    if ("method" in message && message.method === "notifications/cancelled")
      this.#unanswered.delete(message.params?.requestId)
    this.onmessage?.(message)
  }

  /** Waits until the client has read enough, and enough requests are answered. */
  async #room(): Promise<void> {
    if (this.#unanswered.size > MANY_UNANSWERED) await new Promise((resolve) => setImmediate(resolve))
    while (!this.#isClosed && (this.#unsent > MOST_UNSENT_BYTES || this.#unanswered.size > MOST_UNANSWERED))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  async #write(message: object): Promise<void> {
    const bytes = Buffer.from(`${toJson(message)}\n`)
    this.#unsent += bytes.length
    const sent = this.#sending.then(async () => {
      this.#ends.output.write(bytes)
      await this.#ends.output.flush()
      this.#unsent -= bytes.length
      this.#wake()
    })
    this.#sending = sent
    try {
      await sent
    } catch (error) {
      // The client has gone away.
      this.close().catch(() => {})
      throw error
    }
  }
}

type Line = Uint8Array | "too long"

/** Cuts a stream of bytes into lines. One that is too long is dropped as it comes, and reported once. */
class Lines {
  #parts: Uint8Array[] = []
  #length = 0
  #isDropping = false

  /** The lines that end in these bytes. */
  take(bytes: Uint8Array): readonly Line[] {
    const lines: Line[] = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (!this.#keep(bytes.subarray(start, end))) lines.push("too long")
      else if (!this.#isDropping) lines.push(Buffer.concat(this.#parts))
      this.#forget()
      this.#isDropping = false
      start = end + 1
    }
    if (!this.#keep(bytes.subarray(start))) lines.push("too long")
    return lines
  }

  /** False if the line has just become too long. */
  #keep(part: Uint8Array): boolean {
    if (this.#isDropping) return true
    this.#length += part.length
    // A copy: the stream may use its memory again.
    if (part.length > 0) this.#parts.push(part.slice())
    if (this.#length <= MOST_BYTES) return true
    this.#forget()
    this.#isDropping = true
    return false
  }

  #forget(): void {
    this.#parts = []
    this.#length = 0
  }
}

type Read = { readonly message: JSONRPCMessage } | Refusal

interface Refusal {
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

/** The message in a line, or the error that answers it; undefined for an empty line. */
function readMessage(line: Line): Read | undefined {
  if (line === "too long")
    return refusal(ProtocolErrorCode.InvalidRequest, `A message has at most ${MOST_BYTES} bytes`)
  const text = new TextDecoder().decode(line).trim()
  if (text === "") return undefined
  const value = unlessThrown(() => JSON.parse(text))
  if (value === undefined) return refusal(ProtocolErrorCode.ParseError, "The line is not JSON")
  const message = unlessThrown(() => parseJSONRPCMessage(value))
  if (!message) return refusal(ProtocolErrorCode.InvalidRequest, "The line is not a JSON-RPC message", value)
  if ("method" in message && message.method === "initialize" && !isInitializeRequest(message))
    return refusal(ProtocolErrorCode.InvalidParams, "The parameters of initialize are wrong", value)
  return { message }
}

/** `value`: the parsed line. The answer repeats its id if it has a usable one. */
function refusal(code: number, message: string, value?: unknown): Refusal {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null
  const isUsable = typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id))
  return { id: isUsable ? id : null, error: { code, message } }
}

function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    // The caller answers with the error that says what was wrong.
    return undefined
  }
}
