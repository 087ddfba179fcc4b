import type { WindowOp } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED, plainWord, windowNotFound } from "../../errors.ts"
import type { Rect } from "../../node.ts"
import { windowId } from "../windowing/window.ts"
import type { X11, XEvent } from "./connection.ts"
import { topLevelOf } from "./last-look.ts"
import {
  changeWindow,
  clientMessage,
  createHiddenWindow,
  destroyWindow,
  EVENT,
  getGeometry,
  getNumbers,
  MASK,
  setInputFocus,
} from "./requests.ts"
import { MAXIMIZED, type XWindow } from "./window.ts"
import { askExtents, hasKeyboard, type Manager, readManager, readWindow } from "./windows.ts"
import type { Request } from "./wire.ts"

/** Carries out the operation and returns the window after the window manager has finished with it. */
export async function operateWindow(x: X11, id: number, op: WindowOp, deadline: Deadline): Promise<XWindow> {
  const [manager, before] = await Promise.all([readManager(x, deadline), readWindow(x, id, deadline)])
  if (!before) throw windowNotFound(windowId(id))
  const context: Operation = { x, id, before, manager, deadline }
  switch (op.kind) {
    case "focus":
      return focus(context)
    case "move":
      return place(context, { x: op.x, y: op.y })
    case "resize":
      return place(context, { width: op.width, height: op.height })
    case "minimize":
      needManager(context, op.kind)
      return until(
        context,
        [toManager(context, "WM_CHANGE_STATE", [ICONIC])],
        (now) => now.minimized,
        "minimised",
      )
    case "maximize":
      needManager(context, op.kind)
      return until(context, [maximizing(context, ADD)], (now) => now.maximized, "maximised")
    case "restore":
      needManager(context, op.kind)
      return restore(context)
    default:
      throw op satisfies never
  }
}

/** Asks the window to close, without waiting. */
export async function requestClose(x: X11, id: number, deadline: Deadline): Promise<void> {
  const [manager, window] = await Promise.all([readManager(x, deadline), readWindow(x, id, deadline)])
  if (!window) throw windowNotFound(windowId(id))
  if (manager?.supports("_NET_CLOSE_WINDOW")) {
    await x.check(
      [clientMessage(x.root, TO_MANAGER, id, x.atom("_NET_CLOSE_WINDOW"), [0, FROM_PAGER])],
      deadline,
    )
    return
  }
  const protocols = await getNumbers(x, id, x.atom("WM_PROTOCOLS"), deadline)
  if (!protocols.includes(x.atom("WM_DELETE_WINDOW"))) {
    throw new AppError("ACTION_NOT_SUPPORTED", `Window '${windowId(id)}' does not accept close requests`, {
      suggestion: `End its app: agent-desktop close-app ${plainWord(window.wmClass?.instance)} --force`,
    })
  }
  await x.check([clientMessage(id, 0, id, x.atom("WM_PROTOCOLS"), [x.atom("WM_DELETE_WINDOW")])], deadline)
}

interface Operation {
  readonly x: X11
  readonly id: number
  readonly before: XWindow
  readonly manager: Manager | undefined
  readonly deadline: Deadline
}

async function focus(context: Operation): Promise<XWindow> {
  const { x, id, manager, deadline } = context
  const requests = manager
    ? [toManager(context, "_NET_ACTIVE_WINDOW", [FROM_PAGER])]
    : [changeWindow(id, { stackMode: ABOVE }), setInputFocus(id)]
  using events = x.listen((event) => event.code === EVENT.focusIn)
  using _ = x.select(id, MASK.focus)
  const after = await until(context, requests, (now) => now.focused && !now.minimized, "focused")
  // The announcement may precede the keyboard focus, and a window that accepts no keys never gets the focus.
  const limit = deadline.slice(SETTLE_MS)
  while (!limit.expired && !(await hasKeyboard(x, id, deadline))) await events.next(limit)
  return after
}

async function place(context: Operation, wanted: Partial<Rect>): Promise<XWindow> {
  const { before, manager } = context
  const sides = RECT_SIDES.filter((side) => wanted[side] !== undefined)
  const reached = (now: XWindow) => sides.every((side) => now.frame[side] === wanted[side])
  const request = manager ? placeByManager(context, wanted) : await placeDirectly(context, wanted)
  const after = await settle(context, [request], reached, SETTLE_MS)
  // The result may differ: a window manager keeps windows on the screen, and a terminal is whole cells wide.
  if (reached(after) || sides.some((side) => after.frame[side] !== before.frame[side])) return after
  throw contradicted(context, sides.includes("x") ? "moved" : "resized")
}

// With north-west gravity, a position means the decorations' outer corner, a size means the client window.
function placeByManager(context: Operation, wanted: Partial<Rect>): Request {
  const { frame, bounds, gtkFrameExtents: shadow } = context.before
  const place = {
    x: offset(wanted.x, -(shadow?.left ?? 0)),
    y: offset(wanted.y, -(shadow?.top ?? 0)),
    width: atLeastOne(offset(wanted.width, bounds.width - frame.width)),
    height: atLeastOne(offset(wanted.height, bounds.height - frame.height)),
  }
  const flags = RECT_SIDES.map((side, i) => (place[side] === undefined ? 0 : 0x100 << i))
  const first = flags.reduce((bits, flag) => bits | flag, NORTH_WEST | (FROM_PAGER << 12))
  return toManager(context, "_NET_MOVERESIZE_WINDOW", [first, ...RECT_SIDES.map((side) => place[side] ?? 0)])
}

