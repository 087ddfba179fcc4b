import type { Rect } from "../node.ts"
import type { Ref } from "./atspi.ts"
import type { Item } from "./cache-items.ts"
import type { Child, Facts, LiveSource, Look, Source } from "./facts.ts"
import { type Maybe, then } from "./maybe.ts"
import { ROLE } from "./roles.ts"
import { has, STATE } from "./states.ts"

/** A copy of an application's cache as a source; what it lacks is asked of the application. */
export class CachedSource implements Source {
  readonly #items: ReadonlyMap<string, Item>
  readonly #below: ReadonlyMap<string, readonly Item[]>
  readonly #live: LiveSource
  readonly #bus: string
  readonly #saysShowing: boolean
  /** Children that the application listed itself, since the cache did not tell. */
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
    const { role, states, interfaces, name, description, childCount } = item
    const extents = this.#extents.get(ref.path)
    const facts = { role, states, interfaces, name, description, childCount, extents }
    // A popover that is just opening has no name yet, and is known by nothing else.
    if (this.#saysShowing || role !== ROLE.FILLER || name !== "") return facts
    return then(this.#live.facts(ref, look), ({ name }) => ({ ...facts, name }))
  }

  children(ref: Ref, showing: boolean): Maybe<readonly Child[]> {
    if (showing && this.#saysShowing && this.#isClosed(ref)) return []
    const children = this.cachedChildren(ref) ?? this.#live.children(ref)
    return showing && this.#isShut(ref)
      ? then(children, (all) => all.filter((child) => this.#isPopup(child)))
      : children
  }

  item(ref: Ref): Item | undefined {
    return ref.bus === this.#bus ? this.#items.get(ref.path) : undefined
  }

  /** undefined when the cache does not hold exactly the children that the object says it has. */
  cachedChildren(ref: Ref): readonly Child[] | undefined {
    const listed = this.#listed.get(ref.path)
    const item = listed ? undefined : this.item(ref)
    if (!item) return listed
    const items = this.#below.get(ref.path) ?? []
    if (items.length !== item.childCount) return undefined
    const isWhole = items.every((child, index) => child.index === index && !this.#isStackPage(child))
    return isWhole ? items.map((child) => ({ ref: child.ref, index: child.index })) : undefined
  }

  /** The items of a menu have no order in GTK 3's cache, but one that is not open need not be listed. */
  #isClosed(ref: Ref): boolean {
    if (this.item(ref)?.role !== ROLE.MENU) return false
    const items = this.#below.get(ref.path) ?? []
    return items.length > 0 && items.every(({ states }) => !has(states, STATE.SHOWING))
  }

  /** What has lost one dimension cuts off all that is in it: a bar that slid away keeps its contents. */
  #isShut({ path }: Ref): boolean {
    const room = this.#extents.get(path)
    return room !== undefined && (room.width <= 0 || room.height <= 0)
  }

  /** A popover is a window of its own, wherever it hangs. */
  #isPopup({ ref }: Child): boolean {
    const item = this.item(ref)
    return item?.role === ROLE.MENU || /Popover\w*$/.test(item?.name ?? "")
  }

  /** GTK 4 caches the pages of a stack between it and its children, and then miscounts the child. */
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
