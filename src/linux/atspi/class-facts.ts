import type { Bus } from "../dbus/bus.ts"
import { INTERFACE, type Interfaces, type Ref, refKey } from "./atspi.ts"
import { ROLE } from "./roles.ts"

/**
 * Facts that follow from the class of an object. An object never changes its class. If the toolkit gives no later object the same
 * address either (see Traits.classesTell), one answer is enough for as long as the connection lasts.
 */
export class ClassFacts {
  readonly #interfaces = new Map<string, Interfaces>()
  readonly #leafClasses = new Set<string>()
  readonly #childless = new Set<string>()
  readonly #toggles = new Set<string>()

  static of(bus: Bus): ClassFacts {
    const known = all.get(bus)
    // Far more than a window shows.
    if (known && known.#interfaces.size + known.#childless.size < MOST_KNOWN) return known
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
    if (role === ROLE.TABLE_CELL && isLeafClass(interfaces)) this.#leafClasses.add(key)
  }

  /** Notes an object that has just listed no children. */
  learnChildless(ref: Ref): void {
    this.#childless.add(refKey(ref))
  }

  /** Notes a cell with an action `toggle`. */
  learnToggle(ref: Ref): void {
    this.#toggles.add(refKey(ref))
  }

  hasToggle(ref: Ref): boolean {
    return this.#toggles.has(refKey(ref))
  }

  /** True for a cell that has no children, and is of a class that never has any. */
  isLeaf(ref: Ref): boolean {
    const key = refKey(ref)
    return this.#childless.has(key) && (this.#leafClasses.has(key) || this.#toggles.has(key))
  }
}

/** A toolkit's cell around other cells has neither text nor picture. A cell of an app's own making has more. */
const isLeafClass = (interfaces: Interfaces): boolean =>
  (interfaces & INTERFACE.TableCell) !== 0 && (interfaces & LEAF) !== 0 && (interfaces & OTHER) === 0

const LEAF = INTERFACE.Text | INTERFACE.Image
const OTHER =
  INTERFACE.Document |
  INTERFACE.EditableText |
  INTERFACE.Hypertext |
  INTERFACE.Selection |
  INTERFACE.Table |
  INTERFACE.Value
const MOST_KNOWN = 10_000
const all = new WeakMap<Bus, ClassFacts>()