async function placeDirectly(context: Operation, wanted: Partial<Rect>): Promise<Request> {
  const { x, id, deadline, before } = context
  const { border } = await getGeometry(x, id, deadline)
  return changeWindow(id, {
    x: offset(wanted.x, before.bounds.x - before.frame.x - border),
    y: offset(wanted.y, before.bounds.y - before.frame.y - border),
    width: atLeastOne(offset(wanted.width, before.bounds.width - before.frame.width)),
    height: atLeastOne(offset(wanted.height, before.bounds.height - before.frame.height)),
  })
}

const offset = (value: number | undefined, by: number) => (value === undefined ? undefined : value + by)
const atLeastOne = (value: number | undefined) => (value === undefined ? undefined : Math.max(1, value))

function restore(context: Operation): Promise<XWindow> {
  const requests = [
    ...(context.before.maximized ? [maximizing(context, REMOVE)] : []),
    ...(context.before.minimized ? [toManager(context, "_NET_ACTIVE_WINDOW", [FROM_PAGER])] : []),
  ]
  const done = (now: XWindow) =>
    !now.minimized && !now.maximized && (now.focused || !context.before.minimized)
  return until(context, requests, done, "restored")
}

async function until(
  context: Operation,
  requests: readonly Request[],
  done: (now: XWindow) => boolean,
  participle: string,
): Promise<XWindow> {
  const after = await settle(context, requests, done, CHANGE_MS)
  if (!done(after)) throw contradicted(context, participle)
  return after
}

/**
 * Sends the requests and reads the window until it has the wanted state, or until the window manager has
 * processed them and nothing more changes. The window manager has processed them when it answers a later question
 * about the frame extents of a window of ours.
 */
async function settle(
  context: Operation,
  requests: readonly Request[],
  done: (now: XWindow) => boolean,
  quietMs: number,
): Promise<XWindow> {
  const { x, id, manager, deadline } = context
  const probe = createHiddenWindow(x, MASK.property)
  const asks = manager?.supports("_NET_REQUEST_FRAME_EXTENTS") ?? false
  const isAnswer = ({ packet }: XEvent) =>
    packet.u32(4) === probe.window && packet.u32(8) === x.atom("_NET_FRAME_EXTENTS")
  using events = x.listen((event) => isAnswer(event) || concerns(event, id) || concerns(event, x.root))
  using _window = x.select(id, MASK.property | MASK.structure)
  using _root = x.select(x.root, MASK.property)
  try {
    await x.check([probe.request, ...requests, ...(asks ? [askExtents(x, probe.window)] : [])], deadline)
    const limit = deadline.slice(MANAGER_MS)
    let quiet = asks ? undefined : limit.slice(quietMs)
    for (;;) {
      const now = await readWindow(x, id, deadline)
      if (!now) throw windowNotFound(windowId(id))
      if ((quiet || !asks) && done(now)) return await standStill(context, now)
      const event = await events.next(quiet ?? limit)
      if (!event) return now
      if (quiet || isAnswer(event)) quiet = limit.slice(quietMs)
    }
  } finally {
    if (!x.closed) x.send(destroyWindow(probe.window))
  }
}

// Openbox animates windows to and from the taskbar: the frame and its child keep moving for a while.
async function standStill({ x, id, before, deadline }: Operation, now: XWindow): Promise<XWindow> {
  if (!before.minimized && !now.minimized) return now
  const frame = await topLevelOf(x, id, deadline)
  using events = x.listen((event) => event.code === EVENT.configureNotify && concerns(event, frame))
  using _ = x.select(frame, MASK.structure)
  const limit = deadline.slice(MANAGER_MS)
  while (await events.next(limit.slice(STILL_MS))) if (limit.expired) break
  return (await readWindow(x, id, deadline)) ?? now
}

function toManager(context: Operation, message: string, values: readonly number[]): Request {
  return clientMessage(context.x.root, TO_MANAGER, context.id, context.x.atom(message), values)
}

function maximizing({ x, id }: Operation, action: number): Request {
  const [vertical, horizontal] = MAXIMIZED.map((state) => x.atom(state))
  const values = [action, vertical ?? 0, horizontal ?? 0, FROM_PAGER]
  return clientMessage(x.root, TO_MANAGER, id, x.atom("_NET_WM_STATE"), values)
}

function needManager(context: Operation, kind: string): void {
  if (context.manager) return
  throw new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `There is no window manager to ${kind} '${windowId(context.id)}'`,
    {
      suggestion:
        "Start a window manager on this display: openbox &; or use a desktop that has one: agent-desktop desktop-start",
      disposition: NOTHING_DELIVERED,
    },
  )
}

function contradicted(context: Operation, participle: string): AppError {
  return new AppError("ACTION_FAILED", `Window '${windowId(context.id)}' could not be ${participle}`, {
    suggestion: "Run 'list-windows' to see its present state; 'restore' first if it is maximised",
    disposition: { delivery: "delivered_unverified", retry: "safe" },
  })
}

// The window of an event is at offset 4, or at 8 if offset 4 has the parent whose events were selected.
function concerns({ code, packet }: XEvent, id: number): boolean {
  return packet.u32(4) === id || (code < EVENT.propertyNotify && packet.u32(8) === id)
}

const RECT_SIDES = ["x", "y", "width", "height"] as const

/** Time limits of a window manager: in total, for a change of state after its answer, and to stop moving. */
const MANAGER_MS = 4000
const CHANGE_MS = 1500
const SETTLE_MS = 250
/** Several steps of any animation. */
const STILL_MS = 60

const TO_MANAGER = MASK.substructure | MASK.substructureRedirect
// The source indication of a pager or taskbar, which a window manager treats as the user's own request.
const FROM_PAGER = 2
const NORTH_WEST = 1
const ABOVE = 0
const ICONIC = 3
const REMOVE = 0
const ADD = 1
