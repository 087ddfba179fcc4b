import { type Interfaces, type Ref, readInterfaces } from "./atspi.ts"
import { Reader } from "./dbus-read.ts"
import { WireError } from "./dbus-wire.ts"
import { packStates, type StateSet } from "./states.ts"

/** What an application says about one object in its answer to GetItems. */
export interface Item {
  readonly ref: Ref
  readonly path: string
  /** Its parent's path; the bus name is left out, since a parent elsewhere is a plug's socket. */
  readonly parent: string
  /** −1: the application lost it. */
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
 * The items of a little-endian `a((so)(so)(so)iiassusau)`. Most of them are objects that nobody sees and
 * nobody will ask about: at once only that is read which ties them together, word by word and without a call
 * for each, since all of it runs before anything of it could be compiled.
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
    // What leads out of the list leads back to its start, or before it.
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

/** Its members are only declared, and none is hard private: hundreds are made at once, and either would cost twice. */
class PackedItem implements Item {
  declare readonly path: string
  declare readonly parent: string
  declare readonly index: number
  declare readonly childCount: number
  declare readonly role: number
  declare readonly states: StateSet
  declare private readonly list: List
  declare private readonly bus: number
  /** Where its interfaces are; after them come name, role and description. */
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
    // Unlike a string, a list has no zero after it.
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

/** A short reply may be a view into the middle of what the socket delivered. */
function aligned(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 4 === 0) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
