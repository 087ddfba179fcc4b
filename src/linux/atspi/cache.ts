import type { Rect } from "../../node.ts"
import { DBusError, type Message, method } from "../dbus/bus.ts"
import { Reader } from "../dbus/read.ts"
import { WireError } from "../dbus/wire.ts"
import {
  type Atspi,
  type Interfaces,
  type Ref,
  readInterfaces,
  readRef,
  readRefs,
  readStates,
} from "./atspi.ts"
import { has, packStates, STATE, type StateSet } from "./bits.ts"
import type { Child, Facts, LiveSource, Look, Maybe, Source } from "./facts.ts"
import { ROLE } from "./roles.ts"

export const CACHE_PATH = "/org/a11y/atspi/cache"

/** Reads all objects of an app, by path, in one call. undefined: the app keeps no cache. */
export async function readCache(atspi: Atspi, bus: string): Promise<Map<string, Item> | undefined> {
  try {
    return parseItems(await atspi.call({ bus, path: CACHE_PATH }, GET_ITEMS))
  } catch (error) {
    if (error instanceof DBusError && UNKNOWN.has(error.code)) return undefined
    throw error
  }
}

export function parseItems(reply: Message): Map<string, Item> {
  const { body } = reply
  const items = new Map<string, Item>()
  if (reply.signature === ITEMS) {
    if (body.little) return readPacked(body)
    const end = body.arrayEnd(8)
    while (body.at < end) addItem(items, readItem(body))
    return items
  }
  if (reply.signature !== OLD_ITEMS) throw new WireError(`cache items of type '${reply.signature}'`)
  for (const item of body.array(8, readOldItem)) addItem(items, item)
  return items
}

const GET_ITEMS = method("org.a11y.atspi.Cache.GetItems")
const ITEMS = "a((so)(so)(so)iiassusau)"
/** The form before at-spi2-core 2.32, which lists the children. */
const OLD_ITEMS = "a((so)(so)(so)a(so)assusau)"

const UNKNOWN: ReadonlySet<string> = new Set(
  ["UnknownMethod", "UnknownObject", "UnknownInterface"].map((name) => `org.freedesktop.DBus.Error.${name}`),
)

function addItem(items: Map<string, Item>, item: Item): void {
  items.set(item.path, item)
}

function readItem(reader: Reader): Item {
  const ref = readRef(reader)
  skipRef(reader)
  const parent = readPath(reader)
  const index = reader.i32()
  const childCount = reader.i32()
  return { ref, path: ref.path, parent, index, childCount, ...readRest(reader) }
}

function readOldItem(reader: Reader): Item {
  const ref = readRef(reader)
  skipRef(reader)
  const parent = readPath(reader)
  const children = readRefs(reader)
  return { ref, path: ref.path, parent, index: -1, childCount: children.length, ...readRest(reader) }
}

function readRest(reader: Reader): Pick<Item, "interfaces" | "name" | "role" | "description" | "states"> {
  const interfaces = readInterfaces(reader)
  const name = reader.string()
  const role = reader.u32()
  const description = reader.string()
  return { interfaces, name, role, description, states: readStates(reader) }
}

function skipRef(reader: Reader): void {
  reader.align(8)
  reader.skipString()
  reader.skipString()
}

function readPath(reader: Reader): string {
  reader.align(8)
  reader.skipString()
  return reader.string()
}

/** A copy of an app's cache as a source. The app is asked for what is missing in it. */
export class CachedSource implements Source {
  readonly #items: ReadonlyMap<string, Item>
  readonly #below: ReadonlyMap<string, readonly Item[]>
  readonly #live: LiveSource
  readonly #bus: string
  readonly #saysShowing: boolean
  /** Children that the app listed on demand, since the cache did not have them. */
  readonly #listed: ReadonlyMap<string, readonly Child[]>
  readonly #extents: ReadonlyMap<string, Rect>

  constructor(
    bus: string,
    items: ReadonlyMap<string, Item>,
    live: LiveSource,
    known: {
      saysShowing?: boolean
      listed?: ReadonlyMap<string, readonly Child[]>
      extents?: ReadonlyMap<string, Rect>
    } = {},
  ) {
    this.#bus = bus
    this.#items = items
    this.#below = groupByParent(items)
    this.#live = live
    this.#saysShowing = known.saysShowing ?? true
    this.#listed = known.listed ?? new Map()
    this.#extents = known.extents ?? new Map()
  }

