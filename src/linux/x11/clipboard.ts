import type { Deadline } from "../../deadline.ts"
import type { ClipboardOp } from "../../desktop.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { ownCommand, startHolder } from "../../own-process.ts"
import { clipboardNotTaken, clipboardNotText, clipboardOwnerSilent } from "../windowing/failures.ts"
import type { X11, XEvent } from "./connection.ts"
import {
  createHiddenWindow,
  decodeText,
  destroyWindow,
  EVENT,
  getProperty,
  MASK,
  type Property,
} from "./requests.ts"
import type { Env } from "./setup.ts"
import { Packet, Request } from "./wire.ts"

/** The command that runs serveClipboard in a separate process. */
export const OWNER_COMMAND = "__own-clipboard"

/** Reads, replaces or empties the clipboard. */
export async function operateClipboard(
  x: X11,
  op: ClipboardOp,
  env: Env,
  deadline: Deadline,
): Promise<string | undefined> {
  switch (op.kind) {
    case "get":
      return getClipboard(x, deadline)
    case "set":
      await setClipboard(x, op.text, env, deadline)
      return undefined
    case "clear":
      await clearClipboard(x, deadline)
      return undefined
    default:
      throw op satisfies never
  }
}

/** The clipboard's text; "" if there is none. */
export async function getClipboard(x: X11, deadline: Deadline): Promise<string> {
  await x.intern(ATOMS, deadline)
  const owner = await getOwner(x, deadline)
  if (owner === 0) return ""
  const { window, request } = createHiddenWindow(x, MASK.property)
  using events = x.listen((event) => isAnswer(x, event, window))
  try {
    await x.check([request], deadline)
    const ask = (target: string) => convert({ x, window, owner, events, deadline }, target)
    const direct = await ask("UTF8_STRING")
    if (direct && isText(x, direct)) return decodeAs(x, direct)
    const offered = await ask("TARGETS")
    const targets =
      offered?.format === 32 ? new Packet(offered.bytes).list32(0, offered.bytes.length / 4) : []
    for (const target of TEXT_TARGETS.filter(
      (name) => targets.length === 0 || targets.includes(x.atom(name)),
    )) {
      const value = await ask(target)
      if (value && isText(x, value)) return decodeAs(x, value)
    }
    if ((await getOwner(x, deadline)) === 0) return ""
    throw clipboardNotText()
  } finally {
    if (!x.closed) x.send(destroyWindow(window))
  }
}

/**
 * Puts text on the clipboard. On X11 a running program must own the clipboard. We start one of our own, which
 * lives until another program takes over.
 */
export async function setClipboard(
  x: X11,
  text: string,
  env: Env,
  deadline: Deadline,
  command: readonly string[] = ownCommand(OWNER_COMMAND),
): Promise<void> {
  await x.intern(ATOMS, deadline)
  const owner = startHolder(command, text, env)
  const window = await readWindowId(owner.stdout, deadline)
  if (window !== undefined && (await getOwner(x, deadline)) === window) {
    owner.unref()
    return
  }
  owner.kill("SIGKILL")
  throw clipboardNotTaken(window === undefined ? NOTHING_DELIVERED : undefined)
}

export async function clearClipboard(x: X11, deadline: Deadline): Promise<void> {
  await x.intern(ATOMS, deadline)
  await x.check([setOwner(x, 0, 0)], deadline)
  if ((await getOwner(x, deadline)) === 0) return
  throw new AppError("ACTION_FAILED", "Another program replaced the clipboard immediately", {
    suggestion: "A clipboard manager may restore it: use 'clipboard-set' instead",
  })
}

export function setOwner(x: X11, window: number, time: number): Request {
  return new Request(SET_SELECTION_OWNER).u32(window).u32(x.atom("CLIPBOARD")).u32(time)
}

export async function getOwner(x: X11, deadline: Deadline): Promise<number> {
  return (await x.ask(new Request(GET_SELECTION_OWNER).u32(x.atom("CLIPBOARD")), deadline)).u32(8)
}

interface Asking {
  readonly x: X11
  readonly window: number
  readonly owner: number
  readonly events: { next(deadline: Deadline): Promise<XEvent | undefined> }
  readonly deadline: Deadline
}

