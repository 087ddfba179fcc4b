import type { Bus } from "../dbus/bus.ts"
import { INTERFACE, type Interfaces, type Ref, refKey } from "./atspi.ts"
import { ROLE } from "./roles.ts"

/**
 * What the class of an object decides. An object never changes its class. If the toolkit gives no later object the same
 * address either (see Traits.classesTell), one answer is enough for as long as the connection lasts.
 */
export class ClassFacts {
  readonly #interfaces = new Map<string, Interfaces>()
  readonly #leaves = new Set<string>()
  readonly #toggles = new Set<string>()

  static of(bus: Bus): ClassFacts {
    const known = all.get(bus)
    // Far more than a window shows.
    if (known && known.#interfaces.size < MOST_KNOWN) return known
    const fresh = new ClassFacts()
    all.set(bus, fresh)
    return fresh
  }

  interfaces(ref: Ref): Interfaces | undefined {
    return this.#interfaces.get(refKey(ref))
  }

  learn(ref: Ref, role: number, interfaces: Interfaces): void {
    const key = refKey(ref)
    this.#interfaces.set(key, interfaces)
    if (role === ROLE.TABLE_CELL && (interfaces & LEAF) !== 0) this.#leaves.add(key)
  }

  /** Notes a cell with an action `toggle`. */
  learnToggle(ref: Ref): void {
    this.#toggles.add(refKey(ref))
  }

  hasToggle(ref: Ref): boolean {
    return this.#toggles.has(refKey(ref))
  }

  /** True for a cell of a kind that has no children. */
  isLeaf(ref: Ref): boolean {
    const key = refKey(ref)
    return this.#leaves.has(key) || this.#toggles.has(key)
  }
}

/** The cells that hold others have neither. */
const LEAF = INTERFACE.Text | INTERFACE.Image
const MOST_KNOWN = 10_000
const all = new WeakMap<Bus, ClassFacts>()
