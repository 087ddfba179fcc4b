import { readFileSync, writeFileSync } from "node:fs"
import type { Env, InputEvent, Proof } from "../../adapter.ts"
import { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import { comboText } from "../../keys.ts"
import type { Point } from "../../node.ts"
import { contains } from "../../rect.ts"
import { pause } from "../../until.ts"
import { sleepsForAFrame } from "../windowing/asleep.ts"
import { insideOf, type LastClick, nextClick } from "../windowing/next-click.ts"
import type { Owner } from "../windowing/system.ts"
import type { TopWindow } from "../windowing/window.ts"
import type { Devices, Keyboard, Pointer } from "./devices.ts"
import type { Output } from "./displays.ts"

/** The facts about windows that input needs. */
export interface Places {
  windowAt(point: Point, deadline: Deadline): Promise<TopWindow | undefined>
  focused(deadline: Deadline): Promise<TopWindow | undefined>
}

interface Sending {
  readonly devices: Devices
  readonly outputs: () => Promise<readonly Output[]>
  /** Absent if the compositor does not report windows: then the caller is responsible for the target. */
  readonly places?: Places
  readonly env: Env
  readonly deadline: Deadline
  readonly owner?: Owner
  readonly approach?: () => Promise<void>
}

/** Synthesises input on the compositor's seat. */
export async function sendInput(context: Sending, event: InputEvent): Promise<void> {
  switch (event.kind) {
    case "key":
      return useKeyboard(context, (device) => pressKeys(context, device, event))
    case "text":
      return useKeyboard(context, (device) => typeText(context, device, event))
    case "button":
      throw refused(
        `mouse-${event.phase} would be undone when the command ends and its virtual pointer disappears`,
        "Use 'mouse-click', or 'drag' for the whole movement",
      )
    default:
      return usePointer(context, event)
  }
}

type PointerEvent = Extract<InputEvent, { kind: "move" | "click" | "wheel" | "drag" }>

async function usePointer(context: Sending, event: PointerEvent): Promise<void> {
  const { devices, deadline } = context
  // Keys of another device do not modify clicks of this one.
  if ("modifiers" in event && event.modifiers?.length)
    throw refused(
      "Modifiers do not work with the pointer in a Wayland session",
      "Use an isolated desktop ('desktop-start'), or 'select' for several options",
    )
  const outputs = await context.outputs()
  const isOnScreen = (point: Point) => outputs.some(({ info }) => contains(info.bounds, point))
  const points = event.kind === "drag" ? [event.from, event.to] : [event.at]
  for (const point of points) if (!isOnScreen(point)) throw offScreen(point)
  const device = await devices.pointer(outputs, deadline)
  try {
    switch (event.kind) {
      case "move":
        return await device.moveTo(rounded(event.at), deadline)
      case "click":
        return await click(context, device, event)
      case "wheel":
        return await turnWheel(context, device, event)
      case "drag":
        return await drag(context, device, event)
      default:
        return event satisfies never
    }
  } finally {
    await device.close(Deadline.in(RELEASE_MS)).catch(() => {})
  }
}

type Of<K extends InputEvent["kind"]> = Extract<InputEvent, { kind: K }>

async function click(context: Sending, device: Pointer, event: Of<"click">): Promise<void> {
  const { env, deadline } = context
  const next = nextClick(event, readClick(env))
  const isAside = next.at !== event.at
  if (!isAside && next.waitMs > 0) await pause(next.waitMs, deadline)
  await context.approach?.()
  const meant = { at: rounded(event.at), prove: event.prove }
  const aside = isAside && (await arrive(context, device, meant, rounded(next.at)).catch(unlessUnproved))
  if (isAside && !aside) await pause(next.waitMs, deadline)
  const check = aside || (await arrive(context, device, meant))
  for (let i = 0; i < event.count; i++) {
    if (i === 0) await check()
    await device.press(event.button, deadline)
    if (event.button !== "right") await pause(HOLD_MS, deadline)
    await device.release(event.button, deadline)
  }
  noteClick(env, rounded(aside ? next.at : event.at), event.room)
}

async function turnWheel(context: Sending, device: Pointer, event: Of<"wheel">): Promise<void> {
  const check = await arrive(context, device, { at: rounded(event.at), prove: event.prove })
  await check()
  const turns = [
    ["vertical", Math.round(event.dy)],
    ["horizontal", Math.round(event.dx)],
  ] as const
  for (const [axis, amount] of turns) {
    for (let i = 0; i < Math.abs(amount); i++) await device.turn(axis, amount < 0 ? -1 : 1, context.deadline)
  }
}

async function drag(context: Sending, device: Pointer, event: Of<"drag">): Promise<void> {
  const { deadline } = context
  const [from, to] = [rounded(event.from), rounded(event.to)]
  if (deadline.remaining < event.durationMs + DWELL_MS)
    throw new AppError(
      "TIMEOUT",
      `A drag of ${event.durationMs} ms does not fit into the time that is left`,
      {
        suggestion: "Use a shorter --duration, such as 300, or a longer --timeout-ms",
        details: { kind: "drag" },
        disposition: NOTHING_DELIVERED,
      },
    )
  await context.approach?.()
  const check = await arrive(context, device, { at: from, prove: event.prove })
  await check()
  await device.press("left", deadline)
  let isDropped = false
  try {
    const steps = Math.max(5, Math.min(200, Math.ceil(event.durationMs / FRAME_MS)))
    for (let step = 1; step <= steps; step++) {
      await pause(event.durationMs / steps, deadline)
      const between = (a: number, b: number) => Math.round(a + ((b - a) * step) / steps)
      await device.passBy({ x: between(from.x, to.x), y: between(from.y, to.y) }, deadline)
    }
    // A drop target arms on motion over it: a nudge, and back.
    for (const point of [{ x: to.x > from.x ? to.x - 1 : to.x + 1, y: to.y }, to]) {
      await pause(DWELL_MS / 2, deadline)
      await device.moveTo(point, deadline)
    }
    await event.proveDrop?.()
    isDropped = true
  } finally {
    // If it cannot be finished, the button is released where it was pressed, so that nothing is dropped.
    if (!isDropped) await device.moveTo(from, Deadline.in(RELEASE_MS)).catch(() => {})
    await device.release("left", Deadline.in(RELEASE_MS))
  }
}

/** Moves the pointer there, lets the app react, and proves the element. The result is the last look before a press. */
async function arrive(
  { places, owner, deadline }: Sending,
  device: Pointer,
  { at: meant, prove }: { readonly at: Point; readonly prove?: Proof },
  aside?: Point,
): Promise<() => Promise<void>> {
  const at = aside ?? meant
  // Hover effects need a motion, even if the pointer is already there.
  await device.moveTo({ x: at.x > 0 ? at.x - 1 : at.x + 1, y: at.y }, deadline)
  await device.moveTo(at, deadline)
  if (!owner || !places) return async () => {}
  const before = await places.windowAt(at, deadline)
  const isQuiet = await isIdle(owner.pid, deadline.slice(REACTION_MS))
  await prove?.(isQuiet, aside)
  return async () => {
    const now = await places.windowAt(at, deadline)
    if (now?.id === before?.id && now?.pid === owner.pid) return
    throw new AppError(
      "ACTION_FAILED",
      "Another window appeared under the pointer before the button was pressed",
      {
        suggestion: "Run 'snapshot' to see what is in front, then retry",
        disposition: NOTHING_DELIVERED,
      },
    )
  }
}

/** undefined: the element is not at this point, and nothing was pressed. */
function unlessUnproved(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== "ACTION_FAILED") throw error
}

