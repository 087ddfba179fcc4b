import type { Hit, Seen } from "../../adapter.ts"
import type { Point, Rect } from "../../node.ts"
import type { RefEntry } from "../../refmap.ts"
import { pause } from "../../until.ts"
import { DBusError } from "../dbus/bus.ts"
import { type Atspi, existing, parseRefKey, type Ref, ROOT_PATH, refKey } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { placeWithin } from "./coordinates.ts"
import { Element, isGone, type Parent, type Place, unlessRefused } from "./element.ts"
import { LiveSource } from "./facts.ts"
import { WINDOW_ROLES } from "./frames.ts"
import { cleanName } from "./names.ts"
import { kindOf, ROLE, roleOf } from "./roles.ts"
import { traitsOf } from "./toolkits.ts"
import { walkTree } from "./walk.ts"

/** The frame of the window that an entry is from, or for a menu's one of its process. */
export type FindFrame = (entry: RefEntry) => Promise<Element | undefined>

/** Reads an element anew, and where its surface is by now: a popup may still be on its way when it is first seen. */
export async function readAnew(atspi: Atspi, element: Element): Promise<Seen | undefined> {
  const { ref, place, parent, index } = element
  if (place.toolkit !== "GTK") return readElement(atspi, element)
  return unlessMissing(async () => {
    const now = await placeWithin(atspi, ref, place, async () => undefined)
    return readElement(atspi, now === place ? element : new Element(ref, now, parent, index))
  })
}

/** With the words that a tree would have for it. undefined: it is gone. */
export async function readElement(atspi: Atspi, element: Element): Promise<Seen | undefined> {
  const live = new LiveSource(atspi, element.place.toolkit, false)
  return unlessMissing(async () => {
    const [states, { root, complete }] = await Promise.all([
      atspi.states(element.ref),
      walkTree(atspi, live, element, ONLY_IT),
    ])
    if (has(states, STATE.DEFUNCT)) return undefined
    if (!complete) await atspi.states(element.ref)
    const { children: _, children_count: __, ...seen } = root
    return seen
  })
}

/** Deep enough for its own name, and not a node further. */
const ONLY_IT = {
  maxDepth: -1,
  bounds: "interactive",
  includeHidden: false,
  interactiveOnly: false,
  counts: false,
} as const

