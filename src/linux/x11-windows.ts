import type { Deadline } from "../deadline.ts"
import type { Point, Rect } from "../node.ts"
import type { X11 } from "./x11.ts"
import {
  type Attributes,
  getAttributes,
  getGeometry,
  getInputFocus,
  getNumbers,
  getProperty,
  originOnRoot,
  propertyText,
  queryTree,
  unlessGone,
} from "./x11-requests.ts"
import { Request } from "./x11-wire.ts"

export interface XWindow {
  readonly id: number
  readonly title: string
  readonly pid?: number
  readonly wmClass?: { readonly instance: string; readonly className: string }
  /** The client's own window in root coordinates: what AT-SPI's window coordinates refer to. */
  readonly bounds: Rect
  /**
   * What the user sees as the window, and what the contract calls its bounds: the client window plus the window
   * manager's decorations, minus the invisible shadow that GTK draws inside its own window. Moving to X, Y puts
   * the top left corner of this rectangle there; resizing sets its size.
   */
  readonly frame: Rect
  readonly frameExtents?: Extents
  readonly gtkFrameExtents?: Extents
  readonly focused: boolean
  readonly minimized: boolean
  readonly maximized: boolean
  /** The window's types, the preferred first: "normal", "dialog", "popup-menu". */
  readonly types: readonly string[]
  readonly transientFor?: number
  /** The desktop-file id, where the application tells it. */
  readonly desktopFile?: string
}

export interface Extents {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Managed windows, the topmost first. Without a window manager: the mapped children of the root window. */
export async function listWindows(x: X11, deadline: Deadline): Promise<XWindow[]> {
  await learnAtoms(x, deadline)
  const [stacking, clients, active, wm, tree] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_CLIENT_LIST_STACKING"), deadline),
    getNumbers(x, x.root, x.atom("_NET_CLIENT_LIST"), deadline),
    getNumbers(x, x.root, x.atom("_NET_ACTIVE_WINDOW"), deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
    queryTree(x, x.root, deadline),
  ])
  const managed = (stacking.length > 0 ? stacking : clients).toReversed()
  const [alive, windows] = await Promise.all([
    isManagerAlive(x, wm[0], deadline),
    readWindows(x, managed, deadline),
  ])
  if (alive) return windows.map((window) => ({ ...window, focused: window.id === active[0] }))
  return listUnmanaged(x, tree.children, deadline)
}

/** Mapped windows that go past the window manager, the topmost first: menus, popovers, tooltips. */
export async function listOverrideWindows(x: X11, deadline: Deadline): Promise<XWindow[]> {
  await learnAtoms(x, deadline)
  const [tree, wm] = await Promise.all([
    queryTree(x, x.root, deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
  ])
  // The frames a window manager puts around windows are override-redirect too; they belong to its connection.
  const candidates = tree.children
    .filter((id) => !wm[0] || clientOf(x, id) !== clientOf(x, wm[0]))
    .toReversed()
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
  const active = getNumbers(x, x.root, x.atom("_NET_ACTIVE_WINDOW"), deadline)
  const [[activeId], id] = await Promise.all([active, findAt(x, point, deadline)])
  const window = id === undefined ? undefined : (await readWindows(x, [id], deadline))[0]
  return window && { ...window, focused: window.id === activeId }
}

/** The window with this id as it is now; undefined once it is gone. */
export async function readWindow(x: X11, id: number, deadline: Deadline): Promise<XWindow | undefined> {
  await learnAtoms(x, deadline)
  const [active, windows] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_ACTIVE_WINDOW"), deadline),
    readWindows(x, [id], deadline),
  ])
  return windows[0] && { ...windows[0], focused: active[0] === id }
}

/** What a live window manager has announced about itself; undefined when there is none. */
export async function readManager(
  x: X11,
  deadline: Deadline,
): Promise<{ supports(atom: string): boolean } | undefined> {
  await learnAtoms(x, deadline)
  const [wm, supported] = await Promise.all([
    getNumbers(x, x.root, x.atom("_NET_SUPPORTING_WM_CHECK"), deadline),
    getNumbers(x, x.root, x.atom("_NET_SUPPORTED"), deadline),
  ])
  if (!(await isManagerAlive(x, wm[0], deadline))) return undefined
  return { supports: (atom) => supported.includes(x.atom(atom)) }
}

