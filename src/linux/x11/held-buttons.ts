import type { Deadline } from "../../deadline.ts"
import { AppError, NOTHING_DELIVERED } from "../../errors.ts"
import type { Point } from "../../node.ts"
import type { X11 } from "./connection.ts"
import { changeProperty, getNumbers, queryPointer, words } from "./requests.ts"
import type { Xtest } from "./xtest.ts"

/** A button that a command of ours has pressed. The note is on the display, since the command may be killed. */
export interface Held {
  readonly button: number
  readonly at: Point
  /** True for mouse-down: the button stays down until mouse-up. Clicks and drags release it themselves. */
  readonly isMeant: boolean
}

/** Notes all buttons that are held, or about to be. Call `settleButtons` first. Needs no answer. */
export function noteHeld(x: X11, held: readonly Held[]): void {
  const numbers = held.flatMap(({ button, at, isMeant }) => [button, at.x, at.y, Number(isMeant)])
  x.send(changeProperty(x.root, x.atom(NOTE), CARDINAL, 32, words(...numbers)))
}

/**
 * Makes sure that no pressed button turns the next movement into a drag and the next click into a drop. If a click or
 * drag was killed, its button is released where it was pressed. A button that mouse-down holds stays down and is
 * returned, unless it is `wanted`. Throws if a person or another program holds a button.
 */
export async function settleButtons(
  x: X11,
  xtest: Xtest,
  physical: (logical: number) => number,
  wanted: number | undefined,
  deadline: Deadline,
): Promise<readonly Held[]> {
  await x.intern([NOTE], deadline)
  const down = await readDown(x, deadline)
  if (down.length === 0) return []
  const noted = (await readHeld(x, deadline)).filter(({ button }) => down.includes(button))
  const meant = noted.filter(({ isMeant }) => isMeant)
  if (meant.some(({ button }) => button === wanted))
    throw refusal(`mouse-down holds the ${nameOf(wanted)} button down`)
  for (const { button, at, isMeant } of noted) {
    if (isMeant) continue
    xtest.motion(at)
    xtest.buttonUp(physical(button))
  }
  noteHeld(x, meant)
  const left = (await readDown(x, deadline)).find((button) => !meant.some((one) => one.button === button))
  if (left === undefined) return meant
  throw refusal(`The ${nameOf(left)} mouse button is down, and no command of agent-desktop holds it`)
}

/** The buttons that mouse-down holds, without this one. */
export async function heldExcept(x: X11, released: number, deadline: Deadline): Promise<readonly Held[]> {
  await x.intern([NOTE], deadline)
  return (await readHeld(x, deadline)).filter(({ button }) => button !== released)
}

async function readDown(x: X11, deadline: Deadline): Promise<readonly number[]> {
  const { mask } = await queryPointer(x, deadline)
  return Object.keys(NAMES)
    .map(Number)
    .filter((button) => (mask & maskOf(button)) !== 0)
}

export const maskOf = (button: number): number => FIRST_BUTTON << (button - 1)

async function readHeld(x: X11, deadline: Deadline): Promise<readonly Held[]> {
  const numbers = await getNumbers(x, x.root, x.atom(NOTE), deadline)
  return Array.from({ length: Math.floor(numbers.length / 4) }, (_, i) => {
    const [button = 0, left = 0, top = 0, isMeant = 0] = numbers.slice(i * 4, i * 4 + 4)
    return { button, at: { x: left, y: top }, isMeant: isMeant !== 0 }
  })
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
