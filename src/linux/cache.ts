import { type Atspi, readInterfaces, readRef, readRefs, readStates } from "./atspi.ts"
import { type Item, readPacked } from "./cache-items.ts"
import { DBusError, type Message, method, WireError } from "./dbus.ts"
import type { Reader } from "./dbus-read.ts"

export const CACHE_PATH = "/org/a11y/atspi/cache"

/** All objects of an application by path, in one call; undefined when it keeps no such cache. */
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
/** Before at-spi2-core 2.32 it listed the children. */
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
