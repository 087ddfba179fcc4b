import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import type { X11 } from "./connection.ts"
import { changeProperty, getNumbers, queryPointer, words } from "./requests.ts"
import type { Xtest } from "./xtest.ts"

/** A button that a command of ours has pressed. The display keeps the note, since the command may be killed. */
interface Held {
  readonly button: number
  readonly at: Point
  /** True for mouse-down: the button stays down until mouse-up. False for a drag, which releases it itself. */
  readonly isMeant: boolean
}

/** Notes that a button is about to be pressed, so that a later command knows where and why it is down. */
export async function noteHeld(x: X11, held: Held, deadline: Deadline): Promise<void> {
  const others = (await readHeld(x, deadline)).filter(({ button }) => button !== held.button)
  await writeHeld(x, [...others, held], deadline)
}

export async function forgetHeld(x: X11, released: number, deadline: Deadline): Promise<void> {
  const held = await readHeld(x, deadline)
  if (held.some(({ button }) => button === released))
    await writeHeld(
      x,
      held.filter(({ button }) => button !== released),
      deadline,
    )
}

/**
 * Makes sure that no button is down which would turn the next movement into a drag and the next click into a drop. The
 * button of a drag that was killed is released where it was pressed. One that mouse-down holds stays down, unless it
 * is `wanted`. Throws if the button is held by a person or another program.
 */
export async function settleButtons(
  x: X11,
  xtest: Xtest,
  physical: (logical: number) => number,
  wanted: number | undefined,
  deadline: Deadline,
): Promise<void> {
  const down = await readDown(x, deadline)
  if (down.length === 0) return
  const notes = await readHeld(x, deadline)
  const noted = down.flatMap((button) => notes.find((one) => one.button === button) ?? [])
  if (noted.some(({ button, isMeant }) => isMeant && button === wanted))
    throw refusal(`mouse-down holds the ${nameOf(wanted)} button down`)
  for (const { button, at } of noted.filter(({ isMeant }) => !isMeant)) {
    xtest.motion(at)
    xtest.buttonUp(physical(button))
    await forgetHeld(x, button, deadline)
  }
  const meant = noted.filter(({ isMeant }) => isMeant).map(({ button }) => button)
  const left = (await readDown(x, deadline)).filter((button) => !meant.includes(button))
  if (left.length > 0)
    throw refusal(`The ${nameOf(left[0])} mouse button is down, and no command of agent-desktop holds it`)
}

async function readDown(x: X11, deadline: Deadline): Promise<readonly number[]> {
  const { mask } = await queryPointer(x, deadline)
  return Object.keys(NAMES)
    .map(Number)
    .filter((button) => (mask & maskOf(button)) !== 0)
}

export const maskOf = (button: number): number => FIRST_BUTTON << (button - 1)

async function readHeld(x: X11, deadline: Deadline): Promise<readonly Held[]> {
  await x.intern([NOTE], deadline)
  const numbers = await getNumbers(x, x.root, x.atom(NOTE), deadline)
  return Array.from({ length: Math.floor(numbers.length / 4) }, (_, i) => {
    const [button = 0, left = 0, top = 0, isMeant = 0] = numbers.slice(i * 4, i * 4 + 4)
    return { button, at: { x: left, y: top }, isMeant: isMeant !== 0 }
  })
}

async function writeHeld(x: X11, held: readonly Held[], deadline: Deadline): Promise<void> {
  const numbers = held.flatMap(({ button, at, isMeant }) => [button, at.x, at.y, Number(isMeant)])
  x.send(changeProperty(x.root, x.atom(NOTE), CARDINAL, 32, words(...numbers)))
  await x.sync(deadline)
}

function refusal(message: string): AppError {
  return new AppError("ACTION_FAILED", message, {
    suggestion:
      "Release it where nothing can be dropped, at the place where it was pressed: agent-desktop mouse-up --xy X,Y",
    details: { kind: "button_down" },
    disposition: NOTHING_DELIVERED,
  })
}

const nameOf = (button: number | undefined): string => NAMES[button ?? 0] ?? "other"

/** By the numbers of the X protocol. The wheel has numbers, too, but is never down for longer than a moment. */
const NAMES: Readonly<Record<number, string>> = { 1: "left", 2: "middle", 3: "right" }
const NOTE = "_AGENT_DESKTOP_HELD_BUTTONS"
const CARDINAL = 6
const FIRST_BUTTON = 1 << 8
