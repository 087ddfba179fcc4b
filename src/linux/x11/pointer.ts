import type { Button } from "../../action.ts"
import type { InputEvent, Proof } from "../../adapter.ts"
import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import { pause } from "../../until.ts"
import { insideOf, type LastClick, nextClick } from "../windowing/next-click.ts"
import type { X11 } from "./connection.ts"
import { heldExcept, maskOf, noteHeld, settleButtons } from "./held-buttons.ts"
import { modifierKeys } from "./keyboard.ts"
import { atomically, isPointerTaken, type Owner, windowUnderPointer } from "./last-look.ts"
import { changeProperty, getNumbers, queryPointer, words } from "./requests.ts"
import { caughtUp, settled } from "./wait-for-reader.ts"
import { clientOf, readPids } from "./window.ts"
import { Request } from "./wire.ts"
import { openXtest, type Xtest } from "./xtest.ts"

type Of<K extends InputEvent["kind"]> = Extract<InputEvent, { kind: K }>

/** `owner`, here and below: the owner of the element that the input is meant for, if any. */
export async function movePointer(
  x: X11,
  { at }: Of<"move">,
  deadline: Deadline,
  owner?: Owner,
): Promise<void> {
  const [xtest, physical] = await openPointer(x, deadline)
  await settleButtons(x, xtest, physical, undefined, deadline)
  await moveTo(x, xtest, at, deadline)
  if (owner) await refuseTaken(x, owner, deadline)
}

/**
 * Moves the pointer over a row and out of it upwards, and waits for the app to react to both. After this, the app has
 * drawn that row last. The first movement may draw other rows, too, such as the one that the pointer was on before.
 */
export async function visitRow(x: X11, at: Point, top: number, deadline: Deadline): Promise<void> {
  for (const point of [at, { x: at.x, y: Math.max(0, top - ABOVE) }]) {
    await movePointer(x, { kind: "move", at: point }, deadline)
    await settled(x, await windowUnderPointer(x, deadline), deadline.slice(REACTION_MS))
  }
}

const ABOVE = 2

/** `count` clicks close enough together to be one double or triple click. `approach` runs before the pointer moves. */
export async function clickPointer(
  x: X11,
  event: Of<"click">,
  deadline: Deadline,
  owner?: Owner,
  approach?: () => Promise<void>,
): Promise<void> {
  const [xtest, physical] = await openPointer(x, deadline)
  const logical = LOGICAL[event.button]
  const button = physical(logical)
  const held = await settleButtons(x, xtest, physical, logical, deadline)
  const next = nextClick(event, await readLastClick(x, deadline))
  const isAside = next.at !== event.at
  if (!isAside && next.waitMs > 0) await pause(next.waitMs, deadline)
  await approach?.()
  const keys = await modifierKeys(x, event.modifiers ?? [], deadline)
  await xtest.during(async () => {
    const aside = isAside && (await arrive(x, xtest, event, deadline, owner, next.at).catch(unlessUnproved))
    if (isAside && !aside) await pause(next.waitMs, deadline)
    const proved = aside || (await arrive(x, xtest, event, deadline, owner))
    const at = aside ? next.at : event.at
    for (const key of keys) xtest.keyDown(key)
    for (let i = 0; i < event.count; i++) {
      const press = (): void => {
        noteHeld(x, [...held, { button: logical, at: rounded(at), isMeant: false }])
        xtest.buttonDown(button)
        // The press went to another window. Most controls ignore a press if the button comes up elsewhere.
        if (proved) xtest.releaseAt(button, farFrom(x, at))
      }
      await pressAt(x, proved, deadline, press, i === 0).catch((error: unknown) => {
        throw i === 0 ? error : afterClicks(error, i)
      })
      const still = event.proveRelease?.(false, at).catch((error: unknown) => error)
      // Not the right button: LibreOffice closes a context menu when the button comes up after the menu has opened.
      if (event.button !== "right") await hold(x, event, deadline)
      const hasStrayed = await isElsewhere(x, proved, deadline)
      const fault = (await still) ?? (hasStrayed ? strayed() : undefined)
      if (fault) await xtest.releaseHeld()
      else xtest.buttonUp(button)
      noteHeld(x, held)
      if (fault) throw fault
    }
    for (const key of keys.toReversed()) xtest.keyUp(key)
    await x.sync(deadline)
    await noteClick(x, at, event.room, deadline)
  })
}

