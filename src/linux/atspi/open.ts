import type { Seen } from "../../adapter.ts"
import type { RefEntry } from "../../refmap.ts"
import { DBusError } from "../dbus/bus.ts"
import { isWindowId } from "../windowing/window.ts"
import { type Atspi, existing, parseRefKey, type Ref, ROOT_PATH } from "./atspi.ts"
import { has, STATE } from "./bits.ts"
import { originWithin } from "./coordinates.ts"
import { Element, isGone, LineElement, type Origin, type Parent } from "./element.ts"
import { LiveSource } from "./facts.ts"
import { isDrawnField } from "./sight.ts"
import { type Traits, traitsOf } from "./toolkits.ts"
import { walkElement } from "./walk.ts"

/** Finds the frame of an entry's window; for an entry of a menu, a frame of its process. */
export type FindFrame = (entry: RefEntry) => Promise<Element | undefined>

/** Reads an element again, and the current position of its surface: a popup may still move when it is first seen. */
export async function readAgain(atspi: Atspi, element: Element): Promise<Seen | undefined> {
  const { ref, origin, parent, index } = element
  if (element instanceof LineElement) {
    const { readLine } = await import("./page-texts.ts")
    return unlessMissing(() => readLine(atspi, element))
  }
  if (!origin.traits.coordinates) return describeElement(atspi, element)
  return unlessMissing(async () => {
    const now = await originWithin(atspi, ref, origin, async () => undefined)
    return describeElement(atspi, now === origin ? element : new Element(ref, now, parent, index))
  })
}

/** Describes one element exactly as a tree would. undefined: the element is gone. */
export async function describeElement(atspi: Atspi, element: Element): Promise<Seen | undefined> {
  const live = new LiveSource(atspi, element.origin, false)
  return unlessMissing(async () => {
    const [states, { seen, complete }] = await Promise.all([
      atspi.states(element.ref),
      walkElement(atspi, live, element),
    ])
    if (has(states, STATE.DEFUNCT)) {
      const role = await atspi.role(element.ref)
      if (!isDrawnField(element, { role, states })) return undefined
    }
    if (!complete) await atspi.states(element.ref)
    return seen
  })
}

/** Opens an element by its address, if the same process still answers there. */
export async function openAddress(
  atspi: Atspi,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Seen | undefined> {
  const ref = parseRefKey(entry.address ?? "")
  if (!ref) return undefined
  return unlessMissing(async () => {
    const [pid, origin, parent] = await Promise.all([
      atspi.pid(ref.bus),
      originOfApp(atspi, ref.bus, entry, findFrame),
      readParent(atspi, ref),
    ])
    if (pid !== entry.pid || !origin) return undefined
    const index = entry.path?.at(-1)
    const within = await originWithin(atspi, ref, origin, () => findFrame(entry))
    return describeElement(atspi, new Element(ref, within, parent, index))
  })
}

/** Opens an element by child indexes, from its frame down. */
export async function openPath(
  atspi: Atspi,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Seen | undefined> {
  const frame = isWindowId(entry.window_id) ? await findFrame(entry) : undefined
  if (!frame || frame.origin.pid !== entry.pid) return undefined
  return unlessMissing(async () => {
    let at = frame.ref
    for (const index of entry.path ?? []) {
      const child = await childOf(atspi, at, index, frame.origin.traits)
      if (!child) return undefined
      at = child
    }
    if (at === frame.ref) return describeElement(atspi, frame)
    const [parent, origin] = await Promise.all([
      readParent(atspi, at),
      originWithin(atspi, at, frame.origin, async () => frame),
    ])
    return describeElement(atspi, new Element(at, origin, parent, entry.path?.at(-1)))
  })
}

/** Opens the ancestor this many levels up. undefined: the element no longer has such an ancestor. */
export async function openAbove(
  atspi: Atspi,
  { ref, origin }: Element,
  levels: number,
): Promise<Element | undefined> {
  return unlessMissing(async () => {
    let at: Ref | undefined = ref
    for (let level = 0; at && level < levels; level++) at = await atspi.parent(at)
    return at && new Element(at, origin, await readParent(atspi, at))
  })
}

/** Opens an object that is known to be inside a frame. undefined: it is gone. */
export async function openIn(atspi: Atspi, frame: Element, ref: Ref): Promise<Element | undefined> {
  return unlessMissing(async () => {
    const [parent, origin] = await Promise.all([
      readParent(atspi, ref),
      originWithin(atspi, ref, frame.origin, async () => frame),
    ])
    return new Element(ref, origin, parent)
  })
}

/** By its index if that is reliable: a spreadsheet has too many children to list. */
async function childOf(atspi: Atspi, ref: Ref, index: number, traits: Traits): Promise<Ref | undefined> {
  if (!traits.childAtIndexMiscounts) return atspi.childAt(ref, index)
  const child = (await atspi.children(ref))[index]
  return child && existing(child)
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

/** The origin of an element opened by its address. Only window coordinates need the window. */
async function originOfApp(
  atspi: Atspi,
  bus: string,
  entry: RefEntry,
  findFrame: FindFrame,
): Promise<Origin | undefined> {
  const app = { bus, path: ROOT_PATH }
  const [toolkit, name] = await Promise.all([atspi.toolkit(app), atspi.name(app)])
  const known = entry.source_app ?? name
  // By the app's own name: the map may use another one.
  const traits = traitsOf(toolkit, name, await atspi.isNative?.(entry.pid))
  if (traits.coordinates) {
    const frame = await findFrame(entry)
    if (frame) return frame.origin
  }
  return {
    pid: entry.pid,
    app: known,
    traits,
    window: isWindowId(entry.window_id) ? entry.window_id : undefined,
    shift: traits.coordinates ? undefined : { x: 0, y: 0 },
  }
}

/** undefined for an object or process that does not exist; one that does not answer still fails. */
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