/** By the object's own address, as long as it is still the same process that answers there. */
export async function openAddress(
  atspi: Atspi,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Seen | undefined> {
  const ref = parseRefKey(entry.address ?? "")
  if (!ref) return undefined
  return unlessMissing(async () => {
    const [pid, place, parent] = await Promise.all([
      atspi.pid(ref.bus),
      placeOfApp(atspi, ref.bus, entry, findFrame),
      readParent(atspi, ref),
    ])
    if (pid !== entry.pid || !place) return undefined
    const index = entry.path?.at(-1)
    const within = await placeWithin(atspi, ref, place, () => findFrame(entry))
    return readElement(atspi, new Element(ref, within, parent, index))
  })
}

/** By child indexes from the frame down. */
export async function openPath(
  atspi: Atspi,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Seen | undefined> {
  const frame = entry.window_id?.startsWith("w-") ? await findFrame(entry) : undefined
  if (!frame || frame.place.pid !== entry.pid) return undefined
  return unlessMissing(async () => {
    let at = frame.ref
    for (const index of entry.path ?? []) {
      const child = await childOf(atspi, at, index, frame.place)
      if (!child) return undefined
      at = child
    }
    if (at === frame.ref) return readElement(atspi, frame)
    const [parent, place] = await Promise.all([
      readParent(atspi, at),
      placeWithin(atspi, at, frame.place, async () => frame),
    ])
    return readElement(atspi, new Element(at, place, parent, entry.path?.at(-1)))
  })
}

/** The ancestor so many levels up; undefined: there is none any more. */
export async function openAbove(
  atspi: Atspi,
  { ref, place }: Element,
  levels: number,
): Promise<Element | undefined> {
  return unlessMissing(async () => {
    let at: Ref | undefined = ref
    for (let level = 0; at && level < levels; level++) at = await atspi.parent(at)
    return at && new Element(at, place, await readParent(atspi, at))
  })
}

/** Whether the topmost object at a point of the screen is the element or a part of it. */
export async function hitElement(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  const hit = await hitSurely(atspi, element, point)
  // GTK 4 asks itself what a click would reach; the others name the first object at a point, the lowest.
  if (hit.kind === "occluded" || element.place.toolkit === "GTK") return hit
  const above = await findAbove(atspi, element, point)
  return above ? { kind: "occluded", by: await wordsFor(atspi, above) } : hit
}

/** Chromium guesses, and asks the page meanwhile: what it says a little later is true. */
async function hitSurely(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  let hit = await hitByToolkit(atspi, element, point)
  if (element.place.toolkit !== "Chromium") return hit
  for (let asked = 0; asked < 2 && hit.kind !== "occluded"; asked++) {
    await pause(PAGE_MS, atspi.deadline)
    hit = await hitByToolkit(atspi, element, point)
  }
  return hit
}

const PAGE_MS = 50

async function hitByToolkit(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  const { toolkit, shift } = element.place
  if (!shift) return { kind: "unknown" }
  const local = { x: Math.round(point.x - shift.x), y: Math.round(point.y - shift.y) }
  const key = refKey(element.ref)
  const surface = await surfaceOf(atspi, element.ref)
  let top = surface
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const below = await unlessRefused(atspi.at(top, local, toolkit))
    if (!below || refKey(below) === refKey(top)) break
    if (refKey(below) === key) return { kind: "hit" }
    top = below
  }
  if (refKey(top) === key || (await isWithin(atspi, top, element.ref))) return { kind: "hit" }
  if (await isOutOfView(atspi, element, local)) return { kind: "occluded", by: "the edge of what it is in" }
  // A toolkit that stops above the element has not said what is on top, only what is not.
  if (refKey(top) === refKey(surface) || (await isWithin(atspi, element.ref, top))) {
    const isCut = await isCutOff(atspi, element, surface, local)
    return isCut ? { kind: "occluded", by: "the edge of what it is in" } : { kind: "unknown" }
  }
  // LibreOffice mixes two coordinate systems.
  if (element.place.app === "soffice" || (await isLike(atspi, top, element.ref))) return { kind: "unknown" }
  return { kind: "occluded", by: await wordsFor(atspi, top) }
}

async function wordsFor(atspi: Atspi, ref: Ref): Promise<string> {
  const [name, role] = await Promise.all([atspi.name(ref), atspi.role(ref)])
  return [roleOf(role), cleanName(name)].filter(Boolean).join(" ")
}

/** What comes after the element, or after something that it is in, and shows at the same point. */
async function findAbove(atspi: Atspi, { ref, place }: Element, point: Point): Promise<Ref | undefined> {
  if (place.app === "soffice") return undefined
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = await unlessRefused(atspi.parent(at))
    if (!parent || WINDOW_ROLES.has(await atspi.role(parent))) return undefined
    const count = await atspi.childCount(parent)
    const siblings = count > 1 && count <= MOST_SIBLINGS ? await atspi.children(parent) : []
    const later = siblings.slice((await indexOf(atspi, siblings, at)) + 1)
    const shown = await Promise.all(later.map((one) => showsAt(atspi, one, point, place)))
    const above = later[shown.indexOf(true)]
    if (above) return above
    at = parent
  }
  return undefined
}

const MOST_SIBLINGS = 100

/** By what shows in its place where it is listed by another address than it was asked by; else behind all of them. */
async function indexOf(atspi: Atspi, siblings: readonly Ref[], ref: Ref): Promise<number> {
  const index = siblings.findIndex((one) => refKey(one) === refKey(ref))
  if (index >= 0) return index
  const alike = (await Promise.all(siblings.map((one) => isLike(atspi, one, ref)))).indexOf(true)
  return alike >= 0 ? alike : siblings.length
}

