import type { Deadline } from "../../deadline.ts"
import type { Point, Rect } from "../../node.ts"
import {
  type Bus,
  DBUS,
  DBUS_PATH,
  type Message,
  type Method,
  method,
  readAs,
  WireError,
} from "../dbus/bus.ts"
import type { Reader } from "../dbus/read.ts"
import { INTERFACE, type Interfaces, packStates, type StateSet } from "./bits.ts"
import type { Traits } from "./toolkits.ts"

/** The AT-SPI interfaces as typed calls. Each is one round trip; many may be under way at once. */

/** One accessible object: the unique bus name of its process, and its path there. */
export interface Ref {
  readonly bus: string
  readonly path: string
}

export const ROOT_PATH = "/org/a11y/atspi/accessible/root"
export const NULL_PATH = "/org/a11y/atspi/null"
export const REGISTRY: Ref = { bus: "org.a11y.atspi.Registry", path: ROOT_PATH }

export { INTERFACE, type Interfaces } from "./bits.ts"

/** A connection to one app alone, and the app's name on the bus. */
export interface Direct {
  readonly name: string
  readonly connection: Bus
}

/** Answers to questions that were sent before they are asked; see read-again.ts. */
export interface Ahead {
  /** undefined: it was not sent. */
  take(ref: Ref, called: Method): Promise<Message> | undefined
}

/** Facts of some objects from the app's own list, read a moment ago. */
export interface Listed {
  item(ref: Ref): { readonly role: number; readonly states: StateSet; readonly name: string } | undefined
  /** undefined: the list does not have all children. */
  cachedChildren(ref: Ref): readonly { readonly ref: Ref }[] | undefined
}

export type IsNative = (pid: number) => Promise<boolean>

export class Atspi {
  /** The number of questions so far. */
  asked = 0
  /** Set once the list of the app is there. It spares questions about its objects. */
  listed: Listed | undefined
  readonly bus: Bus
  readonly deadline: Deadline

  /** True for a process with native Wayland windows. Absent: no process has any. */
  readonly isNative: IsNative | undefined

  readonly #direct: Direct | undefined
  readonly #ahead: Ahead | undefined

  /** All calls end at this deadline. Calls to one app may use a direct connection, past the bus. */
  constructor(bus: Bus, deadline: Deadline, isNative?: IsNative, direct?: Direct, ahead?: Ahead) {
    this.bus = bus
    this.deadline = deadline
    this.isNative = isNative
    this.#direct = direct
    this.#ahead = ahead
  }

