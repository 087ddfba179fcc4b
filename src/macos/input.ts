import { closeSync } from "node:fs"
import { coreGraphics } from "../../ffi/core-graphics.ts"
import { tryLock } from "../../ffi/libsystem.ts"
import type { Button } from "../action.ts"
import type { Env, InputEvent } from "../adapter.ts"
import type { Deadline } from "../deadline.ts"
import { AppError } from "../errors.ts"
import type { Point } from "../node.ts"
import { openLockFile } from "../private-files.ts"
import type { InputLock } from "../turn.ts"
import { pause } from "../until.ts"
import { eventSource, post } from "./input-events.ts"
import { flagsOf, HeldKeys, pressKey, typeText } from "./keyboard.ts"

const MOVED = 5
const BUTTONS: Readonly<Record<Button, { number: number; down: number; up: number; dragged: number }>> = {
  left: { number: 0, down: 1, up: 2, dragged: 6 },
  right: { number: 1, down: 3, up: 4, dragged: 7 },
  middle: { number: 2, down: 25, up: 26, dragged: 27 },
}
const CLICK_STATE = 1
const LINES = 1

/** Pauses of a drag, between its steps and over the target before the drop. Apps do not recognize a faster drag. */
const STEP_MS = 16
const DWELL_MS = 300
const FEWEST_STEPS = 4

/** `flags`, here and below: the modifiers that are held down. */
export function movePointer(at: Point, flags: bigint): void {
  using source = eventSource()
  mouseOf(source.ref, flags)(MOVED, at, 0)
}

/** `prove`, here and below: called with the pointer there, before anything is pressed. */
export async function clickPointer(
  { at, button, count, prove }: Extract<InputEvent, { kind: "click" }>,
  flags: bigint,
): Promise<void> {
  const { number, down, up } = BUTTONS[button]
  using source = eventSource()
  const mouse = mouseOf(source.ref, flags)
  mouse(MOVED, at, 0)
  await prove?.()
  for (let click = 1; click <= count; click++) {
    mouse(down, at, number, click)
    mouse(up, at, number, click)
  }
}

export function holdPointer(at: Point, button: Button, phase: "down" | "up", flags: bigint): void {
  using source = eventSource()
  mouseOf(source.ref, flags)(BUTTONS[button][phase], at, BUTTONS[button].number, 1)
}

/** Positive is down and right here, and up and left for macOS. */
export async function turnWheel(
  { at, dx, dy, prove }: Extract<InputEvent, { kind: "wheel" }>,
  flags: bigint,
): Promise<void> {
  using source = eventSource()
  mouseOf(source.ref, flags)(MOVED, at, 0)
  await prove?.()
  post(coreGraphics().CGEventCreateScrollWheelEvent2(source.ref, LINES, 2, -dy, -dx, 0), (event) =>
    addFlags(event, flags),
  )
}

/** Drags with the left button. If interrupted, releases it where the drag started: nothing is dropped. */
export async function dragPointer(
  { from, to, durationMs, prove, proveDrop }: Extract<InputEvent, { kind: "drag" }>,
  flags: bigint,
  deadline: Deadline,
): Promise<void> {
  const { number, down, up, dragged } = BUTTONS.left
  using source = eventSource()
  const mouse = mouseOf(source.ref, flags)
  mouse(MOVED, from, 0)
  await prove?.()
  mouse(down, from, number, 1)
  let drop = from
  try {
    const steps = Math.max(FEWEST_STEPS, Math.round(durationMs / STEP_MS))
    for (let step = 1; step <= steps; step++) {
      await pace(durationMs / steps, deadline)
      mouse(dragged, between(from, to, step / steps), number, 1)
    }
    // Some targets accept a drop only after the pointer has rested on them while dragging.
    for (let rested = 0; rested < DWELL_MS; rested += STEP_MS) {
      await pace(STEP_MS, deadline)
      mouse(dragged, to, number, 1)
    }
    await proveDrop?.()
    drop = to
  } finally {
    mouse(up, drop, number, 1)
  }
}

async function pace(ms: number, deadline: Deadline): Promise<void> {
  await pause(ms, deadline)
  if (!deadline.expired) return
  throw new AppError("TIMEOUT", "The time ran out during the drag, which was undone", {
    suggestion: "Use a shorter --duration or a longer --timeout-ms",
    details: { kind: "drag" },
    disposition: { delivery: "delivery_uncertain", retry: "unknown" },
  })
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

function mouseOf(source: bigint, flags: bigint) {
  return (type: number, at: Point, button: number, clicks?: number): void =>
    post(coreGraphics().CGEventCreateMouseEvent(source, type, at.x, at.y, button), (event) => {
      if (clicks !== undefined) coreGraphics().CGEventSetIntegerValueField(event, CLICK_STATE, clicks)
      addFlags(event, flags)
    })
}

function addFlags(event: bigint, flags: bigint): void {
  if (flags) coreGraphics().CGEventSetFlags(event, coreGraphics().CGEventGetFlags(event) | flags)
}

/** `root`: the directory of our own state. */
export async function sendInput(event: InputEvent, deadline: Deadline, root: string): Promise<void> {
  const held = new HeldKeys(root)
  switch (event.kind) {
    case "key":
      await event.prove?.()
      // macOS does not report which window has the keys. The caller has just checked.
      event.asSent?.(true, false)
      return pressKey(event.combo, event.phase, held)
    case "text":
      return typeText(event, deadline, held)
    case "move":
      return movePointer(event.at, flagsOf(held.modifiers))
    case "click":
      return clickPointer(event, flagsOf([...held.modifiers, ...(event.modifiers ?? [])]))
    case "button":
      return holdPointer(event.at, event.button, event.phase, flagsOf(held.modifiers))
    case "wheel":
      return turnWheel(event, flagsOf(held.modifiers))
    case "drag":
      return dragPointer(event, flagsOf([...held.modifiers, ...(event.modifiers ?? [])]), deadline)
    default:
      return event satisfies never
  }
}

/**
 * The lock on the pointer and the keyboard of the login session: a file in the temporary directory of the user, which
 * all programs of that user share. The kernel takes the lock back when the process ends.
 */
export async function openInputLock(env: Env): Promise<InputLock> {
  const directory = env.TMPDIR?.startsWith("/") ? env.TMPDIR.replace(/\/+$/, "") : "/tmp"
  const fd = openLockFile(`${directory}/agent-desktop-input-${process.getuid?.()}.lock`)
  return { tryTake: () => tryLock(fd), holder: () => ({}), close: () => closeSync(fd) }
}
