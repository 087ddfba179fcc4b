import type { Deadline } from "../../deadline.ts"
import type { Point } from "../../node.ts"
import { contains } from "../../rect.ts"
import type { X11, XEvent } from "./connection.ts"
import {
  type Attributes,
  clientMessage,
  createHiddenWindow,
  destroyWindow,
  EVENT,
  getAttributes,
  getGeometry,
  getInputFocus,
  getNumbers,
  MASK,
  queryTree,
  unlessGone,
} from "./requests.ts"
import { clientOf, learnAtoms, processMates, readWindows, type XWindow } from "./window.ts"
import { Request } from "./wire.ts"

export type { XWindow } from "./window.ts"

/** Managed windows, topmost first. Without a window manager: the mapped children of the root window. */
export async function listWindows(x: X11, deadline: Deadline): Promise<XWindow[]> {
  const { managed, active, manager } = await readDesktop(x, deadline)
  const [alive, windows] = await Promise.all([
    isManagerAlive(x, manager, deadline),
    readWindows(x, managed, deadline),
  ])
  if (alive) return windows.map((window) => ({ ...window, focused: window.id === active }))
  return listUnmanaged(x, (await queryTree(x, x.root, deadline)).children, deadline)
}

/** A managed window and the others of its process, topmost first; empty if it is not managed. */
export async function listMates(x: X11, id: number | "focused", deadline: Deadline): Promise<XWindow[]> {
  const { managed, active, manager } = await readDesktop(x, deadline)
  const wanted = id === "focused" ? active : id
  if (wanted === undefined || !managed.includes(wanted)) return []
  const [alive, mates] = await Promise.all([
    isManagerAlive(x, manager, deadline),
    processMates(x, wanted, managed, deadline),
  ])
  const windows = alive ? await readWindows(x, mates, deadline) : []
  return windows.map((window) => ({ ...window, focused: window.id === active }))
}

/** The window manager's lists of windows. */
async function readDesktop(x: X11, deadline: Deadline) {
  await learnAtoms(x, deadline)
  const [stacking, clients, active, manager] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_CLIENT_LIST_STACKING"), deadline),
    getNumbers(x, x.root, x.atom("_NET_CLIENT_LIST"), deadline),
    getNumbers(x, x.root, x.atom("_NET_ACTIVE_WINDOW"), deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
  ])
  const managed = (stacking.length > 0 ? stacking : clients).toReversed()
  // Openbox announces no window while it hands the focus from one to the next.
  return { managed, active: active[0] || (await findFocused(x, managed, deadline)), manager: manager[0] }
}

/** Mapped windows that bypass the window manager, topmost first: menus, popovers, tooltips. */
export async function listOverrideWindows(x: X11, deadline: Deadline): Promise<XWindow[]> {
  await learnAtoms(x, deadline)
  const [tree, wm] = await Promise.all([
    queryTree(x, x.root, deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
  ])
  // A window manager's frames are override-redirect too; they belong to its own connection.
  const manager = (await isManagerAlive(x, wm[0], deadline)) ? clientOf(x, wm[0] ?? 0) : undefined
  const candidates = tree.children.filter((id) => clientOf(x, id) !== manager).toReversed()
  const attributes = await Promise.all(candidates.map((id) => unlessGone(getAttributes(x, id, deadline))))
  return readWindows(
    x,
    candidates.filter((_, i) => isPopup(attributes[i])),
    deadline,
  )
}

/** The window that a click at this point would reach. */
export async function windowAt(x: X11, point: Point, deadline: Deadline): Promise<XWindow | undefined> {
  await learnAtoms(x, deadline)
  const id = await findAt(x, point, deadline)
  const window = id === undefined ? undefined : await readWindow(x, id, deadline)
  return window && isPicture(window) ? windowBelow(x, window.id, point, deadline) : window
}

/** True for the picture of what is dragged. It is above everything, and a drop goes to the window below it. */
const isPicture = ({ types }: XWindow): boolean => types.includes("dnd")

async function windowBelow(
  x: X11,
  above: number,
  point: Point,
  deadline: Deadline,
): Promise<XWindow | undefined> {
  const { children } = await queryTree(x, x.root, deadline)
  for (const id of children.slice(0, Math.max(0, children.indexOf(above))).toReversed()) {
    const [attributes, bounds] = await Promise.all([
      unlessGone(getAttributes(x, id, deadline)),
      unlessGone(getGeometry(x, id, deadline)),
    ])
    if (!attributes?.viewable || attributes.inputOnly || !bounds || !contains(bounds, point)) continue
    const window = await readWindow(x, (await findClient(x, id, deadline)) ?? id, deadline)
    if (window && !isPicture(window)) return window
  }
  return undefined
}

/** The current state of the window with this id; undefined if it is gone. */
export async function readWindow(x: X11, id: number, deadline: Deadline): Promise<XWindow | undefined> {
  await learnAtoms(x, deadline)
  const [[active], [window]] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_ACTIVE_WINDOW"), deadline),
    readWindows(x, [id], deadline),
  ])
  if (!window) return undefined
  return { ...window, focused: (active || (await findFocused(x, [id], deadline))) === id }
}