/** Presses a button and leaves it down, or releases it. */
export async function pressButton(x: X11, event: Of<"button">, deadline: Deadline): Promise<void> {
  const [xtest, physical] = await openPointer(x, deadline)
  const logical = LOGICAL[event.button]
  const button = physical(logical)
  const held = await (event.phase === "up"
    ? heldExcept(x, logical, deadline)
    : settleButtons(x, xtest, physical, logical, deadline))
  await xtest.during(async () => {
    await moveTo(x, xtest, event.at, deadline)
    if (event.phase === "up") {
      xtest.buttonUp(button)
      noteHeld(x, held)
      await x.sync(deadline)
      return
    }
    noteHeld(x, [...held, { button: logical, at: rounded(event.at), isMeant: true }])
    xtest.buttonDown(button)
    const { mask } = await queryPointer(x, deadline)
    if ((mask & maskOf(logical)) === 0) throw undelivered("The button was not pressed")
    xtest.keep()
  })
}

/** Turns the wheel: whole steps, positive is down and right. */
export async function turnWheel(
  x: X11,
  event: Of<"wheel">,
  deadline: Deadline,
  owner?: Owner,
): Promise<void> {
  const [xtest, physical] = await openPointer(x, deadline)
  await settleButtons(x, xtest, physical, undefined, deadline)
  await xtest.during(async () => {
    const proved = await arrive(x, xtest, event, deadline, owner)
    const turns = [
      [physical(event.dy < 0 ? WHEEL_UP : WHEEL_DOWN), event.dy],
      [physical(event.dx < 0 ? WHEEL_LEFT : WHEEL_RIGHT), event.dx],
    ] as const
    await pressAt(x, proved, deadline, () => {
      for (const [button, amount] of turns) {
        for (let i = 0; i < Math.round(Math.abs(amount)); i++) {
          xtest.buttonDown(button)
          xtest.buttonUp(button)
        }
      }
    })
    await x.sync(deadline)
  })
}

/**
 * Presses at `from`, moves to `to` over the duration, pauses there so that a drop target can get ready, and
 * releases. If it cannot be finished, the button is released where it was pressed, so that nothing is dropped.
 */
export async function dragPointer(
  x: X11,
  event: Of<"drag">,
  deadline: Deadline,
  owner?: Owner,
  approach?: () => Promise<void>,
): Promise<void> {
  const { from, to, durationMs } = event
  const [xtest, physical] = await openPointer(x, deadline)
  const button = physical(LOGICAL.left)
  const origin = checkOnScreen(x, from)
  checkOnScreen(x, to)
  if (deadline.remaining < durationMs + DWELL_MS) {
    throw new AppError("TIMEOUT", `A drag of ${durationMs} ms does not fit into the time that is left`, {
      suggestion:
        "Use a shorter --duration, such as 300, or a longer --timeout-ms; 'agent-desktop help drag' describes both",
      details: { kind: "drag" },
      disposition: NOTHING_DELIVERED,
    })
  }
  const held = await settleButtons(x, xtest, physical, LOGICAL.left, deadline)
  await approach?.()
  const keys = await modifierKeys(x, event.modifiers ?? [], deadline)
  try {
    await xtest.during(async () => {
      const proved = await arrive(x, xtest, { at: from, prove: event.prove }, deadline, owner)
      for (const key of keys) xtest.keyDown(key)
      await pressAt(x, proved, deadline, () => {
        noteHeld(x, [...held, { button: LOGICAL.left, at: origin, isMeant: false }])
        xtest.buttonDown(button)
        xtest.releaseAt(button, from)
      })
      if (await isElsewhere(x, proved, deadline)) throw strayed()
      for (const { point, waitMs } of pathOf(from, to, durationMs)) {
        await dwell(waitMs, deadline)
        xtest.motion(point)
        await x.sync(deadline)
      }
      await event.proveDrop?.()
      xtest.buttonUp(button)
      await x.sync(deadline)
    })
  } finally {
    if (!x.closed) noteHeld(x, held)
  }
}

/** The pointer position where input was proved to reach an element. */
interface Proved {
  readonly at: Point
  /** The top-level window there. */
  readonly top: number
  readonly owner: Owner
}

/**
 * Moves the pointer there and lets the app react: pages and windows show, hide and move things when the pointer comes.
 * Only then does the caller prove that the element is still there. undefined: the input is not meant for an element.
 * `aside`: another point of the element to move to instead.
 */
