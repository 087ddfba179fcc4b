import { Deadline } from "../../deadline.ts"
import { ATOMS, getOwner, setOwner, UTF8_MIME } from "./clipboard.ts"
import { X11, type XEvent } from "./connection.ts"
import {
  changeProperty,
  createHiddenWindow,
  EVENT,
  getNumbers,
  MASK,
  selectionNotify,
  unlessGone,
  words,
} from "./requests.ts"
import type { Env } from "./setup.ts"
import { encodeLatin1 } from "./wire.ts"

/**
 * Owns the clipboard with the text from standard input. Prints its window's id when it owns it, then serves requests
 * until another program takes over, the clipboard is cleared or the display closes. Returns the exit code.
 */
export async function serveClipboard(env: Env): Promise<number> {
  const bytes = await Bun.stdin.bytes()
  const starting = Deadline.in(START_MS)
  const x = await X11.connect(env, starting)
  const { window, request } = createHiddenWindow(x, MASK.property)
  using events = x.listen(({ code }) => HANDLED.has(code))
  await x.intern(ATOMS, starting)
  await x.check([request], starting)
  const time = await readServerTime(x, window, starting)
  await x.check([setOwner(x, window, time)], starting)
  if ((await getOwner(x, starting)) !== window) return 1
  await Bun.write(Bun.stdout, `${window}\n`)
  const owner = new Owner(x, window, time, bytes)
  try {
    while (!owner.isDone) {
      const event = await events.next(Deadline.in(owner.isReplaced ? FINISH_MS : FOREVER_MS))
      if (event) await owner.handle(event)
      else if (owner.isReplaced) break
    }
  } catch {
    // The display is gone, and the clipboard with it.
  }
  x.close()
  return 0
}

interface Transfer {
  readonly type: number
  readonly bytes: Uint8Array
  at: number
  readonly watch: Disposable
}

class Owner {
  isReplaced = false
  readonly #x: X11
  readonly #window: number
  readonly #time: number
  readonly #utf8: Uint8Array
  readonly #latin1: Uint8Array | undefined
  /** Incremental transfers, by requestor and property. */
  readonly #transfers = new Map<string, Transfer>()

  constructor(x: X11, window: number, time: number, utf8: Uint8Array) {
    this.#x = x
    this.#window = window
    this.#time = time
    this.#utf8 = utf8
    this.#latin1 = toLatin1(utf8)
  }

  get isDone(): boolean {
    return this.isReplaced && this.#transfers.size === 0
  }