/** True if keys would go to this window or to a window inside it. */
export async function hasKeyboard(x: X11, id: number, deadline: Deadline): Promise<boolean> {
  return (await findFocused(x, [id], deadline)) === id
}

export interface Manager {
  supports(atom: string): boolean
}

/** The announcement of a running window manager; undefined if there is none. */
export async function readManager(x: X11, deadline: Deadline): Promise<Manager | undefined> {
  await learnAtoms(x, deadline)
  const [wm, supported] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTED"), deadline),
  ])
  if (!(await isManagerAlive(x, wm[0], deadline))) return undefined
  return { supports: (atom) => supported.includes(x.atom(atom)) }
}

/**
 * Resolves when the window manager has processed everything sent to it before: it then answers a question about
 * the frame extents of a window of ours. A window manager that has announced itself may still be starting, and
 * a window that opens meanwhile can stay unmanaged for seconds. Returns false if no answer arrives in time.
 */
export async function managerAnswers(x: X11, deadline: Deadline): Promise<boolean> {
  await learnAtoms(x, deadline)
  const { window, request } = createHiddenWindow(x, MASK.property)
  const extents = x.atom("_NET_FRAME_EXTENTS")
  using events = x.listen(({ packet }) => packet.u32(4) === window && packet.u32(8) === extents)
  try {
    await x.check([request], deadline)
    // A window manager that is still starting may miss the question.
    while (!deadline.expired) {
      await x.check([askExtents(x, window)], deadline)
      if (await events.next(deadline.slice(ASK_AGAIN_MS))) return true
    }
    return false
  } finally {
    if (!x.closed) x.send(destroyWindow(window))
  }
}

/** A question that every common window manager answers, in order, by setting _NET_FRAME_EXTENTS. */
export function askExtents(x: X11, window: number): Request {
  const mask = MASK.substructure | MASK.substructureRedirect
  return clientMessage(x.root, mask, window, x.atom("_NET_REQUEST_FRAME_EXTENTS"), [])
}

async function listUnmanaged(x: X11, children: readonly number[], deadline: Deadline): Promise<XWindow[]> {
  const tops = await Promise.all(
    children.toReversed().map(async (top) => {
      const attributes = await unlessGone(getAttributes(x, top, deadline))
      if (!attributes || attributes.inputOnly) return undefined
      const client = await findClient(x, top, deadline)
      if (client !== undefined) return client
      return attributes.mapped && !attributes.overrideRedirect ? top : undefined
    }),
  )
  const ids = tops.filter((id) => id !== undefined)
  const [windows, focused] = await Promise.all([readWindows(x, ids, deadline), findFocused(x, ids, deadline)])
  return windows.map((window) => ({ ...window, focused: window.id === focused }))
}

// Without _NET_ACTIVE_WINDOW the focus may be anywhere below a top-level window.
async function findFocused(x: X11, ids: readonly number[], deadline: Deadline): Promise<number | undefined> {
  let window = await getInputFocus(x, deadline)
  while (window > POINTER_ROOT && window !== x.root && !ids.includes(window)) {
    window = (await unlessGone(queryTree(x, window, deadline)))?.parent ?? 0
  }
  return window
}