const SOLID_ROLES: ReadonlySet<number> = new Set([
  ROLE.ALERT,
  ROLE.CHECK_BOX,
  ROLE.COMBO_BOX,
  ROLE.DIALOG,
  ROLE.ENTRY,
  ROLE.LIST_BOX,
  ROLE.MENU,
  ROLE.PUSH_BUTTON,
  ROLE.RADIO_BUTTON,
  ROLE.SLIDER,
  ROLE.TOGGLE_BUTTON,
])

async function showsAt(atspi: Atspi, ref: Ref, point: Point, { toolkit }: Place): Promise<boolean> {
  const [states, role] = await Promise.all([unlessRefused(atspi.states(ref)), unlessRefused(atspi.role(ref))])
  if (states === undefined || role === undefined || !has(states, STATE.SHOWING)) return false
  // Lines of text, and boxes around them, overlap in pages without covering each other.
  if (toolkit === "Chromium" && !SOLID_ROLES.has(role)) return false
  const extents = await unlessRefused(atspi.extents(ref))
  return extents !== undefined && contains(extents, point)
}

/** The same where a popup of the application is above its window at the point. */
export async function hitInPopup(atspi: Atspi, element: Element, point: Point): Promise<Hit> {
  if (!(await isInPopup(atspi, element))) return { kind: "occluded", by: "a popup of the same app" }
  const hit = await hitElement(atspi, element, point)
  // Asked for the point, most toolkits tell what is below the popup.
  return hit.kind === "occluded" ? { kind: "unknown" } : hit
}

async function isInPopup(atspi: Atspi, { ref, place }: Element): Promise<boolean> {
  // A browser's popups hang on nothing that would tell.
  if (place.toolkit === "Chromium") return true
  let at = await unlessRefused(atspi.parent(ref))
  for (let depth = 0; at && depth < MAX_DEPTH; depth++) {
    const [role, states, name, above]: [number, number, string, Ref | undefined] = await Promise.all([
      atspi.role(at),
      atspi.states(at),
      atspi.name(at),
      atspi.parent(at),
    ])
    if (POPUP_ROLES.has(role)) return true
    if (kindOf(role, states, false, ROLE.INVALID, { toolkit: place.toolkit, name }).role === "popover")
      return true
    at = above
  }
  return false
}

/** What shows in a window of its own, or has its list in one. */
const POPUP_ROLES: ReadonlySet<number> = new Set([ROLE.MENU, ROLE.POPUP_MENU, ROLE.WINDOW, ROLE.COMBO_BOX])

/** LibreOffice says of rows that are scrolled away where they would be, which may be on top of something else. */
async function isOutOfView(atspi: Atspi, { ref, place }: Element, point: Point): Promise<boolean> {
  if (place.app !== "soffice") return false
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH && ROWS.has(await atspi.role(at)); depth++) {
    const above = await unlessRefused(atspi.parent(at))
    if (!above) return false
    at = above
  }
  const extents = refKey(at) === refKey(ref) ? undefined : await unlessRefused(atspi.extents(at))
  return extents !== undefined && extents.width > 0 && !contains(extents, point)
}

const ROWS: ReadonlySet<number> = new Set([ROLE.TREE_ITEM, ROLE.LIST_ITEM])

/** Whether something around the element, such as the pane it scrolls in, ends before the point. */
async function isCutOff(atspi: Atspi, { ref, place }: Element, surface: Ref, point: Point): Promise<boolean> {
  // Its own coordinates and those of the native widgets around them do not agree.
  if (place.app === "soffice") return false
  let at = await unlessRefused(atspi.parent(ref))
  for (let depth = 0; at && refKey(at) !== refKey(surface) && depth < MAX_DEPTH; depth++) {
    const [extents, above]: [Rect | undefined, Ref | undefined] = await Promise.all([
      unlessRefused(atspi.extents(at, place.toolkit)),
      unlessRefused(atspi.parent(at)),
    ])
    const hasRoom = extents && extents.width > 0 && extents.height > 0 && extents.x > -0x7ffffff0
    if (hasRoom && !contains(extents, point)) return true
    at = above
  }
  return false
}