async function arrive(
  x: X11,
  xtest: Xtest,
  { at: meant, prove }: { readonly at: Point; readonly prove?: Proof },
  deadline: Deadline,
  owner?: Owner,
  aside?: Point,
): Promise<Proved | undefined> {
  const at = aside ?? meant
  await moveTo(x, xtest, at, deadline)
  if (!owner) return undefined
  await refuseTaken(x, owner, deadline)
  // A busy app answers the proof only after it has reacted, so this wait may end early.
  const isQuiet = await settled(x, await windowUnderPointer(x, deadline), deadline.slice(REACTION_MS))
  const { child } = await queryPointer(x, deadline)
  await prove?.(isQuiet, aside)
  return { at: rounded(at), top: child, owner }
}

/** undefined: the element is not at this point, and nothing was pressed. */
function unlessUnproved(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== "ACTION_FAILED") throw error
}

/** Throws if another app holds the pointer. An app may still hold it for a moment after the last click. */
async function refuseTaken(x: X11, { pid }: Owner, deadline: Deadline): Promise<void> {
  const patience = deadline.slice(REACTION_MS)
  while (await isPointerTaken(x, pid, deadline)) {
    if (patience.expired) throw undelivered("Another app holds the pointer, for an open menu or a drag")
    await pause(LOOK_MS, patience)
  }
}

/**
 * Presses if the pointer is still where it was proved to be, in the same window. `isFirst`: false if the app has seen a
 * press before, and may still hold the pointer for that.
 */
async function pressAt(
  x: X11,
  proved: Proved | undefined,
  deadline: Deadline,
  press: () => void,
  isFirst = true,
): Promise<void> {
  if (!proved) return press()
  await atomically(x, async () => {
    const { at, child } = await queryPointer(x, deadline)
    if (at.x !== proved.at.x || at.y !== proved.at.y)
      throw undelivered("The pointer was moved away before the button was pressed")
    if (child !== proved.top)
      throw undelivered("Another window appeared under the pointer before the button was pressed")
    if (isFirst && (await isPointerTaken(x, proved.owner.pid, deadline)))
      throw undelivered("Another app took the pointer before the button was pressed")
    press()
  })
}

/**
 * Keeps the button down for its time, which begins when the app has read the press: a busy app would otherwise read
 * press and release at once. If that cannot be seen, the release follows anyway. A press that opens a list is not
 * waited for: GTK 3 and Qt choose the option under the pointer if the button comes up half a second later.
 */
async function hold(x: X11, { count, opens }: Of<"click">, deadline: Deadline): Promise<void> {
  try {
    const patience = deadline.slice(count > 1 ? HOLD_MS : REACTION_MS)
    if (!opens) await caughtUp(x, await windowUnderPointer(x, deadline), patience)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  await pause(HOLD_MS, deadline)
}

/**
 * True if a window of another process has come under the pointer since the press. A window manager that acts on clicks
 * sees a press first, and the server delivers the passed-on press to whichever window is on top by then.
 */
async function isElsewhere(x: X11, proved: Proved | undefined, deadline: Deadline): Promise<boolean> {
  if (!proved || (await queryPointer(x, deadline)).child === proved.top) return false
  const window = await windowUnderPointer(x, deadline)
  return (await readPids(x, [window], deadline)).get(clientOf(x, window)) !== proved.owner.pid
}

/** The corner of the screen that is farthest. */
const farFrom = ({ setup: { screen } }: X11, { x, y }: Point): Point => ({
  x: x < screen.width / 2 ? screen.width - 1 : 0,
  y: y < screen.height / 2 ? screen.height - 1 : 0,
})

function strayed(): AppError {
  return new AppError(
    "ACTION_FAILED",
    "Another window appeared under the pointer as the button was pressed",
    {
      suggestion: "Run 'snapshot' to see which of the two the click has reached",
      disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
    },
  )
}

function afterClicks(error: unknown, clicks: number): unknown {
  if (!(error instanceof AppError)) return error
  return new AppError(error.code, `${error.message}; ${clicks} of the clicks had been sent`, {
    suggestion: "Run 'snapshot' to see what the click has done",
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })
}

/** A point on the way, and the wait before the pointer moves there. */
export function pathOf(
  from: Point,
  to: Point,
  durationMs: number,
): { readonly point: Point; readonly waitMs: number }[] {
  const distance = Math.hypot(to.x - from.x, to.y - from.y)
  const steps = Math.max(5, Math.min(200, Math.ceil(Math.max(durationMs / FRAME_MS, distance / 40))))
  const between = (a: number, b: number, step: number) => Math.round(a + ((b - a) * step) / steps)
  const way = Array.from({ length: steps }, (_, i) => ({
    point: { x: between(from.x, to.x, i + 1), y: between(from.y, to.y, i + 1) },
    waitMs: durationMs / steps,
  }))
  // A drop target arms on motion over it, and a source asks it again with each: a nudge, and back.
  const nudge = { x: to.x > from.x ? to.x - 1 : to.x + 1, y: to.y }
  const rest = [nudge, to, nudge, to].map((point) => ({ point, waitMs: DWELL_MS / 5 }))
  return [...way, ...rest, { point: to, waitMs: DWELL_MS / 5 }]
}

// Presses only follow a pointer that has arrived: another program may hold it or push it back.
async function moveTo(x: X11, xtest: Xtest, to: Point, deadline: Deadline): Promise<void> {
  const target = checkOnScreen(x, to)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await queryPointer(x, deadline)
    // Hover effects need a motion, even if the pointer is already there.
    const isThere = before.at.x === target.x && before.at.y === target.y
    if (isThere) xtest.motion({ x: target.x > 0 ? target.x - 1 : target.x + 1, y: target.y })
    xtest.motion(target)
    const { at } = await queryPointer(x, deadline)
    if (at.x === target.x && at.y === target.y) return
  }
  throw undelivered(`The pointer could not be moved to ${target.x},${target.y}`)
}