  async handle({ code, packet }: XEvent): Promise<void> {
    switch (code) {
      case EVENT.selectionClear:
        this.isReplaced ||= packet.u32(8) === this.#window
        return
      case EVENT.selectionRequest:
        return this.#answer({
          time: packet.u32(4),
          requestor: packet.u32(12),
          selection: packet.u32(16),
          target: packet.u32(20),
          // Clients older than ICCCM name no property and look under the target's name.
          property: packet.u32(24) || packet.u32(20),
        })
      case EVENT.propertyNotify:
        if (packet.u8(16) === DELETED) this.#sendPiece(packet.u32(4), packet.u32(8))
        return
      case EVENT.destroyNotify:
        this.#forget(packet.u32(8))
    }
  }

  async #answer(request: SelectionRequest): Promise<void> {
    const x = this.#x
    const isGiven =
      request.target === x.atom("MULTIPLE")
        ? await this.#giveMultiple(request)
        : this.#give(request.requestor, request.target, request.property)
    x.send(selectionNotify({ ...request, property: isGiven ? request.property : 0 }))
  }

  /** Puts the text in this format into the requestor's property; false if the format is not available. */
  #give(requestor: number, target: number, property: number): boolean {
    const x = this.#x
    const form = this.#formFor(target)
    if (!form) return false
    if (form.bytes.length <= MAX_PIECE) {
      x.send(changeProperty(requestor, property, form.type, form.format, form.bytes))
      return true
    }
    const watch = x.select(requestor, MASK.property | MASK.structure)
    this.#transfers.get(`${requestor} ${property}`)?.watch[Symbol.dispose]()
    this.#transfers.set(`${requestor} ${property}`, { type: form.type, bytes: form.bytes, at: 0, watch })
    x.send(changeProperty(requestor, property, x.atom("INCR"), 32, words(form.bytes.length)))
    return true
  }

  #formFor(target: number): { type: number; format: 8 | 32; bytes: Uint8Array } | undefined {
    const x = this.#x
    const utf8 = { format: 8, bytes: this.#utf8 } as const
    if (target === x.atom("TARGETS")) {
      const targets = FORMS.filter((name) => name !== "STRING" || this.#latin1).map((name) => x.atom(name))
      return { type: x.atom("ATOM"), format: 32, bytes: words(...targets) }
    }
    if (target === x.atom("TIMESTAMP"))
      return { type: x.atom("INTEGER"), format: 32, bytes: words(this.#time) }
    if (target === x.atom("STRING") && this.#latin1) return { type: target, format: 8, bytes: this.#latin1 }
    if (target === x.atom("TEXT")) return { type: x.atom("UTF8_STRING"), ...utf8 }
    return UTF8_FORMS.some((name) => target === x.atom(name)) ? { type: target, ...utf8 } : undefined
  }

  // Pairs of target and property. A property of 0 marks a format that is not available.
  async #giveMultiple({ requestor, property }: SelectionRequest): Promise<boolean> {
    const x = this.#x
    const pairs = await unlessGone(getNumbers(x, requestor, property, Deadline.in(START_MS)))
    if (!pairs || pairs.length === 0) return false
    const answers = pairs.map((value, i) => {
      if (i % 2 === 0) return value
      return this.#give(requestor, pairs[i - 1] ?? 0, value) ? value : 0
    })
    x.send(changeProperty(requestor, property, x.atom("ATOM_PAIR"), 32, words(...answers)))
    return true
  }

  #sendPiece(requestor: number, property: number): void {
    const transfer = this.#transfers.get(`${requestor} ${property}`)
    if (!transfer) return
    const piece = transfer.bytes.subarray(transfer.at, transfer.at + MAX_PIECE)
    this.#x.send(changeProperty(requestor, property, transfer.type, 8, piece))
    transfer.at += piece.length
    if (piece.length > 0) return
    this.#transfers.delete(`${requestor} ${property}`)
    transfer.watch[Symbol.dispose]()
  }

  #forget(requestor: number): void {
    for (const [key, transfer] of this.#transfers) {
      if (!key.startsWith(`${requestor} `)) continue
      this.#transfers.delete(key)
      transfer.watch[Symbol.dispose]()
    }
  }
}

interface SelectionRequest {
  readonly time: number
  readonly requestor: number
  readonly selection: number
  readonly target: number
  readonly property: number
}

// Appending nothing to a property of ours makes the server report its time.
async function readServerTime(x: X11, window: number, deadline: Deadline): Promise<number> {
  using events = x.listen(({ code, packet }) => code === EVENT.propertyNotify && packet.u32(4) === window)
  const nothing = changeProperty(window, x.atom("TIMESTAMP"), x.atom("INTEGER"), 32, words(), "append")
  await x.check([nothing], deadline)
  return (await events.next(deadline))?.packet.u32(12) ?? 0
}

function toLatin1(utf8: Uint8Array): Uint8Array | undefined {
  const text = new TextDecoder().decode(utf8)
  return /^[\x00-\xff]*$/.test(text) ? encodeLatin1(text) : undefined
}

const UTF8_FORMS = ["UTF8_STRING", UTF8_MIME, "text/plain"]
const FORMS = ["TARGETS", "TIMESTAMP", "MULTIPLE", ...UTF8_FORMS, "STRING", "TEXT"]
const HANDLED: ReadonlySet<number> = new Set([
  EVENT.selectionClear,
  EVENT.selectionRequest,
  EVENT.propertyNotify,
  EVENT.destroyNotify,
])

const DELETED = 1
/** Below the request limit of every server. */
const MAX_PIECE = 240 * 1024
const START_MS = 10_000
const FINISH_MS = 5000
const FOREVER_MS = 2 ** 31 - 1
