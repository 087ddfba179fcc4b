import { readFileSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import type { Point, Rect } from "../../node.ts"
import { cut } from "../../shown-text.ts"
import type { Extents, TopWindow } from "../windowing/window.ts"
import type { X11 } from "./connection.ts"
import {
  geometryIn,
  geometryRequest,
  numbersOf,
  originIn,
  originRequest,
  propertyIn,
  propertyRequest,
  propertyText,
} from "./requests.ts"
import { type Packet, Request, XError } from "./wire.ts"

export interface XWindow extends Omit<TopWindow, "id" | "transientFor"> {
  readonly id: number
  /** The client's own window in root coordinates. AT-SPI's window coordinates count from its corner. */
  readonly bounds: Rect
  readonly frame: Rect
  readonly frameExtents?: Extents
  readonly transientFor?: number
}

/** Interns the atoms that describe windows, and finds the extension that knows pids. */
export async function learnAtoms(x: X11, deadline: Deadline): Promise<void> {
  const names = [...ATOMS, ...TYPES.map((type) => typeAtom(type))]
  await Promise.all([x.intern(names, deadline), x.extension("X-Resource", deadline)])
}

/** Describes the windows that still exist. The caller sets `focused`. */
export async function readWindows(x: X11, ids: readonly number[], deadline: Deadline): Promise<XWindow[]> {
  const [pids, places, facts] = await Promise.all([
    readPids(x, ids, deadline),
    x.askAll(
      ids.flatMap((id) => [geometryRequest(id), originRequest(x, id)]),
      deadline,
    ),
    readProperties(x, ids, [...OWNER, ...PROPERTIES], deadline),
  ])
  return facts.flatMap((fact, i) => {
    const [geometry, origin] = unlessAnyGone(places.slice(i * 2, i * 2 + 2)) ?? []
    return fact && geometry && origin ? describe(x, fact, geometryIn(geometry), originIn(origin), pids) : []
  })
}

/** Describes the windows of the same process as `id`, which must be among them. */
export async function processMates(
  x: X11,
  id: number,
  ids: readonly number[],
  deadline: Deadline,
): Promise<readonly number[]> {
  const [pids, facts] = await Promise.all([
    readPids(x, ids, deadline),
    readProperties(x, ids, OWNER, deadline),
  ])
  const owners = facts.map((fact) => fact && pidIn(x, fact, pids))
  const pid = owners[ids.indexOf(id)]
  return pid === undefined ? [] : ids.filter((_, i) => owners[i] === pid)
}

const OWNER = ["_NET_WM_PID", "WM_CLIENT_MACHINE"] as const

const PROPERTIES = [
  "_NET_WM_NAME",
  "WM_NAME",
  "WM_CLASS",
  "_NET_WM_STATE",
  "WM_STATE",
  "_NET_WM_WINDOW_TYPE",
  "WM_TRANSIENT_FOR",
  "_NET_FRAME_EXTENTS",
  "_GTK_FRAME_EXTENTS",
  "_GTK_APPLICATION_ID",
  "_KDE_NET_WM_DESKTOP_FILE",
] as const

type PropertyName = (typeof OWNER)[number] | (typeof PROPERTIES)[number]

interface WindowProperties {
  readonly id: number
  text(name: PropertyName): string | undefined
  numbers(name: PropertyName): readonly number[]
}

/** Reads all windows in one batch, which is faster than one by one. undefined: the window is gone. */
async function readProperties(
  x: X11,
  ids: readonly number[],
  names: readonly PropertyName[],
  deadline: Deadline,
): Promise<readonly (WindowProperties | undefined)[]> {
  const atoms = names.map((name) => x.atom(name))
  const replies = await x.askAll(
    ids.flatMap((id) => atoms.map((atom) => propertyRequest(id, atom))),
    deadline,
  )
  return ids.map((id, i) => {
    const own = unlessAnyGone(replies.slice(i * names.length, (i + 1) * names.length))
    if (!own) return undefined
    const property = (name: PropertyName) => {
      const reply = own[names.indexOf(name)]
      return reply && propertyIn(reply)
    }
    return {
      id,
      text: (name) => propertyText(x, property(name)),
      numbers: (name) => numbersOf(property(name)),
    }
  })
}

/** Returns undefined if the window is gone; rethrows every other error. */
function unlessAnyGone(replies: readonly (Packet | XError)[]): readonly Packet[] | undefined {
  const packets: Packet[] = []
  for (const reply of replies) {
    if (!(reply instanceof XError)) packets.push(reply)
    else if (reply.isGone) return undefined
    else throw reply
  }
  return packets
}

/** The process of a window. A window may claim any pid, so the X server's knowledge of its connection comes first. */
function pidIn(x: X11, facts: WindowProperties, pids: ReadonlyMap<number, number>): number | undefined {
  return pids.get(clientOf(x, facts.id)) || claimedPid(facts)
}

function claimedPid(facts: WindowProperties): number | undefined {
  const [pid] = facts.numbers("_NET_WM_PID")
  const machine = pid ? facts.text("WM_CLIENT_MACHINE") : undefined
  const isLocal = machine === undefined || machine === "localhost" || machine === hostName()
  return (isLocal && pid) || undefined
}

function describe(
  x: X11,
  facts: WindowProperties,
  geometry: ReturnType<typeof geometryIn>,
  origin: Point,
  pids: ReadonlyMap<number, number>,
): XWindow {
  const { id } = facts
  const bounds = { x: origin.x, y: origin.y, width: geometry.width, height: geometry.height }
  const [instance, className] = facts.text("WM_CLASS")?.split("\0").map(cut) ?? []
  const [transientFor] = facts.numbers("WM_TRANSIENT_FOR")
  const typeAtoms = facts.numbers("_NET_WM_WINDOW_TYPE")
  const types = typeAtoms.flatMap((atom) => TYPES.find((type) => x.isAtom(atom, typeAtom(type))) ?? [])
  const states = facts.numbers("_NET_WM_STATE")
  const frameExtents = toExtents(facts.numbers("_NET_FRAME_EXTENTS"))
  const gtkFrameExtents = toExtents(facts.numbers("_GTK_FRAME_EXTENTS"))
  const hidden = states.includes(x.atom("_NET_WM_STATE_HIDDEN"))
  return {
    id,
    title: cleanTitle(facts.text("_NET_WM_NAME") || facts.text("WM_NAME") || ""),
    pid: pidIn(x, facts, pids),
    isPidClaimed: !pids.get(clientOf(x, id)) || undefined,
    wmClass: instance === undefined ? undefined : { instance, className: className ?? "" },
    bounds,
    frame: visibleFrame(bounds, geometry.border, frameExtents, gtkFrameExtents),
    frameExtents,
    gtkFrameExtents,
    focused: false,
    minimized: hidden || (states.length === 0 && facts.numbers("WM_STATE")[0] === ICONIC),
    maximized: MAXIMIZED.every((state) => states.includes(x.atom(state))),
    modal: states.includes(x.atom("_NET_WM_STATE_MODAL")),
    types: types.length > 0 ? types : [transientFor ? "dialog" : "normal"],
    transientFor: transientFor || undefined,
    desktopFile: desktopFileId(facts.text("_GTK_APPLICATION_ID") || facts.text("_KDE_NET_WM_DESKTOP_FILE")),
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

// Applications put control bytes into titles by mistake. A line break must not split a line of output.
function cleanTitle(title: string): string {
  return cut(title)
    .replace(/[\x00-\x1f\x7f]+/g, " ")
    .trim()
}

function desktopFileId(value: string | undefined): string | undefined {
  return value ? value.replace(/^.*\//, "").replace(/\.desktop$/, "") : undefined
}

// X-Resource reads the pid of a connection from its socket.
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
  const reply = await x.ask(request, deadline).catch((error: unknown) => {
    // Versions before 1.2 do not know the request.
    if (error instanceof XError) return undefined
    throw error
  })
  const pids = new Map<number, number>()
  let at = 32
  for (let i = 0; reply && i < reply.u32(8); i++) {
    const length = reply.u32(at + 8)
    if (length >= 4) pids.set(clientOf(x, reply.u32(at)), reply.u32(at + 12))
    at += 12 + length
  }
  return pids
}

/** The connection that an id belongs to. */
export function clientOf(x: X11, id: number): number {
  return (id & ~x.setup.idMask) >>> 0
}

let host: string | undefined

function hostName(): string {
  host ??= readFileSync("/proc/sys/kernel/hostname", "latin1").trim()
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
  "_NET_WM_STATE_MODAL",
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