function checkOnScreen(x: X11, point: Point): Point {
  const { width, height } = x.setup.screen
  const target = rounded(point)
  if (target.x >= 0 && target.y >= 0 && target.x < width && target.y < height) return target
  throw new AppError(
    "INVALID_ARGS",
    `${target.x},${target.y} is not on the screen, which is ${width}x${height}`,
    {
      suggestion: "Run 'list-displays' to see the screen's bounds",
      disposition: NOTHING_DELIVERED,
    },
  )
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) })

const openPointer = (x: X11, deadline: Deadline) =>
  Promise.all([openXtest(x, deadline), readButtons(x, deadline)])

// The server swaps our buttons like those of a real mouse, so the mapping is undone here.
async function readButtons(x: X11, deadline: Deadline): Promise<(logical: number) => number> {
  const reply = await x.ask(new Request(GET_POINTER_MAPPING), deadline)
  const map = reply.bytes(32, reply.u8(1))
  return (logical) => map.indexOf(logical) + 1 || logical
}

/** Waits between two steps of a drag. Throws if the deadline or an interrupt ends it, so that the drag is undone. */
async function dwell(ms: number, deadline: Deadline): Promise<void> {
  await pause(ms, deadline)
  if (deadline.expired)
    throw new AppError("TIMEOUT", "The drag was interrupted", { details: { kind: "drag" } })
}

function undelivered(message: string): AppError {
  return new AppError("ACTION_FAILED", message, {
    suggestion:
      "Another program may hold the pointer: close an open menu with 'press escape', or see with 'screenshot screen.png'",
    disposition: NOTHING_DELIVERED,
  })
}

const LOGICAL: Readonly<Record<Button, number>> = { left: 1, middle: 2, right: 3 }
const [WHEEL_UP, WHEEL_DOWN, WHEEL_LEFT, WHEEL_RIGHT] = [4, 5, 6, 7]
const GET_POINTER_MAPPING = 117
const ATTEMPTS = 3
/**
 * How long a button is down. Some controls, such as LibreOffice's "Add sheet", act on a timer while it is, and ignore
 * shorter presses. Two clicks are still far within the time of a double click.
 */
const HOLD_MS = 50
/** How long an app may take to read that the pointer has come, and that a button was released. */
const REACTION_MS = 500
const LOOK_MS = 10
const FRAME_MS = 16
const DWELL_MS = 150

/** Each click stores its time and place on the display, for the next one. */
async function readLastClick(x: X11, deadline: Deadline): Promise<LastClick | undefined> {
  await x.intern([NOTE], deadline)
  const [time, left, top, dx, dy] = await getNumbers(x, x.root, x.atom(NOTE), deadline)
  if (time === undefined || left === undefined || top === undefined) return undefined
  const inside = dx === undefined || dy === undefined ? undefined : { x: dx, y: dy }
  return { passedMs: (now() - time) >>> 0, at: { x: left, y: top }, inside }
}

/** Call this once the server has processed the click. */
async function noteClick(x: X11, at: Point, room: Point | undefined, deadline: Deadline): Promise<void> {
  const points = [at, ...(room ? [insideOf(at, room)] : [])].map(rounded)
  const bytes = words(now(), ...points.flatMap((point) => [point.x, point.y]))
  x.send(changeProperty(x.root, x.atom(NOTE), CARDINAL, 32, bytes))
  await x.sync(deadline)
}

const NOTE = "_AGENT_DESKTOP_LAST_CLICK"
const CARDINAL = 6

/** Milliseconds, as many as fit into the property. */
const now = (): number => Date.now() >>> 0