/** Interns what windows are described with, together with the extension that knows pids. */
export async function learnAtoms(x: X11, deadline: Deadline): Promise<void> {
  const names = [...ATOMS, ...TYPES.map((type) => typeAtom(type))]
  await Promise.all([x.intern(names, deadline), x.extension("X-Resource", deadline)])
}

async function readWindows(x: X11, ids: readonly number[], deadline: Deadline): Promise<XWindow[]> {
  const [host, pids, ...facts] = await Promise.all([
    readHost(),
    readPids(x, ids, deadline),
    ...ids.map((id) => unlessGone(readFacts(x, id, deadline))),
  ])
  return facts.flatMap((fact) => (fact ? [describe(x, fact, host, pids)] : []))
}

type Facts = Awaited<ReturnType<typeof readFacts>>

async function readFacts(x: X11, id: number, deadline: Deadline) {
  const property = (name: string) => getProperty(x, id, x.atom(name), deadline)
  const numbers = (name: string) => getNumbers(x, id, x.atom(name), deadline)
  const [
    geometry,
    origin,
    netName,
    name,
    pid,
    machine,
    wmClass,
    states,
    wmState,
    types,
    transientFor,
    frame,
    gtk,
    ...app
  ] = await Promise.all([
    getGeometry(x, id, deadline),
    originOnRoot(x, id, deadline),
    property("_NET_WM_NAME"),
    property("WM_NAME"),
    numbers("_NET_WM_PID"),
    property("WM_CLIENT_MACHINE"),
    property("WM_CLASS"),
    numbers("_NET_WM_STATE"),
    numbers("WM_STATE"),
    numbers("_NET_WM_WINDOW_TYPE"),
    numbers("WM_TRANSIENT_FOR"),
    numbers("_NET_FRAME_EXTENTS"),
    numbers("_GTK_FRAME_EXTENTS"),
    property("_GTK_APPLICATION_ID"),
    property("_KDE_NET_WM_DESKTOP_FILE"),
  ])
  return {
    id,
    geometry,
    origin,
    netName,
    name,
    pid,
    machine,
    wmClass,
    states,
    wmState,
    types,
    transientFor,
    frame,
    gtk,
    app,
  }
}

function describe(x: X11, facts: Facts, host: string, pids: ReadonlyMap<number, number>): XWindow {
  const { id, geometry, origin } = facts
  const bounds = { x: origin.x, y: origin.y, width: geometry.width, height: geometry.height }
  const [instance, className] = propertyText(x, facts.wmClass)?.split("\0") ?? []
  const machine = propertyText(x, facts.machine)
  const isLocal = machine === undefined || machine === host || machine === "localhost"
  const transientFor = facts.transientFor[0]
  const types = TYPES.filter((type) => facts.types.includes(x.atom(typeAtom(type))))
  const rank = (type: string) => facts.types.indexOf(x.atom(typeAtom(type)))
  const frameExtents = toExtents(facts.frame)
  const gtkFrameExtents = toExtents(facts.gtk)
  const hidden = facts.states.includes(x.atom("_NET_WM_STATE_HIDDEN"))
  return {
    id,
    title: cleanTitle(propertyText(x, facts.netName) || propertyText(x, facts.name) || ""),
    pid: (isLocal ? facts.pid[0] : undefined) || pids.get(clientOf(x, id)),
    wmClass: instance === undefined ? undefined : { instance, className: className ?? "" },
    bounds,
    frame: visibleFrame(bounds, frameExtents, gtkFrameExtents),
    frameExtents,
    gtkFrameExtents,
    focused: false,
    minimized: hidden || (facts.states.length === 0 && facts.wmState[0] === ICONIC),
    maximized: MAXIMIZED.every((state) => facts.states.includes(x.atom(state))),
    types:
      types.length > 0 ? types.toSorted((a, b) => rank(a) - rank(b)) : [transientFor ? "dialog" : "normal"],
    transientFor: transientFor || undefined,
    desktopFile: desktopFileId(facts.app.map((value) => propertyText(x, value))),
  }
}

