import type { Deadline } from "../deadline.ts"
import type { Rect } from "../node.ts"
import type { X11 } from "./x11.ts"
import {
  getGeometry,
  getNumbers,
  getProperty,
  originOnRoot,
  propertyText,
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
   * What the user sees as the window, and what the contract calls its bounds: the client window plus its
   * border and the window manager's decorations, minus the invisible shadow that GTK draws inside its own window. Moving to X, Y puts
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

/** Interns what windows are described with, together with the extension that knows pids. */
export async function learnAtoms(x: X11, deadline: Deadline): Promise<void> {
  const names = [...ATOMS, ...TYPES.map((type) => typeAtom(type))]
  await Promise.all([x.intern(names, deadline), x.extension("X-Resource", deadline)])
}

/** Those of the windows that still exist; `focused` is for the caller to tell. */
export async function readWindows(x: X11, ids: readonly number[], deadline: Deadline): Promise<XWindow[]> {
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
    frame: visibleFrame(bounds, geometry.border, frameExtents, gtkFrameExtents),
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

function visibleFrame(client: Rect, border: number, frame?: Extents, shadow?: Extents): Rect {
  const beyond = (side: keyof Extents) => border + (frame?.[side] ?? 0) - (shadow?.[side] ?? 0)
  return {
    x: client.x - beyond("left"),
    y: client.y - beyond("top"),
    width: client.width + beyond("left") + beyond("right"),
    height: client.height + beyond("top") + beyond("bottom"),
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

// X-Resource knows the pid behind a connection from the socket itself.
export async function readPids(
  x: X11,
  ids: readonly number[],
  deadline: Deadline,
): Promise<Map<number, number>> {
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

/** Which connection an id belongs to. */
export function clientOf(x: X11, id: number): number {
  return (id & ~x.setup.idMask) >>> 0
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

export const MAXIMIZED = ["_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ"]

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
  "_NET_REQUEST_FRAME_EXTENTS",
  "_GTK_FRAME_EXTENTS",
  "_GTK_APPLICATION_ID",
  "_KDE_NET_WM_DESKTOP_FILE",
]

const ICONIC = 3
const LOCAL_CLIENT_PID = 2