/** The managed window at or below this one. Window managers mark it with WM_STATE. */
async function findClient(x: X11, top: number, deadline: Deadline, depth = 3): Promise<number | undefined> {
  const [state, tree] = await Promise.all([
    unlessGone(getNumbers(x, top, x.atom("WM_STATE"), deadline)),
    unlessGone(queryTree(x, top, deadline)),
  ])
  if (state?.[0]) return top
  if (depth === 0 || !tree) return undefined
  const below = await Promise.all(tree.children.map((child) => findClient(x, child, deadline, depth - 1)))
  return below.find((client) => client !== undefined)
}

// TranslateCoordinates names the child that contains the point, input shapes respected.
async function findAt(x: X11, point: Point, deadline: Deadline): Promise<number | undefined> {
  const at = async (window: number) => {
    const request = new Request(40).u32(x.root).u32(window).i16(point.x).i16(point.y)
    return (await unlessGone(x.ask(request, deadline)))?.u32(8) ?? 0
  }
  const top = await at(x.root)
  if (top === 0) return undefined
  for (let window = top; window !== 0; ) {
    const [state, child] = await Promise.all([
      unlessGone(getNumbers(x, window, x.atom("WM_STATE"), deadline)),
      at(window),
    ])
    if (state?.[0]) return window
    window = child
  }
  // A title bar is beside the client window, inside the same frame.
  return (await findClient(x, top, deadline)) ?? top
}

async function isManagerAlive(x: X11, check: number | undefined, deadline: Deadline): Promise<boolean> {
  if (!check) return false
  const own = await unlessGone(getNumbers(x, check, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline))
  return own?.[0] === check
}

function isPopup(attributes: Attributes | undefined): boolean {
  return attributes?.overrideRedirect === true && attributes.viewable && !attributes.inputOnly
}

const POINTER_ROOT = 1
const ASK_AGAIN_MS = 100

/**
 * Calls back when a window opens, closes, changes its title or state, or gets the focus. It also covers programs
 * that are not on the accessibility bus. Ends when disposed.
 */
export async function watchWindows(x: X11, deadline: Deadline, changed: () => void): Promise<Disposable> {
  await x.intern([...RELEVANT, LIST], deadline)
  const listened = new Map<number, Disposable>()
  const follow = async (): Promise<void> => {
    const windows = new Set(await getNumbers(x, x.root, x.atom(LIST), deadline))
    for (const [id, ended] of listened) {
      if (windows.has(id)) continue
      listened.delete(id)
      ended[Symbol.dispose]()
    }
    for (const id of windows) if (!listened.has(id)) listened.set(id, x.select(id, MASK.property))
  }
  const root = x.select(x.root, MASK.property | MASK.substructure)
  // No event is queued: the caller only needs to know that something happened.
  const events = x.listen((event) => {
    if (!isRelevant(x, event)) return false
    // If the list cannot be read, the waiting caller looks again anyway.
    if (isProperty(x, event, LIST)) follow().catch(() => {})
    changed()
    return false
  })
  const stop = (): void => {
    events[Symbol.dispose]()
    for (const one of [root, ...listened.values()]) one[Symbol.dispose]()
    listened.clear()
  }
  try {
    await follow()
  } catch (error) {
    stop()
    throw error
  }
  return { [Symbol.dispose]: stop }
}

const LIST = "_NET_CLIENT_LIST"
/** Properties that matter. Others change with every key, such as the time of the last one. */
const RELEVANT = ["_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "WM_NAME", "_NET_WM_STATE", "WM_STATE"] as const

/** Events that matter. Moves, and windows that were never shown, do not. */
const COMING_AND_GOING: ReadonlySet<number> = new Set([EVENT.mapNotify, EVENT.unmapNotify])

function isRelevant(x: X11, event: XEvent): boolean {
  if (COMING_AND_GOING.has(event.code)) return true
  return [LIST, ...RELEVANT].some((name) => isProperty(x, event, name))
}

const isProperty = (x: X11, { code, packet }: XEvent, name: string): boolean =>
  code === EVENT.propertyNotify && x.isAtom(packet.u32(8), name)