export function visibleFrame(client: Rect, frame: Extents | undefined, gtk: Extents | undefined): Rect {
  const left = (frame?.left ?? 0) - (gtk?.left ?? 0)
  const top = (frame?.top ?? 0) - (gtk?.top ?? 0)
  const right = (frame?.right ?? 0) - (gtk?.right ?? 0)
  const bottom = (frame?.bottom ?? 0) - (gtk?.bottom ?? 0)
  return {
    x: client.x - left,
    y: client.y - top,
    width: client.width + left + right,
    height: client.height + top + bottom,
  }
}

function toExtents(values: readonly number[]): Extents | undefined {
  const [left, right, top, bottom] = values
  if (left === undefined || right === undefined || top === undefined || bottom === undefined) return undefined
  return { left, right, top, bottom }
}

// Control bytes in titles are the application's mistake; a line break must not tear a line of output.
function cleanTitle(title: string): string {
  return title.replace(/[\x00-\x1f\x7f]+/g, " ").trim()
}

function desktopFileId(values: readonly (string | undefined)[]): string | undefined {
  const value = values.find(Boolean)
  return value?.replace(/^.*\//, "").replace(/\.desktop$/, "")
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

/** The managed window at or below this one: window managers mark it with WM_STATE. */
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

// X-Resource knows the pid behind a connection from the socket itself.
async function readPids(x: X11, ids: readonly number[], deadline: Deadline): Promise<Map<number, number>> {
  const extension = await x.extension("X-Resource", deadline)
  const clients = new Set(ids.map((id) => clientOf(x, id)))
  if (!extension || clients.size === 0) return new Map()
  const request = new Request(extension.opcode, 4).u32(clients.size)
  for (const client of clients) request.u32(client).u32(LOCAL_CLIENT_PID)
  const reply = await x.ask(request, deadline).catch(() => undefined)
  const pids = new Map<number, number>()
  let at = 32
  for (let i = 0; reply && i < reply.u32(8); i++) {
    const length = reply.u32(at + 8)
    if (length >= 4) pids.set(clientOf(x, reply.u32(at)), reply.u32(at + 12))
    at += 12 + length
  }
  return pids
}

function clientOf(x: X11, id: number): number {
  return (id & ~x.setup.idMask) >>> 0
}

function isPopup(attributes: Attributes | undefined): boolean {
  return attributes?.overrideRedirect === true && attributes.viewable && !attributes.inputOnly
}

let host: Promise<string> | undefined

function readHost(): Promise<string> {
  host ??= Bun.file("/proc/sys/kernel/hostname")
    .text()
    .then((text) => text.trim())
    .catch(() => "")
  return host
}

function typeAtom(type: string): string {
  return `_NET_WM_WINDOW_TYPE_${type.toUpperCase().replace("-", "_")}`
}

const TYPES = [
  "normal",
  "dialog",
  "utility",
  "toolbar",
  "menu",
  "dropdown-menu",
  "popup-menu",
  "tooltip",
  "combo",
  "notification",
  "splash",
  "dock",
  "desktop",
  "dnd",
]

const MAXIMIZED = ["_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ"]

const ATOMS = [
  ...MAXIMIZED,
  "UTF8_STRING",
  "WM_NAME",
  "WM_CLASS",
  "WM_CLIENT_MACHINE",
  "WM_TRANSIENT_FOR",
  "WM_STATE",
  "WM_CHANGE_STATE",
  "WM_PROTOCOLS",
  "WM_DELETE_WINDOW",
  "_NET_SUPPORTED",
  "_NET_SUPPORTING_WM_CHECK",
  "_NET_CLIENT_LIST",
  "_NET_CLIENT_LIST_STACKING",
  "_NET_ACTIVE_WINDOW",
  "_NET_MOVERESIZE_WINDOW",
  "_NET_CLOSE_WINDOW",
  "_NET_WM_NAME",
  "_NET_WM_PID",
  "_NET_WM_PING",
  "_NET_WM_STATE",
  "_NET_WM_STATE_HIDDEN",
  "_NET_WM_STATE_FULLSCREEN",
  "_NET_WM_WINDOW_TYPE",
  "_NET_FRAME_EXTENTS",
  "_GTK_FRAME_EXTENTS",
  "_GTK_APPLICATION_ID",
  "_KDE_NET_WM_DESKTOP_FILE",
]

const ICONIC = 3
const POINTER_ROOT = 1
const LOCAL_CLIENT_PID = 2