  look(ref: Ref, sparing: boolean): Maybe<Look> {
    return this.item(ref) ?? this.#live.look(ref, sparing)
  }

  facts(ref: Ref, look: Look): Maybe<Facts> {
    const item = this.item(ref)
    if (!item) return this.#live.facts(ref, look)
    const { role, states, name, description, childCount } = item
    const interfaces = this.#live.fixedInterfaces(role, states) ?? item.interfaces
    const extents = this.#extents.get(ref.path)
    const facts = { role, states, interfaces, name, description, childCount, extents }
    // A popover that is just opening has no name yet, and can be recognized only by its name.
    const isNamedLate = !this.#saysShowing && role === ROLE.FILLER && name === ""
    return isNamedLate ? this.#live.facts(ref, look).then((now) => ({ ...facts, name: now.name })) : facts
  }

  children(ref: Ref, showing: boolean): Maybe<readonly Child[]> {
    if (showing && this.#saysShowing && this.#isClosed(ref)) return []
    const isShut = showing && this.#isShut(ref)
    const keep = (children: readonly Child[]): readonly Child[] =>
      isShut ? children.filter((child) => this.#isPopup(child)) : children
    const cached = this.cachedChildren(ref)
    return cached ? keep(cached) : this.#live.children(ref).then(keep)
  }

  item(ref: Ref): Item | undefined {
    return ref.bus === this.#bus ? this.#items.get(ref.path) : undefined
  }

  /** undefined: the cache does not have exactly as many children as the object reports. */
  cachedChildren(ref: Ref): readonly Child[] | undefined {
    const listed = this.#listed.get(ref.path)
    const item = listed ? undefined : this.item(ref)
    if (!item) return listed
    const items = this.#below.get(ref.path) ?? []
    if (items.length !== item.childCount) return undefined
    const isWhole = items.every((child, index) => child.index === index && !this.#isStackPage(child))
    return isWhole ? items.map((child) => ({ ref: child.ref, index: child.index })) : undefined
  }

  /** The items of a menu have no order in GTK 3's cache, but those of a closed menu need not be listed. */
  #isClosed(ref: Ref): boolean {
    if (this.item(ref)?.role !== ROLE.MENU) return false
    const items = this.#below.get(ref.path) ?? []
    return items.length > 0 && items.every(({ states }) => !has(states, STATE.SHOWING))
  }

  /** True for an object without width or height, which cuts off its content, e.g. a bar that slid away. */
  #isShut({ path }: Ref): boolean {
    const room = this.#extents.get(path)
    return room !== undefined && (room.width <= 0 || room.height <= 0)
  }

  /** A popover is a window of its own, and is never cut off. */
  #isPopup({ ref }: Child): boolean {
    const item = this.item(ref)
    return item?.role === ROLE.MENU || /Popover\w*$/.test(item?.name ?? "")
  }

  /** GTK 4 caches the pages of a stack between the stack and its children, and gives the child a wrong index. */
  #isStackPage(item: Item): boolean {
    const [only] = this.#below.get(item.path) ?? []
    return item.childCount === 1 && only !== undefined && only.index !== 0
  }
}

function groupByParent(items: ReadonlyMap<string, Item>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items.values()) {
    const group = groups.get(item.parent)
    if (group) group.push(item)
    else groups.set(item.parent, [item])
  }
  for (const group of groups.values()) group.sort((a, b) => a.index - b.index)
  return groups
}

/** One object in the answer to GetItems. */
export interface Item {
  readonly ref: Ref
  readonly path: string
  /** The path of its parent. A parent with another bus name is the socket of a plug, and of no use here. */
  readonly parent: string
  /** −1: the app does not know it. */
  readonly index: number
  /** −1: not counted. */
  readonly childCount: number
  readonly interfaces: Interfaces
  readonly name: string
  readonly role: number
  readonly description: string
  readonly states: StateSet
}

/**
 * The items of a little-endian `a((so)(so)(so)iiassusau)`. Most of them are hidden and never asked about. So only
 * the members that link them are read at once, word by word and without a call for each: this code runs before the
 * engine has compiled it.
 */