/** Waits until the process sleeps for longer than a frame takes. False: it does not in time. */
export async function isIdle(pid: number, deadline: Deadline): Promise<boolean> {
  return (await sleepsForAFrame(pid, async () => !deadline.expired, deadline)) ?? false
}

async function useKeyboard(
  { devices, deadline }: Sending,
  work: (device: Keyboard) => Promise<void>,
): Promise<void> {
  const device = await devices.keyboard(deadline)
  try {
    await work(device)
  } finally {
    await device.close(Deadline.in(RELEASE_MS)).catch(() => {})
  }
}

async function pressKeys(context: Sending, device: Keyboard, event: Of<"key">): Promise<void> {
  const { places, owner, deadline } = context
  if (event.phase !== "press")
    throw refused(
      `key-${event.phase} would be undone when the command ends and its virtual keyboard disappears`,
      "Use 'press' for the whole combo, such as 'press ctrl+a'",
    )
  const stroke = await device.strokeOf(event.combo, deadline)
  if (!stroke) throw refused(`No key is called '${comboText(event.combo)}'`, "See 'help press'")
  const focused = places && (await keyWindow(places, event.asSent ? undefined : owner, deadline))
  if (!event.asSent) await event.prove?.()
  const [isIn, isOther] =
    owner && focused ? [isOf(focused, owner), focused.pid !== owner.pid] : [false, false]
  event.asSent?.(isIn, isOther)
  await device.stroke(stroke, deadline)
  if (event.settle && owner) await isIdle(owner.pid, deadline.slice(REACTION_MS))
}