/** The selection in this format; undefined if the owner does not offer the format or is gone. */
async function convert(asking: Asking, target: string): Promise<Property | undefined> {
  const { x, window, deadline } = asking
  const property = x.atom(PROPERTY)
  const request = new Request(CONVERT_SELECTION)
    .u32(window)
    .u32(x.atom("CLIPBOARD"))
    .u32(x.atom(target))
    .u32(property)
    .u32(0)
  await x.check([request], deadline)
  const notice = await nextEvent(asking, (event) => event.code === EVENT.selectionNotify)
  if (!notice || notice.packet.u32(20) === 0) return undefined
  const value = await getProperty(x, window, property, deadline, { remove: true, maxBytes: MAX_BYTES })
  return value && value.type === x.atom("INCR") ? gather(asking, property) : value
}

// The owner sends a piece each time we have deleted the last one; an empty piece ends the transfer.
async function gather(asking: Asking, property: number): Promise<Property | undefined> {
  const { x, window, deadline } = asking
  const pieces: Uint8Array[] = []
  for (;;) {
    const event = await nextEvent(
      asking,
      ({ code, packet }) => code === EVENT.propertyNotify && packet.u8(16) === NEW_VALUE,
    )
    if (!event) return undefined
    const piece = await getProperty(x, window, property, deadline, { remove: true, maxBytes: MAX_BYTES })
    // The first event is about the announcement, which is already gone.
    if (!piece) continue
    if (piece.bytes.length === 0) return { ...piece, bytes: new Uint8Array(Buffer.concat(pieces)) }
    pieces.push(piece.bytes)
  }
}

// An owner that died will not answer. A stopped one may still answer before the deadline.
async function nextEvent(asking: Asking, isWanted: (event: XEvent) => boolean): Promise<XEvent | undefined> {
  const { x, owner, events, deadline } = asking
  for (;;) {
    const event = await events.next(deadline.slice(LOOK_AGAIN_MS))
    if (event && isWanted(event)) return event
    if (event) continue
    if (deadline.expired) throw clipboardOwnerSilent()
    if ((await getOwner(x, deadline)) !== owner) return undefined
  }
}

function isAnswer(x: X11, { code, packet }: XEvent, window: number): boolean {
  if (code === EVENT.selectionNotify) return packet.u32(8) === window
  return code === EVENT.propertyNotify && packet.u32(4) === window && packet.u32(8) === x.atom(PROPERTY)
}

// Some owners send another format than the requested one.
function isText(x: X11, { type, format }: Property): boolean {
  return format === 8 && ["UTF8_STRING", ...TEXT_TARGETS].some((name) => type === x.atom(name))
}

function decodeAs(x: X11, { type, bytes }: Property): string {
  const isUtf8 = [UTF8_MIME, "UTF8_STRING"].some((name) => type === x.atom(name))
  return isUtf8 ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : decodeText(bytes)
}

/** The window id that the new owner prints when it owns the clipboard; undefined if it failed. */
async function readWindowId(
  stream: ReadableStream<Uint8Array>,
  deadline: Deadline,
): Promise<number | undefined> {
  const reader = stream.getReader()
  const timeout = Promise.withResolvers<undefined>()
  const stop = () => timeout.resolve(undefined)
  const timer = setTimeout(stop, deadline.remaining)
  deadline.signal?.addEventListener("abort", stop, { once: true })
  try {
    let text = ""
    while (!text.includes("\n")) {
      const piece = await Promise.race([reader.read(), timeout.promise])
      if (!piece || piece.done) return undefined
      text += new TextDecoder().decode(piece.value)
    }
    return Number(text.trim()) || undefined
  } finally {
    clearTimeout(timer)
    deadline.signal?.removeEventListener("abort", stop)
    void reader.cancel().catch(() => undefined)
  }
}

export const UTF8_MIME = "text/plain;charset=utf-8"

const TEXT_TARGETS = [UTF8_MIME, "STRING", "TEXT", "COMPOUND_TEXT", "text/plain"]
const PROPERTY = "_AGENT_DESKTOP_CLIPBOARD"

export const ATOMS = [
  ...TEXT_TARGETS,
  PROPERTY,
  "CLIPBOARD",
  "UTF8_STRING",
  "TARGETS",
  "TIMESTAMP",
  "MULTIPLE",
  "ATOM",
  "ATOM_PAIR",
  "INTEGER",
  "INCR",
]

const SET_SELECTION_OWNER = 22
const GET_SELECTION_OWNER = 23
const CONVERT_SELECTION = 24
const NEW_VALUE = 0
const LOOK_AGAIN_MS = 250
const MAX_BYTES = 128 * 1024 * 1024