export function readPacked({ bytes: message, at: start, end }: Reader): Map<string, Item> {
  const bytes = aligned(message.subarray(start, end))
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  const stop = FIRST + (words[0] ?? 0)
  if (stop > bytes.length) throw crossing()
  const list = { bytes, words }
  const items = new Map<string, Item>()
  for (let at = FIRST; at < stop; ) {
    const bus = (at + 7) & ~7
    const path = (bus + 8 + words[bus >> 2]!) & ~3
    const pathEnd = path + 4 + words[path >> 2]!
    const app = (pathEnd + 8) & ~7
    const appPath = (app + 8 + words[app >> 2]!) & ~3
    const parentBus = (appPath + 12 + words[appPath >> 2]!) & ~7
    const parent = (parentBus + 8 + words[parentBus >> 2]!) & ~3
    const parentEnd = parent + 4 + words[parent >> 2]!
    const index = (parentEnd + 4) & ~3
    const name = (index + 15 + words[(index >> 2) + 2]!) & ~3
    const role = (name + 8 + words[name >> 2]!) & ~3
    const states = (role + 12 + words[(role >> 2) + 1]!) & ~3
    const next = states + 4 + words[states >> 2]!
    // A length that leads out of the list makes an offset that does not grow.
    const isWithin = bus < path && path < app && app < appPath && appPath < parentBus && parentBus < parent
    if (!(isWithin && parent < index && index < name && name < role && role < states)) throw crossing()
    if (!(states < next && next <= stop)) throw crossing()
    at = next
    const key = bytes.utf8Slice(path + 4, pathEnd)
    const high = next - states > 8 ? words[(states >> 2) + 2]! : 0
    items.set(
      key,
      new PackedItem(
        list,
        bus,
        key,
        bytes.utf8Slice(parent + 4, parentEnd),
        words[index >> 2]! | 0,
        words[(index >> 2) + 1]! | 0,
        words[role >> 2]!,
        next - states > 4 ? packStates(words[(states >> 2) + 1]!, high) : 0,
        index + 8,
      ),
    )
  }
  return items
}

interface List {
  readonly bytes: Buffer
  readonly words: Uint32Array
}

/** Its members are only declared, and not hard private: hundreds are made at once, and both cost twice as much. */
class PackedItem implements Item {
  declare readonly path: string
  declare readonly parent: string
  declare readonly index: number
  declare readonly childCount: number
  declare readonly role: number
  declare readonly states: StateSet
  declare private readonly list: List
  declare private readonly bus: number
  /** The offset of its interfaces. Name, role and description follow. */
  declare private readonly rest: number

  constructor(
    list: List,
    bus: number,
    path: string,
    parent: string,
    index: number,
    childCount: number,
    role: number,
    states: StateSet,
    rest: number,
  ) {
    this.list = list
    this.bus = bus
    this.path = path
    this.parent = parent
    this.index = index
    this.childCount = childCount
    this.role = role
    this.states = states
    this.rest = rest
  }

  get ref(): Ref {
    const { bytes, words } = this.list
    return { bus: textAt(bytes, words, this.bus), path: this.path }
  }

  get interfaces(): Interfaces {
    return readInterfaces(new Reader(this.list.bytes, true, this.rest))
  }

  get name(): string {
    const { bytes, words } = this.list
    return textAt(bytes, words, this.nameAt)
  }

  get description(): string {
    const { bytes, words } = this.list
    const name = this.nameAt
    return textAt(bytes, words, ((name + 8 + words[name >> 2]!) & ~3) + 4)
  }

  private get nameAt(): number {
    // Unlike a string, a list does not end in a zero.
    return (this.rest + 7 + this.list.words[this.rest >> 2]!) & ~3
  }
}

/** The list's length, and padding to its first struct. */
const FIRST = 8

function textAt(bytes: Buffer, words: Uint32Array, at: number): string {
  const length = words[at >> 2] ?? 0
  return length === 0 ? "" : bytes.utf8Slice(at + 4, at + 4 + length)
}

const crossing = (): WireError => new WireError("a cache item crosses the end of its list")

/** A short reply may be a view into the middle of the bytes that the socket delivered. */
function aligned(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 4 === 0) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