async function typeText(
  { places, owner, deadline }: Sending,
  device: Keyboard,
  { text, prove, secret }: Of<"text">,
): Promise<void> {
  const chars = [...text.replace(/\r\n?/g, "\n")]
  const bad = chars.find((char) => /[\p{Cc}\p{Cs}]/u.test(char) && char !== "\n" && char !== "\t")
  if (bad !== undefined)
    throw new AppError("INVALID_ARGS", "The text contains a character that no keyboard can type", {
      suggestion: "Leave it out; 'press' sends single keys such as escape or delete",
      disposition: NOTHING_DELIVERED,
    })
  let typed = 0
  // A password goes letter by letter. A long secret, such as a key, has to be typed in time as well.
  const portion = Math.ceil(chars.length / MOST_PROOFS)
  /**
   * Another window may take the focus, or the app may move to another field of the same window, which would show the
   * rest.
   */
  const proveStill = async (): Promise<void> => {
    if (owner) await isIdle(owner.pid, deadline.slice(REACTION_MS))
    try {
      if (places) await keyWindow(places, owner, deadline)
      await prove?.()
    } catch (error) {
      throw error instanceof AppError ? partly(error, undefined) : error
    }
  }
  const proveTarget = async (): Promise<void> => {
    if (places) await keyWindow(places, owner, deadline)
    // A Tab or Enter in the text may have moved to another field.
    const isInField = !chars.slice(0, typed).some((char) => char === "\n" || char === "\t")
    if (typed === 0 || (!places && isInField)) await prove?.()
  }
  while (typed < chars.length) {
    const strokes = await device.strokesOf(chars.slice(typed), deadline)
    await proveTarget().catch((error: unknown) => {
      throw typed > 0 && error instanceof AppError ? partly(error, secret ? undefined : typed) : error
    })
    for (const stroke of strokes) {
      if (secret && typed > 0 && typed % portion === 0) await proveStill()
      await device.stroke(stroke, deadline)
      typed++
    }
  }
  if (chars.length === 0) return
  // Enter may close the window, and Tab moves to the next field.
  if (secret && !chars.some((char) => char === "\n" || char === "\t")) await proveStill()
  else if (owner) await isIdle(owner.pid, deadline.slice(REACTION_MS))
}

/** The window that keys go to. If it is not the owner's, nothing is sent. */
async function keyWindow(places: Places, owner: Owner | undefined, deadline: Deadline): Promise<TopWindow> {
  const patience = deadline.slice(FOCUS_MS)
  for (;;) {
    const focused = await places.focused(deadline)
    if (focused && (!owner || isOf(focused, owner))) return focused
    if (patience.expired)
      throw new AppError(
        "ACTION_FAILED",
        focused ? "The keyboard focus is in another window" : "No window has the keyboard focus",
        {
          suggestion: "Give the window the focus: agent-desktop list-windows, agent-desktop focus-window ID",
          details: { kind: "not_focused" },
          disposition: NOTHING_DELIVERED,
        },
      )
    await pause(LOOK_MS, patience)
  }
}

const isOf = (window: TopWindow, { pid, window: id }: Owner): boolean =>
  id === undefined ? window.pid === pid : window.id === id

function partly(error: AppError, typed: number | undefined): AppError {
  const count = typed === undefined ? "A part" : `${typed} characters`
  return new AppError(error.code, `${error.message}; ${count} had been typed`, {
    suggestion: "Run 'snapshot' to see what the field holds",
    details: { kind: "not_focused" },
    disposition: { delivery: "delivery_uncertain", retry: "unsafe" },
  })
}

const clickFile = (env: Env): string => `${env.XDG_RUNTIME_DIR}/agent-desktop-last-click`

function readClick(env: Env): LastClick | undefined {
  try {
    const [time = 0, x = 0, y = 0, dx, dy] = readFileSync(clickFile(env), "utf8").split(" ").map(Number)
    const passedMs = Date.now() - time
    const inside = dx === undefined || dy === undefined ? undefined : { x: dx, y: dy }
    // A clock that was set back proves nothing.
    return passedMs < 0 ? undefined : { passedMs, at: { x, y }, inside }
  } catch {
    return undefined
  }
}

function noteClick(env: Env, at: Point, room: Point | undefined): void {
  const points = [at, ...(room ? [insideOf(at, room)] : [])]
  const numbers = [Date.now(), ...points.flatMap(({ x, y }) => [x, y])]
  try {
    writeFileSync(clickFile(env), numbers.join(" "), { mode: 0o600 })
  } catch {
    // Without the note, only another command's click within half a second may count as a double click.
  }
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) })

function refused(message: string, suggestion: string): AppError {
  return new AppError("PLATFORM_NOT_SUPPORTED", message, { suggestion, disposition: NOTHING_DELIVERED })
}

function offScreen({ x, y }: Point): AppError {
  return new AppError("INVALID_ARGS", `${x},${y} is not on any display`, {
    suggestion: "Run 'list-displays' to see their bounds",
    disposition: NOTHING_DELIVERED,
  })
}

/** Some controls act on a timer while a button is down, and ignore shorter presses. */
const HOLD_MS = 50
/** How often a secret asks its app if the field still has the focus. */
const MOST_PROOFS = 64
const REACTION_MS = 500
const RELEASE_MS = 500
const LOOK_MS = 5
const FOCUS_MS = 500
const FRAME_MS = 16
const DWELL_MS = 150