  within(deadline: Deadline): Atspi {
    return new Atspi(this.bus, deadline, this.isNative, this.#direct)
  }

  /** The same, with a direct connection to one app. */
  past(direct: Direct): Atspi {
    return new Atspi(this.bus, this.deadline, this.isNative, direct)
  }

  /** The same, with answers to questions that were asked ahead. */
  ahead(ahead: Ahead): Atspi {
    return new Atspi(this.bus, this.deadline, this.isNative, this.#direct, ahead)
  }

  call(ref: Ref, called: Method): Promise<Message> {
    this.asked++
    return this.#wayTo(ref).call(called, ref.bus, ref.path, this.deadline)
  }

  ask<T>(ref: Ref, called: Method, read: (reply: Message) => T): Promise<T> {
    this.asked++
    const coming = this.#ahead?.take(ref, called)
    if (coming) return coming.then(read)
    return this.#wayTo(ref).ask(called, ref.bus, ref.path, this.deadline, read)
  }

  #wayTo({ bus }: Ref): Bus {
    return this.#direct?.name === bus ? this.#direct.connection : this.bus
  }

  children(ref: Ref): Promise<Ref[]> {
    return this.ask(ref, GET_CHILDREN, asRefs)
  }

  childAt(ref: Ref, index: number): Promise<Ref | undefined> {
    const listed = this.listed?.cachedChildren(ref)?.[index]
    return listed ? Promise.resolve(listed.ref) : this.ask(ref, GET_CHILD.with(index), asRef)
  }

  states(ref: Ref): Promise<StateSet> {
    const listed = this.listed?.item(ref)
    return listed ? Promise.resolve(listed.states) : this.ask(ref, GET_STATE, asStates)
  }

  role(ref: Ref): Promise<number> {
    const listed = this.listed?.item(ref)
    return listed ? Promise.resolve(listed.role) : this.ask(ref, GET_ROLE, asCount)
  }

  interfaces(ref: Ref): Promise<Interfaces> {
    return this.ask(ref, GET_INTERFACES, asInterfaces)
  }

  name(ref: Ref): Promise<string> {
    const listed = this.listed?.item(ref)
    return listed ? Promise.resolve(listed.name) : this.ask(ref, NAME, readText)
  }

  description(ref: Ref): Promise<string> {
    return this.ask(ref, DESCRIPTION, readText)
  }

  childCount(ref: Ref): Promise<number> {
    return this.ask(ref, CHILD_COUNT, readNumber)
  }

  parent(ref: Ref): Promise<Ref | undefined> {
    return this.ask(ref, PARENT, readParent)
  }

  /** In the screen's coordinates, or in those that the app's traits name. */
  extents(ref: Ref, coordinates?: Traits["coordinates"]): Promise<Rect> {
    return this.ask(ref, coordinates === "window" ? GET_EXTENTS_IN_WINDOW : GET_EXTENTS, asRect)
  }

  /** The place of a part of a text, in the same coordinates. */
  rangeExtents(ref: Ref, start: number, end: number, coordinates?: Traits["coordinates"]): Promise<Rect> {
    const type = coordinates === "window" ? WINDOW : SCREEN
    return this.ask(ref, GET_RANGE_EXTENTS.with(start, end, type), asNumbers)
  }

  attributes(ref: Ref): Promise<Map<string, string>> {
    return this.ask(ref, GET_ATTRIBUTES, asAttributes)
  }

  relations(ref: Ref): Promise<Relation[]> {
    return this.ask(ref, GET_RELATIONS, asRelations)
  }

  /** The object at a point, in the coordinates that extents uses. */
  at(ref: Ref, point: Point, coordinates?: Traits["coordinates"]): Promise<Ref | undefined> {
    const kind = coordinates === "window" ? WINDOW : SCREEN
    const called = GET_AT_POINT.with(point.x, point.y, kind)
    return this.ask(ref, called, asRef)
  }

  characterCount(ref: Ref): Promise<number> {
    return this.ask(ref, CHARACTER_COUNT, readNumber)
  }

  text(ref: Ref, start: number, end: number): Promise<string> {
    return this.ask(ref, GET_TEXT.with(start, end), asPlainText)
  }

  /** The offset of the character at a point of the screen; beyond the end, the number of characters. */
  offsetAt(ref: Ref, { x, y }: Point): Promise<number> {
    return this.ask(ref, OFFSET_AT.with(x, y, SCREEN), asIndex)
  }

  /** The place of a character on the screen. */
  characterExtents(ref: Ref, offset: number): Promise<Rect> {
    return this.ask(ref, CHARACTER_EXTENTS.with(offset, SCREEN), asNumbers)
  }

  currentValue(ref: Ref): Promise<number> {
    return this.ask(ref, CURRENT_VALUE, readNumber)
  }

  /** The untranslated names of its actions. GetActions translates, and crashes old bridges. */
  async actionNames(ref: Ref): Promise<string[]> {
    const count = Math.min(await this.ask(ref, N_ACTIONS, readNumber), MAX_ACTIONS)
    return Promise.all(Array.from({ length: Math.max(0, count) }, (_, index) => this.actionName(ref, index)))
  }

  actionName(ref: Ref, index: number): Promise<string> {
    return this.ask(ref, ACTION_NAME[index] ?? actionName(index), asText)
  }

  keyBinding(ref: Ref, action: number): Promise<string> {
    return this.ask(ref, action === 0 ? KEY_BINDING : KEY_BINDING.with(action), asText)
  }

  selectedChild(ref: Ref, index: number): Promise<Ref | undefined> {
    return this.ask(ref, index === 0 ? SELECTED_CHILD : SELECTED_CHILD.with(index), asRef)
  }

  cellAt(table: Ref, row: number, column: number): Promise<Ref | undefined> {
    return this.ask(table, CELL_AT.with(row, column), asRef)
  }

  indexInParent(ref: Ref): Promise<number> {
    return this.ask(ref, GET_INDEX, asIndex)
  }

  async tableSize(table: Ref): Promise<{ rows: number; columns: number }> {
    const [rows, columns] = await Promise.all([
      this.ask(table, N_ROWS, readNumber),
      this.ask(table, N_COLUMNS, readNumber),
    ])
    return { rows, columns }
  }

  toolkit(app: Ref): Promise<string> {
    return this.ask(app, TOOLKIT_NAME, readText)
  }

  /** Asks the bus, which knows it even if the app hangs. */
  pid(name: string): Promise<number> {
    const called = PROCESS_ID.with(name)
    return this.bus.ask(called, DBUS, DBUS_PATH, this.deadline, asCount)
  }
}

export interface Relation {
  readonly type: number
  readonly targets: readonly Ref[]
}

export function property(iface: string, name: string): Method {
  return method("org.freedesktop.DBus.Properties.Get", "ss", [`org.a11y.atspi.${iface}`, name])
}

export function refKey(ref: Ref): string {
  return ref.bus + ref.path
}

/** The inverse of refKey: `:1.23/org/a11y/…`. */
export function parseRefKey(key: string): Ref | undefined {
  const slash = key.indexOf("/")
  return slash > 0 ? { bus: key.slice(0, slash), path: key.slice(slash) } : undefined
}

export function existing(ref: Ref): Ref | undefined {
  return ref.path === NULL_PATH || ref.bus === "" ? undefined : ref
}

export function readRef(reader: Reader): Ref {
  reader.align(8)
  const bus = reader.string()
  return { bus, path: reader.string() }
}

export function readRefs(reader: Reader): Ref[] {
  return reader.array(8, readRef)
}

export function readStates(reader: Reader): StateSet {
  const end = reader.arrayEnd(4)
  const low = reader.at < end ? reader.u32() : 0
  const high = reader.at < end ? reader.u32() : 0
  reader.at = end
  return packStates(low, high)
}

/** The list of interface names as bits. Apps repeat a few lists, so the bytes are the key. */
export function readInterfaces(reader: Reader): Interfaces {
  const end = reader.arrayEnd(4)
  const at = reader.take(end - reader.at)
  const key = reader.bytes.latin1Slice(at, end)
  const known = seenLists.get(key)
  if (known !== undefined) return known
  reader.at = at
  let bits = 0
  while (reader.at < end) bits |= INTERFACE_BITS.get(reader.string()) ?? 0
  if (reader.at !== end) throw new WireError("array element crosses the end of its array")
  if (seenLists.size < MAX_LISTS) seenLists.set(key, bits)
  return bits
}

export function readRect(reader: Reader): Rect {
  reader.align(8)
  return { x: reader.i32(), y: reader.i32(), width: reader.i32(), height: reader.i32() }
}

/** A property that is text. Some toolkits send another type for a missing name: empty text. */
export function readText(reply: Message): string {
  const body = readAs(reply, "v")
  const signature = body.signature()
  return signature === "s" || signature === "o" ? body.string() : ""
}

export function readNumber(reply: Message): number {
  const body = readAs(reply, "v")
  const signature = body.signature()
  if (signature === "i") return body.i32()
  if (signature === "u") return body.u32()
  if (signature === "d") return body.f64()
  throw new WireError(`a property of type '${signature}' where a number was expected`)
}

const asRefs = (reply: Message): Ref[] => readRefs(readAs(reply, "a(so)"))
const asRef = (reply: Message): Ref | undefined => existing(readRef(readAs(reply, "(so)")))
const asStates = (reply: Message): StateSet => readStates(readAs(reply, "au"))
const asCount = (reply: Message): number => readAs(reply, "u").u32()
const asIndex = (reply: Message): number => readAs(reply, "i").i32()
const asInterfaces = (reply: Message): Interfaces => readInterfaces(readAs(reply, "as"))
const asRect = (reply: Message): Rect => readRect(readAs(reply, "(iiii)"))
/** Four numbers that are not a structure. */
const asNumbers = (reply: Message): Rect => readRect(readAs(reply, "iiii"))
const asText = (reply: Message): string => readAs(reply, "s").string()
/**
 * Without the mark that Firefox adds behind a character of two UTF-16 units, because it counts that as two characters.
 * Such a mark does not show, and means nothing there in any text.
 */
const asPlainText = (reply: Message): string => asText(reply).replaceAll(MARKED, "$1")
const MARKED = /([\u{10000}-\u{10ffff}])\ufeff/gu

function asAttributes(reply: Message): Map<string, string> {
  const pairs = readAs(reply, "a{ss}").array(8, (reader): [string, string] => {
    reader.align(8)
    return [reader.string(), reader.string()]
  })
  return new Map(pairs)
}

function asRelations(reply: Message): Relation[] {
  return readAs(reply, "a(ua(so))").array(8, (reader) => {
    reader.align(8)
    return { type: reader.u32(), targets: readRefs(reader) }
  })
}

function readParent(reply: Message): Ref | undefined {
  const body = readAs(reply, "v")
  if (body.signature() !== "(so)") throw new WireError("a parent that is not a reference")
  return existing(readRef(body))
}

/** ATSPI_COORD_TYPE_SCREEN */
const SCREEN = 0
/** ATSPI_COORD_TYPE_WINDOW */
const WINDOW = 1
const MAX_ACTIONS = 16
const MAX_LISTS = 1000
const seenLists = new Map<string, Interfaces>()
const INTERFACE_BITS = new Map<string, number>(
  Object.entries(INTERFACE).map(([name, bit]) => [`org.a11y.atspi.${name}`, bit]),
)

const GET_CHILDREN = method("org.a11y.atspi.Accessible.GetChildren")
const GET_STATE = method("org.a11y.atspi.Accessible.GetState")
const GET_ROLE = method("org.a11y.atspi.Accessible.GetRole")
const GET_INDEX = method("org.a11y.atspi.Accessible.GetIndexInParent")
const GET_INTERFACES = method("org.a11y.atspi.Accessible.GetInterfaces")
const GET_ATTRIBUTES = method("org.a11y.atspi.Accessible.GetAttributes")
const GET_RELATIONS = method("org.a11y.atspi.Accessible.GetRelationSet")
const GET_EXTENTS = method("org.a11y.atspi.Component.GetExtents", "u", [SCREEN])
const GET_EXTENTS_IN_WINDOW = method("org.a11y.atspi.Component.GetExtents", "u", [WINDOW])
const GET_CHILD = method("org.a11y.atspi.Accessible.GetChildAtIndex", "i", [0])
const GET_AT_POINT = method("org.a11y.atspi.Component.GetAccessibleAtPoint", "iiu", [0, 0, SCREEN])
const GET_RANGE_EXTENTS = method("org.a11y.atspi.Text.GetRangeExtents", "iiu", [0, 0, SCREEN])
const GET_TEXT = method("org.a11y.atspi.Text.GetText", "ii", [0, 0])
const CHARACTER_EXTENTS = method("org.a11y.atspi.Text.GetCharacterExtents", "iu", [0, SCREEN])
const OFFSET_AT = method("org.a11y.atspi.Text.GetOffsetAtPoint", "iiu", [0, 0, SCREEN])
const KEY_BINDING = method("org.a11y.atspi.Action.GetKeyBinding", "i", [0])
const SELECTED_CHILD = method("org.a11y.atspi.Selection.GetSelectedChild", "i", [0])
const CELL_AT = method("org.a11y.atspi.Table.GetAccessibleAt", "ii", [0, 0])
const PROCESS_ID = method(`${DBUS}.GetConnectionUnixProcessID`, "s", [""])
const NAME = property("Accessible", "Name")
const DESCRIPTION = property("Accessible", "Description")
const CHILD_COUNT = property("Accessible", "ChildCount")
const PARENT = property("Accessible", "Parent")
const CHARACTER_COUNT = property("Text", "CharacterCount")
const CURRENT_VALUE = property("Value", "CurrentValue")
const N_ACTIONS = property("Action", "NActions")
const actionName = (index: number): Method => method("org.a11y.atspi.Action.GetName", "i", [index])
const ACTION_NAME = [0, 1, 2].map(actionName)
const N_ROWS = property("Table", "NRows")
const N_COLUMNS = property("Table", "NColumns")
const TOOLKIT_NAME = property("Application", "ToolkitName")
