import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { pause } from "../../until.ts"
import { sleepsForAFrame } from "../windowing/asleep.ts"
import type { X11 } from "./connection.ts"
import { clientMessage, EVENT, getNumbers, MASK, queryTree, unlessGone } from "./requests.ts"
import { clientOf, readPids } from "./window.ts"

/**
 * Waits until the client that has the keyboard has read the events it was sent. Only then may a key get another
 * meaning: clients look a key up in the newest keymap, not in that of the moment it was pressed.
 *
 * Toolkits answer a ping in the order of their events, which proves it. A program that does not answer pings has
 * probably read them once it sleeps in the kernel with nothing left to run. A program on another machine cannot be
 * watched, so it gets some time. false: no proof before the deadline, or the X server does not answer.
 */
export function caughtUp(x: X11, window: number, deadline: Deadline): Promise<boolean> {
  return hasRead(x, window, deadline).catch(unlessLate)
}

/** The same, but throws if it is the X server that does not answer. */
export async function hasRead(x: X11, window: number, deadline: Deadline): Promise<boolean> {
  await x.intern(["WM_PROTOCOLS", "_NET_WM_PING"], deadline)
  const pinged = await findPingable(x, window, deadline)
  if (pinged !== undefined) return ping(x, pinged, deadline)
  const pid = (await readPids(x, [window], deadline)).get(clientOf(x, window))
  return pid === undefined ? giveTime(x, deadline) : isIdle(x, pid, deadline)
}

/**
 * Waits until the client has also reacted to the events, e.g. with a new layout: it has slept for longer than a frame
 * takes. False: it does not sleep before the deadline, e.g. because of an animation, or that cannot be observed.
 */
export function settled(x: X11, window: number, deadline: Deadline): Promise<boolean> {
  return hasReacted(x, window, deadline).catch(unlessLate)
}

async function hasReacted(x: X11, window: number, deadline: Deadline): Promise<boolean> {
  if (!(await hasRead(x, window, deadline))) return false
  const pid = (await readPids(x, [window], deadline)).get(clientOf(x, window))
  return pid !== undefined && isIdle(x, pid, deadline)
}

/** Callers wait for a share of their time. They go on when it is over, and may not fail because of it. */
function unlessLate(error: unknown): false {
  if (error instanceof AppError && error.code === "TIMEOUT") return false
  throw error
}

// The protocols are a property of the top-level window; the focus may be further down.
async function findPingable(x: X11, window: number, deadline: Deadline): Promise<number | undefined> {
  for (let at = window; at > 1 && at !== x.root; ) {
    const [protocols, tree] = await Promise.all([
      unlessGone(getNumbers(x, at, x.atom("WM_PROTOCOLS"), deadline)),
      unlessGone(queryTree(x, at, deadline)),
    ])
    if (protocols?.includes(x.atom("_NET_WM_PING"))) return at
    at = tree?.parent ?? 0
  }
  return undefined
}

async function ping(x: X11, window: number, deadline: Deadline): Promise<boolean> {
  const token = Math.floor(Math.random() * 0x7fffffff)
  using answers = x.listen(
    ({ code, packet }) =>
      code === EVENT.clientMessage && packet.u32(12) === x.atom("_NET_WM_PING") && packet.u32(16) === token,
  )
  // Most toolkits answer to clients that watch the root's children, Qt to clients that watch the root.
  using _ = x.select(x.root, MASK.substructure | MASK.structure)
  await x.check(
    [clientMessage(window, 0, window, x.atom("WM_PROTOCOLS"), [x.atom("_NET_WM_PING"), token, window])],
    deadline,
  )
  while (!deadline.expired) {
    if (await answers.next(deadline.slice(GONE_MS))) return true
    // The window of an app that has ended never answers.
    if (!(await inTime(deadline, () => unlessGone(queryTree(x, window, deadline))))) return false
  }
  return false
}

/** How often to see if the window is still there. */
const GONE_MS = 250

/** A process with events to read is running, or will run soon. */
async function isIdle(x: X11, pid: number, deadline: Deadline): Promise<boolean> {
  const isSynced = async () => (await inTime(deadline, () => x.sync(deadline).then(() => true))) === true
  return (await sleepsForAFrame(pid, isSynced, deadline)) ?? giveTime(x, deadline)
}

/** undefined: the time was up so soon after the question that this says nothing about the X server. */
async function inTime<T>(deadline: Deadline, ask: () => Promise<T>): Promise<T | undefined> {
  const time = deadline.remaining
  try {
    return await ask()
  } catch (error) {
    if (time >= SHORT_MS) throw error
    unlessLate(error)
    return undefined
  }
}

/** For a client that can be neither asked nor observed: the only evidence is time. */
async function giveTime(x: X11, deadline: Deadline): Promise<boolean> {
  await x.sync(deadline)
  await pause(REMOTE_MS, deadline)
  return true
}

const SHORT_MS = 200
/** A client on another machine cannot be watched. It gets this long to read its events. */
const REMOTE_MS = 100