const contains = ({ x, y, width, height }: Rect, point: Point): boolean =>
  point.x >= x && point.y >= y && point.x < x + width && point.y < y + height

/** Qt makes a new object for a row whenever it is asked. */
async function isLike(atspi: Atspi, one: Ref, other: Ref): Promise<boolean> {
  const read = (ref: Ref) => Promise.all([atspi.role(ref), unlessRefused(atspi.extents(ref))])
  const [[role, a], [otherRole, b]] = await Promise.all([read(one), read(other)])
  return (
    role === otherRole && a?.x === b?.x && a?.y === b?.y && a?.width === b?.width && a?.height === b?.height
  )
}

const MAX_DEPTH = 50

/** The window, dialog or menu that an element is in: what has a surface of its own on the screen. */
async function surfaceOf(atspi: Atspi, ref: Ref): Promise<Ref> {
  let at = ref
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = await unlessRefused(atspi.parent(at))
    if (!parent) return at
    const role = await atspi.role(parent)
    if (role === ROLE.APPLICATION) return at
    at = parent
    if (WINDOW_ROLES.has(role) || role === ROLE.POPUP_MENU) return at
  }
  return at
}

/** GTK 4 counts other children in GetChildAtIndex than it lists; Calc can list none. */
async function childOf(atspi: Atspi, ref: Ref, index: number, { toolkit }: Place): Promise<Ref | undefined> {
  if (toolkit !== "GTK") return atspi.childAt(ref, index)
  const child = (await atspi.children(ref))[index]
  return child && existing(child)
}

async function isWithin(atspi: Atspi, inner: Ref, outer: Ref): Promise<boolean> {
  let at: Ref | undefined = inner
  for (let depth = 0; at && depth < MAX_DEPTH; depth++) {
    if (refKey(at) === refKey(outer)) return true
    at = await atspi.parent(at).catch(() => undefined)
  }
  return false
}

async function readParent(atspi: Atspi, ref: Ref): Promise<Parent | undefined> {
  const parent = await atspi.parent(ref)
  if (!parent) return undefined
  const [role, states, size] = await Promise.all([
    atspi.role(parent),
    atspi.states(parent),
    atspi.childCount(parent).catch(() => -1),
  ])
  return { ref: parent, role, states, size }
}

/** What an address alone does not tell: only GTK 4 needs its window to know where on the screen it is. */
async function placeOfApp(
  atspi: Atspi,
  bus: string,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Place | undefined> {
  const app = { bus, path: ROOT_PATH }
  const [toolkit, name] = await Promise.all([atspi.toolkit(app), atspi.name(app)])
  if (toolkit === "GTK") {
    const frame = await findFrame(entry)
    if (frame) return frame.place
  }
  const known = entry.source_app ?? name
  return {
    pid: entry.pid,
    app: known,
    toolkit,
    traits: traitsOf(toolkit, known),
    window: entry.window_id?.startsWith("w-") ? Number(entry.window_id.slice(2)) : undefined,
    shift: toolkit === "GTK" ? undefined : { x: 0, y: 0 },
  }
}

/** An object or process that is not there is an answer; one that does not answer is not. */
async function unlessMissing<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isGone(error) || (error instanceof DBusError && NO_OBJECT.has(error.code))) return undefined
    throw error
  }
}

const NO_OBJECT: ReadonlySet<string> = new Set(
  ["UnknownObject", "UnknownMethod", "UnknownInterface"].map((name) => `org.freedesktop.DBus.Error.${name}`),
)
